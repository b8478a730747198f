"""Text messages, some of them spam."""

import zipfile

from skcw.datasets._locate import locate
from skcw.datasets._sources import SMS
from skcw.datasets._splits import description
from skcw.datasets._texts import is_json_lines, read_json_lines, text_bunch

CLASSES = ("ham", "spam")
ABOUT = """
5,574 English text messages, 747 of them spam. There is no official split.

Almeida, Hidalgo and Yamakami: Contributions to the study of SMS spam filtering.
"""


def load_sms_spam(*, data_home=None, download=False, verbose=False, return_X_y=False):
    r"""Load text messages, some of them spam.

    The file is ``sms-spam/data.jsonl`` below the data home, plain or gzipped (lines
    with ``label`` and ``text``); or, there or in the data home itself, the original
    ``SMSSpamCollection`` or its archive ``sms+spam+collection.zip``.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    download : bool, default=False
        Fetch the archive (0.2 MB) from the UCI repository, and check it. The licence is
        CC BY 4.0.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    messages : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            The texts.
        target : ndarray of int, shape (n_texts,)
            0 for ham, 1 for spam.
        target_names : list of str
            ``["ham", "spam"]``.
        DESCR : str
            A description of the corpus.

    data, target : tuple, if ``return_X_y``
        The first two of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_sms_spam
    >>> text = "ham\tOk lar...\nspam\tWINNER!! Call now\n"
    >>> _ = Path("SMSSpamCollection").write_text(text)
    >>> messages = load_sms_spam(data_home=".")
    >>> messages.data, messages.target
    (['Ok lar...', 'WINNER!! Call now'], array([0, 1]))
    """
    path = locate(SMS, "all", data_home=data_home, download=download, verbose=verbose)
    rows = list(read_json_lines(path) if is_json_lines(path) else _original(path))
    return text_bunch(
        rows,
        [row["label"] for row in rows],
        CLASSES,
        description(SMS, ABOUT),
        return_X_y=return_X_y,
    )


def _original(path):
    """Yield the messages of the published file or of its archive."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            raw = archive.read("SMSSpamCollection")
    else:
        raw = path.read_bytes()
    for number, line in enumerate(raw.decode("utf-8").split("\n"), start=1):
        label, tab, text = line.rstrip("\r").partition("\t")
        if tab:
            yield {"label": label, "text": text}
        elif line.strip():
            raise ValueError(f"{path}, line {number}: no TAB after the label.")
