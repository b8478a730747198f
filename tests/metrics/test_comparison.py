"""Comparisons of two models on the same words."""

from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import t as student

from skcw import metrics
from skcw.metrics import compare_scores
from skcw.metrics.comparison import _by_influence, _joined_ends
from skcw.metrics.score import SCORES, clustered_error, make_score, sentence_counts
from tests.metrics.sentences import draw_words, is_as_promised, tempered

FAST = {"n_resamples": 60}
COMPARABLE = [name for name in SCORES if SCORES[name][0].compared_by]
ROUNDING = 1e-9


class NoBar:
    def update(self, n):
        pass


def too_sure(q):
    return expit(2 * logit(q))


@pytest.fixture(scope="module")
def words():
    return draw_words(1500, np.random.default_rng(0))


@pytest.mark.parametrize("score", COMPARABLE)
def test_a_model_does_not_differ_from_itself(score, words):
    y, q, group = (each[:300] for each in words)
    found = compare_scores(score, y, q, y, q, groups=group, **FAST)
    assert found == (0.0, 0.0, 0.0, 1.0)


# A map that keeps the order of confidences changes none of these.
OF_THE_ORDER = [
    "error_average_precision",
    "area_under_risk_coverage",
    "brier_discrimination",
    "log_loss_discrimination",
    "brier_uncertainty",
    "log_loss_uncertainty",
]


@pytest.mark.parametrize("score", sorted(set(COMPARABLE) - set(OF_THE_ORDER)))
def test_an_overconfident_model_is_told_from_a_calibrated_one(score, words):
    y, q, group = words
    found = compare_scores(score, y, too_sure(q), y, q, groups=group, **FAST)
    assert found.difference > 0
    assert found.low >= 0
    assert found.high > 0.5 * found.difference
    assert found.p_value < 0.05


@pytest.mark.parametrize("score", OF_THE_ORDER)
def test_models_of_the_same_order_do_not_differ_in_what_depends_on_it(score, words):
    y, q, group = words
    found = compare_scores(score, y, too_sure(q), y, q, groups=group, **FAST)
    assert_allclose(found, [0, 0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("score", ["brier_loss", "calibration_mse", "log_loss"])
def test_exchanging_the_models_turns_the_sign(score, words):
    y, q, group = words
    there = compare_scores(score, y, q, y, too_sure(q), groups=group, **FAST)
    back = compare_scores(score, y, too_sure(q), y, q, groups=group, **FAST)
    assert_allclose(there[:3], [-back[0], -back[2], -back[1]], rtol=1e-9)
    assert_allclose(there.p_value, back.p_value, rtol=1e-6)


def test_the_interval_excludes_zero_where_the_p_value_is_small(words):
    y, q, group = words
    for factor in np.linspace(1.1, 2.0, 6):
        other = expit(factor * logit(q))
        for score in (
            "expected_calibration_error",
            "root_calibration_mse",
            "log_loss",
        ):
            found = compare_scores(score, y, q, y, other, groups=group, **FAST)
            outside = found.low >= 0 or found.high <= 0
            assert outside == (found.p_value <= 0.05)


def test_a_function_may_stand_for_its_name(words):
    y, q, group = words
    arguments = y, q, y, too_sure(q)
    by_name = compare_scores("brier_loss", *arguments, groups=group, **FAST)
    assert by_name == compare_scores(
        metrics.brier_loss, *arguments, groups=group, **FAST
    )


def test_options_of_the_score_are_passed_on(words):
    y, q, group = words
    found = compare_scores(
        "expected_calibration_error",
        y,
        q,
        y,
        too_sure(q),
        groups=group,
        n_bins=3,
        strategy="quantile",
        **FAST,
    )
    options = {"n_bins": 3, "strategy": "quantile"}
    want = metrics.expected_calibration_error(y, q, **options)
    want -= metrics.expected_calibration_error(y, too_sure(q), **options)
    assert found.difference == want


def test_what_both_models_share_cancels_out():
    y, q, group = draw_words(1500, np.random.default_rng(1), shared=0.6)
    other = np.clip(q + 0.02, 0, 1)
    found = compare_scores("brier_loss", y, q, y, other, groups=group)
    alone = metrics.score_interval("brier_loss", y, q, groups=group)
    assert found.high - found.low < 0.3 * (alone.high - alone.low)


def test_the_difference_of_means_is_covered():
    _, q, _ = draw_words(200_000, np.random.default_rng(0))
    p = tempered(q)
    other = np.sqrt(q)
    first, second = (p * (1 - c) ** 2 + (1 - p) * c**2 for c in (q, other))
    target = (first - second).mean()
    held = []
    for trial in range(200):
        y, q, group = draw_words(600, np.random.default_rng([3, trial]), tempered)
        found = compare_scores(
            "brier_loss", y, q, y, np.sqrt(q), groups=group, n_resamples=20
        )
        held.append(found.low <= target <= found.high)
    assert is_as_promised(held)


class Ends(NamedTuple):
    """Stands for an inversion: its estimate, and its ends at any level."""

    estimate: float
    low: float
    high: float

    def ends(self, level):
        return self.low, self.high


def test_the_ends_of_a_difference_are_joined_as_zou_and_donner_do():
    first, second = Ends(0.5, 0.2, 0.9), Ends(0.3, 0.1, 0.7)
    # sqrt(.3^2 + .4^2 - 2 r .3 .4) below .2, sqrt(.4^2 + .2^2 - 2 r .4 .2) above it.
    for r in (0.0, 0.5, 1.0):
        below, above = sqrt(0.25 - 0.24 * r), sqrt(0.2 - 0.16 * r)
        found = _joined_ends(first, second, r, 0.95)
        assert_allclose(found, (0.2 - below, 0.2 + above), rtol=ROUNDING)


@pytest.mark.parametrize("which", [0, 1])
def test_a_score_that_may_be_zero_follows_no_other_one(which):
    both = [Ends(0.5, 0.2, 0.9), Ends(0.3, 0.1, 0.7)]
    both[which] = both[which]._replace(low=0.0)
    joined = _joined_ends(*both, 0.5, 0.95)
    assert joined == _joined_ends(*both, 0.0, 0.95)


def test_the_variance_of_the_bend_is_held_twice_and_taken_off_once():
    # One bin: the score is the square of a mean, whose bend is that of its square.
    y, q, group = draw_words(60, np.random.default_rng(4))
    options = {"n_bins": 1, "strategy": "quantile"}
    scores = [
        make_score("calibration_mse", y, each, groups=group, **options)
        for each in (q, too_sure(q))
    ]
    gaps = [np.bincount(group, each - y) / 60 for each in (q, too_sure(q))]
    n = len(gaps[0])
    means = [gap.sum() for gap in gaps]
    difference = means[0] ** 2 - means[1] ** 2
    added = [2 * mean * (gap - mean / n) for mean, gap in zip(means, gaps, strict=True)]
    added = added[0] - added[1]
    (counts,) = sentence_counts(scores[0].pairs, 200, np.random.default_rng(5))
    again = [(counts @ gap) ** 2 for gap in gaps]
    bend = again[0] - again[1] - difference - counts @ added
    error, degrees = clustered_error(added)
    deviation = sqrt(max(error**2 - bend.var(), bend.var()))
    half = student.ppf(0.975, degrees) * deviation
    center = difference - bend.mean()
    found = _by_influence(*scores, 0.95, 200, np.random.default_rng(5), NoBar())
    want = (difference, center - half, center + half)
    assert_allclose(found[:3], want, rtol=ROUNDING)
    assert_allclose(found.p_value, 2 * student.sf(abs(center) / deviation, degrees))
    assert bend.var() > 1e-3 * error**2  # it matters here


def test_rankings_take_any_numbers(words):
    y, q, group = words
    found = compare_scores(
        "error_average_precision", y, 7 * q, y, -q, groups=group, **FAST
    )
    assert found.low > 0
    assert found.p_value < 0.001


def test_bad_input_is_named(words):
    y, q, group = words
    with pytest.raises(ValueError, match="score is 'accuracy'; it must be one of"):
        compare_scores("accuracy", y, q, y, q)
    with pytest.raises(ValueError, match="1500 tokens but the second has 10"):
        compare_scores("brier_loss", y, q, y[:10], q[:10])
    rows = [q[:4], q[4:10]]
    hits = [y[:4], y[4:10]]
    with pytest.raises(ValueError, match="token 3 is in sentence 0"):
        compare_scores("brier_loss", hits, rows, [y[:3], y[3:10]], [q[:3], q[3:10]])
    with pytest.raises(ValueError, match="one sentence"):
        compare_scores("brier_loss", y, q, y, q, groups=np.zeros(len(q)))
    with pytest.raises(ValueError, match="not a probability"):
        compare_scores("brier_loss", y, q, y, 2 * q, groups=group)


@pytest.mark.parametrize("name", ["expected_calibration_error", "calibration_mse"])
def test_swapping_the_models_mirrors_the_interval(name):
    y, q, group = draw_words(400, np.random.default_rng(2), tempered)
    options = {"groups": group, "n_resamples": 60}
    one = compare_scores(name, y, q, y, q**2, **options)
    other = compare_scores(name, y, q**2, y, q, **options)
    assert_allclose([one.low, one.high], [-other.high, -other.low], rtol=ROUNDING)
    assert one.difference == -other.difference


def test_errors_of_all_classes_are_not_compared():
    table, y = [[0.8, 0.2], [0.3, 0.7]], ["N", "V"]
    with pytest.raises(ValueError, match="of two models cannot be compared"):
        compare_scores("classwise_calibration_error", y, table, y, table)
