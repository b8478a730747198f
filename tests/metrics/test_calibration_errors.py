"""CalibMSE, its root, and the expected, adaptive and maximum calibration errors."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import foldnorm

from skcw.metrics import (
    calibration_bins,
    expected_calibration_error,
    root_calibration_mse,
)
from skcw.metrics.calibration_errors import calibration_mse
from tests.metrics.weighted_words import CONFIDENCES, WORDS, columns, words_of
from tests.reference.calibration import adaptive_bins, mean_square

EXACT = 1e-12
maximum_calibration_error = partial(expected_calibration_error, norm="max")
FRACTIONAL = words_of(CONFIDENCES, weight=st.integers(0, 9).map(lambda w: w / 4))
ERRORS = (
    calibration_mse,
    root_calibration_mse,
    expected_calibration_error,
    partial(expected_calibration_error, strategy="quantile"),
    maximum_calibration_error,
)


def calibrated_words(levels=(0.0, 0.2, 0.5, 0.9, 1.0), n=20):
    """Return n words at each level of which exactly that share is right."""
    confidence = np.repeat(levels, n)
    correct = np.concatenate([np.arange(n) < round(q * n) for q in levels])
    return correct, confidence


def test_calibration_mse_is_that_computed_by_hand():
    confidence = [0.7, 0.1, 0.2, 0.9, 0.3, 0.6, 1.0]
    correct = [True, False, True, True, False, False, True]
    # Bins of 3 and 4 words: claimed 0.2 and 0.8, observed 1/3 and 3/4.
    want = (3 * (0.2 - 1 / 3) ** 2 + 4 * (0.8 - 0.75) ** 2) / 7
    assert_allclose(calibration_mse(correct, confidence, bin_size=3), want, rtol=EXACT)
    got = root_calibration_mse(correct, confidence, bin_size=3)
    assert_allclose(got, np.sqrt(want), rtol=EXACT)


@given(words=WORDS, size=st.integers(1, 12))
def test_calibration_mse_is_exact_and_never_rises_with_twice_the_bin_size(words, size):
    correct, confidence, weight = columns(words)
    scores = [
        calibration_mse(correct, confidence, bin_size=b, sample_weight=weight)
        for b in (size, 2 * size, 4 * size)
    ]
    want = float(mean_square(adaptive_bins(words, size)))
    assert_allclose(scores[0], want, rtol=1e-9, atol=EXACT)
    assert scores[0] >= scores[1] - EXACT
    assert scores[1] >= scores[2] - EXACT


@given(words=FRACTIONAL, size=st.integers(1, 5))
def test_fractional_weights_fill_bins_by_mass(words, size):
    correct, confidence, weight = columns(words)
    got = calibration_mse(correct, confidence, bin_size=size, sample_weight=weight)
    want = float(mean_square(adaptive_bins(words, size)))
    assert_allclose(got, want, rtol=1e-9, atol=EXACT)


@pytest.mark.parametrize("score", ERRORS)
def test_claims_that_come_true_have_no_error(score):
    assert_allclose(score(*calibrated_words()), 0, atol=EXACT)
    for strategy in ("adaptive", "uniform", "quantile"):
        got = calibration_mse(*calibrated_words(), strategy=strategy)
        assert_allclose(got, 0, atol=EXACT)


@pytest.mark.parametrize("score", ERRORS)
@pytest.mark.parametrize("right", [True, False])
def test_words_of_one_outcome_have_an_error_and_no_warning(score, right):
    confidence = np.full(30, 0.75)
    distance = 0.25 if right else 0.75
    want = distance**2 if score is calibration_mse else distance
    assert_allclose(score(np.full(30, right), confidence), want, rtol=EXACT)


@given(words=WORDS, n_bins=st.integers(1, 20))
def test_errors_are_means_and_the_greatest_of_distances_of_bins(words, n_bins):
    correct, confidence, weight = columns(words)
    for strategy in ("uniform", "quantile"):
        options = {"strategy": strategy, "n_bins": n_bins, "sample_weight": weight}
        bins = calibration_bins(correct, confidence, **options)
        distance = np.abs(bins.confidence - bins.accuracy)
        for norm, power in (("l1", 1), ("l2", 2)):
            want = np.average(distance**power, weights=bins.weight) ** (1 / power)
            got = expected_calibration_error(correct, confidence, norm=norm, **options)
            assert_allclose(got, want, rtol=1e-9, atol=1e-9)
        got = maximum_calibration_error(correct, confidence, **options)
        assert_allclose(got, distance.max(), rtol=1e-9, atol=EXACT)
        got = calibration_mse(correct, confidence, **options)
        want = np.average(distance**2, weights=bins.weight)
        assert_allclose(got, want, rtol=1e-9, atol=EXACT)


def test_expected_errors_have_fifteen_bins_unless_told():
    confidence = np.linspace(0, 1, 1000)
    correct = np.sin(40 * confidence) > 0
    for score in (expected_calibration_error, maximum_calibration_error):
        assert score(correct, confidence) == score(correct, confidence, n_bins=15)
        assert score(correct, confidence) != score(correct, confidence, n_bins=20)
        by_size = score(correct, confidence, strategy="adaptive")
        assert by_size == score(correct, confidence, strategy="adaptive", bin_size=31)


def test_debiasing_takes_off_the_variance_of_the_accuracy():
    # Ten words of which seven are right claim 0.9: s^2 = 0.7 * 0.3 / 9.
    correct, confidence = np.arange(10) < 7, np.full(10, 0.9)
    variance = 0.7 * 0.3 / 9
    got = expected_calibration_error(correct, confidence, norm="l2", debiased=True)
    assert_allclose(got, np.sqrt(0.2**2 - variance), rtol=EXACT)
    noisy = foldnorm.mean(0.2 / np.sqrt(variance), scale=np.sqrt(variance))
    got = expected_calibration_error(correct, confidence, debiased=True)
    assert_allclose(got, 0.2 - (noisy - 0.2), rtol=1e-9)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_a_debiased_error_is_never_above_the_plain_one_nor_below_zero(norm):
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 300):
        confidence = rng.random(n)
        correct = rng.random(n) < confidence
        plain = expected_calibration_error(correct, confidence, norm=norm)
        less = expected_calibration_error(correct, confidence, norm=norm, debiased=True)
        assert 0 <= less <= plain


def test_debiased_squares_are_right_on_average():
    rng = np.random.default_rng(7)
    true, gap = np.repeat([0.15, 0.3, 0.5], 20), 0.4
    draws = rng.random((1000, 60)) < true
    options = {"norm": "l2", "strategy": "quantile", "n_bins": 3}
    errors = {
        debiased: [
            expected_calibration_error(y, true + gap, debiased=debiased, **options)
            for y in draws
        ]
        for debiased in (False, True)
    }
    variance = np.mean(true * (1 - true)) / 20
    assert_allclose(np.mean(np.square(errors[True])), gap**2, rtol=0.02)
    assert_allclose(np.mean(np.square(errors[False])), gap**2 + variance, rtol=0.02)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_a_distance_below_its_noise_is_none_if_debiased(norm):
    correct, confidence = np.arange(10) < 7, np.full(10, 0.75)
    got = expected_calibration_error(correct, confidence, norm=norm, debiased=True)
    assert got == 0.0


def test_a_bin_of_one_word_counts_as_no_distance_if_debiased():
    correct, confidence = [True, True, True, True, True], [0.05, 0.5, 0.5, 0.5, 0.5]
    got = expected_calibration_error(correct, confidence, norm="l2", debiased=True)
    assert_allclose(got, np.sqrt(4 * 0.5**2 / 5), rtol=EXACT)
    assert expected_calibration_error([True], [0.05], debiased=True) == 0.0


def test_an_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="it must be one of 'l1', 'l2', 'max'"):
        expected_calibration_error([True], [0.5], norm="l3")
    with pytest.raises(ValueError, match="debiased works with the norms"):
        maximum_calibration_error([True], [0.5], debiased=True)
