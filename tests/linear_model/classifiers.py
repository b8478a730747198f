"""The classifiers of flat rows, and rows to teach them."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron

CLASSIFIERS = [MultiClassCW, MultiClassAROW, MultiClassPA, MultiClassPerceptron]
GAUSSIAN = [MultiClassCW, MultiClassAROW]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
every_gaussian = pytest.mark.parametrize("Classifier", GAUSSIAN)

UPDATES = [
    MultiClassCW(),
    MultiClassCW(update="single"),
    MultiClassCW(diagonal="covariance"),
    MultiClassCW(update="single", diagonal="optimal"),
    MultiClassCW(update="sequential", n_rivals=2),
    MultiClassCW(update="parallel", step="stdev", bound="inner"),
    MultiClassCW(update="exact"),
    MultiClassCW(update="exact", step="stdev"),
    MultiClassAROW(),
    MultiClassAROW(update="sequential", diagonal="covariance"),
    MultiClassAROW(update="parallel"),
    MultiClassAROW(update="exact", averaging=True),
    MultiClassPA(),
    MultiClassPA(n_rivals="all"),
    MultiClassPerceptron(),
]


def changed(classifier):
    """Return a classifier's name with the parameters that are not defaults."""
    return str(classifier).replace("\n", "").replace("MultiClass", "")


every_update = pytest.mark.parametrize("classifier", UPDATES, ids=changed)
every_gaussian_update = pytest.mark.parametrize(
    "classifier",
    [classifier for classifier in UPDATES if hasattr(classifier, "predict_proba")],
    ids=changed,
)


def copy_of(classifier, **params):
    """Return an unfitted copy with a seed, and other parameters."""
    return clone(classifier).set_params(**{"random_state": 0, **params})


@cache
def data(n_classes=3, n_rows=120, seed=0):
    """Return rows that a linear model tells apart in part, and labels."""
    return make_classification(
        n_rows,
        n_features=8,
        n_informative=5,
        n_classes=n_classes,
        class_sep=1.5,
        flip_y=0.02,
        random_state=seed,
    )


@cache
def overlapping(n_classes, n_rows=400):
    """Return rows that no linear model tells apart, and labels."""
    return make_classification(
        n_rows,
        n_features=8,
        n_informative=5,
        n_classes=n_classes,
        class_sep=0.6,
        flip_y=0.1,
        random_state=0,
    )


@cache
def split_data(n_classes=3, n_rows=600, seed=0):
    """Return rows and labels to learn from, then others."""
    X, y = data(n_classes, n_rows, seed)
    half = n_rows // 2
    return X[:half], y[:half], X[half:], y[half:]


def state_of(classifier):
    """Return all that a classifier holds, to compare after something failed."""
    found = {}
    for name, value in vars(classifier).items():
        if hasattr(value, "tables"):
            tables = value.tables().items()
            value = {k: t if t is None else t.tobytes() for k, t in tables}
        found[name] = value.tobytes() if isinstance(value, np.ndarray) else value
    return found
