"""Every score of the table: prepared once, the same for any weights."""

import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcw import metrics
from skcw.metrics._cores.base import BinnedScore, MeanScore
from skcw.metrics._cores.table import RANKINGS, SCORES
from skcw.metrics._weighted_pairs import check_pairs
from tests.metrics.weighted_words import TIED_WORDS, WORDS, columns, repeated

CLOSE = 1e-9
BINNED = [
    ("calibration_mse", {"bin_size": 3}),
    ("root_calibration_mse", {"strategy": "quantile", "n_bins": 4}),
    ("expected_calibration_error", {"norm": "l2", "debiased": True}),
    ("expected_calibration_error", {"debiased": True, "strategy": "quantile"}),
    ("adaptive_calibration_error", {}),
    ("maximum_calibration_error", {"strategy": "adaptive", "bin_size": 2}),
    ("confidence_rmse", {"n_bins": 7}),
]
OTHERS = [(name, {}) for name in SCORES if name not in dict(BINNED)]
CASES = BINNED + OTHERS
PUBLIC = [name for name in SCORES if hasattr(metrics, name)]
# Each law runs for every score, so a few examples a score do.
FEW_EXAMPLES = settings(max_examples=15)


def prepared(name, words, options):
    confidence, correct, weight = columns(words)
    return SCORES[name](check_pairs(confidence, correct, weight), **options)


def test_every_public_score_of_pairs_is_in_the_table():
    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    with_interval = {
        name
        for name, function in functions.items()
        if inspect.isfunction(function)
        and "interval" in inspect.signature(function).parameters
    }
    apart = {
        "brier_decomposition",
        "log_score_decomposition",
        "classwise_calibration_error",
    }
    assert with_interval - apart == set(PUBLIC)
    assert set(PUBLIC) > RANKINGS


@pytest.mark.parametrize(("name", "options"), CASES)
@FEW_EXAMPLES
@given(words=WORDS)
def test_a_weight_is_a_number_of_repetitions(name, options, words):
    again = SCORES[name](check_pairs(*repeated(words)), **options)
    got = prepared(name, words, options).value()
    assert_allclose(got, again.value(), rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize(("name", "options"), CASES)
@FEW_EXAMPLES
@given(words=WORDS, data=st.data())
def test_new_weights_give_what_a_new_core_gives(name, options, words, data):
    if name in ("calibration_mse", "root_calibration_mse"):
        options = options or {"bin_size": 2}
    many = st.lists(st.integers(0, 3), min_size=len(words), max_size=len(words))
    weight = np.array(data.draw(many.filter(any)), dtype=float)
    confidence, correct, _ = columns(words)
    core = SCORES[name](check_pairs(confidence, correct), **options)
    first = core.value()
    fresh = SCORES[name](check_pairs(confidence, correct, weight), **options)
    assert core.value(weight) == fresh.value()
    assert core.value() == first


@pytest.mark.parametrize(("name", "options"), CASES)
@FEW_EXAMPLES
@given(words=TIED_WORDS, data=st.data())
def test_shuffling_words_changes_no_bit(name, options, words, data):
    shuffled = data.draw(st.permutations(words))
    got = prepared(name, shuffled, options).value()
    want = prepared(name, words, options).value()
    if isinstance(prepared(name, words, options), BinnedScore) or name in RANKINGS:
        assert got == want
    else:
        assert_allclose(got, want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("name", "options"), CASES)
@FEW_EXAMPLES
@given(words=WORDS)
def test_values_lie_within_the_bounds(name, options, words):
    core = prepared(name, words, options)
    low, high = core.bounds
    assert low <= core.value() <= high


@pytest.mark.parametrize(("name", "options"), BINNED)
@FEW_EXAMPLES
@given(words=WORDS)
def test_shares_of_words_sum_to_what_bins_hold(name, options, words):
    core = prepared(name, words, options)
    weight, y = core.pairs.weight, core.pairs.y
    sums, shares = core.binning.sums(weight), core.binning.shares(weight)
    whole = np.asarray(shares.sum(axis=0)).ravel()[weight > 0]
    assert_allclose(whole, 1, rtol=CLOSE)
    for values, want in (
        (np.ones(len(y)), sums.mass),
        (core.binning.claim, sums.claimed),
        (y, sums.right),
    ):
        assert_allclose(shares @ (weight * values), want, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize(("name", "options"), BINNED)
def test_many_draws_of_the_same_bins_are_scored_at_once(name, options):
    rng = np.random.default_rng(0)
    confidence = rng.random(60)
    pairs = check_pairs(confidence, rng.random(60) < confidence)
    core = SCORES[name](pairs, **options)
    mass, claimed, right = core.binning.sums(pairs.weight)
    draws = np.array([right, right / 2, 0 * right])
    together = core.combine(mass, claimed, draws)
    alone = [core.combine(mass, claimed, draw) for draw in draws]
    assert_allclose(together, alone, rtol=1e-12, atol=1e-15)
    assert together[0] == core.value()


def test_a_mean_score_is_the_mean_of_its_losses():
    pairs = check_pairs([0.2, 0.9], [True, True], [1.0, 3.0])
    for name in ("brier_score", "log_score"):
        core = SCORES[name](pairs)
        assert isinstance(core, MeanScore)
        want = np.average(core.loss, weights=[1, 3])
        assert_allclose(core.value(), want, rtol=1e-12)


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_return_the_value_of_their_core(name):
    rng = np.random.default_rng(1)
    confidence = rng.random(80).round(1)
    correct = rng.random(80) < confidence
    weight = rng.integers(0, 3, 80)
    got = getattr(metrics, name)(confidence, correct, sample_weight=weight)
    assert type(got) is float
    assert got == SCORES[name](check_pairs(confidence, correct, weight)).value()


@pytest.fixture
def asked(monkeypatch):
    """Let a stand-in compute intervals and note what it is asked for."""
    calls = []

    def score_interval(core, pairs, method, **settings):
        calls.append((core, pairs, method, settings))
        return core.value() - 1, core.value() + 1

    stand_in = SimpleNamespace(score_interval=score_interval)
    monkeypatch.setitem(sys.modules, "skcw.metrics.intervals", stand_in)
    return calls


@pytest.mark.parametrize("name", PUBLIC)
def test_an_interval_is_asked_of_the_core_with_its_groups(name, asked):
    settings = {
        "confidence_level": 0.9,
        "n_resamples": 7,
        "random_state": 3,
        "progress": True,
    }
    rows = [[0.5, 0.3], [0.4, 0.8]], [[True, False], [False, True]]
    function = getattr(metrics, name)
    got = function(*rows, interval="method", **settings)
    assert isinstance(got, metrics.Estimate)
    value = function(*rows)
    assert got == (value, value - 1, value + 1)
    [(core, pairs, method, passed)] = asked
    assert core.pairs is pairs and pairs.group.tolist() == [0, 0, 1, 1]
    assert method == "method" and passed == settings


@pytest.mark.parametrize(
    "function", [metrics.brier_decomposition, metrics.log_score_decomposition]
)
def test_each_part_of_a_score_has_its_own_interval(function, asked):
    parts = function([0.5, 0.3, 0.9], [True, False, True], interval="method")
    plain = function([0.5, 0.3, 0.9], [True, False, True])
    assert [part.value for part in parts] == list(plain)
    assert [core.part for core, _, _, _ in asked] == list(plain._fields)
    assert [core.greater_is_better for core, _, _, _ in asked] == [False, True, False]
