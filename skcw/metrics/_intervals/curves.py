"""Calibration curves of outcomes that were drawn, at the bins of the real one."""

import numpy as np
from scipy import sparse

from skcw.metrics._cores.binnings import make_binning
from skcw.metrics._cores.pooling import isotonic_blocks
from skcw.metrics._intervals.cells import Cells, make_cells
from skcw.metrics._intervals.part_path import cell_starts

# Curves are pooled from no more cells than that: words of nearly equal confidences.
MOST_CELLS = 20_000


class BinnedCurve:
    """The accuracies of bins that stay as they are.

    Parameters
    ----------
    pairs : Pairs
        The words.
    strategy, bin_size, n_bins :
        As in `calibration_bins`.

    Attributes
    ----------
    share : sparse matrix of shape (n_bins, n_words)
        Weight of each word in each bin.
    cells : Cells
        Words that are summed as one.
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
        The words.
    bins : CalibrationBins
        The blocks.

    Attributes
    ----------
    share, cells :
        As in `BinnedCurve`.
    """

    def __init__(self, pairs, bins):
        n_words = len(pairs.q)
        block = np.searchsorted(bins.low, pairs.q, side="right") - 1
        where = (np.maximum(block, 0), np.arange(n_words))
        shape = (len(bins.low), n_words)
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
