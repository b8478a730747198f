"""How well confidences find the wrong words, the least confident first."""

import numpy as np

from skcw.metrics._cores.ranking import ErrorAveragePrecision
from skcw.metrics._cores.tied_ranking import rank_words
from skcw.metrics._estimates import estimate
from skcw.metrics._outcome_checks import check_review_sizes
from skcw.metrics._weighted_pairs import check_ranked_pairs


def error_average_precision(
    confidence,
    correct,
    *,
    zero_division=0.0,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    r"""Compute the average precision of retrieving wrong words by low confidence.

    Words are ranked from the least to the most confident. The precision at a rank is
    the share of wrong words down to it; the average is over the ranks of all wrong
    words [1]_. Only the order of the confidences matters, so any scale will do.

    Parameters
    ----------
    confidence : array of shape (n_words,), or a sequence of such
        How sure the tagger is of each predicted label: all words in one flat array,
        or a row for each sequence as ``predict_confidence`` returns them. Infinite
        values are legal.
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether that label is right, in the same layout; see :func:`label_matches`.
    zero_division : float, default=0.0
        Value if no word is wrong, or if there are no words.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, a whole number, in the same layout; once if None.
    groups, interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    average_precision : float or Estimate
        From 0 to 1; 1 if every wrong word is less confident than every right one.
        It rises with the share of wrong words, so compare it between confidences of
        the same labels, and take :func:`residual_errors` between models.

    See Also
    --------
    errors_found : How many wrong words lie among the first n.
    residual_errors : How many are left after them.

    Notes
    -----
    Tied words count at their expected value: the mean over all orders of the ties,
    which is exact and not a figure of the groups. Say that a group of m tied words
    holds e wrong ones and comes after N words with E wrong ones. The word at its
    place k is wrong with probability e / m; if it is, then (k - 1)(e - 1) / (m - 1)
    of those before it in the group are wrong on average. With W wrong words in all,

    .. math::

        AP = \frac{1}{W} \sum_{groups} \frac{e}{m} \sum_{k=1}^{m}
             \frac{E + 1 + (k - 1)\frac{e - 1}{m - 1}}{N + k}.

    References
    ----------
    .. [1] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.

    Examples
    --------
    >>> from skcw.metrics import error_average_precision
    >>> error_average_precision([0.9, 0.2, 0.6, 0.8], [True, False, True, False])
    0.8333333333333333

    The rows of sentences give the same, and ties their mean over both orders:

    >>> error_average_precision([[0.9, 0.2], [0.6, 0.8]], [[1, 0], [1, 0]])
    0.8333333333333333
    >>> error_average_precision([0.5, 0.5], [True, False])
    0.75
    """
    pairs = check_ranked_pairs(confidence, correct, sample_weight, groups, interval)
    core = ErrorAveragePrecision(pairs, zero_division=zero_division)
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )


def errors_found(confidence, correct, n, *, sample_weight=None):
    """Count the wrong words among the n least confident ones.

    Parameters
    ----------
    confidence, correct :
        As in :func:`error_average_precision`.
    n : int or array of int
        How many words are looked at; more than there are is the same as all.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, as in :func:`error_average_precision`; a word of
        weight 2 is two of the words that are looked at.

    Returns
    -------
    found : float, or array of the shape of ``n``
        The number of wrong words. Of tied words it is the mean over all their
        orders, so it need not be whole. 0 if there are no words.

    See Also
    --------
    residual_errors : The wrong words that are left, which is the fair figure between
        models that make different errors.

    Examples
    --------
    >>> from skcw.metrics import errors_found
    >>> confidence = [0.1, 0.5, 0.5, 0.9]
    >>> correct = [False, True, False, True]
    >>> errors_found(confidence, correct, 2)
    1.5
    >>> errors_found(confidence, correct, [0, 1, 2, 3]).tolist()
    [0.0, 1.0, 1.5, 2.0]
    """
    sizes = check_review_sizes(n)
    pairs = check_ranked_pairs(confidence, correct, sample_weight)
    ranking = rank_words(pairs)
    return _scalar_or_array(ranking.expected_errors(sizes))


def residual_errors(confidence, correct, n, *, sample_weight=None):
    """Count the wrong words left after the n least confident ones were reviewed.

    A reader who mends what is wrong among those n leaves that many errors behind.
    The figure is fair between models: one that errs less often starts ahead, where
    average precision and errors found reward a model for having more to find.

    Parameters
    ----------
    confidence, correct :
        As in :func:`error_average_precision`.
    n : int or array of int
        How many words are reviewed; more than there are is the same as all.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, as in :func:`error_average_precision`; a word of
        weight 2 is two of the words that are reviewed.

    Returns
    -------
    left : float, or array of the shape of ``n``
        The number of wrong words among the others. Of tied words it is the mean over
        all their orders. 0 if there are no words; all errors for ``n=0``.

    See Also
    --------
    errors_found : The wrong words among the n.

    Examples
    --------
    >>> from skcw.metrics import residual_errors
    >>> residual_errors([0.1, 0.5, 0.5, 0.9], [False, True, False, True], [0, 1, 2])
    array([2. , 1. , 0.5])
    """
    sizes = check_review_sizes(n)
    pairs = check_ranked_pairs(confidence, correct, sample_weight)
    ranking = rank_words(pairs)
    return _scalar_or_array(ranking.n_errors - ranking.expected_errors(sizes))


def _scalar_or_array(values):
    return float(values) if np.ndim(values) == 0 else values
