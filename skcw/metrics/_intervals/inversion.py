"""Intervals by asking of each possible truth whether it could have given the score."""

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from skcw.metrics._intervals.sentence_model import latent_chunks
from skcw.metrics._intervals.unified_tails import unified_quantiles

N_PILOT_DRAWS = 64
PILOT_STEPS = (0, 0.25, 0.5, 0.75, 1, 1.3, 1.7, 2.2, 3, 4, 6, 9, 15, 30, 100, 400, 2000)
N_PLACES = 9
N_BETWEEN = 400
# Scores are skewed to the right, so tails above the mean are longer than those below.
ROOM_ABOVE, ROOM_BELOW = 2.5, 1.5
# Fewer draws on one side of a value do not tell how rare it is.
FEWEST_BEYOND = 2.5
# Sums in another order differ by that much at most.
ROUNDING = 1e-13
# Deviations from scores that do not vary.
FAR = 100.0


def invert(path, level, n_resamples, rng, bar):
    """Return the inversion of a path, or of two where the kind of errors matters.

    How much chance adds to errors counted by size depends on how they are spread over
    the bins, which the words tell badly: too uneven errors let chance explain too much.
    So the upper end is the higher one of two, by errors as the words suggest them and
    by errors that are the same everywhere.
    """
    inversion = Inversion(path, level, n_resamples, rng, bar)
    flat = path.flattened()
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

    A path leads from perfect calibration (t = 0) over what the words suggest (t = 1) to
    worse. At each of a few places on it, outcomes are drawn many times from its
    probabilities and scored as the real ones were. Places at which the real score would
    be too high or too low to be believed are not in the interval.

    Parameters
    ----------
    path : GapPath, ClassPath or PartPath
        ``path.observed`` is the score; ``path.group`` and ``path.correlation`` say
        which words err together and how much. ``path.at(t)`` is a place: its ``value``
        is the score with the true probabilities instead of outcomes, its ``spread`` how
        much the value varies with the sentences. ``path.draw(places, latent)`` scores
        outcomes drawn by normal numbers. ``path.flattened()`` is None, or a path with
        the same error everywhere.
    level : float
        The highest confidence level that will be asked for.
    n_resamples : int
        Draws at each place.
    rng : numpy.random.Generator
        Rules the draws.
    bar : object
        Its ``update`` is told of draws made.

    Attributes
    ----------
    estimate : float
        The value at which the score is as likely too high as too low.
    excess : float
        How much chance adds to the score there, on average.
    """

    def __init__(self, path, level, n_resamples, rng, bar):
        self._path = path
        steps = _pilot(path, level, rng)
        places = [path.at(t) for t in steps]
        calibrated = [] if steps[0] == 0 else [path.at(0.0)]
        draws = _draw(path, calibrated + places, n_resamples, rng, bar)
        null, draws = np.median(draws[0]), draws[len(calibrated) :]
        surprise = [_normal_score(scores, path.observed) for scores in draws]
        distance = [-_normal_score(scores, null) for scores in draws]
        fine = np.linspace(0, len(steps) - 1, N_BETWEEN)
        self._between = np.interp(fine, np.arange(len(steps)), steps)
        self._surprise = PchipInterpolator(steps, surprise)(self._between)
        self._distance = PchipInterpolator(steps, distance)(self._between)
        middle = self._between[np.argmin(np.abs(self._surprise))]
        excess = [d.mean() - p.value for d, p in zip(draws, places, strict=True)]
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
        return 0.0 if t == 0 else self._path.at(t).value


def _first(flags):
    """Return the place of the first true flag, or the last place of all."""
    return int(flags.argmax()) if flags.any() else len(flags) - 1


def _crossing(places, values, k):
    """Return where values between the places k and k + 1 are zero."""
    if k < 0 or k + 1 >= len(places):
        return places[max(k, 0)]
    before, after = values[k], values[k + 1]
    if not np.isfinite(before) or before * after >= 0:
        return places[k]
    return places[k] + (places[k + 1] - places[k]) * before / (before - after)


def _pilot(path, level, rng):
    """Return places on the path between which the ends of the interval lie.

    From one to the next the observed score becomes less surprising, or more so on the
    other side, by about the same.
    """
    end = float(ndtri((1 + level) / 2))
    tried, surprise = _first_look(path, -end - ROOM_BELOW, rng)
    # A surprise that falls makes the places a function of it.
    falling = np.minimum.accumulate(surprise)
    highest = min(falling[0], end + ROOM_ABOVE)
    levels = np.linspace(highest, max(falling[-1], -end - ROOM_BELOW), N_PLACES)
    steps = np.interp(-levels, -falling, tried)
    steps[0] = 0.0 if highest == falling[0] else steps[0]
    return np.unique(np.append(steps, steps[0] + 0.1))


def _first_look(path, lowest, rng):
    """Return places up to one where scores are too high, and the surprise at each."""
    chunks = list(_latent(path, N_PILOT_DRAWS, rng))
    surprise, before = [], None
    for t in PILOT_STEPS:
        place = path.at(t)
        scores = np.concatenate([path.draw([place], latent)[0] for latent in chunks])
        surprise.append(_deviations(_with_spread(place, scores, rng), path.observed))
        at_the_end = before is not None and abs(place.value - before) <= ROUNDING
        if t >= 1 and (surprise[-1] < lowest or at_the_end):
            break
        before = place.value
    return np.array(PILOT_STEPS[: len(surprise)], dtype=np.float64), surprise


def _draw(path, places, n_resamples, rng, bar):
    """Return an array of scores for each place, all from the same normal numbers."""
    draws = []
    for latent in _latent(path, n_resamples, rng):
        draws.append(path.draw(places, latent))
        bar.update(len(latent.normal))
    seed = rng.integers(2**63)
    return [
        _with_spread(place, scores, np.random.default_rng(seed))
        for place, scores in zip(places, np.concatenate(draws, axis=1), strict=True)
    ]


def _latent(path, n_draws, rng):
    """Yield normal numbers for the words of a path."""
    n_groups = int(path.group.max()) + 1
    return latent_chunks(len(path.group), n_groups, path.correlation, n_draws, rng)


def _with_spread(place, scores, rng):
    """Return scores of draws as if each had sentences of its own."""
    return scores + place.spread * rng.standard_normal(len(scores))


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
    return 0.0 if abs(gap) <= ROUNDING else float(np.copysign(FAR, gap))
