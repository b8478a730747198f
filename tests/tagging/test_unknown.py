"""Tokens none of whose features is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import skcw
from skcw import AROWSequenceTagger, CWSequenceTagger, PASequenceTagger
from skcw._model.corpus import Corpus, WholeCorpus
from skcw._model.gaussian import Belief
from skcw._model.unknown import LEAST_GAIN, STRENGTHS, TURNS, Views, with_fitting_row
from skcw.data import SequenceBatch, SequenceEncoder
from skcw.exceptions import ConstraintWarning

COMMON = ["runs", "sleeps", "left", "came"]
GAUSSIAN = [CWSequenceTagger, AROWSequenceTagger]


def new_names(n, first=0):
    """Return sentences with a name that occurs nowhere else, first, second or third."""
    X, y = [], []
    for i in range(n):
        words, labels = [COMMON[i % 4], "today"], ["O", "O"]
        words.insert(i % 3, f"name{first + i}")
        labels.insert(i % 3, "NAME")
        X.append(words)
        y.append(labels)
    return X, y


def corpus_of(batch, weight=None, norm=None):
    gold = np.zeros(batch.n_tokens, dtype=np.int32)
    return Corpus(
        batch.offsets, batch.indptr, batch.indices, batch.values, gold, weight, norm
    )


@pytest.mark.parametrize("learner", GAUSSIAN)
def test_new_names_are_recognized_by_being_new(learner):
    X, y = new_names(40)
    tagger = learner(random_state=0).fit(X, y)
    new, truth = new_names(12, first=40)
    assert tagger.predict(new).tolist() == truth
    belief = tagger.belief_
    row = belief.weights.reshape(-1, belief.width)[belief.unknown_row]
    assert tagger.classes_[row[: belief.n_labels].argmax()] == "NAME"
    assert row.any()


@pytest.mark.parametrize("learner", GAUSSIAN)
def test_nothing_changes_where_every_token_has_a_common_feature(learner):
    X, y = new_names(40)
    X = [[[word, "bias"] for word in sentence] for sentence in X]
    with_row = learner(random_state=0).fit(X, y)
    without = learner(random_state=0, learn_unknown_token=False).fit(X, y)
    assert_array_equal(with_row.coef_, without.coef_)
    assert_array_equal(with_row.coef_variance_, without.coef_variance_)
    assert_array_equal(with_row.transition_coef_, without.transition_coef_)


def test_features_known_to_the_encoder_alone_are_as_good_as_new():
    X, y = new_names(60)
    batch = SequenceEncoder().fit_transform(X)
    shared = CWSequenceTagger(random_state=0).fit(batch[:40], y[:40])
    own = CWSequenceTagger(random_state=0).fit(X[:40], y[:40])
    assert_array_equal(
        np.concatenate(shared.predict_confidence(batch[40:], "marginal")),
        np.concatenate(own.predict_confidence(X[40:], "marginal")),
    )
    assert shared.predict(batch[40:]).tolist() == own.predict(X[40:]).tolist()


def test_a_saved_tagger_knows_new_tokens(tmp_path):
    X, y = new_names(40)
    batch = SequenceEncoder().fit_transform(X + new_names(9, 40)[0])
    tagger = CWSequenceTagger(random_state=0).fit(batch[:40], y)
    tagger.save(tmp_path / "model")
    again = skcw.load(tmp_path / "model")
    for method in ("marginal", "kd-pc"):
        assert_array_equal(
            np.concatenate(again.predict_confidence(batch[40:], method)),
            np.concatenate(tagger.predict_confidence(batch[40:], method)),
        )


def test_partial_fit_keeps_the_row_when_labels_outgrow_a_register():
    X, y = new_names(40)
    tagger = CWSequenceTagger(random_state=0).fit(X, y)
    labels = [f"L{i}" for i in range(9)]
    tagger.partial_fit([labels], [labels])
    assert tagger.predict([["runs", "never"]]).tolist() == [["O", "NAME"]]


def test_partial_fit_hides_nothing():
    X, y = new_names(40)
    tagger = CWSequenceTagger(random_state=0)
    for sentence, labels in zip(X, y, strict=True):
        tagger.partial_fit([sentence], [labels], classes=["O", "NAME"])
    assert tagger.belief_.unknown_row == tagger.belief_.width
    assert tagger.predict(X).tolist() == y


def test_a_learner_without_the_row_leaves_unknown_tokens_alone():
    tagger = PASequenceTagger(random_state=0).fit(*new_names(40))
    assert tagger.belief_.unknown_row is None


@pytest.mark.parametrize("learner", GAUSSIAN)
def test_an_unknown_token_is_explained_by_that(learner):
    tagger = learner(random_state=0).fit(*new_names(40))
    why = tagger.explain(["runs", "never"])[1]
    assert "nothing known" in {part.feature for part in why.contributions}
    assert why.label == "NAME"


def test_every_lonely_token_is_hidden_once_in_as_many_passes_as_there_are_turns():
    batch = SequenceEncoder().fit_transform(new_names(10)[0])
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    views = Views(corpus_of(batch).parts()[0], belief, hiding=True)
    times = np.zeros(batch.n_tokens)
    for number in range(TURNS):
        shown = views.presented(0, views.turn_of(number, 100))
        times += shown.indices == batch.n_features
    alone = [[word.startswith("name") for word in row] for row in new_names(10)[0]]
    assert_array_equal(times.reshape(10, 3), alone)
    assert views.turn_of(9, 10) is None
    assert views.presented(0, None) is views.plain(0)[0]
    assert len(views.unseen) == 0


def test_a_weight_of_two_counts_as_two_occurrences():
    batch = SequenceEncoder().fit_transform(new_names(3)[0])
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    weight = np.array([2.0, 1.0, 0.0])
    views = Views(corpus_of(batch, weight).parts()[0], belief, hiding=True)
    shown = [views.presented(0, turn) for turn in range(TURNS)]
    hidden = sum(view.indices == batch.n_features for view in shown)
    # The second sentence: its verb, which the others do not share, and its name.
    assert_array_equal(hidden.reshape(3, 3)[1], [1, 1, 0])
    assert_array_equal(hidden.reshape(3, 3)[0], [0, 0, 0])
    names = batch.vocabulary.names()
    assert {names[i] for i in views.unseen} == {"left", "name2"}


def test_what_was_known_before_is_not_hidden():
    batch = SequenceEncoder().fit_transform(new_names(6)[0])
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    belief.unseen = belief.unseen[:0]
    assert Views(corpus_of(batch).parts()[0], belief, hiding=True).plain(0)[1] == []


@st.composite
def batches(draw):
    rows = draw(st.lists(st.lists(st.lists(st.integers(0, 6), max_size=3), max_size=4)))
    tokens = [token for row in rows for token in row]
    return SequenceBatch(
        np.cumsum([0] + [len(row) for row in rows]),
        np.cumsum([0] + [len(token) for token in tokens]),
        np.array([i for token in tokens for i in token], dtype=np.int32),
        None,
        7,
    )


def tokens_of(batch):
    return [part.tolist() for part in np.split(batch.indices, batch.indptr[1:-1])]


@given(batches(), st.sets(st.integers(0, 6)))
def test_a_readable_batch_lacks_what_is_unseen_and_no_token_is_empty(batch, unseen):
    found = batch._readable(np.array(sorted(unseen), dtype=np.int32), 7)
    kept = [[i for i in token if i not in unseen] for token in tokens_of(batch)]
    if batch.n_tokens:
        assert tokens_of(found) == [token or [7] for token in kept]
    again = found._readable(np.array(sorted(unseen), dtype=np.int32), 7)
    assert_array_equal(again.indices, found.indices)


@pytest.mark.parametrize("before", [True, False])
def test_learn_unknown_cannot_change_before_partial_fit(before):
    X, y = [["Ann", "left"], ["Bob"]], [["NAME", "O"], ["NAME"]]
    tagger = CWSequenceTagger(random_state=0, learn_unknown_token=before).fit(X, y)
    weights = tagger.coef_.copy()
    tagger.set_params(learn_unknown_token=not before)
    with pytest.raises(
        ValueError, match=f"learn_unknown_token is {not before}.*warm_start"
    ):
        tagger.partial_fit(X, y)
    with pytest.raises(ValueError, match="learn_unknown_token"):
        tagger.set_params(warm_start=True).fit(X, y)
    assert_array_equal(tagger.coef_, weights)
    # Training from the start takes the new value.
    assert tagger.set_params(warm_start=False).fit(X, y).predict(X)[1] == ["NAME"]


def trained_row(learner, strengths, monkeypatch, X, y):
    monkeypatch.setattr("skcw._model.unknown.STRENGTHS", strengths)
    tagger = learner(random_state=0).fit(X, y)
    belief = tagger.belief_
    return belief.weights.reshape(-1, belief.width)[belief.unknown_row]


@pytest.mark.parametrize("learner", GAUSSIAN)
@pytest.mark.parametrize("best", [0.0, 0.5, 1.5])
def test_the_row_is_taken_as_often_as_scores_best(learner, best, monkeypatch):
    """The trial is asked once for each strength; the best multiplies the row."""
    X, y = new_names(40)
    learned = trained_row(learner, (1.0,), monkeypatch, X, y)
    asked = []

    def score(gold, guess, offsets):
        asked.append(len(gold))
        return float(len(asked) == STRENGTHS.index(best) + 1)

    monkeypatch.setattr("skcw.tagging.online.label_scorer", lambda *_: score)
    found = trained_row(
        lambda **options: learner(calibrate_confidence=False, **options),
        STRENGTHS,
        monkeypatch,
        X,
        y,
    )
    assert len(asked) == len(STRENGTHS)
    assert_array_equal(found, learned * np.float32(best))


@pytest.mark.parametrize("gain", [0.0, LEAST_GAIN / 2])
def test_a_gain_within_chance_leaves_the_row_as_it_was_learned(gain):
    X, _ = new_names(8)
    batch = SequenceEncoder().fit_transform(X)
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    trial = Views(corpus_of(batch).parts()[0], belief, hiding=True).trial
    scores = iter([0.5, *([0.5 + gain] * (len(STRENGTHS) - 1))])
    assert with_fitting_row(belief, trial, None, lambda *_: next(scores)) is belief


def test_a_trial_hides_every_lonely_token_of_what_is_learned_from():
    X, _ = new_names(10)
    X.append(["runs", "today"])
    batch = SequenceEncoder().fit_transform(X)
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    corpus = corpus_of(batch)._replace(gold=np.arange(batch.n_tokens, dtype=np.int32))
    trial = Views(WholeCorpus(corpus, np.arange(2, 11)), belief, hiding=True).trial
    alone = [[word.startswith("name") for word in row] for row in X[2:10]]
    assert_array_equal((trial.batch.indices == batch.n_features).reshape(8, 3), alone)
    # The last sentence has no such token, and the first two are not learned from.
    assert_array_equal(trial.gold, np.arange(6, 30))


def test_without_a_lonely_token_there_is_no_trial():
    batch = SequenceEncoder().fit_transform([["a", "b"], ["b", "a"]])
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    assert Views(corpus_of(batch).parts()[0], belief, hiding=True).trial is None


def test_only_what_is_not_learned_from_may_have_a_lonely_token():
    X = [[["a"]], [["a", "b"], ["b"]]]
    batch = SequenceEncoder().fit_transform(X)
    belief = Belief.start(batch.n_features, 2, 1.0, learn_unknown_token=True)
    corpus = corpus_of(batch, np.array([0.0, 1.0]))
    assert Views(corpus.parts()[0], belief, hiding=True).trial is None


def test_training_labels_that_break_the_constraints_are_no_hindrance():
    X = [[["a"], ["b"]], [["c"]], [["d"], ["e"]]]
    y = [["B-P", "E-P"], ["B-P"], ["B-P", "E-P"]]
    tagger = AROWSequenceTagger(constraints="BIOES", max_iter=3)
    with pytest.warns(ConstraintWarning):
        tagger.fit(X, y)
    assert tagger.predict(X[:1]).tolist() == [["B-P", "E-P"]]
