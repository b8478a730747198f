"""Tokens become feature numbers as python-crfsuite reads them."""

from itertools import pairwise

import numpy as np
import pycrfsuite
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skcw.data.encoding import TokenEncoder
from skcw.data.vocabulary import Vocabulary

# python-crfsuite cuts names at a zero byte and refuses surrogates; we do neither.
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
)
any_names = st.text(st.characters())
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**6), 10**6),
    st.booleans(),
)
leaves = st.one_of(
    names, numbers, st.lists(names, max_size=3), st.sets(names, max_size=3)
)
nested = st.recursive(
    leaves, lambda inner: st.dictionaries(names, inner, max_size=3), max_leaves=4
)
tokens = st.dictionaries(names, nested, max_size=4)


def encode(sequences, vocabulary=None, grow=True):
    """Return offsets, indptr, indices, values and the vocabulary."""
    table = (vocabulary or Vocabulary.empty()).table(grow=grow)
    encoder = TokenEncoder(table, grow)
    for sequence in sequences:
        encoder.add_sequence(sequence)
    return *encoder.finish(), Vocabulary(*table.freeze())


def decoded(sequences, **options):
    """Return a list of (name, value) per token."""
    _, indptr, indices, values, vocabulary = encode(sequences, **options)
    values = np.ones(len(indices)) if values is None else values
    listed = vocabulary.names()
    pairs = [(listed[i], v) for i, v in zip(indices, values, strict=True)]
    return [pairs[a:b] for a, b in pairwise(indptr)]


@given(st.lists(tokens, max_size=4))
@example([{"a": "b", "a:b": 3.0}])
@example([{"w": {"x": ["p", "q"], "y": {"z": True, "": ""}}}])
def test_dicts_are_read_as_python_crfsuite_reads_them(sequence):
    expected = pycrfsuite.ItemSequence(sequence).items()
    # It keeps the last of several values for one name, as a dict does.
    assert [dict(token) for token in decoded([sequence])] == expected


@given(st.lists(st.lists(names), max_size=4))
def test_lists_are_read_as_python_crfsuite_reads_them(sequence):
    expected = pycrfsuite.ItemSequence(sequence).items()
    assert [dict(token) for token in decoded([sequence])] == expected


@given(st.lists(st.lists(st.lists(any_names), max_size=4), max_size=4))
def test_lists_keep_every_name_in_order_also_repeated_ones(sequences):
    flat = [token for sequence in sequences for token in sequence]
    assert decoded(sequences) == [[(name, 1.0) for name in token] for token in flat]
    offsets, _, _, values, vocabulary = encode(sequences)
    assert_array_equal(np.diff(offsets), [len(sequence) for sequence in sequences])
    assert values is None
    assert vocabulary.names() == list(dict.fromkeys(n for t in flat for n in t))


@given(st.lists(any_names))
def test_a_string_is_a_token_with_one_feature(sequence):
    assert decoded([sequence]) == decoded([[[name] for name in sequence]])


def test_tokens_of_any_kind_mix():
    sequence = [["a", "b"], "a", {"a": 2.0}, ("b",), iter(["c"]), np.array(["b"]), []]
    assert decoded([sequence]) == [
        [("a", 1.0), ("b", 1.0)],
        [("a", 1.0)],
        [("a", 2.0)],
        [("b", 1.0)],
        [("c", 1.0)],
        [("b", 1.0)],
        [],
    ]


def test_values_of_one_are_not_stored():
    assert encode([[{"a": 1, "b": True, "c": 1.0, "d": "x"}]])[3] is None
    assert_array_equal(encode([["p", {"a": 1.0, "b": 0}]])[3], [1.0, 1.0, 0.0])


def test_tuples_and_frozen_sets_are_read_as_lists_and_sets():
    nested = {"a": ("x", "y"), "b": frozenset(["z"])}
    assert decoded([[nested]]) == decoded([[{"a": ["x", "y"], "b": {"z"}}]])


def test_unknown_names_are_left_out_when_the_table_must_not_grow():
    known = Vocabulary.from_names(["a", "n:x"])
    sequence = [["a", "b", "a"], {"n": "x", "m": 2.0}, "b"]
    assert decoded([sequence], vocabulary=known, grow=False) == [
        [("a", 1.0), ("a", 1.0)],
        [("n:x", 1.0)],
        [],
    ]


def test_long_tokens_and_long_sequences_are_kept_whole():
    sequence = [[f"f{i}" for i in range(n)] for n in (3000, 0, 70, 1)] * 3
    assert decoded([sequence]) == [[(name, 1.0) for name in t] for t in sequence]


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        ("abc", r"sequence 1 is 'abc' \(str\), not a list of tokens"),
        ({"a": 1}, r"sequence 1 is .* \(dict\), not a list of tokens"),
        (7, r"sequence 1 is 7 \(int\), not a list of tokens"),
        (["x", 3], r"sequence 1, token 1 is 3 \(int\); a token is"),
        (["x", None], r"sequence 1, token 1 is None \(NoneType\); a token is"),
        (["x", b"x"], r"sequence 1, token 1 is b'x' \(bytes\); a token is"),
        (["x", ["a", 3.5]], r"sequence 1, token 1 has the feature 3.5 \(float\)"),
        (["x", [b"a"]], r"sequence 1, token 1 has the feature b'a' \(bytes\)"),
        (["x", {1: "a"}], r"sequence 1, token 1 has the feature name 1 \(int\)"),
        (["x", {"a": [1]}], r"sequence 1, token 1 has the feature name 1 \(int\)"),
        (["x", {"a": None}], r"sequence 1, token 1: .* 'a' is None \(NoneType\)"),
        (["x", {"n": {"a": 1j}}], r"sequence 1, token 1: .* 'a' is 1j \(complex\)"),
    ],
)
def test_what_is_no_token_is_refused_with_its_place(sequence, message):
    with pytest.raises(TypeError, match=message):
        encode([["fine"], sequence])


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -np.inf, pytest.param(10**400, id="huge")]
)
def test_values_that_are_not_finite_are_refused_with_their_place(value):
    with pytest.raises(ValueError, match=r"sequence 2, token 1: .* 'a' is .*finite"):
        encode([["fine"], [], ["fine", {"b": 1.0, "a": value}]])
