"""Scores over words and whole sequences."""

import enum
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import (
    accuracy_score,
    classification_report,
    f1_score,
)

from skcw.metrics import flat as flat_scores
from skcw.metrics import (
    sequence_accuracy_score,
    span_f1_score,
    token_accuracy_score,
    token_classification_report,
    token_correct,
    token_f1_score,
)
from skcw.metrics.label_scores import AVERAGES
from tests.object_rows import object_rows

Y_TRUE = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "O"], []]
Y_PRED = [["B-PER", "I-PER", "I-PER", "O"], ["O", "O"], []]

ACCURACIES = (token_accuracy_score, sequence_accuracy_score)
EVERYTHING = (*ACCURACIES, token_f1_score, token_classification_report)

# One example makes many scikit-learn calls; a busy machine must not fail it.
no_deadline = settings(deadline=None)

LABEL = st.sampled_from(["O", "B-X", "I-X", "N"])
TOKEN = st.one_of(LABEL.map(lambda label: (label, label)), st.tuples(LABEL, LABEL))
CORPUS = st.lists(st.lists(TOKEN, max_size=6), min_size=1, max_size=5)
WEIGHT = st.floats(0.01, 100)


def sides(corpus):
    return tuple([[token[side] for token in row] for row in corpus] for side in (0, 1))


def flat(rows):
    return list(chain.from_iterable(rows))


def test_accuracies_are_those_computed_by_hand():
    assert token_accuracy_score(Y_TRUE, Y_PRED) == 4 / 6
    assert sequence_accuracy_score(Y_TRUE, Y_PRED) == 2 / 3
    weight = [1.0, 2.0, 5.0]
    assert token_accuracy_score(Y_TRUE, Y_PRED, sample_weight=weight) == 6 / 8
    assert sequence_accuracy_score(Y_TRUE, Y_PRED, sample_weight=weight) == 7 / 8


def test_sequence_accuracy_of_equal_lengths_counts_sequences_not_words():
    # Counting equal words over equal-length sequences would give 3 / 2.
    y_true = [["a", "b"], ["a", "a"]]
    y_pred = [["a", "b"], ["a", "b"]]
    assert sequence_accuracy_score(y_true, y_pred) == 0.5
    assert sequence_accuracy_score(np.array(y_true), np.array(y_pred)) == 0.5
    assert sequence_accuracy_score(y_true, y_true) == 1.0


@no_deadline
@given(corpus=CORPUS, data=st.data())
def test_accuracies_stay_between_zero_and_one(corpus, data):
    y_true, y_pred = sides(corpus)
    size = len(corpus)
    weight = data.draw(st.none() | st.lists(WEIGHT, min_size=size, max_size=size))
    for accuracy in ACCURACIES:
        assert 0.0 <= accuracy(y_true, y_pred, sample_weight=weight) <= 1.0
    assert sequence_accuracy_score(y_true, y_true, sample_weight=weight) == 1.0


@no_deadline
@given(corpus=CORPUS.filter(any), average=st.sampled_from(AVERAGES), data=st.data())
def test_word_scores_equal_scikit_learn_on_flattened_labels(corpus, average, data):
    y_true, y_pred = sides(corpus)
    size = len(corpus)
    weight = data.draw(st.lists(WEIGHT, min_size=size, max_size=size))
    weights = flat([w] * len(row) for w, row in zip(weight, y_true, strict=True))
    got = token_accuracy_score(y_true, y_pred, sample_weight=weight)
    want = accuracy_score(flat(y_true), flat(y_pred), sample_weight=weights)
    assert_allclose(got, want, rtol=1e-12)
    labels = ["N", "B-X"]
    got = token_f1_score(
        y_true, y_pred, labels=labels, average=average, sample_weight=weight
    )
    want = f1_score(
        flat(y_true),
        flat(y_pred),
        labels=labels,
        average=average,
        sample_weight=weights,
        zero_division=0.0,
    )
    assert_allclose(got, want, rtol=1e-12)


def test_all_labels_but_o_are_scored_by_default():
    labels = ["B-LOC", "B-PER", "I-PER"]
    default = token_classification_report(Y_TRUE, Y_PRED)
    assert default == token_classification_report(Y_TRUE, Y_PRED, labels=labels)
    want = classification_report(
        flat(Y_TRUE), flat(Y_PRED), labels=labels, zero_division=0.0
    )
    assert default == want
    assert token_f1_score(Y_TRUE, Y_PRED) == 2 / 3


def test_exclude_may_name_other_labels_or_none():
    report = token_classification_report(Y_TRUE, Y_PRED, exclude=(), output_dict=True)
    assert {"O", "B-LOC", "micro avg"} <= set(report) and "accuracy" not in report
    assert token_f1_score(Y_TRUE, Y_PRED, exclude=()) == token_accuracy_score(
        Y_TRUE, Y_PRED
    )
    report = token_classification_report(
        Y_TRUE, Y_PRED, exclude=["O", "B-LOC"], output_dict=True
    )
    assert list(report)[:2] == ["B-PER", "I-PER"] and "B-LOC" not in report


def test_labels_named_are_scored_even_if_excluded_by_default():
    report = token_classification_report(Y_TRUE, Y_PRED, labels=["O"], output_dict=True)
    assert report["O"]["support"] == 3


def test_rows_keep_the_prefixes_of_a_type_together():
    y = [["I-B", "B-A", "B-B", "I-A", "O", "A"]]
    rows = list(token_classification_report(y, y, output_dict=True))
    assert rows[:5] == ["A", "B-A", "I-A", "B-B", "I-B"]


@pytest.mark.parametrize("empty", [[], [[]], [[], []]])
def test_without_words_scores_are_zero_division(empty):
    weight = [1.0] * len(empty)
    for score in (token_accuracy_score, token_f1_score):
        assert score(empty, empty) == 0.0
        assert score(empty, empty, zero_division=1.0, sample_weight=weight) == 1.0
    assert np.isnan(token_accuracy_score(empty, empty, zero_division=np.nan))
    assert sequence_accuracy_score(empty, empty) == float(len(empty) > 0)
    assert "(none)" in token_classification_report(empty, empty)


def test_words_of_weight_zero_do_not_count():
    y_true, y_pred = [["N"], ["V"], []], [["N"], ["N"], []]
    assert token_accuracy_score(y_true, y_pred, sample_weight=[1, 0, 0]) == 1.0
    assert token_accuracy_score(y_true, y_pred, sample_weight=[0, 0, 1]) == 0.0


@pytest.mark.parametrize("function", EVERYTHING)
def test_bad_input_is_refused_with_what_and_where(function):
    with pytest.raises(ValueError, match="y_true has 1 sequences but y_pred has 2"):
        function([["O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="sequence 1 has 2 labels in y_true but 1 in"):
        function([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(TypeError, match=r"y_pred\[1\]\[0\] is None of type NoneType"):
        function([["O"], ["O"]], [["O"], [None]])
    with pytest.raises(TypeError, match=r"y_true\[0\] is a single string"):
        function(["N", "V"], ["N", "V"])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1.0"):
        function([["O"], ["O"]], [["O"], ["O"]], sample_weight=[-1, 1])


@pytest.mark.parametrize("function", [token_f1_score, token_classification_report])
def test_labels_and_exclude_must_be_collections(function):
    with pytest.raises(TypeError, match="labels is a single string"):
        function(Y_TRUE, Y_PRED, labels="B-PER")
    with pytest.raises(TypeError, match="exclude is a single string"):
        function(Y_TRUE, Y_PRED, exclude="O")
    with pytest.raises(ValueError, match="labels is empty"):
        function(Y_TRUE, Y_PRED, labels=[])


def test_members_of_a_string_enumeration_are_the_strings_they_hold():
    class Label(str, enum.Enum):  # noqa: UP042 (str() differs)
        NAME = "B-PER"
        OTHER = "O"

    labels = [[Label.NAME, Label.OTHER]]
    assert token_f1_score(labels, [["B-PER", "O"]]) == 1.0
    assert span_f1_score([["B-PER", "O"]], labels) == 1.0


@no_deadline
@given(corpus=CORPUS.filter(any))
def test_precision_recall_and_support_equal_scikit_learn(corpus):
    y_true, y_pred = sides(corpus)
    labels = sorted(set(flat(y_true)) | set(flat(y_pred)))
    how = {"labels": labels, "output_dict": True, "zero_division": 0.0}
    got = token_classification_report(y_true, y_pred, **how)
    want = classification_report(flat(y_true), flat(y_pred), **how)
    for label in (*labels, "macro avg", "weighted avg"):
        assert got[label] == pytest.approx(want[label])
    assert got["micro avg"]["support"] == sum(map(len, y_true))


def test_rows_may_be_of_any_kind_and_are_read_once():
    tuples = object_rows(map(tuple, Y_PRED))
    for score in (*EVERYTHING, span_f1_score):
        expected = score(Y_TRUE, Y_PRED)
        assert score(map(iter, Y_TRUE), map(iter, Y_PRED)) == expected
        assert score(object_rows(Y_TRUE), tuples) == expected
    assert flat_scores.sequence_accuracy_score(Y_PRED, tuples) == 1.0


@no_deadline
@given(corpus=CORPUS)
def test_integers_score_as_the_names_they_stand_for(corpus):
    number = {"O": 0, "B-X": 1, "I-X": 2, "N": 3}
    y_true, y_pred = sides(corpus)
    true, pred = ([[number[x] for x in row] for row in y] for y in (y_true, y_pred))
    for score in ACCURACIES:
        assert score(true, pred) == score(y_true, y_pred)
    arrays = [np.array(row, dtype=int) for row in true]
    assert token_f1_score(arrays, pred, exclude=(0,)) == token_f1_score(y_true, y_pred)
    found = token_f1_score(true, pred, labels=[1, 2])
    assert found == token_f1_score(y_true, y_pred, labels=["B-X", "I-X"])
    for one, other in zip(
        token_correct(true, pred), token_correct(y_true, y_pred), strict=True
    ):
        assert one.tolist() == other.tolist()


def test_integers_are_sorted_as_numbers_and_reported_by_name():
    report = token_classification_report([[10, 2, 0]], [[10, 2, 2]], exclude=(0,))
    names = [line.split()[0] for line in report.splitlines()[2:4]]
    assert names == ["2", "10"]
    assert token_correct([1, 2], np.array([1, 3])).tolist() == [True, False]


def test_names_and_numbers_are_not_mixed():
    for score in (*EVERYTHING, token_correct):
        with pytest.raises(TypeError, match="some labels are integers"):
            score([[1, 2]], [["1", "2"]])
        with pytest.raises(TypeError, match="or integers all of them"):
            score([[1, "2"]], [[1, 2]])
        with pytest.raises(TypeError, match="bool"):
            score([[True]], [[True]])
    with pytest.raises(TypeError, match="some labels are integers"):
        token_correct([1, 2], ["1", "2"])
    with pytest.raises(TypeError, match=r"labels must be strings$"):
        span_f1_score([[1, 2]], [[1, 2]])
