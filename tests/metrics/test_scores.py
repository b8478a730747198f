"""Every score of the table: prepared once, the same for any weights."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcw import metrics
from skcw.metrics.calibration_errors import BinnedScore
from skcw.metrics.ranking_scores import RankingScore
from skcw.metrics.score import SCORES, MeanScore, make_score
from tests.metrics.weighted_words import TIED_WORDS, WORDS, columns, repeated

CLOSE = 1e-9
BINNED = [
    ("calibration_mse", {"bin_size": 3}),
    ("root_calibration_mse", {"strategy": "quantile", "n_bins": 4}),
    ("expected_calibration_error", {"norm": "l2", "debiased": True}),
    ("expected_calibration_error", {"debiased": True, "strategy": "quantile"}),
    (
        "expected_calibration_error",
        {"norm": "max", "strategy": "adaptive", "bin_size": 2},
    ),
    ("root_calibration_mse", {"strategy": "uniform", "claim": "center", "n_bins": 7}),
]
NAMES = [name for name in SCORES if name != "classwise_calibration_error"]
OTHERS = [(name, {}) for name in NAMES if name not in dict(BINNED)]
CASES = BINNED + OTHERS
PUBLIC = [name for name in NAMES if hasattr(metrics, name)]
# Each example is one of every score, so a few do.
FEW_EXAMPLES = settings(max_examples=15)


def prepared(name, words, options):
    correct, confidence, weight = columns(words)
    return make_score(name, correct, confidence, weight, **options)


def test_every_public_function_of_one_number_is_in_the_table():
    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    apart = {
        "calibration_bins",
        "errors_at_k",
        "residual_errors_at_k",
        "risk_coverage_curve",
        "spiegelhalter_test",
    }
    of_pairs = {
        name
        for name, function in functions.items()
        if inspect.isfunction(function)
        and list(inspect.signature(function).parameters)[:2]
        == ["correct", "confidence"]
    }
    assert of_pairs - apart == set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_scores_take_no_settings_of_intervals(name):
    taken = set(inspect.signature(getattr(metrics, name)).parameters)
    assert not taken & {"groups", "interval", "confidence_level", "n_resamples"}


@FEW_EXAMPLES
@given(words=WORDS, data=st.data())
def test_weights_may_come_first_or_later_and_are_numbers_of_repetitions(words, data):
    many = st.lists(st.integers(0, 3), min_size=len(words), max_size=len(words))
    weight = np.array(data.draw(many.filter(any)), dtype=float)
    correct, confidence, _ = columns(words)
    for name, options in CASES:
        again = make_score(name, *repeated(words), **options).value()
        got = prepared(name, words, options).value()
        assert_allclose(got, again, rtol=CLOSE, atol=CLOSE, err_msg=name)
        if name in ("calibration_mse", "root_calibration_mse"):
            options = options or {"bin_size": 2}
        score = make_score(name, correct, confidence, **options)
        first = score.value()
        fresh = make_score(name, correct, confidence, weight, **options)
        assert score.value(weight) == fresh.value(), (name, options)
        assert score.value() == first, (name, options)


@FEW_EXAMPLES
@given(words=TIED_WORDS, data=st.data())
def test_shuffling_words_changes_no_bit(words, data):
    shuffled = data.draw(st.permutations(words))
    for name, options in CASES:
        score = prepared(name, words, options)
        got, want = prepared(name, shuffled, options).value(), score.value()
        if isinstance(score, (BinnedScore, RankingScore)):
            assert got == want, (name, options)
        else:
            assert_allclose(got, want, rtol=1e-12, atol=1e-15, err_msg=name)


@FEW_EXAMPLES
@given(words=WORDS)
def test_values_lie_within_the_bounds(words):
    for name, options in CASES:
        score = prepared(name, words, options)
        low, high = score.bounds
        assert low <= score.value() <= high, (name, options)


@FEW_EXAMPLES
@given(words=WORDS)
def test_shares_of_words_sum_to_what_bins_hold(words):
    for name, options in BINNED:
        score = prepared(name, words, options)
        weight, y = score.pairs.weight, score.pairs.y
        mass, claimed, right = score.binning.sums(weight)
        shares = score.binning.shares(weight)
        whole = np.asarray(shares.sum(axis=0)).ravel()[weight > 0]
        assert_allclose(whole, 1, rtol=CLOSE, err_msg=name)
        for values, want in (
            (np.ones(len(y)), mass),
            (score.binning.claim, claimed),
            (y, right),
        ):
            found = shares @ (weight * values)
            assert_allclose(found, want, rtol=CLOSE, atol=CLOSE, err_msg=name)


@pytest.mark.parametrize(("name", "options"), BINNED)
def test_many_draws_of_the_same_bins_are_scored_at_once(name, options):
    rng = np.random.default_rng(0)
    confidence = rng.random(60)
    score = make_score(name, rng.random(60) < confidence, confidence, **options)
    mass, claimed, right = score.binning.sums(score.pairs.weight)
    draws = np.array([right, right / 2, 0 * right])
    together = score.combine(mass, claimed, draws)
    alone = [score.combine(mass, claimed, draw) for draw in draws]
    assert_allclose(together, alone, rtol=1e-12, atol=1e-15)
    assert together[0] == score.value()


def test_a_mean_score_is_the_mean_of_its_losses():
    for name in ("brier_loss", "log_loss"):
        score = make_score(name, [True, True], [0.2, 0.9], [1.0, 3.0])
        assert isinstance(score, MeanScore)
        want = np.average(score.loss, weights=[1, 3])
        assert_allclose(score.value(), want, rtol=1e-12)


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_return_the_value_of_their_score(name):
    rng = np.random.default_rng(1)
    confidence = rng.random(80).round(1)
    correct = rng.random(80) < confidence
    weight = rng.integers(0, 3, 80)
    got = getattr(metrics, name)(correct, confidence, sample_weight=weight)
    assert type(got) is float
    assert got == make_score(name, correct, confidence, weight).value()


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_parts_of_a_loss_are_scores_of_their_own(name):
    correct, confidence = [True, False, True], [0.5, 0.3, 0.9]
    parts = metrics.score_decomposition(
        name + "_loss" * (name == "brier"), correct, confidence
    )
    for part, value in parts._asdict().items():
        score = make_score(f"{name}_{part}", correct, confidence)
        assert score.value() == value
        assert score.greater_is_better == (part == "discrimination")
