"""Intervals that hold the true value of a score about as often as they claim."""

import numpy as np

from skcw.metrics._cores.base import BinnedScore
from skcw.metrics._cores.proper import ScorePart
from skcw.metrics._cores.ranking import ErrorAveragePrecision
from skcw.metrics._intervals.class_path import ClassPath
from skcw.metrics._intervals.contributions import contributions, of_accuracy
from skcw.metrics._intervals.gap_path import GapPath, counts_sizes
from skcw.metrics._intervals.inversion import Inversion, invert
from skcw.metrics._intervals.normal_sampling import normal_interval
from skcw.metrics._intervals.part_path import PartPath
from skcw.metrics._intervals.resampling_checks import (
    check_choice,
    check_level,
    check_n_resamples,
    check_several_sentences,
    make_generator,
    progress_bar,
)
from skcw.metrics._intervals.sandwich import smooth_interval
from skcw.metrics._intervals.sentence_bootstrap import resampled_scores
from skcw.metrics.classwise_calibration import ClasswiseError


def score_interval(
    core,
    pairs,
    method="bootstrap",
    *,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    r"""Compute an interval of a score.

    The functions of scores call it for their parameter ``interval``.

    Parameters
    ----------
    core : Score
        The score, prepared: ``SCORES[name](pairs, **options)``.
    pairs : Pairs
        Its words.
    method : {"bootstrap", "percentile", "normal"}, default="bootstrap"
        - ``"bootstrap"``: covers the true value about as often as asked; see below.
        - ``"percentile"``: quantiles of the scores of resampled sentences. For errors
          of calibration it is far too high, as chance is counted twice: once in the
          words and once more in the resamples.
        - ``"normal"``: the interval of the thesis [1]_, for scores of bins: mean -+ z
          standard deviations of scores whose bins have accuracies drawn from
          :math:`N(\hat p, \hat p (1 - \hat p) / n)`. It has the same fault, and words
          count as independent: it under-covers badly, see below.
    confidence_level : float, default=0.95
        How often the interval shall hold the true value.
    n_resamples : int, default=1000
        Number of resamples. Scores that are smooth need none with ``"bootstrap"``.
    random_state : int, RandomState instance or None, default=0
        Rules the resamples. They go by the order of the words, so that the ends of the
        same words in another order differ by a little.
    progress : bool, default=False
        Whether resampling shows a progress bar.

    Returns
    -------
    low, high : float
        The ends. The score itself need not lie between them: chance makes errors of
        calibration too large, and the interval is one of the error without chance.

    Notes
    -----
    **What lies in the interval** is the value of the score for endlessly many sentences
    like these. For scores of bins it is that of bins with as large a share of the words
    each: the distance of claimed and true probabilities, in which differences within a
    bin cancel. With root-n bins there is little to cancel, and it is the true
    calibration error. For debiased scores it is the same as for those that are not. For
    the miscalibration and discrimination of a proper score it is what the best rising
    map of confidences would save and what it would leave.

    **How "bootstrap" finds it.** For errors of calibration, which chance only raises:
    outcomes are drawn from probabilities between the claimed ones and worse ones than
    those that an isotonic regression suggests, and the interval holds the errors under
    which a score such as the observed one would not be rare. Words of a sentence are
    drawn together, with as much correlation as their errors have. Errors counted by
    size have the higher upper end of this path and of one that is off by the same
    everywhere, to which chance adds least. Ends follow the
    unified ordering [2]_, so that the interval of a calibrated model, which holds 0 as
    its lower end, is not too wide. For all other scores, which are smooth functions of
    the sentences: the standard error is the root of the summed squares of what
    sentences add to the score, which is the limit of a bootstrap over sentences. The
    quantile is Student's with degrees of freedom by the kurtosis of these, and the
    interval is symmetric on the logit scale.

    **How often they hold it**, in percent where 95 were asked for. Simulated words that
    err together by sentences, 2,000 to 50,000 of them, calibrated and not
    (``benchmarks/bench_calibration.py``; means of 20 settings, in which ECE has from
    87.5 to 100 of 16 to 120 trials each):

    ================  ========  =====  =====  ==========  ====
    method            CalibMSE  ECE    Brier  miscalibr.  AURC
    ================  ========  =====  =====  ==========  ====
    ``"bootstrap"``   94.9      95.2   95.6   96.0        95.7
    ``"percentile"``  6.1       53.5   94.1   9.0         93.4
    ``"normal"``      5.7       47.1   -      -           -
    ================  ========  =====  =====  ==========  ====

    With no more than 50 sentences ``"bootstrap"`` held some 92.

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.
    .. [2] G. J. Feldman and R. D. Cousins, "Unified approach to the classical
       statistical analysis of small signals", Physical Review D 57, 1998.

    Examples
    --------
    Confidences that are true probabilities have a calibration error of 0, but the score
    of a sample is larger:

    >>> import numpy as np
    >>> from skcw.metrics import root_calibration_mse
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(size=2000)
    >>> correct = rng.uniform(size=2000) < confidence
    >>> score = root_calibration_mse(confidence, correct, interval="bootstrap")
    >>> score.value > score.high, score.low
    (True, 0.0)
    >>> score = root_calibration_mse(confidence, correct, interval="normal")
    >>> score.low > 0.05
    True
    """
    check_choice(method, "interval", METHODS)
    level = check_level(confidence_level)
    n_resamples = check_n_resamples(n_resamples)
    rng = make_generator(random_state)
    if method != "normal":
        check_several_sentences(pairs)
    # Errors counted by size have two paths.
    n_rounds = 2 if method == "bootstrap" and counts_sizes(core) else 1
    with progress_bar(progress, n_rounds * n_resamples) as bar:
        ends = METHODS[method](core, level, n_resamples, rng, bar)
    low, high = np.clip(ends, *core.bounds)
    return float(low), float(high)


def miscalibration_path(core):
    """Return the path on which the truth of a score of miscalibration is sought.

    None if the score measures something else.
    """
    if isinstance(core, ClasswiseError):
        return ClassPath(core)
    if isinstance(core, BinnedScore):
        return GapPath(core)
    if isinstance(core, ScorePart) and core.part == "miscalibration":
        return PartPath(core)
    return None


def _covering_interval(core, level, n_resamples, rng, bar):
    """Return the interval of the method that covers scores of this kind."""
    path = miscalibration_path(core)
    if path is not None:
        return invert(path, level, n_resamples, rng, bar).ends(level)
    if isinstance(core, ScorePart) and core.part == "uncertainty":
        return _uncertainty_interval(core, level)
    if isinstance(core, ErrorAveragePrecision) and not _has_errors(core.pairs):
        return core.bounds  # nothing tells how wrong words would be ranked
    value, bounds = core.value(), core.bounds
    if isinstance(core, ScorePart):
        # Pooling lets outcomes look better told apart by as much as it lets them look
        # miscalibrated.
        inversion = Inversion(PartPath(core), level, n_resamples, rng, bar)
        value = max(value - inversion.excess, 0.0)
        bounds = (0.0, float(core.of_constant(0.5)))
    return smooth_interval(value, contributions(core), core.pairs.group, bounds, level)


def _has_errors(pairs):
    return bool(pairs.weight @ (1 - pairs.y) > 0)


def _uncertainty_interval(core, level):
    """Return the scores of claiming the mean, for means in its interval."""
    accuracy, added = of_accuracy(core)
    ends = smooth_interval(accuracy, added, core.pairs.group, (0.0, 1.0), level)
    scores = [float(core.of_constant(np.float64(p))) for p in ends]
    if ends[0] < 0.5 < ends[1]:
        scores.append(float(core.of_constant(0.5)))
    return min(scores), max(scores)


def _percentile_interval(core, level, n_resamples, rng, bar):
    """Return quantiles of the scores of resampled sentences."""
    drawn = resampled_scores([core], n_resamples, rng, bar)
    scores = np.concatenate([scores for _, (scores,) in drawn])
    return np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])


METHODS = {
    "bootstrap": _covering_interval,
    "percentile": _percentile_interval,
    "normal": normal_interval,
}
