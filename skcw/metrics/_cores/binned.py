"""Scores of calibration in bins: squared, absolute and largest gaps."""

import numpy as np
from scipy.special import erf

from skcw.metrics._cores.base import BinnedScore, Score
from skcw.metrics._cores.binnings import CentredBins

NORMS = ("l1", "l2")
DEFAULT_ERROR_BINS = 15


class CalibrationMSE(BinnedScore):
    """CalibMSE: the mean square of claimed minus observed."""

    def combine(self, mass, claimed, right):
        """Return the mean over bins, by mass, of the squared gap."""
        return _mean(mass, ((claimed - right) / mass) ** 2)


class RootCalibrationMSE(CalibrationMSE):
    """The root of CalibMSE, which is on the scale of probabilities."""

    def combine(self, mass, claimed, right):
        """Return the root of the mean square."""
        return np.sqrt(super().combine(mass, claimed, right))


class ConfidenceRMSE(RootCalibrationMSE):
    """The root mean square in uniform bins that claim their centres.

    Parameters
    ----------
    pairs : Pairs
        The words.
    n_bins : int
        How many bins.
    """

    def __init__(self, pairs, *, n_bins=20):
        Score.__init__(self, pairs)
        self.binning = CentredBins(pairs, n_bins)


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
            raise ValueError(f"norm is {norm!r}; there are 'l1' and 'l2'")
        super().__init__(
            pairs, strategy=strategy, bin_size=bin_size, n_bins=_bins(strategy, n_bins)
        )
        self.norm = norm
        self.debiased = debiased

    def combine(self, mass, claimed, right):
        """Return the mean over bins, by mass, of the gap in the chosen norm."""
        gap = (claimed - right) / mass
        if self.debiased:
            gaps = _debiased_gaps(gap, mass, right / mass, self.norm)
        else:
            gaps = np.abs(gap) if self.norm == "l1" else gap**2
        # Taking chance off may leave less than nothing, which is none.
        error = np.maximum(_mean(mass, gaps), 0.0)
        return error if self.norm == "l1" else np.sqrt(error)


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


class MaximumCalibrationError(BinnedScore):
    """The largest gap of a bin.

    Parameters
    ----------
    pairs : Pairs
        The words.
    strategy, bin_size, n_bins :
        As in `ExpectedCalibrationError`.
    """

    def __init__(self, pairs, *, strategy="uniform", bin_size=None, n_bins=None):
        super().__init__(
            pairs, strategy=strategy, bin_size=bin_size, n_bins=_bins(strategy, n_bins)
        )

    def combine(self, mass, claimed, right):
        """Return the largest size of a gap."""
        return np.abs((claimed - right) / mass).max(axis=-1)


def _bins(strategy, n_bins):
    """Return the number of bins, 15 unless told; adaptive bins have none."""
    if n_bins is None and strategy != "adaptive":
        return DEFAULT_ERROR_BINS
    return n_bins


def _mean(mass, values):
    """Return the mean over bins by mass."""
    return (mass * values).sum(axis=-1) / mass.sum(axis=-1)


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
