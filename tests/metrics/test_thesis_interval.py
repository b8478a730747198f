"""The interval and the band of the thesis, which benchmarks alone offer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from skcw.metrics.bands import calibration_bands
from skcw.metrics.score import make_score
from tests.benchmarks.modules import benchmark_module
from tests.metrics.sentences import draw_words, same, tempered

CHANCE = {"n_resamples": 100, "random_state": 0}


@pytest.fixture(scope="module")
def other():
    return benchmark_module("papers.nguyen2015.coverage")


@pytest.fixture(scope="module")
def words():
    return draw_words(600, np.random.default_rng(1), tempered)


def test_the_interval_is_that_of_bins_with_drawn_accuracies(other, words):
    y, q, group = words
    _, low, high = other.interval(
        "calibration_mse", y, q, "normal", groups=group, n_resamples=20_000,
        random_state=0,
    )  # fmt: skip
    score = make_score("calibration_mse", y, q)
    mass, claimed, right = score.binning.sums(score.pairs.weight)
    p = right / mass
    # The mean of (q - p*)^2 is (q - p)^2 + p (1 - p) / n.
    want = score.value() + (mass * p * (1 - p) / mass).sum() / mass.sum()
    assert_allclose((low + high) / 2, want, rtol=0.01)
    gap = claimed / mass - p
    variance = p * (1 - p) / mass
    spread = 4 * gap**2 * variance + 2 * variance**2
    deviation = np.sqrt(((mass / mass.sum()) ** 2 * spread).sum())
    assert_allclose((high - low) / 2, 1.959964 * deviation, rtol=0.03)


@pytest.mark.parametrize("method", ["normal", "percentile"])
def test_the_error_of_a_calibrated_model_is_never_covered(other, method):
    for trial in range(20):
        y, q, group = draw_words(1000, np.random.default_rng([7, trial]), same)
        found = other.interval("calibration_mse", y, q, method, groups=group, **CHANCE)
        assert found.low > 0  # the error in root-n bins is about nothing


def test_the_band_collapses_where_all_words_are_right(other):
    q = np.full(20, 0.6)
    low, high = other.normal_band(np.arange(20) < 16, q, "uniform", None)
    half = 1.959964 * np.sqrt(0.8 * 0.2 / 20)
    assert_allclose([low[0], high[0]], [0.8 - half, 0.8 + half], rtol=1e-6)
    assert np.ravel(other.normal_band(np.ones(20), q, "uniform", None)).tolist() == [
        1.0,
        1.0,
    ]
    assert calibration_bands(np.ones(20), q, strategy="uniform").low[0] < 0.9


@pytest.mark.parametrize("length", [1, 10])
def test_resampled_bands_are_quantiles_of_the_binomial_distribution(other, length):
    # Three of four sentences are all right, the others all wrong.
    group = np.arange(200) // length
    n_sentences = 200 // length
    y = group < 0.75 * n_sentences
    (low,), (high,) = other.resampled_band(
        y, np.full(200, 0.6), "uniform", group, n_resamples=4000, random_state=0
    )
    want = binom.ppf([0.025, 0.975], n_sentences, 0.75) / n_sentences
    assert_allclose([low, high], want, rtol=1e-9)
