"""Calibration of six words, done by hand.

Confidences 0.1, 0.3, 0.3, 0.6, 0.8 and 0.8; right are the second, the third, the fifth
and the sixth.
"""

import numpy as np
from numpy.testing import assert_allclose

from skcw._kernels.score_loops import average_precision, mean_risk
from skcw.metrics import brier_loss, score_decomposition
from skcw.metrics.binnings import isotonic_blocks
from skcw.metrics.calibration_errors import calibration_mse

BY_HAND = 1e-12
CONFIDENCE = [0.1, 0.3, 0.3, 0.6, 0.8, 0.8]
CORRECT = [False, True, True, False, True, True]
WORDS = np.array([1.0, 2.0, 1.0, 2.0])  # of each confidence
RIGHT = np.array([0.0, 2.0, 0.0, 2.0])


def test_two_right_before_one_wrong_are_pooled_to_two_thirds():
    first, mass, right = isotonic_blocks(WORDS, RIGHT)
    assert first.tolist() == [0, 1, 3]
    assert_allclose(right / mass, [0, 2 / 3, 1], rtol=BY_HAND)


def test_the_brier_loss_falls_into_its_parts():
    # Squares: 0.01 + 0.49 + 0.49 + 0.36 + 0.04 + 0.04. Recalibrated only the three in
    # the middle cost anything, 2/3 * 1/3 each; the mean 2/3 would cost that six times.
    whole, recalibrated, uncertainty = 1.43 / 6, (3 * 2 / 9) / 6, 2 / 9
    want = whole - recalibrated, uncertainty - recalibrated, uncertainty
    assert_allclose(brier_loss(CORRECT, CONFIDENCE), whole, rtol=BY_HAND)
    assert_allclose(
        score_decomposition("brier_loss", CORRECT, CONFIDENCE), want, rtol=BY_HAND
    )


def test_the_border_of_bins_cuts_the_tie_in_the_middle():
    # CalibMSE in bins of two: {0.1, 0.3}, {0.3, 0.6} and {0.8, 0.8}; both words at 0.3
    # are right, so each half of the tie has an accuracy of 1.
    gaps = np.array([0.2 - 0.5, 0.45 - 0.5, 0.8 - 1.0])
    got = calibration_mse(CORRECT, CONFIDENCE, bin_size=2)
    assert_allclose(got, np.mean(gaps**2), rtol=BY_HAND)


def test_wrong_words_are_found_at_the_first_and_the_fourth_rank():
    got = average_precision(WORDS, WORDS - RIGHT)
    assert_allclose(got, (1 / 1 + 2 / 4) / 2, rtol=BY_HAND)


def test_risk_rises_where_a_wrong_word_is_accepted():
    # From the most confident: 0, 0, 1/3, 1/4, 1/5 and 2/6.
    want = (1 / 3 + 1 / 4 + 1 / 5 + 2 / 6) / 6
    assert_allclose(mean_risk(WORDS, WORDS - RIGHT), want, rtol=BY_HAND)
