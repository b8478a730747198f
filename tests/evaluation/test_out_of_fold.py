"""Out-of-fold confidences: as if each fold had been asked by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from skcw import CRFSequenceTagger, CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import cross_val_confidence

X, Y = make_tagged_corpus(150, random_state=0, return_X_y=True)
TAGGER = make_tagging_pipeline("ner", CWSequenceTagger(max_iter=3, random_state=0))


def test_each_fold_is_asked_by_a_tagger_that_has_learned_from_the_others():
    found = cross_val_confidence(TAGGER, X, Y, cv=3)
    for number, (train, test) in enumerate(KFold(3).split(Y)):
        copy = clone(TAGGER).fit([X[i] for i in train], [Y[i] for i in train])
        answers = copy.predict_all([X[i] for i in test])
        assert found.labels[test].tolist() == answers.labels().tolist()
        assert (found.fold[test] == number).all()
        given = answers.label_confidence([Y[i] for i in test], "marginal")
        for mine, theirs in (
            (found.confidence, answers.confidence()),
            (found.given_confidence, given),
        ):
            assert all(map(np.array_equal, mine[test], theirs))


def test_groups_reach_the_splitter():
    groups = np.arange(150) // 10
    found = cross_val_confidence(TAGGER, X, Y, cv=GroupKFold(3), groups=groups)
    assert all(len(set(found.fold[groups == g])) == 1 for g in range(15))


def test_workers_change_no_bit():
    one = cross_val_confidence(TAGGER, X, Y, cv=2)
    two = cross_val_confidence(TAGGER, X, Y, cv=2, n_jobs=2)
    assert all(map(np.array_equal, one.confidence, two.confidence))


def test_any_tagger_and_method_will_do():
    crf = make_tagging_pipeline("ner", CRFSequenceTagger(max_iter=5))
    found = cross_val_confidence(crf, iter(X[:40]), iter(Y[:40]), cv=2)
    assert len(found.labels) == 40
    fast = cross_val_confidence(TAGGER, X, Y, cv=2, method="delta")
    assert max(row.max() for row in fast.confidence) > 1


def test_planted_errors_are_among_the_first_suspects():
    planted = [list(row) for row in Y]
    places = [(s, Y[s].index("O")) for s in range(0, 150, 10) if "O" in Y[s]]
    for s, t in places:
        planted[s][t] = "B-DATE"
    found = cross_val_confidence(TAGGER, X, planted)
    suspects = found.suspects(planted)
    # Of 1,800 words; chance would find none of the planted ones.
    listed = {(s, t) for s, a, b, *_ in suspects[:40] for t in range(a, b)}
    assert len(listed & set(places)) >= 0.75 * len(places)
    with pytest.raises(ValueError, match="y has 149 sequences but X has 150"):
        found.suspects(planted[1:])
    with pytest.raises(ValueError, match=r"sequence 0 has \d+ labels but \d+ tokens"):
        found.suspects([planted[0][1:], *planted[1:]])


def test_bad_folds_are_refused():
    with pytest.raises(ValueError, match="150 sentences cannot make 200 folds"):
        cross_val_confidence(TAGGER, X, Y, cv=200)
    with pytest.raises(ValueError, match="exactly once"):
        cross_val_confidence(TAGGER, X, Y, cv=ShuffleSplit(2, random_state=0))
    with pytest.raises(ValueError, match="tests on what it trains on"):
        both = [(np.arange(150), np.arange(75)), (np.arange(75), np.arange(75, 150))]
        cross_val_confidence(TAGGER, X, Y, cv=both)
    with pytest.raises(ValueError, match="X has 150 sequences but y has 149"):
        cross_val_confidence(TAGGER, X, Y[:-1])
