"""Corpora of classified texts, read from a folder that already holds them.

Each has a folder of its own with ``data.jsonl.gz``: one JSON object per line, whose
"text" is to be told by its "label". Nothing is fetched. scikit-learn users who only
want 20 Newsgroups have ``sklearn.datasets.fetch_20newsgroups``.
"""

import gzip
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

JSON_LINES = "data.jsonl.gz"
NEWSGROUPS, AMAZON, ENRON = "20newsgroups-bydate", "amazon-blitzer-4domain", "enron-bow"
REUTERS, SMS = "reuters21578", "sms-spam"
# Where each comes from, and its terms of use.
SOURCES = {
    NEWSGROUPS: "http://qwone.com/~jason/20Newsgroups/, for research",
    AMAZON: "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/, for research",
    ENRON: "https://www.cs.cmu.edu/~enron/, the ten largest folders of two users as "
    "svmlight lines of word numbers; public mail of real people",
    REUTERS: "https://kdd.ics.uci.edu/databases/reuters21578/, for research only, "
    "(c) Reuters Ltd.",
    SMS: "https://archive.ics.uci.edu/dataset/228/sms+spam+collection, CC BY 4.0, "
    "Almeida and Hidalgo",
}
TOPICS = ("acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade")


def load_20newsgroups(data_home):
    """Return the messages of 20 newsgroups as they are, headers and all."""
    return _bunch(_rows(NEWSGROUPS, data_home))


def load_amazon_reviews(data_home, *, target="sentiment"):
    """Return Amazon reviews of four domains, to be told by "sentiment" or "domain"."""
    rows = _rows(AMAZON, data_home)
    key = {"sentiment": "label", "domain": "domain"}[target]
    return _bunch(
        rows, key, domain=np.array([row["domain"] for row in rows], dtype=str)
    )


def load_enron_bow(part, data_home):
    """Return the mail of one Enron user ("a" or "b") as a CSR matrix of words.

    The file has svmlight lines: words numbered from one, the folder's number first.
    """
    path = _path(ENRON, f"enron-{part}.svm.gz", data_home)
    data, folders = load_svmlight_file(str(path), zero_based=False)
    names, target = np.unique(folders.astype(np.int64), return_inverse=True)
    return Bunch(data=data, target=target, target_names=[str(name) for name in names])


def load_reuters21578(data_home, *, topics=TOPICS):
    """Return the texts of the split "ModApte" that have exactly one of some topics.

    Other topics that a text has do not matter.
    """
    rows = []
    for row in _rows(REUTERS, data_home):
        wanted = set(row["label"]) & set(topics)
        if row["split"] in ("train", "test") and len(wanted) == 1:
            text = f"{row['title']}\n{row['text']}".strip()
            rows.append(row | {"text": text, "label": wanted.pop()})
    return _bunch(rows)


def load_sms_spam(data_home):
    """Return text messages, 0 for ham and 1 for spam."""
    return _bunch(_rows(SMS, data_home))


def _rows(folder, data_home):
    # Texts may hold characters that str.splitlines takes for the end of a line.
    path = _path(folder, JSON_LINES, data_home)
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file if line.strip()]


def _path(folder, file, data_home):
    path = Path(data_home) / folder / file
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist. Source and terms of use: {SOURCES[folder]}."
        )
    return path


def _bunch(rows, key="label", **more):
    """Return texts, and their labels as indices into the sorted names."""
    names, target = np.unique([row[key] for row in rows], return_inverse=True)
    return Bunch(
        data=[row["text"] for row in rows],
        target=target,
        target_names=names.tolist(),
        **more,
    )
