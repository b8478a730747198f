"""The table of names behaves like a dict from names to their order of appearance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skcw.data.names import NameTable
from skcw.data.vocabulary import Vocabulary

# Any code point, lone surrogates and the empty name included.
names = st.text(st.characters(), max_size=12)


def utf8(name):
    return name.encode("utf-8", "surrogatepass")


def numbered(listed):
    """Return what a dict would hold."""
    return {name: i for i, name in enumerate(dict.fromkeys(listed))}


def table_of(listed):
    table = Vocabulary.empty().table(grow=True)
    for name in listed:
        table.find_or_add(utf8(name))
    return table


@given(st.lists(names), st.lists(names))
def test_a_table_is_a_dict_of_names(known, asked):
    table, expected = table_of(known), numbered(known)
    assert len(table) == len(expected)
    for name in known + asked:
        assert table.find_name(utf8(name)) == expected.get(name, -1)


@given(st.lists(names))
def test_adding_returns_the_number_of_the_first_appearance(listed):
    table, expected = Vocabulary.empty().table(grow=True), numbered(listed)
    assert [table.find_or_add(utf8(n)) for n in listed] == [expected[n] for n in listed]


@given(st.lists(st.binary(max_size=40)))
def test_names_are_compared_byte_by_byte(listed):
    table = Vocabulary.empty().table(grow=True)
    for name in listed:
        table.find_or_add(name)
    for name, number in numbered(listed).items():
        assert table.find_name(name) == number


@given(st.lists(names), st.lists(names))
def test_a_frozen_table_finds_the_same_and_a_copy_can_grow(first, second):
    vocabulary = Vocabulary(*table_of(first).freeze())
    frozen, copy = vocabulary.table(), vocabulary.table(grow=True)
    for name, number in numbered(first).items():
        assert frozen.find_name(utf8(name)) == number
    for name in second:
        copy.find_or_add(utf8(name))
    for name, number in numbered(first + second).items():
        assert copy.find_name(utf8(name)) == number
    assert len(frozen) == len(vocabulary) == len(numbered(first))


@given(st.lists(names))
def test_a_vocabulary_lists_its_names_in_order(listed):
    vocabulary = Vocabulary.from_names(listed)
    assert vocabulary.names() == list(dict.fromkeys(listed))
    assert [vocabulary[i] for i in range(len(vocabulary))] == vocabulary.names()


@settings(max_examples=5)
@given(st.integers(0, 10**9))
def test_many_names_survive_the_growth_of_the_table(seed):
    # The table starts with 1024 slots and doubles at two thirds: five times here.
    rng = np.random.default_rng(seed)
    listed = [f"w[{d}]={n}" for d, n in rng.integers(-2, 20_000, size=(20_000, 2))]
    table, expected = table_of(listed), numbered(listed)
    assert all(table.find_name(utf8(n)) == i for n, i in expected.items())
    blob, ends, slots = table.freeze()
    assert len(ends) == len(expected) + 1
    assert 3 * len(expected) <= 2 * len(slots)
    assert np.count_nonzero(slots) == len(expected)
    reopened = NameTable(blob, ends, slots, False)
    assert all(reopened.find_name(utf8(n)) == i for n, i in expected.items())


def test_the_same_names_give_the_same_arrays_however_they_were_added():
    listed = [f"name {i % 700}" for i in range(3000)]
    at_once = table_of(listed).freeze()
    in_pieces = Vocabulary(*table_of(listed[:500]).freeze()).table(grow=True)
    for name in listed[500:]:
        in_pieces.find_or_add(utf8(name))
    for one, other in zip(at_once, in_pieces.freeze(), strict=True):
        assert_array_equal(one, other)


def test_a_frozen_table_refuses_new_names():
    table = Vocabulary.from_names(["a", ""]).table()
    assert table.find_or_add(b"a") == 0
    assert table.find_or_add(b"") == 1
    with pytest.raises(ValueError, match="frozen"):
        table.find_or_add(b"b")
    assert len(table) == 2


def test_an_empty_table_finds_nothing():
    table = Vocabulary.empty().table()
    assert len(table) == 0
    assert table.find_name(b"") == -1
    assert table.find_name(b"a") == -1


def test_names_that_differ_only_in_zero_bytes_are_different():
    listed = [b"", b"\0", b"\0\0", b"a", b"a\0", b"12345678", b"12345678\0"]
    table = Vocabulary.empty().table(grow=True)
    assert [table.find_or_add(name) for name in listed] == list(range(len(listed)))


def test_long_names_are_kept_whole():
    listed = ["x" * n for n in range(0, 60_000, 7_777)]
    assert Vocabulary(*table_of(listed).freeze()).names() == listed
