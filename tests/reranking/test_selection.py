"""Which reranker is used, if any: honest lists, evidence, and what is kept of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw import CWSequenceTagger, PerceptronSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.metrics import span_f1_score, token_accuracy_score
from skcw.reranking import (
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    VotedPerceptronReranker,
)
from skcw.reranking.base import ScoreReranker
from skcw.reranking.candidates import labeling_errors
from skcw.reranking.selection import (
    HeldOut,
    Jackknife,
    Sentences,
    Trial,
    best_of,
    compared,
    folds_to_hold_out,
)
from tests.object_rows import object_rows

# What sums of integers and their quotients are off by.
ROUNDING = 1e-12
LABELS = st.sampled_from(["O", "B-A", "I-A", "B-B"])
SENTENCE = st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=4)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(SENTENCE, min_size=1, max_size=5), st.sampled_from(["labels", "entities"])
)
def test_scores_are_those_of_metrics_and_evidence_has_the_sign_of_the_gain(rows, loss):
    true, old, new = ([[t[k] for t in row] for row in rows] for k in range(3))
    score = span_f1_score if loss == "entities" else token_accuracy_score

    def judged(y):
        errors, sizes = labeling_errors([[labels] for labels in y], true, loss)
        return [(e[0], n[0]) for e, n in zip(errors, sizes, strict=True)]

    found, base, evidence = compared(judged(old), judged(new), [1.0] * len(rows))
    if any(size for _, size in judged(new)):
        assert found == pytest.approx(score(true, new), abs=ROUNDING)
    if any(size for _, size in judged(old)):
        assert base == pytest.approx(score(true, old), abs=ROUNDING)
    if all(any(size for _, size in judged(y)) for y in (old, new)):
        assert evidence * (found - base) >= -ROUNDING
        assert (abs(found - base) > ROUNDING) <= (evidence != 0)


def test_evidence_grows_with_the_sentences_that_agree():
    few, many = (compared([(1, 2)] * n, [(0, 2)] * n, [1.0] * n)[2] for n in (4, 16))
    assert (few, many) == (2.0, 4.0)
    assert compared([(1, 2)], [(0, 2)], [4.0])[2] == 2.0
    assert compared([(1, 2), (0, 2)], [(0, 2), (1, 2)], [1.0, 1.0])[2] == 0.0


@pytest.mark.parametrize(
    ("evidence", "best"),
    [([], None), ([1.4], None), ([1.0, 1.5], 1), ([2.5, 1.0], None)],
)
def test_the_best_reranker_is_used_if_it_is_more_than_chance(evidence, best):
    trials = [Trial("r", 0.8 + k / 100, 0.7, z) for k, z in enumerate(evidence)]
    assert best_of(trials) == best


def test_folds_are_held_out_from_the_last_one_on():
    folds = np.array([-1, 0, 0, 1, 2, 2])
    assert folds_to_hold_out(folds, "auto") == [2, 1]
    assert folds_to_hold_out(folds, 2) == [2, 1]
    assert folds_to_hold_out(folds, 9) == [2, 1, 0]


@pytest.mark.parametrize(
    ("better", "worse", "same", "decided"),
    [
        (4, 0, 16, True),
        (3, 0, 17, False),
        (0, 4, 16, True),
        (1, 1, 18, True),
        (0, 0, 20, True),
    ],
)
def test_folds_are_held_out_until_the_evidence_is_clear(better, worse, same, decided):
    held_out = HeldOut(None, [CWReranker(), CWReranker()])
    held_out.weight = [1.0] * (better + worse + same)
    held_out.first = [(1, 2)] * better + [(0, 2)] * (worse + same)
    new = [(0, 2)] * better + [(1, 2)] * worse + [(0, 2)] * same
    # The evidence of the one that did best counts, not that of the other.
    held_out.chosen = [new, [(2, 2)] * len(new)]
    assert held_out.decided() == decided


def test_nothing_that_a_trial_rests_on_has_seen_the_fold():
    class Remembering(PerceptronSequenceTagger):
        """It labels the words that it has seen with X."""

        def fit(self, X, y, sample_weight=None):
            super().fit(X, y)
            self.seen_ = {word for row in X for word in row}
            return self

        def predict_nbest(self, X, n):
            return object_rows(
                [(["X" if w in self.seen_ else "Y" for w in row], 0.0)] for row in X
            )

    seen = []

    def encode(sentences, nbest, features=None):
        labelings = [["XY"[code] for code in row.codes[0]] for row in nbest]
        seen.append((features, labelings, len(sentences.X)))
        features = features or GlobalFeaturesOfNothing()
        lists = features.transform([[(labels, 0.0)] for labels in labelings])
        return lists, *labeling_errors(lists.labelings, sentences.y, "labels"), features

    rows = object_rows([[f"a{i}", f"b{i}"] for i in range(12)])
    sentences = Sentences(rows, object_rows([["X", "Y"]] * 12))
    folds = np.arange(12) % 3
    copies = []

    class Counting(Jackknife):
        def copy_without(self, *left_out):
            copies.append(left_out)
            return super().copy_without(*left_out)

    jackknife = Counting(Remembering(max_iter=1), sentences, folds, 1, ["X", "Y"])
    held_out, nbest = HeldOut(encode, [ScoreReranker()]), jackknife.lists()
    for fold in (2, 1):
        rest, new = sentences[folds != fold], folds == fold
        lists = jackknife.lists_without(fold)
        held_out.add(rest, lists, sentences[new], nbest[new], fold)
        (none, train, n_train), (features, held, n_held) = seen[-2:]
        assert none is None and features is not None and (n_train, n_held) == (8, 4)
        assert all(labels == ["Y", "Y"] for labels in [*train, *held])
    assert held_out.trials()[0][1:] == (0.5, 0.5, 0.0)
    # A copy without both folds has made two lists at once.
    assert copies == [(0,), (1,), (2,), (2, 0), (2, 1), (1, 0)]


class GlobalFeaturesOfNothing:
    """Features that are none."""

    def transform(self, nbest):
        from skcw.reranking import GlobalFeatures

        X = [["w"] * len(row[0][0]) for row in nbest]
        return GlobalFeatures(()).fit_transform(X, nbest)


def pipeline():
    return make_tagging_pipeline("ner", CWSequenceTagger(max_iter=3, random_state=0))


@pytest.mark.parametrize(
    "reranker",
    [None, VotedPerceptronReranker(), BoostingReranker(200, random_state=0)],
    ids=repr,
)
def test_few_sentences_leave_the_labels_as_they_are(reranker):
    X, y = make_tagged_corpus(80, random_state=5, return_X_y=True)
    new, _ = make_tagged_corpus(30, random_state=4, return_X_y=True)
    tagger = RerankedTagger(pipeline(), reranker, cv=3).fit(X, y)
    assert not tagger.reranks_ and isinstance(tagger.reranker_, ScoreReranker)
    assert all(trial.evidence < 2 for trial in tagger.trials_)
    assert tagger.predict(new).tolist() == tagger.estimator_.predict(new).tolist()
    for row in tagger.predict_confidence(new):
        assert ((row > 0) & (row <= 1)).all()


def right(tokens, labels):
    """Tell whether the label is the true one of a made sentence."""
    return [f"right={labels[0] == 'B-' + tokens[0][0][0]}"]


def test_a_reranker_that_gains_is_used_with_the_best_scale():
    # The tagger sees the second letter of a word, which says nothing.
    rng = np.random.RandomState(0)
    words = [rng.choice(["A", "B"]) + rng.choice(["x", "y"]) for _ in range(150)]
    X = [[(word, f"t{s}")] for s, word in enumerate(words)]
    y = [["B-" + word[0]] for word in words]
    base = make_tagging_pipeline(
        ["suffix(1)[0]", "pos[0]"], CWSequenceTagger(random_state=0)
    )
    tagger = RerankedTagger(
        base, VotedPerceptronReranker(), templates=(), functions=[right], cv=3
    ).fit(X, y)
    assert tagger.reranks_
    assert max(trial.score for trial in tagger.trials_) == 1.0
    assert tagger.reranker_.score_scale in (0.5, 2.0, 10.0)
    assert len(tagger.trials_) == 3
    assert tagger.predict(X).tolist() == y


def test_a_scale_that_is_given_is_the_only_one_tried():
    assert [r.score_scale for r in CWReranker(score_scale=3.0).variants()] == [3.0]
    assert [r.score_scale for r in CWReranker().variants()] == [0.5, 2.0, 10.0]


@pytest.mark.parametrize(
    ("given", "tried"),
    [((10_000, 0.2), [100, 1000, 10_000]), ((30, 0.2), [1, 3, 30]), ((1, 0.2), [1])],
)
def test_rounds_of_boosting_are_chosen_on_sentences_held_out(given, tried):
    n_rounds, fraction = given
    reranker = BoostingReranker(n_rounds, smoothing=0.5, validation_fraction=fraction)
    found = [one.get_params() for one in reranker.variants()]
    assert [one["n_rounds"] for one in found] == tried
    # Lists that others learn from decide nothing more.
    assert all(one["validation_fraction"] is None for one in found)
    assert all(one["smoothing"] == 0.5 for one in found)
    assert not hasattr(reranker, "coef_") and reranker.validation_fraction == fraction


def test_rounds_of_boosting_that_are_given_are_the_only_ones_tried():
    (only,) = BoostingReranker(70, validation_fraction=None).variants()
    assert only.get_params()["n_rounds"] == 70


def test_probabilities_of_a_score_are_the_likeliest():
    X = [[([], 0.0), ([], -2.0)]] * 4
    fitted = ScoreReranker().fit(X, [[0, 1]] * 3 + [[1, 0]])
    # Three of four lists have the first candidate: the odds are three to one.
    np.testing.assert_allclose(fitted.predict_confidence(X), 0.75, rtol=1e-9)
    np.testing.assert_allclose(fitted.score_coef_, np.log(3) / 2, rtol=1e-9)


def test_two_sentences_give_no_evidence():
    X, y = [["Ann", "left"], ["Bob", "came"]], [["B-P", "O"]] * 2
    tagger = RerankedTagger(make_tagging_pipeline(["word"]), cv=2).fit(X, y)
    assert not tagger.reranks_
    assert all(trial[1:] == (1.0, 1.0, 0.0) for trial in tagger.trials_)
