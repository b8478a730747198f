"""The merge of what shards have moved: by hand, by a twin, and by its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._model.mixing import Mixture, Moves, moved_cells, n_merges
from tests.reference import mixing

DOUBLE = 1e-9  # sums in another order
SINGLE = 1e-5


@st.composite
def passes(draw, gaussian):
    """Return the common tables and what each shard has made of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 6))
    mean, average = rng.normal(size=(2, n))
    variance = rng.uniform(0.1, 1.0, n) if gaussian else None
    rounds = float(draw(st.integers(0, 20)))
    if not rounds:
        average = mean.copy()
    shards = []
    for _ in range(draw(st.integers(1, 4))):
        moved = rng.random(n) < draw(st.floats(0, 1))
        after = np.where(moved, mean + rng.normal(size=n), mean)
        own = np.where(moved, (mean + after) / 2, mean)
        less = np.where(moved, variance * 0.5, variance) if gaussian else None
        shards.append((after, less, own, float(draw(st.integers(1, 9)))))
    return mean, variance, average, rounds, shards


def merge(mean, variance, average, rounds, shards, order=None):
    """Return what `Mixture` makes of it, in the form of the twin."""
    mean, drift = mean.copy(), rounds * (mean - average)
    variance = None if variance is None else variance.copy()
    mixture = Mixture(mean, variance, drift, rounds)
    for k in range(len(shards)) if order is None else order:
        after, less, own, own_rounds = shards[k]
        late = own_rounds * (after - own)
        rows, tables = np.arange(len(mean)), (after, less, late)
        moves = moved_cells((mean, variance), rows, rows, tables, own_rounds, ())
        mixture.add(moves)
    total = mixture.finish(number=1)
    return mean, variance, mean - drift / (total or 1.0), total


@pytest.mark.parametrize("gaussian", [True, False])
@given(data=st.data())
def test_the_merge_is_that_of_the_twin(gaussian, data):
    problem = data.draw(passes(gaussian))
    for found, expected in zip(merge(*problem), mixing.merged(*problem), strict=True):
        if expected is not None:
            assert_allclose(found, expected, rtol=DOUBLE, atol=DOUBLE)


@pytest.mark.parametrize("gaussian", [True, False])
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_moved_cells_are_those_that_differ_from_the_row_they_come_from(
    gaussian, seed, averaging
):
    rng = np.random.default_rng(seed)
    mean, variance = rng.normal(size=(4, 3)), rng.uniform(0.5, 1.0, (4, 3))
    origin = rng.integers(0, 4, rng.integers(1, 6))
    moved = [rng.random((len(origin), 3)) < 0.2 for _ in range(3)]
    after = np.where(moved[0], 9.0, mean[origin])
    less = np.where(moved[1], 0.1, variance[origin])
    drift = np.where(moved[2], 1.0, 0.0)
    if not gaussian:
        moved[1][:] = False
    if not averaging:
        moved[2][:] = False
    tables = (
        after.ravel(),
        less.ravel() if gaussian else None,
        drift.ravel() if averaging else None,
    )
    before = mean.ravel(), variance.ravel() if gaussian else None
    numbers = rng.permutation(len(origin))
    found = moved_cells(before, origin, numbers, tables, 1.0, ())
    order = np.argsort(numbers)
    expected = np.any(moved, axis=0)[order]
    # In the order of their numbers, which is that of the rows here.
    assert_array_equal(found.cells, np.flatnonzero(expected))
    assert_array_equal(found.mean, after[order][expected])


@given(passes(gaussian=True))
def test_one_shard_is_taken_as_it_is(problem):
    *common, shards = problem
    mean, variance, _, _ = merge(*common, shards[:1])
    assert_allclose(mean, shards[0][0], rtol=DOUBLE)
    assert_allclose(variance, shards[0][1], rtol=DOUBLE)


@given(passes(gaussian=True))
def test_equal_shards_merge_to_one_of_them_that_is_surer_by_the_root_of_their_number(
    problem,
):
    *common, shards = problem
    one, several = merge(*common, shards[:1]), merge(*common, shards[:1] * 4)
    assert_allclose(several[0], one[0], rtol=DOUBLE)
    before = 1 / common[1]
    assert_allclose(1 / several[1] - before, 2 * (1 / one[1] - before), rtol=DOUBLE)


@pytest.mark.parametrize(
    ("number", "n_shards", "n"),
    [(1, 1, 1), (1, 4, 1), (1, 5, 5), (1, 64, 16), (2, 64, 1)],
)
def test_only_the_first_pass_of_many_shards_is_merged_more_than_once(
    number, n_shards, n
):
    assert n_merges(number, n_shards, few=4) == n


@given(passes(gaussian=True))
def test_the_order_of_shards_changes_only_roundings(problem):
    found = merge(*problem)
    other = merge(*problem, order=range(len(problem[-1]))[::-1])
    for one, another in zip(found, other, strict=True):
        assert_allclose(another, one, rtol=DOUBLE, atol=DOUBLE)


@given(passes(gaussian=True))
def test_means_stay_between_those_of_shards_and_precision_gains_at_most_their_sum(
    problem,
):
    mean, variance, _, _, shards = problem
    new_mean, new_variance, _, _ = merge(*problem)
    every = np.array([mean] + [shard[0] for shard in shards])
    assert (new_mean >= every.min(axis=0) - DOUBLE).all()
    assert (new_mean <= every.max(axis=0) + DOUBLE).all()
    assert (new_variance <= variance * (1 + DOUBLE)).all()
    gained = np.sum([1 / shard[1] - 1 / variance for shard in shards], axis=0)
    assert (1 / new_variance - 1 / variance <= gained + DOUBLE).all()


@given(passes(gaussian=True))
def test_what_no_shard_moved_is_not_touched_at_all(problem):
    mean, variance, _, _, shards = problem
    still = np.all([shard[0] == mean for shard in shards], axis=0)
    new_mean, new_variance, _, _ = merge(*problem)
    assert_array_equal(new_mean[still], mean[still])
    assert_array_equal(new_variance[still], variance[still])


def test_a_move_without_gain_counts_if_there_is_no_other():
    mean, variance = np.zeros(1, "float32"), np.full(1, 1e-30, "float32")
    mixture = Mixture(mean, variance, None, 0.0)
    cells = np.zeros(1, int)
    for step in (1, 3):
        moves = Moves(cells, mean + step, variance, None, 1.0, ())
        mixture.add(moves)
    mixture.finish(number=1)
    assert_allclose(mean, 2.0, rtol=SINGLE)
    assert_allclose(variance, 1e-30, rtol=SINGLE)


def test_what_was_merged_is_no_part_of_the_next_merge():
    rng = np.random.default_rng(0)
    one, other = ([np.zeros(9), np.ones(9), np.zeros(9)] for _ in range(2))
    kept, rounds = Mixture(*one, 0.0), 0.0
    for number, size in ((1, 3), (2, 9), (3, 5)):
        fresh = Mixture(*other, rounds)
        for _ in range(2):
            cells = np.sort(rng.choice(9, size, replace=False))
            tables = rng.normal(size=size), rng.uniform(0.1, 0.9, size)
            moves = Moves(cells, *tables, rng.normal(size=size), 2.0, ())
            kept.add(moves)
            fresh.add(moves)
        rounds = fresh.finish(number)
        assert kept.finish(number) == rounds
        assert_array_equal(one, other)


def test_the_bytes_of_moves_are_those_of_their_arrays():
    after = np.array([0.0, 1.0, 2.0], "float32")
    before = np.zeros(3, "float32"), None
    rows = np.arange(3)
    moves = moved_cells(before, rows, rows, (after, None, None), 2.0, (1,))
    assert moves.cells.tolist() == [1, 2]
    assert moves.n_bytes == 2 * (4 + 4)
