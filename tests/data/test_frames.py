"""Data frames become sentences, and answers become data frames."""

from itertools import chain

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw import (
    CalibratedTagger,
    CWSequenceTagger,
    InferenceModel,
    make_tagging_pipeline,
)
from skcw.data import TokenColumns
from skcw.data.columns import choose_columns, sentence_starts
from skcw.datasets import make_tagged_corpus

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
ROWS = {
    "sentence_id": [4, 4, 4, 9, 9],
    "word": ["Ann", "met", "Bob", "Bob", "left"],
    "pos": ["NNP", "VBD", "NNP", "NNP", "VBD"],
    "label": ["B-PER", "O", "B-PER", "B-PER", "O"],
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param


@pytest.fixture
def frame(library):
    return LIBRARIES[library](ROWS)


def listed(frame, column):
    """Return a column of a frame of any library as a list."""
    values = frame[column]
    return values.to_list()


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(60, random_state=0)


@pytest.fixture(scope="module")
def tagger(corpus):
    return make_tagging_pipeline("ner", CWSequenceTagger(random_state=0)).fit(
        corpus.tokens, corpus.labels
    )


def test_rows_of_a_sentence_become_a_sentence(frame):
    X, y = TokenColumns.from_frame(frame, sentence="sentence_id").split_label("label")
    assert X.names == ("word", "pos")
    assert X[1] == [("Bob", "NNP"), ("left", "VBD")]
    assert y.tolist() == [["B-PER", "O", "B-PER"], ["B-PER", "O"]]


sentences = st.lists(
    st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=4), max_size=5
)


@settings(max_examples=50, deadline=None)
@given(sentences, st.sampled_from(sorted(LIBRARIES)))
def test_a_frame_gives_back_the_sentences_that_it_was_made_from(sentences, library):
    X = TokenColumns.from_sequences(sentences, names=["word", "pos"])
    again = TokenColumns.from_frame(X.to_frame(library))
    assert list(again) == list(X)


def test_the_word_comes_first_and_known_columns_get_our_names(library):
    frame = LIBRARIES[library](
        {"Tag": ["O"], "POS": ["NN"], "Token": ["cat"], "Sentence #": ["1"]}
    )
    X = TokenColumns.from_frame(frame)
    assert X.names == ("word", "Tag", "pos")
    assert X[0] == [("cat", "O", "NN")]


def test_a_dict_of_columns_is_taken_at_its_word(frame):
    X = TokenColumns.from_frame(frame, columns={"pos": "word", "x": "label"})
    assert X.names == ("pos", "x")
    assert X[1] == [("Bob", "B-PER"), ("left", "O")]


def test_a_list_of_columns_keeps_its_order(frame):
    X = TokenColumns.from_frame(frame, columns=["label", "word"])
    assert X.names == ("label", "word")


def test_a_sentence_may_be_named_in_its_first_row_only(library):
    frame = LIBRARIES[library](
        {"Sentence #": ["S: 1", None, "S: 2"], "Word": ["a", "b", "c"]}
    )
    assert TokenColumns.from_frame(frame).lengths.tolist() == [2, 1]


def test_whole_numbers_and_categories_are_read_as_text():
    frame = pd.DataFrame(
        {"sentence_id": [1, 1], "word": pd.Categorical(["a", "b"]), "length": [1, 22]}
    )
    assert TokenColumns.from_frame(frame)[0] == [("a", "1"), ("b", "22")]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"word": ["a"]},
            {},
            "the column with the sentence of each row is unknown: pass sentence=",
        ),
        (ROWS, {"sentence": "id"}, "no column 'id' for the sentences; the columns are"),
        (ROWS, {"columns": ["Wort"]}, "no column 'Wort'; the columns are 'word'"),
        (
            {"sentence_id": [1, 2, 1], "word": ["a", "b", "c"]},
            {},
            "row 2 is of sentence 1 again, which began in row 0",
        ),
        ({"sentence_id": [None, "1"], "word": ["a", "b"]}, {}, "row 0 has no sentence"),
        (
            {"sentence_id": [1, 2], "word": ["a", None]},
            {},
            r"row 1 has no value in column 'word'.*keep_default_na=False",
        ),
        ({"sentence_id": ["1"]}, {}, "no column of words"),
    ],
)
def test_a_frame_that_is_no_list_of_words_is_refused(
    library, columns, options, message
):
    frame = LIBRARIES[library](columns)
    with pytest.raises(ValueError, match=message):
        TokenColumns.from_frame(frame, **options)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sentence_id": [1], "tokens": [["a", "b"]]}, "one row per sentence"),
        (
            {"sentence_id": [1], "word": ["a"], "x": [0.5]},
            r"row 0 has 0.5 in column 'x'",
        ),
    ],
)
def test_values_that_are_no_text_are_refused(library, columns, message):
    with pytest.raises(TypeError, match=message):
        TokenColumns.from_frame(LIBRARIES[library](columns))


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match="the frame is a list"):
        TokenColumns.from_frame([1])
    with pytest.raises(TypeError, match=r"a lazy one: call collect\(\)"):
        TokenColumns.from_frame(pl.LazyFrame(ROWS))
    with pytest.raises(TypeError, match="names must be strings"):
        TokenColumns.from_frame(pd.DataFrame({0: ["a"]}))
    with pytest.raises(TypeError, match="give a list of names or a dict"):
        TokenColumns.from_frame(pd.DataFrame(ROWS), columns="word")


def test_a_frame_comes_back_with_labels_and_their_confidence(frame, tagger):
    X = TokenColumns.from_frame(frame, columns=["word", "pos"])
    answers = tagger.predict_all(X)
    found = answers.to_frame(frame)
    assert type(found) is type(frame)
    assert list(found.columns) == [*ROWS, "predicted", "confidence"]
    assert listed(found, "predicted") == list(chain.from_iterable(answers.labels()))
    assert listed(found, "confidence") == np.concatenate(answers.confidence()).tolist()
    assert list(frame.columns) == list(ROWS)


def test_the_index_of_a_pandas_frame_stays(tagger):
    frame = pd.DataFrame(ROWS, index=[7, 7, 1, 0, 3])
    answers = tagger.predict_all(
        TokenColumns.from_frame(frame, columns=["word", "pos"])
    )
    found = answers.to_frame(frame)
    assert found.index.tolist() == [7, 7, 1, 0, 3]
    assert found["predicted"].tolist() == list(chain.from_iterable(answers.labels()))


def test_entities_and_sentences_have_the_keys_of_the_frame(frame, library, tagger):
    answers = tagger.predict_all(
        TokenColumns.from_frame(frame, columns=["word", "pos"])
    )
    entities = answers.to_frame(frame, unit="entity", entity_confidence="exact")
    expected = [
        (key, *entity[1:3], " ".join(words[entity.start : entity.end]), entity.label)
        for key, words, row in zip(
            [4, 9],
            [["Ann", "met", "Bob"], ["Bob", "left"]],
            answers.entities("exact"),
            strict=True,
        )
        for entity in row
    ]
    names = ["sentence_id", "start", "end", "text", "label"]
    assert expected
    assert list(zip(*(listed(entities, n) for n in names), strict=True)) == expected
    sure = answers.to_frame(frame, unit="sentence")
    assert listed(sure, "sentence_id") == [4, 9]
    assert listed(sure, "confidence") == answers.sequence_confidence().tolist()


def test_frames_are_made_of_lists_and_of_nothing_too(library, tagger, corpus):
    X = corpus.tokens[:2]
    answers = tagger.predict_all(X)
    found = answers.to_frame(X, backend=library)
    assert type(found) is LIBRARIES[library]
    assert list(found.columns) == [
        "sentence_id",
        "word",
        "pos",
        "predicted",
        "confidence",
    ]
    assert listed(found, "word") == [word for row in X for word, _ in row]
    bare = answers.to_frame(backend=library)
    # The tokens that were asked about are known; those of features have no text.
    assert bare.equals(found)
    encoded = tagger.predict_all(tagger.encode(X)).to_frame(backend=library)
    assert list(encoded.columns) == ["sentence_id", "predicted", "confidence"]
    with_features = answers.to_frame([[["f=1"]] * len(x) for x in X], backend=library)
    assert list(with_features.columns) == list(encoded.columns)


def test_a_saved_model_and_a_calibrated_one_answer_in_frames(tmp_path, tagger, corpus):
    X = TokenColumns.from_sequences(corpus.tokens[:3], names=["word", "pos"])
    tagger.save(tmp_path / "m.skcw")
    model = InferenceModel.open(tmp_path / "m.skcw")
    expected = tagger.predict_all(X).to_frame(X)
    assert model.predict_all(X).to_frame(X).equals(expected)
    calibrated = CalibratedTagger(tagger, cv="prefit")
    calibrated.fit(*make_tagged_corpus(40, random_state=5, return_X_y=True))
    found = calibrated.predict_all(X).to_frame(X)
    assert found["predicted"].equals(expected["predicted"])
    assert (
        found["confidence"].tolist()
        == np.concatenate(calibrated.predict_confidence(X)).tolist()
    )


def test_frames_of_other_sentences_are_refused(frame, tagger):
    answers = tagger.predict_all(
        TokenColumns.from_frame(frame, columns=["word", "pos"])
    )
    with pytest.raises(
        ValueError, match="the frame has 1 sequences but predict_all has 2"
    ):
        answers.to_frame(frame[:3])
    with pytest.raises(ValueError, match="sequence 1 has 1 rows but 2 tokens"):
        answers.to_frame(frame[:4])
    with pytest.raises(ValueError, match="unit is 'letter'"):
        answers.to_frame(frame, unit="letter")
    with pytest.raises(ValueError, match="backend is 'excel'"):
        answers.to_frame(backend="excel")
    with pytest.raises(ValueError, match="X has 1 sequences but predict_all has 2"):
        answers.to_frame([["a"]])


def test_a_frame_without_rows_makes_no_sentence(library):
    frame = LIBRARIES[library]({"sentence_id": [], "word": []})
    assert len(TokenColumns.from_frame(frame)) == 0


def test_sentences_begin_where_the_identifier_changes():
    assert sentence_starts([], str) == ([], [])
    assert sentence_starts([1, None, 2, 2, 3], str) == ([0, 2, 4], [1, 2, 3])


def test_a_column_that_has_our_name_keeps_it():
    assert choose_columns(["token", "word"]) == {"word": "word", "token": "token"}
