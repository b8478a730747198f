"""Pooling adjacent violators: its twin, scikit-learn's regression, and its laws."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.isotonic import IsotonicRegression

from skcw._kernels.pooling import pool_violators
from tests.reference.calibration import isotonic_means

EXACT = 1e-12
PLACE = st.tuples(st.floats(0.01, 10), st.floats(0, 1))
PLACES = st.lists(PLACE, min_size=1, max_size=15)


def pooled(mass, right):
    """Return first places, masses and right masses of the blocks."""
    n = len(mass)
    first, block_mass, block_right = np.empty(n, np.int64), np.empty(n), np.empty(n)
    blocks = pool_violators(
        np.array(mass, dtype=float),
        np.array(right, dtype=float),
        first,
        block_mass,
        block_right,
    )
    return first[:blocks], block_mass[:blocks], block_right[:blocks]


def fitted(mass, right):
    """Return the pooled mean at each place."""
    first, block_mass, block_right = pooled(mass, right)
    sizes = np.diff(first, append=len(mass))
    return np.repeat(block_right / block_mass, sizes)


@given(places=PLACES)
def test_means_are_those_of_the_twin(places):
    mass, share = np.array(places).T
    want = isotonic_means(mass.tolist(), (mass * share).tolist())
    assert_allclose(fitted(mass, mass * share), want, rtol=1e-9, atol=EXACT)


@given(places=PLACES)
def test_means_are_those_of_scikit_learn(places):
    mass, share = np.array(places).T
    regression = IsotonicRegression()
    want = regression.fit_transform(np.arange(len(mass)), share, sample_weight=mass)
    assert_allclose(fitted(mass, mass * share), want, rtol=1e-9, atol=EXACT)


@given(places=PLACES)
def test_pooling_keeps_all_mass_and_leaves_rising_means(places):
    mass, share = np.array(places).T
    first, block_mass, block_right = pooled(mass, mass * share)
    assert first[0] == 0 and (np.diff(first) > 0).all()
    assert_allclose(block_mass, np.add.reduceat(mass, first), rtol=EXACT)
    assert_allclose(
        block_right, np.add.reduceat(mass * share, first), rtol=EXACT, atol=EXACT
    )
    assert (block_right[1:] * block_mass[:-1] > block_right[:-1] * block_mass[1:]).all()


@given(places=PLACES)
def test_pooling_blocks_again_changes_nothing(places):
    mass, share = np.array(places).T
    _, block_mass, block_right = pooled(mass, mass * share)
    first, again, _ = pooled(block_mass, block_right)
    assert_array_equal(first, np.arange(len(block_mass)))
    assert_array_equal(again, block_mass)


def test_places_without_mass_are_passed_over():
    first, mass, right = pooled([0, 2, 0, 2, 0, 1, 0], [0, 1, 0, 0, 0, 1, 0])
    assert first.tolist() == [1, 5]
    assert mass.tolist() == [4, 1] and right.tolist() == [1, 1]


def test_no_places_make_no_blocks():
    assert len(pooled([], [])[0]) == 0
    assert len(pooled([0.0, 0.0], [0.0, 0.0])[0]) == 0
