"""Intervals by test inversion: the true values that could have given a score."""

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri

from skcw.metrics._sentences import latent_chunks

N_PILOT_DRAWS = 64
PILOT_STEPS = (0, 0.25, 0.5, 0.75, 1, 1.3, 1.7, 2.2, 3, 4, 6, 9, 15, 30, 100, 400, 2000)
N_TRUTHS = 9
N_BETWEEN = 400
# Scores are skewed to the right, so tails above the mean are longer than those below.
ROOM_ABOVE, ROOM_BELOW = 2.5, 1.5
# Fewer draws on one side of a value do not tell how rare it is.
FEWEST_BEYOND = 2.5
# Sums in another order differ by that much at most.
ROUNDING = 1e-13
# What a distance from scores that do not vary counts, in their deviations.
LARGEST_STUDENTISED = 100.0
N_HALVINGS = 60


def invert(family, level, n_resamples, rng, bar):
    """Return the inversion of a family, or of two where the kind of errors matters.

    How much chance adds to errors counted by size depends on how they are spread over
    the bins, which the words tell badly: too uneven errors let chance explain too much.
    So the upper end is the higher one of two, by errors as the words suggest them and
    by errors that are the same everywhere.
    """
    inversion = Inversion(family, level, n_resamples, rng, bar)
    flat = family.flattened()
    if flat is None:
        return inversion
    return _HigherEnd(inversion, Inversion(flat, level, n_resamples, rng, bar))


class _HigherEnd:
    """An inversion with the upper end of another one where that is higher."""

    def __init__(self, inversion, other):
        self.estimate, self.excess = inversion.estimate, inversion.excess
        self._inversion, self._other = inversion, other

    def ends(self, level):
        """Return the ends of the interval."""
        low, high = self._inversion.ends(level)
        return low, max(high, self._other.ends(level)[1])


class Inversion:
    """Which true values could have given an observed score.

    A family of truths leads from perfect calibration (t = 0) over what the words
    suggest (t = 1) to worse. Under each of a few of them, outcomes are drawn many times
    from its probabilities and scored as the real ones were. Truths under which the real
    score would be too high or too low to be believed are not in the interval.

    Parameters
    ----------
    family : object
        What ``alternatives()`` of a score returns. ``family.observed`` is the score;
        ``family.group`` and ``family.correlation`` say which words err together and how
        much. ``family.shifted(t)`` is a truth: its ``value`` is the score with the true
        probabilities instead of outcomes, its ``spread`` how much the value varies with
        the sentences. ``family.draw(truths, latent)`` scores outcomes drawn by normal
        numbers. ``family.flattened()`` is None, or a family with the same error
        everywhere.
    level : float
        The highest confidence level that will be asked for.
    n_resamples : int
        Draws under each truth.
    rng : numpy.random.Generator
        Controls the draws.
    bar : object
        Its ``update`` is called with the number of draws made.

    Attributes
    ----------
    estimate : float
        The value at which the score is as likely too high as too low.
    excess : float
        How much chance adds to the score there, on average.
    """

    def __init__(self, family, level, n_resamples, rng, bar):
        self._family = family
        steps = _pilot(family, level, rng)
        truths = [family.shifted(t) for t in steps]
        calibrated = [] if steps[0] == 0 else [family.shifted(0.0)]
        draws = _draw(family, calibrated + truths, n_resamples, rng, bar)
        null, draws = np.median(draws[0]), draws[len(calibrated) :]
        surprise = [_normal_score(scores, family.observed) for scores in draws]
        distance = [-_normal_score(scores, null) for scores in draws]
        fine = np.linspace(0, len(steps) - 1, N_BETWEEN)
        self._between = np.interp(fine, np.arange(len(steps)), steps)
        self._surprise = PchipInterpolator(steps, surprise)(self._between)
        self._distance = PchipInterpolator(steps, distance)(self._between)
        middle = self._between[np.argmin(np.abs(self._surprise))]
        excess = [d.mean() - p.value for d, p in zip(draws, truths, strict=True)]
        self.excess = float(np.interp(middle, steps, excess))
        self.estimate = self._value(middle)

    def ends(self, level):
        """Return the ends of the interval, 0 if perfect calibration can be believed."""
        below, above = unified_quantiles(np.maximum(self._distance, 0.0), level)
        too_high, too_low = self._surprise - above, self._surprise + below
        first = _first(too_high <= 0)
        last = len(too_low) - 1 - _first((too_low >= 0)[::-1])
        low = _crossing(self._between, too_high, first - 1)
        high = _crossing(self._between, too_low, max(first, last))
        return self._value(low), self._value(max(low, high))

    def _value(self, t):
        return 0.0 if t == 0 else self._family.shifted(t).value


def _first(flags):
    """Return the position of the first true flag, or the last position of all."""
    return int(flags.argmax()) if flags.any() else len(flags) - 1


def _crossing(shifts, values, k):
    """Return where values between the shifts k and k + 1 are zero."""
    if k < 0 or k + 1 >= len(shifts):
        return shifts[max(k, 0)]
    before, after = values[k], values[k + 1]
    if not np.isfinite(before) or before * after >= 0:
        return shifts[k]
    return shifts[k] + (shifts[k + 1] - shifts[k]) * before / (before - after)


def _pilot(family, level, rng):
    """Return shifts between which the ends of the interval lie.

    From one to the next the observed score becomes less surprising, or more so on the
    other side, by about the same.
    """
    end = float(ndtri((1 + level) / 2))
    tried, surprise = _first_look(family, -end - ROOM_BELOW, rng)
    # A surprise that falls makes the shifts a function of it.
    falling = np.minimum.accumulate(surprise)
    highest = min(falling[0], end + ROOM_ABOVE)
    levels = np.linspace(highest, max(falling[-1], -end - ROOM_BELOW), N_TRUTHS)
    steps = np.interp(-levels, -falling, tried)
    steps[0] = 0.0 if highest == falling[0] else steps[0]
    return np.unique(np.append(steps, steps[0] + 0.1))


def _first_look(family, lowest, rng):
    """Return shifts up to one where scores are too high, and the surprise at each."""
    chunks = list(_latent(family, N_PILOT_DRAWS, rng))
    surprise, before = [], None
    for t in PILOT_STEPS:
        truth = family.shifted(t)
        scores = np.concatenate([family.draw([truth], latent)[0] for latent in chunks])
        surprise.append(_deviations(_with_spread(truth, scores, rng), family.observed))
        at_the_end = before is not None and abs(truth.value - before) <= ROUNDING
        if t >= 1 and (surprise[-1] < lowest or at_the_end):
            break
        before = truth.value
    return np.array(PILOT_STEPS[: len(surprise)], dtype=np.float64), surprise


def _draw(family, truths, n_resamples, rng, bar):
    """Return an array of scores for each truth, all from the same normal numbers."""
    draws = []
    for latent in _latent(family, n_resamples, rng):
        draws.append(family.draw(truths, latent))
        bar.update(len(latent.normal))
    seed = rng.integers(2**63)
    return [
        _with_spread(truth, scores, np.random.default_rng(seed))
        for truth, scores in zip(truths, np.concatenate(draws, axis=1), strict=True)
    ]


def _latent(family, n_draws, rng):
    """Yield normal numbers for the words of a family."""
    n_groups = int(family.group.max()) + 1
    return latent_chunks(len(family.group), n_groups, family.correlation, n_draws, rng)


def _with_spread(truth, scores, rng):
    """Return scores of draws as if each had sentences of its own."""
    return scores + truth.spread * rng.standard_normal(len(scores))


def _normal_score(scores, value):
    """Return the normal number that is as rare among such as the value among scores.

    Ties count half. Where draws are too few to tell, the number of deviations does.
    """
    n = len(scores)
    gap = value - scores
    lower = np.count_nonzero(gap > ROUNDING)
    lower += np.count_nonzero(np.abs(gap) <= ROUNDING) / 2
    rank = float(ndtri((lower + 0.5) / (n + 1)))
    if lower < FEWEST_BEYOND:
        return min(rank, _deviations(scores, value))
    if lower > n - FEWEST_BEYOND:
        return max(rank, _deviations(scores, value))
    return rank


def _deviations(scores, value):
    """Return how many standard deviations the value lies above the mean of scores."""
    deviation = scores.std()
    gap = value - scores.mean()
    if deviation > ROUNDING:
        return float(gap / deviation)
    return 0.0 if abs(gap) <= ROUNDING else float(np.copysign(LARGEST_STUDENTISED, gap))


def unified_quantiles(distance, level):
    """Return how many deviations an estimate may lie below and above the truth.

    The truth lies ``distance`` deviations above zero, an array. Far from zero both
    numbers are the usual 1.96. At zero all of the error is spent above, 1.645, so the
    interval of a quantity that may be zero holds it no more often than the level says.
    It is the unified ordering of Feldman and Cousins (1998), section IV.B: a value x is
    accepted by its likelihood against that of the best truth, max(x, 0), and both ends
    have the same ratio. An end below zero then lies mu / 2 + c^2 / (2 mu) below the
    truth mu if the other one lies c above it.
    """
    distance = np.asarray(distance, dtype=np.float64)
    symmetric = float(ndtri((1 + level) / 2))
    near = distance < symmetric
    mu = np.where(near, np.maximum(distance, 1e-9), symmetric)
    narrow = np.full(mu.shape, float(ndtri(level)))
    wide = np.full(mu.shape, symmetric)
    for _ in range(N_HALVINGS):
        above = (narrow + wide) / 2
        below = mu / 2 + above**2 / (2 * mu)
        short = ndtr(above) - ndtr(-below) < level
        narrow, wide = np.where(short, above, narrow), np.where(short, wide, above)
    below = mu / 2 + wide**2 / (2 * mu)
    return np.where(near, below, symmetric), np.where(near, wide, symmetric)
