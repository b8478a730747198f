"""A lattice of two words and two labels, done by hand.

As factors: the first word gives A 1 and B 2, the second A 3 and B 1; A to A 1,
A to B 4, B to A 2, B to B 1. The labelings AA, AB, BA, BB weigh 3, 4, 12 and 2: 21
in all. Scores are the logarithms.
"""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.lattice import k_best, max_marginals, path_scores, viterbi
from skcw._kernels.marginals import Factors, marginals
from tests.kernels.problems import pad

BY_HAND = 1e-12
SCORES = pad(np.log([[1.0, 2.0], [3.0, 1.0]]), 2)
TRANSITIONS = pad(np.log([[1.0, 4.0], [2.0, 1.0]]), 8)
OFFSETS = np.array([0, 2])


def test_the_best_labeling_is_ba():
    labels, total = np.empty(2, dtype=np.int32), np.empty(1)
    viterbi(SCORES, TRANSITIONS, 2, OFFSETS, labels, total)
    assert_array_equal(labels, [1, 0])
    assert_allclose(np.exp(total), [12], rtol=BY_HAND)


def test_each_labeling_has_its_weight():
    for labels, weight in (([0, 0], 3), ([0, 1], 4), ([1, 0], 12), ([1, 1], 2)):
        total = np.empty(1)
        labels = np.array(labels, dtype=np.int32)
        path_scores(SCORES, TRANSITIONS, OFFSETS, labels, total)
        assert_allclose(np.exp(total), [weight], rtol=BY_HAND)


def test_the_labelings_rank_ba_ab_aa_bb():
    labels, total = np.empty((9, 2), dtype=np.int32), np.empty((1, 9))
    found = np.empty(1, dtype=np.int32)
    k_best(SCORES, TRANSITIONS, 2, OFFSETS, labels, total, found)
    assert found[0] == 4
    assert_array_equal(labels[:4], [[1, 0], [0, 1], [0, 0], [1, 1]])
    assert_allclose(np.exp(total[0, :4]), [12, 4, 3, 2], rtol=BY_HAND)


def test_max_marginals_are_the_best_with_a_label():
    forced = np.empty((2, 2))
    max_marginals(SCORES, TRANSITIONS, 2, OFFSETS, forced)
    assert_allclose(np.exp(forced), [[4, 12], [12, 4]], rtol=BY_HAND)


def test_marginals_are_shares_of_21():
    out, log_z = np.empty((2, 2)), np.empty(1)
    marginals(SCORES, Factors(TRANSITIONS, 2), 2, OFFSETS, out, log_z)
    assert_allclose(out, [[7 / 21, 14 / 21], [15 / 21, 6 / 21]], rtol=BY_HAND)
    assert_allclose(np.exp(log_z), [21], rtol=BY_HAND)


def test_noise_of_ln_3_flattens_by_hand():
    # p / (1 + 2 p): the first word's 1/3, 2/3 become 1/5, 2/7. They send 27/35 to A,
    # 38/35 to B; with its own 3 and 1 the second word has 81 : 38, so 81/281 : 38/195.
    # From there 3/4, 1/4 become 3/10, 1/6. They send 29/30 and 23/30 to the first one,
    # which with its own 1 and 2 has 29 : 46 of 75, so 29/133 : 46/167.
    out, log_z = np.empty((2, 2)), np.empty(1)
    factors = Factors(TRANSITIONS, 2)
    marginals(SCORES, factors, 2, OFFSETS, out, log_z, 1.0, np.log(3))
    odds = [29 / 133 * 167 / 46, 81 / 281 * 195 / 38]
    assert_allclose(out[:, 0] / out[:, 1], odds, rtol=BY_HAND)


def test_forbidding_b_to_a_leaves_9():
    # AA 3, AB 4 and BB 2 are left.
    transitions = TRANSITIONS.copy()
    transitions[1, 0] = -np.inf
    out, log_z = np.empty((2, 2)), np.empty(1)
    marginals(SCORES, Factors(transitions, 2), 2, OFFSETS, out, log_z)
    assert_allclose(out, [[7 / 9, 2 / 9], [3 / 9, 6 / 9]], rtol=BY_HAND)
    assert_allclose(np.exp(log_z), [9], rtol=BY_HAND)
