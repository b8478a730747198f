"""One contract of all rerankers: answers, copies, searches, files, odd input."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import skcw
from skcw.exceptions import ModelFileError
from skcw.reranking import (
    AROWReranker,
    BaseReranker,
    BoostingReranker,
    CandidateLists,
    CWReranker,
    VotedPerceptronReranker,
)
from skcw.reranking.base import ScoreReranker
from tests.kernels.ranking_problems import random_lists, ranking_problems

RERANKERS = [
    VotedPerceptronReranker(max_iter=2, random_state=0),
    VotedPerceptronReranker(False, shuffle=True, random_state=0),
    BoostingReranker(50, random_state=0),
    BoostingReranker(20, validation_fraction=None),
    CWReranker(random_state=0),
    CWReranker(C=0.1, averaging=False, random_state=0),
    AROWReranker(random_state=0),
    CWReranker(C=None, score_scale=0.2, random_state=0),
    ScoreReranker(),
]
IDS = [repr(reranker) for reranker in RERANKERS]
every = pytest.mark.parametrize("reranker", RERANKERS, ids=IDS)


def learnable(seed=0, n_lists=150):
    """Return lists whose best candidate has feature 0, and their errors."""
    lists, dense, _ = random_lists(seed, n_lists=n_lists, n_features=6)
    return lists, lists.rows(2.0 * (1 - dense[:, 0]))


@every
def test_it_learns_and_says_so_in_all_ways(reranker):
    lists, errors = learnable()
    reranker = clone(reranker).fit(lists, errors)
    new, truth = learnable(1)
    if not isinstance(reranker, ScoreReranker):
        assert reranker.score(new, truth) > 0.9
    best = reranker.predict(new)
    assert best.dtype == np.int64 and best.shape == (len(new),)
    scores = reranker.decision_function(new)
    assert all(row.argmax() == j for row, j in zip(scores, best, strict=True))
    shares = reranker.candidate_probabilities(new)
    sure = reranker.predict_confidence(new)
    for row, j, own in zip(shares, best, sure, strict=True):
        np.testing.assert_allclose(row.sum(), 1.0, rtol=1e-12)
        assert row[j] == own == row.max()


@every
def test_reranking_puts_the_chosen_candidate_first(reranker):
    lists, errors = learnable()
    reranker = clone(reranker).fit(lists, errors)
    turned = reranker.rerank(lists)
    chosen = lists.offsets[:-1] + reranker.predict(lists)
    first = turned.offsets[:-1]
    np.testing.assert_array_equal(turned.scores[first], lists.scores[chosen])
    assert sorted(turned.scores) == sorted(lists.scores)


@every
def test_it_is_copied_pickled_and_saved(reranker, tmp_path):
    lists, errors = learnable()
    fitted = clone(reranker).fit(lists, errors)
    with pytest.raises(NotFittedError):
        clone(fitted).predict(lists)
    with pytest.raises(NotFittedError):
        clone(fitted).save(tmp_path / "nothing")
    fitted.save(tmp_path / "model")
    others = [
        pickle.loads(pickle.dumps(fitted)),
        skcw.load(tmp_path / "model"),
        type(fitted).load(tmp_path / "model"),
    ]
    for other in others:
        assert repr(other) == repr(fitted)
        for mine, theirs in zip(
            fitted.ranking(lists), other.ranking(lists), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)


def test_a_file_of_another_kind_is_refused(tmp_path):
    lists, errors = learnable()
    CWReranker().fit(lists, errors).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="CWReranker"):
        BoostingReranker.load(tmp_path / "model")
    with pytest.raises(ModelFileError):
        skcw.CWSequenceTagger.load(tmp_path / "model")
    tagger = skcw.PerceptronSequenceTagger().fit([["a"]], [["X"]])
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match="PerceptronSequenceTagger"):
        BaseReranker.load(tmp_path / "tagger")


def test_it_is_searched_and_cross_validated():
    lists, errors = learnable()
    grid = {"score_scale": [0.1, 1.0], "max_iter": [1, 2]}
    search = GridSearchCV(VotedPerceptronReranker(), grid, cv=3).fit(lists, errors)
    assert search.best_score_ > 0.8
    assert len(cross_val_score(CWReranker(), lists, errors, cv=3)) == 3


@every
def test_the_same_seed_gives_the_same_weights(reranker):
    lists, errors = learnable()
    one, other = (clone(reranker).fit(lists, errors) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.score_coef_ == other.score_coef_


@every
def test_fitting_leaves_parameters_and_data_alone(reranker):
    lists, errors = learnable()
    scores, before = lists.scores.copy(), repr(reranker)
    again = clone(reranker)
    assert again.fit(lists, errors) is again
    assert repr(again) == before
    np.testing.assert_array_equal(lists.scores, scores)


@every
@settings(deadline=None, max_examples=25)
@given(problem=ranking_problems())
def test_no_number_is_ever_nan(reranker, problem):
    lists, _, errors = problem
    if len(lists) < 2:
        return
    fitted = clone(reranker).fit(lists, lists.rows(errors))
    assert np.isfinite(fitted.coef_).all() and np.isfinite(fitted.score_coef_)
    for numbers in fitted.ranking(lists):
        assert np.isfinite(numbers).all()


@every
def test_one_candidate_is_chosen_for_sure(reranker):
    X = [[([0], -1.0)]] * 4
    fitted = clone(reranker).fit(X, [[3]] * 4)
    assert fitted.predict(X).tolist() == [0, 0, 0, 0]
    assert fitted.predict_confidence(X).tolist() == [1.0] * 4
    assert not fitted.coef_.any()


@every
def test_candidates_that_are_all_alike_share_alike(reranker):
    X = [[([0], -1.0), ([0], -1.0)]] * 4
    fitted = clone(reranker).fit(X, [[1, 0]] * 4)
    assert not fitted.coef_.any()
    assert fitted.predict(X).tolist() == [0, 0, 0, 0]
    if not getattr(reranker, "voting", False):
        np.testing.assert_allclose(fitted.predict_confidence(X), 0.5)


@every
def test_probabilities_of_zero_leave_finite_weights(reranker):
    lists, errors = learnable()
    lists.scores[::3] = -np.inf
    lists = CandidateLists(
        lists.offsets, lists.scores, lists.indptr, lists.indices, lists.n_features
    )
    fitted = clone(reranker).fit(lists, errors)
    assert np.isfinite(fitted.coef_).all() and np.isfinite(fitted.score_coef_)
    for numbers in fitted.ranking(lists):
        assert np.isfinite(numbers).all()


@every
def test_nothing_to_learn_from_is_refused(reranker):
    with pytest.raises(ValueError, match="no list to learn from"):
        clone(reranker).fit([], [])
    with pytest.raises(ValueError, match="list 0 has no candidate"):
        clone(reranker).fit([[]], [[]])
    with pytest.raises(ValueError, match="sample_weight"):
        clone(reranker).fit([[([0], 0.0)]], [[0]], sample_weight=[-1.0])


@every
def test_a_failed_fit_leaves_a_fitted_reranker_as_it_was(reranker):
    lists, errors = learnable()
    fitted = clone(reranker).fit(lists, errors)
    before = pickle.dumps(fitted)
    with pytest.raises(ValueError, match="y of list 2"):
        fitted.fit(lists, [*errors[:2], [np.nan] * 5, *errors[3:]])
    assert pickle.dumps(fitted) == before


@every
def test_other_features_than_in_training_are_refused(reranker):
    lists, errors = learnable()
    fitted = clone(reranker).fit(lists, errors)
    wider = CandidateLists.from_rows([[([0], 0.0)]], n_features=7)
    with pytest.raises(
        ValueError, match="7 features, but the reranker was fitted on 6"
    ):
        fitted.predict(wider)
    with pytest.raises(ValueError, match="feature 9"):
        fitted.predict([[([9], 0.0)]])


@every
def test_no_lists_have_no_answers(reranker):
    lists, errors = learnable()
    fitted = clone(reranker).fit(lists, errors)
    for found in (fitted.predict([]), fitted.predict_confidence([])):
        assert found.shape == (0,)
    assert len(fitted.rerank([])) == 0


@pytest.mark.parametrize(
    "reranker",
    [
        VotedPerceptronReranker(max_iter=0),
        VotedPerceptronReranker(score_scale=-1),
        BoostingReranker(0),
        BoostingReranker(smoothing=0),
        BoostingReranker(validation_fraction=1.0),
        CWReranker(phi=0),
        AROWReranker(r=-1),
    ],
    ids=repr,
)
def test_bad_parameters_are_refused(reranker):
    with pytest.raises(ValueError, match="parameter of"):
        reranker.fit([[([0], 0.0)]], [[0]])


def test_one_list_cannot_be_held_out():
    X, y = [[([0], 0.0), ([1], 0.0)]], [[0, 1]]
    with pytest.raises(ValueError, match="validation_fraction=None"):
        BoostingReranker().fit(X, y)
    assert BoostingReranker(5, validation_fraction=None).fit(X, y).n_rounds_ > 0


def test_the_surer_the_belief_the_surer_the_choice():
    X = [[([0], 0.0), ([1], 0.0)]]
    few = CWReranker(max_iter=1, shuffle=False).fit(X * 2, [[1, 0]] * 2)
    many = CWReranker(max_iter=1, shuffle=False).fit(X * 50, [[1, 0]] * 50)
    assert 0.5 < few.predict_confidence(X)[0] < many.predict_confidence(X)[0] < 1
