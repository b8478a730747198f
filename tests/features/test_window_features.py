"""The transformer among other estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from skcw import CRFSequenceTagger, CWSequenceTagger
from skcw.data import SequenceEncoder, TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import get_scorer
from skcw.features import WindowFeatures
from tests.reference.window import window_strings


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(150, random_state=0)


@pytest.mark.parametrize("ready", ["chunking", "ner", "pos"])
def test_a_ready_set_gives_what_its_lines_say(corpus, ready):
    window = WindowFeatures(ready)
    batch = window.fit_transform(corpus.tokens)
    assert batch.to_lists() == [
        window_strings(window.templates_, s) for s in corpus.tokens
    ]


@pytest.mark.parametrize("ready", ["chunking", "ner", "pos"])
def test_a_ready_set_does_without_parts_of_speech(corpus, ready):
    words = [[word for word, _ in s] for s in corpus.tokens]
    window = WindowFeatures(ready).fit(words)
    assert not any("pos[" in name for name in window.get_feature_names_out())
    assert len(window.templates_) > 5


def test_a_tagger_learns_the_same_from_native_and_from_python_features(corpus):
    window = WindowFeatures("ner")
    batch = window.fit_transform(corpus.tokens)
    strings = [window_strings(window.templates_, s) for s in corpus.tokens]
    native = CWSequenceTagger(random_state=0).fit(batch, corpus.labels)
    python = CWSequenceTagger(random_state=0).fit(strings, corpus.labels)
    np.testing.assert_array_equal(native.coef_, python.coef_)
    assert native.feature_names_.tolist() == python.feature_names_.tolist()


def test_it_works_in_a_pipeline_and_its_parameters_are_tunable(corpus):
    pipeline = Pipeline(
        [
            ("features", WindowFeatures()),
            ("tagger", CWSequenceTagger(max_iter=2, random_state=0)),
        ]
    )
    grid = {
        "features__features": ["ner", ["word[-1..1]", "suffix(1..3)"], ["word"]],
        "features__min_count": [1, 3],
    }
    search = GridSearchCV(pipeline, grid, scoring=get_scorer("span_f1"), cv=2)
    search.fit(corpus.tokens, corpus.labels)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and scores.max() > scores.min()
    assert search.best_estimator_.predict(corpus.tokens[:3]).shape == (3,)


def test_columns_of_a_file_pass_through_cross_validation(corpus):
    columns = TokenColumns.from_sequences(corpus.tokens, names=("word", "pos"))
    pipeline = Pipeline(
        [
            ("features", WindowFeatures("ner")),
            ("tagger", CWSequenceTagger(max_iter=2, random_state=0)),
        ]
    )
    options = {"scoring": get_scorer("span_f1"), "cv": 2}
    by_file = cross_val_score(pipeline, columns, corpus.labels, **options)
    by_list = cross_val_score(pipeline, corpus.tokens, corpus.labels, **options)
    np.testing.assert_array_equal(by_file, by_list)


def test_hashed_features_train_a_tagger(corpus):
    window = WindowFeatures("ner", n_features=2**16)
    batch = window.fit_transform(corpus.tokens)
    tagger = CWSequenceTagger(random_state=0).fit(batch, corpus.labels)
    again = window.transform(corpus.tokens)
    assert tagger.score(again, corpus.labels) > 0.99


def test_hashed_features_are_called_as_taggers_call_them():
    window = WindowFeatures(["word"], n_features=8)
    tagger = CWSequenceTagger().fit(window.fit_transform([["a", "b"]]), [["A", "B"]])
    names = window.get_feature_names_out().tolist()
    assert names == tagger.feature_names_.tolist()


def test_a_crf_takes_the_same_batch(corpus):
    batch = WindowFeatures("ner").fit_transform(corpus.tokens[:40])
    crf = CRFSequenceTagger(max_iter=20).fit(batch, corpus.labels[:40])
    assert crf.score(batch, corpus.labels[:40]) > 0.9


def test_it_clones_and_travels(corpus):
    window = WindowFeatures(["word", "in(a)"], lexicons={"a": ["Rose"]}, min_count=2)
    assert clone(window).get_params() == window.get_params()
    window.fit(corpus.tokens)
    again = pickle.loads(pickle.dumps(window))
    expected = window.transform(corpus.tokens)
    assert again.transform(corpus.tokens).to_lists() == expected.to_lists()


def test_a_batch_of_grown_features_continues_a_tagger(corpus):
    window = WindowFeatures("ner").fit(corpus.tokens[:50])
    # Hard steps learn most of what one pass has to teach.
    tagger = CWSequenceTagger(C=float("inf"), random_state=0)
    tagger.fit(window.transform(corpus.tokens[:50]), corpus.labels[:50])
    before = len(tagger.vocabulary_)
    window.partial_fit(corpus.tokens[50:])
    tagger.partial_fit(window.transform(corpus.tokens[50:]), corpus.labels[50:])
    assert len(tagger.vocabulary_) == len(window.vocabulary_) > before
    assert tagger.score(window.transform(corpus.tokens), corpus.labels) > 0.97


def test_an_encoder_with_the_same_names_accepts_the_batch(corpus):
    window = WindowFeatures("ner")
    batch = window.fit_transform(corpus.tokens)
    encoder = SequenceEncoder().fit(batch.to_lists())
    assert encoder.transform(batch) is not None


class Labeled:
    """A row that is indexed by labels, as those of data frames are."""

    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, label):
        return {}[label]


@pytest.mark.parametrize(
    ("X", "trouble"),
    [
        ("text", "X is a str"),
        (7, "X is a int"),
        ([[("a", "b")], "words"], "sequence 1 is a str"),
        ([{"word": "a"}], "sequence 0 is a dict"),
        ([[("a", "b"), ("c",)]], "sequence 0, token 1: column 1 (pos) holds nothing"),
        ([[("a", "b")], [("a", 7)]], "sequence 1, token 0: column 1 (pos) holds 7"),
        ([[("a", "b")], [(b"a", "b")]], "column 0 (word) holds b'a'"),
        ([[{"word": "a", "pos": "b"}, {"word": "a"}]], "token 1: column 1 (pos)"),
        ([[("a", "b"), None]], "token 1: column 0 (word) holds nothing"),
        ([[7]], "the first token is 7"),
        ([[("a", "b"), {7, 8}]], "token 1: column 0 (word) holds nothing"),
        ([[("a", "b"), Labeled("ab")]], "token 1: column 0 (word) holds nothing"),
    ],
)
def test_a_bad_token_is_named_by_its_place(X, trouble):
    with pytest.raises(TypeError) as caught:
        WindowFeatures(["word", "pos"]).fit(X)
    assert trouble in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "trouble"),
    [
        ({"features": "nre"}, "must be one of chunking, ner, pos"),
        ({"features": []}, "must be a ready set or a list"),
        ({"features": None}, "must be a ready set or a list"),
        ({"columns": "word"}, "columns must be a list of names"),
        ({"columns": ["word", "word"]}, "a name twice"),
        ({"columns": ["a b"]}, "columns must be a list of names"),
        ({"columns": ["a", "b", "c"]}, "names 3 columns"),
        ({"lexicons": {"a": ["New York", " "]}}, "a word, or several with blanks"),
        ({"lexicons": {"a": [7]}}, "a word, or several with blanks"),
        ({"clusters": {"a": ["0110"]}}, "clusters, 'a': clusters are a dict"),
        ({"clusters": {"a": {"red": 7}}}, "the word 'red' has the cluster 7"),
        ({"clusters": ["a"]}, "clusters must be a dict"),
        ({"lexicons": {"a": "Rose"}}, "is not a list of words"),
        ({"lexicons": {"a": iter(["Rose"])}}, "is not a list of words"),
        ({"lexicons": ["Rose"]}, "must be a dict"),
        ({"min_count": 0}, "min_count"),
        ({"n_features": 0}, "n_features"),
        ({"n_features": 8, "min_count": 2}, "min_count needs the names"),
    ],
)
def test_a_bad_parameter_is_refused_in_fit(parameters, trouble):
    with pytest.raises((ValueError, TypeError)) as caught:
        WindowFeatures(**parameters).fit([[("a", "b")]])
    assert trouble in str(caught.value)


def test_an_encoded_batch_is_refused():
    batch = WindowFeatures(["word"]).fit_transform([["a"]])
    with pytest.raises(TypeError, match="has features already"):
        WindowFeatures(["word"]).fit(batch)


def test_a_file_with_fewer_columns_than_in_fit_is_refused():
    window = WindowFeatures(["word", "pos"]).fit([[("a", "b")]])
    columns = TokenColumns.from_sequences([["a"]])
    with pytest.raises(ValueError, match="X has 1 columns"):
        window.transform(columns)


def test_named_columns_in_another_order_than_in_fit_are_refused():
    names = ["word", "pos"]
    columns = TokenColumns.from_sequences([[("a", "b")]], names=names)
    window = WindowFeatures(["word", "pos"]).fit(columns)
    with pytest.raises(ValueError, match=r"X\.select"):
        window.transform(columns.select(["pos", "word"]))
    assert window.transform(columns.select([1, 0]).select(names)).n_tokens == 1


def test_shapes_and_affixes_are_those_of_the_word_wherever_it_stands():
    window = WindowFeatures(["word", "lower", "prefix(1)", "pos"])
    [[names]] = window.fit_transform([[{"pos": "NN", "word": "Cat"}]]).to_lists()
    assert names == ["word[0]=Cat", "lower[0]=cat", "prefix(1)[0]=C", "pos[0]=NN"]


def test_a_word_of_a_lexicon_may_hold_a_no_break_space():
    window = WindowFeatures(["in(sums)"], lexicons={"sums": ["10\u00a0000"]})
    assert window.fit_transform([["10\u00a0000"]]).to_lists() == [[["in(sums)[0]"]]]


def test_nothing_at_all_gives_an_empty_batch():
    window = WindowFeatures("ner")
    assert len(window.fit_transform([])) == 0
    assert window.transform([[], []]).n_tokens == 0
    assert len(window.partial_fit([[("a", "b")]]).vocabulary_) > 0
