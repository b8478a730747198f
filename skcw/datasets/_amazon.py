"""Amazon reviews of four domains."""

import re
import tarfile

import numpy as np

from skcw.datasets._locate import locate
from skcw.datasets._sources import AMAZON
from skcw.datasets._splits import description
from skcw.datasets._texts import chosen, is_json_lines, read_json_lines, text_bunch

DOMAINS = ("books", "dvd", "electronics", "kitchen")
SENTIMENTS = ("negative", "positive")
# What the original folders are called.
FOLDERS = {"kitchen_&_housewares": "kitchen"}
_REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
ABOUT = """
8,000 reviews of books, films on DVD, electronics and kitchenware: 1,000 positive (4 or
5 stars) and 1,000 negative ones (1 or 2 stars) of each.

Blitzer, Dredze and Pereira: Biographies, Bollywood, boom-boxes and blenders: Domain
adaptation for sentiment classification.
"""


def load_amazon_reviews(
    *, data_home=None, target="sentiment", domains=None, return_X_y=False
):
    r"""Load Amazon reviews of four domains, which you must already have.

    The file is ``amazon-blitzer-4domain/data.jsonl`` below the data home, plain or
    gzipped (lines with ``id``, ``label``, ``domain``, ``rating``, ``title`` and
    ``text``); or, there or in the data home itself, the original folder
    ``sorted_data_acl`` or ``domain_sentiment_data.tar.gz``, which is read as it is. The
    ``processed_acl`` version is not read: it holds counts instead of texts.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    target : {"sentiment", "domain"}, default="sentiment"
        What is to be told.
    domains : list of str or None, default=None
        Some of "books", "dvd", "electronics" and "kitchen"; None means all of them.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    reviews : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            The texts, without their titles.
        target : ndarray of int, shape (n_texts,)
            The classes, as indices into `target_names`.
        target_names : list of str
            Their names.
        domain : ndarray of str, shape (n_texts,)
            The domain of every review.
        rating : ndarray of float, shape (n_texts,)
            The stars of every review.
        titles : list of str
            The titles.
        DESCR : str
            A description of the corpus.

    data, target : tuple, if ``return_X_y``
        The first two of them.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from skcw.datasets import load_amazon_reviews
    >>> row = {"label": "negative", "domain": "dvd", "rating": 1.0, "text": "Dull."}
    >>> Path("amazon-blitzer-4domain").mkdir(exist_ok=True)
    >>> _ = Path("amazon-blitzer-4domain", "data.jsonl").write_text(json.dumps(row))
    >>> reviews = load_amazon_reviews(data_home=".")
    >>> reviews.data, reviews.target_names[reviews.target[0]]
    (['Dull.'], 'negative')
    """
    if target not in ("sentiment", "domain"):
        raise ValueError(f'target must be "sentiment" or "domain", got {target!r}.')
    domains = chosen("domains", domains, DOMAINS)
    path = locate(AMAZON, "all", data_home=data_home)
    rows = read_json_lines(path) if is_json_lines(path) else _original(path)
    rows = [row for row in rows if row["domain"] in domains]
    key, names = ("domain", domains) if target == "domain" else ("label", SENTIMENTS)
    return text_bunch(
        rows,
        [row[key] for row in rows],
        names,
        description(AMAZON, ABOUT),
        return_X_y=return_X_y,
        domain=np.array([row["domain"] for row in rows], dtype=str),
        rating=np.array([row["rating"] for row in rows], dtype=np.float64),
        titles=[row.get("title", "") for row in rows],
    )


def _original(path):
    """Yield the reviews of the published folder or archive."""
    files = _in_folder(path) if path.is_dir() else _in_archive(path)
    for folder, label, raw in sorted(files):
        for block in _REVIEW.findall(raw.decode("latin-1")):
            yield {
                "label": label,
                "domain": FOLDERS.get(folder, folder),
                "rating": float(_field(block, "rating") or "nan"),
                "title": _field(block, "title"),
                "text": _field(block, "review_text"),
            }


def _in_folder(path):
    for label in SENTIMENTS:
        for file in path.glob(f"*/{label}.review"):
            yield file.parent.name, label, file.read_bytes()


def _in_archive(path):
    with tarfile.open(path) as archive:
        for member in archive:
            *_, folder, name = ("", *member.name.split("/"))
            label = name.removesuffix(".review")
            if member.isfile() and label in SENTIMENTS:
                yield folder, label, archive.extractfile(member).read()


def _field(block, tag):
    found = re.search(rf"<{tag}>\s*(.*?)\s*</{tag}>", block, re.DOTALL)
    return found[1] if found else ""
