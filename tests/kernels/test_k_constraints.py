"""The k-constraint PA step against quadratic programming, and its optimality."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from skcw._kernels.steps import solve_k_constraints
from tests.reference import steps as twin

budgets = st.sampled_from([1e-3, 0.02, 0.1, 0.5, 2.0, 1e3])
# Sweeps stop when a sweep changes multipliers by less than 1e-12 of their sum.
SOLVED = 1e-8


def random_rivals(seed, k, size=8):
    """Return sparse differences of small integers, as labelings give, and losses."""
    rng = np.random.default_rng(seed)
    deltas = rng.integers(-2, 3, size=(k, size)) * (rng.random((k, size)) < 0.6)
    loss = rng.integers(1, 5, size=k) - rng.normal(size=k) * 2
    return deltas.astype(float), loss


def solve(deltas, loss, budget):
    return solve_k_constraints(deltas @ deltas.T, loss, budget)


@given(st.integers(0, 10**6), st.integers(1, 8), budgets)
@example(3, 7, 2.0)  # a multiplier that rounding leaves at 1e-17
@example(19126, 5, 2.0)  # all but a crumb of the budget is spent
@example(37, 7, 1e3)  # nearly singular: thousands of sweeps
def test_the_solution_is_feasible_and_optimal(seed, k, budget):
    deltas, loss = random_rivals(seed, k)
    assume(deltas.any(axis=1).all())
    alpha = solve(deltas, loss, budget)
    assert (alpha >= 0).all()
    assert alpha.sum() <= budget * (1 + 1e-12)
    # Karush, Kuhn and Tucker: no constraint is violated by more than the slack,
    # and those that pull are violated by just the slack.
    violation = loss - deltas @ (alpha @ deltas)
    slack = max(0.0, violation.max())
    scale = SOLVED * (1 + np.abs(loss).max())
    assert_allclose(violation[alpha > scale], slack, atol=100 * scale)
    if alpha.sum() < budget * (1 - 1e-9):
        assert slack <= 100 * scale


@given(st.integers(0, 10**6), st.integers(1, 4), budgets)
def test_the_move_equals_that_of_the_best_active_set(seed, k, budget):
    deltas, loss = random_rivals(seed, k)
    assume(deltas.any(axis=1).all())
    expected = twin.k_constraints(deltas @ deltas.T, loss, budget)
    assert_allclose(
        solve(deltas, loss, budget) @ deltas, expected @ deltas, rtol=SOLVED, atol=1e-7
    )


@pytest.mark.parametrize("budget", [0.05, 0.3, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_solution_equals_a_quadratic_program_solved_by_scipy(seed, budget):
    deltas, loss = random_rivals(seed, 5)
    size = deltas.shape[1]

    def cost(x):
        return 0.5 * x[:size] @ x[:size] + budget * x[size]

    found = minimize(
        cost,
        np.append(np.zeros(size), max(loss.max(), 0.0) + 1.0),
        jac=lambda x: np.append(x[:size], budget),
        method="SLSQP",
        bounds=[(None, None)] * size + [(0, None)],
        constraints={
            "type": "ineq",
            "fun": lambda x: deltas @ x[:size] - loss + x[size],
            "jac": lambda x: np.hstack([deltas, np.ones((len(deltas), 1))]),
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    move = solve(deltas, loss, budget) @ deltas
    assert_allclose(move, found.x[:size], rtol=1e-5, atol=1e-6)


@given(st.floats(0.1, 9), st.floats(-3, 9), st.floats(0.01, 5))
def test_one_rival_gives_the_closed_form_of_pa(square, loss, budget):
    alpha = solve_k_constraints(np.array([[square]]), np.array([loss]), budget)
    assert_allclose(alpha, [min(budget, max(0.0, loss) / square)], rtol=1e-12)


@pytest.mark.parametrize("budget", [0.05, 10.0])
def test_rivals_that_ask_for_the_same_share_one_step(budget):
    delta = np.array([[1.0, -1.0, 2.0]])
    once = solve(delta, np.array([3.0]), budget) @ delta
    twice = solve(np.repeat(delta, 3, axis=0), np.full(3, 3.0), budget)
    assert_allclose(twice @ np.repeat(delta, 3, axis=0), once, rtol=SOLVED)


def test_satisfied_constraints_move_nothing():
    deltas, _ = random_rivals(1, 4)
    assert_array_equal(solve(deltas, np.array([-1.0, 0.0, -0.5, -2.0]), 1.0), 0.0)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
@pytest.mark.parametrize("budget", [0.1, 0.3, 0.6, 10.0])
def test_a_rival_with_the_features_of_gold_asks_for_nothing(budget, order):
    # It can never be told apart, so the budget is for those that can.
    deltas = np.array([[0.0, 0.0], [1.0, -1.0]])[order]
    alpha = solve(deltas, np.array([2.0, 1.0])[order], budget)
    assert_allclose(alpha, np.array([0.0, min(budget, 0.5)])[order], rtol=SOLVED)


def test_many_rivals_are_solved_too():
    deltas, loss = random_rivals(2, 60, size=40)
    for budget in (0.05, 5.0):
        alpha = solve(deltas, loss, budget)
        violation = loss - deltas @ (alpha @ deltas)
        slack = max(0.0, violation.max())
        assert (alpha >= 0).all()
        assert alpha.sum() <= budget * (1 + 1e-12)
        assert_allclose(violation[alpha > 1e-9], slack, atol=1e-6)
