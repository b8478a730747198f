"""Boosting against a brute-force implementation, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.reranking import BoostingReranker
from skcw.reranking.base import Problem
from skcw.reranking.boosting import (
    RankBooster,
    best_score_weight,
    ranked_pairs,
    rounds_errors,
)
from tests.kernels.ranking_problems import random_lists, ranking_problems
from tests.reference import ranking

RTOL = 1e-9


def brute_force(problem, dense, score_coef, smoothing, n_rounds):
    """Return the rounds of the twin."""
    good, bad, weight = ranked_pairs(problem)
    scores = problem.lists.scores
    start = weight * np.exp(score_coef * (scores[bad] - scores[good]))
    return ranking.boosting(dense[good] - dense[bad], start, smoothing, n_rounds)


def problem_of(lists, errors):
    return Problem(lists, errors, np.ones(len(lists)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("smoothing", [1e-4, 1e-2])
def test_boosting_equals_brute_force(seed, smoothing):
    lists, dense, errors = random_lists(seed, n_lists=20)
    problem = problem_of(lists, errors)
    machine = RankBooster(problem, smoothing)
    rounds = machine.boost(40)
    wanted = brute_force(problem, dense, machine.score_coef, smoothing, len(rounds))
    features, steps, losses = zip(*wanted, strict=True)
    assert rounds.feature.tolist() == list(features)
    np.testing.assert_allclose(rounds.step, steps, rtol=1e-7)
    np.testing.assert_allclose(rounds.losses, losses, rtol=RTOL)


@settings(deadline=None, max_examples=80)
@given(ranking_problems(), st.sampled_from([1e-6, 1e-3, 0.1]))
def test_the_loss_never_rises(train, smoothing):
    lists, dense, errors = train
    problem = problem_of(lists, errors)
    machine = RankBooster(problem, smoothing)
    start = machine.loss
    rounds = machine.boost(60)
    losses = np.append(start, rounds.losses)
    assert (np.diff(losses) <= 0).all()
    # What was summed up round by round is what the weights give.
    coef = np.zeros(dense.shape[1])
    np.add.at(coef, rounds.feature, rounds.step)
    totals = dense @ coef + machine.score_coef * lists.scores
    good, bad, _ = ranked_pairs(problem)
    direct = np.exp(totals[bad] - totals[good]).sum()
    np.testing.assert_allclose(losses[-1], direct, rtol=1e-7, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(ranking_problems(), ranking_problems())
def test_errors_after_each_round_are_those_of_choosing_anew(train, new):
    lists, _, errors = train
    machine = RankBooster(problem_of(lists, errors), 1e-3)
    rounds = machine.boost(15)
    probe, dense, wrong = new
    found = rounds_errors(problem_of(probe, wrong), machine.score_coef, rounds)
    coef = np.zeros(dense.shape[1])
    for r in range(len(rounds) + 1):
        totals = dense @ coef + machine.score_coef * probe.scores
        rows = zip(probe.rows(totals), probe.rows(wrong), strict=True)
        near = [_nearly_best(total, error) for total, error in rows]
        assert sum(min(x) for x in near) <= found[r] <= sum(max(x) for x in near)
        if r < len(rounds):
            coef[rounds.feature[r]] += rounds.step[r]


def _nearly_best(total, error):
    """Return the errors of candidates that only rounding tells from the best."""
    return error[total >= total.max() - 1e-9]


def test_boosting_in_pieces_is_boosting_at_once():
    lists, _, errors = random_lists(7)
    problem = problem_of(lists, errors)
    whole, pieces = RankBooster(problem, 1e-3), RankBooster(problem, 1e-3)
    wanted = whole.boost(30)
    found = [pieces.boost(n) for n in (1, 9, 20)]
    joined = np.concatenate([part.step for part in found])
    np.testing.assert_array_equal(joined, wanted.step)
    np.testing.assert_array_equal(whole.weight, pieces.weight)


@pytest.mark.parametrize("seed", range(5))
def test_the_weight_of_the_score_makes_the_loss_least(seed):
    rng = np.random.RandomState(seed)
    gaps, weight = rng.normal(-0.5, 1.0, size=200), rng.uniform(0.5, 2.0, size=200)
    best = best_score_weight(gaps, weight)

    def loss(coef):
        return weight @ np.exp(coef * gaps)

    assert best > 0
    assert loss(best) <= min(loss(0.99 * best), loss(1.01 * best), loss(0.0))


def test_the_weight_of_the_score_is_finite_where_the_base_is_always_right():
    assert 0 < best_score_weight(np.array([-1.0, -2.0]), np.ones(2)) < np.inf
    assert best_score_weight(np.array([1.0, 2.0]), np.ones(2)) == 0.0
    assert best_score_weight(np.zeros(3), np.ones(3)) == 1.0


def test_rounds_are_chosen_by_lists_held_out():
    lists, _, errors = random_lists(3, n_lists=120)
    rows = lists.rows(errors)
    reranker = BoostingReranker(200, random_state=0).fit(lists, rows)
    tried = reranker.validation_errors_
    assert reranker.n_rounds_ == int(tried.argmin()) < len(tried)
    again = BoostingReranker(200, random_state=0, refit=False).fit(lists, rows)
    np.testing.assert_array_equal(again.validation_errors_, tried)
    assert again.n_rounds_ == reranker.n_rounds_


@settings(deadline=None, max_examples=40)
@given(ranking_problems(), st.lists(st.integers(1, 3), min_size=6, max_size=6))
def test_a_weight_is_a_number_of_copies(train, copies):
    lists, _, errors = train
    copies = np.array(copies[: len(lists)])
    many = np.repeat(np.arange(len(lists)), copies)
    rows = lists.rows(errors)
    reranker = BoostingReranker(5, validation_fraction=None)
    weighted = reranker.fit(lists, rows, sample_weight=copies).losses_
    repeated = reranker.fit(lists[many], rows[many]).losses_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-9)
