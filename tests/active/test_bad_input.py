"""Bad input to a learner: clear errors, and nothing has changed afterwards."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from skcw import CRFSequenceTagger, CWSequenceTagger, MultiClassCW, MultiClassPA
from skcw.active import ActiveLearner
from skcw.active.learner import UPDATES
from skcw.active.pool import noisy_labels
from skcw.active.utilities import doubtful_entities, least_confident_word, margin
from tests.active.problems import rows, sentences

X, Y = sentences()
TAGGER = CWSequenceTagger(random_state=0)


@pytest.fixture
def learner(tmp_path):
    learner = ActiveLearner(TAGGER, [*X[:20], []], journal=tmp_path / "journal")
    learner.seed([0, 1, 2], Y[:3])
    learner.query(4)
    return learner


def state(learner):
    return (
        repr(learner.history_),
        repr(learner.labels),
        learner.pending.tolist(),
        learner.estimator_.belief_.weights.tobytes(),
        learner._journal.path.read_bytes(),
        repr(learner._journal.records),
    )


ASKED = "asked"
BAD = {
    "never asked": ([20], [[]], "item 20 of the pool was not queried"),
    "labeled before": ([0], [Y[0]], "item 0 of the pool has its labels already"),
    "twice": ([ASKED, ASKED], [["O"], ["O"]], "occurs more than once"),
    "outside": ([99], [["O"]], "no item 99 in a pool of 21"),
    "negative": ([-1], [["O"]], "no item -1"),
    "none": ([], [], "at least one position"),
    "too few labels": ([ASKED], [], "1 items need labels, but y has 0"),
    "wrong length": ([ASKED], [["O"] * 99], "tokens but 99 labels"),
    "a number": ([ASKED], [[1, 2]], "must be strings"),
    "one string": ([ASKED], ["O"], "single string"),
    "a dict": ([ASKED], {"y": 1}, "no order"),
    "a fraction": ([0.5], [["O"]], "whole numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_answers_change_nothing(learner, name):
    positions, y, message = BAD[name]
    first = learner.pending[0]
    positions = [first if position is ASKED else position for position in positions]
    before = state(learner)
    with pytest.raises((ValueError, TypeError), match=message):
        learner.teach(positions, y)
    assert state(learner) == before
    learner.teach([first], [Y[first]])


def test_a_training_that_fails_changes_nothing(learner, monkeypatch):
    before, asked = state(learner), learner.pending
    learned = [Y[i] for i in asked]
    for error in (RuntimeError, KeyboardInterrupt):

        def fail(*args, error=error, **options):
            raise error("in the middle")

        with monkeypatch.context() as patch:
            patch.setattr(CWSequenceTagger, "fit", fail)
            with pytest.raises(error):
                learner.teach(asked, learned)
        assert state(learner) == before
    learner.teach(asked, learned)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 99}, "99 items are asked for, but only 13"),
        ({"n": 0}, "n must be"),
        ({"words": 10**6}, "more than the"),
        ({}, "how many items"),
    ],
)
def test_a_question_that_cannot_be_asked_changes_nothing(learner, options, message):
    before = state(learner)
    with pytest.raises(ValueError, match=message):
        learner.query(**options)
    assert state(learner) == before


def test_a_batch_cannot_be_larger_than_its_candidates():
    learner = ActiveLearner(TAGGER, X, n_candidates=5)
    with pytest.raises(ValueError, match=r"6 items are asked .*n_candidates=5"):
        learner.query(6)
    with pytest.raises(ValueError, match=r"999 words are asked .*n_candidates=5"):
        learner.query(words=999)


def test_a_pool_that_is_used_up_says_so(learner):
    asked = learner.query(13)
    with pytest.raises(ValueError, match="nothing left to ask about"):
        learner.query(1)
    learner.teach(asked, [Y[i] for i in asked])
    with pytest.raises(ValueError, match="nothing left to ask about"):
        learner.audit(1)


def test_only_questions_can_be_taken_back(learner):
    before = state(learner)
    with pytest.raises(ValueError, match="was not queried"):
        learner.release([0])
    assert state(learner) == before


@pytest.mark.parametrize("pool", [[], np.empty((0, 3)), iter([])])
@pytest.mark.parametrize("estimator", [TAGGER, MultiClassCW()])
def test_an_empty_pool_is_refused(estimator, pool):
    with pytest.raises(ValueError, match="pool is empty"):
        ActiveLearner(estimator, pool)


@pytest.mark.parametrize(
    ("estimator", "pool", "options", "error", "message"),
    [
        (
            TAGGER,
            X,
            {"utility": "margin"},
            ValueError,
            "for sequences it must be one of",
        ),
        (TAGGER, X, {"utility": 3}, ValueError, "utility is 3"),
        (TAGGER, X, {"update": "batch"}, ValueError, "one of lazy, refit, online"),
        (TAGGER, X, {"n_candidates": 0}, ValueError, "n_candidates"),
        (TAGGER, X, {"max_overlap": 2}, ValueError, "max_overlap must be between"),
        (TAGGER, X, {"random_state": None}, ValueError, "random_state"),
        (
            CRFSequenceTagger(),
            X,
            {"update": "online"},
            TypeError,
            "no partial_fit; choose update='refit'",
        ),
        (
            CRFSequenceTagger(max_iter=1).fit(X[:9], Y[:9]),
            X,
            {},
            TypeError,
            "no partial_fit to continue from where it is; choose update='refit'",
        ),
        (TAGGER, ["a sentence"], {}, TypeError, "sequences of tokens"),
        (TAGGER, "text", {}, TypeError, "the pool is a str"),
        (TAGGER, X, {"classes": "OP"}, TypeError, "classes is a single string"),
    ],
)
def test_bad_settings_are_refused(estimator, pool, options, error, message):
    with pytest.raises(error, match=message):
        ActiveLearner(estimator, pool, **options)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("classifier", [MultiClassCW(), MultiClassPA()])
def test_one_class_in_the_first_labels_is_refused(classifier, update):
    R, labels = rows()
    learner = ActiveLearner(classifier, R, update=update)
    own = np.flatnonzero(labels == "a")[:3]
    with pytest.raises(ValueError, match=r"first labels are all 'a'.*two classes"):
        learner.seed(own, labels[own])
    assert not learner.history_ and not learner.is_fitted
    other = np.flatnonzero(labels == "b")[:1]
    both = np.concatenate([own, other])
    learner.seed(both, labels[both])
    assert learner.is_fitted


@pytest.mark.parametrize("update", UPDATES)
def test_a_class_that_was_not_announced_is_refused(update):
    R, labels = rows()
    learner = ActiveLearner(MultiClassCW(), R, classes=["a", "b"], update=update)
    learner.seed(np.arange(6), labels[:6])
    asked = learner.query(1)
    before = learner.estimator_.weights_.tobytes()
    with pytest.raises(ValueError, match="not among the classes"):
        learner.teach(asked, ["new"])
    assert learner.n_labels == 6 and learner.pending.tolist() == asked.tolist()
    assert learner.estimator_.weights_.tobytes() == before


@pytest.mark.parametrize("update", UPDATES)
def test_strings_and_numbers_are_not_mixed(update):
    R, labels = rows()
    learner = ActiveLearner(MultiClassCW(), R, update=update)
    with pytest.raises(ValueError, match="some labels are strings and some are numb"):
        learner.seed([0, 1], ["a", 1])
    learner.seed(np.arange(6), labels[:6])
    with pytest.raises(ValueError, match="some labels are strings and some are numb"):
        learner.teach(learner.query(1), [1])
    assert learner.n_labels == 6


@pytest.mark.parametrize("label", [None, float("nan"), ["a"]])
def test_rows_have_labels_that_are_strings_or_numbers(label):
    R, labels = rows()
    learner = ActiveLearner(MultiClassCW(), R)
    with pytest.raises(ValueError, match="strings or numbers"):
        learner.seed([0, 1], [labels[0], label])
    assert not learner.history_


def test_a_utility_of_the_wrong_shape_is_refused(learner):
    learner._utility = lambda estimator, X: [1.0]
    before = state(learner)
    with pytest.raises(ValueError, match="shape"):
        learner.query(1)
    assert state(learner) == before


def test_texts_have_no_features_to_compare():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(), MultiClassCW())
    learner = ActiveLearner(pipeline, ["a b", "c d"], update="refit", max_overlap=0.5)
    with pytest.raises(ValueError, match="vectorize the texts first"):
        learner.query(1)


def test_regressors_have_no_labels_to_ask_for():
    with pytest.raises(TypeError, match="Ridge is neither a classifier nor a tagger"):
        ActiveLearner(Ridge(), np.eye(3), update="refit")


def test_utilities_are_of_rows_or_of_sequences():
    classifier = MultiClassCW().fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="rows have no words"):
        ActiveLearner(MultiClassCW(random_state=0), rows()[0]).query(words=10)
    with pytest.raises(TypeError, match="MultiClassCW labels rows"):
        least_confident_word(classifier, np.eye(2))
    with pytest.raises(TypeError, match="CWSequenceTagger labels sequences"):
        margin(CWSequenceTagger().fit(X, Y), X[:2])
    with pytest.raises(ValueError, match="sure must be between 0 and 1"):
        doubtful_entities(CWSequenceTagger().fit(X, Y), X[:2], sure=2)


def test_noise_is_a_rate():
    for rate in (-0.1, 1.1, "much"):
        with pytest.raises(ValueError, match="rate must be"):
            noisy_labels([0, 1], rate)
    with pytest.raises(ValueError, match="one class only"):
        noisy_labels(["a", "a"], 0.5)
    with pytest.raises(TypeError, match="single string"):
        noisy_labels("PO", 0.5)
    with pytest.raises(ValueError, match="random_state"):
        noisy_labels([0, 1], 0.5, random_state=None)
