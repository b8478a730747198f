"""Calibration errors in bins: squared, absolute and largest gaps."""

import copy

import numpy as np
from scipy.special import erf

from skcw.metrics.binned_score import BinnedScore
from skcw.metrics.score import registered

NORMS = ("l1", "l2")
DEFAULT_ERROR_BINS = 15


@registered("calibration_mse")
class CalibrationMSE(BinnedScore):
    """CalibMSE: the mean square of claimed minus observed."""

    compared_by = "influence"

    def combine(self, mass, claimed, right):
        """Return the mean over bins, by mass, of the squared gap."""
        return _mean(mass, ((claimed - right) / mass) ** 2)

    def slopes(self, mass, gap):
        """Return the slopes of a mean of squares."""
        return _slopes_of_squares(mass, gap)


@registered("root_calibration_mse")
class RootCalibrationMSE(CalibrationMSE):
    """The root of CalibMSE, which is on the scale of probabilities."""

    compared_by = "squares"

    def combine(self, mass, claimed, right):
        """Return the root of the mean square."""
        return np.sqrt(super().combine(mass, claimed, right))

    def slopes(self, mass, gap):
        """Return the slopes of a root of a mean of squares."""
        return _slopes_of_squares(mass, gap, root=True)

    def mean_square(self):
        """Return the score whose root this one is."""
        return _mean_square(self)


@registered("expected_calibration_error")
class ExpectedCalibrationError(BinnedScore):
    """The mean gap, or the root of the mean squared gap.

    Parameters
    ----------
    pairs : Pairs
        The words.
    norm : {"l1", "l2"}
        Whether gaps are counted by size or squared.
    debiased : bool
        Whether what chance adds to the gaps is taken off.
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
        if norm not in NORMS:
            raise ValueError(f"norm is {norm!r}; it must be one of 'l1', 'l2'")
        super().__init__(
            pairs, strategy=strategy, bin_size=bin_size, n_bins=_bins(strategy, n_bins)
        )
        self.norm = norm
        self.debiased = debiased
        self.is_mean_size = norm == "l1"
        self.compared_by = "ends" if norm == "l1" else "squares"

    def combine(self, mass, claimed, right):
        """Return the mean over bins, by mass, of the gap in the chosen norm."""
        gap = (claimed - right) / mass
        if self.debiased:
            gaps = _debiased_gaps(gap, mass, right / mass, self.norm)
        else:
            gaps = np.abs(gap) if self.norm == "l1" else gap**2
        # Taking chance off may leave less than nothing, which counts as nothing.
        error = np.maximum(_mean(mass, gaps), 0.0)
        return error if self.norm == "l1" else np.sqrt(error)

    def slopes(self, mass, gap):
        """Return the slopes of the mean size, or of the root of the mean square."""
        if self.norm == "l2":
            return _slopes_of_squares(mass, gap, root=True)
        total = mass.sum()
        mean = (mass @ np.abs(gap)) / total
        return np.sign(gap) / total, np.full(len(gap), -mean / total)

    def with_chance(self):
        """Return the same score without taking chance off its gaps."""
        plain = copy.copy(self)
        plain.debiased = False
        return plain

    def mean_square(self):
        """Return the score whose root this one is, with the norm ``"l2"``."""
        return _mean_square(self)


@registered("adaptive_calibration_error")
class AdaptiveCalibrationError(ExpectedCalibrationError):
    """The mean gap in bins of equal mass.

    Parameters
    ----------
    pairs : Pairs
        The words.
    norm, debiased :
        As in `ExpectedCalibrationError`.
    n_bins : int
        How many bins.
    """

    def __init__(self, pairs, *, norm="l1", debiased=False, n_bins=None):
        super().__init__(
            pairs, norm=norm, debiased=debiased, strategy="quantile", n_bins=n_bins
        )


@registered("maximum_calibration_error")
class MaximumCalibrationError(BinnedScore):
    """The largest gap of a bin.

    Parameters
    ----------
    pairs : Pairs
        The words.
    strategy, bin_size, n_bins :
        As in `ExpectedCalibrationError`.
    """

    is_largest_gap = True

    def __init__(self, pairs, *, strategy="uniform", bin_size=None, n_bins=None):
        super().__init__(
            pairs, strategy=strategy, bin_size=bin_size, n_bins=_bins(strategy, n_bins)
        )

    def combine(self, mass, claimed, right):
        """Return the largest size of a gap."""
        return np.abs((claimed - right) / mass).max(axis=-1)

    def slopes(self, mass, gap):
        """Return the slopes, which only the worst bin has."""
        largest = np.arange(len(gap)) == np.abs(gap).argmax()
        slope = np.where(largest, np.sign(gap) / mass, 0.0)
        return slope, -slope * gap


def calibration_mse(
    correct,
    confidence,
    *,
    strategy="adaptive",
    bin_size=None,
    n_bins=None,
    claim="mean",
    sample_weight=None,
):
    r"""Compute CalibMSE, the mean squared distance of a calibration curve.

    With the mean confidence :math:`\hat q_j` and the share :math:`\hat p_j` of right
    words in bin j, which holds :math:`n_j` words, it is [1]_

    .. math:: \sum_j n_j (\hat q_j - \hat p_j)^2 / \sum_j n_j.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true: all words in one flat array, or one
        array per sentence. For predicted labels :func:`token_correct` tells.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout, as
        ``predict_confidence`` returns it.
    strategy : {"adaptive", "uniform", "quantile"}, default="adaptive"
        How bins are made; see :func:`calibration_bins`, also for what becomes of equal
        confidences.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words, rounded down, if
        None. Fewer words than that make one bin.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    claim : {"mean", "center"}, default="mean"
        What a bin claims: the mean of its confidences, or, for uniform bins, the center
        of its range.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None. A word of weight 2
        is the same as that word twice.

    Returns
    -------
    error : float
        From 0 to 1; lower is better.

    See Also
    --------
    root_calibration_mse : Its root, on the scale of probabilities.
    calibration_bins : The bins themselves.
    score_interval : An interval of the true error, to which chance adds in the score.
    brier_decomposition : Miscalibration without bins.

    Notes
    -----
    Doubling ``bin_size`` never raises the score, as neighbors are joined and their
    errors may cancel. Chance does not cancel: the score of perfect probabilities is
    about :math:`\overline{p (1 - p)} / b` with b words per bin and goes to 0 with b, so
    compare scores of the same number of words and the same bins.

    All words may be right, or all wrong; if all confidences are equal, there is one
    bin.

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.

    Examples
    --------
    >>> from skcw.metrics import calibration_mse
    >>> correct = [False, True, True, True]
    >>> confidence = [0.2, 0.4, 0.8, 1.0]
    >>> round(calibration_mse(correct, confidence), 6)
    0.025
    >>> round(calibration_mse(correct, confidence, bin_size=1), 6)
    0.11
    """
    return CalibrationMSE.from_arrays(
        correct,
        confidence,
        sample_weight,
        strategy=strategy,
        bin_size=bin_size,
        n_bins=n_bins,
        claim=claim,
    ).value()


def root_calibration_mse(
    correct,
    confidence,
    *,
    strategy="adaptive",
    bin_size=None,
    n_bins=None,
    claim="mean",
    sample_weight=None,
):
    """Compute the root of CalibMSE, which is on the scale of probabilities.

    With ``strategy="uniform"`` and ``claim="center"`` it is the root mean squared error
    of Mejer and Crammer [1]_.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    strategy : {"adaptive", "uniform", "quantile"}, default="adaptive"
        How bins are made; see :func:`calibration_bins`.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words if None.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    claim : {"mean", "center"}, default="mean"
        What a bin claims: the mean of its confidences, or, for uniform bins, the center
        of its range.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better. 0.03 says that words claim three in a hundred too
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
    correct,
    confidence,
    *,
    norm="l1",
    debiased=False,
    strategy="uniform",
    bin_size=None,
    n_bins=None,
    sample_weight=None,
):
    r"""Compute the expected calibration error, ECE.

    With the mean confidence :math:`\hat q_j` and the share :math:`\hat p_j` of right
    words in bin j, which holds :math:`n_j` words, it is

    .. math:: \sum_j n_j |\hat q_j - \hat p_j| / \sum_j n_j,

    or with ``norm="l2"`` the root of the mean square.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    norm : {"l1", "l2"}, default="l1"
        Whether distances are counted by size or squared.
    debiased : bool, default=False
        Whether what chance adds is subtracted [1]_. Scores are then comparable between
        bins of another size and samples of another number of words.
    strategy : {"uniform", "quantile", "adaptive"}, default="uniform"
        How bins are made; see :func:`calibration_bins`.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words if None.
    n_bins : int, default=None
        Number of uniform or quantile bins; 15 if None.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better. A debiased error below 0 becomes 0.

    See Also
    --------
    adaptive_calibration_error : The same in bins of equal mass.
    maximum_calibration_error : The largest distance of a bin.

    Notes
    -----
    If words are independent, the accuracy of a bin has the variance
    :math:`s_j^2 = \hat p_j (1 - \hat p_j) / (n_j - 1)`. Debiasing takes :math:`s_j^2`
    off the square of each distance :math:`d_j`, and off its size the growth that
    normal noise brings, :math:`E|d_j + s_j z| - |d_j|`. One word does not tell its own
    variance: bins of one word count as no distance.

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS
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


def adaptive_calibration_error(
    correct,
    confidence,
    *,
    norm="l1",
    debiased=False,
    n_bins=None,
    sample_weight=None,
):
    """Compute the expected calibration error in bins of equal mass, ACE.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    norm : {"l1", "l2"}, default="l1"
        Whether distances are counted by size or squared.
    debiased : bool, default=False
        Whether what chance adds is subtracted; see :func:`expected_calibration_error`.
    n_bins : int, default=None
        Number of bins; 15 if None.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better.

    See Also
    --------
    expected_calibration_error : The same in bins of equal width.

    References
    ----------
    .. [1] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops
       2019.

    Examples
    --------
    >>> from skcw.metrics import adaptive_calibration_error
    >>> error = adaptive_calibration_error([0, 1, 1, 1], [0.2, 0.4, 0.8, 1.0], n_bins=2)
    >>> round(error, 6)
    0.15
    """
    return AdaptiveCalibrationError.from_arrays(
        correct,
        confidence,
        sample_weight,
        norm=norm,
        debiased=debiased,
        n_bins=n_bins,
    ).value()


def maximum_calibration_error(
    correct,
    confidence,
    *,
    strategy="uniform",
    bin_size=None,
    n_bins=None,
    sample_weight=None,
):
    """Compute the largest distance between confidence and accuracy of a bin, MCE.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true; see :func:`calibration_mse`.
    confidence : array of shape (n_words,), or a sequence of such
        The claimed probability of each word, from 0 to 1, in the same layout.
    strategy : {"uniform", "quantile", "adaptive"}, default="uniform"
        How bins are made; see :func:`calibration_bins`.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words if None.
    n_bins : int, default=None
        Number of uniform or quantile bins; 15 if None.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better. One word in a bin of its own may decide it, so
        prefer bins of equal mass (``strategy="quantile"``) for few words.

    See Also
    --------
    expected_calibration_error : The mean instead of the largest.

    Examples
    --------
    >>> from skcw.metrics import maximum_calibration_error
    >>> round(maximum_calibration_error([0, 1, 1, 1], [0.2, 0.4, 0.8, 1.0]), 6)
    0.6
    """
    return MaximumCalibrationError.from_arrays(
        correct,
        confidence,
        sample_weight,
        strategy=strategy,
        bin_size=bin_size,
        n_bins=n_bins,
    ).value()


def _bins(strategy, n_bins):
    """Return the number of bins, 15 by default; adaptive bins have no number."""
    if n_bins is None and strategy != "adaptive":
        return DEFAULT_ERROR_BINS
    return n_bins


def _mean(mass, values):
    """Return the mean over bins by mass."""
    return (mass * values).sum(axis=-1) / mass.sum(axis=-1)


def _mean_square(score):
    """Return the mean square of the gaps in the bins of a score."""
    square = CalibrationMSE.__new__(CalibrationMSE)
    square.pairs, square.binning = score.pairs, score.binning
    return square


def _slopes_of_squares(mass, gap, root=False):
    """Return the slopes of the mean of squared gaps, or of its root."""
    total = mass.sum()
    mean = (mass @ gap**2) / total
    chain = 1.0
    if root:
        chain = 0.5 / np.sqrt(mean) if mean > 0 else 0.0
    return chain * 2 * gap / total, -chain * (gap**2 + mean) / total


def _debiased_gaps(gap, mass, accuracy, norm):
    """Return gaps in a norm less what the chance of the outcomes adds to them.

    The accuracy of n words has the variance s^2 = p (1 - p) / (n - 1), estimated
    without bias. The mean of gap^2 is too high by s^2 (Kumar et al. 2019, section 4).
    The mean of |gap| is too high by about E|gap + s z| - |gap|, z standard normal. One
    word does not tell its variance, so bins of one or less count as no gap.
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
