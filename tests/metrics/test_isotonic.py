"""Isotonic blocks: their twin, scikit-learn's regression, and their laws."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.isotonic import IsotonicRegression

from skcw.metrics.binnings import isotonic_blocks
from tests.reference.calibration import isotonic_means

EXACT = 1e-12
PLACE = st.tuples(st.floats(0.01, 10), st.floats(0, 1))
PLACES = st.lists(PLACE, min_size=1, max_size=15)


def pooled(mass, right):
    """Return first places, masses and right masses of the blocks."""
    return isotonic_blocks(np.array(mass, dtype=float), np.array(right, dtype=float))


def fitted(mass, right):
    """Return the pooled mean at each place."""
    first, block_mass, block_right = pooled(mass, right)
    sizes = np.diff(first, append=len(mass))
    return np.repeat(block_right / block_mass, sizes)


@given(places=PLACES)
def test_means_are_those_of_the_twin_and_of_scikit_learn(places):
    mass, share = np.array(places).T
    found = fitted(mass, mass * share)
    want = isotonic_means(mass.tolist(), (mass * share).tolist())
    assert_allclose(found, want, rtol=1e-9, atol=EXACT)
    regression = IsotonicRegression()
    want = regression.fit_transform(np.arange(len(mass)), share, sample_weight=mass)
    assert_allclose(found, want, rtol=1e-9, atol=EXACT)


@given(places=PLACES)
def test_pooling_keeps_all_mass_and_leaves_rising_means_for_good(places):
    mass, share = np.array(places).T
    first, block_mass, block_right = pooled(mass, mass * share)
    assert first[0] == 0 and (np.diff(first) > 0).all()
    assert_allclose(block_mass, np.add.reduceat(mass, first), rtol=EXACT)
    assert_allclose(
        block_right, np.add.reduceat(mass * share, first), rtol=EXACT, atol=EXACT
    )
    assert (block_right[1:] * block_mass[:-1] > block_right[:-1] * block_mass[1:]).all()
    # Pooling again changes nothing.
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


@given(counts=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30))
def test_counts_are_pooled_exactly(counts):
    # Means that are equal as fractions are one block, however they are rounded.
    mass = [max(pair) for pair in counts]
    right = [min(pair) for pair in counts]
    first, block_mass, block_right = pooled(mass, right)
    blocks = []
    for place, (m, r) in enumerate(zip(mass, right, strict=True)):
        if m:
            blocks.append((place, m, r))
        while len(blocks) > 1 and blocks[-2][2] * blocks[-1][1] >= (
            blocks[-1][2] * blocks[-2][1]
        ):
            _, more_mass, more_right = blocks.pop()
            begin, m, r = blocks.pop()
            blocks.append((begin, m + more_mass, r + more_right))
    found = zip(first.tolist(), block_mass, block_right, strict=True)
    assert list(found) == blocks
