"""Confidences, outcomes and fitted models for the tests of displays."""

from functools import cache

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from skcw import CRFSequenceTagger, CWSequenceTagger, make_tagging_pipeline
from tests.integration.corpora import features, news


def drawn_pairs(n=2000, power=1.0, seed=0):
    """Return whether claims came true, and their probabilities; 1 is calibrated."""
    rng = np.random.default_rng(seed)
    claimed = rng.beta(2, 0.7, size=n)
    return rng.uniform(size=n) < claimed**power, claimed


@cache
def model(kind):
    """Return a fitted estimator with data that it has not learned from."""
    if kind == "classifier":
        X, y = load_iris(return_X_y=True)
        return LogisticRegression(max_iter=500).fit(X[::2], y[::2]), X[1::2], y[1::2]
    corpus = news if kind == "pipeline" else features
    X, y = corpus(n_sequences=60)
    tagger = {
        "pipeline": make_tagging_pipeline("ner"),
        "crf": CRFSequenceTagger(max_iter=20),
        "cw": CWSequenceTagger(random_state=0, max_iter=3),
    }[kind]
    return tagger.fit(X[:30], y[:30]), X[30:], y[30:]


def legend_texts(ax):
    """Return the title and the entries of a legend."""
    legend = ax.get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    return legend.get_title().get_text(), texts
