"""A score alone, or with the interval in which it lies."""

from typing import NamedTuple


class Estimate(NamedTuple):
    """A score and an interval around it.

    Parameters
    ----------
    value : float
        The score.
    low, high : float
        The ends of the interval of its true value. Chance adds to errors of
        calibration, so that of a good model the score may lie above the interval.

    Examples
    --------
    >>> from skcw.metrics import Estimate
    >>> print(Estimate(value=0.02, low=0.01, high=0.03))
    0.02 [0.01, 0.03]
    """

    value: float
    low: float
    high: float

    def __str__(self):
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def estimate(core, interval, confidence_level, n_resamples, random_state, progress):
    """Return the value of a score, with an interval if a method for it is named."""
    value = core.value()
    if interval is None:
        return value
    from skcw.metrics.intervals import score_interval

    low, high = score_interval(
        core,
        core.pairs,
        interval,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=random_state,
        progress=progress,
    )
    return Estimate(value, low, high)
