"""Proper losses, and the parts that they consist of."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, ndtr

from skcw._util.checks import check_real
from skcw.metrics.binnings import (
    Ties,
    cell_starts,
    isotonic_blocks,
    recalibrated,
    steps_between,
)
from skcw.metrics.intervals import Inversion
from skcw.metrics.pairs import check_pairs
from skcw.metrics.score import (
    SCORES,
    Alternatives,
    MeanScore,
    Score,
    Truth,
    deviation,
    recalibrated_together,
    registered,
    score_name,
    smooth_interval,
    thresholds,
)

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
        """Return the loss of tokens that claim p and of which a share p is right."""
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
        """Return the loss of tokens that claim p and of which a share p is right."""
        return entr(p) + entr(1 - p)


def log_losses(correct, confidence, clip=CLIP):
    """Return the log loss of each token of flat arrays, which are not checked."""
    q = np.clip(confidence, clip, 1 - clip)
    return -np.log(np.where(correct, q, 1 - q))


def brier_loss(correct: Any, confidence: Any, *, sample_weight: Any = None) -> float:
    """Compute the Brier loss, the mean squared difference of claim and outcome.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.

    Returns
    -------
    loss : float
        From 0 to 1; lower is better.

    See Also
    --------
    score_decomposition : How much of it is miscalibration.
    log_loss : The other proper loss, which punishes false certainty.

    Notes
    -----
    It has no bins and no ties to break, and it rewards both honest probabilities and
    sharp ones: no model can improve it by claiming anything but its belief.

    Examples
    --------
    >>> from skcw.metrics import brier_loss
    >>> brier_loss([True, True, False, False], [1.0, 0.5, 0.5, 0.0])
    0.125
    """
    return BrierLoss.from_arrays(correct, confidence, sample_weight).value()


def log_loss(
    correct: Any, confidence: Any, *, clip: float = CLIP, sample_weight: Any = None
) -> float:
    """Compute the log loss, the mean of -ln of the probability of what came true.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    clip : float, default=2.2e-16
        Probabilities below it, or within it of 1, count as if they were that far from
        0 or 1. ``fit_confidence`` uses 1e-4.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.

    Returns
    -------
    loss : float
        In nats, from 0 up to -ln(clip), about 36 by default; lower is better.

    See Also
    --------
    score_decomposition : How much of it is miscalibration.
    brier_loss : The other proper loss, which is bounded by 1.

    Notes
    -----
    By default probabilities are clipped to [2.2e-16, 1 - 2.2e-16], as scikit-learn's
    ``log_loss`` clips those of float64. Without that, one token that is wrong at a
    confidence of 1 would make the loss infinite; with it, each such token still counts
    about 36. Shares of draws, as ``"kd-pc"`` gives them, are often exactly 1: for them
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


def spiegelhalter_test(
    correct: Any,
    confidence: Any,
    *,
    sample_weight: Any = None,
    groups: ArrayLike | None = None,
) -> Any:
    r"""Test whether probabilities are calibrated, without bins.

    The Brier loss of calibrated probabilities is :math:`\overline{q (1 - q)}` on
    average. The test [1]_ asks whether it is further from that than chance allows:

    .. math:: z = \frac{\sum_i (y_i - q_i) (1 - 2 q_i)}{\sqrt{V}},
       \quad V = \sum_i (1 - 2 q_i)^2 q_i (1 - q_i).

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.
    groups : array of shape (n_tokens,) or (n_rows,), default=None
        The sentence of each token or the text of each row. If None each row is a group,
        and in flat arrays each token is one. If any group has several tokens, these are
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
    tokens those of every model are. The reverse is not a proof: errors in opposite
    directions may cancel, and tokens at exactly one half say nothing. If V is 0 (all
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
            f"all {len(q)} tokens are of one group, which does not show how groups "
            "vary; give flat arrays without groups if tokens are independent"
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


# Pooling starts from no more cells than that, so that many draws can be pooled.
MOST_CELLS = 2000


class Decomposition(NamedTuple):
    """The parts of a proper loss: miscalibration - discrimination + uncertainty.

    Parameters
    ----------
    miscalibration : float
        The loss that recalibration would save; 0 is best.
    discrimination : float
        The loss that recalibrated probabilities save over claiming the mean for all
        tokens; higher is better.
    uncertainty : float
        The loss of claiming the mean for all tokens, which no model can change.

    Examples
    --------
    >>> from skcw.metrics import score_decomposition
    >>> parts = score_decomposition("brier_loss", [0, 1, 1, 1], [0.6, 0.6, 0.9, 0.9])
    >>> round(parts.discrimination, 6)
    0.0625
    """

    miscalibration: float
    discrimination: float
    uncertainty: float


class LossPart(Score):
    """A part of a proper loss, by isotonic recalibration.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    loss : type
        The proper loss, a `MeanScore` with ``of_constant``.
    """

    def __init__(self, pairs, *, loss=BrierLoss):
        super().__init__(pairs)
        self.loss = loss
        self.bounds = loss.bounds
        self._whole = loss(pairs)
        self._ties = Ties(pairs.q)

    def parts(self, weight=None):
        """Return the `Decomposition` of the loss."""
        weight = self.pairs.weight if weight is None else weight
        mass, right = self._ties.sums(weight, self.pairs.y)
        blocks = isotonic_blocks(mass, right)
        total = blocks.mass.sum()
        accuracy = blocks.right / blocks.mass
        best = blocks.mass @ self.loss.of_constant(accuracy) / total
        uncertainty = self.loss.of_constant(blocks.right.sum() / total)
        # Rounding may leave parts below zero that are zero.
        return Decomposition(
            miscalibration=max(0.0, self._whole.value(weight) - float(best)),
            discrimination=max(0.0, float(uncertainty - best)),
            uncertainty=float(uncertainty),
        )

    def value(self, weight=None):
        """Return the part by which the class is called."""
        return getattr(self.parts(weight), type(self).__name__.lower())

    def _losses(self):
        """Return what tokens lose as they claim, when recalibrated, and by the mean.

        Recalibrated probabilities and the mean are the best of their kind, so that the
        loss does not change to first order as they move: only the losses of tokens
        count.
        """
        pairs = self.pairs
        best = recalibrated(pairs, extra=0.0)
        mean = np.full(len(best), self._accuracy())
        return [self.loss(pairs._replace(q=q)).loss for q in (pairs.q, best, mean)]

    def _accuracy(self):
        pairs = self.pairs
        return float(pairs.weight @ pairs.y / pairs.weight.sum())


@registered("brier_miscalibration", loss=BrierLoss)
@registered("log_loss_miscalibration", loss=LogLoss)
class Miscalibration(LossPart):
    """The loss that recalibration would save."""

    interval_methods = ("inversion",)

    def influence(self):
        """Return the contribution of each token."""
        claimed, best, _ = self._losses()
        return MeanScore(self.pairs, claimed - best).influence()

    def alternatives(self):
        """Return worse and worse calibration of the tokens."""
        return MiscalibrationAlternatives(self)


@registered("brier_discrimination", loss=BrierLoss)
@registered("log_loss_discrimination", loss=LogLoss)
class Discrimination(LossPart):
    """The loss that recalibrated probabilities save over claiming the mean."""

    greater_is_better = True
    interval_methods = ("sandwich",)

    def influence(self):
        """Return the contribution of each token."""
        _, best, mean = self._losses()
        return MeanScore(self.pairs, mean - best).influence()

    def sandwich(self, level, n_resamples, rng, bar):
        """Return the ends around the value less the bias by chance.

        Pooling lets outcomes look better told apart by as much as it lets them look
        miscalibrated.
        """
        family = MiscalibrationAlternatives(self)
        inversion = Inversion(family, level, n_resamples, rng, bar)
        value = max(self.value() - inversion.excess, 0.0)
        bounds = (0.0, float(self.loss.of_constant(0.5)))
        return smooth_interval(value, self.influence(), self.pairs.group, bounds, level)


@registered("brier_uncertainty", loss=BrierLoss)
@registered("log_loss_uncertainty", loss=LogLoss)
class Uncertainty(LossPart):
    """The loss of claiming the mean for all tokens."""

    interval_methods = ("sandwich", "bootstrap")

    def influence(self):
        """Return the contribution of each token."""
        return MeanScore(self.pairs, self._losses()[2]).influence()

    def sandwich(self, level, n_resamples, rng, bar):
        """Return the losses of claiming the mean, for means in its interval."""
        pairs, accuracy = self.pairs, self._accuracy()
        added = pairs.weight * (pairs.y - accuracy) / pairs.weight.sum()
        ends = smooth_interval(accuracy, added, pairs.group, (0.0, 1.0), level)
        losses = [float(self.loss.of_constant(np.float64(p))) for p in ends]
        if ends[0] < 0.5 < ends[1]:
            losses.append(float(self.loss.of_constant(0.5)))
        return min(losses), max(losses)


def score_decomposition(
    score: Any, correct: Any, confidence: Any, *, sample_weight: Any = None
) -> Any:
    """Split a proper loss into miscalibration, discrimination and uncertainty.

    The loss is miscalibration - discrimination + uncertainty. There are no bins:
    probabilities are recalibrated by isotonic regression [1]_.

    Parameters
    ----------
    score : {"brier_loss", "log_loss"} or function
        The loss.
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`root_calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.

    Returns
    -------
    parts : Decomposition
        Three numbers, none of them below 0.

    See Also
    --------
    brier_loss, log_loss : The losses.
    calibration_bins : ``strategy="isotonic"`` gives the recalibrated curve.
    score_interval : The interval of a part, such as ``"brier_miscalibration"``.

    Notes
    -----
    Recalibration sees the outcomes, so chance makes miscalibration and discrimination
    too high by about the same; with more tokens that fades. If all tokens are right or
    all are wrong, discrimination and uncertainty are 0; if all confidences are equal,
    discrimination is 0.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
       for probabilistic classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> from skcw.metrics import brier_loss, score_decomposition
    >>> correct, confidence = [False, True, True, True], [0.6, 0.6, 0.9, 0.9]
    >>> parts = score_decomposition("brier_loss", correct, confidence)
    >>> [round(part, 6) for part in parts]
    [0.01, 0.0625, 0.1875]
    >>> round(brier_loss(correct, confidence), 6)
    0.135
    """
    loss = SCORES[score_name(score)][0]
    if not hasattr(loss, "of_constant"):
        raise ValueError(f"score is {score!r}; it must be brier_loss or log_loss")
    return LossPart(check_pairs(correct, confidence, sample_weight), loss=loss).parts()


class MiscalibrationAlternatives(Alternatives):
    """Alternatives to the claimed probabilities, up to the recalibrated ones.

    The score is the miscalibration of neighboring tokens taken together in cells; its
    draws and its observed value are made alike.

    Parameters
    ----------
    part : LossPart
        A part of a proper loss; the family is that of its miscalibration.
    """

    def __init__(self, part):
        pairs = part.pairs.taken(np.argsort(part.pairs.q, kind="stable"))
        goal, correlation = recalibrated_together(pairs)
        super().__init__(None, pairs, cell_starts(pairs.q, MOST_CELLS), correlation)
        self.of_constant = part.loss.of_constant
        self.if_wrong, self.if_right = (
            part.loss(pairs._replace(y=np.full(len(pairs.q), outcome))).loss
            for outcome in (0.0, 1.0)
        )
        self._mass = self._in_cells(self.weight)
        slope = self._in_cells(self.weight * (self.if_right - self.if_wrong))
        self._slope = slope / np.where(self._mass > 0, self._mass, 1.0)
        self.observed = self._score(self._in_cells(self.weight * pairs.y))
        self.start, self.step = pairs.q, steps_between(pairs.q, goal)

    def truth(self, probability):
        """Return the truth of some probabilities of tokens."""
        each = self.if_wrong + probability * (self.if_right - self.if_wrong)
        each -= self.of_constant(probability)
        total = self.weight.sum()
        value = float(self.weight @ each / total)
        spread = deviation(self.weight * (each - value) / total, self.group)
        return Truth(thresholds(probability), value, spread)

    def scores(self, right):
        """Return the scores for right tokens in cells, (n_truths, n_draws)."""
        return np.array([[self._score(sums) for sums in drawn] for drawn in right])

    def _in_cells(self, values):
        return np.add.reduceat(values, self.starts[:-1])

    def _score(self, right):
        """Return the miscalibration for the right tokens in cells."""
        claimed = self.weight @ self.if_wrong + right @ self._slope
        blocks = isotonic_blocks(self._mass, right)
        best = blocks.mass @ self.of_constant(blocks.right / blocks.mass)
        return float(claimed - best) / self.weight.sum()
