"""Utilities of sequences: how much a tagger would like to know the labels of each.

Each takes a fitted tagger and sequences, asks the tagger once, and returns one number
per sequence: the higher, the sooner it should be asked. Of an empty sequence nothing
can be learnt: its utility is minus infinity.
"""

from numbers import Real

import numpy as np
from sklearn.base import is_classifier

from skcw.active._row_utilities import quietly
from skcw.data._ragged import offsets_of
from skcw.inspection._answering import answering_estimator, ask_tagger


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


def sequence_improbability(tagger, X, method=None, per_word=True, **options):
    """Return -log Pr[best labeling] per word: long sentences are not preferred.

    Other packages call it MNLP, maximum normalised log-probability. Without the
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
    >>> from skcw.active import sequence_improbability
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> int(sequence_improbability(tagger, [["Bob", "met"], ["who", "?"]]).argmax())
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
    asked = ask_tagger(*answering_estimator(tagger, X))
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
