"""Proper losses: Brier loss, log loss, and Spiegelhalter's test of calibration."""

from typing import NamedTuple

import numpy as np
from scipy.special import entr, ndtr

from skcw.data._checks import check_real
from skcw.metrics._pairs import check_pairs
from skcw.metrics._score import MeanScore, registered

# As scikit-learn's log_loss does with float64: a claim of certainty that is wrong
# costs 36.04 and not infinity.
CLIP = float(np.finfo(np.float64).eps)


@registered("brier_loss")
class BrierLoss(MeanScore):
    """The mean squared difference of probability and outcome."""

    def __init__(self, pairs):
        super().__init__(pairs, (pairs.q - pairs.y) ** 2)

    @staticmethod
    def of_constant(p):
        """Return the loss of words that claim p and of which a share p is right."""
        return p * (1 - p)


@registered("log_loss")
class LogLoss(MeanScore):
    """The mean negative logarithm of the probability of what came true."""

    bounds = (0.0, -np.log(CLIP))

    def __init__(self, pairs, clip=CLIP):
        if not 0 < check_real("clip", clip) < 0.5:
            raise ValueError(f"clip is {clip!r}; it must lie between 0 and 0.5")
        super().__init__(pairs, log_losses(pairs.y > 0, pairs.q, clip))
        self.bounds = (0.0, -np.log(clip))

    @staticmethod
    def of_constant(p):
        """Return the loss of words that claim p and of which a share p is right."""
        return entr(p) + entr(1 - p)


def log_losses(correct, confidence, clip=CLIP):
    """Return the log loss of each word of flat arrays, which are not checked."""
    q = np.clip(confidence, clip, 1 - clip)
    return -np.log(np.where(correct, q, 1 - q))


def brier_loss(correct, confidence, *, sample_weight=None):
    """Compute the Brier loss, the mean squared difference of claim and outcome.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    loss : float
        From 0 to 1; lower is better.

    See Also
    --------
    brier_decomposition : How much of it is miscalibration.
    log_loss : The other proper loss, which punishes false certainty.

    Notes
    -----
    It has no bins and no ties to break, and it rewards both honest probabilities and
    sharp ones: no model can improve it by claiming what it does not believe.

    Examples
    --------
    >>> from skcw.metrics import brier_loss
    >>> brier_loss([True, True, False, False], [1.0, 0.5, 0.5, 0.0])
    0.125
    """
    return BrierLoss.from_arrays(correct, confidence, sample_weight).value()


def log_loss(correct, confidence, *, clip=CLIP, sample_weight=None):
    """Compute the log loss, the mean of -ln of the probability of what came true.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    clip : float, default=2.2e-16
        Probabilities below it, or within it of 1, count as if they were that far from
        0 or 1. ``fit_confidence`` uses 1e-4.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    loss : float
        In nats, from 0 up to -ln(clip), by default 36.04; lower is better.

    See Also
    --------
    log_loss_decomposition : How much of it is miscalibration.
    brier_loss : The other proper loss, which is bounded by 1.

    Notes
    -----
    By default probabilities are clipped to [2.2e-16, 1 - 2.2e-16], as scikit-learn's
    ``log_loss`` clips those of float64. Without that, one word that is wrong at a
    confidence of 1 would make the loss infinite; with it, each such word still counts
    36.04. Shares of draws, as ``"kd-pc"`` gives them, are often exactly 1: for them
    prefer the Brier loss, or a larger `clip`.

    Examples
    --------
    >>> from skcw.metrics import log_loss
    >>> round(log_loss([True, False, True], [0.5, 0.5, 0.25]), 6)
    0.924196
    >>> round(log_loss([False], [1.0]), 2)
    36.04
    >>> round(log_loss([False], [1.0], clip=1e-4), 2)
    9.21
    """
    return LogLoss.from_arrays(correct, confidence, sample_weight, clip=clip).value()


class SpiegelhalterTest(NamedTuple):
    """The outcome of Spiegelhalter's test.

    Parameters
    ----------
    statistic : float
        Standard normal if the probabilities are calibrated. Positive if the Brier loss
        is worse than the probabilities themselves say, as of overconfident ones.
    p_value : float
        Two-sided: how often calibrated probabilities would give a statistic as extreme.

    Examples
    --------
    >>> from skcw.metrics import spiegelhalter_test
    >>> spiegelhalter_test([1, 1, 0, 0], [0.9, 0.9, 0.9, 0.9]).statistic > 0
    True
    """

    statistic: float
    p_value: float


def spiegelhalter_test(correct, confidence, *, sample_weight=None, groups=None):
    r"""Test whether probabilities are calibrated, without bins.

    The Brier loss of calibrated probabilities is :math:`\overline{q (1 - q)}` on
    average. The test [1]_ asks whether it is further from that than chance allows:

    .. math:: z = \frac{\sum_i (y_i - q_i) (1 - 2 q_i)}{\sqrt{V}},
       \quad V = \sum_i (1 - 2 q_i)^2 q_i (1 - q_i).

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.
    groups : array of shape (n_words,) or (n_rows,), default=None
        The sentence of each word or the text of each row. If None each row is a group,
        and in flat arrays each word is one. If any group has several words, these are
        not taken as independent: V becomes the sum over groups of the square of the
        group's part of the numerator, for which there should be some dozens of them.

    Returns
    -------
    test : SpiegelhalterTest
        The ``statistic`` z and its two-sided ``p_value``.

    See Also
    --------
    brier_loss : The loss that is tested.

    Notes
    -----
    A small p-value says that the probabilities are wrong, not how much; with enough
    words those of every model are. The reverse is not a proof: errors in opposite
    directions may cancel, and words at exactly one half say nothing. If V is 0 (all
    confidences are 0, 1/2 or 1), the statistic is 0 with a p-value of 1 if nothing
    contradicts them, and else infinite with a p-value of 0.

    References
    ----------
    .. [1] D. J. Spiegelhalter, "Probabilistic prediction in patient management and
       clinical trials", Statistics in Medicine 5(5), 1986.

    Examples
    --------
    >>> from skcw.metrics import spiegelhalter_test
    >>> correct, confidence = [True, True, True, True, False], [0.8, 0.8, 0.8, 0.8, 0.8]
    >>> test = spiegelhalter_test(correct, confidence)
    >>> abs(round(test.statistic, 6)), round(test.p_value, 6)
    (0.0, 1.0)
    >>> round(spiegelhalter_test([True, False] * 10, [0.9] * 20).p_value, 6)
    0.0
    """
    pairs = check_pairs(correct, confidence, sample_weight, groups)
    q, weight = pairs.q, pairs.weight
    parts = weight * (pairs.y - q) * (1 - 2 * q)
    n_groups = pairs.n_groups
    if n_groups == 1 < len(q):
        raise ValueError(
            f"all {len(q)} words are of one group, which does not tell how groups "
            "vary; give flat arrays without groups if words are independent"
        )
    if n_groups == len(q):
        variance = weight @ ((1 - 2 * q) ** 2 * q * (1 - q))
    else:
        variance = (np.bincount(pairs.group, parts, n_groups) ** 2).sum()
    total = parts.sum()
    if variance > 0:
        statistic = float(total / np.sqrt(variance))
    else:
        statistic = float(np.copysign(np.inf, total)) if total else 0.0
    return SpiegelhalterTest(statistic, float(2 * ndtr(-abs(statistic))))
