"""``CWReranker`` and ``AROWReranker``: a Gaussian over the weights of a reranker."""

from numbers import Integral, Real

import numpy as np
from scipy.special import log_ndtr

from skcw._kernels.ranking import gaussian_pass, pair_spreads
from skcw._util.compat import Interval
from skcw.data.saved import saved_array
from skcw.reranking.base import BaseReranker
from skcw.reranking.candidates import first_maxima

CW, AROW = 0, 1


class GaussianReranker(BaseReranker):
    """Base of the rerankers that keep a mean and a variance for every weight."""

    _parameter_constraints: dict = {
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
        lists = problem.scaled(scale)
        mean = np.append(problem.blank(), 1.0)
        variance = np.full(len(mean), float(self.initial_variance))
        drift, room = np.zeros(len(mean)), np.empty(problem.longest(), dtype=np.int32)
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
        room = 2 * int(np.diff(lists.indptr).max(initial=0)) + 1
        room = np.empty(room, dtype=np.int32)
        pair_spreads(lists.opened(), chosen, variance, room, spread)
        behind = np.repeat(totals[chosen], lists.lengths) - totals
        away = np.divide(
            behind, np.sqrt(spread), out=np.zeros(len(behind)), where=spread > 0
        )
        return log_ndtr(-away) - log_ndtr(away)


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
        What scores of the base model are multiplied by. None leaves the choice to
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

    _parameter_constraints: dict = {
        **GaussianReranker._parameter_constraints,
        "phi": [Interval(Real, 1e-10, 1e10, closed="both")],
        "C": [Interval(Real, 1e-10, 1e10, closed="both"), None],
    }

    def __init__(
        self,
        phi=1.0,
        *,
        C=0.1,
        max_iter=5,
        initial_variance=1.0,
        score_scale=None,
        averaging=True,
        shuffle=True,
        random_state=None,
    ):
        self.phi = phi
        self.C = C
        self.max_iter = max_iter
        self.initial_variance = initial_variance
        self.score_scale = score_scale
        self.averaging = averaging
        self.shuffle = shuffle
        self.random_state = random_state

    def _rule(self):
        return CW, self.phi, np.inf if self.C is None else self.C


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
        What scores of the base model are multiplied by. None leaves the choice to
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

    _parameter_constraints: dict = {
        **GaussianReranker._parameter_constraints,
        "r": [Interval(Real, 1e-10, 1e10, closed="both")],
    }

    def __init__(
        self,
        r=10.0,
        *,
        max_iter=5,
        initial_variance=1.0,
        score_scale=None,
        averaging=True,
        shuffle=True,
        random_state=None,
    ):
        self.r = r
        self.max_iter = max_iter
        self.initial_variance = initial_variance
        self.score_scale = score_scale
        self.averaging = averaging
        self.shuffle = shuffle
        self.random_state = random_state

    def _rule(self):
        return AROW, self.r, np.inf
