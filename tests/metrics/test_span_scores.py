"""Scores over spans: worked examples, laws, bad input."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import classification_report, f1_score

from skcw.exceptions import OutsideLabelWarning
from skcw.metrics import (
    span_classification_report,
    span_f1_score,
)
from skcw.metrics.label_scores import AVERAGES, span_precision_recall_fscore_support
from tests.object_rows import object_rows

# By hand: true spans PER 0-2, LOC 3-4 | LOC 1-2 | ORG 0-1; predicted spans
# PER 0-2, LOC 3-4 | LOC 1-3 | PER 0-1. Right: PER 0-2, LOC 3-4.
#   LOC: 1 of 2 predicted, 1 of 2 true -> P .5 R .5 F .5
#   ORG: 0 of 0 predicted, 0 of 1 true -> P -  R 0  F 0
#   PER: 1 of 2 predicted, 1 of 1 true -> P .5 R 1  F 2/3
Y_TRUE = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O"], ["B-ORG"], []]
Y_PRED = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "I-LOC"], ["B-PER"], []]

SCORES = (
    span_f1_score,
    partial(span_precision_recall_fscore_support, average="micro"),
)
EVERYTHING = (
    *SCORES,
    span_precision_recall_fscore_support,
    span_classification_report,
)

# One example makes many scikit-learn calls; a busy machine must not fail it.
no_deadline = settings(deadline=None)

LABEL = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])
CORPUS = st.lists(st.lists(st.tuples(LABEL, LABEL), max_size=8), min_size=1, max_size=5)


def sides(corpus):
    return tuple([[token[side] for token in row] for row in corpus] for side in (0, 1))


def test_scores_per_label_are_those_computed_by_hand():
    precision, recall, fscore, support = span_precision_recall_fscore_support(
        Y_TRUE, Y_PRED
    )
    assert_allclose(precision, [0.5, 0, 0.5], rtol=1e-12)
    assert_allclose(recall, [0.5, 0, 1], rtol=1e-12)
    assert_allclose(fscore, [0.5, 0, 2 / 3], rtol=1e-12)
    assert support.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("average", "precision", "recall", "f1"),
    [
        ("micro", 2 / 4, 2 / 4, 1 / 2),
        ("macro", 1 / 3, 1.5 / 3, (0.5 + 2 / 3) / 3),
        ("weighted", (2 * 0.5 + 0.5) / 4, (2 * 0.5 + 1) / 4, (2 * 0.5 + 2 / 3) / 4),
    ],
)
def test_averages_are_those_computed_by_hand(average, precision, recall, f1):
    got = span_precision_recall_fscore_support(Y_TRUE, Y_PRED, average=average)
    assert_allclose(got, (precision, recall, f1, 4), rtol=1e-12)
    single = span_f1_score(Y_TRUE, Y_PRED, average=average)
    assert_allclose(single, f1, rtol=1e-12)
    assert all(type(score) is float for score in (single, *got[:3]))


def test_beta_weighs_recall():
    # P 1, R 1/2: F2 = 5 P R / (4 P + R) = 2.5 / 4.5
    y_true, y_pred = [["B-X", "B-X"]], [["B-X", "O"]]
    got = span_precision_recall_fscore_support(
        y_true, y_pred, average="micro", beta=2.0
    )
    assert_allclose(got[2], 2.5 / 4.5, rtol=1e-12)


def test_labels_choose_and_order_what_is_scored():
    got = span_precision_recall_fscore_support(Y_TRUE, Y_PRED, labels=["PER", "LOC"])
    assert_allclose(got[1], [1, 0.5], rtol=1e-12)
    # PER and LOC together: 2 of 4 predicted, 2 of 3 true
    got = span_precision_recall_fscore_support(
        Y_TRUE, Y_PRED, labels=["PER", "LOC"], average="micro"
    )
    assert_allclose(got, (1 / 2, 2 / 3, 4 / 7, 3), rtol=1e-12)


def test_labels_that_never_occur_score_zero_division():
    kwargs = {"labels": ["MISC"], "average": None}
    assert span_f1_score(Y_TRUE, Y_PRED, **kwargs).tolist() == [0.0]
    assert span_f1_score(Y_TRUE, Y_PRED, zero_division=1, **kwargs).tolist() == [1.0]


def test_a_span_of_the_wrong_type_is_wrong():
    assert span_f1_score([["B-X", "I-X"]], [["B-Y", "I-Y"]]) == 0.0


def test_strict_reading_changes_the_score_and_detects_the_scheme_once():
    y_true = [["B-X", "E-X"], ["B-X", "E-X"]]
    # Alone, the second prediction looks like IOB2 and would be a span there.
    y_pred = [["B-X", "E-X"], ["B-X", "I-X"]]
    assert span_f1_score(y_true, y_pred) == 1.0
    assert_allclose(span_f1_score(y_true, y_pred, strict=True), 2 / 3, rtol=1e-12)


@no_deadline
@given(corpus=CORPUS)
def test_perfect_predictions_score_one_or_zero_division(corpus):
    y_true, _ = sides(corpus)
    spans = any(label != "O" for row in y_true for label in row)
    assert span_f1_score(y_true, y_true) == float(spans)
    assert span_f1_score(y_true, y_true, zero_division=1.0) == 1.0


@no_deadline
@given(corpus=CORPUS, average=st.sampled_from([None, "micro", "macro"]))
def test_swapping_truth_and_prediction_swaps_precision_and_recall(corpus, average):
    y_true, y_pred = sides(corpus)
    one = span_precision_recall_fscore_support(y_true, y_pred, average=average)
    other = span_precision_recall_fscore_support(y_pred, y_true, average=average)
    assert_allclose(one[0], other[1], rtol=1e-12)


@no_deadline
@given(corpus=CORPUS, average=st.sampled_from(AVERAGES), data=st.data())
def test_an_integer_weight_repeats_the_sequence(corpus, average, data):
    size = len(corpus)
    weights = st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any)
    weight = data.draw(weights)
    y_true, y_pred = sides(corpus)
    repeated = sides(np.repeat(object_rows(corpus), weight))
    kwargs = {"average": average, "labels": ["X", "Y"]}
    got = span_precision_recall_fscore_support(
        y_true, y_pred, sample_weight=weight, **kwargs
    )
    want = span_precision_recall_fscore_support(*repeated, **kwargs)
    for score, reference in zip(got, want, strict=True):
        assert_allclose(score, reference, rtol=1e-12)


@pytest.mark.parametrize(
    ("y_true", "y_pred"), [([], []), ([[]], [[]]), ([["O"]], [["O"]])]
)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_without_any_span_every_score_is_zero_division(y_true, y_pred, value):
    for average in ("micro", "macro", "weighted"):
        got = span_precision_recall_fscore_support(
            y_true, y_pred, average=average, zero_division=value
        )
        assert got == (value, value, value, 0)
    per_label = span_precision_recall_fscore_support(y_true, y_pred)
    assert [len(column) for column in per_label] == [0, 0, 0, 0]
    report = span_classification_report(y_true, y_pred, output_dict=True)
    assert list(report) == ["micro avg", "macro avg", "weighted avg"]
    assert "(none)" in span_classification_report(y_true, y_pred)


def test_empty_input_takes_empty_weights():
    f1, every = (score([], [], sample_weight=[]) for score in SCORES)
    assert f1 == 0.0 and every == (0.0, 0.0, 0.0, 0.0)


def test_nan_may_stand_for_undefined_scores():
    assert np.isnan(span_f1_score([["O"]], [["O"]], zero_division=np.nan))


def test_warnings_are_those_of_scikit_learn_and_given_only_when_asked_for():
    span_f1_score([["O"]], [["O"]])  # warnings are errors in this suite
    how = {"labels": ["X", "Y", "Z"], "zero_division": "warn"}
    spans = [["B-X", "B-Y"]], [["B-Z", "B-Y"]]
    with pytest.warns(UndefinedMetricWarning) as expected:
        classification_report(*([x[2:] for x in row] for [row] in spans), **how)
    with pytest.warns(UndefinedMetricWarning) as told:
        span_classification_report(*spans, **how)
    assert [str(w.message) for w in told] == [str(w.message) for w in expected]
    assert {warning.filename for warning in told} == {__file__}
    with pytest.warns(UndefinedMetricWarning) as told:
        span_f1_score([["O"]], [["O"]], zero_division="warn")
    with pytest.warns(UndefinedMetricWarning) as expected:
        f1_score([0], [0], labels=[1], average="micro")
    assert [str(w.message) for w in told] == [str(w.message) for w in expected]
    assert [warning.filename for warning in told] == [__file__]


def test_the_report_lists_labels_then_averages():
    report = span_classification_report(Y_TRUE, Y_PRED, output_dict=True)
    assert list(report) == [
        "LOC",
        "ORG",
        "PER",
        "micro avg",
        "macro avg",
        "weighted avg",
    ]
    assert_allclose(list(report["PER"].values()), [0.5, 1.0, 2 / 3, 1], rtol=1e-12)
    text = span_classification_report(Y_TRUE, Y_PRED, digits=4)
    assert text.split("\n")[4].split() == ["PER", "0.5000", "1.0000", "0.6667", "1"]


def test_the_report_keeps_its_micro_average_when_all_boundaries_are_right():
    report = span_classification_report([["B-X", "B-Y"]], [["B-X", "B-X"]])
    assert "micro avg" in report and "accuracy" not in report


@pytest.mark.parametrize("length", [2, 3])
def test_object_arrays_and_lists_score_alike(length):
    y_true = [["B-X", "I-X"], ["B-Y", "I-Y", "O"][:length]]
    y_pred = [["B-X", "I-X"], ["O", "B-Y", "O"][:length]]
    arrays = object_rows(y_true), object_rows(y_pred)
    assert span_f1_score(*arrays) == span_f1_score(y_true, y_pred) == 0.5


def test_a_two_dimensional_array_of_labels_is_read_row_by_row():
    y = np.array([["B-X", "I-X"], ["O", "B-Y"]])
    assert span_f1_score(y, y.astype(object)) == 1.0
    report = span_classification_report(y, y, output_dict=True)
    assert all(type(name) is str for name in report)


@pytest.mark.parametrize("function", EVERYTHING)
def test_bad_input_is_refused_with_what_and_where(function):
    with pytest.raises(ValueError, match="y_true has 1 sequences but y_pred has 2"):
        function([["O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="sequence 1 has 2 labels in y_true but 1 in"):
        function([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(TypeError, match=r"y_pred\[1\]\[0\] is 1 of type int"):
        function([["O"], ["O"]], [["O"], [1]])
    with pytest.raises(TypeError, match=r"y_true\[0\] is a single string, 'B-X'"):
        function(["B-X", "O"], ["B-X", "O"])
    with pytest.raises(TypeError, match="y_true is a single string"):
        function("O", "O")
    with pytest.raises(TypeError, match=r"y_true\[1\] is of type NoneType"):
        function([["O"], None], [["O"], ["O"]])
    with pytest.raises(TypeError, match="y_true is of type NoneType"):
        function(None, None)


@pytest.mark.parametrize("function", EVERYTHING)
def test_bad_parameters_are_refused(function):
    y = [["O", "B-X"], ["O"]]
    with pytest.raises(ValueError, match="scheme is 'IOE2'"):
        function(y, y, scheme="IOE2")
    with pytest.raises(ValueError, match=r"y_pred\[1\]: label 'E-X' at token 0"):
        function(y, [["O", "O"], ["E-X"]], scheme="IOB2", strict=True)
    with pytest.raises(TypeError, match="labels is a single string"):
        function(y, y, labels="X")
    with pytest.raises(ValueError, match="labels is empty"):
        function(y, y, labels=[])
    with pytest.raises(ValueError, match="zero_division"):
        function(y, y, zero_division="nothing")


@pytest.mark.parametrize("average", ["binary", "samples", 1])
def test_an_unknown_average_is_refused(average):
    for score in SCORES:
        with pytest.raises(ValueError, match="average is"):
            score(Y_TRUE, Y_PRED, average=average)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"shape \(1,\).* each of the 2"),
        ([[1.0], [1.0]], r"shape \(2, 1\)"),
        ([1.0, -1.0], r"sample_weight\[1\] is -1.0"),
        ([np.nan, 1.0], r"sample_weight\[0\] is nan"),
        ([np.inf, 1.0], r"sample_weight\[0\] is inf"),
        ([0.0, 0.0], "zero for all 2 sequences"),
    ],
)
@pytest.mark.parametrize("function", EVERYTHING)
def test_bad_weights_are_refused(function, weight, message):
    with pytest.raises(ValueError, match=message):
        function([["B-X"], ["O"]], [["B-X"], ["O"]], sample_weight=weight)


@pytest.mark.parametrize("score", [span_f1_score, span_classification_report])
def test_an_odd_label_for_words_outside_is_told_where_the_score_is_asked(score):
    y = [["B-PER", "I-PER", "NONE"]]
    with pytest.warns(OutsideLabelWarning, match=r"'NONE' .* outside='NONE'") as told:
        assert score(y, y)
    assert [warning.filename for warning in told] == [__file__]


def test_beta_may_be_any_real_number():
    y = [["B-PER", "O"]], [["B-PER", "B-PER"]]
    half, same = (
        span_precision_recall_fscore_support(*y, beta=beta, average="micro")
        for beta in (Fraction(1, 2), 0.5)
    )
    assert half == same
