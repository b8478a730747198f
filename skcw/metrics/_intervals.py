"""``score_interval``: intervals that cover the true value of a score."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from skcw.metrics._inversion import invert
from skcw.metrics._score import make_score, score_name
from skcw.metrics._sentences import sentence_counts

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
    >>> from skcw.metrics import Estimate
    >>> print(Estimate(value=0.02, low=0.01, high=0.03))
    0.02 [0.01, 0.03]
    """

    value: float
    low: float
    high: float

    def __str__(self):
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def score_interval(
    score,
    correct,
    confidence,
    *,
    groups=None,
    sample_weight=None,
    method="auto",
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
    **options,
):
    r"""Compute an interval of the true value of a score.

    Parameters
    ----------
    score : str or function
        One of the scores of this module, such as ``"calibration_mse"`` or the function
        itself, or a part of a proper loss, such as ``"brier_miscalibration"``.
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what each word claims came true, as the score takes it: the true labels
        for :func:`classwise_calibration_error`.
    confidence : array of shape (n_words,), or a sequence of such
        The confidences in the same layout, as the score takes them: the table of
        probabilities for :func:`classwise_calibration_error`.
    groups : array of shape (n_words,) or (n_rows,), default=None
        The sentence of each word or the text of each row. Words of one group are not
        independent, and the interval takes that into account. If None each row is a
        group, and in flat arrays each word is one.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.
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
        Controls the resamples. They depend on the order of the words: the same words in
        another order give slightly different ends.
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
    **What the interval is for** is the value of the score for infinitely many sentences
    like these. For scores of bins it is that of bins with as large a share of the words
    each: the distance of claimed and true probabilities, in which differences within a
    bin cancel. With root-n bins there is little to cancel, and it is the true
    calibration error. For debiased scores it is the same as for those that are not. For
    the miscalibration and discrimination of a proper loss it is what the best rising
    map of confidences would save and what it would leave.

    **Inversion.** Chance only raises errors of calibration. So outcomes are drawn from
    probabilities between the claimed ones and worse ones than those that an isotonic
    regression suggests, and the interval holds the errors under which a score such as
    the observed one would not be rare. Words of a sentence are drawn together, with as
    much correlation as their errors have. Errors counted by size have the higher upper
    end of this family and of one that is off by the same everywhere, to which chance
    adds least. Ends follow the unified ordering [1]_, so that the interval of a
    calibrated model, which holds 0 as its lower end, is not too wide.

    **Sandwich.** All other scores are smooth functions of the sentences. The standard
    error is the root of the summed squares of what sentences add to the score, which is
    the limit of a bootstrap over sentences. The quantile is Student's with degrees of
    freedom by the kurtosis of these, and the interval is symmetric on the logit scale.

    **How often they hold it**, in percent where 95 were asked for. Simulated words that
    err together by sentences, 2,000 to 50,000 of them, calibrated and not
    (``benchmarks/bench_calibration.py``; means of 20 settings, in which ECE has from
    87.5 to 100 of 16 to 120 trials each):

    ===============  ========  =====  =====  ==========  ====
    method           CalibMSE  ECE    Brier  miscalibr.  AURC
    ===============  ========  =====  =====  ==========  ====
    ``"auto"``       94.9      95.2   95.6   96.0        95.7
    ``"bootstrap"``  (6.1)     (53.5) 94.1   (9.0)       93.4
    ===============  ========  =====  =====  ==========  ====

    A bootstrap of errors of calibration counts chance twice, once in the words and once
    more in the resamples; the figures in brackets say why it is not offered for them.
    With no more than 50 sentences ``"auto"`` held some 92.

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
    family = score.alternatives()
    return invert(family, level, n_resamples, rng, bar).ends(level)


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

    A resample draws as many sentences as there are, all words of each.

    Parameters
    ----------
    scores : list of Score
        Scores of words in the same sentences.
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
    """Return a confidence level, or refuse what is not one."""
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
    """Return a number of resamples, or refuse what is not one."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, Integral):
        raise TypeError(f"n_resamples is {n_resamples!r}; it must be a whole number")
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(
            f"n_resamples is {n_resamples}; it must be at least {FEWEST_RESAMPLES}; "
            "two digits of an interval need about 1000"
        )
    return int(n_resamples)


def check_several_sentences(pairs):
    """Raise if all words are of one sentence."""
    if pairs.n_groups < 2:
        raise ValueError(
            "all words are of one sentence, which does not tell how much others would "
            "differ from it; give at least two, or leave out groups if every word "
            "is independent"
        )


def check_choice(value, name, choices):
    """Raise unless a value is one of several names."""
    if not isinstance(value, str) or value not in choices:
        names = ", ".join(map(repr, choices))
        raise ValueError(f"{name} is {value!r}; it must be one of {names}")


def make_generator(random_state):
    """Return a generator of random numbers for what scikit-learn calls random_state."""
    seeds = check_random_state(random_state).randint(2**31 - 1, size=4)
    return np.random.default_rng(seeds)


def progress_bar(progress, n_resamples):
    """Return a bar to be told of resamples made; it shows nothing unless asked to."""
    from tqdm import tqdm

    return tqdm(total=n_resamples, desc="resamples", leave=False, disable=not progress)
