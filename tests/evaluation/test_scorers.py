"""Scorers inside scikit-learn's model selection."""

import pickle
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skcw.evaluation import get_scorer, get_scorer_names
from skcw.metrics import (
    sequence_accuracy_score,
    span_f1_score,
    token_accuracy_score,
)


class MostFrequentTagger(BaseEstimator):
    """Gives every word its most frequent label, if ``learn`` is true, else O."""

    def __init__(self, learn=True):
        self.learn = learn

    def fit(self, X, y):
        counts = {}
        for words, labels in zip(X, y, strict=True):
            for word, label in zip(words, labels, strict=True):
                counts.setdefault(word, Counter())[label] += self.learn
        self.table_ = {word: c.most_common(1)[0][0] for word, c in counts.items()}
        return self

    def predict(self, X):
        rows = np.empty(len(X), dtype=object)
        for i, words in enumerate(X):
            known = self.table_ if self.learn else {}
            rows[i] = [known.get(word, "O") for word in words]
        return rows


# The others ask how sure a tagger is, and have tests of their own.
NAMES = [n for n in get_scorer_names() if n.startswith(("sequence", "span", "token"))]

TAG_OF = {"Ann": "B-PER", "Lee": "I-PER", "Rome": "B-LOC", "in": "O", "is": "O"}


def corpus(ragged, container):
    """Return 24 sentences whose words always have the same label."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 6, size=24) if ragged else np.full(24, 3)
    X = [rng.choice(list(TAG_OF), size=size).tolist() for size in sizes]
    y = [[TAG_OF[word] for word in words] for words in X]
    return container(X), container(y)


def object_array(rows):
    array = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("container", [list, object_array])
@pytest.mark.parametrize("ragged", [True, False])
def test_scorers_work_in_cross_validation(name, container, ragged):
    X, y = corpus(ragged, container)
    scores = cross_val_score(
        MostFrequentTagger(), X, y, cv=3, scoring=get_scorer(name), error_score="raise"
    )
    # Words have one label each, so this tagger makes no errors.
    assert scores.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("ragged", [True, False])
def test_scorers_hand_labels_to_the_metrics_untouched(ragged):
    X, y = corpus(ragged, list)
    tagger = MostFrequentTagger().fit(X[:2], y[:2])
    pred = tagger.predict(X)
    for scorer, score in (
        (get_scorer("span_f1"), span_f1_score),
        (get_scorer("token_accuracy"), token_accuracy_score),
        (get_scorer("sequence_accuracy"), sequence_accuracy_score),
    ):
        assert scorer(tagger, X, y) == score(y, pred)
        weight = np.arange(len(X))
        got = scorer(tagger, X, y, sample_weight=weight)
        assert got == score(y, pred, sample_weight=weight)
    assert get_scorer("span_f1_strict")(tagger, X, y) == span_f1_score(
        y, pred, strict=True
    )


@pytest.mark.parametrize("ragged", [True, False])
def test_a_grid_search_in_a_pipeline_selects_by_a_dict_of_scorers(ragged):
    X, y = corpus(ragged, list)
    pipeline = make_pipeline(FunctionTransformer(), MostFrequentTagger())
    search = GridSearchCV(
        pipeline,
        {"mostfrequenttagger__learn": [False, True]},
        cv=3,
        scoring={name: get_scorer(name) for name in NAMES},
        refit="span_f1",
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_ == {"mostfrequenttagger__learn": True}
    assert search.best_score_ == 1.0
    assert max(search.cv_results_["mean_test_token_accuracy"]) == 1.0


def test_several_scorers_are_computed_at_once():
    X, y = corpus(True, list)
    scoring = {
        "f1": get_scorer("span_f1"),
        "sequences": get_scorer("sequence_accuracy"),
    }
    results = cross_validate(MostFrequentTagger(False), X, y, cv=3, scoring=scoring)
    assert results["test_f1"].tolist() == [0.0, 0.0, 0.0]
    assert (results["test_sequences"] <= 1.0).all()


def test_the_strict_scorer_drops_spans_that_break_the_scheme():
    X, y = [["Ann", "Lee"], ["Rome"]], [["B-PER", "I-PER"], ["B-LOC"]]
    tagger = MostFrequentTagger().fit(X, [["B-PER", "I-PER"], ["I-LOC"]])
    assert get_scorer("span_f1")(tagger, X, y) == 1.0
    # One of two true spans found, and no other predicted: P 1, R 1/2.
    assert_allclose(get_scorer("span_f1_strict")(tagger, X, y), 2 / 3, rtol=1e-12)


def test_weights_are_routed_to_scorers_that_request_them():
    X, y = corpus(True, list)
    tagger = MostFrequentTagger(learn=False)
    # Only the sentences that are all O have a weight, so nothing is wrong.
    weight = [float(set(labels) <= {"O"}) for labels in y]
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("sequence_accuracy").set_score_request(sample_weight=True)
        results = cross_validate(
            tagger, X, y, cv=2, scoring=scorer, params={"sample_weight": weight}
        )
    assert results["test_score"].tolist() == [1.0, 1.0]
    assert cross_validate(tagger, X, y, cv=2, scoring=scorer)["test_score"].max() < 1


@pytest.mark.parametrize("name", NAMES)
def test_scorers_survive_pickle_and_clone(name):
    X, y = corpus(True, list)
    tagger = MostFrequentTagger().fit(X[:1], y[:1])
    scorer = get_scorer(name)
    search = clone(GridSearchCV(tagger, {}, scoring=scorer))
    for copy in (pickle.loads(pickle.dumps(scorer)), search.scoring):
        assert copy(tagger, X, y) == scorer(tagger, X, y)


def test_get_scorer_gives_copies_and_refuses_unknown_names():
    assert get_scorer("span_f1") is not get_scorer("span_f1")
    with pytest.raises(ValueError, match=r"name is 'f1'; it must be one of .*span_f1"):
        get_scorer("f1")


@pytest.mark.parametrize("name", [["a"], {"a": 1}, None, 3])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match=r"name is .*it must be one of"):
        get_scorer(name)
