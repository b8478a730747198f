"""``BoostingReranker``: an exponential ranking loss, one feature a round."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils import check_random_state

from skcw._kernels.boosting import boost, judge_rounds, start_tree
from skcw._util.compat import Interval
from skcw._util.ragged import joined_ranges
from skcw.data.saved import saved_array
from skcw.reranking.base import (
    BaseReranker,
    best_scale,
    by_feature,
    pair_differences,
)
from skcw.reranking.candidates import first_maxima

# How many rounds are best depends on how many lists there are.
PARTS_OF_ROUNDS = (1, 10, 100)
# Sums that are kept up to date are off by about this share of what they began with.
LEAST_SHARE = 1e-12


@dataclass(eq=False, repr=False, match_args=False)
class BoostingReranker(BaseReranker):
    """Reranker by boosting: it lowers an exponential loss by one feature a round.

    The loss is the sum over all lists and all candidates but the closest to the truth
    of exp(-(F(closest) - F(candidate))), where F is a weighted sum of the score of the
    base model and the features. The weight of the score comes first, by a line search.
    A round then changes the weight of the one feature that lowers the loss most, and
    updates only pairs and features that this touches [1]_.

    Parameters
    ----------
    n_rounds : int, default=10000
        The most rounds.
    smoothing : float, default=0.0001
        The smoothing added to both sides, as a share of the loss, before their
        logarithms are taken: it keeps steps of rare features short.
    validation_fraction : float or None, default=0.2
        The share of lists by which the number of rounds is chosen, the one after which
        the chosen candidates have the fewest errors. None makes all rounds.
        ``RerankedTagger`` chooses among all rounds, a tenth and a hundredth of them in
        its place, on sentences that the taggers behind the other lists have not seen.
    refit : bool, default=True
        Whether so many rounds are then made with all lists.
    random_state : int, RandomState instance or None, default=None
        Controls which lists are held out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights of the features.
    score_coef_ : float
        The weight of the score of the base model.
    n_rounds_ : int
        The number of rounds made.
    losses_ : ndarray of shape (n_rounds,)
        The loss after every round; it never rises.
    validation_errors_ : ndarray
        The errors in the lists held out, before the first and after every round that
        was tried; empty without them.

    References
    ----------
    .. [1] M. Collins, "Ranking algorithms for named-entity extraction: boosting and the
       voted perceptron", ACL 2002.

    Examples
    --------
    >>> from skcw.reranking import BoostingReranker
    >>> X = [[([0], -0.5), ([1], -0.9)], [([0, 2], -0.1), ([1, 2], -2.0)]] * 5
    >>> y = [[1, 0], [2, 0]] * 5
    >>> reranker = BoostingReranker(n_rounds=5, validation_fraction=None).fit(X, y)
    >>> reranker.predict(X[:2])
    array([1, 1])
    >>> bool((reranker.losses_[1:] <= reranker.losses_[:-1]).all())
    True
    """

    n_rounds: int = 10000
    _: KW_ONLY
    smoothing: float = 1e-4
    validation_fraction: float | None = 0.2
    refit: bool = True
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 1e-20, 1e10, closed="both")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "refit": ["boolean"],
        "random_state": ["random_state"],
    }
    _saved_arrays = ("losses_", "validation_errors_")

    @property
    def n_rounds_(self):
        """The number of rounds made."""
        return len(self.losses_)

    def variants(self) -> list[Any]:
        """Return the variants among which held-out lists decide.

        Returns
        -------
        rerankers : list of BoostingReranker
            Unfitted copies that make a hundredth of the rounds, a tenth or all of them;
            one that makes all where there is no ``validation_fraction``.
        """
        if self.validation_fraction is None:
            return super().variants()
        rounds = sorted({max(1, self.n_rounds // part) for part in PARTS_OF_ROUNDS})
        return [
            clone(self).set_params(n_rounds=n, validation_fraction=None) for n in rounds
        ]

    def _learn(self, problem):
        if self.validation_fraction is None:
            return self._boosted(problem, self.n_rounds, np.empty(0))
        train, held_out = self._split(problem)
        machine = RankBooster(train, self.smoothing)
        rounds = machine.boost(self.n_rounds)
        errors = rounds_errors(held_out, machine.score_coef, rounds)
        n = int(errors.argmin())
        if self.refit:
            return self._boosted(problem, n, errors)
        return _attributes(train, machine.score_coef, rounds.first(n), errors)

    def _boosted(self, problem, n_rounds, errors):
        machine = RankBooster(problem, self.smoothing)
        rounds = machine.boost(n_rounds)
        return _attributes(problem, machine.score_coef, rounds, errors)

    def _split(self, problem):
        """Return the problem without some lists, and that of these lists."""
        n = len(problem.lists)
        n_out = min(max(1, round(n * self.validation_fraction)), n - 1)
        if n < 2:
            raise ValueError(
                "one list cannot be held out and learned from; give more, or set "
                "validation_fraction=None"
            )
        order = check_random_state(self.random_state).permutation(n)
        return problem.part(np.sort(order[n_out:])), problem.part(
            np.sort(order[:n_out])
        )

    def _check_saved(self, saved):
        for name in self._saved_arrays:
            saved_array(saved, name, ("f8",), (None,))

    def _log_odds(self, lists, totals):
        # The exponential loss is least at half the logarithm of the odds.
        return 2.0 * totals


def _attributes(problem, score_coef, rounds, errors):
    n_features = problem.lists.n_features
    coef = np.bincount(rounds.feature, weights=rounds.step, minlength=n_features)
    return {
        "coef_": coef.astype(np.float64),
        "score_coef_": score_coef,
        "losses_": rounds.losses,
        "validation_errors_": errors,
    }


class Rounds:
    """Rounds of boosting: the feature, its step and the loss after each.

    Parameters
    ----------
    feature : ndarray of int32
        The features.
    step : ndarray of float64
        The increments of their weights.
    losses : ndarray of float64
        The loss after each round.
    """

    def __init__(self, feature, step, losses):
        self.feature, self.step, self.losses = feature, step, losses

    def __len__(self):
        return len(self.feature)

    def first(self, n):
        """Return the first n rounds."""
        return Rounds(self.feature[:n], self.step[:n], self.losses[:n])


class RankBooster:
    """Pairs of candidates with their weights, between two rounds of boosting.

    It holds, in 4 bytes each, the features in which the candidates of a pair differ,
    twice: by pair and by feature.

    Parameters
    ----------
    problem : Problem
        The training lists.
    smoothing : float
        As in ``BoostingReranker``.
    """

    def __init__(self, problem, smoothing):
        lists, self.smoothing = problem.lists, smoothing
        good, bad, weight = ranked_pairs(problem)
        gaps = lists.scores[bad] - lists.scores[good]
        self.score_coef = best_score_weight(gaps, weight)
        self.weight = weight * np.exp(self.score_coef * gaps)
        found = pair_differences(lists.opened(), good, bad)
        self.pair_starts, self.pair_codes = found
        order, starts = by_feature(self.pair_codes >> 1, lists.n_features)
        pair = np.arange(len(good), dtype=np.int32)
        pair = np.repeat(pair, np.diff(self.pair_starts))
        self.feature_starts = starts
        self.feature_codes = 2 * pair[order] + (self.pair_codes[order] & 1)
        self._start(lists.n_features)

    def _start(self, n_features):
        """Sum the weights of the pairs of each feature."""
        heavy = np.repeat(self.weight, np.diff(self.pair_starts))
        self.sums = np.bincount(self.pair_codes, heavy, minlength=2 * n_features)
        self.sums = self.sums.astype(np.float64)
        self.gain = np.empty(n_features)
        n_leaves = 1 << max(1, int(n_features - 1).bit_length())
        self.tree = np.empty(2 * n_leaves, dtype=np.int32)
        start_tree(self.sums, self.gain, self.tree)
        self.touched = np.empty(n_features, dtype=np.int32)
        self.mark = np.zeros(n_features, dtype=np.int32)
        self.loss = float(self.weight.sum())
        self.least = LEAST_SHARE * self.loss

    @property
    def nbytes(self):
        """The memory of all arrays."""
        return sum(v.nbytes for v in vars(self).values() if isinstance(v, np.ndarray))

    def boost(self, n_rounds):
        """Make rounds, as long as one lowers the loss; return them."""
        feature = np.empty(n_rounds, dtype=np.int32)
        step, losses = np.empty(n_rounds), np.empty(n_rounds)
        n = boost(
            self.pair_starts,
            self.pair_codes,
            self.feature_starts,
            self.feature_codes,
            self.weight,
            self.sums,
            self.gain,
            self.tree,
            self.touched,
            self.mark,
            self.loss,
            self.smoothing,
            self.least,
            feature,
            step,
            losses,
        )
        if n:
            self.loss = float(losses[n - 1])
        return Rounds(feature, step, losses).first(n)


def ranked_pairs(problem):
    """Return the pairs of candidates to rank: good ones, others, and their weights."""
    lists = problem.lists
    known = np.flatnonzero((problem.target >= 0) & (problem.weight > 0))
    every = joined_ranges(lists.offsets[known], lists.lengths[known])
    good = np.repeat(problem.target[known], lists.lengths[known])
    weight = np.repeat(problem.weight[known], lists.lengths[known])
    other = every != good
    return good[other], every[other], weight[other].astype(np.float64)


def best_score_weight(gaps, weight):
    """Return the weight of the score that makes the loss least; Collins (2002), fig. 2.

    The loss is convex; its logarithm does not overflow. The search is by bisection on
    the sign of its slope.

    Parameters
    ----------
    gaps : ndarray of float64
        The score of each candidate less that of the good one.
    weight : ndarray of float64
        The weights of the pairs.

    Returns
    -------
    weight : float
        From 0 on: a base model is not turned upside down.
    """
    if not gaps.any():
        return 1.0

    def slope(coef):
        # Of minus the logarithm of the loss.
        power = coef * gaps + np.log(weight)
        return -(np.exp(power - logsumexp(power)) @ gaps)

    return best_scale(slope, gaps)[0]


def rounds_errors(problem, score_coef, rounds):
    """Return the errors of the candidates chosen before and after every round.

    Parameters
    ----------
    problem : Problem
        Lists that were not learned from.
    score_coef : float
        The weight of the score.
    rounds : Rounds
        The rounds.

    Returns
    -------
    errors : ndarray of float64, shape (n_rounds + 1,)
        The errors, each as heavy as its list.
    """
    lists = problem.lists
    list_of = np.repeat(np.arange(len(lists), dtype=np.int32), lists.lengths)
    errors = problem.errors * problem.weight[list_of]
    totals = score_coef * lists.scores
    chosen = lists.offsets[:-1] + first_maxima(totals, lists.offsets)
    owner = np.repeat(np.arange(lists.n_candidates), np.diff(lists.indptr))
    order, starts = by_feature(lists.indices, lists.n_features)
    out = np.empty(len(rounds) + 1)
    out[0] = errors[chosen].sum()
    judge_rounds(
        rounds.feature,
        rounds.step,
        lists.offsets,
        starts,
        owner[order].astype(np.int32),
        list_of,
        totals,
        chosen,
        errors,
        out[0],
        np.empty(len(lists), dtype=np.int32),
        out[1:],
    )
    return out
