"""The compiled extractor against its twin in strings."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skcw.data import SequenceEncoder, TokenColumns
from skcw.data.vocabulary import Vocabulary
from skcw.features import WindowFeatures
from skcw.features.window import PairTable
from tests.reference.window import window_strings

LEXICONS = {"names": ["Ann", "Ärger", "ǅ"], "none": []}
ATOMS = [
    "word", "pos", "lower", "lower(pos)", "shape", "short_shape", "prefix(1)",
    "prefix(3)", "suffix(2)", "suffix(pos, 1)", "ngrams(2)", "ngrams(1)", "has_digit",
    "all_digits", "has_hyphen", "first_capital", "has_capital", "all_capitals",
    "in(names)", "in(pos, none)", 'matches("^[a-z]+$")', "first", "last", "bias",
]  # fmt: skip

# Letters that grow when lowered, digits and capitals of other scripts, title case,
# characters of one to four bytes, a lone surrogate.
LETTERS = "aAbz09-|&=_B+ßİΣσçÄǅⅧ٣中😀\ud800 \u0301"
texts = st.text(LETTERS, max_size=6)
sentences = st.lists(st.lists(st.tuples(texts, texts), max_size=6), max_size=5)
offsets = st.integers(-3, 3)
atoms = st.builds("{}[{}]".format, st.sampled_from(ATOMS), offsets)
conjunctions = st.lists(atoms, min_size=1, max_size=3).map(" & ".join)
template_lines = st.sampled_from(
    ["U:%x[0,0]", "U:%x[-1,0]", "U1:%x[0,1]/%x[1,0]", 'U%t[0,0,"^\\u"]', "B", "U9"]
)
lines = st.lists(st.one_of(conjunctions, template_lines), min_size=1, max_size=6)


def same_batch(batch, strings):
    """Assert that a batch is what the encoder makes of lists of strings."""
    expected = SequenceEncoder().fit_transform(strings)
    assert batch.to_lists() == strings
    np.testing.assert_array_equal(batch.offsets, expected.offsets)
    np.testing.assert_array_equal(batch.indptr, expected.indptr)
    np.testing.assert_array_equal(batch.indices, expected.indices)
    assert batch.vocabulary.names() == expected.vocabulary.names()


def window_of(lines):
    return WindowFeatures(lines, columns=["word", "pos"], lexicons=LEXICONS)


@settings(max_examples=150)
@given(lines, sentences)
@example(["word[0] & ngrams(2)[0] & ngrams(1)[-1]"], [[("aAa", "b"), ("zz", "a")]])
@example(["U:%x[-1,0]", "U:%x[0,0]"], [[("a", "b"), ("_B-1", "b")]])
@example(["word[0] & word[1]"], [[("a&b", ""), ("c", ""), ("a", ""), ("b&c", "")]])
def test_the_batch_is_that_of_the_equivalent_python_function(lines, sentences):
    window = window_of(lines)
    batch = window.fit_transform(sentences)
    same_batch(
        batch, [window_strings(window.templates_, s, LEXICONS) for s in sentences]
    )


@settings(max_examples=60)
@given(lines, sentences, sentences)
def test_features_not_known_are_left_out(lines, train, test):
    window = window_of(lines).fit(train)
    strings = [window_strings(window.templates_, s, LEXICONS) for s in train + test]
    encoder = SequenceEncoder().fit(strings[: len(train)])
    expected = encoder.transform(strings[len(train) :])
    batch = window.transform(test)
    assert batch.to_lists() == expected.to_lists()
    np.testing.assert_array_equal(batch.indices, expected.indices)


@settings(max_examples=60)
@given(lines, sentences)
def test_columns_of_a_file_give_the_same_features_as_tuples(lines, sentences):
    codes = TokenColumns.from_sequences(sentences, names=("word", "pos"))
    window = window_of(lines)
    if not sentences or codes.n_columns != 2:
        return
    from_tuples = window.fit_transform(sentences)
    assert window.fit_transform(codes).to_lists() == from_tuples.to_lists()
    assert window.transform(codes[1:]).to_lists() == from_tuples[1:].to_lists()


@settings(max_examples=40)
@given(lines, sentences)
def test_dicts_lists_and_iterators_give_the_same_features_as_tuples(lines, sentences):
    window = window_of(lines)
    expected = window.fit_transform(sentences).to_lists()
    dicts = [[{"pos": p, "word": w} for w, p in s] for s in sentences]
    lists = (iter([list(token) for token in s]) for s in sentences)
    assert window.fit_transform(dicts).to_lists() == expected
    assert window.fit_transform(lists).to_lists() == expected


@settings(max_examples=40)
@given(lines, sentences, st.integers(0, 5))
def test_learning_in_pieces_numbers_features_as_learning_at_once(lines, rows, cut):
    whole = window_of(lines).fit(rows)
    pieces = window_of(lines).fit(rows[:cut])
    known = pieces.vocabulary_
    pieces.partial_fit(rows[cut:])
    assert pieces.vocabulary_.names() == whole.vocabulary_.names()
    assert pieces.vocabulary_.agrees_with(known)


@settings(max_examples=40)
@given(lines, sentences, st.integers(2, 4))
def test_min_count_keeps_what_occurs_often_enough(lines, sentences, min_count):
    every = window_of(lines).fit_transform(sentences)
    often = window_of(lines).set_params(min_count=min_count)
    batch = often.fit_transform(sentences)
    strings = [f for s in every.to_lists() for token in s for f in token]
    kept = {f for f in strings if strings.count(f) >= min_count}
    assert batch.to_lists() == [
        [[f for f in token if f in kept] for token in s] for s in every.to_lists()
    ]
    assert often.transform(sentences).to_lists() == batch.to_lists()


@settings(max_examples=40)
@given(lines, sentences, st.integers(1, 50))
def test_hashing_maps_equal_names_to_equal_numbers(lines, sentences, n_features):
    named = window_of(lines).fit_transform(sentences)
    window = window_of(lines).set_params(n_features=n_features)
    batch = window.fit_transform(sentences)
    assert batch.n_features == n_features and batch.vocabulary is None
    np.testing.assert_array_equal(batch.indptr, named.indptr)
    pairs = set(zip(named.indices.tolist(), batch.indices.tolist(), strict=True))
    assert len(pairs) == len(set(named.indices.tolist()))
    np.testing.assert_array_equal(window.transform(sentences).indices, batch.indices)
    assert len(window.get_feature_names_out()) == n_features


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))))
def test_pairs_are_numbered_in_order_of_appearance(pairs):
    table = PairTable()
    numbers = [table.find_or_add(*pair) for pair in pairs]
    order = list(dict.fromkeys(pairs))
    assert numbers == [order.index(pair) for pair in pairs]
    assert len(table) == len(order)


def test_many_pairs_keep_their_numbers_when_the_table_grows():
    table = PairTable()
    for _ in range(2):
        numbers = [table.find_or_add(i, 7 * i) for i in range(5000)]
        assert numbers == list(range(5000))


@pytest.mark.parametrize("length", [0, 1, 2, 5, 300])
def test_windows_wider_than_the_sentence_read_the_marks_of_its_ends(length):
    sentence = [(f"w{i}", "p") for i in range(length)]
    window = WindowFeatures(["word[-100]", "word[100]", "word[-100] & word[99]"])
    expected = [window_strings(window.fit([sentence]).templates_, sentence)]
    assert window.transform([sentence]).to_lists() == expected


@settings(max_examples=30, deadline=None)
@given(sentences, st.lists(sentences, min_size=1, max_size=4))
def test_what_was_asked_before_changes_no_features(X, asked):
    # The model's own words, and many that it does not know.
    features = WindowFeatures(ATOMS, columns=["word", "pos"], lexicons=LEXICONS)
    extractor = features.fit([*X, [("Ann", "b")]]).extractor_
    for batch in asked:
        again, alone = extractor.extract(batch), features.transform(batch)
        for part in ("offsets", "indptr", "indices"):
            np.testing.assert_array_equal(getattr(again, part), getattr(alone, part))


def test_an_extractor_answers_after_an_error():
    extractor = WindowFeatures(["word[-1..0]"]).fit([["a", "b"], ["c"]]).extractor_
    expected = extractor.extract([["a", "b", "c"]]).to_lists()
    with pytest.raises(TypeError, match="sequence 1, token 0"):
        extractor.extract([["b"], [None]])
    assert extractor.extract([["a", "b", "c"]]).to_lists() == expected


def test_an_extractor_keeps_apart_the_names_it_is_asked_for():
    extractor = WindowFeatures(["word"]).fit([["a", "b"]]).extractor_
    other = Vocabulary.from_names(["word[0]=b"])
    assert extractor.extract([["a", "b"]], other).to_lists() == [[[], ["word[0]=b"]]]
    assert extractor.extract([["a", "b"]]).to_lists() == [
        [["word[0]=a"], ["word[0]=b"]]
    ]
    assert extractor.extract([["b"]], other).indices.tolist() == [0]


def test_an_extractor_does_not_keep_all_words_for_ever(monkeypatch):
    monkeypatch.setattr("skcw.features.extractor.TOKENS_KNOWN", 3)
    extractor = WindowFeatures(["word"]).fit([["a", "b"]]).extractor_
    kept = []
    for _ in range(3):
        extractor.extract([["a", "b"]])
        kept.append([compiled.n_read for _, compiled in extractor._idle])
    assert kept == [[2], [], [2]]


def test_an_extractor_that_was_asked_is_copied_without_what_it_keeps():
    extractor = WindowFeatures(["word"]).fit([["a", "b"]]).extractor_
    extractor.extract([["a"]])
    copy = pickle.loads(pickle.dumps(extractor))
    assert copy.extract([["b"]]).indices.tolist() == [1]
