"""Bands around calibration curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from skcw.metrics import calibration_bins
from skcw.metrics.bands import BAND_METHODS, calibration_bands
from tests.metrics.sentences import draw_words, tempered

FAST = {"n_resamples": 100}
STRATEGIES = ("adaptive", "uniform", "quantile", "isotonic")


@pytest.fixture(scope="module")
def words():
    return draw_words(800, np.random.default_rng(0), tempered)


def one_bin(n_right, n, method, **options):
    correct = np.arange(n) < n_right
    return calibration_bands(correct, np.full(n, 0.6), method=method, **options)


@pytest.mark.parametrize("n_right", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(
    ("method", "name"), [("wilson", "wilson"), ("clopper-pearson", "exact")]
)
def test_bands_of_independent_words_are_those_of_scipy(method, name, level, n_right):
    found = one_bin(n_right, 20, method, confidence_level=level)
    want = binomtest(n_right, 20).proportion_ci(level, method=name)
    assert_allclose(np.ravel(found), want, rtol=1e-7, atol=1e-12)


def test_a_band_has_a_width_where_all_words_are_right():
    assert one_bin(20, 20, "wilson").low[0] < 0.9


@pytest.mark.parametrize("method", BAND_METHODS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_band_has_two_ends_in_each_bin(method, strategy, words):
    y, q, group = words
    bins = calibration_bins(y, q, strategy=strategy)
    low, high = calibration_bands(
        y, q, method=method, strategy=strategy, groups=group, **FAST
    )
    assert low.shape == high.shape == bins.accuracy.shape
    assert (low >= 0).all()
    assert (low <= high).all()
    assert (high <= 1).all()
    if method in ("wilson", "clopper-pearson"):
        assert (low <= bins.accuracy + 1e-12).all()
        assert (bins.accuracy <= high + 1e-12).all()


def test_words_of_one_sentence_are_worth_fewer():
    # Sentences of ten words that are all right or all wrong are worth one word each.
    rng = np.random.default_rng(0)
    correct = np.repeat(rng.uniform(size=200) < 0.7, 10)
    q = np.full(2000, 0.7)
    low, high = calibration_bands(correct, q, groups=np.arange(2000) // 10)
    want = binomtest(int(correct.sum() / 10), 200).proportion_ci(method="wilson")
    assert_allclose(high - low, want.high - want.low, rtol=0.12)
    alone = calibration_bands(correct, q)
    assert (high - low)[0] > 2.5 * (alone.high - alone.low)[0]


def test_uneven_weights_make_bands_wider():
    q, correct = np.full(100, 0.6), np.arange(100) % 10 < 6
    even = calibration_bands(correct, q)
    same = calibration_bands(correct, q, sample_weight=np.full(100, 3.0))
    uneven = calibration_bands(
        correct, q, sample_weight=1.0 + 8.0 * (np.arange(100) < 10)
    )
    assert_allclose(np.ravel(same), np.ravel(even), rtol=1e-9)
    assert (uneven.high - uneven.low)[0] > 1.3 * (even.high - even.low)[0]


def test_wilson_bands_cover_clustered_words():
    held = []
    for trial in range(30):
        rng = np.random.default_rng([1, trial])
        y, q, group = draw_words(800, rng, tempered)
        low, high = calibration_bands(y, q, groups=group)
        edges = calibration_bins(y, q)
        truth = np.array(
            [
                tempered(q[(q >= a) & (q <= b)]).mean()
                for a, b in zip(edges.low, edges.high, strict=True)
            ]
        )
        held.append((low <= truth) & (truth <= high))
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("strategy", ["adaptive", "isotonic"])
def test_consistency_bands_hold_the_curve_of_a_calibrated_model_only(strategy):
    inside = {}
    for truth in (None, tempered):
        options = {} if truth is None else {"truth": truth}
        y, q, group = draw_words(3000, np.random.default_rng(2), **options)
        bins = calibration_bins(y, q, strategy=strategy)
        low, high = calibration_bands(
            y,
            q,
            method="consistency",
            strategy=strategy,
            groups=group,
            n_resamples=300,
        )
        held = (low - 1e-9 <= bins.accuracy) & (bins.accuracy <= high + 1e-9)
        inside[truth] = np.average(held, weights=bins.weight)
    assert inside[None] > 0.85
    assert inside[tempered] < 0.7


def test_the_order_of_words_does_not_matter(words):
    y, q, group = (each[:200] for each in words)
    q = np.round(q, 1)
    order = np.random.default_rng(0).permutation(200)
    first = calibration_bands(y, q, groups=group)
    second = calibration_bands(y[order], q[order], groups=group[order])
    assert_allclose(first, second, rtol=1e-9)


@pytest.mark.parametrize("method", BAND_METHODS)
def test_the_same_seed_gives_the_same_band(method, words):
    y, q, group = words
    options = {"method": method, "groups": group, **FAST}
    first = calibration_bands(y, q, random_state=5, **options)
    again = calibration_bands(y, q, random_state=5, **options)
    assert np.array_equal(first, again)


def test_rows_are_sentences(words):
    y, q, group = (each[:100] for each in words)
    flat = calibration_bands(y, q, groups=group)
    rows = calibration_bands(list(y.reshape(-1, 10)), list(q.reshape(-1, 10)))
    assert_allclose(rows, flat, rtol=1e-12)


def test_bad_settings_are_named(words):
    y, q, _ = words
    with pytest.raises(
        ValueError, match="method is 'jeffreys'; it must be one of 'wilson'"
    ):
        calibration_bands(y, q, method="jeffreys")
    with pytest.raises(ValueError, match="confidence_level"):
        calibration_bands(y, q, confidence_level=95)
    with pytest.raises(ValueError, match="isotonic bins follow from the data"):
        calibration_bands(y, q, strategy="isotonic", n_bins=4)
    with pytest.raises(ValueError, match="not a probability"):
        calibration_bands(y, q * 2)
