"""A test of whether probabilities are what they claim to be."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from skcw.metrics._weighted_pairs import check_pairs


class SpiegelhalterTest(NamedTuple):
    """The outcome of Spiegelhalter's test.

    Parameters
    ----------
    statistic : float
        Standard normal if the probabilities are calibrated. Positive if the Brier score
        is worse than the probabilities themselves say, as of overconfident ones.
    p_value : float
        Two-sided: how often calibrated probabilities would give a statistic as extreme.

    Examples
    --------
    >>> from skcw.metrics import spiegelhalter_test
    >>> spiegelhalter_test([0.9, 0.9, 0.9, 0.9], [1, 1, 0, 0]).statistic > 0
    True
    """

    statistic: float
    p_value: float


def spiegelhalter_test(confidence, correct, *, sample_weight=None, groups=None):
    r"""Test whether probabilities are calibrated, without bins.

    The Brier score of calibrated probabilities is :math:`\overline{q (1 - q)}` on
    average. The test [1]_ asks whether it is further from that than chance allows:

    .. math:: z = \frac{\sum_i (y_i - q_i) (1 - 2 q_i)}{\sqrt{V}},
       \quad V = \sum_i (1 - 2 q_i)^2 q_i (1 - q_i).

    Parameters
    ----------
    confidence, correct, sample_weight :
        As in :func:`calibration_mse`.
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
    brier_score : The score that is tested.

    Notes
    -----
    A small p-value says that the probabilities are wrong, not how much; with enough
    words those of every model are. The reverse is no proof: errors in opposite
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
    >>> confidence, correct = [0.8, 0.8, 0.8, 0.8, 0.8], [True, True, True, True, False]
    >>> test = spiegelhalter_test(confidence, correct)
    >>> abs(round(test.statistic, 6)), round(test.p_value, 6)
    (0.0, 1.0)
    >>> round(spiegelhalter_test([0.9] * 20, [True, False] * 10).p_value, 6)
    0.0
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    q, weight = pairs.q, pairs.weight
    parts = weight * (pairs.y - q) * (1 - 2 * q)
    n_groups = int(pairs.group.max()) + 1
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
