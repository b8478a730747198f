"""Enron mail as bags of words."""

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from skcw.datasets._locate import locate
from skcw.datasets._sources import ENRON
from skcw.datasets._splits import description

ABOUT = """
The mail of one user in ten folders, as rows of zeros and ones: which words of an
anonymous vocabulary occur in a message. Part a (farmer-d) has 3,132 messages, part b
(kaminski-v) 3,163. Stop words, and the words themselves, are left out.
"""


def load_enron_bow(part, *, data_home=None, return_X_y=False):
    r"""Load the mail of one Enron user as bags of words, which you must already have.

    The file is ``enron-a.svm`` or ``enron-b.svm``, plain or gzipped, in the folder
    ``enron-bow`` below the data home or in the data home itself: svmlight lines, words
    numbered from one, the number of the folder first.

    Parameters
    ----------
    part : {"a", "b"}
        The user: farmer-d or kaminski-v.
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    mail : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : csr_matrix of shape (n_messages, n_words)
            A one where a word occurs.
        target : ndarray of int, shape (n_messages,)
            The folders, as indices into `target_names`.
        target_names : list of str
            Their names, which are numbers.
        DESCR : str
            A description of the corpus.

    data, target : tuple, if ``return_X_y``
        The first two of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_enron_bow
    >>> _ = Path("enron-a.svm").write_text("1 1:1 3:1\n2 2:1\n")
    >>> mail = load_enron_bow("a", data_home=".")
    >>> mail.data.toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]])
    >>> mail.target
    array([0, 1])
    """
    if part not in ENRON:
        raise ValueError(f'part must be "a" or "b", got {part!r}.')
    path = locate(ENRON[part], "all", data_home=data_home)
    data, folders = load_svmlight_file(str(path), zero_based=False)
    names, target = np.unique(folders.astype(np.int64), return_inverse=True)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=[str(name) for name in names],
        DESCR=description(ENRON[part], ABOUT),
    )
