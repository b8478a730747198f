"""Legal labelings: the matrix of forbidden steps, and labels that break it."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skcw.data.schemes import first_violation, transition_constraints

BIO = ["O", "B-x", "I-x", "B-y", "I-y"]
IOBES = ["O", *(f"{p}-{kind}" for kind in "xy" for p in "BIES")]
BILOU = ["O", *(f"{p}-{kind}" for kind in "xy" for p in "BILU")]


def allows(forbidden, labels, path):
    """Tell whether a path of label names is legal."""
    codes = [labels.index(label) for label in path]
    steps = [forbidden[a, b] for a, b in pairwise(codes)]
    return np.isfinite(
        [forbidden[-2, codes[0]], *steps, forbidden[-1, codes[-1]]]
    ).all()


def is_bio(path):
    """Tell whether every I-x follows B-x or I-x."""
    return all(
        after[0] != "I" or before in (f"B{after[1:]}", f"I{after[1:]}")
        for before, after in pairwise(["O", *path])
    )


def is_iobes(path):
    """Tell whether a path is made of O, S-x and B-x I-x* E-x."""
    inside = None
    for label in path:
        prefix, kind = label[0], label[2:]
        if inside is None:
            if prefix in "IE":
                return False
            inside = kind if prefix == "B" else None
        else:
            if prefix not in "IE" or kind != inside:
                return False
            inside = None if prefix == "E" else inside
    return inside is None


def is_bilou(path):
    """Tell whether a path is made of O, U-x and B-x I-x* L-x."""
    return is_iobes([label.replace("L-", "E-").replace("U-", "S-") for label in path])


@pytest.mark.parametrize(
    ("constraints", "labels", "legal"),
    [
        ("BIO", BIO, is_bio),
        ("IOB2", BIO, is_bio),
        ("IOBES", IOBES, is_iobes),
        ("BIOES", IOBES, is_iobes),
        ("BILOU", BILOU, is_bilou),
    ],
)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_scheme_allows_exactly_its_labelings(constraints, labels, legal, length):
    forbidden = transition_constraints(constraints, labels)
    for path in product(labels, repeat=length):
        assert allows(forbidden, labels, path) == legal(path), path


@pytest.mark.parametrize("constraints", ["BIO", "IOBES"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_matrix_holds_zero_and_minus_infinity(constraints, dtype):
    forbidden = transition_constraints(constraints, IOBES, dtype)
    assert forbidden.dtype == dtype
    assert forbidden.shape == (len(IOBES) + 2, len(IOBES))
    assert set(np.unique(forbidden)) == {-np.inf, 0.0}


def test_labels_without_prefix_are_outside():
    labels = ["O", "Other", "B", "I", "B-", "I-x"]
    forbidden = transition_constraints("BIO", labels)
    assert allows(forbidden, labels, ["Other", "B", "I", "I", "O"])
    assert not allows(forbidden, labels, ["Other", "I"])
    assert not allows(forbidden, labels, ["B", "I-x"])


def test_types_with_a_dash_are_compared_whole():
    labels = ["B-a-b", "I-a-b", "I-a"]
    forbidden = transition_constraints("BIO", labels)
    assert allows(forbidden, labels, ["B-a-b", "I-a-b"])
    assert not allows(forbidden, labels, ["B-a-b", "I-a"])


def test_an_unknown_scheme_is_refused_with_those_known():
    with pytest.raises(ValueError, match=r"'IOB1'.*'BIO', 'IOBES', 'BILOU', 'IOB2'"):
        transition_constraints("IOB1", BIO)


def test_no_constraints_are_no_matrix():
    assert transition_constraints(None, BIO) is None
    assert first_violation(None, np.array([0]), np.array([0, 1])) == (0, -1)


def test_a_function_is_asked_for_every_pair_and_both_borders():
    asked = []

    def legal(before, after):
        asked.append((before, after))
        return before != after

    forbidden = transition_constraints(legal, ["a", "b"])
    assert set(asked) == set(product([None, "a", "b"], repeat=2)) - {(None, None)}
    assert_array_equal(
        forbidden, [[-np.inf, 0.0], [0.0, -np.inf], [0.0, 0.0], [0.0, 0.0]]
    )


def test_a_matrix_is_read_by_its_own_names():
    matrix = [[1, 0, 1], [1, 1, 0], [0, 1, 1]]
    forbidden = transition_constraints((["a", "b", "unused"], matrix), ["b", "a"])
    assert_array_equal(forbidden, [[0.0, 0.0], [-np.inf, 0.0], [0.0, 0.0], [0.0, 0.0]])


def test_what_is_no_pair_of_names_and_matrix_is_refused():
    with pytest.raises(ValueError, match="a pair of label names and a matrix"):
        transition_constraints((["a"], [[1]], "x"), ["a"])


def test_a_matrix_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"name 2 labels .* shape \(1, 2\)"):
        transition_constraints((["a", "b"], [[1, 0]]), ["a", "b"])


def test_a_matrix_that_lacks_a_label_is_refused():
    with pytest.raises(ValueError, match=r"do not name the labels \['c'\]"):
        transition_constraints((["a"], [[1]]), ["a", "c"])


@given(st.lists(st.lists(st.sampled_from(range(9)), max_size=4), max_size=6))
def test_violations_are_counted_by_sequence(sequences):
    forbidden = transition_constraints("IOBES", IOBES)
    codes = np.array([c for s in sequences for c in s], dtype=np.int32)
    offsets = np.cumsum([0] + [len(s) for s in sequences])
    broken = [
        i for i, s in enumerate(sequences) if s and not is_iobes([IOBES[c] for c in s])
    ]
    expected = (len(broken), broken[0] if broken else -1)
    assert first_violation(forbidden, codes, offsets) == expected
