"""Confidences and outcomes at the door: what is taken, and what is refused."""

from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.metrics import (
    area_under_risk_coverage,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    risk_coverage_curve,
    token_accuracy_score,
    token_correct,
)

LABEL = st.sampled_from(["O", "B-X", "I-X"])
CORPUS = st.lists(st.lists(st.tuples(LABEL, LABEL), max_size=5), max_size=5)


def joined(rows):
    return list(chain.from_iterable(rows))


def found_first(correct, confidence):
    return errors_at_k(correct, confidence, 1)


def left_after_one(correct, confidence):
    return residual_errors_at_k(correct, confidence, 1)


EVERYTHING = (
    area_under_risk_coverage,
    error_average_precision,
    found_first,
    left_after_one,
    risk_coverage_curve,
)


@given(corpus=CORPUS)
def test_matches_are_the_equal_labels_flat_and_in_rows(corpus):
    y_true, y_pred = ([[t[side] for t in row] for row in corpus] for side in (0, 1))
    rows = token_correct(y_true, y_pred)
    want = [[true == pred for true, pred in row] for row in corpus]
    assert [row.tolist() for row in rows] == want
    assert rows.dtype == object and rows.shape == (len(corpus),)
    flat_true, flat_pred, flat_want = map(joined, (y_true, y_pred, want))
    if flat_true:
        flat = token_correct(np.array(flat_true), flat_pred)
        assert flat.dtype == bool and flat.tolist() == flat_want
        assert flat.mean() == token_accuracy_score(y_true, y_pred)


def test_matches_of_equal_lengths_are_rows_too():
    y = np.array([["N", "V"], ["N", "N"]])
    rows = token_correct(y, y.tolist())
    assert rows.shape == (2,) and rows[1].tolist() == [True, True]


def test_labels_that_do_not_match_up_are_refused():
    with pytest.raises(ValueError, match="y_true has 1 labels but y_pred has 2"):
        token_correct(["N"], ["N", "V"])
    with pytest.raises(ValueError, match="sequence 0 has 1 labels in y_true but 2 in"):
        token_correct([["N"]], [["N", "V"]])
    with pytest.raises(TypeError, match=r"y_pred\[0\] is \['N'\] of type list"):
        token_correct(["N"], [["N"]])
    with pytest.raises(TypeError, match="y_true is a single string"):
        token_correct("NV", "NV")


@pytest.mark.parametrize("function", EVERYTHING)
def test_every_kind_of_number_is_taken(function):
    outcomes = (
        [True, False, True],
        [1, 0, 1],
        [1.0, 0.0, 1.0],
        (True, False, True),
        np.array([1, 0, 1], dtype=np.uint8),
        np.array([True, False, True], dtype=object),
    )
    confidences = (
        [0, 1, 1],
        (0.0, 1.0, 1.0),
        np.array([0, 1, 1], dtype=np.float32),
        np.array([False, True, True]),
        np.array([0.0, 1, 1.0], dtype=object),
    )
    want = function(np.array([True, False, True]), np.array([0.0, 1.0, 1.0]))
    for correct, confidence in product(outcomes, confidences):
        np.testing.assert_array_equal(function(correct, confidence), want)


@pytest.mark.parametrize("function", EVERYTHING)
def test_equal_lengths_may_come_as_a_table(function):
    correct, confidence = [[0, 1], [1, 0]], np.array([[0.1, 0.9], [0.4, 0.4]])
    want = function([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.4])
    for table in (confidence, confidence.astype(object), confidence.tolist()):
        np.testing.assert_array_equal(function(correct, table), want)
        np.testing.assert_array_equal(function(np.array(correct), table), want)


@pytest.mark.parametrize("function", EVERYTHING)
def test_an_empty_row_changes_nothing(function):
    want = function([False, True], [0.1, 0.9])
    got = function([[], [False], [], [True]], [[], [0.1], [], [0.9]])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", EVERYTHING)
def test_nothing_that_was_passed_is_changed(function):
    correct, confidence = np.array([True, False, True]), np.array([0.9, 0.1, 0.5])
    confidence.flags.writeable = correct.flags.writeable = False
    function(correct, confidence)


@pytest.mark.parametrize("function", EVERYTHING)
def test_lengths_that_differ_are_refused_with_where(function):
    with pytest.raises(ValueError, match="confidence has 1 tokens but correct has 2"):
        function([True, False], [0.5])
    with pytest.raises(ValueError, match="confidence has 2 sequences but correct has"):
        function([[True, False]], [[0.5], [0.5]])
    with pytest.raises(ValueError, match="sequence 1 has 2 tokens in confidence but 1"):
        function([[True], [True]], [[0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="correct is flat but confidence has a row"):
        function([True, True], [[0.5], [0.5]])
    with pytest.raises(ValueError, match="confidence is flat but correct has a row"):
        function([[True], [True]], [0.5, 0.5])


@pytest.mark.parametrize("function", EVERYTHING)
def test_a_missing_confidence_is_refused_with_where(function):
    with pytest.raises(ValueError, match=r"confidence\[1\] is NaN; .* leave it out"):
        function([True, True], [0.5, np.nan])
    with pytest.raises(ValueError, match=r"confidence\[2\]\[1\] is NaN"):
        function([[True], [], [True, True]], [[0.5], [], [0.1, np.nan]])
    with pytest.raises(ValueError, match=r"confidence\[0\] is NaN"):
        function([True, True], [None, 0.5])


@pytest.mark.parametrize("function", EVERYTHING)
def test_what_is_no_outcome_is_refused_with_advice(function):
    for strange in (0.5, 2, -1, np.nan, None):
        with pytest.raises(ValueError, match=r"correct\[1\] is .*token_correct"):
            function([1, strange], [0.5, 0.5])
    with pytest.raises(
        TypeError, match=r"correct holds values such as .*token_correct"
    ):
        function(["N", "V"], [0.5, 0.5])
    with pytest.raises(TypeError, match=r"correct holds .*token_correct"):
        function([object(), True], [0.5, 0.5])


@pytest.mark.parametrize("function", EVERYTHING)
def test_what_is_no_confidence_is_refused(function):
    with pytest.raises(TypeError, match=r"confidence holds .*must be numbers"):
        function([True, True], ["a", "b"])
    with pytest.raises(TypeError, match=r"confidence holds .*must be numbers"):
        function([True, True], [object(), 0.5])
    with pytest.raises(TypeError, match="confidence is a single string"):
        function([True, True], "ab")
    with pytest.raises(TypeError, match="confidence is a single value"):
        function([True], np.float64(0.5))
    with pytest.raises(TypeError, match="confidence is of type float"):
        function([True], 0.5)
    with pytest.raises(ValueError, match="confidence must be a sequence with one"):
        function([True, True], [0.5, [0.5]])
    with pytest.raises(ValueError, match=r"confidence\[0\] must be a sequence with"):
        function([[True]], [[[0.5]]])
    with pytest.raises(ValueError, match=r"confidence\[0\] must be a sequence with"):
        function([[True, True]], [[[0.5], [0.1, 0.2]]])
