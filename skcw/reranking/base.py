"""``ScoreReranker``: the order of the base model, with probabilities."""

from collections.abc import Iterable
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skcw._kernels.ranking import count_differences, fill_differences, total_scores
from skcw._util.checks import check_sample_weight
from skcw._util.compat import _fit_context
from skcw._util.limits import MOST_PRESENTATIONS
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import offsets_of
from skcw.data.saved import saved_array, saved_number
from skcw.io.loading import SavedModelMixin
from skcw.io.model_files import write_model
from skcw.reranking.candidates import (
    check_errors,
    check_lists,
    closest_candidates,
    first_maxima,
)

# Scales of scores to choose from, and the one that does well on most corpora.
SCALES = (0.5, 2.0, 10.0)
DEFAULT_SCALE = 2.0
# How the names of a reranker's arrays in a file begin.
KIND = "reranker"


class BaseReranker(SavedModelMixin, BaseEstimator):
    """Base class of rerankers, which choose a candidate of an n-best list.

    A subclass gives ``_learn(problem)``, which returns fitted attributes, and may give
    ``_totals`` and ``_log_odds``. X is a :class:`CandidateLists` or a list of lists of
    ``(features, score)``; y has for each list the errors of its candidates. The
    candidate with the fewest errors is the one to choose; of equal ones that with the
    highest score.

    Examples
    --------
    >>> from skcw.reranking import BaseReranker
    >>> class Trusting(BaseReranker):
    ...     def _learn(self, problem):
    ...         return {"coef_": problem.blank(), "score_coef_": 1.0}
    >>> X, y = [[([0], -0.5), ([1], -0.9)]], [[1, 0]]
    >>> Trusting().fit(X, y).predict(X)
    array([0])
    """

    _parameter_constraints: dict = {}

    # Arrays that are saved besides the weights.
    _saved_arrays = ()

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from lists of candidates.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates of each sentence.
        y : iterable of sequences of float
            For each list the errors of its candidates.
        sample_weight : array-like of shape (n_lists,), default=None
            How much each list counts.

        Returns
        -------
        self : object
            The fitted reranker.
        """
        found = self._learn(Problem.of(X, y, sample_weight))
        for name, value in found.items():
            setattr(self, name, value)
        self.n_features_in_ = len(found["coef_"])
        return self

    def variants(self) -> list[Any]:
        """Return the variants among which held-out lists decide.

        Returns
        -------
        rerankers : list of BaseReranker
            Unfitted copies: one for each scale of scores to try, if the reranker has a
            ``score_scale`` that is None, and else one copy.
        """
        copies = [clone(self)]
        if "score_scale" in self.get_params() and self.score_scale is None:
            copies = [clone(self).set_params(score_scale=scale) for scale in SCALES]
        return copies

    def _scale(self):
        """Return the scale of scores to use."""
        return DEFAULT_SCALE if self.score_scale is None else self.score_scale

    def _learn(self, problem):
        raise NotImplementedError(f"{type(self).__name__} does not implement _learn")

    # Prediction.

    @reads_at_once
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of every candidate.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates.

        Returns
        -------
        scores : ndarray of shape (n_lists,), dtype object
            One float array per list.
        """
        lists = self._checked(X)
        return lists.rows(self._totals(lists))

    @reads_at_once
    def predict(self, X: Any) -> np.ndarray:
        """Return the position of the best candidate of each list.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates.

        Returns
        -------
        best : ndarray of int64, shape (n_lists,)
            The positions.
        """
        lists = self._checked(X)
        return first_maxima(self._totals(lists), lists.offsets)

    def candidate_probabilities(self, X: Any) -> np.ndarray:
        """Return how probable each candidate is to be the best of its list.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates.

        Returns
        -------
        probabilities : ndarray of shape (n_lists,), dtype object
            One float array per list, which sums to one.
        """
        lists = self._checked(X)
        return lists.rows(self._probabilities(lists, self._totals(lists)))

    def predict_confidence(self, X: Any) -> np.ndarray:
        """Return the confidence in the chosen candidates.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates.

        Returns
        -------
        confidence : ndarray of float64, shape (n_lists,)
            From 0 to 1; 1 for the only candidate of a list.
        """
        lists = self._checked(X)
        totals = self._totals(lists)
        best = lists.offsets[:-1] + first_maxima(totals, lists.offsets)
        return self._probabilities(lists, totals)[best]

    def ranking(self, X: Any) -> np.ndarray:
        """Return scores and probabilities of all candidates, which are scored once.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates.

        Returns
        -------
        scores, probabilities : ndarray of float64, shape (n_candidates,)
            The results of ``decision_function`` and ``candidate_probabilities``, in one
            array for all lists.
        """
        lists = self._checked(X)
        totals = self._totals(lists)
        return totals, self._probabilities(lists, totals)

    def rerank(self, candidates: Any) -> Any:
        """Return the lists with their candidates in a new order, the best first.

        Parameters
        ----------
        candidates : CandidateLists or list of lists of (features, score)
            The candidates.

        Returns
        -------
        lists : CandidateLists
            The same candidates; equal ones stay in their order.
        """
        lists = self._checked(candidates)
        rows = lists.rows(self._totals(lists))
        return lists.reordered(np.argsort(-row, kind="stable") for row in rows)

    def score(
        self, X: Any, y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of lists of which one of the best candidates is chosen.

        Parameters
        ----------
        X : CandidateLists or list of lists of (features, score)
            The candidates.
        y : iterable of sequences of float
            For each list the errors of its candidates.
        sample_weight : array-like of shape (n_lists,), default=None
            How much each list counts.

        Returns
        -------
        share : float
            From 0 to 1.
        """
        lists = self._checked(X)
        errors = check_errors(y, lists)
        chosen = errors[lists.offsets[:-1] + self.predict(lists)]
        best = np.minimum.reduceat(errors, lists.offsets[:-1]) if len(lists) else chosen
        return float(np.average(chosen == best, weights=sample_weight))

    def _checked(self, X):
        check_is_fitted(self, "coef_")
        return check_lists(X, self.n_features_in_)

    def _totals(self, lists):
        """Return the score of every candidate; the largest one is chosen."""
        weights = np.append(self.coef_, self.score_coef_)
        out = np.empty(lists.n_candidates)
        total_scores(lists.opened(), weights, out)
        return out

    def _log_odds(self, lists, totals):
        """Return the log-odds of each candidate, up to a constant."""
        return totals

    def _probabilities(self, lists, totals):
        odds = self._log_odds(lists, totals)
        starts, lengths = lists.offsets[:-1], lists.lengths
        if not len(lists):
            return np.empty(0)
        power = np.exp(odds - np.repeat(np.maximum.reduceat(odds, starts), lengths))
        return power / np.repeat(np.add.reduceat(power, starts), lengths)

    # Saving to files.

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted reranker to a file, without pickle.

        Parameters
        ----------
        path : str or path-like
            The file; an older one is replaced only when the new one is complete.
        """
        write_model(path, *self.to_saved())

    def _saved_state(self):
        check_is_fitted(self, "coef_")
        names = ("coef_", *self._saved_arrays)
        arrays = {f"{KIND}.{name}": np.asarray(getattr(self, name)) for name in names}
        return {"score_coef": self.score_coef_}, arrays

    def _restore(self, state, arrays):
        names = ("coef_", *self._saved_arrays)
        saved = {name: arrays[f"{KIND}.{name}"] for name in names}
        for name, array in saved.items():
            # Subclasses know what shapes they need.
            saved_array(saved, name, ("f8", "i4", "i8"), array.shape)
            setattr(self, name, array)
        saved_array(saved, "coef_", ("f8",), (None,))
        self.score_coef_ = float(saved_number(state["score_coef"], "score_coef"))
        self.n_features_in_ = len(self.coef_)
        self._check_saved(saved)

    def _check_saved(self, saved):
        """Raise unless the arrays of a file fit together; kernels do not check."""


class Problem:
    """Lists to learn from, their errors, weights and the candidates to choose.

    Parameters
    ----------
    lists : CandidateLists
        The candidates.
    errors : ndarray of float64, shape (n_candidates,)
        Their errors.
    weight : ndarray of float64, shape (n_lists,)
        How much each list counts.
    """

    def __init__(self, lists, errors, weight):
        self.lists, self.errors, self.weight = lists, errors, weight
        closest = closest_candidates(lists, errors)
        # There is nothing to learn from a single candidate.
        self.target = np.where(lists.lengths > 1, closest, -1)

    @classmethod
    def of(cls, X, y, sample_weight):
        """Return the problem that the arguments of ``fit`` pose."""
        lists = check_lists(X)
        if not len(lists):
            raise ValueError("there is no list to learn from")
        errors = check_errors(y, lists)
        weight = check_sample_weight(
            sample_weight, len(lists), "lists", at_most=MOST_PRESENTATIONS
        )
        return cls(lists, errors, np.ones(len(lists)) if weight is None else weight)

    def part(self, positions):
        """Return the problem of some of the lists."""
        errors = np.concatenate([np.empty(0), *self.lists.rows(self.errors)[positions]])
        return Problem(self.lists[positions], errors, self.weight[positions])

    def blank(self):
        """Return a weight of zero for each feature."""
        return np.zeros(self.lists.n_features)

    def orders(self, n_passes, shuffle, random_state):
        """Yield the order of lists in each pass."""
        rng = check_random_state(random_state)
        for _ in range(n_passes):
            n = len(self.lists)
            yield rng.permutation(n) if shuffle else np.arange(n)


# A scale that the data do not bound stops where the odds of no pair exceed the
# exponential of this.
LARGEST_EXPONENT = 30.0
N_HALVINGS = 60


class ScoreReranker(BaseReranker):
    """Reranker that leaves lists in the order of their scores.

    It only learns how probable a candidate with a score is: the scale of scores at
    which the candidates to choose are most likely. ``RerankedTagger`` uses it where no
    other reranker was better than the base tagger.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Zeros.
    score_coef_ : float
        The scale of scores.

    Examples
    --------
    >>> from skcw.reranking.base import ScoreReranker
    >>> X = [[([0], -0.5), ([1], -0.9)], [([0], -0.1), ([1], -2.0)]]
    >>> reranker = ScoreReranker().fit(X, [[1, 0], [0, 1]])
    >>> reranker.predict(X)
    array([0, 0])
    >>> reranker.predict_confidence(X).round(2)
    array([0.6 , 0.87])
    """

    def _learn(self, problem):
        return {"coef_": problem.blank(), "score_coef_": likeliest_scale(problem)}


def likeliest_scale(problem):
    """Return the scale of scores at which the candidates to choose are most likely.

    The logarithm of their likelihood is concave; the search is by bisection on the sign
    of its slope.

    Parameters
    ----------
    problem : Problem
        Lists to learn from.

    Returns
    -------
    scale : float
        Above zero: the order stays as it is.
    """
    lists, known = problem.lists, problem.target >= 0
    first = np.repeat(
        np.maximum.reduceat(lists.scores, lists.offsets[:-1]), lists.lengths
    )
    gaps = lists.scores - first
    if not gaps.any() or not (problem.weight[known] > 0).any():
        return 1.0

    def slope(scale):
        power, starts = np.exp(scale * gaps), lists.offsets[:-1]
        sums = np.add.reduceat(power * gaps, starts), np.add.reduceat(power, starts)
        gain = gaps[problem.target] - sums[0] / sums[1]
        return problem.weight[known] @ gain[known]

    return best_scale(slope, gaps)[1]


def best_scale(slope, gaps):
    """Return two numbers between which the slope of a concave function changes sign.

    The function is one of a scale of `gaps`, which must not all be zero.
    """
    far = float(np.abs(gaps).max())
    low, high = 0.0, LARGEST_EXPONENT / far
    while slope(high) > 0.0 and high * far < 1e3 * LARGEST_EXPONENT:
        low, high = high, 2.0 * high
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
    return low, high


def pair_differences(lists, good, bad):
    """Return the features in which candidates differ: where pairs begin, and codes.

    The code of a feature is twice its number, and one more if the bad one has it.
    """
    counts = np.empty(len(good), dtype=np.int64)
    count_differences(lists, good, bad, counts)
    starts = offsets_of(counts)
    codes = np.empty(starts[-1], dtype=np.int32)
    fill_differences(lists, good, bad, starts, codes)
    return starts, codes


def by_feature(feature, n_features):
    """Return the order that sorts by feature, and where each feature begins in it."""
    starts = offsets_of(np.bincount(feature, minlength=n_features))
    return np.argsort(feature, kind="stable"), starts
