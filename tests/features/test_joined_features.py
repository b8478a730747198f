"""Features of several kinds side by side."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skcw
from skcw import CWSequenceTagger, InferenceModel, make_tagging_pipeline
from skcw.data import SequenceEncoder, TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.features import (
    FunctionFeatures,
    JoinedFeatures,
    VectorFeatures,
    WindowFeatures,
    WordVectors,
)
from skcw.features.joined_features import join_features
from skcw.features.joining import opened_extractor

VECTORS = WordVectors(["Ann", "left", "Bob"], [[3.0, 4.0], [0.0, 5.0], [5.0, 0.0]])
SENTENCES = [["Ann", "left"], ["Bob", "and", "Ann"], []]


def double(tokens, i):
    """Return the letters of a word that stand twice in a row."""
    word = tokens[i] if isinstance(tokens[i], str) else tokens[i][0]
    return [a for a, b in pairwise(word) if a == b]


def place(tokens):
    """Return how far each token is from the end, as a number and as a text."""
    return [{"left": n, "last": str(n == 0)} for n in reversed(range(len(tokens)))]


def encode(tokens):
    """Return a vector for each token, as any encoder would."""
    return np.array([[len(word), ord(word[0])] for word in tokens], dtype=float)


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(120, random_state=0)


@pytest.fixture(scope="module")
def words(corpus):
    return [[word for word, _ in s] for s in corpus.tokens]


def test_a_token_has_the_features_of_all_parts():
    features = JoinedFeatures(
        [("window", ["word"]), ("twice", double), ("v", VectorFeatures(VECTORS))]
    )
    batch = features.fit_transform(SENTENCES)
    ann, left = batch.to_lists()[0]
    scale = 1 / 5
    assert list(ann) == ["word[0]=Ann", "twice:n", "v:0", "v:1"]
    np.testing.assert_allclose(list(ann.values()), [1, 1, 3 * scale, 4 * scale])
    assert list(left) == ["word[0]=left", "v:1"]
    assert batch.to_lists()[1][1] == {"word[0]=and": 1.0}
    assert len(batch) == 3 and batch.n_features == features.n_features_out_


def test_one_part_alone_is_what_it_is_without_the_others(corpus):
    plain = WindowFeatures("ner")
    joined = JoinedFeatures([("window", "ner")])
    expected = plain.fit_transform(corpus.tokens)
    found = joined.fit_transform(corpus.tokens)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    assert found.values is None
    names = joined.get_feature_names_out()
    assert names.tolist() == plain.get_feature_names_out().tolist()


def test_a_function_gives_what_an_encoder_of_dicts_gives(words):
    features = JoinedFeatures([("p", FunctionFeatures(place, whole_sequence=True))])
    dicts = [[{"p": row} for row in place(s)] for s in words]
    expected = SequenceEncoder().fit_transform(dicts)
    assert features.fit_transform(words).to_lists() == expected.to_lists()


@pytest.mark.parametrize(
    ("said", "features"),
    [
        ("a", ["f:a"]),
        (["a", "b"], ["f:a", "f:b"]),
        ({"k": "v"}, ["f:k:v"]),
        ({"k": True}, ["f:k"]),
        (None, []),
        ([], []),
    ],
)
def test_a_function_may_say_it_in_many_ways(said, features):
    joined = JoinedFeatures([("f", lambda tokens, i: said)])
    assert joined.fit_transform([["x"]]).to_lists() == [[features]]


def test_vectors_of_training_have_the_length_that_was_asked_for(words):
    for norm in (0.5, 2.0):
        features = JoinedFeatures([("v", VectorFeatures(encode, norm=norm))])
        batch = features.fit_transform(words)
        rows = batch.to_lists()
        squares = [sum(x * x for x in row.values()) for s in rows for row in s]
        np.testing.assert_allclose(np.sqrt(np.mean(squares)), norm, rtol=1e-12)


def test_vectors_come_from_tables_tokens_and_functions():
    table = {word: VECTORS.of([word])[0] for word in ("Ann", "left", "Bob", "and")}
    dicts = [[{"word": w, "vec": table[w]} for w in s] for s in SENTENCES]
    tuples = [[(w, table[w]) for w in s] for s in SENTENCES]
    sources = [
        (VECTORS, SENTENCES),
        ("vec", dicts),
        (1, tuples),
        (lambda tokens: np.stack([table[w] for w in tokens]), SENTENCES),
    ]
    found = [
        JoinedFeatures([("v", VectorFeatures(source))]).fit_transform(X).to_lists()
        for source, X in sources
    ]
    assert found[1:] == found[:1] * 3


def test_vectors_of_neighbors_stop_at_the_ends():
    features = JoinedFeatures([("v", VectorFeatures(VECTORS, offsets=(-1, 0, 1)))])
    first, second = features.fit_transform([["Ann", "left"], ["Bob"]]).to_lists()[0]
    assert list(first) == ["v:0", "v:1", "v[1]:1"]
    assert list(second) == ["v[-1]:0", "v[-1]:1", "v:1"]


def test_a_ready_set_stands_beside_columns_of_arrays(corpus):
    X = [
        [{"word": w, "pos": p, "vec": np.ones(3)} for w, p in s] for s in corpus.tokens
    ]
    joined = join_features("ner", VectorFeatures("vec"))
    names = joined.fit(X).get_feature_names_out().tolist()
    window = WindowFeatures("ner").fit(corpus.tokens)
    plain = window.get_feature_names_out().tolist()
    assert names == [*plain, *(f"vectors:{i}" for i in range(3))]


def test_a_dict_may_hold_an_array_as_a_value():
    X = [[{"w": "a", "v": np.array([1.5, 0.0])}, {"v": np.array([2, 3])}]]
    encoder = SequenceEncoder()
    assert encoder.fit_transform(X).to_lists() == [
        [{"w:a": 1.0, "v:0": 1.5, "v:1": 0.0}, {"v:0": 2.0, "v:1": 3.0}]
    ]
    tagger = CWSequenceTagger(random_state=0).fit(X, [["A", "B"]])
    assert tagger.predict(X)[0] == ["A", "B"]


@pytest.mark.parametrize(
    ("array", "trouble"),
    [
        (np.ones((2, 2)), "an array of shape (2, 2)"),
        (np.array(["a"]), "a 1-D array of numbers"),
        (np.array([1.0, np.nan]), "the value of feature 'v:1' is nan"),
    ],
)
def test_an_array_that_is_no_vector_is_refused(array, trouble):
    with pytest.raises((TypeError, ValueError)) as caught:
        SequenceEncoder().fit([[{"v": np.ones(2)}], [{"w": "a"}, {"v": array}]])
    assert "sequence 1, token 1" in str(caught.value)
    assert trouble in str(caught.value)


def test_further_features_follow_those_that_are_known(words):
    features = join_features(["word"], double, VECTORS)
    features.partial_fit(words[:40])
    before = features.get_feature_names_out().tolist()
    old = features.transform(words[:40])
    features.partial_fit(words[40:])
    after = features.get_feature_names_out().tolist()
    assert after[: len(before)] == before and len(after) > len(before)
    new = features.transform(words[:40])
    np.testing.assert_array_equal(new.indices, old.indices)
    np.testing.assert_array_equal(new.values, old.values)


def test_a_pipeline_continues_to_learn(words, corpus):
    pipeline = make_tagging_pipeline(["ner", double], CWSequenceTagger(random_state=0))
    for part in (slice(0, 60), slice(60, None)):
        pipeline.partial_fit(words[part], corpus.labels[part])
    assert pipeline.score(words, corpus.labels) > 0.9


def test_rare_features_of_a_part_are_left_out():
    lines = WindowFeatures(["word"], min_count=2)
    features = JoinedFeatures([("w", lines), ("f", lambda tokens, i: tokens[i])])
    names = features.fit([["a", "b", "a"]]).get_feature_names_out().tolist()
    assert names == ["word[0]=a", "f:a", "f:b"]


def test_columns_of_a_file_are_words_or_tuples_to_functions():
    seen = []

    def look(tokens, i):
        seen.append(tokens[i])

    features = JoinedFeatures([("f", look)])
    features.fit(TokenColumns.from_sequences([["a"]], names=["word"]))
    features.fit(TokenColumns.from_sequences([[("a", "X")]], names=["word", "pos"]))
    assert seen == ["a", ("a", "X")]


def test_an_iterator_is_read_once(words):
    features = join_features("ner", double)
    batch = features.fit_transform(iter(words))
    assert len(batch) == len(words)


def test_parameters_of_parts_can_be_searched(words, corpus):
    features = JoinedFeatures(
        [("window", WindowFeatures("ner")), ("v", VectorFeatures(encode))]
    )
    pipeline = make_tagging_pipeline(features, CWSequenceTagger(max_iter=2))
    grid = {"features__v__norm": [0.1, 1.0], "features__window__min_count": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(words, corpus.labels)
    assert set(search.best_params_) == set(grid)
    assert clone(features).set_params(v__norm=3).get_params()["v__norm"] == 3


def test_joined_features_survive_pickle(words):
    features = join_features("ner", double, VECTORS).fit(words)
    again = pickle.loads(pickle.dumps(features))
    assert (
        again.transform(words[:5]).to_lists()
        == features.transform(words[:5]).to_lists()
    )


# Saving: what is data is saved, what is code is named.


def data_features():
    lexicons = {"places": ["New York", "Rome"]}
    clusters = {"c": {"left": "01", "met": "00", "rose": "1"}}
    lines = ["ner", "cluster(c)[-1..1]", "cluster(c,1)", "span(places)", "length"]
    return join_features(
        WindowFeatures(lines, lexicons=lexicons, clusters=clusters),
        VectorFeatures(VECTORS, offsets=(-1, 0), norm=0.5),
    )


def test_a_saved_model_answers_as_before(words, corpus, tmp_path):
    path = tmp_path / "names.skcw"
    pipeline = make_tagging_pipeline(data_features(), CWSequenceTagger(random_state=0))
    pipeline.fit(words, corpus.labels).save(path)
    X = [*words[:20], ["Ann", "left", "New", "York"]]
    expected = pipeline.predict_all(X)
    for model in (skcw.load(path), InferenceModel.open(path)):
        answers = model.predict_all(X)
        assert answers.labels().tolist() == expected.labels().tolist()
        np.testing.assert_array_equal(
            np.concatenate(answers.confidence()), np.concatenate(expected.confidence())
        )


def test_a_loaded_model_can_be_saved_and_continued(words, corpus, tmp_path):
    pipeline = make_tagging_pipeline(data_features(), CWSequenceTagger(random_state=0))
    pipeline.fit(words[:60], corpus.labels[:60]).save(tmp_path / "one")
    again = skcw.load(tmp_path / "one")
    again.save(tmp_path / "two")
    third = skcw.load(tmp_path / "two")
    for model in (pipeline, third):
        model.partial_fit(words[60:], corpus.labels[60:])
    np.testing.assert_array_equal(pipeline.tagger.coef_, third.tagger.coef_)


def test_vectors_in_tokens_are_saved_by_their_key(tmp_path):
    X = [[{"word": "Ann", "v": np.ones(2)}, {"word": "left", "v": -np.ones(2)}]]
    pipeline = make_tagging_pipeline(["word", VectorFeatures("v")])
    pipeline.fit(X, [["B-PER", "O"]]).save(tmp_path / "model")
    assert InferenceModel.open(tmp_path / "model").predict_all(X).labels()[0] == [
        "B-PER",
        "O",
    ]


@pytest.mark.parametrize(
    "part",
    [double, FunctionFeatures(place, whole_sequence=True), VectorFeatures(encode)],
    ids=["token", "sentence", "encoder"],
)
def test_code_is_named_where_it_cannot_be_saved(words, corpus, tmp_path, part):
    pipeline = make_tagging_pipeline(["ner", part]).fit(words, corpus.labels)
    function = getattr(part, "function", getattr(part, "source", part))
    with pytest.raises(ValueError) as caught:
        pipeline.save(tmp_path / "model")
    told = str(caught.value)
    assert f"the function {__name__}.{function.__name__}, which is code" in told
    assert "joblib.dump" in told and not (tmp_path / "model").exists()


def test_a_damaged_part_is_told(words, corpus, tmp_path):
    from skcw.exceptions import ModelFileError
    from skcw.io.model_files import read_model, write_model

    path = tmp_path / "model"
    fitted = make_tagging_pipeline(data_features()).fit(words, corpus.labels)
    fitted.save(path, mapped=True)
    header, arrays = read_model(path)
    del arrays["features.vectors.words.vectors"]
    write_model(tmp_path / "bad", header, arrays)
    for opening in (skcw.load, InferenceModel.open):
        with pytest.raises(ModelFileError, match="damaged"):
            opening(tmp_path / "bad")


# What cannot be joined.


@pytest.mark.parametrize(
    ("parts", "trouble"),
    [
        (["ner"], "a list of (name, part)"),
        ([], "must have names"),
        ([("a", "ner"), ("a", double)], "must differ"),
        ([("a__b", "ner")], "have no __"),
        ([("a", 7)], "neither a ready set"),
        ([("a", FunctionFeatures("ner"))], "is not a function"),
        ([("a", VectorFeatures(VECTORS, norm=0))], "norm"),
        ([("a", VectorFeatures(VECTORS, offsets=()))], "offsets must be integers"),
        ([("a", WindowFeatures(n_features=8))], "cannot be joined"),
    ],
)
def test_parts_that_are_none_are_refused(parts, trouble):
    with pytest.raises((TypeError, ValueError)) as caught:
        JoinedFeatures(parts).fit(SENTENCES)
    assert trouble in str(caught.value)


@pytest.mark.parametrize(
    ("source", "trouble"),
    [
        (lambda tokens: np.ones((1, 2)), "for the 2 tokens of sequence 0"),
        (lambda tokens: [["x"] * 2] * len(tokens), "one row of numbers per token"),
        (lambda tokens: np.full((len(tokens), 2), np.inf), "token 0 is not finite"),
        (lambda tokens: np.ones((len(tokens), len(tokens))), "2 are expected"),
        ("vector", "sequence 0, token 0 has no vector at 'vector'"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(source, trouble):
    with pytest.raises(ValueError) as caught:
        JoinedFeatures([("v", VectorFeatures(source))]).fit(SENTENCES)
    assert trouble in str(caught.value)


def test_an_error_of_a_function_tells_where_it_was():
    def fails(tokens, i):
        return {"x": tokens[i + 1]}

    with pytest.raises(IndexError) as caught:
        JoinedFeatures([("f", fails)]).fit([["a", "b"]])
    assert "sequence 0, token 1" in caught.value.__notes__[0]


def test_a_function_must_speak_of_every_token():
    features = FunctionFeatures(lambda tokens: ["x"], whole_sequence=True)
    with pytest.raises(ValueError, match="gave 1 rows for the 2 tokens of sequence 0"):
        JoinedFeatures([("f", features)]).fit(SENTENCES)


def test_what_a_function_says_is_checked():
    with pytest.raises(TypeError) as caught:
        JoinedFeatures([("f", lambda tokens, i: [7])]).fit(SENTENCES)
    assert "lambda" in caught.value.__notes__[0]
    for said in (7, 1.5, True, np.int64(3), np.True_, b"x"):
        part = FunctionFeatures(lambda tokens, i, said=said: said if i else [])
        with pytest.raises(TypeError, match="for sequence 0, token 1; the"):
            JoinedFeatures([("f", part)]).fit(SENTENCES)


def test_a_failed_fit_leaves_the_features_as_they_were():
    features = JoinedFeatures([("w", ["word"]), ("v", VectorFeatures("vector"))])
    good = [[{"word": "a", "vector": np.ones(2)}]]
    before = features.fit(good).get_feature_names_out().tolist()
    with pytest.raises(ValueError):
        features.fit(SENTENCES)
    assert features.get_feature_names_out().tolist() == before
    assert len(features.transform(good)) == 1


def test_names_of_parts_are_found():
    names = [name for name, _ in join_features("ner", double, VECTORS, ["word"]).parts]
    assert names == ["window", "double", "vectors", "window2"]


def test_options_of_lines_need_lines():
    with pytest.raises(TypeError, match="min_count: options of lines"):
        make_tagging_pipeline(double, min_count=2)
    pipeline = make_tagging_pipeline(["ner", double], min_count=2)
    assert pipeline.get_params()["features__window__min_count"] == 2


def test_ready_sets_may_stand_among_lines(corpus):
    both = WindowFeatures(["ner", "length"]).fit(corpus.tokens)
    alone = WindowFeatures("ner").fit(corpus.tokens)
    assert both.templates_[:-1] == alone.templates_


@pytest.mark.parametrize(
    ("word", "features"),
    [
        ("McLeod", ["length[0]=6", "initial[0]=A"]),
        ("ñandú", ["length[0]=5", "initial[0]=a"]),
        ("73", ["length[0]=2", "initial[0]=0"]),
        ("-", ["length[0]=1", "initial[0]=-"]),
    ],
)
def test_length_and_initial_are_told_by_characters(word, features):
    window = WindowFeatures(["length", "initial", "length[1]"])
    assert window.fit_transform([[word]]).to_lists() == [[features]]


@pytest.mark.parametrize("copies", [0, 2])
def test_files_without_parts_or_with_one_twice_are_refused(copies):
    joined = join_features("ner", VECTORS).fit(SENTENCES)
    state, arrays = joined.to_saved()
    state = json.loads(json.dumps(state))
    with pytest.raises(ValueError, match="there are no parts, or two of one name"):
        opened_extractor({**state, "parts": state["parts"] * copies}, arrays)
