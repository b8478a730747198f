"""The risk-coverage curve and its area."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw.metrics import area_under_risk_coverage, risk_coverage_curve
from tests.reference.error_ranking import risks, tied_orders

WORD = st.tuples(st.integers(0, 3), st.booleans())
WORDS = st.lists(WORD, min_size=1, max_size=40)
FEW_WORDS = st.lists(WORD, min_size=1, max_size=5)


def columns(words):
    confidence, correct = zip(*words, strict=True)
    return np.array(correct), np.array(confidence, dtype=float)


def test_the_curve_is_that_computed_by_hand():
    coverage, risk, threshold = risk_coverage_curve(
        [False, True, False, True], [0.2, 0.9, 0.5, 0.5]
    )
    assert coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert_allclose(risk, [0, 0.5 / 2, 1 / 3, 2 / 4], rtol=1e-15)
    assert threshold.tolist() == [0.9, 0.5, 0.5, 0.2]
    area = area_under_risk_coverage([False, True, False, True], [0.2, 0.9, 0.5, 0.5])
    assert_allclose(area, (0.25 + 1 / 3 + 0.5) / 4, rtol=1e-15)


@given(words=FEW_WORDS)
def test_ties_count_at_the_mean_over_all_their_orders(words):
    correct, confidence = columns(words)
    want = np.mean([risks(wrong) for wrong in tied_orders(correct, confidence)], axis=0)
    _, risk, _ = risk_coverage_curve(correct, confidence)
    assert_allclose(risk, want, rtol=1e-12, atol=1e-12)
    area = area_under_risk_coverage(correct, confidence)
    assert_allclose(area, want.mean(), rtol=1e-12, atol=1e-12)


@given(words=WORDS, data=st.data())
def test_shuffling_words_changes_no_bit(words, data):
    want = risk_coverage_curve(*columns(words))
    shuffled = columns(data.draw(st.permutations(words)))
    assert_array_equal(risk_coverage_curve(*shuffled), want)
    area = area_under_risk_coverage(*columns(words))
    assert area_under_risk_coverage(*shuffled) == area


@given(words=WORDS, data=st.data())
def test_a_strictly_increasing_map_changes_thresholds_alone(words, data):
    correct, confidence = columns(words)
    value = st.floats(allow_nan=False)
    table = np.sort(data.draw(st.lists(value, min_size=4, max_size=4, unique=True)))
    want = risk_coverage_curve(correct, confidence)
    got = risk_coverage_curve(correct, table[confidence.astype(int)])
    assert_array_equal(got[:2], want[:2])
    assert_array_equal(got[2], table[want[2].astype(int)])


@given(words=WORDS, cut=st.integers(0, 40))
def test_rows_give_the_bits_of_flat_arrays(words, cut):
    correct, confidence = columns(words)
    rows = [correct[:cut], correct[cut:]], [confidence[:cut], confidence[cut:]]
    want = risk_coverage_curve(correct, confidence)
    assert_array_equal(risk_coverage_curve(*rows), want)
    area = area_under_risk_coverage(correct, confidence)
    assert area_under_risk_coverage(*rows) == area


@given(words=WORDS)
def test_the_curve_ends_at_the_error_rate_and_holds_the_risk_of_thresholds(words):
    correct, confidence = columns(words)
    coverage, risk, threshold = risk_coverage_curve(correct, confidence)
    assert risk[-1] == np.mean(~correct) and coverage[-1] == 1.0
    assert (risk >= 0).all() and (risk <= 1).all()
    assert (np.diff(threshold) <= 0).all()
    for value in set(confidence.tolist()):
        last = np.flatnonzero(threshold == value)[-1]
        accepted = confidence >= value
        assert coverage[last] == accepted.mean()
        assert_allclose(risk[last], np.mean(~correct[accepted]), rtol=1e-12)


@given(words=WORDS)
def test_the_area_lies_between_those_of_the_best_ranking_and_its_reverse(words):
    correct, confidence = columns(words)
    area = area_under_risk_coverage(correct, confidence)
    assert area >= area_under_risk_coverage(correct, correct * 1.0) - 1e-12
    assert area <= area_under_risk_coverage(correct, correct * -1.0) + 1e-12
    # Equal confidences give the error rate everywhere.
    equal, rate = np.full(len(correct), 7.0), np.mean(~correct)
    _, risk, _ = risk_coverage_curve(correct, equal)
    assert_allclose(risk, rate, rtol=1e-12)
    assert_allclose(area_under_risk_coverage(correct, equal), rate, rtol=1e-12)


@pytest.mark.parametrize("empty", [[], [[]], np.empty(0, dtype=object)])
def test_without_words_the_curve_is_empty(empty):
    assert [len(part) for part in risk_coverage_curve(empty, empty)] == [0, 0, 0]
    assert area_under_risk_coverage(empty, empty) == 0.0
    assert np.isnan(area_under_risk_coverage(empty, empty, zero_division=np.nan))


def test_a_word_of_weight_two_has_two_points():
    rng = np.random.default_rng(0)
    confidence, correct = rng.integers(0, 9, 60) / 8, rng.uniform(size=60) < 0.7
    weight = rng.integers(0, 4, 60)
    want = risk_coverage_curve(
        np.repeat(correct, weight), np.repeat(confidence, weight)
    )
    got = risk_coverage_curve(correct, confidence, sample_weight=weight)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one, other)
