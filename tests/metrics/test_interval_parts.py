"""What intervals are made of: tails, correlations, influences, cells, resamples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal

from skcw.metrics.binnings import make_cells
from skcw.metrics.classwise_error import ClasswiseError
from skcw.metrics.intervals import (
    Inversion,
    resampled_scores,
    unified_quantiles,
)
from skcw.metrics.pairs import check_pairs
from skcw.metrics.score import latent_correlation, make_score, shared_variance
from tests.metrics.sentences import draw_words, tempered
from tests.metrics.weighted_words import TIED_WORDS, columns

CLOSE = 1e-9


class NoBar:
    def update(self, n):
        pass


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_unified_tails_hold_exactly_the_level_of_the_estimates(level):
    distance = np.linspace(0, 5, 60)
    below, above = unified_quantiles(distance, level)
    assert_allclose(ndtr(above) - ndtr(-below), level, rtol=CLOSE)
    assert (np.diff(above) >= -CLOSE).all()


def test_unified_tails_are_one_sided_at_zero_and_symmetric_far_away():
    below, above = unified_quantiles([0.0, 3.0], 0.95)
    assert_allclose(above, [1.6448536, 1.959964], rtol=1e-6)
    assert below[0] > 1e6
    assert_allclose(below[1], 1.959964, rtol=1e-6)


def test_unified_tails_have_the_same_likelihood_ratio_at_both_ends():
    mu = np.linspace(0.3, 1.9, 9)
    below, above = unified_quantiles(mu, 0.95)
    x = mu - below
    # The best truth is 0 for x < 0 and x itself above (Feldman and Cousins, 4.3).
    at_low = -((x - mu) ** 2) / 2 + np.minimum(x, 0) ** 2 / 2
    assert_allclose(at_low, -(above**2) / 2, rtol=1e-6)


@pytest.mark.parametrize("shared", [0.0, 0.2, 0.6])
def test_the_correlation_of_sentences_is_recovered(shared):
    y, q, group = draw_words(60_000, np.random.default_rng(0), shared=shared)
    found = latent_correlation(y - q, q, np.ones(len(q)), group)
    assert_allclose(found, shared, atol=0.03)


def test_shared_variance_is_that_of_drawn_sentences():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.95, size=12)
    group = np.repeat([0, 1], 6)
    share = np.zeros((2, 12))
    share[0, :9], share[1, 9:] = 1.0, 2.0
    common = rng.standard_normal((60_000, 2))[:, group]
    number = np.sqrt(0.4) * common + np.sqrt(0.6) * rng.standard_normal(common.shape)
    right = (number <= ndtri(p)) @ share.T
    alone = share**2 @ (p * (1 - p))
    together = shared_variance(sparse.csr_matrix(share), p, 0.4, group)
    assert_allclose(alone + together, right.var(axis=0), rtol=0.03)


@pytest.mark.parametrize("p", [(0.2, 0.7), (0.9, 0.95), (0.5, 0.5)])
@pytest.mark.parametrize("correlation", [0.1, 0.3])
def test_shared_variance_is_that_of_the_normal_distribution(p, correlation):
    both = multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    covariance = both.cdf(ndtri(p)) - p[0] * p[1]
    share = sparse.csr_matrix(np.ones((1, 2)))
    found = shared_variance(share, np.array(p), correlation, np.zeros(2, dtype=int))
    assert_allclose(found, 2 * covariance, rtol=1e-8)


CENTERED = {"strategy": "uniform", "claim": "center"}


def family_of(name, **options):
    y, q, group = draw_words(600, np.random.default_rng(1), tempered)
    return make_score(name, y, q, groups=group, **options).alternatives()


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_flattened_family_has_the_same_error_everywhere_and_as_much_of_it(sign):
    # In the middle, where no probability would have to leave [0, 1].
    rng = np.random.default_rng(0)
    q = rng.uniform(0.4, 0.6, size=300)
    y = rng.uniform(size=300) < q + sign * 0.15
    score = make_score("expected_calibration_error", y, q, strategy="quantile")
    family, flat = score.alternatives(), score.alternatives().flattened()
    assert_allclose(flat.shifted(0).value, family.shifted(0).value, atol=CLOSE)
    assert_allclose(flat.shifted(1).value, family.shifted(1).value, rtol=CLOSE)
    assert len(np.unique(flat.step)) == 1 and np.sign(flat.step[0]) == sign


@pytest.mark.parametrize(
    "name, options",
    [
        ("calibration_mse", {}),
        ("root_calibration_mse", {}),
        ("expected_calibration_error", {"norm": "l2"}),
        ("expected_calibration_error", {"norm": "max"}),
    ],
)
def test_squares_and_maxima_need_no_other_family(name, options):
    assert family_of(name, **options).flattened() is None


@pytest.mark.parametrize(("seed", "higher"), [(0, 1), (1, 0)])
def test_the_upper_end_is_the_higher_one_of_both_families(seed, higher):
    y, q, group = draw_words(300, np.random.default_rng(seed), tempered)
    score = make_score("expected_calibration_error", y, q, groups=group)
    family = score.alternatives()
    chance = [np.random.default_rng(3) for _ in range(2)]
    low, high = Inversion(family, 0.95, 60, chance[0], NoBar()).ends(0.95)
    flat = family.flattened()
    assert flat.flattened() is None
    family.flattened = flat.flattened
    alone = [
        Inversion(each, 0.95, 60, chance[1], NoBar()).ends(0.95)
        for each in (family, flat)
    ]
    assert alone[higher][1] > alone[1 - higher][1] > alone[0][0] > 0
    assert (low, high) == (alone[0][0], alone[higher][1])


@settings(max_examples=40)
@given(words=TIED_WORDS, bin_size=st.integers(1, 5))
def test_sums_over_cells_are_sums_over_bins(words, bin_size):
    correct, confidence, weight = columns(words)
    score = make_score(
        "calibration_mse", correct, confidence, weight, bin_size=bin_size
    )
    confidence, correct, weight = score.pairs[:3]
    parts = score.binning.shares(weight)
    cells = make_cells(parts, confidence)
    values = (weight * correct)[cells.order]
    ends = zip(cells.starts, cells.starts[1:], strict=False)
    sums = np.array([values[a:b].sum() for a, b in ends])
    assert_allclose(
        cells.in_bins(sums), score.binning.sums(weight)[2], rtol=CLOSE, atol=CLOSE
    )
    assert (np.bincount(cells.of_token) == np.diff(cells.starts)).all()


def one_score(name, n=120, **options):
    y, q, group = draw_words(n, np.random.default_rng(4), tempered)
    return make_score(name, y, q, groups=group, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("brier_loss", {}),
        ("log_loss", {}),
        ("root_calibration_mse", CENTERED),
        ("calibration_mse", {"strategy": "uniform"}),
        ("root_calibration_mse", {"strategy": "uniform", "n_bins": 5}),
        ("expected_calibration_error", {}),
        ("expected_calibration_error", {"norm": "l2"}),
        ("expected_calibration_error", {"norm": "max", "n_bins": 4}),
        ("brier_miscalibration", {}),
        ("log_loss_discrimination", {}),
        ("brier_uncertainty", {}),
    ],
)
def test_influences_are_slopes_of_the_score(name, options):
    score = one_score(name, **options)
    found = score.influence()
    step = 1e-6
    for i in range(0, 120, 7):
        weight = score.pairs.weight.copy()
        weight[i] += step
        more = score.value(weight)
        weight[i] -= 2 * step
        slope = (more - score.value(weight)) / (2 * step)
        assert_allclose(found[i], slope, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize(
    "name", ["error_average_precision", "area_under_risk_coverage"]
)
@pytest.mark.parametrize("digits", [15, 1])
def test_influences_to_rankings_are_what_words_take_away(name, digits):
    y, q, group = draw_words(400, np.random.default_rng(5), tempered)
    score = make_score(name, y, np.round(q, digits), groups=group)
    found = score.influence()
    lost = []
    for i in range(400):
        weight = np.ones(400)
        weight[i] = 0
        lost.append(score.value() - score.value(weight))
    assert np.corrcoef(found, lost)[0, 1] > 0.99
    assert_allclose(np.std(found), np.std(lost), rtol=0.05)
    assert_allclose(found.sum(), 0, atol=1e-12)


def test_influences_to_a_mean_over_classes_are_means():
    y, q, group = draw_words(200, np.random.default_rng(6))
    first = check_pairs(y, q, groups=group)
    second = check_pairs(~y, 1 - q, groups=group)
    score = ClasswiseError([first, second])
    want = [
        make_score("expected_calibration_error", *each, groups=group).influence()
        for each in ((y, q), (~y, 1 - q))
    ]
    assert_allclose(score.influence(), np.mean(want, axis=0), rtol=CLOSE)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("brier_loss", {}),
        ("expected_calibration_error", {}),
        ("expected_calibration_error", {"norm": "l2", "debiased": True}),
        ("root_calibration_mse", CENTERED),
        ("expected_calibration_error", {"norm": "max"}),
        ("area_under_risk_coverage", {}),
        ("log_loss_miscalibration", {}),
    ],
)
def test_resampled_scores_are_scores_of_repeated_sentences(name, options):
    score = one_score(name, **options)
    drawn = resampled_scores([score], 25, np.random.default_rng(0), NoBar())
    for counts, (scores,) in drawn:
        assert (counts.sum(axis=1) == 12).all()
        want = [score.value(row[score.pairs.group]) for row in counts]
        assert_allclose(scores, want, rtol=CLOSE, atol=1e-12)


def test_sentences_without_weight_are_not_drawn():
    y, q, group = draw_words(60, np.random.default_rng(0))
    weight = (group > 2).astype(float)
    score = make_score("brier_loss", y, q, weight, group)
    ((counts, _),) = resampled_scores([score], 30, np.random.default_rng(0), NoBar())
    # Of six sentences three are left, which are drawn as if they were all.
    assert counts.shape == (30, 3)
    assert (counts.sum(axis=1) == 3).all()
