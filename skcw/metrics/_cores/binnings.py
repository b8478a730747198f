"""Ways to put pairs into bins, prepared once and filled for many weights."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcw.metrics._cores.pooling import isotonic_blocks
from skcw.metrics._cores.ties import Ties
from skcw.metrics._outcome_checks import check_n_bins, check_whole_number

# Sums of fractional weights miss a whole number of bins by rounding; no more.
ROUNDING = 1e-9

# Up to so many bins a stretch of equal confidences it is cheapest to make them all.
FEW_BINS = 4

DEFAULT_N_BINS = {"adaptive": None, "uniform": 20, "quantile": 10}


class BinSums(NamedTuple):
    """What filled bins hold, from low to high confidences; empty bins are left out."""

    mass: np.ndarray  # (n_bins,) summed weight
    claimed: np.ndarray  # (n_bins,) weighted sum of the confidences
    right: np.ndarray  # (n_bins,) summed weight of the right words


class MassBins:
    """Bins that hold the same mass each, cut along the sorted confidences.

    A word is a stretch of the line as long as its weight. Words of one confidence are
    one stretch with their mean outcome, and where a border cuts it each side gets its
    part of that mean: no order of the words matters. Bins that lie within one such
    stretch are one bin.

    Parameters
    ----------
    pairs : Pairs
        The words.
    bin_size : int or None
        Mass of a bin; what is left for the last bin is joined to the one before it.
    n_bins : int or None
        How many bins share the whole mass; used if ``bin_size`` is None.
    """

    def __init__(self, pairs, bin_size=None, n_bins=None):
        self.pairs = pairs
        self.claim = pairs.q
        self.bin_size = bin_size
        self.n_bins = n_bins
        self.ties = Ties(pairs.q)

    def sums(self, weight):
        """Return the `BinSums` for one weight a word."""
        mass, right = self.ties.sums(weight, self.pairs.y)
        line = _line(mass)
        edges, _, _ = self._edges(line)
        claimed = _between(edges, line, mass * self.ties.values)
        right = _between(edges, line, right)
        # Differences of long sums may leave the range of a bin by a rounding.
        held = np.diff(edges)
        return BinSums(held, np.clip(claimed, 0.0, held), np.clip(right, 0.0, held))

    def shares(self, weight):
        """Return which part of each word lies in each bin, (n_bins, n_words) sparse."""
        mass = self.ties.mass(weight)
        line = _line(mass)
        edges, _, _ = self._edges(line)
        # Between two cuts lies one piece of one tie in one bin.
        cuts = np.union1d(edges, line)
        in_bin = np.searchsorted(edges, cuts[:-1], side="right") - 1
        in_tie = np.searchsorted(line, cuts[:-1], side="right") - 1
        part = np.diff(cuts) / mass[in_tie]
        shape = (len(edges) - 1, len(mass))
        ties_in_bins = sparse.csr_matrix((part, (in_bin, in_tie)), shape=shape)
        return ties_in_bins[:, self.ties.code]

    def contents(self, weight):
        """Return the number of words in each bin, and its range of confidences."""
        line = _line(self.ties.mass(weight))
        edges, first, last = self._edges(line)
        count = _between(edges, line, self.ties.mass(weight > 0))
        return count, self.ties.values[first], self.ties.values[last]

    def _edges(self, line):
        """Return where bins begin and end, and their first and last confidences."""
        total = line[-1]
        if self.bin_size is None:
            edges = total * np.arange(self.n_bins + 1) / self.n_bins
        else:
            # A whole number above 2^63 would make an array of objects.
            size = float(self.bin_size)
            edges = size * _full_bins(line, size)
        edges[-1] = total
        ends = line[1:]
        first = np.searchsorted(ends, edges[:-1], side="right")
        last = np.searchsorted(ends, edges[1:], side="left")
        within = first == last
        joined = within[1:] & within[:-1] & (first[1:] == first[:-1])
        begins = np.concatenate(([True], ~joined))
        stops = np.concatenate((~joined, [True]))
        return edges[np.concatenate((begins, [True]))], first[begins], last[stops]


class WidthBins:
    """Bins of the same width: [(j - 1) / n, j / n), and the last one holds 1 too.

    Parameters
    ----------
    pairs : Pairs
        The words.
    n_bins : int
        How many bins.
    """

    def __init__(self, pairs, n_bins):
        self.pairs = pairs
        self.claim = pairs.q
        self.n_bins = n_bins
        self.code = width_codes(pairs, n_bins)

    def sums(self, weight):
        """Return the `BinSums` for one weight a word."""
        mass = self._total(weight)
        filled = mass > 0
        right = self._total(weight * self.pairs.y)
        claimed = self._claimed(weight, mass)
        return BinSums(mass[filled], claimed[filled], right[filled])

    def shares(self, weight):
        """Return which part of each word lies in each bin, (n_bins, n_words) sparse."""
        n = len(self.code)
        where = (self.code, np.arange(n))
        whole = sparse.csr_matrix((np.ones(n), where), shape=(self.n_bins, n))
        return whole[self._total(weight) > 0]

    def contents(self, weight):
        """Return the number of words in each bin, and its range of confidences."""
        counts = weight > 0
        code, q = self.code[counts], self.pairs.q[counts]
        count = np.bincount(code, minlength=self.n_bins)
        low, high = np.ones(self.n_bins), np.zeros(self.n_bins)
        np.minimum.at(low, code, q)
        np.maximum.at(high, code, q)
        filled = count > 0
        return count[filled].astype(np.float64), low[filled], high[filled]

    def _total(self, values):
        return np.bincount(self.code, values, self.n_bins)

    def _claimed(self, weight, mass):
        return self._total(weight * self.claim)


class CentredBins(WidthBins):
    """Bins of the same width in which each word claims the centre of its bin.

    Parameters
    ----------
    pairs : Pairs
        The words.
    n_bins : int
        How many bins.
    """

    def __init__(self, pairs, n_bins):
        super().__init__(pairs, n_bins)
        self.claim = centres(n_bins)[self.code]

    def _claimed(self, weight, mass):
        # Not word by word, whose order would show in the last bit.
        return mass * centres(self.n_bins)


class IsotonicBins:
    """Bins with as few words as will do for accuracies that rise from bin to bin.

    Parameters
    ----------
    pairs : Pairs
        The words.
    """

    def __init__(self, pairs):
        self.pairs = pairs
        self.claim = pairs.q
        self.ties = Ties(pairs.q)

    def sums(self, weight):
        """Return the `BinSums` for one weight a word."""
        mass, right = self.ties.sums(weight, self.pairs.y)
        blocks = isotonic_blocks(mass, right)
        claimed = np.add.reduceat(mass * self.ties.values, blocks.first)
        return BinSums(blocks.mass, claimed, blocks.right)

    def contents(self, weight):
        """Return the number of words in each bin, and its range of confidences."""
        mass, right = self.ties.sums(weight, self.pairs.y)
        first = isotonic_blocks(mass, right).first
        count = np.add.reduceat(self.ties.mass(weight > 0), first)
        held = np.where(mass > 0, self.ties.values, 0.0)
        return count, held[first], np.maximum.reduceat(held, first)


def make_binning(pairs, strategy, bin_size, n_bins):
    """Return the bins of a strategy, or say which setting does not go with it."""
    if not isinstance(strategy, str) or strategy not in DEFAULT_N_BINS:
        names = ", ".join(map(repr, DEFAULT_N_BINS))
        raise ValueError(f"strategy is {strategy!r}; there are {names}")
    if strategy == "adaptive":
        if n_bins is not None:
            raise ValueError(
                f"n_bins is {n_bins!r}, but adaptive bins have a bin_size; "
                "strategy='quantile' has n_bins"
            )
        return MassBins(pairs, bin_size=_check_bin_size(bin_size, pairs))
    if bin_size is not None:
        raise ValueError(
            f"bin_size is {bin_size!r}, but {strategy} bins have n_bins; "
            "strategy='adaptive' has a bin_size"
        )
    n_bins = DEFAULT_N_BINS[strategy] if n_bins is None else check_n_bins(n_bins)
    if strategy == "uniform":
        return WidthBins(pairs, n_bins)
    return MassBins(pairs, n_bins=n_bins)


def _check_bin_size(bin_size, pairs):
    """Return the mass of a bin; by default the root of the whole, rounded down."""
    if bin_size is not None:
        return check_whole_number(bin_size, "bin_size")
    total = pairs.weight.sum()
    if total < np.sqrt(np.count_nonzero(pairs.weight)) * (1 - ROUNDING):
        raise ValueError(
            f"sample_weight sums to {total:.6g} for {len(pairs.q)} words, too little "
            "for bins of the root of it; a weight says how often a word counts, so "
            "scale them to a mean of one, or take strategy='quantile'"
        )
    return max(1, int(np.sqrt(total)))


def width_codes(pairs, n_bins):
    """Return the bin of each confidence, of n_bins of the same width.

    The borders are divided in the type that the confidences came in, so a share of
    votes such as 7 of 20 meets its own border bit by bit. Multiplying by n_bins would
    lift some confidences into the bin above.
    """
    borders = np.arange(1, n_bins).astype(pairs.dtype) / pairs.dtype(n_bins)
    return np.searchsorted(borders.astype(np.float64), pairs.q, side="right")


def centres(n_bins):
    """Return the centres of bins of the same width."""
    return (2 * np.arange(n_bins) + 1) / (2 * n_bins)


def _full_bins(line, bin_size):
    """Return how many bins lie before each edge that may matter, rising from 0.

    Heavy words make many more bins than there are stretches. Those within one stretch
    are joined, so that edges far from the ends of all stretches are not needed.
    """
    n_bins = max(1.0, np.floor(line[-1] / bin_size + ROUNDING))
    if n_bins <= FEW_BINS * len(line):
        return np.arange(n_bins + 1)
    near = np.floor(line / bin_size)[:, None] + [-1.0, 0.0, 1.0, 2.0]
    return np.unique(np.clip(near, 0.0, n_bins))


def _line(mass):
    """Return where stretches of a mass begin if one is laid behind the other."""
    return np.concatenate(([0.0], np.cumsum(mass)))


def _between(edges, line, parts):
    """Return the sums of parts, spread along the line, between edges on it."""
    return np.diff(np.interp(edges, line, _line(parts)))
