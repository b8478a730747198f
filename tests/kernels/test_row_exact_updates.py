"""The exact update for several rivals: what it must satisfy, and that it is minimal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from tests.kernels.row_problems import (
    HILDRETH,
    arow,
    compressed,
    cw,
    random_rows,
    random_tables,
    start,
)
from tests.reference import rows as twin

PHI = 0.8
# What the update promises: no constraint fails by more, relative to what it asks.
PROMISE = 1e-6
seeds = st.integers(0, 10**6)
each_form = pytest.mark.parametrize("step", ["variance", "stdev"])


def asked(step, spread):
    """Return the margin that a constraint asks for."""
    return PHI * (spread if step == "variance" else np.sqrt(spread))


def lead(tables, row, label):
    """Return the margins and the variances of a label against each other one."""
    scores = row @ tables.mean[:, : tables.n_labels]
    spreads = row**2 @ tables.variance[:, : tables.n_labels]
    others = np.arange(tables.n_labels) != label
    return (scores[label] - scores)[others], (spreads[label] + spreads)[others]


def one_row(seed, n_labels, n_features=4):
    """Return a random model, a row for the kernel, and the row with its intercept."""
    rng = np.random.default_rng(seed)
    tables = random_tables(rng, n_features, n_labels)
    X = rng.normal(size=(1, n_features))
    return tables, compressed(X, [0]), np.append(X[0], 1.0)


@each_form
@settings(max_examples=40)
@given(seeds, st.integers(3, 7))
def test_no_constraint_is_violated_and_slack_ones_did_not_pull(step, seed, n_labels):
    tables, rows, row = one_row(seed, n_labels)
    after, _ = cw("exact", step).run(tables, rows, n_labels - 1)
    margin, spread = lead(after, row, 0)
    wanted = asked(step, spread)
    # The tables are read anew here, with rounding of their own.
    assert (margin >= wanted * (1 - 1.01 * PROMISE) - 1e-12).all()
    # Complementary slackness: a rival that is beaten by more has not moved.
    slack = 1 + np.flatnonzero(margin > wanted * (1 + 1e3 * PROMISE))
    assert_array_equal(after.mean[:, slack], tables.mean[:, slack])
    assert_array_equal(after.variance[:, slack], tables.variance[:, slack])


@each_form
@settings(max_examples=25)
@given(seeds, st.integers(2, 5))
def test_with_one_rival_it_is_the_best_diagonal_update(step, seed, n_labels):
    tables, rows, _ = one_row(seed, n_labels)
    exact, _ = cw("exact", step).run(tables, rows, 1)
    best, _ = cw("sequential", step, "optimal").run(tables, rows, 1)
    assert_array_equal(exact.mean, best.mean)
    assert_array_equal(exact.variance, best.variance)


def divergence(tables, columns):
    """Return the relative entropy to a model, variances being logarithms."""
    mean = tables.mean[:, columns].ravel()
    variance = tables.variance[:, columns].ravel()

    def distance(x):
        shift, ratio = x[: len(mean)] - mean, x[len(mean) :] - np.log(variance)
        return 0.5 * (np.exp(ratio) - ratio + shift**2 / variance).sum()

    return distance, np.concatenate([mean, np.log(variance)])


@each_form
@pytest.mark.parametrize("seed", range(3))
def test_no_gaussian_that_satisfies_all_constraints_is_closer(step, seed):
    tables, rows, row = one_row(seed, 3, n_features=2)
    tables.mean[:, 0] -= 0.3 * row  # the label trails both rivals
    distance, before = divergence(tables, slice(3))
    shape = len(row), 3

    def leads(x):
        mean, variance = np.split(x, 2)
        score = row @ mean.reshape(shape)
        spread = row**2 @ np.exp(variance).reshape(shape)
        return score[0] - score[1:] - asked(step, spread[0] + spread[1:])

    found = minimize(
        distance,
        before,
        method="SLSQP",
        constraints={"type": "ineq", "fun": leads},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    after, _ = cw("exact", step).run(tables, rows, 2)
    mean, variance = np.split(found.x, 2)
    assert_allclose(after.mean[:, :3].ravel(), mean, rtol=1e-4, atol=1e-5)
    assert_allclose(after.variance[:, :3].ravel(), np.exp(variance), rtol=1e-4)


@each_form
def test_rivals_that_are_beaten_already_change_nothing(step):
    tables, rows, row = one_row(3, 6)
    tables.mean[:, 0] -= 0.3 * row
    tables.mean[:, 2:6] -= 50 * row[:, np.newaxis]  # all but one far behind
    alone, _ = cw("exact", step).run(tables, rows, 1)
    all_of_them, _ = cw("exact", step).run(tables, rows, 5)
    assert_allclose(all_of_them.mean, alone.mean, rtol=1e-9)
    assert_allclose(all_of_them.variance, alone.variance, rtol=1e-9)


@each_form
def test_rivals_that_are_alike_share_the_pull(step):
    # From nothing all rivals look the same; gold gets the sum of what they give up.
    rows = compressed([[1.0, -2.0]], [0])
    after, _ = cw("exact", step).run(start(2, 4), rows, 3)
    gold, *rivals = after.mean[:, :4].T
    for rival in rivals:
        assert_allclose(rival, rivals[0], rtol=HILDRETH)
    assert_allclose(gold, -np.sum(rivals, axis=0), rtol=1e-9)


@settings(max_examples=25)
@given(seeds, st.integers(3, 7), st.floats(0.01, 100))
def test_the_exact_arow_update_is_stationary(seed, n_labels, r):
    tables, rows, row = one_row(seed, n_labels)
    after, _ = arow("exact", r=r).run(tables, rows, n_labels - 1)
    margin, _ = lead(after, row, 0)
    # alpha = max(0, 1 - margin) / r: how far each rival moved along Sigma x.
    pull = tables.variance * row[:, np.newaxis]
    alpha = ((tables.mean - after.mean) / pull)[0, 1:n_labels]
    wanted = np.maximum(0, 1 - margin) / r
    assert_allclose(alpha, wanted, rtol=1e-7, atol=1e-9 * wanted.max())


@pytest.mark.parametrize("ratio", [1.0, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("n_features", [6, 50])
def test_exact_arow_with_an_unsure_label_and_sure_rivals(ratio, n_features):
    # Rivals that tie and hardly move make a linear system that is close to singular.
    rng = np.random.default_rng(9)
    tables = start(n_features, 20)
    tables.variance[:, 1:] *= ratio
    X = rng.normal(size=(1, n_features))
    learner = arow("exact")
    after, _ = learner.run(tables, compressed(X, [0]), 19)
    mean, variance, _ = learner.run_twin(tables, X, [0], 19)
    assert_allclose(after.vector("mean"), mean, rtol=1e-9, atol=1e-12)
    assert_allclose(after.vector("variance"), variance, rtol=1e-9)


@each_form
@pytest.mark.parametrize("ratio", [1e-2, 1e-6])
def test_exact_cw_ends_with_an_unsure_label_and_sure_rivals(step, ratio):
    tables = start(50, 20)
    tables.variance[:, 1:] *= ratio
    X = np.random.default_rng(9).normal(size=(1, 50))
    after, _ = cw("exact", step).run(tables, compressed(X, [0]), 19)
    margin, _ = lead(after, np.append(X[0], 1.0), 0)
    assert (margin > 0).all()
    assert (after.variance > 0).all()


@pytest.mark.parametrize("learner", [cw("exact"), cw("exact", "stdev"), arow("exact")])
def test_more_rivals_than_columns_of_a_register_equal_their_twin(learner):
    rng = np.random.default_rng(11)
    X, gold = random_rows(rng, 3, 5, 11)
    tables = random_tables(rng, 5, 11)
    after, _ = learner.run(tables, compressed(X, gold), 10)
    mean, variance, _ = learner.run_twin(tables, X, gold, 10)
    assert_allclose(after.vector("mean"), mean, rtol=HILDRETH, atol=HILDRETH)
    assert_allclose(after.vector("variance"), variance, rtol=HILDRETH)


def test_the_twin_of_the_exact_update_satisfies_its_constraints():
    tables, _, row = one_row(5, 4)
    g = twin.differences(row, 0, [1, 2, 3], 4)
    mean, variance = tables.vector("mean"), tables.vector("variance")
    mean, variance = twin.exact_variance(mean, variance, g, PHI, 1.0)
    assert (g @ mean >= PHI * (g**2 @ variance) * (1 - 1e-9)).all()
