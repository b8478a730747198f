"""Vocabulary: names and numbers."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data.vocabulary import Vocabulary

# Also what UTF-8 cannot say properly: lone surrogates, and the null character.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)


@given(st.lists(ANY_TEXT))
def test_a_vocabulary_is_a_dict_in_order_of_first_appearance(names):
    vocabulary = Vocabulary.from_names(names)
    number_of = {name: i for i, name in enumerate(dict.fromkeys(names))}
    assert len(vocabulary) == len(number_of)
    assert vocabulary.names() == list(number_of)
    for name, number in number_of.items():
        assert vocabulary.find(name) == number
        assert vocabulary[number] == name


def test_thousands_of_names_are_found_again():
    rng = random.Random(0)
    names = [f"{rng.random()}|{i}" for i in range(20_000)]
    vocabulary = Vocabulary.from_names(names)
    assert vocabulary.names() == names
    assert [vocabulary.find(name) for name in names[::97]] == list(range(20_000))[::97]
    assert all(vocabulary.find(name + "!") == -1 for name in names[::97])


def test_long_names_and_the_empty_one_are_names():
    names = ["", "x" * 100_000, "x" * 99_999, "é" * 9]
    assert Vocabulary.from_names(names).names() == names


@pytest.mark.parametrize("number", [-1, 2, 100])
def test_a_number_without_a_name_is_refused(number):
    with pytest.raises(IndexError, match="no name has the number"):
        Vocabulary.from_names(["a", "b"])[number]


def test_an_empty_vocabulary_knows_nothing():
    empty = Vocabulary.empty()
    assert len(empty) == 0
    assert empty.find("") == -1
    assert empty.names() == []


def test_selected_names_keep_their_order():
    vocabulary = Vocabulary.from_names("abcd").select(np.array([1, 0, 1, 1], bool))
    assert vocabulary.names() == ["a", "c", "d"]


def test_a_vocabulary_travels_by_pickle():
    vocabulary = Vocabulary.from_names(["a", "é", "\ud800"])
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy.names() == vocabulary.names()
    assert copy.find("é") == 1


def test_vocabularies_agree_where_one_continues_the_other():
    short, long = Vocabulary.from_names("ab"), Vocabulary.from_names("abc")
    other = Vocabulary.from_names("acb")
    assert short.agrees_with(long)
    assert long.agrees_with(short)
    assert not long.agrees_with(other)
    # Names that only look the same when joined.
    joined = Vocabulary.from_names(["ab", "c"])
    assert not joined.agrees_with(Vocabulary.from_names(["a", "bc"]))


def test_a_frozen_table_takes_no_name():
    with pytest.raises(ValueError, match="frozen"):
        Vocabulary.from_names("ab").table().find_or_add(b"c")


def test_growing_leaves_the_original_alone():
    vocabulary = Vocabulary.from_names("ab")
    table = vocabulary.table(grow=True)
    assert table.find_or_add(b"c") == 2
    assert vocabulary.find("c") == -1
    assert len(vocabulary) == 2


def test_many_names_are_found_at_once():
    vocabulary = Vocabulary.from_names(["a", "b", "c"])
    assert vocabulary.find_all(["c", "x", "a"]).tolist() == [2, -1, 0]
    assert vocabulary.find_all([]).tolist() == []


def test_a_vocabulary_comes_back_from_the_arrays_of_a_model():
    vocabulary = Vocabulary.from_names(["a", "bé", ""])
    again = Vocabulary.from_arrays({**vocabulary.arrays(), "other": None})
    assert again.names() == vocabulary.names()
    assert again.find("bé") == 1
    assert Vocabulary.from_arrays({"other": None}) is None
