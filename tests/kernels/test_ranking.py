"""Online rankers and votes against their twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.reranking import AROWReranker, CWReranker, VotedPerceptronReranker
from skcw.reranking.base import Problem
from tests.kernels.ranking_problems import random_lists, ranking_problems
from tests.reference import ranking, steps

RTOL = 1e-9
ATOL = 1e-12


def as_rows(lists, errors):
    return lists.rows(errors)


def target_of(lists, errors):
    return Problem(lists, errors, np.ones(len(lists))).target


@settings(deadline=None, max_examples=150)
@given(ranking_problems(), ranking_problems(), st.integers(1, 3))
def test_exact_voting_equals_a_naive_vote(train, new, max_iter):
    lists, dense, errors = train
    reranker = VotedPerceptronReranker(max_iter=max_iter, score_scale=1.0)
    reranker.fit(lists, as_rows(lists, errors))
    order = list(range(len(lists))) * max_iter
    target = target_of(lists, errors)
    kept = ranking.perceptron(lists.offsets, dense, lists.scores, target, order)
    probe, matrix, _ = new
    naive = ranking.votes(kept, probe.offsets, matrix, probe.scores) / len(kept)
    found = np.concatenate(reranker.decision_function(probe))
    np.testing.assert_allclose(found, naive, rtol=0, atol=ATOL)


@pytest.mark.parametrize("seed", range(4))
def test_many_steps_vote_as_they_do_one_by_one(seed):
    lists, dense, errors = random_lists(seed, n_lists=80)
    reranker = VotedPerceptronReranker(max_iter=4, score_scale=1.0)
    reranker.fit(lists, as_rows(lists, errors))
    order = list(range(len(lists))) * 4
    target = target_of(lists, errors)
    kept = ranking.perceptron(lists.offsets, dense, lists.scores, target, order)
    assert reranker.n_steps_ > 100
    naive = ranking.votes(kept, lists.offsets, dense, lists.scores) / len(kept)
    found = np.concatenate(reranker.decision_function(lists))
    np.testing.assert_allclose(found, naive, rtol=0, atol=ATOL)


@settings(deadline=None, max_examples=60)
@given(ranking_problems(), st.integers(1, 3))
def test_the_average_is_the_mean_of_all_weights(train, max_iter):
    lists, dense, errors = train
    reranker = VotedPerceptronReranker(False, max_iter=max_iter, score_scale=0.5)
    reranker.fit(lists, as_rows(lists, errors))
    order = list(range(len(lists))) * max_iter
    target = target_of(lists, errors)
    kept = ranking.perceptron(lists.offsets, dense, 0.5 * lists.scores, target, order)
    mean = kept.mean(axis=0)
    np.testing.assert_allclose(reranker.coef_, mean[:-1], rtol=RTOL, atol=ATOL)
    np.testing.assert_allclose(
        reranker.score_coef_, 0.5 * mean[-1], rtol=RTOL, atol=ATOL
    )


@pytest.mark.parametrize("averaging", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("reranker", "step"),
    [
        (
            CWReranker(0.7, C=None, score_scale=0.2),
            lambda m, v: steps.cw_step(m, v, 0.7),
        ),
        (
            AROWReranker(2.0, score_scale=0.2),
            lambda m, v: steps.arow_step(m, v, 1.0, 2.0),
        ),
    ],
    ids=["CW", "AROW"],
)
def test_gaussian_passes_equal_their_twins(reranker, step, seed, averaging):
    lists, dense, errors = random_lists(seed)
    reranker.set_params(
        max_iter=2,
        shuffle=False,
        averaging=averaging,
        initial_variance=0.5,
        score_scale=0.2,
    )
    reranker.fit(lists, as_rows(lists, errors))
    start = np.append(np.zeros(dense.shape[1]), 1.0), np.full(dense.shape[1] + 1, 0.5)
    order, target = list(range(len(lists))) * 2, target_of(lists, errors)
    scores = lists.scores * reranker.score_scale
    mean, variance, average = ranking.gaussian(
        lists.offsets, dense, scores, target, order, start, step
    )
    wanted = average if averaging else mean
    np.testing.assert_allclose(reranker.coef_, wanted[:-1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        reranker.score_coef_, wanted[-1] * reranker.score_scale, rtol=1e-7
    )
    np.testing.assert_allclose(reranker.coef_variance_, variance[:-1], rtol=1e-7)


@settings(deadline=None, max_examples=60)
@given(ranking_problems(), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_a_weight_is_a_number_of_copies(train, copies):
    lists, _, errors = train
    copies = np.array(copies[: len(lists)])
    many = np.repeat(np.arange(len(lists)), copies)
    if not len(many):
        return
    rows = as_rows(lists, errors)
    for reranker in (
        VotedPerceptronReranker(max_iter=2),
        CWReranker(shuffle=False),
        AROWReranker(shuffle=False, averaging=False),
    ):
        weighted = reranker.fit(lists, rows, sample_weight=copies).coef_
        repeated = reranker.fit(lists[many], rows[many]).coef_
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


def test_a_part_of_a_copy_takes_a_part_of_a_step():
    X, y = [[([0], 0.0), ([1], 0.0)]], [[1, 0]]
    half = VotedPerceptronReranker(False).fit(X, y, sample_weight=[0.5])
    np.testing.assert_array_equal(half.coef_, [-0.5, 0.5])


@settings(deadline=None, max_examples=60)
@given(ranking_problems())
def test_variances_are_positive_and_never_grow(train):
    lists, _, errors = train
    for kind in (CWReranker, AROWReranker):
        reranker = kind(score_scale=1.0, random_state=0)
        reranker.fit(lists, as_rows(lists, errors))
        assert (reranker.coef_variance_ > 0).all()
        assert (reranker.coef_variance_ <= reranker.initial_variance).all()
        assert 0 < reranker.score_variance_ <= reranker.initial_variance
