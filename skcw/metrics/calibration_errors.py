"""Calibration errors in bins: squared, absolute and largest gaps."""

import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import erf

from skcw.metrics.binnings import make_binning, make_cells, steps_between
from skcw.metrics.pairs import check_choice
from skcw.metrics.score import (
    Alternatives,
    Score,
    Truth,
    deviation,
    recalibrated_together,
    registered,
    thresholds,
)

NORMS = ("l1", "l2", "max")
DEFAULT_ERROR_BINS = 15
TINY = np.finfo(np.float64).tiny


class BinnedScore(Score):
    """A score of how far claims are from the outcomes in bins.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    strategy, bin_size, n_bins, claim :
        As in `calibration_bins`; tokens are put into bins again for each weight.

    Attributes
    ----------
    norm : {"l1", "l2", "max"}
        Whether the mean size of the gaps decides, their squares, or the largest one.
    root : bool
        Whether the score is the root of the mean.
    debiased : bool
        Whether the bias by chance is subtracted from the gaps.
    """

    interval_methods = ("inversion",)
    compared_by = "ends"
    norm = "l2"
    root = True
    debiased = False

    def __init__(
        self, pairs, *, strategy="adaptive", bin_size=None, n_bins=None, claim="mean"
    ):
        super().__init__(pairs)
        self.binning = make_binning(pairs, strategy, bin_size, n_bins, claim)

    @property
    def n_families(self):
        """How many families: errors counted by size have two."""
        return 2 if self.norm == "l1" else 1

    def value(self, weight=None):
        """Return the score of the bins that the weights make."""
        weight = self.pairs.weight if weight is None else weight
        return float(self.combine(*self.binning.sums(weight)))

    def combine(self, mass, claimed, right):
        """Return the score of filled bins, which lie along the last axis."""
        gap = (claimed - right) / mass
        if self.norm == "max":
            return np.abs(gap).max(axis=-1)
        if self.debiased:
            gaps = _debiased_gaps(gap, mass, right / mass, self.norm)
        else:
            gaps = np.abs(gap) if self.norm == "l1" else gap**2
        # Taking chance off may leave less than nothing, which counts as nothing.
        error = np.maximum((mass * gaps).sum(axis=-1) / mass.sum(axis=-1), 0.0)
        return np.sqrt(error) if self.root else error

    def slopes(self, mass, gap):
        """Return how the score changes with surplus claims in bins, and with mass.

        Both are for one more token of weight one, and the first per unit of what that
        token claims too much. The score does not change as all masses grow by the same
        factor, and whether chance is taken off the gaps makes no difference here.

        Parameters
        ----------
        mass, gap : ndarray of shape (n_bins,)
            Weight of the tokens in each bin, and mean claim less accuracy.

        Returns
        -------
        of_surplus, of_mass : ndarray of shape (n_bins,)
            The slopes.
        """
        total = mass.sum()
        if self.norm == "max":  # Only the worst bin has a slope.
            largest = np.arange(len(gap)) == np.abs(gap).argmax()
            slope = np.where(largest, np.sign(gap) / mass, 0.0)
            return slope, -slope * gap
        if self.norm == "l1":
            mean = (mass @ np.abs(gap)) / total
            return np.sign(gap) / total, np.full(len(gap), -mean / total)
        mean, chain = (mass @ gap**2) / total, 1.0
        if self.root:
            chain = 0.5 / np.sqrt(mean) if mean > 0 else 0.0
        return chain * 2 * gap / total, -chain * (gap**2 + mean) / total

    def with_chance(self):
        """Return the same score without taking chance off its gaps."""
        plain = copy.copy(self)
        plain.debiased = False
        return plain

    def mean_square(self):
        """Return the score whose root this one is, with chance."""
        square = self.with_chance()
        square.root = False
        return square

    def influence(self):
        """Return the contribution of each token to the score, with bins as they are."""
        bins, surplus = FilledBins(self), self.binning.claim - self.pairs.y
        gap = (bins.share @ surplus) / bins.mass
        of_surplus, of_mass = self.slopes(bins.mass, gap)
        return (bins.share.T @ of_surplus) * surplus + bins.share.T @ of_mass

    def resampled(self, counts):
        """Return the scores: three sums per sentence and bin are enough."""
        mass, claimed, right = ((sums @ counts.T).T for sums in self._sentence_sums)
        return self.combine(np.where(mass > 0, mass, TINY), claimed, right)

    @cached_property
    def _sentence_sums(self):
        """Mass, claims and right tokens of each sentence in each bin, sparse."""
        pairs, share = self.pairs, FilledBins(self).share
        n = len(pairs.q)
        where = (np.arange(n), pairs.group)
        return [
            share @ sparse.csr_matrix((values, where), shape=(n, pairs.n_groups))
            for values in (np.ones(n), self.binning.claim, pairs.y)
        ]

    def alternatives(self):
        """Return worse and worse calibration of the tokens."""
        return BinnedAlternatives(self)


class BinnedAlternatives(Alternatives):
    """Alternatives to the probabilities that bins claim.

    The observed probabilities are isotonic in the confidences, not those of bins, which
    hold mostly chance.

    Parameters
    ----------
    score : BinnedScore
        The score. If it takes chance off its gaps, the family is that of the same score
        which does not: both are estimates of the same value.
    """

    def __init__(self, score):
        pairs = score.pairs
        self._bins = FilledBins(score)
        self._cells = cells = make_cells(self._bins.part, pairs.q)
        goal, correlation = recalibrated_together(pairs)
        sorted_pairs = pairs.taken(cells.order)
        super().__init__(self._bins.observed, sorted_pairs, cells.starts, correlation)
        self.start = np.clip(self._bins.claims_of_tokens(), 0.0, 1.0)
        self.step = steps_between(self.start, goal)
        # Up to t = 1 only the largest gaps of a maximum shrink: that several bins are
        # about as bad makes the worst of them look worse than it is.
        self._largest = np.abs(self.step).max() if score.norm == "max" else None
        self._by_size = score.norm == "l1"

    def shifted(self, t):
        """Return the truth at t."""
        step = t * self.step
        if self._largest and t < 1:
            step = np.clip(self.step, -t * self._largest, t * self._largest)
        return self.truth(np.clip(self.start + step, 0.0, 1.0))

    def truth(self, probability):
        """Return the truth of some probabilities of tokens."""
        bins = self._bins
        right = bins.share @ probability
        return Truth(
            thresholds(probability)[self._cells.order],
            float(bins.score(right)),
            deviation(bins.contributions(right), bins.group),
        )

    def flattened(self):
        """Return the family in which all tokens are off by the same, or None.

        Of all errors with the same mean size these are the ones to which chance adds
        least, as it adds more to small gaps than to large ones, and whose score varies
        most, as no bin makes up for another. What chance adds to a mean of squares does
        not depend on the gaps, so squares need no such family.
        """
        if not self._by_size:
            return None
        surplus = self._bins.share @ self.step
        size = np.abs(surplus).sum() / self._bins.mass.sum()
        flat = copy.copy(self)
        flat._by_size = False
        flat.step = np.full_like(self.step, np.copysign(size, surplus.sum()))
        return flat

    def scores(self, right):
        """Return the scores for right tokens in cells, along the last axis."""
        return self._bins.score(self._cells.in_bins(right))


class FilledBins:
    """The bins of a score as they are, whatever the outcomes of their tokens.

    Parameters
    ----------
    score : BinnedScore
        The score.

    Attributes
    ----------
    part, share : sparse matrix of shape (n_bins, n_tokens)
        Which part of each token lies in each bin, and how much weight that is.
    observed : float
        The score, without chance being taken off.
    """

    def __init__(self, score):
        pairs = score.pairs
        self.group = pairs.group
        self._score = score.with_chance()
        self._q = pairs.q
        self.part = score.binning.shares(pairs.weight)
        self.share = sparse.csr_matrix(self.part.multiply(pairs.weight))
        self.mass = np.asarray(self.share.sum(axis=1)).ravel()
        self.claimed = self.share @ score.binning.claim
        self.observed = float(self.score(self.share @ pairs.y))

    def score(self, right):
        """Return the score for right tokens in bins, which lie along the last axis."""
        return self._score.combine(self.mass, self.claimed, right)

    def claims_of_tokens(self):
        """Return confidences moved in each bin such that their mean is its claim."""
        missing = (self.claimed - self.share @ self._q) / self.mass
        return self._q + self.part.T @ missing

    def contributions(self, right):
        """Return how much tokens add to the score by being there, whatever they are."""
        gap = (self.claimed - right) / self.mass
        of_surplus, of_mass = self._score.slopes(self.mass, gap)
        return self.share.T @ (of_surplus * gap + of_mass)


@registered("calibration_mse")
class CalibrationMSE(BinnedScore):
    """CalibMSE: the mean square of claimed minus observed."""

    compared_by = "influence"
    root = False


@registered("root_calibration_mse")
class RootCalibrationMSE(BinnedScore):
    """The root of CalibMSE, which is on the scale of probabilities."""

    compared_by = "squares"


@registered("expected_calibration_error")
class ExpectedCalibrationError(BinnedScore):
    """The mean gap, the root of the mean squared gap, or the largest one.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    norm : {"l1", "l2", "max"}
        Whether gaps are counted by size or squared, or only the largest.
    debiased : bool
        Whether the bias by chance is subtracted from the gaps.
    strategy, bin_size, n_bins :
        As in `calibration_bins`, but the default of ``n_bins`` is 15.
    """

    def __init__(
        self,
        pairs,
        *,
        norm="l1",
        debiased=False,
        strategy="uniform",
        bin_size=None,
        n_bins=None,
    ):
        check_choice(norm, "norm", NORMS)
        if debiased and norm == "max":
            raise ValueError("debiased works with the norms 'l1' and 'l2' only")
        if n_bins is None and strategy != "adaptive":
            n_bins = DEFAULT_ERROR_BINS
        super().__init__(pairs, strategy=strategy, bin_size=bin_size, n_bins=n_bins)
        self.norm = norm
        self.root = norm == "l2"
        self.debiased = debiased
        self.compared_by = "squares" if self.root else "ends"


def calibration_mse(correct, confidence, *, sample_weight=None, **options):
    r"""Compute CalibMSE, the mean squared distance of a calibration curve.

    With the mean confidence :math:`\hat q_j` and the share :math:`\hat p_j` of right
    tokens in bin j, which holds :math:`n_j` tokens, it is [1]_

    .. math:: \sum_j n_j (\hat q_j - \hat p_j)^2 / \sum_j n_j.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true: all tokens in one flat array, or one
        array per sentence. See :func:`token_correct`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout, as
        ``predict_confidence`` returns it.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None. A token of weight
        2 is the same as that token twice.
    **options : object
        ``strategy``, ``bin_size``, ``n_bins`` and ``claim`` of
        :func:`root_calibration_mse`.

    Returns
    -------
    error : float
        From 0 to 1; lower is better.

    See Also
    --------
    root_calibration_mse : Its root, on the scale of probabilities.
    calibration_bins : The bins themselves.
    score_interval : An interval of the true error, to which chance adds in the score.
    score_decomposition : Miscalibration without bins.

    Notes
    -----
    Doubling ``bin_size`` never raises the score, as neighbors are joined and their
    errors may cancel. Chance does not cancel: the score of perfect probabilities is
    about :math:`\overline{p (1 - p)} / b` with b tokens per bin and goes to 0 with b,
    so compare scores of the same number of tokens and the same bins.

    All tokens may be right, or all wrong; if all confidences are equal, there is one
    bin.

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.

    Examples
    --------
    >>> from skcw.metrics.calibration_errors import calibration_mse
    >>> correct = [False, True, True, True]
    >>> confidence = [0.2, 0.4, 0.8, 1.0]
    >>> round(calibration_mse(correct, confidence), 6)
    0.025
    >>> round(calibration_mse(correct, confidence, bin_size=1), 6)
    0.11
    """
    found = CalibrationMSE.from_arrays(correct, confidence, sample_weight, **options)
    return found.value()


def root_calibration_mse(
    correct: Any,
    confidence: Any,
    *,
    strategy: str = "adaptive",
    bin_size: int | None = None,
    n_bins: int | None = None,
    claim: str = "mean",
    sample_weight: Any = None,
) -> float:
    """Compute the root of CalibMSE, which is on the scale of probabilities.

    With ``strategy="uniform"`` and ``claim="center"`` it is the root mean squared error
    of Mejer and Crammer [1]_.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    strategy : {"adaptive", "uniform", "quantile"}, default="adaptive"
        How bins are made; see :func:`calibration_bins`.
    bin_size : int, default=None
        Tokens in an adaptive bin; the root of the number of tokens if None.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    claim : {"mean", "center"}, default="mean"
        What a bin claims: the mean of its confidences, or, for uniform bins, the center
        of its range.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better. 0.03 says that tokens claim three in a hundred too
        much or too little, as a mean of squares. With ``claim="center"`` confidences
        that are all exactly 1 and right give half the width of a bin, 0.025.

    See Also
    --------
    calibration_mse : Its square.

    References
    ----------
    .. [1] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.

    Examples
    --------
    >>> from skcw.metrics import root_calibration_mse
    >>> error = root_calibration_mse([0, 1, 1, 1], [0.2, 0.4, 0.8, 1.0], bin_size=2)
    >>> round(error, 6)
    0.158114
    >>> centerd = {"strategy": "uniform", "claim": "center"}
    >>> round(root_calibration_mse([True, False], [0.55, 0.58], **centerd), 6)
    0.075
    """
    return RootCalibrationMSE.from_arrays(
        correct,
        confidence,
        sample_weight,
        strategy=strategy,
        bin_size=bin_size,
        n_bins=n_bins,
        claim=claim,
    ).value()


def expected_calibration_error(
    correct: Any,
    confidence: Any,
    *,
    norm: str = "l1",
    debiased: bool = False,
    strategy: str = "uniform",
    bin_size: int | None = None,
    n_bins: int | None = None,
    sample_weight: Any = None,
) -> float:
    r"""Compute the expected calibration error, ECE.

    With the mean confidence :math:`\hat q_j` and the share :math:`\hat p_j` of right
    tokens in bin j, which holds :math:`n_j` tokens, it is

    .. math:: \sum_j n_j |\hat q_j - \hat p_j| / \sum_j n_j,

    or with ``norm="l2"`` the root of the mean square.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    norm : {"l1", "l2", "max"}, default="l1"
        Whether distances are counted by size or squared, or only the largest: the
        maximum calibration error, MCE. A small bin can decide the maximum, so prefer
        bins of equal mass for few tokens.
    debiased : bool, default=False
        Whether the bias by chance is subtracted [1]_, not for the maximum. Scores are
        then comparable between bins of another size and samples of another number of
        tokens.
    strategy : {"uniform", "quantile", "adaptive"}, default="uniform"
        How bins are made; see :func:`calibration_bins`. With ``"quantile"``, bins of
        equal mass, it is the adaptive calibration error, ACE [2]_.
    bin_size : int, default=None
        Tokens in an adaptive bin; the root of the number of tokens if None.
    n_bins : int, default=None
        Number of uniform or quantile bins; 15 if None.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better. A debiased error below 0 becomes 0.

    See Also
    --------
    calibration_mse : The mean square, in bins whose size grows with the data.
    classwise_calibration_error : The same for the probabilities of all labels.

    Notes
    -----
    If tokens are independent, the accuracy of a bin has the variance
    :math:`s_j^2 = \hat p_j (1 - \hat p_j) / (n_j - 1)`. Debiasing takes :math:`s_j^2`
    off the square of each distance :math:`d_j`, and off its size the growth that
    normal noise brings, :math:`E|d_j + s_j z| - |d_j|`. One token does not show its own
    variance: bins of one token count as no distance.

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS
       2019.
    .. [2] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops
       2019.

    Examples
    --------
    >>> from skcw.metrics import expected_calibration_error
    >>> correct = [True, True, True, True, False]
    >>> confidence = [0.7, 0.7, 0.7, 0.7, 0.7]
    >>> round(expected_calibration_error(correct, confidence), 6)
    0.1
    >>> expected_calibration_error(correct, confidence, norm="l2", debiased=True)
    0.0
    >>> round(expected_calibration_error([0, 1, 1], [0.2, 0.4, 0.8], norm="max"), 6)
    0.6
    """
    return ExpectedCalibrationError.from_arrays(
        correct,
        confidence,
        sample_weight,
        norm=norm,
        debiased=debiased,
        strategy=strategy,
        bin_size=bin_size,
        n_bins=n_bins,
    ).value()


def _debiased_gaps(gap, mass, accuracy, norm):
    """Return gaps in a norm less what the chance of the outcomes adds to them.

    The accuracy of n tokens has the variance s^2 = p (1 - p) / (n - 1), estimated
    without bias. The mean of gap^2 is too high by s^2 (Kumar et al. 2019, section 4).
    The mean of |gap| is too high by about E|gap + s z| - |gap|, z standard normal. One
    token does not tell its variance, so bins of one or less count as no gap.
    """
    several = mass > 1
    spread = np.clip(accuracy * (1 - accuracy), 0, None)
    variance = spread / np.where(several, mass - 1, 1.0)
    if norm == "l2":
        return np.where(several, gap**2 - variance, 0.0)
    size, deviation = np.abs(gap), np.sqrt(variance)
    z = size / np.where(deviation > 0, deviation, 1.0)
    noisy = deviation * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2)
    noisy += size * np.where(deviation > 0, erf(z / np.sqrt(2)), 1.0)
    return np.where(several, 2 * size - noisy, 0.0)
