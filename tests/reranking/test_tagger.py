"""Reranked taggers: candidates by jackknifing, answers, explanations, files."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skcw
from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw.calibration import CalibratedTagger
from skcw.data import TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.reranking import (
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    VotedPerceptronReranker,
)
from skcw.reranking.scored import Confidence, RerankedWords, learned_confidence
from skcw.reranking.selection import Jackknife, Sentences, sentence_folds
from skcw.reranking.spans import CodedNbest
from skcw.utils.laws import make_tagged
from tests.object_rows import object_rows

X, Y = make_tagged_corpus(120, random_state=0, return_X_y=True)
NEW, TRUE = make_tagged_corpus(30, random_state=1, return_X_y=True)
BASES = [
    CWSequenceTagger(max_iter=3, random_state=0),
    AROWSequenceTagger(max_iter=3, random_state=0),
    PASequenceTagger(max_iter=3, random_state=0),
    PerceptronSequenceTagger(max_iter=3, random_state=0),
    HMMSequenceTagger(word_prefix="word[0]="),
    MaxEntSequenceTagger(tol=0.1, random_state=0),
    CRFSequenceTagger(max_iter=10),
]


def pipeline(tagger=None):
    return make_tagging_pipeline("ner", tagger or BASES[0])


@pytest.fixture(scope="module")
def fitted():
    reranker = CWReranker(score_scale=0.2, random_state=0)
    tagger = RerankedTagger(pipeline(), reranker, cv=3, held_out_folds=0)
    return tagger.fit(X, Y)


@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
def test_any_tagger_can_be_reranked(base):
    tagger = RerankedTagger(pipeline(base), n_best=5, cv=2, held_out_folds=0).fit(
        X[:60], Y[:60]
    )
    lists = tagger.candidates(NEW)
    assert lists.lengths.max() <= 5
    for s, labels in enumerate(tagger.predict(NEW)):
        assert labels in lists.labelings[s]


def test_what_is_chosen_is_what_the_reranker_chooses(fitted):
    lists = fitted.candidates(NEW)
    best = fitted.reranker_.predict(lists)
    wanted = [row[j] for row, j in zip(lists.labelings, best, strict=True)]
    assert fitted.predict(NEW).tolist() == wanted
    base = fitted.estimator_.predict(NEW).tolist()
    assert [row[0] for row in lists.labelings] == base
    assert wanted != base


def test_marginals_are_sums_over_candidates(fitted):
    answers, lists = fitted.predict_all(NEW[:5]), fitted.candidates(NEW[:5])
    shares = fitted.reranker_.candidate_probabilities(lists)
    for s, row in enumerate(answers.marginals()):
        for t, token in enumerate(row):
            for label, found in token.items():
                mine = [y[t] == label for y in lists.labelings[s]]
                np.testing.assert_allclose(found, shares[s][mine].sum(), atol=1e-12)
    whole = answers.sequence_confidence()
    np.testing.assert_allclose(whole, [row.max() for row in shares], rtol=1e-12)


def test_no_more_labelings_are_known_than_candidates(fitted):
    few = fitted.predict_nbest(NEW[:3], 1000)
    lists = fitted.candidates(NEW[:3])
    assert [len(row) for row in few] == lists.lengths.tolist()


def test_shares_of_labelings_are_those_of_the_reranker(fitted):
    answers, lists = fitted.predict_all(NEW[:3]), fitted.candidates(NEW[:3])
    shares = fitted.reranker_.candidate_probabilities(lists)
    for s, found in enumerate(answers.labeling_shares(4)):
        row = answers.nbest(4)[s]
        own = [shares[s][lists.labelings[s].index(labels)] for labels, _ in row]
        np.testing.assert_allclose(found, np.array(own) / sum(own), rtol=1e-12)


def test_shares_of_labelings_of_other_taggers_are_those_of_their_scores(fitted):
    answers = fitted.estimator_.predict_all([*NEW[:2], []])
    for row, found in zip(answers.nbest(3), answers.labeling_shares(3), strict=True):
        power = np.exp(np.array([score for _, score in row]) / answers.temperature)
        np.testing.assert_allclose(found, power / power.sum(), rtol=1e-12)


def test_sampled_labelings_come_as_often_as_they_are_probable(fitted):
    (drawn,) = fitted.sample(NEW[:1], 4000)
    lists = fitted.candidates(NEW[:1])
    shares = fitted.reranker_.candidate_probabilities(lists)[0]
    for labels, share in zip(lists.labelings[0], shares, strict=True):
        # Five standard deviations of a share of 4,000 draws, at most.
        assert abs(drawn.count(labels) / 4000 - share) < 0.04
    again = fitted.sample(NEW[:1], 4000)[0]
    assert again == drawn
    with pytest.raises(TypeError, match="random_state"):
        fitted.sample(NEW[:1], 3, temperature=2.0)


def test_a_choice_is_explained_by_the_features_that_tell_it_apart(fitted):
    changed = [
        choice
        for choice in map(fitted.explain_choice, NEW)
        if choice.labels != choice.base_labels
    ]
    assert changed
    for choice in changed:
        assert choice.advantage > 0 >= choice.score
        assert choice.gained or choice.lost
        weights = [abs(weight) for _, weight in choice.gained]
        assert weights == sorted(weights, reverse=True)


def test_a_choice_that_changes_nothing_needs_no_features(fitted):
    same = [
        choice
        for choice in map(fitted.explain_choice, NEW)
        if choice.labels == choice.base_labels
    ]
    assert same
    assert all(choice[2:] == (0.0, [], []) for choice in same)


def test_sentences_are_judged_by_taggers_that_have_not_seen_them():
    class Remembering(PerceptronSequenceTagger):
        """It labels the words that it has seen."""

        def fit(self, X, y, sample_weight=None):
            super().fit(X, y)
            self.seen_ = {word for row in X for word in row}
            return self

        def predict_nbest(self, X, n):
            return object_rows([([w in self.seen_ for w in row], 0.0)] for row in X)

    rows = object_rows([[f"a{i}", f"b{i}"] for i in range(10)])
    labels = object_rows([["X", "Y"] for _ in rows])
    folds = np.arange(10) % 3
    found = Jackknife(
        Remembering(max_iter=1), Sentences(rows, labels), folds, 1, [False, True]
    ).lists()
    assert all(row.codes.tolist() == [[0, 0]] for row in found)


def test_folds_are_of_neighbors_and_keep_copies_together():
    rows = object_rows([["a"], ["b"], ["a"], ["c"], [], ["d"], ["e"]])
    y = object_rows([["X"] * len(row) for row in rows])
    tagger = PerceptronSequenceTagger().fit(rows, y)
    weight = np.array([1.0, 1, 1, 1, 1, 0, 1])
    folds = sentence_folds(tagger, rows, y, weight, 2)
    assert folds.tolist() == [0, 0, 0, 1, -1, -1, 1]
    with pytest.raises(ValueError, match="4 different sequences cannot make 5 folds"):
        sentence_folds(tagger, rows, y, weight, 5)


def test_it_reads_words_from_columns_batches_and_features(fitted):
    answers = fitted.predict(NEW).tolist()
    columns = TokenColumns.from_sequences(NEW)
    assert fitted.predict(columns).tolist() == answers
    assert fitted.predict_single(NEW[0]) == answers[0]
    corpus = make_tagged(BASES[0], n_sequences=40)
    options = {"cv": 2, "min_count": 1, "held_out_folds": 0}
    tagger = RerankedTagger(BASES[0], word_prefix="w=", **options)
    tagger.fit(*corpus)
    names = tagger.global_features_.vocabulary_.names()
    assert any(name.startswith("PER WE=") and name != "PER WE=" for name in names)


def long_names(tokens, labels):
    return [f"inside={sum(label[:1] == 'I' for label in labels)}"]


def test_features_of_the_user_are_used_and_pickled_but_not_saved(tmp_path):
    options = {"cv": 2, "templates": (), "held_out_folds": 0}
    tagger = RerankedTagger(pipeline(), functions=[long_names], **options)
    tagger.fit(X, Y)
    names = tagger.global_features_.vocabulary_.names()
    assert names and all(name.startswith("inside=") for name in names)
    copy = pickle.loads(pickle.dumps(tagger))
    assert copy.predict(NEW).tolist() == tagger.predict(NEW).tolist()
    with pytest.raises(ValueError, match="functions cannot be saved without pickle"):
        tagger.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_function_that_fails_leaves_a_fitted_tagger_as_it_was(fitted):
    def fails(tokens, labels):
        raise KeyError("no such thing")

    tagger = pickle.loads(pickle.dumps(fitted)).set_params(functions=[fails])
    with pytest.raises(ValueError, match="fails failed on sentence 0"):
        tagger.fit(X, Y)
    assert tagger.predict(NEW).tolist() == fitted.predict(NEW).tolist()


@pytest.mark.parametrize("held_out_folds", [0, 1])
@pytest.mark.parametrize("reranker", [None, BoostingReranker(30, random_state=0)])
def test_it_is_saved_with_all_its_parts(reranker, held_out_folds, tmp_path):
    tagger = RerankedTagger(
        pipeline(), reranker, cv=2, lexicon={"the"}, held_out_folds=held_out_folds
    ).fit(X, Y)
    tagger.save(tmp_path / "model")
    for other in (
        skcw.load(tmp_path / "model"),
        RerankedTagger.load(tmp_path / "model"),
    ):
        assert other.predict(NEW).tolist() == tagger.predict(NEW).tolist()
        assert repr(other.reranker) == repr(tagger.reranker)
        assert repr(other.reranker_) == repr(tagger.reranker_)
        assert other.trials_ == tagger.trials_
        assert other.reranks_ == tagger.reranks_
        pairs = other.predict_confidence(NEW), tagger.predict_confidence(NEW)
        for mine, theirs in zip(*pairs, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert (
            clone(other).fit(X, Y).predict(NEW).tolist() == tagger.predict(NEW).tolist()
        )


def test_it_is_calibrated_and_saved_so(tmp_path):
    inner = RerankedTagger(
        pipeline(), VotedPerceptronReranker(), cv=2, held_out_folds=0
    )
    tagger = CalibratedTagger(inner, cv=2, method="beta").fit(X, Y)
    tagger.save(tmp_path / "model")
    other = skcw.load(tmp_path / "model")
    for mine, theirs in zip(
        tagger.predict_confidence(NEW), other.predict_confidence(NEW), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
        assert ((mine >= 0) & (mine <= 1)).all()


def test_it_is_searched_with_its_parts():
    grid = {"reranker__score_scale": [0.1, 1.0], "n_best": [2, 4]}
    tagger = RerankedTagger(
        pipeline(), VotedPerceptronReranker(), cv=2, held_out_folds=0
    )
    search = GridSearchCV(tagger, grid, cv=2).fit(X[:60], Y[:60])
    assert set(search.best_params_) == set(grid)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_best": 0}, "n_best"),
        ({"cv": 1}, "cv"),
        ({"loss": "tokens"}, "loss"),
        ({"min_count": 0}, "min_count"),
        ({"held_out_folds": -1}, "held_out_folds"),
        ({"held_out_folds": "all"}, "held_out_folds"),
        ({"reranker": "voted"}, "reranker"),
        ({"templates": ["words"]}, "no templates"),
        ({"cv": 500}, "cannot make 500 folds"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RerankedTagger(pipeline(), **arguments).fit(X[:20], Y[:20])


def test_one_candidate_leaves_the_base_tagger_as_it_is():
    tagger = RerankedTagger(pipeline(), n_best=1, cv=2).fit(X, Y)
    assert tagger.predict(NEW).tolist() == tagger.estimator_.predict(NEW).tolist()
    assert tagger.trials_ == [] and len(tagger.global_features_.vocabulary_) == 0
    pairs = tagger.predict_confidence(NEW), tagger.estimator_.predict_confidence(NEW)
    for mine, theirs in zip(*pairs, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_confidence_of_reranked_labels_is_that_of_least_loss_in_words_held_out():
    # A word is right in four of five cases; candidates and base are too sure of it.
    rows = [CodedNbest(np.array([[0], [1]]), np.zeros(2))] * 50
    true = object_rows([["X" if k % 5 else "Y"] for k in range(50)])

    class Sure:
        def label_confidence(self, y):
            return [np.full(len(row), 0.999) for row in y]

    shares = [np.array([0.99, 0.01])] * 50
    words = RerankedWords(
        rows, [0] * 50, shares, Sentences(None, true), Sure(), ["X", "Y"]
    )
    found = learned_confidence([words])
    own = found.tempered(np.array([0.99, 0.01]), np.array([0]), np.array([2]))
    mixed = (1 - found.base_share) * own[0] + found.base_share * 0.999
    assert found.temperature > 1 and abs(mixed - 0.8) < 0.05
    np.testing.assert_allclose(own.sum(), 1.0, rtol=1e-12)


def test_confidence_mixes_candidates_with_the_base_tagger_and_is_saved(
    fitted, tmp_path
):
    tagger = pickle.loads(pickle.dumps(fitted))
    tagger.confidence_ = Confidence(2.0, 0.25)
    base = fitted.estimator_.predict_all(NEW[:5])
    lists, answers = fitted.candidates(NEW[:5]), tagger.predict_all(NEW[:5])
    shares = fitted.reranker_.candidate_probabilities(lists)
    theirs = base.label_confidence(answers.labels())
    for s, (labels, sure) in enumerate(
        zip(answers.labels(), answers.confidence(), strict=True)
    ):
        share = np.sqrt(shares[s]) / np.sqrt(shares[s]).sum()
        for t, label in enumerate(labels):
            own = share[[y[t] == label for y in lists.labelings[s]]].sum()
            wanted = 0.75 * own + 0.25 * theirs[s][t]
            np.testing.assert_allclose(sure[t], wanted, rtol=1e-9)
    np.testing.assert_allclose(answers.label_table().sum(axis=1), 1.0, rtol=1e-9)
    tagger.save(tmp_path / "model")
    assert skcw.load(tmp_path / "model").confidence_ == Confidence(2.0, 0.25)


def test_progress_is_shown_with_the_time_that_it_takes_about(capsys):
    tagger = RerankedTagger(pipeline(), cv=2, held_out_folds=0, verbose=1)
    tagger.fit(X[:20], Y[:20])
    assert "reranking, about" in capsys.readouterr().err
