"""20 Newsgroups."""

import tarfile

import numpy as np

from skcw.datasets._locate import locate
from skcw.datasets._sources import NEWSGROUPS
from skcw.datasets._splits import description, splits_of
from skcw.datasets._texts import chosen, is_json_lines, read_json_lines, text_bunch

GROUPS = (
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
)
ABOUT = """
18,846 messages to 20 newsgroups of 1993: 11,314 for training and, later in time, 7,532
for testing. Headers, quotes and signatures are kept.

Lang: NewsWeeder: Learning to filter netnews.
"""


def load_20newsgroups(
    *,
    data_home=None,
    subset="train",
    categories=None,
    download=False,
    verbose=False,
    return_X_y=False,
):
    r"""Load 20 Newsgroups in the version that is split by date.

    The file is ``20newsgroups-bydate/data.jsonl`` below the data home, plain or gzipped
    (lines with ``id``, ``label``, ``split`` and ``text``); or, there or in the data
    home itself, the original folders ``20news-bydate-train`` and
    ``20news-bydate-test``, or ``20news-bydate.tar.gz``, which is read as it is. Unlike
    scikit-learn's function, this one does not shuffle.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "test", "all"}, default="train"
        The part to load.
    categories : list of str or None, default=None
        The newsgroups to load, in the order of their numbers; None means all of them.
    download : bool, default=False
        Fetch the archive that scikit-learn fetches (14 MB), and check it.
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
            The newsgroups, as indices into `target_names`.
        target_names : list of str
            Their names.
        split : ndarray of str, shape (n_texts,)
            "train" or "test".
        ids : list of str
            The names of the original files.
        DESCR : str
            A description of the corpus.

    data, target : tuple, if ``return_X_y``
        The first two of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_20newsgroups
    >>> folder = Path("20news-bydate-train", "sci.space")
    >>> folder.mkdir(parents=True, exist_ok=True)
    >>> _ = (folder / "59848").write_text("Subject: Orbits\n\nHow high is low?\n")
    >>> messages = load_20newsgroups(data_home=".", categories=["sci.space"])
    >>> messages.data
    ['Subject: Orbits\n\nHow high is low?\n']
    """
    names = chosen("categories", categories, GROUPS)
    # Find all parts before reading the first one.
    paths = {
        split: locate(
            NEWSGROUPS, split, data_home=data_home, download=download, verbose=verbose
        )
        for split in splits_of(NEWSGROUPS, subset)
    }
    rows = [row for split, path in paths.items() for row in _read(path, split)]
    if categories is not None:
        rows = [row for row in rows if row["label"] in names]
    return text_bunch(
        rows,
        [row["label"] for row in rows],
        names,
        description(NEWSGROUPS, ABOUT),
        return_X_y=return_X_y,
        split=np.array([row["split"] for row in rows], dtype=str),
        ids=[row["id"] for row in rows],
    )


def _read(path, split):
    """Return the messages of a split, in whatever form they lie at `path`."""
    if is_json_lines(path):
        return [row for row in read_json_lines(path) if row["split"] == split]
    files = _in_folder(path) if path.is_dir() else _in_archive(path, split)
    return [
        {"id": name, "label": group, "split": split, "text": raw.decode("latin-1")}
        for group, name, raw in sorted(files)
    ]


def _in_folder(path):
    for file in path.glob("*/*"):
        yield file.parent.name, file.name, file.read_bytes()


def _in_archive(path, split):
    with tarfile.open(path) as archive:
        for member in archive:
            folder, _, rest = member.name.removeprefix("./").partition("/")
            group, _, name = rest.partition("/")
            if member.isfile() and folder == f"20news-bydate-{split}":
                yield group, name, archive.extractfile(member).read()
