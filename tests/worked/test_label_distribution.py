"""How likely each of a few Gaussian scores is the greatest, done by hand.

The first of three scores of mean zero is the greatest if two differences, x1 - x2 and
x1 - x3, are positive. They are normal with the correlation
r = v1 / sqrt((v1 + v2)(v1 + v3)), and both positive with 1/4 + arcsin(r) / (2 pi).
The paper (Crammer, Dredze and Kulesza 2009, section 7) estimates these shares by draws.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.label_distribution import drawn_distribution, exact_distribution

BY_HAND = 1e-8


def of_one_row(scores, spreads):
    rows = np.array([scores], dtype=float), np.array([spreads], dtype=float)
    return exact_distribution(*rows)[0]


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 20, 300])
def test_equal_labels_share_equally(n_labels):
    shares = of_one_row(np.full(n_labels, 2.0), np.full(n_labels, 9.0))
    assert_allclose(shares, 1 / n_labels, atol=BY_HAND)


def test_half_a_deviation_ahead_wins_69_times_of_100():
    # M = 1 and V = 1 + 3: Phi(1 / 2) = 0.69146246...
    shares = of_one_row([1, 0], [1, 3])
    assert_allclose(shares, [0.6914624612740131, 0.3085375387259869], rtol=1e-14)


def test_a_third_label_without_variance_wins_when_both_others_are_negative():
    # r = 1 / sqrt(2) for the first two: 1/4 + 1/8. The third: 1/2 times 1/2.
    assert_allclose(of_one_row([0, 0, 0], [1, 1, 0]), [3 / 8, 3 / 8, 1 / 4], atol=1e-9)


def test_variances_of_3_1_1_follow_the_arcsine():
    # r = 3/4 for the first, 1 / sqrt(8) for the others.
    first, other = (1 / 4 + np.arcsin(r) / (2 * np.pi) for r in (3 / 4, 8**-0.5))
    shares = of_one_row([5, 5, 5], [3, 1, 1])
    assert_allclose(shares, [first, other, other], atol=BY_HAND)
    assert_allclose(first, 0.3849733, atol=5e-8)


def test_the_widest_of_three_wins_half_the_time():
    # r tends to 1 for the first and to 0 for the second, which wins if the first is
    # negative and the third as well: 1/2 times 1/2.
    assert_allclose(of_one_row([0, 0, 0], [1e24, 1, 1]), [1 / 2, 1 / 4, 1 / 4])


def test_fixed_scores_leave_no_doubt():
    assert_array_equal(of_one_row([1, 3, 2], [0, 0, 0]), [0, 1, 0])
    assert_allclose(of_one_row([3, 1, 3], [0, 0, 0]), [1 / 2, 0, 1 / 2], rtol=1e-15)


def test_four_draws_are_counted():
    # Scores 1 + 2z, z and 1: the draws give 2 0 1, 3 4 1, -3 2 1 and 0 0 1.
    noise = np.array([[0.5, 0, 9], [1, 4, 9], [-2, 2, 9], [-0.5, 0, 9]])
    scores, spreads = np.array([[1.0, 0, 1]]), np.array([[4.0, 1, 0]])
    shares = drawn_distribution(scores, spreads, noise)
    assert_array_equal(shares, [[1 / 4, 1 / 2, 1 / 4]])


def test_equal_scores_without_variance_share_their_draws():
    noise = np.array([[-1.0, 0, 0], [1, 0, 0], [-2, 0, 0], [3, 0, 0]])
    shares = drawn_distribution(np.zeros((1, 3)), np.array([[1.0, 0, 0]]), noise)
    assert_array_equal(shares, [[1 / 2, 1 / 4, 1 / 4]])
