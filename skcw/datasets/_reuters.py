"""Reuters-21578."""

import html
import re
import tarfile

import numpy as np

from skcw.datasets._locate import locate
from skcw.datasets._sources import REUTERS
from skcw.datasets._splits import description
from skcw.datasets._texts import is_json_lines, read_json_lines, text_bunch

TOPICS = ("acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade")
ABOUT = """
News of 1987 with topics, split as "ModApte" says: 9,603 texts for training and 3,299
for testing. Loaded are those that have exactly one of the chosen topics.

Lewis: Reuters-21578 text categorization test collection.
"""
_STORY = re.compile(r"<REUTERS(.*?)>(.*?)</REUTERS>", re.DOTALL)


def load_reuters21578(
    *,
    data_home=None,
    subset="train",
    topics=TOPICS,
    download=False,
    verbose=False,
    return_X_y=False,
):
    r"""Load the texts of Reuters-21578 that have exactly one of some topics.

    The file is ``reuters21578/data.jsonl`` below the data home, plain or gzipped (lines
    with ``id``, ``label``, ``split``, ``title`` and ``text``); or, there or in the data
    home itself, the original ``reut2-000.sgm`` to ``reut2-021.sgm``, or
    ``reuters21578.tar.gz``, which is read as it is.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "test", "all"}, default="train"
        The part of the split "ModApte" to load.
    topics : sequence of str, default=eight frequent ones
        The classes; by default acq, crude, earn, grain, interest, money-fx, ship and
        trade. A text with none or several of them is left out; other topics that
        it has do not matter.
    download : bool, default=False
        Fetch the original archive (8 MB), and check it. It is for research only.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    news : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            The texts, each below its title.
        target : ndarray of int, shape (n_texts,)
            The topics, as indices into `target_names`.
        target_names : list of str
            Their names.
        split : ndarray of str, shape (n_texts,)
            "train" or "test".
        ids : list of int
            The numbers of the texts in the collection.
        all_topics : list of list of str
            All topics of every text.
        DESCR : str
            A description of the corpus.

    data, target : tuple, if ``return_X_y``
        The first two of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_reuters21578
    >>> story = '<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TOPICS><D>earn</D>'
    >>> story += "</TOPICS><TEXT><TITLE>NET UP</TITLE><BODY>Net rose.</BODY></TEXT>"
    >>> _ = Path("reut2-000.sgm").write_text(story + "</REUTERS>")
    >>> news = load_reuters21578(data_home=".")
    >>> news.data, news.target_names[news.target[0]]
    (['NET UP\nNet rose.'], 'earn')
    """
    if subset not in ("train", "test", "all"):
        raise ValueError(
            f"subset must be one of ['train', 'test', 'all'], got {subset!r}."
        )
    if isinstance(topics, str) or not len(topics):
        raise ValueError(f"topics must be a list of names, got {topics!r}.")
    wanted = ("train", "test") if subset == "all" else (subset,)
    path = locate(
        REUTERS, "all", data_home=data_home, download=download, verbose=verbose
    )
    rows = read_json_lines(path) if is_json_lines(path) else _original(path)
    rows = [
        row
        for row in rows
        if row["split"] in wanted and len(set(row["label"]) & set(topics)) == 1
    ]
    for row in rows:
        row["text"] = f"{row['title']}\n{row['text']}".strip()
    return text_bunch(
        rows,
        [next(topic for topic in row["label"] if topic in topics) for row in rows],
        list(dict.fromkeys(topics)),
        description(REUTERS, ABOUT),
        return_X_y=return_X_y,
        split=np.array([row["split"] for row in rows], dtype=str),
        ids=[int(row["id"]) for row in rows],
        all_topics=[list(row["label"]) for row in rows],
    )


def _original(path):
    """Yield the stories of the published files or of their archive."""
    for raw in _in_archive(path) if path.suffix == ".gz" else _in_folder(path.parent):
        for attributes, body in _STORY.findall(raw.decode("latin-1")):
            yield _story(dict(re.findall(r'(\w+)="(.*?)"', attributes)), body)


def _in_folder(folder):
    return [path.read_bytes() for path in sorted(folder.glob("reut2-*.sgm"))]


def _in_archive(path):
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.isfile() and member.name.endswith(".sgm"):
                yield archive.extractfile(member).read()


def _story(attributes, body):
    topics = re.search(r"<TOPICS>(.*?)</TOPICS>", body, re.DOTALL)
    split = attributes["LEWISSPLIT"].lower() if attributes["TOPICS"] == "YES" else ""
    return {
        "id": attributes["NEWID"],
        "split": split if split in ("train", "test") else "unused",
        "label": re.findall(r"<D>(.*?)</D>", topics[1]) if topics else [],
        "title": _field(body, "TITLE"),
        "text": _text(body),
    }


def _text(body):
    """Return the body of a story; short ones have no tag of their own for it."""
    if "<BODY>" in body:
        return _field(body, "BODY")
    text = re.sub(r"<(TITLE|DATELINE|AUTHOR)>.*?</\1>", "", body, flags=re.DOTALL)
    found = re.search(r"<TEXT[^>]*>(.*?)</TEXT>", text, re.DOTALL)
    return _plain(found[1]) if found else ""


def _field(body, tag):
    found = re.search(rf"<{tag}>(.*?)</{tag}>", body, re.DOTALL)
    return _plain(found[1]) if found else ""


def _plain(text):
    # The stories end in a control character, written as an entity.
    return html.unescape(text.replace("&#3;", "").replace("&#2;", "")).strip()
