"""Bands around a calibration curve: where the true share of right words may lie."""

from typing import NamedTuple

import numpy as np

from skcw.metrics._intervals.band_limits import LIMITS
from skcw.metrics._intervals.curve_draws import consistency_draws, resampled_curves
from skcw.metrics._intervals.curves import BinnedCurve, IsotonicCurve
from skcw.metrics._intervals.recalibration import recalibrated
from skcw.metrics._intervals.resampling_checks import (
    check_choice,
    check_level,
    check_n_resamples,
    check_several_sentences,
    make_generator,
    progress_bar,
)
from skcw.metrics._intervals.sentence_model import latent_correlation, shared_variance
from skcw.metrics._weighted_pairs import check_pairs
from skcw.metrics.binned_calibration import calibration_bins

METHODS = (*LIMITS, "consistency", "bootstrap")


class CalibrationBands(NamedTuple):
    """A band around a calibration curve.

    Parameters
    ----------
    low, high : ndarray of shape (n_bins,)
        Ends of the band in each bin of :func:`calibration_bins`.

    Examples
    --------
    >>> from skcw.metrics import calibration_bands
    >>> band = calibration_bands([0.8] * 10, [1] * 9 + [0])
    >>> band.low.round(2).tolist(), band.high.round(2).tolist()
    ([0.6], [0.98])
    """

    low: np.ndarray
    high: np.ndarray


def calibration_bands(
    confidence,
    correct,
    *,
    method="wilson",
    strategy="adaptive",
    bin_size=None,
    n_bins=None,
    sample_weight=None,
    groups=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    r"""Compute a band of the accuracy in each bin of a calibration curve.

    Parameters
    ----------
    confidence : array of shape (n_words,), or a sequence of such
        A probability for each word, from 0 to 1: all words in one flat array, or a row
        for each sentence as ``predict_confidence`` returns them.
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what it is the probability of came true, in the same layout.
    method : str, default="wilson"
        - ``"wilson"``: the probabilities whose own normal band just holds the accuracy.
        - ``"clopper-pearson"``: those under which as many right words, or as few, are
          just likely enough. It covers at least as often as asked, mostly more often.
        - ``"normal"``: :math:`\hat p \mp z \sqrt{\hat p (1 - \hat p) / n}` [1]_. It has
          no width where all words of a bin are right, as in most bins of a good tagger.
        - ``"bootstrap"``: quantiles over resampled sentences, with the same fault.
        - ``"consistency"``: where accuracies would lie if all confidences were true. It
          lies around the diagonal, not around the curve; a curve that leaves it is not
          calibrated there [2]_.
    strategy, bin_size, n_bins :
        As in :func:`calibration_bins`. The isotonic curve is pooled anew for each
        resample of the last two methods; the others take its blocks as given, though
        they were chosen by the outcomes.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; one if None.
    groups : array of shape (n_words,) or (n_rows,), default=None
        The sentence of each word or the text of each row. If None each row is a group,
        and in flat arrays each word is one.
    confidence_level : float, default=0.95
        How often the band of a bin shall hold its true accuracy. It holds for each bin
        by itself: of 100 bins some five lie outside.
    n_resamples : int, default=1000
        Number of resamples of the last two methods.
    random_state : int, RandomState instance or None, default=0
        Rules the resamples.
    progress : bool, default=False
        Whether resampling shows a progress bar.

    Returns
    -------
    bands : CalibrationBands
        ``low`` and ``high`` of each bin of :func:`calibration_bins` with the same
        words and bins.

    See Also
    --------
    calibration_bins : The curve itself.

    Notes
    -----
    The first three methods put in how many independent words the words of a bin are
    worth. Words of one sentence err together, so they are worth fewer: the variance of
    the right words of a bin is raised by the covariances of all two of its words from
    one sentence. How much words err together is one number for all words: the
    correlation of the normal numbers that would make them err so.

    Where 95 % were asked for, ``"wilson"`` held the true accuracy of adaptive and of
    uniform bins in 96.0 and 95.4 %, ``"clopper-pearson"`` in 97.9 and 97.0,
    ``"normal"`` and ``"bootstrap"`` in 76 and 88 (simulated,
    ``benchmarks/bench_calibration.py``).

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.
    .. [2] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
       for probabilistic classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> from skcw.metrics import calibration_bands
    >>> confidence, correct = [0.9] * 20, [True] * 20
    >>> band = calibration_bands(confidence, correct)
    >>> band.low.round(3).tolist(), band.high.tolist()
    ([0.839], [1.0])
    >>> band = calibration_bands(confidence, correct, method="normal")
    >>> band.low.tolist(), band.high.tolist()
    ([1.0], [1.0])
    """
    check_choice(method, "method", METHODS)
    level = check_level(confidence_level)
    n_resamples = check_n_resamples(n_resamples)
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    binning = {"strategy": strategy, "bin_size": bin_size, "n_bins": n_bins}
    bins = calibration_bins(confidence, correct, sample_weight=sample_weight, **binning)
    isotonic = strategy == "isotonic"
    curve = IsotonicCurve(pairs, bins) if isotonic else BinnedCurve(pairs, **binning)
    if method in LIMITS:
        sizes = effective_sizes(pairs, curve.share)
        low, high = LIMITS[method](np.clip(bins.accuracy, 0.0, 1.0), sizes, level)
    else:
        rng = make_generator(random_state)
        low, high = _quantiles(method, pairs, curve, level, n_resamples, rng, progress)
    return CalibrationBands(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))


def _quantiles(method, pairs, curve, level, n_resamples, rng, progress):
    """Return between which heights most of the drawn curves lie."""
    draw = consistency_draws
    if method == "bootstrap":
        check_several_sentences(pairs)
        draw = resampled_curves
    with progress_bar(progress, n_resamples) as bar:
        curves = draw(pairs, curve, n_resamples, rng, bar)
    return np.nanquantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)


def effective_sizes(pairs, share):
    """Return how many independent words of equal weight the words of bins are worth.

    Weights that differ make them fewer (Kish), and so do sentences whose words err
    together: the variance of the right words in a bin grows by the covariances of all
    two of its words from one sentence.
    """
    probability = recalibrated(pairs.q, pairs.y, pairs.weight)
    correlation = latent_correlation(
        pairs.y - probability, probability, pairs.weight, pairs.group
    )
    mass = np.asarray(share.sum(axis=1)).ravel()
    squares = share.multiply(share).tocsr()
    alone = squares @ (probability * (1 - probability))
    together = shared_variance(share, probability, correlation, pairs.group)
    words = mass**2 / np.asarray(squares.sum(axis=1)).ravel()
    return words / np.maximum(1.0, 1 + together / alone)
