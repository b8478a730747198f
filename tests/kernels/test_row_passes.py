"""Training passes over flat rows against the dense twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.row_passes import (
    cw_row_pass,
    hash_order,
    row_hashes,
    row_keys,
    salted_hashes,
    seen_features,
)
from tests.kernels.problems import FLOAT32
from tests.kernels.row_problems import (
    GAUSSIAN,
    LABEL_COUNTS,
    LEARNERS,
    compressed,
    cw,
    random_rows,
    random_tables,
    start,
)
from tests.reference.rows import hash_of

N_FEATURES = 6
every_learner = pytest.mark.parametrize("name", LEARNERS)


def assert_same(tables, expected, rtol=1e-9, atol=1e-12):
    mean, variance, average = expected
    assert_allclose(tables.vector("mean"), mean, rtol=rtol, atol=atol)
    assert_allclose(tables.vector("variance"), variance, rtol=rtol, atol=atol)
    assert_allclose(tables.average(), average, rtol=rtol, atol=atol)


def tolerance(learner, k):
    """Return rtol and atol: Hildreth's method leaves something over."""
    rtol = learner.rtol if k > 1 else 1e-9
    return {"rtol": rtol, "atol": 1e-12 if rtol == 1e-9 else rtol}


@every_learner
@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_a_pass_with_one_rival_equals_its_twin(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(n_labels)
    X, gold = random_rows(rng, n_labels=n_labels)
    tables = random_tables(rng, N_FEATURES, n_labels)
    trained, _ = learner.run(tables, compressed(X, gold), k=1)
    assert_same(trained, learner.run_twin(tables, X, gold, k=1))


@every_learner
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n_labels", [3, 4, 5])
def test_a_pass_with_several_rivals_equals_its_twin(name, n_labels, k):
    learner = LEARNERS[name]
    rng = np.random.default_rng(10 * n_labels + k)
    X, gold = random_rows(rng, 6, N_FEATURES, n_labels)
    tables = random_tables(rng, N_FEATURES, n_labels)
    trained, _ = learner.run(tables, compressed(X, gold), k)
    k = min(k, n_labels - 1)
    assert_same(trained, learner.run_twin(tables, X, gold, k), **tolerance(learner, k))


@pytest.mark.parametrize("step", ["variance", "stdev"])
@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_the_best_diagonal_update_equals_its_twin(step, n_labels):
    learner = cw("sequential", step, "optimal")
    rng = np.random.default_rng(n_labels)
    X, gold = random_rows(rng, n_labels=n_labels)
    tables = random_tables(rng, N_FEATURES, n_labels)
    trained, _ = learner.run(tables, compressed(X, gold), k=1)
    assert_same(trained, learner.run_twin(tables, X, gold, k=1))


@every_learner
@pytest.mark.parametrize("n_labels", [2, 4])
def test_three_passes_from_nothing_equal_their_twin(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(0)
    X, gold = random_rows(rng, 5, N_FEATURES, n_labels)
    tables = trained = start(N_FEATURES, n_labels)
    order = rng.permutation(len(X))
    for _ in range(3):
        trained, _ = learner.run(trained, compressed(X, gold), 2, order)
    order = np.tile(order, 3)
    k = min(2, n_labels - 1)
    expected = learner.run_twin(tables, X[order], gold[order], k)
    assert_same(trained, expected, **tolerance(learner, k))


@every_learner
@pytest.mark.parametrize("n_labels", [2, 3])
def test_weights_of_rows_are_numbers_of_copies(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(1)
    X, gold = random_rows(rng, 6, N_FEATURES, n_labels)
    weight = np.array([2.0, 0.0, 0.3, 1.0, 2.5, 3.0])
    tables = random_tables(rng, N_FEATURES, n_labels)
    rows = compressed(X, gold, weight=weight)
    trained, _ = learner.run(tables, rows, 2)
    k = min(2, n_labels - 1)
    expected = learner.run_twin(tables, X, gold, k, weight)
    assert_same(trained, expected, **tolerance(learner, k))
    assert_allclose(trained.rounds, weight.sum(), rtol=1e-12)


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("n_labels", [2, 3])
def test_a_class_factor_multiplies_the_strength_for_rows_of_a_class(name, n_labels):
    learner = GAUSSIAN[name]
    rng = np.random.default_rng(2)
    X, gold = random_rows(rng, 6, N_FEATURES, n_labels)
    class_factor = np.array([1.0, 2.5, 1.5])[:n_labels]
    tables = random_tables(rng, N_FEATURES, n_labels)
    trained, _ = learner.run(tables, compressed(X, gold, class_factor=class_factor), 2)
    k = min(2, n_labels - 1)
    expected = learner.run_twin(tables, X, gold, k, class_factor=class_factor)
    assert_same(trained, expected, **tolerance(learner, k))


@every_learner
@pytest.mark.parametrize("n_labels", [2, 3])
def test_without_an_intercept_its_weights_stay(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(3)
    X, gold = random_rows(rng, 6, N_FEATURES, n_labels)
    X[2] = 0.0  # a row without any entry
    tables = random_tables(rng, N_FEATURES, n_labels)
    trained, _ = learner.run(tables, compressed(X, gold, intercept=False), 1)
    assert_same(trained, learner.run_twin(tables, X, gold, 1, intercept=False))
    assert_array_equal(trained.mean[-1], tables.mean[-1])
    assert_array_equal(trained.variance[-1], tables.variance[-1])


@every_learner
@pytest.mark.parametrize("n_labels", [2, 5])
def test_float32_agrees_with_float64(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(4)
    X, gold = random_rows(rng, n_labels=n_labels)
    X = X.astype(np.float32)
    tables = random_tables(rng, N_FEATURES, n_labels, np.float32)
    single, _ = learner.run(tables, compressed(X, gold), 3)
    assert single.mean.dtype == np.float32
    wide = tables._replace(
        mean=tables.mean.astype(float),
        variance=tables.variance.astype(float),
        drift=tables.drift.astype(float),
    )
    double, _ = learner.run(wide, compressed(X, gold), 3)
    for name in ("mean", "variance", "drift"):
        assert_allclose(
            single.vector(name), double.vector(name), rtol=FLOAT32, atol=FLOAT32
        )


@every_learner
@pytest.mark.parametrize("n_labels", [2, 3, 9])
def test_padding_stays_as_it_was(name, n_labels):
    rng = np.random.default_rng(5)
    X, gold = random_rows(rng, n_labels=n_labels)
    tables = random_tables(rng, N_FEATURES, n_labels)
    trained, _ = LEARNERS[name].run(tables, compressed(X, gold), 3)
    outside = np.s_[:, tables.n_columns :]
    assert_array_equal(trained.mean[outside], 0.0)
    assert_array_equal(trained.variance[outside], 1.0)


@every_learner
@pytest.mark.parametrize("n_labels", [2, 5])
def test_tables_that_lie_side_by_side_get_the_same_bits(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(n_labels)
    # More entries than are asked for ahead.
    X, gold = random_rows(rng, 12, 80, n_labels)
    tables = random_tables(rng, 80, n_labels, np.float32)
    apart, wrong = learner.run(tables, compressed(X, gold), 3)
    beside, also_wrong = learner.run(tables, compressed(X, gold), 3, side_by_side=True)
    assert wrong == also_wrong
    for one, other in zip(apart[:4], beside[:4], strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("lay", "message"),
    [
        (lambda table: np.repeat(table, 2, axis=1)[:, ::2], "columns of a table"),
        (lambda table: np.repeat(table, 2, axis=0)[::2], "equally far apart"),
    ],
)
@pytest.mark.parametrize("name", ["variance", "drift"])
def test_tables_that_lie_otherwise_are_refused(lay, message, name):
    rng = np.random.default_rng(0)
    tables = random_tables(rng, N_FEATURES, 4)
    tables = tables._replace(**{name: lay(getattr(tables, name))})
    X, gold = random_rows(rng, 2, N_FEATURES, 4)
    parts = compressed(X, gold), np.arange(2), 4, 1, *cw().parameters
    with pytest.raises(ValueError, match=message):
        cw_row_pass(*tables[:4], *parts)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_perceptron_from_nothing_equals_its_twin_also_in_ties(n_labels):
    # Weights are whole numbers: both add them up without rounding.
    rng = np.random.default_rng(6)
    X, gold = rng.integers(3, size=(40, N_FEATURES)), rng.integers(n_labels, size=40)
    learner, tables = LEARNERS["perceptron"], start(N_FEATURES, n_labels)
    trained, _ = learner.run(tables, compressed(X, gold), 1)
    mean, _, average = learner.run_twin(tables, X.astype(float), gold, 1)
    assert_array_equal(trained.vector("mean"), mean)
    assert_allclose(trained.average(), average, rtol=1e-9, atol=1e-12)


@every_learner
@pytest.mark.parametrize("n_labels", [2, 4])
def test_a_pass_reports_the_rows_that_were_wrong_when_first_presented(name, n_labels):
    learner = LEARNERS[name]
    rng = np.random.default_rng(7)
    X, gold = random_rows(rng, n_labels=n_labels)
    # Three copies count once, what is left out not at all; row 0 ties at zero.
    weight = np.tile([3.0, 1.0, 0.0], 4)
    tables, wrong = start(N_FEATURES, n_labels), 0
    _, found = learner.run(tables, compressed(X, gold, weight=weight), 1)
    for i in np.flatnonzero(weight):
        row = np.append(X[i], 1.0)
        scores = tables.vector("mean").reshape(-1, N_FEATURES + 1) @ row
        guess = scores[0] > 0 if n_labels == 2 else scores.argmax()
        wrong += guess != gold[i]
        rows = compressed(X[[i]], gold[[i]], weight=weight[[i]])
        tables, _ = learner.run(tables, rows, 1)
    assert found == wrong


@pytest.mark.parametrize("name", GAUSSIAN)
def test_more_rivals_than_there_are_count_as_all(name):
    rng = np.random.default_rng(8)
    X, gold = random_rows(rng, n_labels=4)
    tables = random_tables(rng, N_FEATURES, 4)
    all_of_them, _ = GAUSSIAN[name].run(tables, compressed(X, gold), 3)
    more, _ = GAUSSIAN[name].run(tables, compressed(X, gold), 99)
    assert_array_equal(all_of_them.mean, more.mean)
    assert_array_equal(all_of_them.variance, more.variance)


@every_learner
@pytest.mark.parametrize("n_labels", [2, 3])
def test_rows_without_entries_teach_the_intercept_alone(name, n_labels):
    gold = [1, 1, 0, 1, 1, 1]
    rows = compressed(np.zeros((6, N_FEATURES)), gold)
    tables, _ = LEARNERS[name].run(start(N_FEATURES, n_labels), rows, 2)
    assert not tables.mean[:-1].any()
    assert tables.mean[-1].any()
    rows = compressed(np.zeros((6, N_FEATURES)), gold, intercept=False)
    tables, _ = LEARNERS[name].run(start(N_FEATURES, n_labels), rows, 2)
    assert not tables.mean.any()
    assert (tables.variance == 1).all()


def test_keys_depend_on_content_and_label_alone():
    rng = np.random.default_rng(10)
    X, gold = random_rows(rng, 30, N_FEATURES, 2)
    X[:5], gold[:5] = X[5:10], gold[5:10]  # some rows come twice
    rows = compressed(X, gold)
    keys = row_keys(rows.indptr, rows.indices, rows.values, rows.gold)
    assert_array_equal(keys[:5], keys[5:10])
    assert len(np.unique(keys)) == 25
    order = rng.permutation(30)
    rows = compressed(X[order], gold[order])
    moved = row_keys(rows.indptr, rows.indices, rows.values, rows.gold)
    assert_array_equal(moved, keys[order])
    rows = compressed(X, 1 - gold)
    other = row_keys(rows.indptr, rows.indices, rows.values, rows.gold)
    assert not np.intersect1d(other, keys).size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hashes_of_rows_equal_their_twin_whatever_the_label(dtype):
    X, gold = random_rows(np.random.default_rng(10), 30, N_FEATURES, 2)
    X[:5] = X[5:10]
    rows = compressed(X, gold)
    values = rows.values.astype(dtype)
    hashes = row_hashes(rows.indptr, rows.indices, values)
    assert hashes.tolist() == [hash_of(row) for row in X.astype(dtype)]
    assert len(np.unique(hashes)) == 25
    # A stored zero counts as absent.
    indptr, indices = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    (with_zero,) = row_hashes(indptr, indices, np.array([0.0, 3.0]))
    assert with_zero == hash_of(np.array([0.0, 3.0]))


@pytest.mark.parametrize("n_rows", [0, 1, 2, 7, 64, 1000])
@pytest.mark.parametrize("n_different", [1, 3, 1000])
def test_hashes_are_ordered_and_equal_ones_stay(n_rows, n_different):
    rng = np.random.default_rng(n_rows)
    some = rng.integers(0, 2**64 - 1, n_different, dtype=np.uint64, endpoint=True)
    for hashes in (rng.choice(some, n_rows), some[:n_rows] >> np.uint64(40)):
        expected = np.argsort(hashes, kind="stable")
        assert_array_equal(hash_order(hashes), expected)


def test_keys_are_salted_by_their_bits_and_those_of_a_random_number():
    rng = np.random.default_rng(11)
    *keys, salt = rng.integers(0, 2**64 - 1, 50, dtype=np.uint64, endpoint=True)
    keys = np.array(keys)
    mixed = (keys ^ salt) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    assert_array_equal(salted_hashes(keys, salt), mixed ^ (mixed >> np.uint64(32)))


@pytest.mark.parametrize("indices", [[], [0], [3, 1, 3, 7], [5, 5]])
def test_features_are_seen_where_an_index_names_them(indices):
    seen = seen_features(np.array(indices, dtype=np.int32))
    assert seen.dtype == bool
    assert_array_equal(seen, np.isin(np.arange(max(indices, default=-1) + 1), indices))


def test_stored_zeros_do_not_change_the_key():
    zero_less = compressed([[1.0, 0.0, -2.0]], [1])
    stored = zero_less._replace(
        indptr=np.array([0, 3]),
        indices=np.arange(3, dtype=np.int32),
        values=np.array([1.0, 0.0, -2.0]),
    )
    assert_array_equal(
        row_keys(zero_less.indptr, zero_less.indices, zero_less.values, zero_less.gold),
        row_keys(stored.indptr, stored.indices, stored.values, stored.gold),
    )
