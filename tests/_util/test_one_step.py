"""Fitted state changes in one step: after any failure, and for any other thread."""

import sys
import threading
import warnings
from copy import deepcopy
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import sklearn
from sklearn.preprocessing import FunctionTransformer

from skcw import CWSequenceTagger, MultiClassCW, MultiClassPA, TaggingPipeline
from skcw.features import WindowFeatures
from skcw.tagging import HMMSequenceTagger
from tests.learners import SENTENCES, data_of, learners, pipeline, said_by

LEARNERS = learners()
every_learner = pytest.mark.parametrize("name", LEARNERS)
# At how many places of a fit something goes wrong.
N_PLACES = 8


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Stopper:
    """Raises an error at the n-th call of a function, in Python or in C.

    Not where a lock is given back: there Python itself lets no signal in between.
    """

    def __init__(self, at, error):
        self.at, self.error, self.n = at, error, 0

    def __call__(self, frame, event, arg):
        if event == "c_call" and arg.__name__ == "__exit__":
            return
        if event in ("call", "c_call"):
            self.n += 1
            if self.n == self.at:
                raise self.error

    def run(self, work, *args):
        """Do some work and return how many calls it made."""
        sys.setprofile(self)
        try:
            work(*args)
        finally:
            sys.setprofile(None)
        return self.n


@pytest.fixture(autouse=True)
def settings_of_sklearn():
    """Put back what an error in the middle of scikit-learn's own work has changed."""
    before = sklearn.get_config()
    yield
    sklearn.set_config(**before)


@every_learner
def test_an_error_anywhere_in_a_fit_leaves_the_old_model_or_the_new_one(name):
    make, kind = LEARNERS[name]
    old, new = data_of(kind, 0), data_of(kind, 1)
    after = make().fit(*new)
    model = make().fit(*old)
    known = {said_by(model, kind): "old", said_by(after, kind): "new"}
    assert len(known) == 2
    n_calls = Stopper(0, None).run(make().fit, *new)
    states = []
    for place in range(N_PLACES):
        error = (MemoryError, KeyboardInterrupt)[place % 2]
        # The last ones are near the end, where state is taken over.
        at = 1 + int((1 - 0.25**place) * (n_calls - 2)) if place else 1 + n_calls // 2
        try:
            Stopper(at, error()).run(model.fit, *new)
        except error:
            states.append(known[said_by(model, kind)])
        else:
            # A second fit may make fewer calls, and be done before.
            states.append("new")
            assert known[said_by(model, kind)] == "new"
    assert states == sorted(states, reverse=True)
    assert states[0] == "old"
    model.fit(*new)
    assert known[said_by(model, kind)] == "new"


PARTIAL = {
    "CW": lambda: CWSequenceTagger(random_state=0),
    "HMM": HMMSequenceTagger,
    "pipeline": pipeline,
    "MultiClassCW": lambda: MultiClassCW(variance_scale=1.0, random_state=0),
    "MultiClassPA": lambda: MultiClassPA(random_state=0),
}
KIND_OF = {"MultiClassCW": "rows", "MultiClassPA": "rows"}
every_partial = pytest.mark.parametrize("name", PARTIAL)


def pieces(kind):
    """Return the data of several calls of partial_fit."""
    X, y = data_of(kind, 0)
    classes = {"classes": [0, 1, 2]} if kind == "rows" else {}
    bounds = np.linspace(0, len(y), 6).astype(int)
    return [(X[a:b], y[a:b], classes) for a, b in pairwise(bounds)]


@every_partial
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_in_partial_fit_changes_no_bit(name, error, monkeypatch):
    kind = KIND_OF.get(name, "sentences")
    model = PARTIAL[name]()
    (X, y, given), *rest = pieces(kind)
    model.partial_fit(X, y, **given)
    before = said_by(model, kind)
    X, y, given = rest[0]
    whole = deepcopy(model)
    n_calls = Stopper(0, None).run(lambda: whole.partial_fit(X, y, **given))
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    for share in (0.3, 0.6, 0.8, 0.9):
        at = int(share * n_calls)
        while True:
            stopped = deepcopy(model)
            shown.clear()
            try:
                Stopper(at, error()).run(partial(stopped.partial_fit, X, y, **given))
            except error:
                break
            # While a generator is cleared, Python shows an error and does not raise it.
            # Nothing else may swallow one; the next call is tried.
            assert shown
            at += 1
        assert said_by(stopped, kind) == before


@every_partial
def test_others_see_the_old_or_the_new_model_while_one_learns(name):
    kind = KIND_OF.get(name, "sentences")
    expected = set()
    model = PARTIAL[name]()
    for X, y, given in pieces(kind):
        model.partial_fit(X, y, **given)
        expected.add(said_by(model, kind))
    model = PARTIAL[name]()
    (X, y, given), *rest = pieces(kind)
    model.partial_fit(X, y, **given)
    seen, wrong, done = set(), [], threading.Event()

    def ask():
        while True:
            last = done.is_set()
            try:
                seen.add(said_by(model, kind))
            except Exception as error:
                wrong.append(repr(error))
            if last:
                return

    readers = [threading.Thread(target=ask) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for reader in readers:
            reader.start()
        for X, y, given in rest:
            model.partial_fit(X, y, **given)
    finally:
        done.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(interval)
    assert not wrong
    assert seen <= expected
    assert said_by(model, kind) in seen


def test_the_steps_of_a_pipeline_stay_the_objects_they_are():
    features, tagger = WindowFeatures("ner"), CWSequenceTagger(random_state=0)
    model = TaggingPipeline([("features", features), ("tagger", tagger)])
    model.fit(*data_of("sentences", 0)).partial_fit(*data_of("sentences", 1))
    assert model.steps == [("features", features), ("tagger", tagger)]
    assert tagger.vocabulary_ is features.vocabulary_
    assert model.tagger is tagger


class Counter(FunctionTransformer):
    """A step of somebody else's that changes a list in place."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def fit(self, X, y=None):
        self.seen.append(len(X))
        return super().fit(X)


def test_steps_of_others_are_not_left_half_fitted_either():
    counter = Counter()
    tagger = CWSequenceTagger(random_state=0)
    steps = [
        ("count", counter),
        ("features", WindowFeatures("ner")),
        ("tagger", tagger),
    ]
    model = TaggingPipeline(steps).fit(*data_of("sentences", 0))
    n_seen = len(counter.seen)
    with pytest.raises(ValueError, match="labels"):
        model.fit(SENTENCES, [["O"]] * len(SENTENCES))
    assert len(counter.seen) == n_seen
    model.predict(SENTENCES[:2])
