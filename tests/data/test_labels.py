"""Labels as numbers."""

from enum import Enum

import numpy as np
import pytest

from skcw.data.labels import encode_labels, joined_labels


def test_labels_are_numbered_in_order_of_first_appearance():
    codes, lengths, names = encode_labels([["B", "A"], [], ("A", "C")])
    assert codes.tolist() == [0, 1, 1, 2]
    assert lengths.tolist() == [2, 0, 2]
    assert names == ["B", "A", "C"]


def test_known_labels_keep_their_numbers():
    codes, _, names = encode_labels([["B", "A"]], known=["A"])
    assert codes.tolist() == [1, 0]
    assert names == ["A", "B"]


def test_unknown_labels_have_no_number_where_none_may_be_added():
    codes, _, names = encode_labels([["B", "A"]], known=["A"], grow=False)
    assert codes.tolist() == [-1, 0]
    assert names == ["A"]


@pytest.mark.parametrize(
    "labels", [["A", "B"], ("A", "B"), np.array(["A", "B"]), iter("AB")]
)
def test_any_collection_of_strings_is_a_label_sequence(labels):
    codes, _, names = encode_labels([labels])
    assert codes.tolist() == [0, 1]
    assert [type(name) for name in names] == [str, str]


class Tag(str, Enum):  # noqa: UP042
    A = "B-x"
    B = "O"


def test_members_of_a_string_enumeration_are_the_strings_they_hold():
    codes, _, names = encode_labels([[Tag.A, Tag.B, "O"], [Tag.A]])
    assert codes.tolist() == [0, 1, 1, 0]
    assert names == ["B-x", "O"]
    assert [type(name) for name in names] == [str, str]
    assert joined_labels([], [Tag.B]) == ["O"]


@pytest.mark.parametrize("labels", ["AB", None, 3, {"A": 1}, {"A", "B"}])
def test_what_has_no_order_or_is_no_collection_is_refused(labels):
    with pytest.raises(TypeError, match="labels of sequence 1 are"):
        encode_labels([["A"], labels])


@pytest.mark.parametrize("y", ["AB", None, 3, {"A": 1}, {"A"}])
def test_what_is_no_collection_of_label_sequences_is_refused(y):
    with pytest.raises(TypeError, match="y is a"):
        encode_labels(y)


@pytest.mark.parametrize("label", [None, 1, 1.5, b"A", True, ("A",), ["A"], np.nan])
def test_a_label_that_is_no_string_is_named(label):
    with pytest.raises(TypeError, match="sequence 1, token 2 is"):
        encode_labels([["A"], ["A", "A", label]])


def test_labels_that_arrays_would_cut_are_refused():
    with pytest.raises(ValueError, match=r"sequence 0, token 1 .*null character"):
        encode_labels([["A", "A\0"]])


def test_labels_given_twice_are_known_once():
    assert joined_labels(["A"], ["B", "A", "B"]) == ["A", "B"]
    assert joined_labels([], None) == []
    assert joined_labels([], np.array(["B", "A"])) == ["B", "A"]


@pytest.mark.parametrize("classes", ["AB", b"AB", 3, [1], [None], ["A\0"]])
def test_classes_that_are_no_labels_are_refused(classes):
    with pytest.raises((TypeError, ValueError), match="classes"):
        joined_labels([], classes)
