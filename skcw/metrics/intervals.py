"""Intervals of a score: resampling, influence, and inverted tests."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri
from sklearn.utils import check_random_state

from skcw.metrics.pairs import check_choice, check_whole_number
from skcw.metrics.score import latent_chunks, make_score, score_name, sentence_counts

N_PILOT_DRAWS = 64
PILOT_STEPS = (0, 0.25, 0.5, 0.75, 1, 1.3, 1.7, 2.2, 3, 4, 6, 9, 15, 30, 100, 400, 2000)
N_TRUTHS = 9
N_BETWEEN = 400
# Scores are skewed to the right, so tails above the mean are longer than those below.
ROOM_ABOVE, ROOM_BELOW = 2.5, 1.5
# Fewer draws on one side of a value do not show how rare it is.
FEWEST_BEYOND = 2.5
# Sums in another order differ by that much at most.
SAME_SUM = 1e-13
# A distance from scores that do not vary, in deviations.
LARGEST_STUDENTISED = 100.0
N_HALVINGS = 60


class Inversion:
    """Which true values could have given an observed score.

    A family of truths leads from perfect calibration (t = 0) over what the tokens
    suggest (t = 1) to worse. Under each of a few of them, outcomes are drawn many times
    from its probabilities and scored as the real ones were. Truths under which the real
    score would be too high or too low to be believed are not in the interval.

    How much chance adds to errors counted by size depends on how they are spread over
    the bins, which the tokens tell badly: too uneven errors let chance explain too
    much. So their upper end is the higher one of two, by errors as the tokens suggest
    them and by errors that are the same everywhere.

    Parameters
    ----------
    family : Alternatives
        What ``alternatives()`` of a score returns.
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
        flat = family.flattened()
        self._flat = flat and Inversion(flat, level, n_resamples, rng, bar)

    def ends(self, level):
        """Return the ends of the interval, 0 if perfect calibration can be believed."""
        below, above = unified_quantiles(np.maximum(self._distance, 0.0), level)
        too_high, too_low = self._surprise - above, self._surprise + below
        first = _first(too_high <= 0)
        last = len(too_low) - 1 - _first((too_low >= 0)[::-1])
        low = _crossing(self._between, too_high, first - 1)
        high = _crossing(self._between, too_low, max(first, last))
        low, high = self._value(low), self._value(max(low, high))
        return low, max(high, self._flat.ends(level)[1]) if self._flat else high

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
        at_the_end = before is not None and abs(truth.value - before) <= SAME_SUM
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
    """Yield normal numbers for the tokens of a family."""
    n_groups = int(family.group.max()) + 1
    return latent_chunks(len(family.group), n_groups, family.correlation, n_draws, rng)


def _with_spread(truth, scores, rng):
    """Return scores of draws as if each had sentences of its own."""
    return scores + truth.spread * rng.standard_normal(len(scores))


def _normal_score(scores, value):
    """Return the normal number that is as rare among such as the value among scores.

    Ties count half. Where draws are too few, the number of deviations decides.
    """
    n = len(scores)
    gap = value - scores
    lower = np.count_nonzero(gap > SAME_SUM)
    lower += np.count_nonzero(np.abs(gap) <= SAME_SUM) / 2
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
    if deviation > SAME_SUM:
        return float(gap / deviation)
    return 0.0 if abs(gap) <= SAME_SUM else float(np.copysign(LARGEST_STUDENTISED, gap))


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


FEWEST_RESAMPLES = 20


class Estimate(NamedTuple):
    """A score and an interval around it.

    Parameters
    ----------
    value : float
        The score.
    low, high : float
        The ends of the interval of its true value. Chance adds to errors of
        calibration, so that the score of a good model may lie above the interval.

    Examples
    --------
    >>> from skcw.metrics.intervals import Estimate
    >>> print(Estimate(value=0.02, low=0.01, high=0.03))
    0.02 [0.01, 0.03]
    """

    value: float
    low: float
    high: float

    def __str__(self):
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def score_interval(
    score: Any,
    correct: Any,
    confidence: Any,
    *,
    groups: ArrayLike | None = None,
    sample_weight: Any = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | np.random.RandomState | None = 0,
    progress: bool = False,
    **options: Any,
) -> Any:
    r"""Compute an interval of the true value of a score.

    Parameters
    ----------
    score : str or function
        One of the scores of this module, such as ``"calibration_mse"`` or the function
        itself, or a part of a proper loss, such as ``"brier_miscalibration"``.
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true, as the score takes it: the true labels
        for :func:`classwise_calibration_error`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The confidences in the same layout, as the score takes them: the table of
        probabilities for :func:`classwise_calibration_error`.
    groups : array of shape (n_tokens,) or (n_rows,), default=None
        The sentence of each token or the text of each row. Tokens of one group are not
        independent, and the interval takes that into account. If None each row is a
        group, and in flat arrays each token is one.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.
    method : {"auto", "inversion", "sandwich", "bootstrap"}, default="auto"
        How the interval is found; see below. Only methods that cover a score about as
        often as they claim are offered for it.

        - ``"auto"``: ``"inversion"`` for errors of calibration and miscalibration,
          ``"sandwich"`` for all other scores.
        - ``"inversion"``: the true values under which such a score would not be rare.
        - ``"sandwich"``: by the standard error over sentences, on the logit scale.
        - ``"bootstrap"``: quantiles of the scores of resampled sentences.
    confidence_level : float, default=0.95
        How often the interval should contain the true value.
    n_resamples : int, default=1000
        Number of resamples; a sandwich mostly needs none.
    random_state : int, RandomState instance or None, default=0
        Controls the resamples. They depend on the order of the tokens: the same tokens
        in another order give slightly different ends.
    progress : bool, default=False
        Whether resampling shows a progress bar.
    **options
        Those of the score, such as ``n_bins``.

    Returns
    -------
    estimate : Estimate
        ``value``, the score itself, and the ends ``low`` and ``high``. The score need
        not lie between them: chance makes errors of calibration too large, and the
        interval is one of the error without chance.

    See Also
    --------
    compare_scores : Whether two scores differ.

    Notes
    -----
    **The target of the interval** is the value of the score for infinitely many
    sentences like these. For scores of bins it is that of bins with as large a share of
    the tokens each: the distance of claimed and true probabilities, in which
    differences within a bin cancel. With root-n bins there is little to cancel, and it
    is the true calibration error. For debiased scores it is the same as for those that
    are not. For the miscalibration and discrimination of a proper loss it is what the
    best rising map of confidences would save and what it would leave.

    **Inversion.** Chance only raises errors of calibration. So outcomes are drawn from
    probabilities between the claimed ones and worse ones than those that an isotonic
    regression suggests, and the interval holds the errors under which a score such as
    the observed one would not be rare. Tokens of a sentence are drawn together, with as
    much correlation as their errors have. Errors counted by size have the higher upper
    end of this family and of one that is off by the same everywhere, to which chance
    adds least. Ends follow the unified ordering [1]_, so that the interval of a
    calibrated model, which holds 0 as its lower end, is not too wide.

    **Sandwich.** All other scores are smooth functions of the sentences. The standard
    error is the root of the summed squares of what sentences add to the score, which is
    the limit of a bootstrap over sentences. The quantile is Student's with degrees of
    freedom by the kurtosis of these, and the interval is symmetric on the logit scale.

    A bootstrap of errors of calibration counts chance twice, once in the tokens and
    once more in the resamples, so it is not offered for them.

    References
    ----------
    .. [1] G. J. Feldman and R. D. Cousins, "Unified approach to the classical
       statistical analysis of small signals", Physical Review D 57, 1998.

    Examples
    --------
    Confidences that are true probabilities have a calibration error of 0, but the score
    of a sample is larger:

    >>> import numpy as np
    >>> from skcw.metrics import root_calibration_mse, score_interval
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(size=2000)
    >>> correct = rng.uniform(size=2000) < confidence
    >>> estimate = score_interval(root_calibration_mse, correct, confidence)
    >>> estimate.value > estimate.high, estimate.low
    (True, 0.0)
    """
    name = score_name(score)
    level = check_level(confidence_level)
    n_resamples = check_n_resamples(n_resamples)
    made = make_score(name, correct, confidence, sample_weight, groups, **options)
    find = _METHODS[_check_method(method, name, made)]
    check_several_sentences(made.pairs)
    rng = make_generator(random_state)
    with progress_bar(progress, made.n_families * n_resamples) as bar:
        ends = find(made, level, n_resamples, rng, bar)
    low, high = np.clip(ends, *made.bounds)
    return Estimate(made.value(), float(low), float(high))


def _by_inversion(score, level, n_resamples, rng, bar):
    return Inversion(score.alternatives(), level, n_resamples, rng, bar).ends(level)


def _by_sandwich(score, level, n_resamples, rng, bar):
    return score.sandwich(level, n_resamples, rng, bar)


def _by_bootstrap(score, level, n_resamples, rng, bar):
    """Return quantiles of the scores of resampled sentences."""
    drawn = resampled_scores([score], n_resamples, rng, bar)
    scores = np.concatenate([scores for _, (scores,) in drawn])
    return np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])


_METHODS = {
    "inversion": _by_inversion,
    "sandwich": _by_sandwich,
    "bootstrap": _by_bootstrap,
}


def _check_method(method, name, score):
    """Return the method, or refuse one that does not cover the score."""
    offered = score.interval_methods
    check_choice(method, "method", ("auto", *_METHODS))
    if method == "auto":
        return offered[0]
    if method not in offered:
        raise ValueError(
            f"method={method!r} is not known to cover {name}; it must be one of "
            f"{', '.join(map(repr, ('auto', *offered)))}"
        )
    return method


def resampled_scores(scores, n_resamples, rng, bar):
    """Yield how often each sentence was drawn, and the scores that this gives.

    A resample draws as many sentences as there are, all tokens of each.

    Parameters
    ----------
    scores : list of Score
        Scores of tokens in the same sentences.
    n_resamples : int
        How many resamples.
    rng : numpy.random.Generator
        Controls them.
    bar : object
        Its ``update`` is called with the number of resamples made.

    Yields
    ------
    counts : ndarray of shape (some resamples, n_sentences)
        How often each sentence was drawn.
    values : ndarray of shape (n_scores, some resamples)
        The scores of each resample.
    """
    for counts in sentence_counts(scores[0].pairs, n_resamples, rng):
        yield counts, np.array([score.resampled(counts) for score in scores])
        bar.update(len(counts))


def check_level(confidence_level):
    """Return a valid confidence level, or raise."""
    if isinstance(confidence_level, bool) or not isinstance(confidence_level, Real):
        raise TypeError(
            f"confidence_level is {confidence_level!r}; it must be a number"
        )
    if not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level is {confidence_level!r}; it must lie between 0 and 1, "
            "such as 0.95"
        )
    return float(confidence_level)


def check_n_resamples(n_resamples):
    """Return a valid number of resamples, or raise."""
    advice = "; two digits of an interval need about 1000"
    return check_whole_number(n_resamples, "n_resamples", FEWEST_RESAMPLES, advice)


def check_several_sentences(pairs):
    """Raise if all tokens are of one sentence."""
    if pairs.n_groups < 2:
        raise ValueError(
            "all tokens are of one sentence, which does not show how much others would "
            "differ from it; give at least two, or leave out groups if every token "
            "is independent"
        )


def make_generator(random_state):
    """Return a NumPy generator for a ``random_state``."""
    seeds = check_random_state(random_state).randint(2**31 - 1, size=4)
    return np.random.default_rng(seeds)


def progress_bar(progress, n_resamples):
    """Return a progress bar of resamples, hidden unless ``progress``."""
    from tqdm import tqdm

    return tqdm(total=n_resamples, desc="resamples", leave=False, disable=not progress)
