"""``ActiveLearner``: the loop and its records."""

from copy import deepcopy

import numpy as np
import pytest
import sklearn_crfsuite
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcw import CalibratedTagger, CRFSequenceTagger, CWSequenceTagger, MultiClassCW
from skcw.active import ActiveLearner
from skcw.active.learner import N_PASSES, UPDATES
from skcw.data import SequenceEncoder
from tests.active.problems import advance, answers, rows, sentences, weights

X, Y = sentences()
WORDS = [len(x) for x in X]
TAGGER = CWSequenceTagger(random_state=0)


def test_the_loop_labels_what_it_asks_for():
    learner = advance(ActiveLearner(TAGGER, X))
    assert learner.n_labels == 12 == len(set(learner.labeled))
    assert learner.n_words == sum(WORDS[i] for i in learner.labeled)
    assert learner.labels == answers(learner.labeled)
    assert len(learner.unlabeled) == len(X) - 12
    assert [r["how"] for r in learner.history_] == ["cold start", "utility", "utility"]
    assert [r["n_labels"] for r in learner.history_] == [4, 8, 12]
    assert not len(learner.pending)


def test_the_estimator_that_was_given_stays_as_it_was():
    tagger = CWSequenceTagger(random_state=0)
    advance(ActiveLearner(tagger, X), 1)
    assert not hasattr(tagger, "belief_")


def test_online_learning_is_one_partial_fit_for_each_batch():
    learner = advance(ActiveLearner(TAGGER, X, update="online"))
    tagger = CWSequenceTagger(random_state=0)
    for record in learner.history_:
        own = record["positions"]
        tagger.partial_fit([X[i] for i in own], answers(own))
    np.testing.assert_array_equal(weights(learner), tagger.belief_.weights)


@pytest.mark.parametrize("update", ["lazy", "refit"])
def test_the_model_is_a_fit_to_all_labels_in_their_order(update):
    learner = ActiveLearner(TAGGER, X, update=update)
    for _ in range(15):
        own = advance(learner, 1, 1).labeled
        tagger = clone(TAGGER).fit([X[i] for i in own], answers(own))
        np.testing.assert_array_equal(weights(learner), tagger.belief_.weights)


def test_lazy_learning_ranks_by_a_model_of_nine_tenths_of_the_labels(monkeypatch):
    sizes = []
    fit = CWSequenceTagger.fit
    monkeypatch.setattr(
        CWSequenceTagger, "fit", lambda *args: sizes.append(len(args[2])) or fit(*args)
    )
    learner = advance(ActiveLearner(TAGGER, X), 24, 1)
    assert sizes == [*range(1, 12), 13, 15, 17, 19, 21, 24]
    # To look at the model does not change what it asks.
    other = ActiveLearner(TAGGER, X)
    for _ in range(24):
        advance(other, 1, 1).estimator_.predict(X[:1])
    assert learner.query(9).tolist() == other.query(9).tolist()


def test_lazy_learning_keeps_what_a_fitted_estimator_knows():
    tagger = CWSequenceTagger(random_state=0).fit(X[:40], Y[:40])
    learner = ActiveLearner(tagger, X)
    own = advance(learner, 2).labeled
    expected = deepcopy(tagger)
    for _ in range(N_PASSES):
        expected.partial_fit([X[i] for i in own], answers(own))
    np.testing.assert_array_equal(weights(learner), expected.belief_.weights)


def test_the_most_useful_items_are_asked_first():
    learner = advance(ActiveLearner(TAGGER, X, utility="min-margin"), 1, 10)
    left = learner.unlabeled
    from skcw.active.utilities import min_margin

    utility = min_margin(learner.estimator_, [X[i] for i in left])
    order = sorted(range(len(left)), key=lambda k: (-utility[k], WORDS[left[k]]))
    assert learner.query(5).tolist() == left[order[:5]].tolist()


def test_questions_may_be_bought_by_the_word():
    learner = advance(ActiveLearner(TAGGER, X), 1)
    asked = learner.query(words=40)
    assert 0 < sum(WORDS[i] for i in asked) <= 40


def test_what_is_pending_is_not_asked_again_unless_it_is_released():
    learner = ActiveLearner(TAGGER, X[:6])
    first = learner.query(4)
    assert set(learner.query(2)) == set(range(6)) - set(first)
    assert len(learner.pending) == 6
    learner.release(first[:1])
    assert learner.query(1).tolist() == first[:1].tolist()


def test_answers_may_come_in_parts_and_in_any_order():
    learner = ActiveLearner(TAGGER, X)
    asked = learner.query(4)
    learner.teach(asked[[2, 0]], answers(asked[[2, 0]]))
    assert learner.pending.tolist() == asked[[1, 3]].tolist()
    learner.teach(asked[1], [Y[asked[1]]])
    assert learner.n_labels == 3


def test_the_model_is_judged_by_labels_before_it_learns_them():
    learner = advance(ActiveLearner(TAGGER, X), 1, 10)
    asked = learner.query(5)
    guess = learner.estimator_.predict([X[i] for i in asked])
    wrong = sum(
        a != b
        for own, i in zip(guess, asked, strict=True)
        for a, b in zip(own, Y[i], strict=True)
    )
    learner.teach(asked, answers(asked))
    assert learner.history_[-1]["n_wrong"] == wrong
    assert learner.history_[0]["n_wrong"] is None


def test_a_fitted_estimator_is_asked_at_once():
    tagger = CWSequenceTagger(random_state=0).fit(X[:20], Y[:20])
    learner = ActiveLearner(tagger, X[20:])
    learner.teach(learner.query(2), [Y[20 + i] for i in learner.pending])
    assert learner.history_[0]["how"] == "utility"


@pytest.mark.parametrize("utility", ["min-margin", "min-conf-margin", "random"])
def test_a_model_that_knows_one_label_goes_on_asking(utility):
    learner = ActiveLearner(TAGGER, X, utility=utility)
    first = learner.query(3)
    learner.teach(first, [["O"] * WORDS[i] for i in first])
    assert len(learner.query(len(X) - 3)) == len(X) - 3


@pytest.mark.parametrize("form", [list, "objects", "batch"])
def test_the_form_of_the_pool_does_not_matter(form):
    pool = X
    if form == "objects":
        pool = np.empty(len(X), dtype=object)
        pool[:] = X
    elif form == "batch":
        pool = SequenceEncoder().fit_transform(X)
    learner = advance(ActiveLearner(TAGGER, pool, max_overlap=0.6))
    expected = advance(ActiveLearner(TAGGER, X, max_overlap=0.6))
    assert learner.history_ == expected.history_


@pytest.mark.parametrize("update", UPDATES)
def test_rows_are_learned_like_sequences(update):
    R, labels = rows()
    learner = ActiveLearner(
        MultiClassCW(random_state=0),
        R,
        utility="normalized-margin",
        update=update,
        classes=["a", "b"],
    )
    learner.seed([0, 1, 2, 3, 4], labels[:5])
    for _ in range(20):
        asked = learner.query(2)
        learner.teach(asked, labels[asked])
    assert learner.n_labels == learner.n_words == 45
    assert learner.estimator_.score(R, labels) > 0.85


def test_answers_to_questions_of_two_kinds_say_both():
    learner = advance(ActiveLearner(TAGGER, X), 1)
    both = np.concatenate([learner.query(2), learner.audit(1)])
    learner.teach(both, answers(both))
    assert learner.history_[-1]["how"] == "utility, audit"


def test_a_tagger_of_another_package_learns_from_a_cold_start():
    words = [[[str(token)] for token in x] for x in X]
    crf = sklearn_crfsuite.CRF(max_iterations=10)
    learner = advance(ActiveLearner(crf, words))
    assert [r["how"] for r in learner.history_] == ["cold start", "utility", "utility"]


@pytest.mark.parametrize(
    "tagger",
    [
        CalibratedTagger(TAGGER, cv=2),
        GridSearchCV(TAGGER, {"phi": [0.2, 0.5]}, cv=2),
        CRFSequenceTagger(max_iter=3),
        make_pipeline(SequenceEncoder(), TAGGER),
    ],
    ids=lambda tagger: type(tagger).__name__,
)
def test_every_tagger_can_be_asked_by_the_default_utility(tagger):
    assert advance(ActiveLearner(tagger, X), 2, 20).n_labels == 40


def test_a_tagger_need_not_know_classes():
    class Plain(CWSequenceTagger):
        def partial_fit(self, X, y):
            return super().partial_fit(X, y)

    learner = ActiveLearner(Plain(random_state=0), X, update="online")
    assert advance(learner).n_labels == 12
