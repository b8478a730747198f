"""How scores of gaps in bins change with the words in them, to first order."""

import numpy as np

from skcw.metrics._cores.binned import (
    CalibrationMSE,
    MaximumCalibrationError,
    RootCalibrationMSE,
)


def gap_slopes(core, mass, gap):
    """Return how a score changes with what bins claim too much, and with their mass.

    Both are for one more word of weight one, and the first for each unit of what that
    word claims too much.

    Parameters
    ----------
    core : BinnedScore
        The score; that it takes chance off its gaps makes no difference here.
    mass, gap : ndarray of shape (n_bins,)
        Weight of the words in each bin, and mean claim less accuracy.

    Returns
    -------
    of_surplus, of_mass : ndarray of shape (n_bins,)
        The slopes. The score does not change as all masses grow by the same factor.
    """
    total = mass.sum()
    if isinstance(core, MaximumCalibrationError):
        largest = np.arange(len(gap)) == np.abs(gap).argmax()
        slope = np.where(largest, np.sign(gap) / mass, 0.0)
        return slope, -slope * gap
    if not _squares(core):
        mean = (mass @ np.abs(gap)) / total
        return np.sign(gap) / total, np.full(len(gap), -mean / total)
    mean = (mass @ gap**2) / total
    chain = 1.0
    if isinstance(core, RootCalibrationMSE) or not isinstance(core, CalibrationMSE):
        chain = 0.5 / np.sqrt(mean) if mean > 0 else 0.0
    return chain * 2 * gap / total, -chain * (gap**2 + mean) / total


def _squares(core):
    """Tell whether a score is made of squared gaps."""
    return isinstance(core, CalibrationMSE) or core.norm == "l2"
