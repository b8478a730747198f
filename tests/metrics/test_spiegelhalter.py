"""Spiegelhalter's test of calibration."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.stats import kstest, norm

from skcw.metrics import spiegelhalter_test
from tests.metrics.weighted_words import WORDS, columns, repeated

EXACT = 1e-12


def test_the_statistic_is_that_computed_by_hand():
    correct, confidence = [False, True, True], [0.9, 0.8, 0.3]
    # (y - q)(1 - 2q) is 0.72, -0.12 and 0.28; q(1 - q)(1 - 2q)^2 the variances.
    variance = 0.09 * 0.64 + 0.16 * 0.36 + 0.21 * 0.16
    want = (0.72 - 0.12 + 0.28) / np.sqrt(variance)
    test = spiegelhalter_test(correct, confidence)
    assert_allclose(test.statistic, want, rtol=EXACT)
    assert_allclose(test.p_value, 2 * norm.sf(abs(want)), rtol=1e-9)


def test_groups_count_by_their_sums():
    correct, confidence = [False, True, True], [0.9, 0.8, 0.3]
    want = 0.88 / np.sqrt((0.72 - 0.12) ** 2 + 0.28**2)
    flat = spiegelhalter_test(correct, confidence, groups=["a", "a", "b"])
    rows = spiegelhalter_test([[False, True], [True]], [[0.9, 0.8], [0.3]])
    assert_allclose(flat.statistic, want, rtol=EXACT)
    assert flat == rows


@given(words=WORDS)
def test_a_weight_is_a_number_of_repetitions(words):
    correct, confidence, weight = columns(words)
    weighted = spiegelhalter_test(correct, confidence, sample_weight=weight)
    again = spiegelhalter_test(*repeated(words))
    if np.isfinite(again.statistic):
        assert_allclose(weighted, again, rtol=1e-6, atol=1e-9)
    else:
        assert weighted == again


def test_calibrated_probabilities_give_uniform_p_values():
    rng = np.random.default_rng(11)
    p_values = []
    for _ in range(400):
        confidence = rng.random(300)
        correct = rng.random(300) < confidence
        p_values.append(spiegelhalter_test(correct, confidence).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_words_of_a_sentence_that_fall_together_need_their_groups():
    rng = np.random.default_rng(5)
    fate = rng.random((300, 200, 1))
    # All ten words of a sentence share their luck: right together or wrong together.
    confidence = np.full((200, 10), 0.8)
    groups = np.repeat(np.arange(200), 10)
    found = {True: 0, False: 0}
    for luck in fate:
        correct = (np.broadcast_to(luck, (200, 10)) < 0.8).ravel()
        for clustered in found:
            test = spiegelhalter_test(
                correct, confidence.ravel(), groups=groups if clustered else None
            )
            found[clustered] += test.p_value < 0.05
    assert found[True] < 0.1 * 300 < 0.4 * 300 < found[False]


def test_overconfidence_has_a_positive_statistic():
    confidence = np.full(100, 0.95)
    assert spiegelhalter_test(np.arange(100) < 70, confidence).statistic > 3
    assert spiegelhalter_test(np.arange(100) < 95, np.full(100, 0.7)).statistic < -3


def test_certainty_is_contradicted_at_once_or_never():
    assert spiegelhalter_test([True, True, False], [0.5, 1.0, 0.0]) == (0.0, 1.0)
    assert spiegelhalter_test([True, False], [1.0, 1.0]) == (np.inf, 0.0)
    assert spiegelhalter_test([True, False], [0.5, 0.5]) == (0.0, 1.0)


def test_one_group_alone_is_refused():
    with pytest.raises(ValueError, match="all 3 tokens are of one group"):
        spiegelhalter_test([[True, False, True]], [[0.5, 0.4, 0.3]])
