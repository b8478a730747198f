"""Rerankers that learn list by list: CW, AROW and the voted perceptron."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real

import numpy as np
from scipy.special import log_ndtr

from skcw._kernels.ranking import (
    gaussian_pass,
    pair_spreads,
    perceptron_pass,
)
from skcw._kernels.voting import replay_votes
from skcw._util.compat import Interval
from skcw.data.saved import saved_array
from skcw.reranking.base import BaseReranker, by_feature, pair_differences
from skcw.reranking.candidates import first_maxima

CW, AROW = 0, 1


class GaussianReranker(BaseReranker):
    """Base of the rerankers that keep a mean and a variance for every weight."""

    _parameter_constraints = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        # Far from where numbers end, with all that is multiplied.
        "initial_variance": [Interval(Real, 1e-10, 1e10, closed="both")],
        "score_scale": [Interval(Real, 1e-10, 1e10, closed="both"), None],
        "averaging": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }
    _saved_arrays = ("coef_variance_", "score_variance_")

    def _rule(self):
        """Return the number of the rule, its parameter and the largest step."""
        raise NotImplementedError

    def _learn(self, problem):
        scale = self._scale()
        lists = problem.lists.opened(scale)
        mean = np.append(problem.blank(), 1.0)
        variance = np.full(len(mean), float(self.initial_variance))
        drift, room = np.zeros(len(mean)), _room(problem.lists)
        elapsed = 0.0
        for order in problem.orders(self.max_iter, self.shuffle, self.random_state):
            elapsed = gaussian_pass(
                lists,
                problem.target,
                problem.weight,
                order,
                mean,
                variance,
                drift,
                *self._rule(),
                elapsed,
                room,
            )
        if self.averaging and elapsed:
            mean -= drift / elapsed
        return {
            "coef_": mean[:-1].copy(),
            "coef_variance_": variance[:-1].copy(),
            "score_coef_": float(mean[-1] * scale),
            "score_variance_": np.array(variance[-1] * scale**2),
        }

    def _check_saved(self, saved):
        shape = self.coef_.shape
        for name, sizes in (("coef_variance_", shape), ("score_variance_", ())):
            if (saved_array(saved, name, ("f8",), sizes) < 0).any():
                raise ValueError(f"{name} has a negative variance")

    def _log_odds(self, lists, totals):
        # How probable it is that another one is better, given the belief over weights.
        chosen = lists.offsets[:-1] + first_maxima(totals, lists.offsets)
        variance = np.append(self.coef_variance_, self.score_variance_)
        spread = np.empty(lists.n_candidates)
        pair_spreads(lists.opened(), chosen, variance, _room(lists), spread)
        behind = np.repeat(totals[chosen], lists.lengths) - totals
        away = np.divide(
            behind, np.sqrt(spread), out=np.zeros(len(behind)), where=spread > 0
        )
        return log_ndtr(-away) - log_ndtr(away)


def _room(lists):
    """Return room for the features in which two candidates differ."""
    return np.empty(2 * int(np.diff(lists.indptr).max(initial=0)) + 1, np.int32)


@dataclass(eq=False, repr=False, match_args=False)
class CWReranker(GaussianReranker):
    """Reranker by confidence-weighted learning.

    It believes in a Gaussian over weights, with a diagonal covariance. Each list asks
    for the smallest change after which the candidate closest to the truth beats the
    best other one with a probability of Phi(phi). The first mean ranks as the base
    model does.

    Parameters
    ----------
    phi : float, default=1.0
        The margin, in standard deviations.
    C : float or None, default=0.1
        The largest step; None bounds none. A small one makes it robust to lists that
        no weights rank well.
    max_iter : int, default=5
        The number of passes.
    initial_variance : float, default=1.0
        The variance of every weight before training.
    score_scale : float, default=None
        The factor of the scores of the base model. None leaves the choice to
        ``RerankedTagger``, which tries several on held-out sentences; without it, it
        is 2.
    averaging : bool, default=True
        Whether the mean is averaged over all lists met.
    shuffle : bool, default=True
        Whether each pass takes the lists in another order.
    random_state : int, RandomState instance or None, default=None
        Controls the order.

    Attributes
    ----------
    coef_, coef_variance_ : ndarray of shape (n_features,)
        Mean and variance of the weights of the features.
    score_coef_ : float
        The mean weight of the score of the base model, scale included.
    score_variance_ : ndarray of shape ()
        Its variance.

    Notes
    -----
    The confidence in the chosen candidate comes from the probability, under the belief
    over weights, that it beats each other one: the odds of the others against it are
    those of two candidates, and all of them with its own sum to one.

    Examples
    --------
    >>> from skcw.reranking import CWReranker
    >>> X = [[([0], -0.5), ([1], -0.9)], [([0, 2], -0.1), ([1, 2], -2.0)]] * 3
    >>> y = [[1, 0], [2, 0]] * 3
    >>> reranker = CWReranker(random_state=0).fit(X, y)
    >>> reranker.predict(X[:2])
    array([1, 1])
    >>> reranker.predict_confidence(X[:2]).round(2)
    array([0.85, 0.77])
    """

    phi: float = 1.0
    _: KW_ONLY
    C: float | None = 0.1
    max_iter: int = 5
    initial_variance: float = 1.0
    score_scale: float | None = None
    averaging: bool = True
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **GaussianReranker._parameter_constraints,
        "phi": [Interval(Real, 1e-10, 1e10, closed="both")],
        "C": [Interval(Real, 1e-10, 1e10, closed="both"), None],
    }

    def _rule(self):
        return CW, self.phi, np.inf if self.C is None else self.C


@dataclass(eq=False, repr=False, match_args=False)
class AROWReranker(GaussianReranker):
    """Reranker by adaptive regularization of weights.

    As ``CWReranker``, but a list that is not ranked with a margin of one only pulls at
    the mean, as strongly as `r` allows: it forgives lists that cannot be ranked.

    Parameters
    ----------
    r : float, default=10.0
        The larger, the smaller are the steps.
    max_iter : int, default=5
        The number of passes.
    initial_variance : float, default=1.0
        The variance of every weight before training.
    score_scale : float, default=None
        The factor of the scores of the base model. None leaves the choice to
        ``RerankedTagger``, which tries several on held-out sentences; without it, it
        is 2.
    averaging : bool, default=True
        Whether the mean is averaged over all lists met.
    shuffle : bool, default=True
        Whether each pass takes the lists in another order.
    random_state : int, RandomState instance or None, default=None
        Controls the order.

    Attributes
    ----------
    coef_, coef_variance_ : ndarray of shape (n_features,)
        Mean and variance of the weights of the features.
    score_coef_ : float
        The mean weight of the score of the base model, scale included.
    score_variance_ : ndarray of shape ()
        Its variance.

    Examples
    --------
    >>> from skcw.reranking import AROWReranker
    >>> X = [[([0], -0.5), ([1], -0.9)], [([0, 2], -0.1), ([1, 2], -2.0)]] * 3
    >>> y = [[1, 0], [2, 0]] * 3
    >>> AROWReranker(random_state=0).fit(X, y).predict(X[:2])
    array([1, 1])
    """

    r: float = 10.0
    _: KW_ONLY
    max_iter: int = 5
    initial_variance: float = 1.0
    score_scale: float | None = None
    averaging: bool = True
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **GaussianReranker._parameter_constraints,
        "r": [Interval(Real, 1e-10, 1e10, closed="both")],
    }

    def _rule(self):
        return AROW, self.r, np.inf


@dataclass(eq=False, repr=False, match_args=False)
class VotedPerceptronReranker(BaseReranker):
    """Reranker by the voted perceptron.

    A pass takes one list after the other. Where another candidate than the closest to
    the truth is best, the features of the latter are added to the weights and those of
    the former taken away. All weights that were ever in use vote on a new list, each
    with as many votes as lists it lasted for [1]_.

    Parameters
    ----------
    voting : bool, default=True
        Whether all weights vote, or their average decides, which is cheaper.
    max_iter : int, default=1
        The number of passes.
    score_scale : float, default=None
        The factor of the scores of the base model, which are a feature like the
        others. None leaves the choice to ``RerankedTagger``, which tries several on
        held-out sentences; without it, it is 2.
    shuffle : bool, default=False
        Whether each pass takes the lists in another order.
    random_state : int, RandomState instance or None, default=None
        Controls the order.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The average of all weights.
    score_coef_ : float
        The average weight of the score of the base model, scale included.
    n_steps_ : int
        The number of mistakes in training.
    step_starts_, step_numbers_, step_moves_ : ndarray
        Which steps changed a feature, and by how much.
    score_levels_ : ndarray of shape (n_steps + 1,)
        The weight of the score after each step.
    votes_ : ndarray of shape (n_steps + 2,)
        How many votes have been given before each step.

    Notes
    -----
    No weight vector is kept but the zero they all begin with: voting replays the steps
    that touch the features in which the candidates of a list differ. An exact vote must
    read each of these steps, where the average reads one weight per feature, so ranking
    alone takes far longer; making the lists and their features takes longer than
    either. The average chooses about as well.

    References
    ----------
    .. [1] M. Collins, "Ranking algorithms for named-entity extraction: boosting and the
       voted perceptron", ACL 2002.

    Examples
    --------
    >>> from skcw.reranking import VotedPerceptronReranker
    >>> X = [[([0], -0.5), ([1], -0.9)], [([0, 2], -0.1), ([1, 2], -2.0)]] * 3
    >>> y = [[1, 0], [2, 0]] * 3
    >>> reranker = VotedPerceptronReranker().fit(X, y)
    >>> reranker.predict(X[:2])
    array([1, 1])
    >>> reranker.predict_confidence(X[:1])
    array([1.])
    """

    voting: bool = True
    _: KW_ONLY
    max_iter: int = 1
    score_scale: float | None = None
    shuffle: bool = False
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        "voting": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "score_scale": [Interval(Real, 0, 1e10, closed="both"), None],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }
    _saved_arrays = (
        "step_starts_",
        "step_numbers_",
        "step_moves_",
        "score_levels_",
        "votes_",
    )

    @property
    def n_steps_(self):
        """The number of mistakes in training."""
        return len(self.score_levels_) - 1

    def _learn(self, problem):
        scale = self._scale()
        lists = problem.lists.opened(scale)
        most = self.max_iter * int(np.ceil(problem.weight).sum())
        pairs, sizes = np.empty((most, 2), dtype=np.int64), np.empty(most)
        runs, weights = np.zeros(most + 1), np.append(problem.blank(), 0.0)
        n = 0
        passes = problem.orders(self.max_iter, self.shuffle, self.random_state)
        for order in passes:
            n = perceptron_pass(
                lists,
                problem.target,
                problem.weight,
                order,
                weights,
                pairs,
                sizes,
                runs,
                n,
            )
        good, bad = (np.ascontiguousarray(column) for column in pairs[:n].T)
        begins, codes = pair_differences(lists, good, bad)
        scores = problem.lists.scores * scale
        gaps = sizes[:n] * (scores[good] - scores[bad])
        step = np.repeat(np.arange(n), np.diff(begins))
        moves = np.where(codes & 1, -1.0, 1.0) * sizes[step]
        return self._fitted(problem, codes >> 1, step, moves, gaps, runs[: n + 1])

    def _fitted(self, problem, feature, step, moves, gaps, runs):
        """Return the fitted attributes that moves of features in steps make."""
        scale, n_features = self._scale(), problem.lists.n_features
        votes = np.append(0.0, np.cumsum(runs))
        total = votes[-1] or 1.0
        # What step t adds is there for all votes after it.
        share = (votes[-1] - votes[1:-1]) / total
        order, starts = by_feature(feature, n_features)
        weights = moves * share[step]
        return {
            "coef_": np.bincount(feature, weights=weights, minlength=n_features),
            "score_coef_": float(gaps @ share) * scale,
            "step_starts_": starts,
            "step_numbers_": (step[order] + 1).astype(np.int32),
            "step_moves_": moves[order],
            # Of the score as it is given, like all that is fitted.
            "score_levels_": np.append(0.0, np.cumsum(gaps)) * scale,
            "votes_": votes,
        }

    def _check_saved(self, saved):
        n_features, double = len(self.coef_), ("f8",)
        starts = saved_array(saved, "step_starts_", ("i8",), (n_features + 1,))
        numbers = saved_array(saved, "step_numbers_", ("i4",), (None,))
        saved_array(saved, "step_moves_", double, numbers.shape)
        levels = saved_array(saved, "score_levels_", double, (None,))
        votes = saved_array(saved, "votes_", double, (len(levels) + 1,))
        ends_fit = starts[0] == 0 and starts[-1] == len(numbers)
        if not ends_fit or (np.diff(starts) < 0).any() or (np.diff(votes) < 0).any():
            raise ValueError("the steps of the perceptron are out of order")
        if len(numbers) and not (numbers.min() >= 1 and numbers.max() < len(levels)):
            raise ValueError("a step of the perceptron does not exist")

    def _totals(self, lists):
        return self._votes(lists) if self.voting else super()._totals(lists)

    def _votes(self, lists):
        """Return the share of votes of every candidate."""
        low, high = range_extremes(self.score_levels_)
        longest = int(lists.lengths.max(initial=1))
        won = np.zeros(lists.n_candidates)
        replay_votes(
            lists.offsets,
            lists.indptr,
            lists.indices,
            lists.scores,
            self.step_starts_,
            self.step_numbers_,
            self.step_moves_,
            self.score_levels_,
            self.votes_,
            low,
            high,
            np.zeros(max(1, lists.n_features), dtype=np.int32),
            np.full(self.n_steps_ + 1, -1, dtype=np.int32),
            np.empty((self.n_steps_ + 1, longest)),
            np.empty(longest),
            won,
        )
        return won / (self.votes_[-1] or 1.0)

    def _probabilities(self, lists, totals):
        if not self.voting:
            return super()._probabilities(lists, totals)
        sums = np.add.reduceat(totals, lists.offsets[:-1]) if len(lists) else totals
        return totals / np.repeat(sums, lists.lengths)


def range_extremes(values):
    """Return tables of the least and largest of 2**r values from any on, a row per r.

    Columns from which so many values do not follow hold those of the rest.
    """
    low, high = [values], [values]
    step = 1
    while 2 * step <= len(values):
        low.append(_both(np.minimum, low[-1], step))
        high.append(_both(np.maximum, high[-1], step))
        step *= 2
    return np.ascontiguousarray(low), np.ascontiguousarray(high)


def _both(choose, row, step):
    found = row.copy()
    found[:-step] = choose(row[:-step], row[step:])
    return found
