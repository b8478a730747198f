"""Fitted classifiers that leave the process, and callbacks that watch them learn."""

import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron
from skcw.io.loading import without_seconds
from tests.linear_model.classifiers import data, every_classifier, split_data

CLASSIFIERS = [
    MultiClassCW(random_state=0, variance_scale=2.0),
    MultiClassAROW(random_state=0, averaging=True, dtype="float64"),
    MultiClassPA(random_state=0),
    MultiClassPerceptron(random_state=0, averaging=False),
]


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def n_classes(request):
    return request.param


@pytest.fixture(params=CLASSIFIERS, ids=lambda classifier: type(classifier).__name__)
def fitted(request, n_classes):
    X, y = data(n_classes)
    labels = np.array(["ant", "bee", "cow"])[y]
    return clone(request.param).fit(X, labels)


def through_skops(classifier):
    dumped = skops.io.dumps(classifier)
    trusted = skops.io.get_untrusted_types(data=dumped)
    # A few classes of skcw itself, and nothing else, must be trusted by name.
    assert trusted
    assert all(name.startswith("skcw.") for name in trusted), trusted
    return skops.io.loads(dumped, trusted=trusted)


def through_joblib(classifier):
    buffer = io.BytesIO()
    joblib.dump(classifier, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


def through_pickle(classifier):
    return pickle.loads(pickle.dumps(classifier))


every_way = pytest.mark.parametrize(
    "travel", [through_pickle, through_joblib, through_skops, copy.deepcopy]
)


def answers(classifier, X):
    methods = ["predict", "decision_function"]
    if hasattr(classifier, "predict_proba"):
        methods += ["predict_proba", "predict_distribution", "predict_confidence"]
    return [getattr(classifier, method)(X) for method in methods]


@every_way
def test_a_classifier_that_traveled_says_the_same(fitted, travel):
    X, _ = data()
    arrived = travel(fitted)
    assert type(arrived) is type(fitted)
    assert repr(arrived) == repr(fitted)
    assert arrived.history_ == without_seconds(fitted.history_)
    for here, there in zip(answers(fitted, X), answers(arrived, X), strict=True):
        assert_array_equal(here, there)


@every_way
def test_a_classifier_goes_on_learning_where_it_arrived(fitted, travel, n_classes):
    X, y, *_ = split_data(n_classes)
    labels = np.array(["ant", "bee", "cow"])[y]
    before = fitted.coef_.copy()
    arrived = travel(fitted).partial_fit(X, labels)
    assert_array_equal(fitted.coef_, before)
    fitted.partial_fit(X, labels)
    assert_array_equal(arrived.coef_, fitted.coef_)


@pytest.mark.parametrize("averaging", [True, False])
def test_a_classifier_that_travels_between_pieces_keeps_its_average(averaging):
    X, y = data()
    here = MultiClassCW(averaging=averaging, shuffle=False)
    there = clone(here)
    for piece in np.array_split(np.arange(len(X)), 4):
        here.partial_fit(X[piece], y[piece], classes=[0, 1, 2])
        there = through_pickle(there)
        there.partial_fit(X[piece], y[piece], classes=[0, 1, 2])
    assert_array_equal(here.coef_, there.coef_)


def test_a_clone_knows_nothing(fitted):
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "classes_")


def test_many_threads_may_ask_one_classifier(fitted):
    X, _ = data()
    expected = answers(fitted, X)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: answers(fitted, X), range(8)):
            for one, other in zip(expected, found, strict=True):
                assert_array_equal(one, other)


@every_classifier
def test_many_threads_may_learn_at_once(Classifier):
    X, y = data()
    alone = Classifier(random_state=0).fit(X, y).coef_
    with ThreadPoolExecutor(4) as pool:
        fits = pool.map(lambda _: Classifier(random_state=0).fit(X, y).coef_, range(8))
        for coef in fits:
            assert_array_equal(coef, alone)


def test_a_classifier_whose_arrays_are_mapped_read_only_works(fitted, tmp_path):
    X, _ = data()
    y = fitted.predict(X)[::-1]
    joblib.dump(fitted, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    for here, there in zip(answers(fitted, X), answers(mapped, X), strict=True):
        assert_array_equal(here, there)
    mapped.partial_fit(X, y)
    fitted.partial_fit(X, y)
    assert_array_equal(mapped.coef_, fitted.coef_)


@every_classifier
def test_rows_that_joblib_maps_for_its_workers_are_read(Classifier, tmp_path):
    X, y = data()
    weight = np.ones(len(X))
    joblib.dump((X, sparse.csr_array(X), y, weight), tmp_path / "rows")
    dense, rows, labels, ones = joblib.load(tmp_path / "rows", mmap_mode="r")
    expected = Classifier(random_state=0).fit(X, y)
    for mapped in (dense, rows):
        found = Classifier(random_state=0).fit(mapped, labels, sample_weight=ones)
        assert_array_equal(found.coef_, expected.coef_)
        assert_array_equal(found.predict(mapped), expected.predict(X))


def callbacks():
    return pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")


@every_classifier
def test_a_callback_scores_every_pass(Classifier):
    monitor = callbacks().ScoringMonitor(scoring="accuracy")
    X, y = data()
    given = {"random_state": 0}
    if hasattr(Classifier, "predict_proba"):
        # Which passes leave rows out depends on how many there are.
        given["variance_scale"] = 1.0
    Classifier(**given, max_iter=4).set_callbacks(monitor).fit(X, y)
    rows = [row for row in monitor.get_logs().data if "pass" in str(row["task_name"])]
    found = [row["accuracy"] for row in rows]
    expected = [
        Classifier(**given, max_iter=n).fit(X, y).score(X, y) for n in range(1, 5)
    ]
    assert found == expected


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("Classifier", [MultiClassCW, MultiClassAROW])
@pytest.mark.parametrize("variance_scale", [1.0, "log_loss"])
def test_a_callback_sees_probabilities(Classifier, scoring, variance_scale):
    monitor = callbacks().ScoringMonitor(scoring=scoring)
    classifier = Classifier(random_state=0, variance_scale=variance_scale)
    classifier.set_callbacks(monitor).fit(*data(n_classes=2))
    assert all(np.isfinite(row[scoring]) for row in monitor.get_logs().data)


class StopAfter:
    """A callback that ends the training after some passes."""

    def __init__(self, n_passes):
        self.left = n_passes

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        return self.left == 0


@every_classifier
def test_a_callback_may_stop_the_training(Classifier):
    callbacks()
    X, y = data()
    given = {"random_state": 0}
    if hasattr(Classifier, "predict_proba"):
        judged = Classifier(**given, max_iter=50).set_callbacks(StopAfter(2)).fit(X, y)
        # It is judged all the same, and has learned what was held out.
        assert judged.n_iter_ == 2 and judged.noise_ > 0 and judged.score(X, y) > 0.7
        given["variance_scale"] = 1.0
    stopped = Classifier(**given, max_iter=50).set_callbacks(StopAfter(2)).fit(X, y)
    assert stopped.n_iter_ == 2
    short = Classifier(**given, max_iter=2).fit(X, y)
    assert_array_equal(stopped.coef_, short.coef_)
