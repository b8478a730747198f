"""Utilities: how much is to be learned from a label, one function each."""

import warnings
from contextlib import contextmanager
from numbers import Real

import numpy as np
from scipy.special import entr
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from skcw._util.ragged import offsets_of
from skcw.active.pool import read_pool
from skcw.confidence.foreign import answering_estimator, predictions_of
from skcw.exceptions import UnlearnedConfidenceWarning
from skcw.linear_model.gaussian import GaussianRowClassifier


@contextmanager
def quietly():
    """Silence the warning that a model has seen too little to know how sure it is.

    It ranks all the same, and early rounds are made of such models.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlearnedConfidenceWarning)
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
    if hasattr(estimator, "predict_all"):
        raise TypeError(
            f"{type(estimator).__name__} labels sequences; use the utility min_margin"
        )
    return -_lead(_probabilities(estimator, X))


def normalized_margin(estimator, X):
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
    >>> from skcw.active import normalized_margin
    >>> classifier = MultiClassCW().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> normalized_margin(classifier, [[0.4, 1.0], [9.0, 1.0]]).shape
    (2,)
    """
    estimator, X = answering_estimator(estimator, X)
    if not isinstance(estimator, GaussianRowClassifier):
        raise TypeError(
            f"{type(estimator).__name__} keeps no variances, so its margins cannot be "
            "normalized; use MultiClassCW or MultiClassAROW, or the utility margin"
        )
    return -estimator.predict_confidence(X, method="normalized-margin")


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


def least_confident_word(tagger, X, method=None, **options):
    """Return how unsure the tagger is of the word it is least sure of [1]_.

    Parameters
    ----------
    tagger : tagger
        A fitted one, of skcw or with the methods of sklearn-crfsuite.
    X : iterable of sequences
        The sequences.
    method : str, default=None
        Any method of ``predict_confidence``; ``"kd-pc"`` and ``"kd-fixed"`` are those
        of the paper.
    **options : float or int
        Further options of it, such as ``n_draws``.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        Minus the least confidence.

    References
    ----------
    .. [1] Avihai Mejer and Koby Crammer, "Confidence in Structured-Prediction using
       Confidence-Weighted Models", 2010, section 6.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import least_confident_word
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> asked = [["Bob", "met"], ["who", "met"]]
    >>> int(least_confident_word(tagger, asked, "kd-pc").argmax())
    1
    """
    words, lengths = _confidences(tagger, X, method, options)
    return _per_sequence(-words, lengths, np.maximum)


def min_margin(tagger, X, per_word=True):
    """Return how small the lead of the best labeling over the second best is.

    Parameters
    ----------
    tagger : tagger
        A fitted one of skcw.
    X : iterable of sequences
        The sequences.
    per_word : bool, default=True
        Whether to divide the lead by the number of words, as the paper does.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        Minus the lead.

    Examples
    --------
    >>> from skcw import PASequenceTagger
    >>> from skcw.active import min_margin
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = PASequenceTagger(random_state=0).fit(X, y)
    >>> int(min_margin(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    return _small_lead(tagger, X, per_word, in_deviations=False)


def min_conf_margin(tagger, X, per_word=False):
    """Return how few standard deviations the best labeling leads the second by.

    With Δ = Φ(x, best) - Φ(x, second) it is -μ·Δ / √(ΔᵀΣΔ).

    Parameters
    ----------
    tagger : CWSequenceTagger or AROWSequenceTagger
        A fitted tagger that keeps variances.
    X : iterable of sequences
        The sequences.
    per_word : bool, default=False
        Whether to divide by the number of words, too.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        Minus the lead in standard deviations.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import min_conf_margin
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> int(min_conf_margin(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    return _small_lead(tagger, X, per_word, in_deviations=True)


def normalized_log_prob(tagger, X, method=None, per_word=True, **options):
    """Return -log Pr[best labeling] per word: long sentences are not preferred.

    Other packages call it MNLP, maximum normalized log-probability. Without the
    division it ranks as *least confidence* does, by 1 - Pr[best labeling].

    Parameters
    ----------
    tagger : tagger
        A fitted one of skcw.
    X : iterable of sequences
        The sequences.
    method : str, default=None
        A method of ``predict_sequence_confidence``.
    per_word : bool, default=True
        Whether to divide by the number of words.
    **options : float or int
        Further options of it.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        Nats per word, or in all.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import normalized_log_prob
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> int(normalized_log_prob(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    asked = _asked(tagger, X, "sequence_confidence")
    with quietly():
        probability = asked.sequence_confidence(method, **options)
    # A labeling that no draw gives is as improbable as one that cannot be told from 0.
    log = np.log(np.maximum(probability, np.finfo(np.float64).tiny))
    return _per_length(-log, np.asarray(asked.lengths), per_word)


def expected_errors(tagger, X, method=None, per_word=False, **options):
    """Return the number of words that the tagger expects to be wrong.

    Parameters
    ----------
    tagger : tagger
        A fitted one; the number is right if its confidence is calibrated.
    X : iterable of sequences
        The sequences.
    method : str, default=None
        A method of ``predict_confidence`` that gives probabilities.
    per_word : bool, default=False
        Whether to return the share of words instead.
    **options : float or int
        Further options of the method.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        The sum of one minus the confidence of each word.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import expected_errors
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> int(expected_errors(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    words, lengths = _confidences(tagger, X, method, options)
    if len(words) and not (words.min() > -1e-6 and words.max() < 1 + 1e-6):
        raise ValueError(
            f"method {method!r} gives numbers beyond 0 and 1, which are no "
            "probabilities, so no errors can be expected from them"
        )
    total = _per_sequence(1.0 - words, lengths, np.add)
    return _per_length(total, lengths, per_word)


def doubtful_entities(
    tagger, X, method=None, outside="O", sure=0.9, possible=0.1, **options
):
    """Return the share of words that are doubtful and may belong to an entity.

    Parameters
    ----------
    tagger : tagger
        A fitted one.
    X : iterable of sequences
        The sequences.
    method : str, default=None
        A method of ``predict_confidence`` that judges any label.
    outside : str, default="O"
        The label of words that belong to no entity.
    sure : float, default=0.9
        Words whose predicted label is less probable than this are doubtful.
    possible : float, default=0.1
        Words that belong to an entity with at least this probability may be one.
    **options : float or int
        Further options of the method.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        Between 0 and 1.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import doubtful_entities
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> doubtful_entities(tagger, [["who", "?"], []], sure=0.99)
    array([ 0.5, -inf])
    """
    for name, share in (("sure", sure), ("possible", possible)):
        if not isinstance(share, Real) or not 0 <= share <= 1:
            raise ValueError(f"{name} must be between 0 and 1, got {share!r}")
    asked = _asked(tagger, X, "label_table")
    with quietly():
        table = np.asarray(asked.label_table(method, **options))
    classes = list(asked.classes)
    inside = np.ones(len(table))
    if outside in classes:
        inside -= table[:, classes.index(outside)]
    doubtful = (table.max(axis=1, initial=0.0) < sure) & (inside >= possible)
    lengths = np.asarray(asked.lengths)
    return _per_length(_per_sequence(doubtful * 1.0, lengths, np.add), lengths)


def _asked(tagger, X, needed):
    """Return the answers of a tagger, which must know a question by this name."""
    if is_classifier(tagger):
        raise TypeError(
            f"{type(tagger).__name__} labels rows, and this is a utility of sequences; "
            "use least_confident, margin or another utility of rows"
        )
    asked = predictions_of(*answering_estimator(tagger, X))
    if not hasattr(asked, needed):
        raise TypeError(
            f"{type(tagger).__name__} cannot answer {needed}; use a tagger of skcw, or "
            "the utility least_confident_word"
        )
    return asked


def _confidences(tagger, X, method, options):
    """Return the confidence of all words in one array, and the lengths."""
    asked = _asked(tagger, X, "confidence")
    with quietly():
        rows = asked.confidence(method, **options)
    words = np.concatenate([np.empty(0), *(np.asarray(row) for row in rows)])
    return words, np.array([len(row) for row in rows], dtype=np.int64)


def _small_lead(tagger, X, per_word, in_deviations):
    asked = _asked(tagger, X, "lead")
    utility = -asked.lead(in_deviations)
    return _per_length(utility, np.asarray(asked.lengths), per_word)


def _per_sequence(words, lengths, reduce):
    """Return one number per sequence from one per word."""
    out = np.full(len(lengths), -np.inf)
    full = lengths > 0
    if full.any():
        out[full] = reduce.reduceat(words, offsets_of(lengths)[:-1][full])
    return out


def _per_length(utility, lengths, per_word=True):
    """Return the utility per word, or in all; minus infinity for empty sequences."""
    divisor = np.maximum(lengths, 1) if per_word else 1
    return np.where(lengths > 0, utility / divisor, -np.inf)


def random_utility(estimator, X, random_state=None):
    """Return random numbers: the baseline of every study.

    Parameters
    ----------
    estimator : tagger or classifier
        It is not asked; it tells sequences from rows.
    X : rows or sequences
        What they are for.
    random_state : int, RandomState or None, default=None
        Controls the numbers. ``ActiveLearner`` gives each round a seed of its own.

    Returns
    -------
    utility : ndarray of float64, shape (n_items,)
        Uniform between 0 and 1.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> from skcw.active import random_utility
    >>> random_utility(MultiClassCW(), [[1.0], [2.0]], random_state=0).round(2)
    array([0.55, 0.72])
    """
    n_items = len(read_pool(X, estimator))
    return check_random_state(random_state).random_sample(n_items)


ROW_UTILITIES = {
    "margin": margin,
    "normalized-margin": normalized_margin,
    "least-confident": least_confident,
    "entropy": entropy,
    "disagreement": disagreement,
    "random": random_utility,
}
SEQUENCE_UTILITIES = {
    "least-confident-word": least_confident_word,
    "min-margin": min_margin,
    "min-conf-margin": min_conf_margin,
    "normalized-log-prob": normalized_log_prob,
    "expected-errors": expected_errors,
    "doubtful-entities": doubtful_entities,
    "random": random_utility,
}


TABLES = {"rows": ROW_UTILITIES, "sequences": SEQUENCE_UTILITIES}


def utility_names(kind):
    """Return the names of the utilities there are.

    Parameters
    ----------
    kind : {"rows", "sequences"}
        What they are for.

    Returns
    -------
    names : list of str
        The names that ``ActiveLearner`` and the doors take.

    Examples
    --------
    >>> from skcw.active import utility_names
    >>> utility_names("rows")[:2]
    ['margin', 'normalized-margin']
    """
    if kind not in TABLES:
        raise ValueError(f"kind is {kind!r}; it must be 'rows' or 'sequences'")
    return list(TABLES[kind])


def find_utility(utility, kind):
    """Return a utility given by its name, or as a function; raise at any other."""
    if callable(utility):
        return utility
    table = TABLES[kind.name]
    if not isinstance(utility, str) or utility not in table:
        raise ValueError(
            f"utility is {utility!r}; for {kind.name} it must be one of "
            f"{', '.join(table)}, or a function of an estimator and X"
        )
    return table[utility]
