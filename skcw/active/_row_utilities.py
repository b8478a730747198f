"""Utilities of rows: how much a classifier would like to know the label of each.

Each takes a fitted classifier and rows, and returns one number per row: the higher, the
sooner it should be asked.
"""

import warnings
from contextlib import contextmanager

import numpy as np
from scipy.special import entr

from skcw.exceptions import UnlearntConfidenceWarning
from skcw.inspection._answering import answering_estimator
from skcw.linear_model._gaussian import GaussianRowClassifier


@contextmanager
def quietly():
    """Silence the warning that a model has seen too little to know how sure it is.

    It ranks all the same, and early rounds are made of such models.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlearntConfidenceWarning)
        yield


def margin(estimator, X):
    """Return how small the lead of the best label's score over the second is.

    With the margin M of a linear model it is -|M|: *simple margin* [1]_, and the
    *CW Margin* and *PA Margin* of [2]_.

    Parameters
    ----------
    estimator : classifier
        A fitted one with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    utility : ndarray of float64, shape (n_samples,)
        Minus the margin.

    References
    ----------
    .. [1] Simon Tong and Daphne Koller, "Support Vector Machine Active Learning with
       Applications to Text Classification", 2001.
    .. [2] Mark Dredze and Koby Crammer, "Active Learning with Confidence", 2008.

    Examples
    --------
    >>> from skcw import MultiClassPA
    >>> from skcw.active import margin
    >>> classifier = MultiClassPA().fit([[0.0], [1.0]], ["low", "high"])
    >>> bool(margin(classifier, [[0.5], [9.0]]).argmax() == 0)
    True
    """
    estimator, X = answering_estimator(estimator, X)
    if isinstance(estimator, GaussianRowClassifier):
        return -estimator.predict_confidence(X, method="margin")
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return -(np.abs(scores) if scores.ndim == 1 else _lead(scores))
    if hasattr(estimator, "ask"):
        raise TypeError(
            f"{type(estimator).__name__} labels sequences; use the utility min_margin"
        )
    return -_lead(_probabilities(estimator, X))


def normalised_margin(estimator, X):
    """Return how few standard deviations the margin is away from zero.

    That is -|M| / √V with V = xᵀΣx, the criterion of *active confident learning*
    (ACL) [1]_: of two rows of equal margin the one whose features were seen less is
    asked about first.

    Parameters
    ----------
    estimator : MultiClassCW or MultiClassAROW
        A fitted classifier that keeps variances; a pipeline that ends in one will do.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    utility : ndarray of float64, shape (n_samples,)
        Minus the margin in standard deviations.

    References
    ----------
    .. [1] Mark Dredze and Koby Crammer, "Active Learning with Confidence", 2008.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> from skcw.active import normalised_margin
    >>> classifier = MultiClassCW().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> normalised_margin(classifier, [[0.4, 1.0], [9.0, 1.0]]).shape
    (2,)
    """
    estimator, X = answering_estimator(estimator, X)
    if not isinstance(estimator, GaussianRowClassifier):
        raise TypeError(
            f"{type(estimator).__name__} keeps no variances, so its margins cannot be "
            "normalised; use MultiClassCW or MultiClassAROW, or the utility margin"
        )
    return -estimator.predict_confidence(X, method="normalised-margin")


def least_confident(estimator, X):
    """Return the probability that the predicted label is wrong.

    Parameters
    ----------
    estimator : classifier
        A fitted one with ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    utility : ndarray of float64, shape (n_samples,)
        One minus the highest probability.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcw.active import least_confident
    >>> classifier = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> least_confident(classifier, [[2.5], [9.0]]).round(2)
    array([0.5, 0. ])
    """
    return 1.0 - _probabilities(*answering_estimator(estimator, X)).max(axis=1)


def entropy(estimator, X):
    """Return the entropy of the labels' probabilities.

    Parameters
    ----------
    estimator : classifier
        A fitted one with ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    utility : ndarray of float64, shape (n_samples,)
        The entropy, in nats.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcw.active import entropy
    >>> classifier = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> entropy(classifier, [[2.5], [9.0]]).round(2)
    array([0.69, 0.  ])
    """
    return entr(_probabilities(*answering_estimator(estimator, X))).sum(axis=1)


def disagreement(estimator, X, n_draws=100, random_state=0):
    """Return the probability that two models drawn from the belief disagree.

    Each draw is a weight vector that votes for the label of its highest score; with the
    share p of the votes for each label it is 1 - Σ p².

    Parameters
    ----------
    estimator : MultiClassCW or MultiClassAROW
        A fitted classifier that keeps variances.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    n_draws : int, default=100
        How many models vote.
    random_state : int, RandomState or None, default=0
        Controls the draws.

    Returns
    -------
    utility : ndarray of float64, shape (n_samples,)
        Between 0, all agree, and 1.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> from skcw.active import disagreement
    >>> classifier = MultiClassCW().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> bool((disagreement(classifier, [[0.4, 1.0], [9.0, 1.0]]) <= 0.5).all())
    True
    """
    estimator, X = answering_estimator(estimator, X)
    if not isinstance(estimator, GaussianRowClassifier):
        raise TypeError(
            f"{type(estimator).__name__} has no belief to draw models from; use "
            "MultiClassCW or MultiClassAROW, or the utility entropy"
        )
    with quietly():
        shares = estimator.predict_distribution(
            X, "draws", n_draws=n_draws, random_state=random_state
        )
    return 1.0 - np.square(shares).sum(axis=1)


def _lead(scores):
    """Return by how much the best of the scores of each row leads the second."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


def _probabilities(estimator, X):
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{type(estimator).__name__} has no predict_proba; use a classifier of "
            "skcw, CalibratedClassifierCV of scikit-learn, or the utility margin"
        )
    with quietly():
        return np.asarray(estimator.predict_proba(X), dtype=np.float64)
