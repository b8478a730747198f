"""The binary tasks of Dredze & Crammer (2008) that the corpora here allow.

Its Reuters tasks (insurance, business services, retail distribution) come from a corpus
that is not here: pairs of frequent topics of Reuters-21578 take their place. Its spam
is that of three users' mail; here it is that of text messages.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from _text_corpora import (
    load_20newsgroups,
    load_amazon_reviews,
    load_reuters21578,
    load_sms_spam,
)
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from skcw.datasets import make_reviews

# At most so many rows in a task, as in the paper.
N_ROWS, QUICK_ROWS = 2000, 150
NEWS_PAIRS = {
    "news comp": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "news sci": ("sci.electronics", "sci.med"),
    "news talk": ("talk.politics.guns", "talk.politics.mideast"),
}
TOPIC_PAIRS = {
    "reuters crude-trade": ("crude", "trade"),
    "reuters grain-ship": ("grain", "ship"),
    "reuters money-interest": ("money-fx", "interest"),
}
DOMAINS = ("books", "dvd", "electronics", "kitchen")


@dataclass(frozen=True)
class Task:
    """Rows of binary words and two classes."""

    X: sparse.csr_matrix
    y: np.ndarray


def task_names(data_home):
    """Return the names of the tasks that `load_task` can load."""
    return ["made"] if data_home is None else list(_readers())


def load_task(name, data_home):
    """Return a task: at most 2,000 of its rows, drawn at random."""
    if name == "made":
        texts, labels = make_reviews(
            QUICK_ROWS, target="sentiment", random_state=0, return_X_y=True
        )
    else:
        texts, labels = _readers()[name](data_home)
    labels = np.unique(np.asarray(labels), return_inverse=True)[1]
    chosen = np.random.RandomState(0).permutation(len(labels))[:N_ROWS]
    words = CountVectorizer(binary=True, dtype=np.float64)
    X = sparse.csr_matrix(words.fit_transform([texts[i] for i in chosen]))
    X.sort_indices()
    return Task(X, labels[chosen])


def _readers():
    readers = {n: partial(_news, pair) for n, pair in NEWS_PAIRS.items()}
    readers |= {n: partial(_topics, pair) for n, pair in TOPIC_PAIRS.items()}
    readers |= {f"sentiment {d}": partial(_sentiment, d) for d in DOMAINS}
    return readers | {"spam": _spam}


def _news(pair, data_home):
    return _of_names(load_20newsgroups(data_home), pair)


def _topics(pair, data_home):
    return _of_names(load_reuters21578(data_home, topics=pair), pair)


def _of_names(texts, wanted):
    codes = [texts.target_names.index(name) for name in wanted]
    rows = [i for i, code in enumerate(texts.target) if code in codes]
    return [texts.data[i] for i in rows], [texts.target[i] for i in rows]


def _sentiment(domain, data_home):
    texts = load_amazon_reviews(data_home, target="sentiment")
    rows = np.flatnonzero(texts.domain == domain)
    return [texts.data[i] for i in rows], texts.target[rows]


def _spam(data_home):
    texts = load_sms_spam(data_home)
    return texts.data, texts.target
