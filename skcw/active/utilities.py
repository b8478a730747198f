"""Utilities: how informative a label is; also as strategies of scikit-activeml."""

import warnings
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import entr
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_random_state

from skcw._util.compat import _safe_indexing
from skcw._util.ragged import offsets_of
from skcw.active.pool import (
    askable,
    check_positions,
    is_fitted,
    read_pool,
    select_batch,
)
from skcw.confidence.foreign import answering_estimator, predictions_of
from skcw.exceptions import UnlearnedConfidenceWarning
from skcw.linear_model.gaussian import GaussianRowClassifier


@contextmanager
def quietly():
    """Silence the warning that a model has seen too little to calibrate itself.

    It ranks all the same, and early rounds are made of such models.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlearnedConfidenceWarning)
        yield


def margin(estimator, X):
    """Return minus the margin of the best label over the second.

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
    >>> from skcw.active.utilities import margin
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
    """Return minus the margin in standard deviations.

    That is -|M| / √V with V = xᵀΣx, the criterion of *active confident learning*
    (ACL) [1]_: of two rows of equal margin the one whose features were seen less is
    asked about first. V is the model's own, without the noise that ``fit`` may have
    learned for its probabilities: that is the same for all rows.

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
    >>> from skcw.active.utilities import normalized_margin
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
    >>> from skcw.active.utilities import least_confident
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
    >>> from skcw.active.utilities import entropy
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
    >>> from skcw.active.utilities import disagreement
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
    """Return minus the confidence in the least confident token [1]_.

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
    >>> from skcw.active.utilities import least_confident_word
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> asked = [["Bob", "met"], ["who", "met"]]
    >>> int(least_confident_word(tagger, asked, "kd-pc").argmax())
    1
    """
    words, lengths = _confidences(tagger, X, method, options)
    return _per_sequence(-words, lengths, np.maximum)


def min_margin(tagger, X, per_word=True):
    """Return minus the margin of the best labeling over the second best.

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
    >>> from skcw.active.utilities import min_margin
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = PASequenceTagger(random_state=0).fit(X, y)
    >>> int(min_margin(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    return _small_lead(tagger, X, per_word, in_deviations=False)


def min_conf_margin(tagger, X, per_word=False):
    """Return minus the margin of the best labeling in standard deviations.

    With Δ = Φ(x, best) - Φ(x, second) it is -μ·Δ / √(ΔᵀΣΔ). The *MinConfMargin* of the
    paper [1]_ is this per word, as its *MinMargin* is; by itself it asks for the better
    sentences, for the deviation grows with the length already.

    Parameters
    ----------
    tagger : CWSequenceTagger or AROWSequenceTagger
        A fitted tagger that keeps variances.
    X : iterable of sequences
        The sequences.
    per_word : bool, default=False
        Whether to divide by the number of words, too, as the paper does.

    Returns
    -------
    utility : ndarray of float64, shape (n_sequences,)
        Minus the lead in standard deviations.

    References
    ----------
    .. [1] Avihai Mejer and Koby Crammer, "Confidence in Structured-Prediction using
       Confidence-Weighted Models", 2010, section 6.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active.utilities import min_conf_margin
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> int(min_conf_margin(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    return _small_lead(tagger, X, per_word, in_deviations=True)


def normalized_log_prob(tagger, X, method=None, per_word=True, **options):
    """Return -log Pr[best labeling] per token (MNLP).

    The maximum normalized log-probability does not prefer long sentences. Without the
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
    >>> from skcw.active.utilities import normalized_log_prob
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> int(normalized_log_prob(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
    1
    """
    asked = _asked(tagger, X, "sequence_confidence")
    with quietly():
        probability = asked.sequence_confidence(method, **options)
    # A labeling that no draw gives counts as the least positive probability.
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
    >>> from skcw.active.utilities import expected_errors
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
    >>> from skcw.active.utilities import doubtful_entities
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
        Not used but to tell sequences from rows.
    X : rows or sequences
        The kind of items.
    random_state : int, RandomState or None, default=None
        Controls the numbers. ``ActiveLearner`` gives each round a seed of its own.

    Returns
    -------
    utility : ndarray of float64, shape (n_items,)
        Uniform between 0 and 1.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> from skcw.active.utilities import random_utility
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


def utility_names(kind: str) -> list[str]:
    """Return the names of the utilities there are.

    Parameters
    ----------
    kind : {"rows", "sequences"}
        The kind of items.

    Returns
    -------
    names : list of str
        The names that ``ActiveLearner`` and ``SkactivemlStrategy`` take.

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


@dataclass(eq=False, repr=False, match_args=False)
class SkactivemlStrategy(BaseEstimator):
    """A utility as a query strategy of scikit-activeml.

    Its ``query`` takes what those of that package take. It takes sequences, too, with
    ``missing_label=None``.

    Parameters
    ----------
    utility : str or callable
        A name of :func:`utility_names`, or a function of an estimator and X.
    max_overlap : float, default=None
        Keep items out of a batch that repeat the others, see :func:`select_batch`.
    missing_label : float, str or None, default=nan
        The placeholder in y for an unknown label.
    random_state : int, RandomState or None, default=None
        Controls the utility ``"random"``, and the choice as long as no label is known.
        Each query goes on from where the one before it ended.

    Notes
    -----
    It was tested with scikit-activeml 1.0.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw import MultiClassCW
    >>> from skcw.active import SkactivemlStrategy
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [9.0, 1.0], [0.4, 1.0]], [0, 1, np.nan, np.nan]
    >>> SkactivemlStrategy("normalized-margin").query(X, y, MultiClassCW())
    array([3])
    """

    utility: str | Callable[..., Any]
    max_overlap: float | None = None
    missing_label: Any = np.nan
    random_state: int | np.random.RandomState | None = None

    def query(
        self,
        X: Any,
        y: Iterable[Any],
        clf: Any,
        fit_clf: bool = True,
        sample_weight: ArrayLike | None = None,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> tuple[Any, ...]:
        """Return the items to label next.

        Parameters
        ----------
        X : rows or sequences
            All items, labeled or not.
        y : sequence of labels, or of sequences of labels
            Their labels, ``missing_label`` where they are not known.
        clf : classifier or tagger
            The estimator; also one that scikit-activeml has wrapped.
        fit_clf : bool, default=True
            Whether to fit a copy of it to the known labels first.
        sample_weight : array-like of shape (n_items,), default=None
            Weights for that.
        candidates : None, array-like of int, rows or sequences, default=None
            The candidates: all items without a label, those at some positions,
            or items that need not be among X.
        batch_size : int, default=1
            How many.
        return_utilities : bool, default=False
            Whether to return the utilities, too.

        Returns
        -------
        positions : ndarray of int64, shape (batch_size,)
            Positions in X, or in `candidates` if these are items.
        utilities : ndarray of float64, shape (batch_size, n_items)
            The utilities in the choice of each item, if requested; not a number for
            items that could not be chosen.
        """
        is_known = np.array([not _is_missing(label, self.missing_label) for label in y])
        everything = read_pool(X, _inside(clf))
        if len(is_known) != len(everything):
            raise ValueError(
                f"X has {len(everything)} items but y has {len(is_known)}; y needs "
                "missing_label where a label is not known"
            )
        if fit_clf:
            clf = self._fitted(clf, X, y, is_known, sample_weight)
        positions = _positions(candidates, is_known)
        given = candidates if positions is None else everything.take(positions)
        chosen, found = self._chosen(_inside(clf), given, batch_size)
        utilities = found
        if positions is not None:
            chosen = positions[chosen]
            utilities = np.full(len(is_known), np.nan)
            utilities[positions] = found
        if not return_utilities:
            return chosen
        return chosen, _in_turn(utilities, chosen)

    def _chosen(self, estimator, X, n):
        """Return the positions of a batch, and the utilities of all items."""
        pool = read_pool(X, estimator)
        utility = find_utility(self.utility, pool.kind)
        if utility is random_utility or not is_fitted(estimator):
            utilities = random_utility(estimator, X, self._rng())
        else:
            utilities = np.asarray(utility(estimator, X))
        features = None
        if self.max_overlap is not None:
            features = pool.features(np.arange(len(pool)))
        positions = select_batch(
            askable(utilities, pool.lengths),
            n,
            lengths=pool.lengths,
            features=features,
            max_overlap=self.max_overlap,
        )
        return positions, utilities

    def _rng(self):
        """Return one generator for all queries: equal numbers would repeat a choice."""
        if not hasattr(self, "_rng_"):
            self._rng_ = check_random_state(deepcopy(self.random_state))
        return self._rng_

    def _fitted(self, clf, X, y, is_known, sample_weight):
        """Return a copy of the classifier fitted to the known labels, if there are any.

        The wrappers of scikit-activeml leave out unknown labels by themselves.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if _package_of(clf) == "skactiveml":
            return clone(clf).fit(X, y, **weights)
        known = np.flatnonzero(is_known)
        pool = read_pool(X, clf)
        labels = [row for row, is_one in zip(y, is_known, strict=True) if is_one]
        if not pool.kind.can_begin(labels):
            return clone(clf)
        weights = {k: _safe_indexing(w, known) for k, w in weights.items()}
        return clone(clf).fit(pool.take(known), labels, **weights)


def _package_of(estimator):
    return type(estimator).__module__.partition(".")[0]


def _inside(clf):
    """Return the estimator inside a wrapper of scikit-activeml, or itself."""
    if _package_of(clf) != "skactiveml" or not hasattr(clf, "estimator"):
        return clf
    return getattr(clf, "estimator_", clf.estimator)


def _positions(candidates, is_known):
    """Return the positions of candidates, or None if these are items."""
    if candidates is None:
        positions = np.flatnonzero(~is_known)
        if not len(positions):
            raise ValueError("there is nothing to ask about: all labels are known")
        return positions
    if sparse.issparse(candidates):
        return None
    if not len(candidates):
        raise ValueError("there is nothing to ask about: candidates is empty")
    # A mask is taken for positions, too, and refused as such.
    if not all(isinstance(one, (Integral, np.bool_)) for one in candidates):
        return None
    return check_positions(candidates, len(is_known))


def _in_turn(utilities, positions):
    """Return a row per chosen item, in which those chosen before have none."""
    rows = np.tile(utilities, (len(positions), 1))
    for turn, position in enumerate(positions):
        rows[turn + 1 :, position] = np.nan
    return rows


def _is_missing(label, missing):
    if label is None or label is missing:
        return True
    if isinstance(label, float) and label != label:
        return True
    is_one = isinstance(label, str) or not hasattr(label, "__len__")
    return (
        is_one
        and isinstance(label, str) == isinstance(missing, str)
        and (bool(label == missing))
    )
