"""The update steps against the equations, and the laws they solve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from skcw._kernels.steps import solve_arow, solve_cw, solve_optimal_cw
from tests.kernels.problems import EXACT
from tests.reference import steps as twin

margins = st.floats(-20, 20)
spreads = st.floats(1e-3, 1e3)
phis = st.floats(1e-2, 5)
seeds = st.integers(0, 10**6)


def random_gaussian(seed, full, size=6):
    """Return a mean, a covariance (matrix or diagonal) and a difference."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    Sigma = root @ root.T + 0.1 * np.eye(size) if full else rng.uniform(0.1, 2, size)
    return rng.normal(size=size), Sigma, rng.integers(-2, 3, size=size) + 0.5


@given(margins, spreads, phis)
def test_cw_solves_equation_3(margin, spread, phi):
    alpha, beta = twin.cw_step(margin, spread, phi)
    # At the border alpha is a difference of equal numbers.
    border = 1e-12 * abs(margin) / spread
    ours = solve_cw(margin, spread, phi)
    assert_allclose(ours[0], alpha, rtol=EXACT, atol=border)
    # The paper's form of v+ cancels; its digits are what the comparison can use.
    assert_allclose(ours[1], beta, rtol=1e-7, atol=border)


@given(margins, spreads, phis, st.floats(1e-3, 10))
def test_a_soft_cw_step_is_the_hard_one_or_ends_at_the_limit(
    margin, spread, phi, limit
):
    alpha, beta = solve_cw(margin, spread, phi, limit)
    hard = solve_cw(margin, spread, phi)
    assert alpha == min(hard[0], limit)
    # beta = alpha phi / sqrt(v+), where v+ = v / (1 + beta v) is the new spread.
    after = spread / (1 + beta * spread)
    assert_allclose(beta * np.sqrt(after), alpha * phi, rtol=1e-8, atol=1e-300)
    assert margin + alpha * spread <= max(margin, phi * np.sqrt(after) * (1 + 1e-8))


@given(seeds, phis, st.floats(1e-3, 10))
def test_a_soft_optimal_step_equals_a_root_found_by_scipy(seed, phi, limit):
    mu, sigma, delta = random_gaussian(seed, full=False)
    assert_allclose(
        solve_optimal_cw(delta, sigma, mu @ delta, phi, limit),
        twin.optimal_cw_step(delta, sigma, mu @ delta, phi, limit),
        rtol=1e-8,
        atol=1e-12,
    )


@given(margins, spreads, st.floats(0, 10), st.floats(1e-2, 1e2))
def test_arow_solves_equation_4(margin, spread, distance, r):
    assert_allclose(
        solve_arow(margin, spread, distance, r),
        twin.arow_step(margin, spread, distance, r),
        rtol=EXACT,
    )


@given(seeds, phis)
def test_after_the_full_cw_step_the_margin_is_phi_standard_deviations(seed, phi):
    mu, Sigma, delta = random_gaussian(seed, full=True)
    alpha, beta = solve_cw(mu @ delta, delta @ Sigma @ delta, phi)
    mu_new, Sigma_new = twin.full_update(mu, Sigma, delta, alpha, beta)
    deviation = np.sqrt(delta @ Sigma_new @ delta)
    if alpha > 0:
        assert_allclose(mu_new @ delta, phi * deviation, rtol=1e-8)
    else:
        assert mu @ delta >= phi * deviation * (1 - EXACT)


@given(st.floats(-1e4, 1e4), st.floats(1e-8, 1e8), st.floats(1e-3, 50))
def test_cw_keeps_its_law_at_any_scale(margin, spread, phi):
    alpha, beta = solve_cw(margin, spread, phi)
    assert alpha >= 0
    assert beta >= 0
    if alpha > 1e-9 * abs(margin) / spread:
        # After the step v+ = v / (1 + beta v), by Sherman and Morrison.
        deviation = np.sqrt(spread / (1 + beta * spread))
        scale = max(abs(margin), phi * np.sqrt(spread))
        assert_allclose(
            margin + alpha * spread, phi * deviation, rtol=1e-8, atol=1e-9 * scale
        )


def test_sherman_and_morrison_add_beta_to_the_precision():
    mu, Sigma, delta = random_gaussian(3, full=True)
    _, Sigma_new = twin.full_update(mu, Sigma, delta, 0.3, 0.7)
    assert_allclose(
        np.linalg.inv(Sigma_new),
        np.linalg.inv(Sigma) + 0.7 * np.outer(delta, delta),
        rtol=1e-8,
        atol=1e-10,
    )


@given(seeds, st.floats(0.05, 20), st.floats(0.5, 8))
def test_the_full_arow_step_is_the_minimum_of_its_objective(seed, r, distance):
    mu, Sigma, delta = random_gaussian(seed, full=True)
    alpha, beta = solve_arow(mu @ delta, delta @ Sigma @ delta, distance, r)
    mu_new, Sigma_new = twin.full_update(mu, Sigma, delta, alpha, beta)
    # The gradients of the two parts of the objective above Eq. (4) are zero.
    hinge = max(0.0, distance - mu_new @ delta)
    pull = np.linalg.solve(Sigma, mu_new - mu)
    assert_allclose(pull, hinge / r * delta, rtol=1e-6, atol=1e-8)
    if alpha > 0:
        precision = np.linalg.inv(Sigma) + np.outer(delta, delta) / r
        assert_allclose(Sigma_new @ precision, np.eye(len(mu)), atol=1e-7)


@given(seeds, phis)
def test_the_optimal_diagonal_step_equals_a_root_found_by_scipy(seed, phi):
    mu, sigma, delta = random_gaussian(seed, full=False)
    assert_allclose(
        solve_optimal_cw(delta, sigma, mu @ delta, phi),
        twin.optimal_cw_step(delta, sigma, mu @ delta, phi),
        rtol=EXACT,
        atol=1e-12,
    )


@given(seeds, phis, st.floats(-200, 10))
def test_after_the_optimal_diagonal_step_the_law_holds_for_the_diagonal(
    seed, phi, margin
):
    _, sigma, delta = random_gaussian(seed, full=False)
    alpha, beta = solve_optimal_cw(delta, sigma, margin, phi)
    sigma_new = twin.precision_diagonal(sigma, delta, beta)
    deviation = np.sqrt(sigma_new @ delta**2)
    if alpha > 0:
        assert_allclose(
            margin + alpha * (sigma @ delta**2), phi * deviation, rtol=1e-8, atol=1e-9
        )
    else:
        assert margin >= phi * deviation * (1 - EXACT)


@pytest.mark.parametrize("seed", range(4))
def test_no_diagonal_gaussian_that_satisfies_the_constraint_is_closer(seed):
    mu, sigma, delta = random_gaussian(seed, full=False, size=3)
    mu -= delta * (mu @ delta + 1.0) / (delta @ delta)

    def divergence(x):
        """The relative entropy to the former Gaussian, variances as logarithms."""
        shift, ratio = x[:3] - mu, x[3:] - np.log(sigma)
        return 0.5 * (np.exp(ratio) - ratio + shift**2 / sigma).sum()

    def lead(x):
        return x[:3] @ delta - 0.7 * np.sqrt(np.exp(x[3:]) @ delta**2)

    found = minimize(
        divergence,
        np.concatenate([mu, np.log(sigma)]),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lead},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    alpha, beta = solve_optimal_cw(delta, sigma, mu @ delta, 0.7)
    assert_allclose(found.x[:3], mu + alpha * sigma * delta, rtol=1e-4, atol=1e-5)
    sigma_new = twin.precision_diagonal(sigma, delta, beta)
    assert_allclose(np.exp(found.x[3:]), sigma_new, rtol=1e-4)


@given(seeds, phis)
def test_with_one_weight_all_ways_to_be_diagonal_agree(seed, phi):
    mu, sigma, delta = random_gaussian(seed, full=False, size=1)
    spread = sigma @ delta**2
    # At the border both are zero up to rounding.
    assert_allclose(
        solve_optimal_cw(delta, sigma, mu @ delta, phi),
        solve_cw(mu @ delta, spread, phi),
        rtol=1e-8,
        atol=1e-10,
    )


@pytest.mark.parametrize("phi", [0.1, 1.0])
def test_without_spread_nothing_can_move(phi):
    nothing = np.zeros(2)
    assert solve_cw(-1.0, 0.0, phi) == (0.0, 0.0)
    assert solve_optimal_cw(nothing, np.ones(2), -1.0, phi) == (0.0, 0.0)


@pytest.mark.parametrize("phi", [0.1, 1.0])
def test_a_margin_that_is_wide_enough_moves_nothing(phi):
    delta, sigma = np.array([1.0, -2.0]), np.array([1.0, 0.5])
    margin = 1.01 * phi * np.sqrt(sigma @ delta**2)
    assert solve_cw(margin, sigma @ delta**2, phi) == (0.0, 0.0)
    assert solve_optimal_cw(delta, sigma, margin, phi) == (0.0, 0.0)
    assert solve_arow(2.0, 3.0, 2.0, phi) == (0.0, 0.0)
