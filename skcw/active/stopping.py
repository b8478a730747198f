"""Stopping criteria: when to stop labeling.

Each is asked after every round, ``criterion.should_stop(learner)``; what it looked at
so far is in ``values_``, and ``reason_`` says why it stopped. They look at the same
items in each round, or at what is left of the pool.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import beta
from sklearn.metrics import cohen_kappa_score

from skcw.active.pool import check_number, read_pool
from skcw.active.utilities import expected_errors, least_confident


class StoppingCriterion:
    """Base class of the criteria: a value per round, and a verdict on all of them.

    A subclass has ``_value(learner)``, which gives the value of this round or None
    where there is nothing to judge yet, and ``_verdict()``, the reason to stop or None.
    Both are asked once the learner has a model.

    Examples
    --------
    >>> from skcw.active.stopping import StoppingCriterion
    >>> class ThreeRounds(StoppingCriterion):
    ...     def _value(self, learner):
    ...         return len(learner.history_)
    ...     def _verdict(self):
    ...         return "three rounds" if self.values_[-1] >= 3 else None
    >>> ThreeRounds().reason_ is None
    True
    """

    def __init__(self):
        self.values_ = []
        self.reason_ = None
        self._n_rounds_seen = -1

    def should_stop(self, learner: Any) -> bool:
        """Tell whether to stop, given the state of the learner.

        Asked twice in a round, it looks once: a model agrees with itself.

        Parameters
        ----------
        learner : ActiveLearner
            The learner after a round.

        Returns
        -------
        stop : bool
            Whether further labels are not worth it.
        """
        n_rounds = len(learner.history_)
        is_new = n_rounds != self._n_rounds_seen
        self._n_rounds_seen = n_rounds
        value = self._value(learner) if is_new and learner.is_fitted else None
        if value is not None:
            self.values_.append(value)
            self.reason_ = self._verdict()
        return self.reason_ is not None

    def _value(self, learner):
        raise NotImplementedError

    def _verdict(self):
        raise NotImplementedError


class Budget(StoppingCriterion):
    """Stop when a number of labels or tokens is reached.

    Parameters
    ----------
    labels : int, default=None
        The number of items that may be labeled.
    words : int, default=None
        The number of words that they may have in all.

    Attributes
    ----------
    values_ : list of tuple
        The numbers of items and of words after each round.
    reason_ : str or None
        Why to stop.

    Examples
    --------
    >>> from skcw.active import Budget
    >>> Budget(words=5000).reason_ is None
    True
    """

    def __init__(self, labels: int | None = None, words: int | None = None) -> None:
        super().__init__()
        if labels is None and words is None:
            raise ValueError("a budget needs a number of labels or of words")
        for name, value in (("labels", labels), ("words", words)):
            if value is not None:
                check_number(name, value)
        self.labels = labels
        self.words = words

    def _value(self, learner):
        return learner.n_labels, learner.n_words

    def _verdict(self):
        n_labels, n_words = self.values_[-1]
        if self.labels is not None and n_labels >= self.labels:
            return f"{n_labels} items are labeled, of {self.labels} that may be"
        if self.words is not None and n_words >= self.words:
            return f"{n_words} words are labeled, of {self.words} that may be"
        return None


class _Watching(StoppingCriterion):
    """Base of the criteria that watch the same items in all rounds."""

    def __init__(self, X, n_items, n_rounds, random_state):
        super().__init__()
        check_number("n_items", n_items)
        check_number("n_rounds", n_rounds)
        self.X = X
        self.n_items = n_items
        self.n_rounds = n_rounds
        self.random_state = random_state
        self._watched = None

    def _items(self, learner):
        """Return the items given, or some of the pool, drawn when first asked."""
        if self.X is not None:
            return self.X
        if self._watched is None:
            rng = np.random.default_rng(self.random_state)
            n_items = min(self.n_items, len(learner.pool))
            drawn = rng.choice(len(learner.pool), n_items, replace=False)
            self._watched = learner.pool.take(np.sort(drawn))
        return self._watched


class ConfidencePlateau(_Watching):
    """Stop when the mean confidence no longer rises.

    Parameters
    ----------
    tol : float, default=0.002
        Stop when the mean confidence has stayed within this range.
    n_rounds : int, default=5
        For so many rounds.
    method : str, default=None
        For taggers, a method of ``predict_confidence`` that gives probabilities.
    X : rows or sequences, default=None
        The items to look at; by default some of the pool.
    n_items : int, default=500
        How many.
    random_state : int, default=0
        Controls which.

    Attributes
    ----------
    values_ : list of float
        The mean confidence of the words, or rows, after each round.
    reason_ : str or None
        Why to stop.

    Examples
    --------
    >>> from skcw.active import ConfidencePlateau
    >>> ConfidencePlateau(n_rounds=3).values_
    []
    """

    def __init__(
        self,
        tol: float = 0.002,
        n_rounds: int = 5,
        method: str | None = None,
        X: Any = None,
        n_items: int = 500,
        random_state: int = 0,
    ) -> None:
        super().__init__(X, n_items, n_rounds, random_state)
        if not isinstance(tol, Real) or not 0 <= tol < 1:
            raise ValueError(f"tol must be from 0 to below 1, got {tol!r}")
        self.tol = tol
        self.method = method

    def _value(self, learner):
        items = self._items(learner)
        return 1.0 - predicted_error_rate(learner.estimator_, items, self.method)

    def _verdict(self):
        last = self.values_[-self.n_rounds :]
        if len(last) < self.n_rounds or max(last) - min(last) > self.tol:
            return None
        return (
            f"the mean confidence has stayed between {min(last):.4f} and "
            f"{max(last):.4f} for {self.n_rounds} rounds"
        )


class ModelAgreement(_Watching):
    """Stop when successive models agree on the same items.

    Parameters
    ----------
    kappa : float, default=0.99
        Stop when the mean of Cohen's kappa between a model and the one before it is at
        least this.
    n_rounds : int, default=3
        The number of rounds that the mean is taken over.
    X : rows or sequences, default=None
        The items to look at; by default some of the pool.
    n_items : int, default=500
        How many.
    random_state : int, default=0
        Controls which.

    Attributes
    ----------
    values_ : list of float
        Cohen's kappa after each round but the first.
    reason_ : str or None
        Why to stop.

    Examples
    --------
    >>> from skcw.active import ModelAgreement
    >>> ModelAgreement(kappa=0.98).kappa
    0.98
    """

    def __init__(
        self,
        kappa: float = 0.99,
        n_rounds: int = 3,
        X: Any = None,
        n_items: int = 500,
        random_state: int = 0,
    ) -> None:
        super().__init__(X, n_items, n_rounds, random_state)
        if not isinstance(kappa, Real) or not 0 < kappa <= 1:
            raise ValueError(f"kappa must be above 0 and at most 1, got {kappa!r}")
        self.kappa = kappa
        self._last = None

    def _value(self, learner):
        found = learner.estimator_.predict(self._items(learner))
        before, self._last = self._last, np.asarray(learner.pool.kind.words(found))
        if before is None:
            return None
        if np.array_equal(before, self._last):
            # One label only makes kappa 0 / 0.
            return 1.0
        return float(cohen_kappa_score(before, self._last))

    def _verdict(self):
        last = self.values_[-self.n_rounds :]
        if len(last) < self.n_rounds or np.mean(last) < self.kappa:
            return None
        return (
            f"successive models agree: kappa is {np.mean(last):.4f} over "
            f"{self.n_rounds} rounds"
        )


class PredictedErrorRate(StoppingCriterion):
    """Stop when the model expects few errors in the rest of the pool.

    The prediction is as good as the model's confidence is calibrated: a
    ``CalibratedTagger``, or a tagger or classifier with calibrated confidence, is
    about right; there is no guarantee. :class:`AuditedErrorRate` gives one.

    Parameters
    ----------
    target : float
        The share of words, or rows, that may be wrong.
    method : str, default=None
        For taggers, a method of ``predict_confidence`` that gives probabilities.
    n_items : int, default=None
        Look at a random part of the rest; by default at all of it.
    random_state : int, default=0
        Controls which.

    Attributes
    ----------
    values_ : list of float
        The expected share of wrong words after each round.
    reason_ : str or None
        Why to stop.

    Examples
    --------
    >>> from skcw.active import PredictedErrorRate
    >>> PredictedErrorRate(0.02).target
    0.02
    """

    def __init__(
        self,
        target: float,
        method: str | None = None,
        n_items: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__()
        self.target = _check_share("target", target)
        self.method = method
        if n_items is not None:
            check_number("n_items", n_items)
        self.n_items = n_items
        self.random_state = random_state

    def _value(self, learner):
        left = learner.unlabeled
        left = left[learner.pool.lengths[left] > 0]
        if not len(left):
            return 0.0
        if self.n_items is not None and self.n_items < len(left):
            rng = np.random.default_rng(self.random_state)
            left = rng.choice(left, self.n_items, replace=False)
        items = learner.pool.take(left)
        return predicted_error_rate(learner.estimator_, items, self.method)

    def _verdict(self):
        if self.values_[-1] > self.target:
            return None
        return (
            f"the model expects {self.values_[-1]:.4f} of the rest to be wrong, "
            f"and {self.target:g} may be"
        )


class AuditedErrorRate(StoppingCriterion):
    """Stop when an audit bounds the error rate of the rest of the pool.

    ``learner.audit(n)`` draws items at random. Once all of them are labeled, the share
    of wrong words among them bounds that of all items that were neither labeled nor
    pending, as ``learner.audited_estimator_`` labels them: with a probability of at
    least `confidence_level` the study does not stop while more than `target` of the
    words are wrong. That holds for any model and any number of audits: the k-th may
    fail with probability (1 - confidence_level) / (k (k + 1)).

    Parameters
    ----------
    target : float
        The share of words, or rows, that may be wrong.
    confidence_level : float, default=0.95
        The probability with which the bound holds.

    Attributes
    ----------
    values_ : list of float
        The upper bound of each audit.
    reason_ : str or None
        Why to stop.

    See Also
    --------
    error_upper_bound : The bound.

    Examples
    --------
    >>> from skcw.active import AuditedErrorRate
    >>> AuditedErrorRate(0.05, confidence_level=0.9).confidence_level
    0.9
    """

    def __init__(self, target: float, confidence_level: float = 0.95) -> None:
        super().__init__()
        self.target = _check_share("target", target)
        self.confidence_level = _check_share("confidence_level", confidence_level)
        self._n_judged = 0

    def _value(self, learner):
        # An abandoned audit counts: its result may be the reason.
        k = len(learner.audits)
        if k == self._n_judged or learner.audits[-1] is None:
            return None
        self._n_judged, shares = k, learner.audits[-1]
        failure = (1.0 - self.confidence_level) / (k * (k + 1))
        return error_upper_bound(
            shares,
            confidence_level=1.0 - failure,
            is_binary=not learner.pool.kind.has_sequences,
        )

    def _verdict(self):
        if self.values_[-1] > self.target:
            return None
        return (
            f"at most {self.values_[-1]:.4f} of the rest of the pool is wrong, with "
            f"probability {self.confidence_level:g}"
        )


def error_upper_bound(
    shares: ArrayLike, *, confidence_level: float = 0.95, is_binary: bool = False
) -> float:
    """Return a bound of the mean share of wrong words, given those of random items.

    Shares lie between 0 and 1, and Hoeffding's inequality in its form with relative
    entropy holds for all such: Pr[mean ≤ a] ≤ exp(-n KL(a, p)). For rows, which are
    right or wrong, the bound of Clopper and Pearson is a little lower.

    Parameters
    ----------
    shares : array-like of shape (n_draws,)
        The share of wrong words in each item that was drawn.
    confidence_level : float, default=0.95
        The probability that the bound holds.
    is_binary : bool, default=False
        Whether an item can only be right or wrong as a whole, as rows are.

    Returns
    -------
    bound : float
        The bound.

    Examples
    --------
    >>> from skcw.active import error_upper_bound
    >>> round(error_upper_bound([0.0] * 59), 3)
    0.05
    >>> round(error_upper_bound([0.0, 0.1] * 100), 3)
    0.097
    >>> round(error_upper_bound([0, 1] + [0] * 98, is_binary=True), 3)
    0.047
    """
    try:
        shares = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("shares must be a flat array of numbers") from None
    if shares.ndim != 1 or not len(shares):
        raise ValueError("an upper bound needs at least one share")
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("shares of wrong words lie between 0 and 1")
    failure = 1.0 - _check_share("confidence_level", confidence_level)
    n, mean = len(shares), shares.mean()
    if is_binary:
        wrong = int(np.count_nonzero(shares))
        return 1.0 if wrong == n else float(beta.isf(failure, wrong + 1, n - wrong))
    needed = -np.log(failure) / n

    def excess(p):
        return rel_entr(mean, p) + rel_entr(1 - mean, 1 - p) - needed

    top = 1.0 - 1e-12
    return 1.0 if excess(top) < 0 else float(brentq(excess, mean, top))


def predicted_error_rate(estimator: Any, X: Any, method: str | None = None) -> float:
    """Return the share of words, or rows, that an estimator expects to have wrong.

    Parameters
    ----------
    estimator : tagger or classifier
        A fitted one.
    X : rows or sequences
        The items.
    method : str, default=None
        For taggers, a method of ``predict_confidence`` that gives probabilities.

    Returns
    -------
    share : float
        Between 0 and 1.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import predicted_error_rate
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> 0 < predicted_error_rate(tagger, [["who", "met"]]) < 1
    True
    """
    X = list(X) if isinstance(X, Iterator) else X
    pool = read_pool(X, estimator)
    if not pool.kind.has_sequences:
        return float(least_confident(estimator, X).mean())
    errors = expected_errors(estimator, X, method)
    return float(errors[pool.lengths > 0].sum() / max(pool.lengths.sum(), 1))


def _check_share(name, value):
    if not isinstance(value, Real) or isinstance(value, Integral) or not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")
    return float(value)
