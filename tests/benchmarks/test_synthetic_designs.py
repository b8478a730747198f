"""The synthetic study of the benchmarks: its pairs, and the truth that it claims."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binomtest

from tests.benchmarks.modules import benchmark_module

designs = benchmark_module("papers.nguyen2015.synthetic")

BY_QUADRATURE = 1e-8
# A test that draws fails by chance once in a million times.
FALSE_ALARM = 1e-6
SHIFTS = (0.0, 0.05, 0.1, 0.2, 0.5)
BETAS = ((1, 1), (0.5, 0.5), (5, 1), (2, 5))


def test_probabilities_move_away_from_one_half_and_stay_probabilities():
    p = np.array([0.0, 0.05, 0.3, 0.5, 0.6, 0.95, 1.0])
    found = designs.moved(p, 0.1)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.2, 0.4, 0.7, 1.0, 1.0])
    np.testing.assert_array_equal(designs.moved(p, 0.0), p)


@pytest.mark.parametrize(("a", "b"), BETAS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_truth_is_the_mean_squared_move(a, b, shift):
    def integrand(q):
        return (designs.moved(q, shift) - q) ** 2 * beta.pdf(q, a, b)

    ends = [0.0, shift, 0.5, 1 - shift, 1.0]
    parts = pairwise(ends)
    total = sum(quad(integrand, low, high)[0] for low, high in parts if low < high)
    found = designs.BetaPredictions(a, b).true_mse(shift)
    assert found == pytest.approx(total, abs=BY_QUADRATURE)


def test_the_truth_of_uniform_predictions_by_hand():
    # 2 * 0.1^3 / 3 at the ends, 0.8 * 0.1^2 between them.
    uniform = designs.BetaPredictions(1, 1)
    assert uniform.true_mse(0.1) == pytest.approx(0.002 / 3 + 0.008, rel=1e-12)


def test_claims_that_are_moved_are_off_by_less_where_they_were_cut():
    n = 1_000_000
    p = (np.arange(n) + 0.5) / n
    claimed = designs.moved(p, 0.1)
    cut = (claimed == 0) | (claimed == 1)
    mean = np.where(claimed == 0, p[claimed == 0].mean(), p[claimed == 1].mean())
    gap = np.where(cut, mean - claimed, p - claimed)
    truth = designs.MovedClaims().true_mse(0.1)
    assert truth == pytest.approx(np.mean(gap**2), rel=1e-5)


@pytest.mark.parametrize("name", designs.DESIGNS)
def test_outcomes_come_true_as_often_as_the_design_says(name):
    design, shift, n = designs.DESIGNS[name], 0.2, 20_000
    y, q = design.draw(n, shift, np.random.default_rng(0))
    assert y.shape == q.shape == (n,)
    # Nothing is cut here: predictions are too high, moved claims too low.
    near = (q > 0.25) & (q < 0.3)
    off = shift if name == "claims moved" else -shift
    expected = float(np.mean(q[near] + off))
    found = binomtest(int(y[near].sum()), int(near.sum()), expected)
    assert found.pvalue > FALSE_ALARM


def test_chance_is_the_mean_variance_of_an_outcome():
    uniform = designs.BetaPredictions(1, 1)
    assert uniform.chance(0.0) == pytest.approx(1 / 6, rel=1e-6)
    assert designs.MovedClaims().chance(0.1) == 1 / 6
