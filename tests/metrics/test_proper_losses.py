"""Brier and log losses, and their parts by isotonic regression."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from skcw.metrics import (
    brier_loss,
    log_loss,
    score_decomposition,
)
from tests.metrics.weighted_words import TIED_WORDS, WORDS, columns

EXACT = 1e-12
LOSSES = [brier_loss, log_loss]


@given(words=WORDS)
def test_scores_are_those_of_scikit_learn(words):
    correct, confidence, weight = columns(words)
    given_weight = {"sample_weight": weight}
    want = brier_score_loss(correct, confidence, pos_label=True, **given_weight)
    got = brier_loss(correct, confidence, **given_weight)
    assert_allclose(got, want, rtol=EXACT, atol=EXACT)
    want = sklearn_log_loss(correct, confidence, labels=[False, True], **given_weight)
    got = log_loss(correct, confidence, **given_weight)
    assert_allclose(got, want, rtol=1e-9, atol=EXACT)


@given(words=WORDS)
def test_the_parts_add_up_to_the_score(words):
    correct, confidence, weight = columns(words)
    for score in LOSSES:
        parts = score_decomposition(score, correct, confidence, sample_weight=weight)
        whole = score(correct, confidence, sample_weight=weight)
        added = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert_allclose(added, whole, rtol=EXACT, atol=EXACT)
        assert min(parts) >= 0
        assert parts.discrimination <= parts.uncertainty + EXACT


@given(words=TIED_WORDS)
def test_parts_are_those_of_probabilities_recalibrated_by_scikit_learn(words):
    correct, confidence, weight = columns(words)
    counts = weight > 0
    y, q, w = correct[counts], confidence[counts], weight[counts]
    recalibrated = IsotonicRegression(y_min=0, y_max=1).fit(q, y, w).predict(q)
    mean = np.full(len(q), np.average(y, weights=w))
    for score in LOSSES:
        claimed, best, base = (
            score(y, p, sample_weight=w) for p in (q, recalibrated, mean)
        )
        parts = score_decomposition(score, correct, confidence, sample_weight=weight)
        want = claimed - best, base - best, base
        assert_allclose(parts, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("score", LOSSES)
def test_claims_that_come_true_are_not_miscalibrated(score):
    confidence = np.repeat([0.0, 0.25, 0.5, 1.0], 8)
    correct = np.concatenate([np.arange(8) < right for right in (0, 2, 4, 8)])
    parts = score_decomposition(score, correct, confidence)
    assert_allclose(parts.miscalibration, 0, atol=EXACT)
    assert parts.discrimination > 0.1


@pytest.mark.parametrize("score", LOSSES)
def test_one_outcome_or_one_confidence_leaves_nothing_to_discriminate(score):
    confidence = np.linspace(0, 1, 11)
    for right in (True, False):
        correct = np.full(11, right)
        whole = score(correct, confidence)
        parts = score_decomposition(score, correct, confidence)
        assert_allclose(parts, (whole, 0, 0), atol=EXACT)
    equal, correct = np.full(11, 0.6), np.arange(11) < 5
    parts = score_decomposition(score, correct, equal)
    assert_allclose(parts.discrimination, 0, atol=EXACT)
    assert_allclose(parts.uncertainty, score(correct, np.full(11, 5 / 11)), rtol=EXACT)


def test_false_certainty_costs_the_logarithm_of_the_smallest_step_below_one():
    worst = -np.log(np.finfo(float).eps)
    assert_allclose(log_loss([False, True], [1.0, 0.0]), worst, rtol=EXACT)
    assert_allclose(log_loss([True, False], [1.0, 0.0]), 0, atol=1e-15)
    parts = score_decomposition(log_loss, [False, True], [1.0, 0.0])
    assert np.isfinite(parts).all()


def test_a_rising_map_of_the_probabilities_changes_only_miscalibration():
    rng = np.random.default_rng(3)
    confidence = rng.random(200)
    correct = rng.random(200) < confidence
    plain = score_decomposition("brier_loss", correct, confidence)
    squared = score_decomposition("brier_loss", correct, confidence**2)
    assert squared[1:] == plain[1:]
    assert squared.miscalibration > plain.miscalibration
