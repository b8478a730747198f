"""Classifiers trained in shards: one result, whoever computes it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron
from skcw._model import mixing as _mixing
from skcw._model.row_shards import order_of_piece
from skcw.io.loading import without_seconds
from tests.reference import mixing

LEARNERS = [MultiClassCW, MultiClassAROW, MultiClassPA, MultiClassPerceptron]
DOUBLE = 1e-8

X, Y = make_classification(
    300, 20, n_informative=10, n_classes=3, n_clusters_per_class=1, random_state=0
)
X[np.abs(X) < 0.7] = 0.0


def tables(classifier):
    found = {"weights": classifier.coef_, "intercept": classifier.intercept_}
    if hasattr(classifier, "coef_variance_"):
        found["variance"] = classifier.coef_variance_
        found["scale"] = np.array(
            [classifier.variance_scale_, classifier.noise_, classifier.shrinkage_],
            float,
        )
    return found


def assert_same(one, other):
    found, expected = tables(one), tables(other)
    for name in expected:
        assert_array_equal(found[name], expected[name])
    assert without_seconds(one.history_) == without_seconds(other.history_)


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_shard_is_training_without_shards(learner):
    assert_same(
        learner(random_state=0).fit(X, Y, n_shards=1), learner(random_state=0).fit(X, Y)
    )


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_result_does_not_depend_on_who_computes_it(learner, backend):
    alone = learner(random_state=0).fit(X, Y, n_shards=4)
    assert alone.score(X, Y) > 0.8
    with parallel_config(backend, n_jobs=2):
        assert_same(learner(random_state=0).fit(X, Y, n_shards=4), alone)


@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": True},
        {"averaging": False, "dtype": "float64"},
        {"shuffle": False},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_that_training_can_do_it_can_do_in_shards(options, n_classes):
    y = Y % n_classes
    weight = np.arange(len(y)) % 3 / 2
    data = {"sample_weight": weight, "n_shards": 3}
    alone = MultiClassCW(random_state=0, **options).fit(sparse.csr_array(X), y, **data)
    assert alone.score(X, y) > 0.6
    with parallel_config("threading", n_jobs=2):
        again = MultiClassCW(random_state=0, **options)
        assert_same(again.fit(X, y, **data), alone)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_pass_is_the_merge_of_passes_over_the_shards(learner, monkeypatch):
    monkeypatch.setattr(_mixing, "FIRST_MERGES", 1)
    options = {"max_iter": 1, "shuffle": False, "dtype": "float64"}
    if learner in LEARNERS[:2]:
        options |= {"variance_scale": 1.0}
    if learner is MultiClassCW:
        options |= {"phi": 0.5}
    found = tables(learner(**options).fit(X, Y, n_shards=3))
    shards = []
    for k in range(3):
        last = tables(learner(**options, averaging=False).fit(X[k::3], Y[k::3]))
        average = tables(learner(**options).fit(X[k::3], Y[k::3]))
        variance = last["variance"].ravel() if "variance" in last else None
        means = (t["weights"].ravel().astype(float) for t in (last, average))
        mean, average = means
        shards.append((mean, variance, average, float(len(Y[k::3]))))
    zeros = np.zeros(found["weights"].size)
    prior = None if "variance" not in found else zeros + 1.0
    _, variance, average, _ = mixing.merged(zeros, prior, zeros, 0.0, shards)
    assert_allclose(found["weights"].ravel(), average, atol=DOUBLE)
    if variance is not None:
        assert_allclose(found["variance"].ravel(), variance, rtol=DOUBLE)


@given(st.integers(1, 30), st.integers(1, 6), st.booleans())
def test_the_pieces_of_a_pass_have_every_row_once_and_copies_together(n, m, shuffle):
    keys = np.random.default_rng(n).integers(0, n, 40).astype(np.uint64)
    salt = np.uint64(n) if shuffle else None
    pieces = [order_of_piece(keys, salt, k, m) for k in range(m)]
    assert sorted(np.concatenate(pieces).tolist()) == list(range(40))
    if shuffle:
        found = [set(keys[piece].tolist()) for piece in pieces]
        assert sum(map(len, found)) == len(set(keys.tolist()))


def test_the_order_of_rows_and_their_copies_do_not_matter():
    order = np.random.default_rng(0).permutation(len(Y))
    expected = MultiClassCW(random_state=0).fit(X, Y, n_shards=3)
    found = MultiClassCW(random_state=0).fit(X[order], Y[order], n_shards=3)
    assert_array_equal(found.coef_, expected.coef_)
    weight = np.full(len(Y), 2.0)
    twice = MultiClassCW(random_state=0).fit(X, Y, weight, n_shards=3)
    copies = MultiClassCW(random_state=0).fit(
        np.tile(X, (2, 1)), np.tile(Y, 2), n_shards=3
    )
    assert_allclose(copies.coef_, twice.coef_, rtol=1e-5, atol=1e-6)


def test_more_shards_than_rows_are_refused_and_nothing_changes():
    classifier = MultiClassCW(random_state=0).fit(X, Y)
    before = tables(classifier)
    with pytest.raises(ValueError, match="n_shards is 9, but there are only 8"):
        classifier.fit(X[:8], Y[:8], n_shards=9)
    assert_array_equal(tables(classifier)["weights"], before["weights"])
    with pytest.raises(ValueError, match="n_shards"):
        classifier.fit(X, Y, n_shards=0)


def test_a_row_without_any_feature_may_be_a_shard_of_its_own():
    rows = sparse.csr_array(np.vstack([np.zeros((1, 20)), X[:3]]))
    options = {"fit_intercept": False, "variance_scale": 1.0, "random_state": 0}
    classifier = MultiClassCW(**options).fit(rows, [0, 0, 1, 1], n_shards=4)
    assert np.isfinite(classifier.coef_).all()
    assert np.abs(classifier.coef_).max() > 0


def test_a_class_that_most_shards_lack_is_learned():
    # The last row alone has the last feature.
    rows = np.zeros((len(X) + 1, 21))
    rows[:-1, :-1], rows[-1, -1] = X, 1.0
    labels = np.append(Y, 7)
    classifier = MultiClassCW(random_state=0).fit(rows, labels, n_shards=8)
    assert classifier.predict(rows[-1:])[0] == 7


def test_the_bytes_that_travel_are_told(capsys):
    history = MultiClassCW(random_state=0, verbose=1).fit(X, Y, n_shards=5).history_
    assert history[0]["bytes_sent"] > 0 < history[0]["bytes_returned"]
    assert " MB for 5 shards, " in capsys.readouterr().err


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_of_weight_zero_are_in_no_shard(learner, shuffle):
    weight = np.arange(len(X)) % 3 > 0
    options = {"random_state": 0, "shuffle": shuffle}
    weights = weight.astype(float)
    some = learner(**options).fit(X, Y, sample_weight=weights, n_shards=3)
    assert_same(some, learner(**options).fit(X[weight], Y[weight], n_shards=3))
