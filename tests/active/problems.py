"""Small pools that the tests of active learning share."""

from functools import cache

import numpy as np
from scipy import sparse

from skcw import CWSequenceTagger, MultiClassCW
from skcw.datasets import make_tagged_corpus


@cache
def sentences(n=80, seed=0):
    """Return sentences and their labels."""
    X, y = make_tagged_corpus(n, random_state=seed, return_X_y=True)
    return list(X), list(y)


def answers(positions):
    """Return the labels of some of the sentences."""
    return [sentences()[1][i] for i in positions]


def advance(learner, n_rounds=3, n=4):
    """Let a learner of the sentences ask and learn; return it."""
    for _ in range(n_rounds):
        asked = learner.query(n)
        learner.teach(asked, answers(asked))
    return learner


def weights(learner):
    return learner.estimator_.belief_.weights


def rows(n=60, n_features=30, seed=0, n_classes=2):
    """Return sparse rows and labels that a linear model can tell apart."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < 0.2) * 1.0
    y = (X @ rng.standard_normal((n_features, n_classes))).argmax(axis=1)
    return sparse.csr_matrix(X), np.array(["a", "b", "c", "d"])[y]


def fitted_tagger(**parameters):
    X, y = sentences()
    return CWSequenceTagger(random_state=0, **parameters).fit(X[:30], y[:30])


def fitted_classifier(n_classes=2, **parameters):
    X, y = rows(n_classes=n_classes)
    return MultiClassCW(random_state=0, variance_scale=1.0, **parameters).fit(X, y)


def records(scores, repeat=0, step=100):
    """Return the records of a run of the strategy "s" with these scores."""
    return [
        {
            "strategy": "s",
            "repeat": repeat,
            "n_labels": k + 1,
            "n_words": step * (k + 1),
            "score": score,
            "seconds": 0.0,
            "stopped": None,
        }
        for k, score in enumerate(scores)
    ]
