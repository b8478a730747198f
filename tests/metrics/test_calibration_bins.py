"""Bins of a calibration curve: adaptive, uniform, quantile and isotonic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.isotonic import IsotonicRegression

from skcw.metrics import binnings as binnings
from skcw.metrics import calibration_bins
from skcw.metrics.calibration_errors import calibration_mse
from tests.metrics.weighted_words import (
    TIED_WORDS,
    WORDS,
    columns,
    repeated,
)
from tests.reference.calibration import adaptive_bins, bin_sums

STRATEGIES = ("adaptive", "uniform", "quantile", "isotonic")
EXACT = 1e-12
# Each example is one of every strategy.
FEW_EXAMPLES = settings(max_examples=40)


def bins_of(words, **options):
    correct, confidence, weight = columns(words)
    return calibration_bins(correct, confidence, sample_weight=weight, **options)


def test_adaptive_bins_are_those_computed_by_hand():
    confidence = [0.7, 0.1, 0.2, 0.9, 0.3, 0.6, 1.0]
    correct = [True, False, True, True, False, False, True]
    bins = calibration_bins(correct, confidence, bin_size=3)
    # Seven words make a bin of three and one of four, as the seventh is left over.
    assert_allclose(bins.confidence, [0.2, 3.2 / 4], rtol=EXACT)
    assert_allclose(bins.accuracy, [1 / 3, 3 / 4], rtol=EXACT)
    assert bins.count.tolist() == bins.weight.tolist() == [3, 4]
    assert bins.low.tolist() == [0.1, 0.6] and bins.high.tolist() == [0.3, 1.0]


def test_a_bin_holds_the_root_of_the_words_unless_told():
    confidence = np.linspace(0, 1, 120)
    bins = calibration_bins(confidence > 0.5, confidence)
    assert bins.count.tolist() == [10] * 12
    assert calibration_bins([True], [0.3]).count.tolist() == [1]


def test_a_tie_is_shared_by_the_bins_it_lies_in():
    confidence = [0.1, 0.5, 0.5, 0.5, 0.5, 0.9]
    correct = [False, True, False, False, False, True]
    bins = calibration_bins(correct, confidence, bin_size=2)
    # The second of three bins holds nothing but two of the four words in the middle.
    assert_allclose(bins.confidence, [0.3, 0.5, 0.7], rtol=EXACT)
    assert_allclose(bins.accuracy, [0.125, 0.25, 0.625], rtol=EXACT)
    assert bins.count.tolist() == [2, 2, 2]
    assert bins.low.tolist() == [0.1, 0.5, 0.5]
    assert bins.high.tolist() == [0.5, 0.5, 0.9]


def test_bins_within_one_tie_are_one_bin():
    confidence = [0.1] * 2 + [0.5] * 7 + [0.9]
    bins = calibration_bins([True, False] * 5, confidence, bin_size=2)
    assert bins.count.tolist() == [2, 6, 2]
    equal = calibration_bins([True] * 6 + [False] * 3, [0.7] * 9, bin_size=2)
    assert equal.count.tolist() == [9] and equal.confidence.tolist() == [0.7]


@given(words=WORDS, size=st.integers(1, 12))
def test_adaptive_bins_are_those_of_exact_fractions(words, size):
    bins = bins_of(words, bin_size=size)
    mass, confidence, accuracy = [], [], []
    last = None
    for stretches in adaptive_bins(words, size):
        level = stretches[0][0] if len(stretches) == 1 else None
        m, q, p = bin_sums(stretches)
        if level is not None and level == last:
            mass[-1] += m
        else:
            mass.append(m)
            confidence.append(q)
            accuracy.append(p)
        last = level
    assert_allclose(bins.weight, np.array(mass, dtype=float), rtol=EXACT)
    want = np.array(confidence, dtype=float)
    assert_allclose(bins.confidence, want, rtol=EXACT, atol=EXACT)
    want = np.array(accuracy, dtype=float)
    assert_allclose(bins.accuracy, want, rtol=EXACT, atol=EXACT)


@FEW_EXAMPLES
@given(words=TIED_WORDS, data=st.data())
def test_shuffling_words_changes_no_bit(words, data):
    shuffled = data.draw(st.permutations(words))
    for strategy in STRATEGIES:
        want, got = (bins_of(order, strategy=strategy) for order in (words, shuffled))
        for one, other in zip(want, got, strict=True):
            assert_array_equal(one, other, err_msg=strategy)


@FEW_EXAMPLES
@given(words=WORDS)
def test_bins_hold_all_words_in_rising_order_as_often_as_they_weigh(words):
    correct, _, weight = columns(words)
    for strategy in STRATEGIES:
        bins = bins_of(words, strategy=strategy)
        again = calibration_bins(*repeated(words), strategy=strategy)
        for name in ("confidence", "accuracy", "weight", "low", "high"):
            one, other = getattr(bins, name), getattr(again, name)
            assert_allclose(one, other, rtol=EXACT, atol=EXACT, err_msg=name)
        assert (bins.weight > 0).all(), strategy
        assert_allclose(bins.weight.sum(), weight.sum(), rtol=EXACT)
        assert_allclose(bins.count.sum(), np.count_nonzero(weight), rtol=EXACT)
        right = (bins.weight * bins.accuracy).sum()
        assert_allclose(right, weight[correct].sum(), rtol=EXACT, atol=EXACT)
        assert (bins.low <= bins.confidence).all(), strategy
        assert (bins.confidence <= bins.high).all(), strategy
        assert (bins.low[1:] >= bins.high[:-1]).all(), strategy
        assert ((bins.accuracy >= 0) & (bins.accuracy <= 1)).all(), strategy


def test_a_share_of_votes_in_single_precision_opens_its_bin():
    votes = np.arange(21).astype(np.float32) / np.float32(20)
    bins = calibration_bins(votes >= 0, votes, strategy="uniform", n_bins=20)
    assert bins.count.tolist() == [1] * 19 + [2]


@given(words=WORDS, n_bins=st.integers(1, 8))
def test_quantile_bins_hold_the_same_mass_but_where_words_are_tied(words, n_bins):
    bins = bins_of(words, strategy="quantile", n_bins=n_bins)
    weight = columns(words)[2]
    parts = bins.weight * n_bins / weight.sum()
    assert_allclose(parts, np.rint(parts), rtol=EXACT)
    assert (bins.low == bins.high)[np.rint(parts) > 1].all()


@given(words=WORDS)
def test_isotonic_bins_are_the_steps_of_isotonic_regression(words):
    correct, confidence, weight = columns(words)
    counts = weight > 0
    regression = IsotonicRegression(y_min=0, y_max=1, increasing=True)
    x, w = confidence[counts], weight[counts]
    fitted = regression.fit(x, correct[counts], w).predict(x)
    bins = bins_of(words, strategy="isotonic")
    assert (np.diff(bins.accuracy) > 0).all()
    which = np.searchsorted(bins.high, x)
    # scikit-learn takes confidences less than 1e-16 apart for equal ones.
    apart = np.diff(np.unique(x)) > EXACT
    if apart.all():
        assert_allclose(bins.accuracy[which], fitted, rtol=1e-9, atol=1e-9)


def test_fewer_words_than_a_bin_make_one_bin():
    bins = calibration_bins([False, True, True], [0.2, 0.6, 0.7], bin_size=100)
    assert bins.count.tolist() == [3]
    assert_allclose(bins.confidence, [0.5], rtol=EXACT)


def test_more_quantile_bins_than_words_share_the_words():
    bins = calibration_bins([False, True], [0.2, 0.6], strategy="quantile", n_bins=3)
    assert_allclose(bins.confidence, [0.2, 0.4, 0.6], rtol=EXACT)
    assert_allclose(bins.weight, [2 / 3] * 3, rtol=EXACT)


def test_rows_are_laid_flat():
    rows = [[0, 1], [], [1]], [[0.2, 0.9], [], [0.4]]
    want = calibration_bins([0, 1, 1], [0.2, 0.9, 0.4], bin_size=2)
    got = calibration_bins(*rows, bin_size=2, sample_weight=[[1, 1], [], [1]])
    for one, other in zip(got, want, strict=True):
        assert_array_equal(one, other)


def test_weights_that_sum_to_one_are_no_number_of_words():
    confidence = np.linspace(0, 1, 50)
    weight = np.full(50, 1 / 50)
    with pytest.raises(ValueError, match=r"sums to 1 for 50 tokens.*mean of one"):
        calibration_bins(confidence > 0.5, confidence, sample_weight=weight)
    scaled = calibration_bins(
        confidence > 0.5, confidence, strategy="quantile", sample_weight=weight
    )
    assert_allclose(scaled.weight, np.full(10, 0.1), rtol=EXACT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "kmeans"}, "strategy is 'kmeans'; it must be one of 'adaptive'"),
        ({"n_bins": 5}, "n_bins is 5, but adaptive bins have a bin_size"),
        ({"strategy": "uniform", "bin_size": 5}, "uniform bins have n_bins"),
        ({"strategy": "quantile", "bin_size": 5}, "quantile bins have n_bins"),
        ({"strategy": "isotonic", "n_bins": 5}, "isotonic bins follow from the data"),
        ({"bin_size": 0}, "bin_size is 0; it must be at least 1"),
        ({"strategy": "quantile", "n_bins": -1}, "n_bins is -1; it must be at least"),
    ],
)
def test_settings_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        calibration_bins([True, False], [0.5, 0.6], **options)


@pytest.mark.parametrize("bin_size", [2.0, True, "all"])
def test_a_bin_size_is_a_whole_number(bin_size):
    with pytest.raises(TypeError, match=r"bin_size is .*whole number"):
        calibration_bins([True, False], [0.5, 0.6], bin_size=bin_size)


@pytest.mark.parametrize("bin_size", [1, 2, 7, 50])
@pytest.mark.parametrize("fractions", [False, True])
def test_edges_left_out_of_heavy_words_change_no_bin(bin_size, fractions, monkeypatch):
    rng = np.random.default_rng(bin_size)
    confidence, correct = rng.integers(0, 9, 40) / 8, rng.uniform(size=40) < 0.5
    weight = rng.integers(0, 60, 40) + (rng.uniform(size=40) if fractions else 0.0)
    options = {"bin_size": bin_size, "sample_weight": weight}
    monkeypatch.setattr(binnings, "FEW_BINS", np.inf)
    want = calibration_bins(correct, confidence, **options)
    monkeypatch.setattr(binnings, "FEW_BINS", 0)
    got = calibration_bins(correct, confidence, **options)
    for one, other in zip(got, want, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("weight", [1e12, 1e15, 1e99])
def test_heavy_words_make_no_more_bins_than_there_are_words(weight):
    correct, confidence = np.arange(99) % 2, np.arange(1, 100) / 100
    bins = calibration_bins(correct, confidence, sample_weight=np.full(99, weight))
    assert len(bins.count) <= 2 * 99
    assert_allclose(bins.weight.sum(), 99 * weight, rtol=1e-12)
    error = calibration_mse(correct, confidence, sample_weight=np.full(99, weight))
    apart = calibration_mse(correct, confidence, bin_size=1)
    assert_allclose(error, apart, rtol=1e-3)


def test_weights_that_overflow_are_refused():
    message = r"sample_weight\[0\] is 1e\+300; .*at most 1e\+100"
    with pytest.raises(ValueError, match=message):
        calibration_bins([True, False], [0.5, 0.6], sample_weight=[1e300, 1e300])


@pytest.mark.parametrize("strategy", [["x"], None, 3])
def test_a_strategy_that_is_no_name_is_refused(strategy):
    with pytest.raises(
        ValueError, match=r"strategy is .*; it must be one of 'adaptive'"
    ):
        calibration_bins([True, False], [0.5, 0.6], strategy=strategy)
