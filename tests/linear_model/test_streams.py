"""A stream of small pieces: tables are used again, and nobody sees it."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import skcw
from skcw._model.row_gaussian import TableBelief
from skcw.linear_model import (
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    MultiClassPerceptron,
)
from tests.linear_model.classifiers import data

LEARNERS = {
    "CW": lambda: MultiClassCW(variance_scale=1.0, random_state=0),
    "CW, averaged": lambda: MultiClassCW(
        variance_scale=1.0, averaging=True, random_state=0
    ),
    "AROW, no intercept": lambda: MultiClassAROW(
        variance_scale=1.0, fit_intercept=False, random_state=0
    ),
    "PA": lambda: MultiClassPA(random_state=0),
    "perceptron": lambda: MultiClassPerceptron(random_state=0),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def pieces(n=6):
    """Return small pieces of wide rows, with other features each."""
    rng = np.random.default_rng(0)
    return [
        (sparse.random(5, 60, 0.1, "csr", random_state=rng), rng.integers(0, 3, 5))
        for _ in range(n)
    ]


def begun(name):
    """Return a classifier after two pieces, so that it has tables to spare."""
    model = LEARNERS[name]()
    for X, y in pieces()[:2]:
        model.partial_fit(X, y, classes=[0, 1, 2])
    return model


def tables(model):
    """Return all numbers that a classifier has learned, as bytes."""
    found = [*model.belief_.tables().values(), model.weights_]
    return [None if table is None else table.tobytes() for table in found]


@every_learner
def test_tables_that_are_used_again_give_the_same_bits(name, monkeypatch):
    model = begun(name)
    for X, y in pieces()[2:]:
        model.partial_fit(X, y)
    monkeypatch.setattr(TableBelief, "draft", TableBelief.copied_as)
    other = begun(name)
    for X, y in pieces()[2:]:
        other.partial_fit(X, y)
    assert tables(model) == tables(other)


@every_learner
def test_two_sets_of_tables_take_turns(name):
    model, addresses = begun(name), []
    for X, y in pieces()[2:]:
        model.partial_fit(X, y)
        addresses.append(model.belief_.mean.ctypes.data)
    assert addresses[0] == addresses[2] != addresses[1] == addresses[3]


@every_learner
def test_tables_that_somebody_has_are_left_alone(name):
    model = begun(name)
    held = model.belief_.mean
    shown = model.coef_
    before = held.copy(), shown.copy()
    for X, y in pieces()[2:]:
        model.partial_fit(X, y)
    np.testing.assert_array_equal(held, before[0])
    np.testing.assert_array_equal(shown, before[1])


@every_learner
def test_a_failure_leaves_the_model_and_costs_only_the_spare_tables(name, monkeypatch):
    model = begun(name)
    (X, y), before = pieces()[2], tables(model)
    with monkeypatch.context() as patch:
        patch.setattr("skcw.linear_model.base.train", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.partial_fit(X, y)
    assert tables(model) == before
    other = begun(name).partial_fit(X, y)
    assert tables(model.partial_fit(X, y)) == tables(other)


@every_learner
def test_copies_and_pickles_have_no_spare_tables(name):
    model = begun(name)
    assert "_spare" in vars(model.belief_)
    for other in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert "_spare" not in vars(other.belief_)
        X, y = pieces()[2]
        assert tables(other.partial_fit(X, y)) == tables(
            deepcopy(model).partial_fit(X, y)
        )


def test_what_was_read_from_a_file_stays_as_it_was(tmp_path):
    X, y = data()
    path = tmp_path / "model.skcw"
    MultiClassAROW(random_state=0).fit(X, y).save(path)
    for mapped in (False, True):
        model = skcw.load(path, mapped=mapped)
        weights, before = model.coef_, model.coef_.copy()
        for _ in range(3):
            model.partial_fit(X[:5], y[:5])
        assert_array_equal(weights, before)
