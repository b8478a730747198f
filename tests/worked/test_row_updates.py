"""Updates done by hand on rows of one word.

The labels are A, B and C; the word is u. Without weights all labels tie, and the first
rival is the one that comes first. Equation numbers are those of Crammer, Dredze &
Kulesza (2009) unless another paper is named.
"""

from math import sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from skcw import MultiClassCW
from tests.kernels.row_problems import (
    PLAIN,
    Learner,
    arow,
    compressed,
    cw,
    soft_cw,
    start,
)

A, B, C = range(3)
BY_HAND = 1e-12


def learn(learner, *rows, variance=1.0, k=1, n_labels=3, intercept=False, **more):
    """Present (value of u, label) pairs; return the tables."""
    values, labels = zip(*rows, strict=True)
    X = np.array(values, dtype=float)[:, np.newaxis]
    rows = compressed(X, labels, intercept=intercept, **more)
    return learner.run(start(1, n_labels, variance), rows, k)[0]


def assert_word(tables, mean=None, variance=None, rtol=BY_HAND):
    """Compare the weights of u, label by label."""
    if mean is not None:
        got = tables.mean[0, : tables.n_columns]
        assert_allclose(got, mean, rtol=rtol, atol=1e-15)
    if variance is not None:
        got = tables.variance[0, : tables.n_columns]
        assert_allclose(got, variance, rtol=rtol)


def variance_form(update="sequential", diagonal="precision", phi=1.0):
    return cw(update, "variance", diagonal, phi)


def test_equations_7_and_8_on_one_row():
    # m = 0, v = 1/2 + 1/2, phi = 1: alpha = (-1 + sqrt(1 + 8)) / 4 = 1/2, beta = 1.
    # The means move by alpha sigma = 1/4, the precisions of 2 become 3.
    tables = learn(variance_form(), (1, B), variance=0.5)
    assert_word(tables, [-1 / 4, 1 / 4, 0], [1 / 3, 1 / 3, 1 / 2])


def test_equation_8_with_the_diagonal_of_the_covariance():
    # 1/2 - beta (1/2)^2 / (1 + beta v) = 1/2 - (1/4) / 2.
    tables = learn(variance_form(diagonal="covariance"), (1, B), variance=0.5)
    assert_word(tables, [-1 / 4, 1 / 4, 0], [3 / 8, 3 / 8, 1 / 2])


def test_equations_7_and_8_on_a_second_row_with_a_margin():
    # Now u is an A: m = -1/2, v = 2/3, so 1 + 2 phi m = 0 and
    # alpha = sqrt(8 (1/2 + 2/3)) / (4 * 2/3).
    alpha = sqrt(28 / 3) * 3 / 8
    tables = learn(variance_form(), (1, B), (1, A), variance=0.5)
    shift, shrunk = 1 / 4 - alpha / 3, 1 / (3 + 2 * alpha)
    assert_word(tables, [-shift, shift, 0], [shrunk, shrunk, 1 / 2])


@pytest.mark.parametrize("diagonal", ["precision", "covariance", "optimal"])
@pytest.mark.parametrize(("label", "sign"), [(0, -1), (1, 1)])
def test_equations_7_and_8_with_two_classes(diagonal, label, sign):
    # One weight vector, u = 2: v = 4 * 1/4, alpha = 1/2, the mean is 1/2 * 1/4 * 2,
    # the precision 4 + 4; all diagonals agree on one weight, and m = phi v+ = 1/2.
    learner = variance_form(diagonal=diagonal)
    tables = learn(learner, (2, label), variance=0.25, n_labels=2)
    assert_word(tables, [sign / 4], [1 / 8])


def test_the_exact_update_with_two_rivals():
    # u is a C: 3 alpha = phi (1 / (1 + 2 beta) + 1 / (1 + beta)) and beta = 2 phi
    # alpha. With beta = 1 that is 3 alpha = 5/6 phi, so phi^2 = 9/5.
    tables = learn(variance_form("exact", phi=3 / sqrt(5)), (1, C), k=2)
    alpha = sqrt(5) / 6
    assert_word(tables, [-alpha, -alpha, 2 * alpha], [1 / 2, 1 / 2, 1 / 3], rtol=1e-5)


def test_the_exact_stdev_update_with_two_rivals():
    # 3 alpha = phi s and alpha = beta s / phi with s the deviation: beta = phi^2 / 3.
    tables = learn(cw("exact", "stdev", phi=sqrt(3)), (1, C), k=2)
    alpha = sqrt((1 / 3 + 1 / 2) / 3)
    assert_word(tables, [-alpha, -alpha, 2 * alpha], [1 / 2, 1 / 2, 1 / 3], rtol=1e-5)


def test_the_sequential_update_of_section_5_2():
    # Against A as above: C has mean 1/4 and variance 1/3. Then against B: m = 1/4,
    # v = 1/3 + 1/2, alpha = (-3/2 + sqrt(9/4 + 8 * 7/12)) / (10/3).
    tables = learn(variance_form(), (1, C), variance=0.5, k=2)
    alpha = (-3 / 2 + sqrt(9 / 4 + 14 / 3)) * 3 / 10
    mean = [-1 / 4, -alpha / 2, 1 / 4 + alpha / 3]
    shrunk = [1 / 3, 1 / (2 + 2 * alpha), 1 / (3 + 2 * alpha)]
    assert_word(tables, mean, shrunk)


def test_the_parallel_update_of_section_5_2():
    # Both rivals give alpha = 1/2 and beta = 1. C moves in both models, a rival in
    # one: its mean halves, and its precision is that of 3 and 2.
    tables = learn(variance_form("parallel"), (1, C), variance=0.5, k=2)
    assert_word(tables, [-1 / 8, -1 / 8, 1 / 4], [2 / 5, 2 / 5, 1 / 3])


def test_the_joint_update_satisfies_rivals_that_are_alike():
    # As above, but every step counts 2/3 instead of 1/2. The margin over each rival is
    # 1/3 + 1/6 = 1/2: what one step alone would have reached for one rival.
    tables = learn(variance_form("joint"), (1, C), variance=0.5, k=2)
    assert_word(tables, [-1 / 6, -1 / 6, 1 / 3], [2 / 5, 2 / 5, 1 / 3])


def test_a_soft_step_is_cut_at_a_share_of_the_first():
    # Prop. 1 of Wang, Zhao & Hoi (2012): alpha is at most C, here half of the alpha
    # with which u would move the prior, 1/2 as above: alpha = 1/4, beta = 2 phi alpha.
    learner = soft_cw("sequential", "variance", "precision", 1.0, 0.5, 0.5)
    tables = learn(learner, (1, B), variance=0.5)
    assert_word(tables, [-1 / 8, 1 / 8, 0], [2 / 5, 2 / 5, 1 / 2])


def test_a_soft_stdev_step_is_cut_at_a_share_of_the_first():
    # One weight of variance 2, phi = 1: the first alpha is 1 / sqrt(2 * 2) = 1/2, and
    # half of it 1/4; sqrt(v+) = (-1/2 + sqrt(1/4 + 8)) / 2, beta = 1/4 / sqrt(v+).
    learner = soft_cw("sequential", "stdev", "precision", 1.0, 0.5, 2.0)
    tables = learn(learner, (1, 1), variance=2.0, n_labels=2)
    deviation = (-1 / 2 + sqrt(1 / 4 + 8)) / 2
    assert_word(tables, [1 / 2], [1 / (1 / 2 + 1 / 4 / deviation)])


def test_equation_3_of_mejer_and_crammer():
    # With an intercept v = 4. phi = 1: alpha = sqrt(2) / 4, v+ = 2, beta = 1/4.
    step = sqrt(2) / 4
    for diagonal, shrunk in (("covariance", 7 / 8), ("precision", 4 / 5)):
        learner = cw("sequential", "stdev", diagonal, 1.0)
        tables = learn(learner, (1, B), intercept=True)
        assert_word(tables, [-step, step, 0], [shrunk, shrunk, 1])


def test_the_best_diagonal_stdev_step():
    # v+ = 4 / (1 + beta), 4 alpha = sqrt(v+) and beta = alpha / sqrt(v+) = 1/4.
    learner = cw("sequential", "stdev", "optimal", 1.0)
    tables = learn(learner, (1, B), intercept=True)
    step, shrunk = 1 / sqrt(5), 4 / 5
    assert_word(tables, [-step, step, 0], [shrunk, shrunk, 1], rtol=1e-9)


def test_arow_on_two_rows():
    # r = 1: alpha = 1 / (1 + 2), beta = 1.
    tables = learn(arow(r=1.0), (1, B))
    assert_word(tables, [-1 / 3, 1 / 3, 0], [1 / 2, 1 / 2, 1])
    tables = learn(arow(r=1.0), (1, B), (1, A))
    # Then u is an A: m = -2/3, v = 1, alpha = (5/3) / 2, so A moves by 5/6 * 1/2.
    assert_word(tables, [1 / 12, -1 / 12, 0], [1 / 3, 1 / 3, 1])
    # 1 - 1 / (1 + 2) with the diagonal of the covariance.
    tables = learn(arow(diagonal="covariance", r=1.0), (1, B))
    assert_word(tables, [-1 / 3, 1 / 3, 0], [2 / 3, 2 / 3, 1])


def test_arow_with_two_rivals():
    # In turn: alpha = 1/3 against A, then m = 1/3, v = 3/2, alpha = (2/3) / (5/2).
    tables = learn(arow("sequential", r=1.0), (1, C), k=2)
    assert_word(tables, [-1 / 3, -4 / 15, 7 / 15], [1 / 2, 1 / 2, 1 / 3])
    # At once: the mean of two steps of 1/3; precisions of 2 and 1 for a rival.
    tables = learn(arow("parallel", r=1.0), (1, C), k=2)
    assert_word(tables, [-1 / 6, -1 / 6, 1 / 3], [2 / 3, 2 / 3, 1 / 2])
    # Exactly: alpha = 1 - 3 alpha, for the margin is 3 alpha.
    tables = learn(arow("exact", r=1.0), (1, C), k=2)
    assert_word(tables, [-1 / 4, -1 / 4, 1 / 2], [1 / 2, 1 / 2, 1 / 3])


def pa(budget):
    return Learner("pa", None, budget, (budget,))


@pytest.mark.parametrize(("budget", "step"), [(0.1, 0.2), (0.125, 0.25), (9, 0.25)])
def test_pa_with_one_rival(budget, step):
    # u = 2: the loss is 1 and |g|^2 = 8, so alpha = 1/8 unless the budget is less.
    assert_word(learn(pa(budget), (2, B)), [-step, step, 0])


@pytest.mark.parametrize(("budget", "alpha"), [(0.4, 0.2), (5.0, 1 / 3)])
def test_pa_with_two_rivals(budget, alpha):
    # The Gram matrix of both is [[2, 1], [1, 2]], the losses are 1.
    tables = learn(pa(budget), (1, C), k=2)
    assert_word(tables, [-alpha, -alpha, 2 * alpha], rtol=1e-9)


def test_pa_with_two_classes():
    # One weight vector: |g|^2 = 4, alpha = 1/4.
    assert_word(learn(pa(1.0), (2, 0), n_labels=2), [-1 / 2])


def test_the_averaged_perceptron_on_two_rows():
    tables = learn(PLAIN["perceptron"], (1, B), (1, A))
    assert_word(tables, [0, 0, 0])
    assert_allclose(tables.average()[::2], [-1 / 2, 1 / 2, 0], atol=1e-15)
    # A third row finds all labels tied, and the true one first: no lead, so it moves.
    assert_word(learn(PLAIN["perceptron"], (1, B), (1, A), (1, A)), [1, -1, 0])


def test_half_a_copy_makes_half_a_step():
    # alpha = 1/2 and beta = 1, both halved: the precision is 2 + 1/2.
    tables = learn(variance_form(), (1, B), variance=0.5, weight=np.array([0.5]))
    assert_word(tables, [-1 / 8, 1 / 8, 0], [2 / 5, 2 / 5, 1 / 2])
    assert tables.rounds == 0.5


def test_a_class_factor_of_two_doubles_phi():
    class_factor = np.array([1.0, 2.0, 1.0])
    asked = learn(
        variance_form(phi=0.5), (1, B), variance=0.5, class_factor=class_factor
    )
    assert_word(asked, [-1 / 4, 1 / 4, 0], [1 / 3, 1 / 3, 1 / 2])


def test_the_inner_bound_of_five_classes():
    # eta_r = 1 - (1 - 0.9) / 4 = 0.975, of which phi is the well-known 1.96.
    X, y = np.eye(5), np.arange(5)
    inner = MultiClassCW(norm.ppf(0.9), bound="inner", random_state=0).fit(X, y)
    outer = MultiClassCW(phi=1.959963984540054, random_state=0).fit(X, y)
    assert_allclose(inner.coef_, outer.coef_, rtol=1e-6)
