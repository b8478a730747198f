"""Groups of many words, labels that a model never saw, and wrappers in wrappers."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from skcw import CWSequenceTagger, RerankedTagger, SelectiveClassifier, SelectiveTagger
from skcw.calibration import conformal_sets, recall_threshold, risk_threshold
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import NoThresholdWarning
from skcw.reranking import CWReranker

# A test that is right fails with this probability.
FALSE_ALARM = 1e-6


@pytest.mark.parametrize(("n_documents", "length"), [(20, 100), (50, 60), (50, 100)])
def test_bounds_hold_for_documents_that_are_wrong_as_a_whole(n_documents, length):
    rng = np.random.default_rng(0)
    risk, level, n_draws, broken = 0.02, 0.95, 200, 0
    for _ in range(n_draws):
        # Three documents in a hundred are wrong throughout: the true risk is .03.
        right = np.repeat(rng.random(n_documents) >= 0.03, length)
        right = right.reshape(n_documents, length)
        (found,) = risk_threshold(
            right, np.ones(right.shape), risk, confidence_level=level
        )
        broken += found.holds
    assert broken <= binom.isf(FALSE_ALARM, n_draws, 1.0 - level)


def test_one_sentence_guarantees_nothing():
    (found,) = risk_threshold([[True] * 100_000], [[0.9] * 100_000], 0.1)
    assert not found.holds


def test_sets_count_labels_that_the_tagger_has_never_seen():
    corpus = make_tagged_corpus(300, random_state=0)
    tagger = CWSequenceTagger(random_state=0)
    known = [["O"] * len(row) for row in corpus.labels[:100]]
    known[0][0] = "B-PER"
    tagger.fit(corpus.tokens[:100], known)
    selective = SelectiveTagger(tagger, risk=0.5, set_risk=0.1, cv="prefit")
    selective.fit(corpus.tokens[100:], corpus.labels[100:])
    # Far more than one label in ten is new: full sets miss least.
    assert np.isnan(selective.conformal_threshold_)
    sets = selective.predict_sets(corpus.tokens[:2])
    assert all(len(labels) == len(tagger.classes_) for row in sets for labels in row)


def test_sets_of_a_classifier_count_unknown_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.repeat(["a", "b"], 100)
    model = SelectiveClassifier(
        LogisticRegression().fit(X, y), risk=0.5, set_risk=0.1, cv="prefit"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoThresholdWarning)
        model.fit(X, np.where(np.arange(200) < 60, "c", y))
    assert np.isnan(model.conformal_threshold_)


def test_without_a_threshold_sets_are_full():
    assert conformal_sets([[0.9, 0.1]], np.nan, ["A", "B"]) == [["A", "B"]]


def test_a_reranked_tagger_is_selective_too():
    corpus = make_tagged_corpus(120, random_state=0)
    reranked = RerankedTagger(
        CWSequenceTagger(max_iter=3, random_state=0),
        CWReranker(random_state=0),
        cv=2,
        templates=(),
    )
    selective = SelectiveTagger(reranked, risk=0.3, random_state=0)
    selective.fit(corpus.tokens, corpus.labels)
    assert len(selective.accept(corpus.tokens[:3])) == 3
    assert not hasattr(selective, "encode")


@pytest.mark.parametrize(
    ("correct", "confidence", "n_true", "says"),
    [
        (
            [[1], [0]],
            [[0.5, 0.4], []],
            [1, 1],
            "sequence 0 has 2 tokens",
        ),
        ([[1], [2]], [[0.5], [0.4]], [1, 1], "must be True where the label is right"),
        ([[1], [0]], [[0.5], [np.nan]], [1, 1], "NaN"),
        ([[1], [0]], [[0.5], [0.4]], [1, np.nan], "n_true"),
        ([[0], [0]], [[0.5], [0.4]], [0, 0], "no true entity"),
        ([1, 0], [0.5, 0.4], [1, 1], "one array per sequence"),
    ],
)
def test_recall_refuses_what_makes_no_sense(correct, confidence, n_true, says):
    with pytest.raises(ValueError, match=says):
        recall_threshold(correct, confidence, n_true)


def test_where_nothing_is_found_no_recall_is_guaranteed():
    (found,) = recall_threshold([[], []], [[], []], [1, 2])
    assert not found.holds


def test_classifiers_without_probabilities_are_refused_before_they_are_fitted():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="predict_proba"):
        SelectiveClassifier(LinearSVC()).fit(X, y)
    with pytest.raises(NotFittedError):
        SelectiveClassifier(LogisticRegression(), cv="prefit").fit(X, y)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([None, "a"] * 5, r"groups\[0\] is None; everything must belong to a group"),
        ([1.0, np.nan] * 5, r"groups\[1\] is nan"),
        ([1, "a"] * 4 + [2, (3,)], "shape|cannot be compared"),
        (np.array([1, "a"] * 5, dtype=object), "of the kinds int, str"),
    ],
)
def test_groups_that_cannot_be_told_apart_are_refused(groups, message):
    correct, confidence = [True, False] * 5, np.linspace(0, 1, 10)
    with pytest.raises(ValueError, match=message):
        risk_threshold(correct, confidence, 0.3, groups=groups)


@pytest.mark.parametrize("classes", [["a"], ["a", "b", "c"], []])
def test_label_sets_need_one_column_for_each_class(classes):
    with pytest.raises(ValueError, match=rf"each of the {len(classes)} classes"):
        conformal_sets([[0.7, 0.3], [0.2, 0.8]], 0.5, classes)


@pytest.mark.parametrize("unit", [None, 3, np.nan])
def test_what_is_counted_has_a_name(unit):
    with pytest.raises(TypeError, match="unit is"):
        risk_threshold([True, False] * 5, np.linspace(0, 1, 10), 0.3, unit=unit)


def test_label_sets_have_no_label_that_is_nan():
    with pytest.raises(ValueError, match="classes holds NaN"):
        conformal_sets([[0.7, 0.3]], 0.5, ["A", np.nan])


def test_a_threshold_may_be_any_real_number():
    assert conformal_sets([[0.7, 0.3]], 10**30, ["A", "B"]) == [["A"]]
