"""Confidences in bins, and their distance from the accuracy in each."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw.metrics import confidence_bins, confidence_rmse

WORD = st.tuples(st.floats(0, 1), st.booleans())
WORDS = st.lists(WORD, min_size=1, max_size=60)


def columns(words):
    confidence, correct = zip(*words, strict=True)
    return np.array(confidence, dtype=float), np.array(correct)


def test_bins_and_rmse_are_those_computed_by_hand():
    confidence = [0.0, 0.04, 0.05, 0.97, 1.0]
    correct = [False, True, True, True, False]
    centre, accuracy, count = confidence_bins(confidence, correct)
    assert_allclose(centre, np.arange(1, 21) / 20 - 1 / 40, rtol=1e-12)
    assert count.tolist() == [2, 1, *[0] * 17, 2]
    assert accuracy[[0, 1, 19]].tolist() == [0.5, 1.0, 0.5]
    assert np.isnan(accuracy[2:19]).all()
    squares = 2 * (0.025 - 0.5) ** 2 + (0.075 - 1) ** 2 + 2 * (0.975 - 0.5) ** 2
    got = confidence_rmse(confidence, correct)
    assert_allclose(got, np.sqrt(squares / 5), rtol=1e-12)


@given(words=WORDS, n_bins=st.integers(1, 30))
def test_every_word_lies_in_the_bin_of_its_exact_confidence(words, n_bins):
    confidence, correct = columns(words)
    # Borders are the floats nearest to j / n_bins; each begins its own bin.
    borders = [float(Fraction(j, n_bins)) for j in range(n_bins)]
    which = [max(j for j in range(n_bins) if borders[j] <= c) for c in confidence]
    want = np.bincount(which, minlength=n_bins)
    _, accuracy, count = confidence_bins(confidence, correct, n_bins=n_bins)
    assert_array_equal(count, want)
    for j in set(which):
        assert accuracy[j] == correct[np.array(which) == j].mean()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [3, 7, 10, 20, 50])
def test_a_share_of_votes_on_a_border_opens_its_bin(dtype, n_bins):
    for n_draws in (n_bins, 2 * n_bins, 3 * n_bins):
        votes = np.arange(0, n_draws + 1, n_draws // n_bins)
        shares = votes.astype(dtype) / dtype(n_draws)
        _, _, count = confidence_bins(shares, shares >= 0, n_bins=n_bins)
        assert count.tolist() == [1] * (n_bins - 1) + [2]


def test_a_confidence_just_below_a_border_stays_below_it():
    below = np.nextafter(np.arange(1, 21) / 20, 0)
    _, _, count = confidence_bins(below, np.ones(20, dtype=bool))
    assert count.tolist() == [1] * 20


@given(words=WORDS, n_bins=st.integers(1, 30))
def test_rmse_is_the_weighted_distance_of_the_curve_from_the_diagonal(words, n_bins):
    confidence, correct = columns(words)
    centre, accuracy, count = confidence_bins(confidence, correct, n_bins=n_bins)
    filled = count > 0
    squares = (centre - accuracy)[filled] ** 2
    want = np.sqrt(np.average(squares, weights=count[filled]))
    got = confidence_rmse(confidence, correct, n_bins=n_bins)
    assert_allclose(got, want, rtol=1e-12, atol=1e-15)
    assert 0 <= got <= 1


@given(words=WORDS, data=st.data())
def test_shuffling_words_changes_no_bit(words, data):
    shuffled = columns(data.draw(st.permutations(words)))
    want = confidence_bins(*columns(words))
    assert_array_equal(confidence_bins(*shuffled), want)
    assert confidence_rmse(*shuffled) == confidence_rmse(*columns(words))


@given(words=WORDS, cut=st.integers(0, 60))
def test_rows_give_the_bits_of_flat_arrays(words, cut):
    confidence, correct = columns(words)
    rows = [confidence[:cut], confidence[cut:]], [correct[:cut], correct[cut:]]
    want = confidence_bins(confidence, correct)
    assert_array_equal(confidence_bins(*rows), want)
    assert confidence_rmse(*rows) == confidence_rmse(confidence, correct)


def test_confidences_that_keep_their_word_have_no_error():
    # The centres are 1 / 40, 3 / 40, ...: of 40 words at k / 40, k are right.
    odd = np.arange(1, 40, 2)
    confidence = np.repeat(odd / 40, 40)
    correct = np.concatenate([np.arange(40) < right for right in odd])
    assert_allclose(confidence_rmse(confidence, correct), 0, atol=1e-12)


def test_without_words_bins_are_empty():
    for empty in ([], [[]], np.empty(0, dtype=object)):
        centre, accuracy, count = confidence_bins(empty, empty)
        assert len(centre) == 20 and np.isnan(accuracy).all() and not count.any()
        assert confidence_rmse(empty, empty) == 0.0
        assert np.isnan(confidence_rmse(empty, empty, zero_division=np.nan))


@pytest.mark.parametrize("function", [confidence_bins, confidence_rmse])
def test_what_is_no_probability_is_refused_with_advice(function):
    advice = r"no probability.*'delta'.*error_average_precision"
    for value in (-1e-9, 1.5, np.inf, -np.inf):
        with pytest.raises(ValueError, match=rf"confidence\[1\] is .*{advice}"):
            function([0.5, value], [True, True])
    with pytest.raises(ValueError, match=rf"confidence\[2\]\[1\] is 2.0.*{advice}"):
        function([[0.5], [], [0.1, 2.0]], [[True], [], [True, True]])


@pytest.mark.parametrize("function", [confidence_bins, confidence_rmse])
def test_a_number_of_bins_is_a_positive_integer(function):
    for n_bins in (2.0, True, None):
        with pytest.raises(TypeError, match=r"n_bins is .*whole number"):
            function([0.5], [True], n_bins=n_bins)
    with pytest.raises(ValueError, match="n_bins is 0; it must be at least 1"):
        function([0.5], [True], n_bins=0)


@given(words=WORDS, data=st.data())
def test_a_weight_is_a_number_of_repetitions(words, data):
    confidence, correct = columns(words)
    times = st.lists(st.integers(0, 3), min_size=len(words), max_size=len(words))
    weight = np.array(data.draw(times.filter(any)))
    again = np.repeat(confidence, weight), np.repeat(correct, weight)
    weighted = confidence_bins(confidence, correct, sample_weight=weight)
    for one, other in zip(weighted, confidence_bins(*again), strict=True):
        assert_array_equal(one, other)
    got = confidence_rmse(confidence, correct, sample_weight=weight)
    assert_allclose(got, confidence_rmse(*again), rtol=1e-12, atol=1e-15)
