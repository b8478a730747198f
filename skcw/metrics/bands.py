"""Bands around a calibration curve: where the true share of right tokens may lie."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import betaincinv, ndtri

from skcw.metrics.binnings import (
    Cells,
    calibration_bins,
    cell_starts,
    isotonic_blocks,
    make_binning,
    make_cells,
)
from skcw.metrics.intervals import (
    check_level,
    check_n_resamples,
    make_generator,
    progress_bar,
)
from skcw.metrics.pairs import check_choice, check_pairs
from skcw.metrics.score import (
    draw_sums,
    latent_chunks,
    recalibrated_together,
    shared_variance,
    thresholds,
)

BAND_METHODS = ("wilson", "clopper-pearson", "consistency")
# Curves are pooled from no more cells than that: tokens of nearly equal confidences.
MOST_CELLS = 20_000


class CalibrationBands(NamedTuple):
    """A band around a calibration curve.

    Parameters
    ----------
    low, high : ndarray of shape (n_bins,)
        Ends of the band in each bin of :func:`calibration_bins`.

    Examples
    --------
    >>> from skcw.metrics.bands import calibration_bands
    >>> band = calibration_bands([1] * 9 + [0], [0.8] * 10)
    >>> band.low.round(2).tolist(), band.high.round(2).tolist()
    ([0.6], [0.98])
    """

    low: np.ndarray
    high: np.ndarray


def calibration_bands(
    correct,
    confidence,
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
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true; see :func:`calibration_mse`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout.
    method : {"wilson", "clopper-pearson", "consistency"}, default="wilson"
        - ``"wilson"``: the probabilities whose own normal band just holds the accuracy.
        - ``"clopper-pearson"``: those under which as many right tokens, or as few, are
          just likely enough. It covers at least as often as asked, mostly more often.
        - ``"consistency"``: where accuracies would lie if all confidences were true. It
          lies around the diagonal, not around the curve; a curve that leaves it is not
          calibrated there [1]_.
    strategy : {"adaptive", "uniform", "quantile", "isotonic"}, default="adaptive"
        How bins are made; see :func:`calibration_bins`. The isotonic curve is pooled
        anew for each resample of ``"consistency"``; the others take its blocks as
        given, though they were chosen by the outcomes.
    bin_size : int, default=None
        Tokens in an adaptive bin; the root of the number of tokens if None.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; once if None.
    groups : array of shape (n_tokens,) or (n_rows,), default=None
        The sentence of each token or the text of each row. If None each row is a group,
        and in flat arrays each token is one.
    confidence_level : float, default=0.95
        How often the band of a bin should contain its true accuracy. This is for each
        bin separately: at 0.95, about five of 100 bins lie outside.
    n_resamples : int, default=1000
        Number of resamples for ``"consistency"``.
    random_state : int, RandomState instance or None, default=0
        Controls the resamples.
    progress : bool, default=False
        Whether resampling shows a progress bar.

    Returns
    -------
    bands : CalibrationBands
        ``low`` and ``high`` of each bin of :func:`calibration_bins` with the same
        tokens and bins.

    See Also
    --------
    calibration_bins : The curve itself.

    Notes
    -----
    The first two methods take into account how many independent tokens a bin amounts
    to. Tokens of one sentence err together, so they are worth fewer: the
    variance of the right tokens of a bin is raised by the covariances of all two of its
    tokens from one sentence. How much tokens err together is one number for all tokens:
    the correlation of the normal numbers that would make them err so.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
       for probabilistic classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> from skcw.metrics.bands import calibration_bands
    >>> band = calibration_bands([True] * 20, [0.9] * 20)
    >>> band.low.round(3).tolist(), band.high.tolist()
    ([0.839], [1.0])
    """
    check_choice(method, "method", BAND_METHODS)
    level = check_level(confidence_level)
    n_resamples = check_n_resamples(n_resamples)
    pairs = check_pairs(correct, confidence, sample_weight, groups)
    binning = {"strategy": strategy, "bin_size": bin_size, "n_bins": n_bins}
    bins = calibration_bins(correct, confidence, sample_weight=sample_weight, **binning)
    isotonic = strategy == "isotonic"
    curve = IsotonicCurve(pairs, bins) if isotonic else BinnedCurve(pairs, **binning)
    if method in LIMITS:
        sizes = effective_sizes(pairs, curve.share)
        low, high = LIMITS[method](np.clip(bins.accuracy, 0.0, 1.0), sizes, level)
    else:
        rng = make_generator(random_state)
        with progress_bar(progress, n_resamples) as bar:
            curves = consistency_draws(pairs, curve, n_resamples, rng, bar)
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.nanquantile(curves, tails, axis=0)
    return CalibrationBands(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))


def effective_sizes(pairs, share):
    """Return how many independent tokens of equal weight the tokens of bins are worth.

    Weights that differ make them fewer (Kish), and so do sentences whose tokens err
    together: the variance of the right tokens in a bin grows by the covariances of all
    two of its tokens from one sentence.
    """
    probability, correlation = recalibrated_together(pairs)
    mass = np.asarray(share.sum(axis=1)).ravel()
    squares = share.multiply(share).tocsr()
    alone = squares @ (probability * (1 - probability))
    together = shared_variance(share, probability, correlation, pairs.group)
    sizes = mass**2 / np.asarray(squares.sum(axis=1)).ravel()
    return sizes / np.maximum(1.0, 1 + together / alone)


def wilson_limits(accuracy, n, level):
    """Return the p whose own normal band just reaches the accuracy (Wilson 1927)."""
    z = ndtri((1 + level) / 2)
    center = accuracy + z**2 / (2 * n)
    half = z * np.sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    return (center - half) / (1 + z**2 / n), (center + half) / (1 + z**2 / n)


def exact_limits(accuracy, n, level):
    """Return the p under which as many, or as few, are just likely enough.

    Clopper and Pearson (1934); n need not be whole.
    """
    right = np.clip(accuracy, 0.0, 1.0) * n
    tail = (1 - level) / 2
    low, high = np.zeros(len(right)), np.ones(len(right))
    # Rounding may leave this much of zero.
    some, not_all = right > 1e-9, n - right > 1e-9
    low[some] = betaincinv(right[some], (n - right + 1)[some], tail)
    high[not_all] = betaincinv((right + 1)[not_all], (n - right)[not_all], 1 - tail)
    return low, high


LIMITS = {
    "wilson": wilson_limits,
    "clopper-pearson": exact_limits,
}


def consistency_draws(pairs, curve, n_resamples, rng, bar):
    """Return curves of outcomes drawn as if all confidences were true.

    Tokens of a sentence err together as much as they really do.
    """
    _, correlation = recalibrated_together(pairs)
    starts = curve.cells.starts
    q, _, weight, group, _ = pairs.taken(curve.cells.order)
    mass = np.add.reduceat(weight, starts[:-1])
    limits = thresholds(q)[None]
    curves = []
    n_groups = pairs.n_groups
    for latent in latent_chunks(len(group), n_groups, correlation, n_resamples, rng):
        (right,) = draw_sums(latent, group, limits, weight, starts)
        curves.append(curve.accuracies(mass, right))
        bar.update(len(latent.normal))
    return np.concatenate(curves)


class BinnedCurve:
    """The accuracies of bins that stay as they are.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    strategy, bin_size, n_bins :
        As in `calibration_bins`.

    Attributes
    ----------
    share : sparse matrix of shape (n_bins, n_tokens)
        Weight of each token in each bin.
    cells : Cells
        Tokens that are summed as one.
    """

    def __init__(self, pairs, strategy, bin_size, n_bins):
        part = make_binning(pairs, strategy, bin_size, n_bins).shares(pairs.weight)
        self.share = part.multiply(pairs.weight).tocsr()
        self.cells = make_cells(part, pairs.q)

    def accuracies(self, mass, right):
        """Return accuracies of bins for sums over cells; NaN where bins are empty."""
        mass, right = self.cells.in_bins(mass), self.cells.in_bins(right)
        shape = np.broadcast_shapes(mass.shape, right.shape)
        accuracy = np.full(shape, np.nan)
        return np.divide(right, mass, out=accuracy, where=mass > 0)


class IsotonicCurve:
    """The isotonic curve, pooled anew for each draw and read at the blocks of the real.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    bins : CalibrationBins
        The blocks.

    Attributes
    ----------
    share, cells :
        As in `BinnedCurve`.
    """

    def __init__(self, pairs, bins):
        n_tokens = len(pairs.q)
        block = np.searchsorted(bins.low, pairs.q, side="right") - 1
        where = (np.maximum(block, 0), np.arange(n_tokens))
        shape = (len(bins.low), n_tokens)
        self.share = sparse.csr_matrix((pairs.weight, where), shape=shape)
        order = np.argsort(pairs.q, kind="stable")
        ranked = pairs.q[order]
        starts = cell_starts(ranked, MOST_CELLS)
        self.cells = Cells(order, starts, None)
        lowest = ranked[starts[:-1]]
        self._read = np.searchsorted(lowest, bins.confidence, side="right") - 1

    def accuracies(self, mass, right):
        """Return the heights of the curves at the blocks for sums over cells."""
        flat = right.reshape(-1, right.shape[-1])
        masses = np.broadcast_to(mass, right.shape).reshape(flat.shape)
        curves = [self._curve(*sums) for sums in zip(masses, flat, strict=True)]
        return np.reshape(curves, (*right.shape[:-1], len(self._read)))

    def _curve(self, mass, right):
        blocks = isotonic_blocks(np.ascontiguousarray(mass), right)
        which = np.searchsorted(blocks.first, self._read, side="right") - 1
        return (blocks.right / blocks.mass)[np.maximum(which, 0)]
