"""Comparisons of two models on the same words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from skcw import metrics
from skcw.metrics import compare_scores
from skcw.metrics._cores.table import SCORES
from tests.metrics.sentences import draw_words, tempered

FAST = {"n_resamples": 60}
ROUNDING = 1e-9


def too_sure(q):
    return expit(2 * logit(q))


@pytest.fixture(scope="module")
def words():
    return draw_words(1500, np.random.default_rng(0))


@pytest.mark.parametrize("score", SCORES)
def test_a_model_does_not_differ_from_itself(score, words):
    q, y, group = (each[:300] for each in words)
    found = compare_scores(score, q, y, q, y, groups=group, **FAST)
    assert found == (0.0, 0.0, 0.0, 1.0)


# A map that keeps the order of confidences changes none of these.
OF_THE_ORDER = [
    "error_average_precision",
    "area_under_risk_coverage",
    "brier_discrimination",
    "log_discrimination",
    "brier_uncertainty",
    "log_uncertainty",
]


@pytest.mark.parametrize(
    "score", sorted(set(SCORES) - {*OF_THE_ORDER, "maximum_calibration_error"})
)
def test_an_overconfident_model_is_told_from_a_calibrated_one(score, words):
    q, y, group = words
    found = compare_scores(score, too_sure(q), y, q, y, groups=group, **FAST)
    assert found.difference > 0
    assert found.low >= 0
    assert found.high > 0.5 * found.difference
    assert found.p_value < 0.05


@pytest.mark.parametrize("score", OF_THE_ORDER)
def test_models_of_the_same_order_do_not_differ_in_what_depends_on_it(score, words):
    q, y, group = words
    found = compare_scores(score, too_sure(q), y, q, y, groups=group, **FAST)
    assert_allclose(found, [0, 0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("score", ["brier_score", "calibration_mse", "log_score"])
def test_exchanging_the_models_turns_the_sign(score, words):
    q, y, group = words
    there = compare_scores(score, q, y, too_sure(q), y, groups=group, **FAST)
    back = compare_scores(score, too_sure(q), y, q, y, groups=group, **FAST)
    assert_allclose(there[:3], [-back[0], -back[2], -back[1]], rtol=1e-9)
    assert_allclose(there.p_value, back.p_value, rtol=1e-6)


def test_the_interval_excludes_zero_where_the_p_value_is_small(words):
    q, y, group = words
    for factor in np.linspace(1.1, 2.0, 6):
        other = expit(factor * logit(q))
        for score in (
            "expected_calibration_error",
            "root_calibration_mse",
            "log_score",
        ):
            found = compare_scores(score, q, y, other, y, groups=group, **FAST)
            outside = found.low >= 0 or found.high <= 0
            assert outside == (found.p_value <= 0.05)


def test_a_function_may_stand_for_its_name(words):
    q, y, group = words
    arguments = q, y, too_sure(q), y
    by_name = compare_scores("brier_score", *arguments, groups=group, **FAST)
    assert by_name == compare_scores(
        metrics.brier_score, *arguments, groups=group, **FAST
    )


def test_options_of_the_score_are_passed_on(words):
    q, y, group = words
    found = compare_scores(
        "expected_calibration_error",
        q,
        y,
        too_sure(q),
        y,
        groups=group,
        n_bins=3,
        strategy="quantile",
        **FAST,
    )
    options = {"n_bins": 3, "strategy": "quantile"}
    want = metrics.expected_calibration_error(q, y, **options)
    want -= metrics.expected_calibration_error(too_sure(q), y, **options)
    assert found.difference == want


def test_what_both_models_share_cancels_out():
    q, y, group = draw_words(1500, np.random.default_rng(1), shared=0.6)
    other = np.clip(q + 0.02, 0, 1)
    found = compare_scores("brier_score", q, y, other, y, groups=group)
    alone = metrics.brier_score(q, y, groups=group, interval="bootstrap")
    assert found.high - found.low < 0.3 * (alone.high - alone.low)


def test_the_difference_of_means_is_covered():
    q, _, _ = draw_words(200_000, np.random.default_rng(0))
    p = tempered(q)
    other = np.sqrt(q)
    first, second = (p * (1 - c) ** 2 + (1 - p) * c**2 for c in (q, other))
    target = (first - second).mean()
    held = []
    for trial in range(200):
        q, y, group = draw_words(600, np.random.default_rng([3, trial]), tempered)
        found = compare_scores(
            "brier_score", q, y, np.sqrt(q), y, groups=group, n_resamples=20
        )
        held.append(found.low <= target <= found.high)
    assert 0.91 <= np.mean(held) <= 0.98


def test_rankings_take_any_numbers(words):
    q, y, group = words
    found = compare_scores(
        "error_average_precision", 7 * q, y, -q, y, groups=group, **FAST
    )
    assert found.low > 0
    assert found.p_value < 0.001


def test_bad_input_is_named(words):
    q, y, group = words
    with pytest.raises(ValueError, match="score is 'accuracy'; it must be one of"):
        compare_scores("accuracy", q, y, q, y)
    with pytest.raises(ValueError, match="1500 words but the second has 10"):
        compare_scores("brier_score", q, y, q[:10], y[:10])
    rows = [q[:4], q[4:10]]
    hits = [y[:4], y[4:10]]
    with pytest.raises(ValueError, match="word 3 is in sentence 0"):
        compare_scores("brier_score", rows, hits, [q[:3], q[3:10]], [y[:3], y[3:10]])
    with pytest.raises(ValueError, match="one sentence"):
        compare_scores("brier_score", q, y, q, y, groups=np.zeros(len(q)))
    with pytest.raises(ValueError, match="no probability"):
        compare_scores("brier_score", q, y, 2 * q, y, groups=group)


@pytest.mark.parametrize("name", ["expected_calibration_error", "calibration_mse"])
def test_swapping_the_models_mirrors_the_interval(name):
    q, y, group = draw_words(400, np.random.default_rng(2), tempered)
    options = {"groups": group, "n_resamples": 60}
    one = compare_scores(name, q, y, q**2, y, **options)
    other = compare_scores(name, q**2, y, q, y, **options)
    assert_allclose([one.low, one.high], [-other.high, -other.low], rtol=ROUNDING)
    assert one.difference == -other.difference
