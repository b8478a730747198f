"""TokenColumns: an array of sentences whose tokens have columns."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_validate, train_test_split
from sklearn.utils import _safe_indexing

from skcw.data import TokenColumns
from skcw.data.vocabulary import Vocabulary

ROWS = [
    [("the", "D"), ("cat", "N")],
    [],
    [("cat", "N")],
    [("the", "D"), ("語", "N"), ("", "O")],
    [("\ud800", "D")],
]
texts = st.text(st.characters(), max_size=3)


@pytest.fixture
def columns():
    return TokenColumns.from_sequences(ROWS, names=["word", "pos"])


def test_columns_tell_their_size(columns):
    assert len(columns) == 5
    assert columns.shape == (5,)
    assert (columns.n_tokens, columns.n_columns) == (7, 2)
    assert columns.lengths.tolist() == [2, 0, 1, 3, 1]
    assert repr(columns) == "TokenColumns(5 sentences, 7 tokens, columns: word, pos)"
    nameless = TokenColumns.from_sequences(ROWS)
    assert repr(nameless) == "TokenColumns(5 sentences, 7 tokens, 2 columns)"


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(st.tuples(*[texts] * n)))))
def test_columns_give_back_the_tokens_they_were_made_from(rows):
    columns = TokenColumns.from_sequences(rows)
    assert list(columns) == rows
    assert [columns[i] for i in range(len(columns))] == rows
    assert list(TokenColumns.from_sequences(columns)) == rows
    for c in range(columns.n_columns):
        found = columns.column(c)
        assert found.dtype == object
        assert found.tolist() == [[token[c] for token in row] for row in rows]


def test_plain_strings_make_one_column():
    columns = TokenColumns.from_sequences(row for row in (["a", "b"], [], ("c",)))
    assert columns.column(0).tolist() == [["a", "b"], [], ["c"]]
    assert columns.n_columns == 1
    arrays = TokenColumns.from_sequences(
        [np.array(["a", "b"]), np.array([], dtype=str)]
    )
    assert list(arrays) == [[("a",), ("b",)], []]


def test_no_sentences_are_columns_too():
    assert TokenColumns.from_sequences([]).n_columns == 0
    empty = TokenColumns.from_sequences([[]], names=["word"])
    assert (len(empty), empty.n_columns) == (1, 1)
    assert empty[0] == []
    assert list(empty) == [[]]


def test_a_value_is_kept_once_and_numbered_in_order_of_appearance(columns):
    assert columns.values[0].names() == ["the", "cat", "語", "", "\ud800"]
    assert columns.codes.dtype == np.int32
    assert columns.codes[1].tolist() == [0, 1, 1, 0, 1, 2, 0]


@pytest.mark.parametrize("i", [0, 1, 3, -1, -5, np.int64(3), np.uint8(2)])
def test_an_index_gives_the_sentence(columns, i):
    assert columns[i] == columns[i, ...] == ROWS[i]


@pytest.mark.parametrize(
    "key",
    [
        slice(None),
        slice(1, 4),
        slice(-2, None),
        slice(None, None, -2),
        slice(4, 2),
        slice(-100, 100),
    ],
    ids=str,
)
def test_slices_are_those_of_a_list(columns, key):
    assert list(columns[key]) == list(columns[key, ...]) == ROWS[key]
    assert columns[key].codes.flags.c_contiguous


@pytest.mark.parametrize(
    "key", [[3, 0], [0, 0, 0], [-1, 1], [], np.array([4, 2]), range(3)], ids=str
)
def test_positions_are_taken_in_their_order_and_as_often_as_given(columns, key):
    taken = columns[key]
    assert isinstance(taken, TokenColumns)
    assert list(taken) == list(columns[np.array(key, dtype=int), ...])
    assert list(taken) == [ROWS[i] for i in key]
    assert taken.names == ("word", "pos")


def test_a_mask_keeps_what_it_marks(columns):
    mask = np.array([True, False, True, True, False])
    assert list(columns[mask]) == [ROWS[0], ROWS[2], ROWS[3]]
    assert list(columns[mask.tolist()]) == [ROWS[0], ROWS[2], ROWS[3]]


@pytest.mark.parametrize(
    "key",
    [
        5,
        -6,
        [5],
        [-6],
        [0.5],
        ["a"],
        [[0, 1]],
        [True, False],
        [[True] * 5],
        (0, 1),
        (0, ..., ...),
        None,
        True,
        "ab",
        2.5,
    ],
    ids=str,
)
def test_other_keys_are_refused(columns, key):
    with pytest.raises(IndexError):
        columns[key]


def test_line_numbers_stay_with_their_tokens():
    columns = TokenColumns(
        [0, 2, 3], [[0, 1, 0]], [Vocabulary.from_names("ab")], lines=[1, 2, 4]
    )
    assert columns[[1, 0]].lines.tolist() == [4, 1, 2]
    assert columns.select([0]).lines.tolist() == [1, 2, 4]


def test_columns_are_found_by_number_and_name(columns):
    words = [[word for word, _ in row] for row in ROWS]
    for key in (0, -2, "word", np.int64(0)):
        assert columns.column(key).tolist() == words
    selected = columns.select(["pos", 0])
    assert selected.names == ("pos", "word")
    assert list(selected) == [[(pos, word) for word, pos in row] for row in ROWS]


def test_labels_are_split_from_the_rest(columns):
    X, y = columns.split_label()
    assert X.names == ("word",)
    assert y.tolist() == [[pos for _, pos in row] for row in ROWS]
    X, y = columns.split_label("word")
    assert list(X) == [[(pos,) for _, pos in row] for row in ROWS]
    assert y.shape == (5,)


def test_labels_are_a_row_of_lists_even_if_lengths_agree():
    _, y = TokenColumns.from_sequences([[("a", "X")], [("b", "Y")]]).split_label()
    assert y.shape == (2,)
    assert y[0] == ["X"]


@pytest.mark.parametrize("column", [2, -3])
def test_a_column_that_is_not_there_is_refused(columns, column):
    with pytest.raises(IndexError, match=f"no column {column}; there are 2"):
        columns.column(column)


def test_a_name_that_is_not_there_is_refused(columns):
    with pytest.raises(KeyError, match=r"no column 'lemma'.*'word', 'pos'"):
        columns.column("lemma")
    unnamed = TokenColumns.from_sequences(ROWS)
    assert (
        unnamed.select(["pos"]).names == ("pos",) and unnamed.select([1]).names is None
    )
    assert unnamed.column("word").tolist() == unnamed.column(0).tolist()
    with pytest.raises(KeyError, match=r"columns are .*word"):
        unnamed.split_label("x2")
    with pytest.raises(TypeError, match="list"):
        columns.select("word")


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (
            [[("a", "b")], [("c", "d"), ("e",)]],
            ValueError,
            "sequence 1, token 1 has 1 ",
        ),
        ([["a"], [], [("b", "c")]], ValueError, "sequence 2, token 0 has 2 "),
        ([["a", 3]], TypeError, "sequence 0, token 1 is 3"),
        ([[("a", "b"), ("c", None)]], TypeError, "token 1 has None in column 1"),
        ([["a"], "bc"], TypeError, "sequence 1 is 'bc'"),
        ([["a"], 5], TypeError, "sequence 1 is 5"),
        ([[{"word": "a"}]], TypeError, "sequence 0, token 0 is {'word'"),
    ],
)
def test_tokens_without_the_same_columns_are_refused(rows, error, message):
    with pytest.raises(error, match=message):
        TokenColumns.from_sequences(rows)


def made_by_hand(**changes):
    arrays = {
        "offsets": [0, 2, 2],
        "codes": [[0, 1], [0, 0]],
        "values": [Vocabulary.from_names("ab"), Vocabulary.from_names("X")],
    }
    return TokenColumns(**(arrays | changes))


def test_columns_made_by_hand_are_columns():
    assert list(made_by_hand()) == [[("a", "X"), ("b", "X")], []]


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": []},
        {"offsets": [1, 2]},
        {"offsets": [0, 3]},
        {"offsets": [0, 2, 1, 2]},
        {"codes": [0, 1]},
        {"codes": [[0, 1]]},
        {"codes": [[0, 2], [0, 0]]},
        {"codes": [[0, -1], [0, 0]]},
        {"values": [Vocabulary.from_names("ab")]},
        {"names": ["word"]},
        {"names": ["word", "word"]},
        {"lines": [1]},
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_together_are_refused(changes):
    with pytest.raises(ValueError, match=r"must|ends|names"):
        made_by_hand(**changes)


@pytest.mark.parametrize("name", ["offsets", "codes", "lines"])
def test_columns_are_frozen_and_travel(name):
    columns = made_by_hand(names=["word", "pos"], lines=[1, 2])
    copy = pickle.loads(pickle.dumps(columns[:1]))
    assert list(copy) == [[("a", "X"), ("b", "X")]]
    assert copy.names == ("word", "pos")
    for each in (columns, columns[1:], columns[[0]], columns.select([0]), copy):
        with pytest.raises(ValueError, match="read-only"):
            getattr(each, name)[:] = 0


def test_scikit_learn_indexes_columns_without_unpacking_them(columns):
    for train, test in KFold(3).split(columns):
        part = _safe_indexing(columns, train)
        assert isinstance(part, TokenColumns)
        assert list(part) == [ROWS[i] for i in train]
        assert list(_safe_indexing(columns, test)) == [ROWS[i] for i in test]
    train, test = train_test_split(columns, test_size=2, random_state=0)
    assert isinstance(train, TokenColumns)
    assert (len(train), len(test)) == (3, 2)


class WordLookup(BaseEstimator):
    """Gives a word the label it last had."""

    def fit(self, X, y):
        assert isinstance(X, TokenColumns)
        pairs = zip(X.column(0), y, strict=True)
        self.labels_ = {
            word: label for row in pairs for word, label in zip(*row, strict=True)
        }
        return self

    def score(self, X, y):
        guesses = [[self.labels_.get(word) for word in row] for row in X.column(0)]
        return float(np.mean([a == b for a, b in zip(guesses, y, strict=True)]))


def test_columns_pass_through_cross_validation():
    rows = [[("a", "X"), ("b", "Y")], [("b", "Y")]] * 6
    X, y = TokenColumns.from_sequences(rows).split_label()
    found = cross_validate(WordLookup(), X, y, cv=3, error_score="raise")
    assert found["test_score"].tolist() == [1.0, 1.0, 1.0]
