"""Confidences in bins of equal width that claim their centers."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw.metrics import calibration_bins, root_calibration_mse
from skcw.metrics.calibration_errors import calibration_mse

WORD = st.tuples(st.floats(0, 1), st.booleans())
WORDS = st.lists(WORD, min_size=1, max_size=60)

bins_of = partial(calibration_bins, strategy="uniform", claim="center")
rmse = partial(root_calibration_mse, strategy="uniform", claim="center")


def columns(words):
    confidence, correct = zip(*words, strict=True)
    return np.array(correct), np.array(confidence, dtype=float)


def test_bins_and_rmse_are_those_computed_by_hand():
    confidence = [0.0, 0.04, 0.05, 0.97, 1.0]
    correct = [False, True, True, True, False]
    bins = bins_of(correct, confidence)
    assert_allclose(bins.confidence, [0.025, 0.075, 0.975], rtol=1e-12)
    assert bins.count.tolist() == [2, 1, 2]
    assert bins.accuracy.tolist() == [0.5, 1.0, 0.5]
    assert bins.low.tolist() == [0.0, 0.05, 0.97]
    assert bins.high.tolist() == [0.04, 0.05, 1.0]
    squares = 2 * (0.025 - 0.5) ** 2 + (0.075 - 1) ** 2 + 2 * (0.975 - 0.5) ** 2
    got = rmse(correct, confidence)
    assert_allclose(got, np.sqrt(squares / 5), rtol=1e-12)


@given(words=WORDS, n_bins=st.integers(1, 30))
def test_every_word_counts_in_the_bin_of_its_exact_confidence(words, n_bins):
    correct, confidence = columns(words)
    # Borders are the floats nearest to j / n_bins; each begins its own bin.
    borders = [float(Fraction(j, n_bins)) for j in range(n_bins)]
    which = [max(j for j in range(n_bins) if borders[j] <= c) for c in confidence]
    filled, want = np.unique(which, return_counts=True)
    bins = bins_of(correct, confidence, n_bins=n_bins)
    assert_array_equal(bins.count, want)
    assert_allclose(bins.confidence, (2 * filled + 1) / (2 * n_bins), rtol=1e-12)
    for place, j in enumerate(filled):
        assert bins.accuracy[place] == correct[np.array(which) == j].mean()
    # The root of the mean squared distance of the curve from the diagonal.
    squares = (bins.confidence - bins.accuracy) ** 2
    want = np.sqrt(np.average(squares, weights=bins.count))
    got = rmse(correct, confidence, n_bins=n_bins)
    assert_allclose(got, want, rtol=1e-12, atol=1e-15)
    assert 0 <= got <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [3, 7, 10, 20, 50])
def test_a_share_of_votes_on_a_border_opens_its_bin(dtype, n_bins):
    for n_draws in (n_bins, 2 * n_bins, 3 * n_bins):
        votes = np.arange(0, n_draws + 1, n_draws // n_bins)
        shares = votes.astype(dtype) / dtype(n_draws)
        count = bins_of(shares >= 0, shares, n_bins=n_bins).count
        assert count.tolist() == [1] * (n_bins - 1) + [2]


def test_a_confidence_just_below_a_border_stays_below_it():
    below = np.nextafter(np.arange(1, 21) / 20, 0)
    assert bins_of(np.ones(20, dtype=bool), below).count.tolist() == [1] * 20


@given(words=WORDS, data=st.data(), cut=st.integers(0, 60))
def test_neither_order_nor_rows_change_a_bit(words, data, cut):
    correct, confidence = columns(words)
    shuffled = columns(data.draw(st.permutations(words)))
    rows = [correct[:cut], correct[cut:]], [confidence[:cut], confidence[cut:]]
    for other in (shuffled, rows):
        assert_array_equal(bins_of(*other), bins_of(correct, confidence))
        assert rmse(*other) == rmse(correct, confidence)


def test_confidences_that_keep_their_word_have_no_error():
    # The centers are 1 / 40, 3 / 40, ...: of 40 words at k / 40, k are right.
    odd = np.arange(1, 40, 2)
    confidence = np.repeat(odd / 40, 40)
    correct = np.concatenate([np.arange(40) < right for right in odd])
    assert_allclose(rmse(correct, confidence), 0, atol=1e-12)


@pytest.mark.parametrize("function", [bins_of, rmse])
def test_a_number_of_bins_is_a_positive_integer(function):
    for n_bins in (2.0, True):
        with pytest.raises(TypeError, match=r"n_bins is .*whole number"):
            function([True], [0.5], n_bins=n_bins)
    with pytest.raises(ValueError, match="n_bins is 0; it must be at least 1"):
        function([True], [0.5], n_bins=0)


@given(words=WORDS, data=st.data())
def test_a_weight_is_a_number_of_repetitions(words, data):
    correct, confidence = columns(words)
    times = st.lists(st.integers(0, 3), min_size=len(words), max_size=len(words))
    weight = np.array(data.draw(times.filter(any)))
    again = np.repeat(correct, weight), np.repeat(confidence, weight)
    weighted = bins_of(correct, confidence, sample_weight=weight)
    repeated = bins_of(*again)
    assert_array_equal(weighted.weight, repeated.count)
    assert_array_equal(weighted.accuracy, repeated.accuracy)
    got = rmse(correct, confidence, sample_weight=weight)
    assert_allclose(got, rmse(*again), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "function", [calibration_bins, calibration_mse, root_calibration_mse]
)
def test_centers_are_claimed_by_bins_of_equal_width_alone(function):
    for strategy in ("adaptive", "quantile"):
        with pytest.raises(ValueError, match="it must be 'uniform'"):
            function([True], [0.5], strategy=strategy, claim="center")
    with pytest.raises(ValueError, match="claim is 'median'; it must be one of 'mean'"):
        function([True], [0.5], claim="median")
    with pytest.raises(ValueError, match="isotonic bins follow from the data"):
        calibration_bins([True], [0.5], strategy="isotonic", claim="center")
