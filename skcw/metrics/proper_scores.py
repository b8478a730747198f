"""Proper scores, which only true probabilities make best, and what they consist of."""

from skcw.metrics._cores.proper import (
    BrierPart,
    BrierScore,
    Decomposition,
    LogPart,
    LogScore,
)
from skcw.metrics._estimates import estimate
from skcw.metrics._weighted_pairs import check_pairs


def brier_score(
    confidence,
    correct,
    *,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Compute the Brier score, the mean squared difference of claim and outcome.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    score : float or Estimate
        From 0 to 1; lower is better.

    See Also
    --------
    brier_decomposition : How much of it is miscalibration.
    log_score : The other proper score, which punishes false certainty.

    Notes
    -----
    It has no bins and no ties to break, and it rewards both honest probabilities and
    sharp ones: no model can improve it by claiming what it does not believe.

    Examples
    --------
    >>> from skcw.metrics import brier_score
    >>> brier_score([1.0, 0.5, 0.5, 0.0], [True, True, False, False])
    0.125
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    return estimate(
        BrierScore(pairs),
        interval,
        confidence_level,
        n_resamples,
        random_state,
        progress,
    )


def log_score(
    confidence,
    correct,
    *,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Compute the log score, the mean of -ln of the probability of what came true.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    score : float or Estimate
        In nats, from 0 up to 36.04; lower is better.

    See Also
    --------
    log_score_decomposition : How much of it is miscalibration.
    brier_score : The other proper score, which is bounded by 1.

    Notes
    -----
    Probabilities are clipped to [2.2e-16, 1 - 2.2e-16], as scikit-learn's ``log_loss``
    clips those of float64. Without that, one word that is wrong at a confidence of 1
    would make the score infinite; with it, each such word still counts 36.04. Shares
    of draws, as ``"kd-pc"`` gives them, are often exactly 1: prefer the Brier score.

    Examples
    --------
    >>> from skcw.metrics import log_score
    >>> round(log_score([0.5, 0.5, 0.25], [True, False, True]), 6)
    0.924196
    >>> round(log_score([1.0], [False]), 2)
    36.04
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    return estimate(
        LogScore(pairs), interval, confidence_level, n_resamples, random_state, progress
    )


def brier_decomposition(
    confidence,
    correct,
    *,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Split the Brier score into miscalibration, discrimination and uncertainty.

    The score is miscalibration - discrimination + uncertainty. There are no bins:
    probabilities are recalibrated by isotonic regression [1]_.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`; each part gets its own interval.

    Returns
    -------
    parts : Decomposition
        Three numbers, none of them below 0; :class:`Estimate` each with an interval.

    See Also
    --------
    brier_score : Their sum.
    log_score_decomposition : The same of the log score.
    calibration_bins : ``strategy="isotonic"`` gives the recalibrated curve.

    Notes
    -----
    Recalibration sees the outcomes, so chance makes miscalibration and discrimination
    too high by about the same; with more words that fades. If all words are right or
    all are wrong, discrimination and uncertainty are 0; if all confidences are equal,
    discrimination is 0.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
       for probabilistic classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> from skcw.metrics import brier_decomposition, brier_score
    >>> confidence, correct = [0.6, 0.6, 0.9, 0.9], [False, True, True, True]
    >>> parts = brier_decomposition(confidence, correct)
    >>> [round(part, 6) for part in parts]
    [0.01, 0.0625, 0.1875]
    >>> round(brier_score(confidence, correct), 6)
    0.135
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    how = (confidence_level, n_resamples, random_state, progress)
    return _decomposition(BrierPart, pairs, interval, how)


def log_score_decomposition(
    confidence,
    correct,
    *,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Split the log score into miscalibration, discrimination and uncertainty.

    The score is miscalibration - discrimination + uncertainty; see
    :func:`brier_decomposition`, which splits the Brier score in the same way.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`. Probabilities are clipped as in
        :func:`log_score`; recalibrated ones need no clipping.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`brier_decomposition`.

    Returns
    -------
    parts : Decomposition
        Three numbers in nats, none of them below 0; :class:`Estimate` each with an
        interval.

    See Also
    --------
    log_score : Their sum.

    Examples
    --------
    >>> from skcw.metrics import log_score_decomposition
    >>> parts = log_score_decomposition([0.6, 0.6, 0.9, 0.9], [0, 1, 1, 1])
    >>> [round(part, 6) for part in parts]
    [0.062886, 0.215762, 0.562335]
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    how = (confidence_level, n_resamples, random_state, progress)
    return _decomposition(LogPart, pairs, interval, how)


def _decomposition(core, pairs, interval, how):
    """Return all parts of a proper score, each with its interval if one is asked."""
    if interval is None:
        return core(pairs).parts()
    parts = (core(pairs, part) for part in Decomposition._fields)
    return Decomposition(*(estimate(part, interval, *how) for part in parts))
