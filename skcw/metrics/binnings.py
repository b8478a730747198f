"""Bins of confidence: equal widths, equal counts, isotonic."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression

from skcw.metrics.pairs import check_choice, check_pairs, check_whole_number

# Half a right and half a wrong token in each block (Jeffreys), so that none is certain.
JEFFREYS = 0.5


class Ties:
    """The distinct confidences, and which of them each token has.

    Tokens of equal confidence count as one, so that their order cannot matter.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Any numbers but NaN.

    Attributes
    ----------
    values : ndarray of shape (n_ties,)
        The distinct confidences, rising.
    code : ndarray of int of shape (n,)
        Place of each token's confidence among them.
    """

    def __init__(self, confidence):
        self.values, self.code = np.unique(confidence, return_inverse=True)

    def mass(self, weight):
        """Return the weight, or the number, of the tokens of each confidence."""
        return np.bincount(self.code, weight, len(self.values))

    def sums(self, weight, y):
        """Return the summed weights of all tokens and of the right ones."""
        return self.mass(weight), self.mass(weight * y)


class Blocks(NamedTuple):
    """Neighboring confidences that share one accuracy, which rises block by block."""

    first: np.ndarray  # (n_blocks,) place of the first confidence of the block
    mass: np.ndarray  # (n_blocks,) summed weight
    right: np.ndarray  # (n_blocks,) summed weight of the right tokens


def isotonic_blocks(mass, right):
    """Return the blocks of sums that are sorted by confidence.

    The accuracies of the blocks are the rising function of the confidence with the
    least weighted square error, and the best one for every proper loss as well. Places
    without mass belong to the block before them, and those before all mass to none.
    """
    held = np.flatnonzero(mass > 0)
    if not held.size:
        return Blocks(held, np.empty(0), np.empty(0))
    mass, right = mass[held], right[held]
    first = isotonic_regression(right / mass, weights=mass).blocks[:-1]
    while True:
        block_mass = np.add.reduceat(mass, first)
        block_right = np.add.reduceat(right, first)
        # Means of blocks are rounded: the products say whether one really rises.
        rises = block_right[1:] * block_mass[:-1] > block_right[:-1] * block_mass[1:]
        if rises.all():
            return Blocks(held[first], block_mass, block_right)
        first = first[np.append(True, rises)]


def recalibrated(pairs, extra=JEFFREYS):
    """Return a probability for each token, isotonic in its confidence.

    It is the accuracy of its block, which gets ``extra`` right and as many wrong tokens
    more, so that it is never 0 or 1.
    """
    ties = Ties(pairs.q)
    mass, right = ties.sums(pairs.weight, pairs.y)
    blocks = isotonic_blocks(mass, right)
    accuracy = (blocks.right + extra) / (blocks.mass + 2 * extra)
    block = np.searchsorted(blocks.first, np.arange(len(mass)), side="right") - 1
    return accuracy[np.maximum(block, 0)][ties.code]


def steps_between(start, goal):
    """Return the steps from probabilities to others, and some where they are equal."""
    step = goal - start
    if np.abs(step).max() > 1e-9:
        return step
    return np.where(start <= 0.5, 1.0, -1.0) / np.sqrt(len(start))


# Sums of fractional weights miss a whole number of bins by rounding; no more.
NEARLY_FULL = 1e-9

# Up to so many bins per stretch of equal confidences it is cheapest to make them all.
FEW_BINS = 4

DEFAULT_N_BINS = {"adaptive": None, "uniform": 20, "quantile": 10}


class CalibrationBins(NamedTuple):
    """The bins of a calibration curve, from low to high confidences.

    Parameters
    ----------
    confidence : ndarray of shape (n_bins,)
        What the bin claims: its mean confidence, or its center.
    accuracy : ndarray of shape (n_bins,)
        Share of right tokens in the bin: what is observed.
    count : ndarray of shape (n_bins,)
        Number of tokens. Tokens of equal confidence that lie in several bins count in
        each with a part of them, so it need not be whole.
    weight : ndarray of shape (n_bins,)
        Summed weight; the number of tokens if none were given.
    low, high : ndarray of shape (n_bins,)
        Smallest and largest confidence in the bin.

    Examples
    --------
    >>> from skcw.metrics import calibration_bins
    >>> bins = calibration_bins([0, 1, 1, 1], [0.2, 0.4, 0.8, 1.0], bin_size=2)
    >>> bins.confidence.round(3).tolist()
    [0.3, 0.9]
    >>> bins.accuracy.tolist()
    [0.5, 1.0]
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    count: np.ndarray
    weight: np.ndarray
    low: np.ndarray
    high: np.ndarray


def calibration_bins(
    correct: Any,
    confidence: Any,
    *,
    strategy: str = "adaptive",
    bin_size: int | None = None,
    n_bins: int | None = None,
    claim: str = "mean",
    sample_weight: Any = None,
) -> Any:
    r"""Compute how often tokens are right whose confidences are about the same.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each claim came true: all tokens in one flat array, or one
        array per sentence. See :func:`token_correct`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The claimed probability of each token, from 0 to 1, in the same layout, as
        ``predict_confidence`` returns it.
    strategy : {"adaptive", "uniform", "quantile", "isotonic"}, default="adaptive"
        How bins are made.

        - ``"adaptive"``: ``bin_size`` tokens each, cut along the sorted confidences
          [1]_. Too few tokens for the last bin are joined to the one before it; fewer
          tokens than ``bin_size`` make one bin.
        - ``"uniform"``: ``n_bins`` of the same width, [(j - 1) / n, j / n), and 1 in
          the last. Empty bins are left out.
        - ``"quantile"``: ``n_bins`` with the same number of tokens.
        - ``"isotonic"``: as few tokens as will do for accuracies that rise from bin to
          bin; there is nothing to choose [2]_.
    bin_size : int, default=None
        Tokens in an adaptive bin; the root of the number of tokens, rounded down, if
        None.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    claim : {"mean", "center"}, default="mean"
        What a bin claims: the mean of its confidences, or, for uniform bins, the center
        of its range [3]_.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; one if None. A token of weight
        2 is the same as that token twice, so ``bin_size`` counts weight.

    Returns
    -------
    bins : CalibrationBins
        Their mean confidence, accuracy, number of tokens, weight and range.

    See Also
    --------
    calibration_mse : The distance of the bins from the diagonal in one number.
    calibration_bands : Where the true accuracy of each bin may lie.

    Notes
    -----
    The order of tokens never matters, not even of tokens with the same confidence.
    Where a border of adaptive or quantile bins falls among such tokens, each side gets
    a part of all of them with their common accuracy, and bins that hold nothing but
    tokens of one confidence are one bin. If all confidences are equal there is one bin.

    A confidence that is not in [0, 1] is an error: ``"delta"`` and its like give
    distances, which have an order and no probability.

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.
    .. [2] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
       for probabilistic classifiers", PNAS 118(8), 2021.
    .. [3] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.

    Examples
    --------
    >>> from skcw.metrics import calibration_bins
    >>> correct = [False, True, False, False, True, True]
    >>> confidence = [0.1, 0.5, 0.5, 0.5, 0.5, 0.9]
    >>> bins = calibration_bins(correct, confidence, bin_size=3)
    >>> bins.confidence.round(3).tolist()
    [0.367, 0.633]
    >>> bins.accuracy.round(3).tolist()
    [0.333, 0.667]
    >>> calibration_bins(correct, confidence, strategy="isotonic").high.tolist()
    [0.1, 0.5, 0.9]
    """
    pairs = check_pairs(correct, confidence, sample_weight)
    if strategy == "isotonic":
        if bin_size is not None or n_bins is not None or claim != "mean":
            raise ValueError(
                "isotonic bins follow from the data: give no bin_size, n_bins or claim"
            )
        binning = IsotonicBins(pairs)
    else:
        binning = make_binning(pairs, strategy, bin_size, n_bins, claim)
    mass, claimed, right = binning.sums(pairs.weight)
    count, low, high = binning.contents(pairs.weight)
    claimed = claimed / mass
    return CalibrationBins(
        # A mean may leave the range of what it is the mean of by a rounding.
        confidence=np.clip(claimed, low, high) if claim == "mean" else claimed,
        accuracy=right / mass,
        count=count,
        weight=mass,
        low=low,
        high=high,
    )


class MassBins:
    """Bins that hold the same mass each, cut along the sorted confidences.

    A token is a stretch of the line as long as its weight. Tokens of one confidence are
    one stretch with their mean outcome, and where a border cuts it each side gets its
    part of that mean: no order of the tokens matters. Bins that lie within one such
    stretch are one bin.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
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
        """Return the weight, the claims and the right tokens in each filled bin."""
        mass, right = self.ties.sums(weight, self.pairs.y)
        line, edges, _, _ = self._edges(mass)
        claimed = _between(edges, line, mass * self.ties.values)
        right = _between(edges, line, right)
        # Differences of long sums may leave the range of a bin by a rounding.
        held = np.diff(edges)
        return held, np.clip(claimed, 0.0, held), np.clip(right, 0.0, held)

    def shares(self, weight):
        """Return the share of each token in each bin, (n_bins, n_tokens) sparse."""
        mass = self.ties.mass(weight)
        line, edges, _, _ = self._edges(mass)
        # Between two cuts lies one piece of one tie in one bin.
        cuts = np.union1d(edges, line)
        in_bin = np.searchsorted(edges, cuts[:-1], side="right") - 1
        in_tie = np.searchsorted(line, cuts[:-1], side="right") - 1
        part = np.diff(cuts) / mass[in_tie]
        shape = (len(edges) - 1, len(mass))
        ties_in_bins = sparse.csr_matrix((part, (in_bin, in_tie)), shape=shape)
        return ties_in_bins[:, self.ties.code]

    def contents(self, weight):
        """Return the number of tokens in each bin, and its range of confidences."""
        line, edges, first, last = self._edges(self.ties.mass(weight))
        count = _between(edges, line, self.ties.mass(weight > 0))
        return count, self.ties.values[first], self.ties.values[last]

    def _edges(self, mass):
        """Return where stretches and bins begin, and the outer confidences of bins."""
        line = _line(mass)
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
        edges = edges[np.concatenate((begins, [True]))]
        return line, edges, first[begins], last[stops]


class WidthBins:
    """Bins of the same width: [(j - 1) / n, j / n), and the last one holds 1 too.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    n_bins : int
        How many bins.
    claim : {"mean", "center"}
        Whether a bin claims the mean of its confidences or the center of its range.
    """

    def __init__(self, pairs, n_bins, claim="mean"):
        self.pairs = pairs
        self.n_bins = n_bins
        # The borders are divided in the type that the confidences came in, so a share
        # of votes such as 7 of 20 meets its own border bit by bit. Multiplying by
        # n_bins would lift some confidences into the bin above.
        borders = np.arange(1, n_bins).astype(pairs.dtype) / pairs.dtype(n_bins)
        self.code = np.searchsorted(borders.astype(np.float64), pairs.q, side="right")
        centers = (2 * np.arange(n_bins) + 1) / (2 * n_bins)
        self._centers = centers if claim == "center" else None
        self.claim = pairs.q if claim == "mean" else self._centers[self.code]

    def sums(self, weight):
        """Return the weight, the claims and the right tokens in each filled bin."""
        mass = self._total(weight)
        filled = mass > 0
        right = self._total(weight * self.pairs.y)
        if self._centers is None:
            claimed = self._total(weight * self.claim)
        else:
            # Not token by token, whose order would show in the last bit.
            claimed = mass * self._centers
        return mass[filled], claimed[filled], right[filled]

    def shares(self, weight):
        """Return the share of each token in each bin, (n_bins, n_tokens) sparse."""
        n = len(self.code)
        where = (self.code, np.arange(n))
        whole = sparse.csr_matrix((np.ones(n), where), shape=(self.n_bins, n))
        return whole[self._total(weight) > 0]

    def contents(self, weight):
        """Return the number of tokens in each bin, and its range of confidences."""
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


class IsotonicBins:
    """Bins with as few tokens as will do for accuracies that rise from bin to bin.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    """

    def __init__(self, pairs):
        self.pairs = pairs
        self.claim = pairs.q
        self.ties = Ties(pairs.q)

    def sums(self, weight):
        """Return the weight, the claims and the right tokens in each filled bin."""
        mass, right = self.ties.sums(weight, self.pairs.y)
        blocks = isotonic_blocks(mass, right)
        claimed = np.add.reduceat(mass * self.ties.values, blocks.first)
        return blocks.mass, claimed, blocks.right

    def contents(self, weight):
        """Return the number of tokens in each bin, and its range of confidences."""
        mass, right = self.ties.sums(weight, self.pairs.y)
        first = isotonic_blocks(mass, right).first
        count = np.add.reduceat(self.ties.mass(weight > 0), first)
        held = np.where(mass > 0, self.ties.values, 0.0)
        return count, held[first], np.maximum.reduceat(held, first)


def make_binning(pairs, strategy, bin_size, n_bins, claim="mean"):
    """Return the bins of a strategy; raise at a setting that does not fit it."""
    check_choice(strategy, "strategy", DEFAULT_N_BINS)
    check_choice(claim, "claim", ("mean", "center"))
    if claim == "center" and strategy != "uniform":
        raise ValueError(
            f"claim='center' is for bins of equal width, but strategy is {strategy!r}; "
            "it must be 'uniform'"
        )
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
    if n_bins is None:
        n_bins = DEFAULT_N_BINS[strategy]
    else:
        n_bins = check_whole_number(n_bins, "n_bins")
    if strategy == "uniform":
        return WidthBins(pairs, n_bins, claim)
    return MassBins(pairs, n_bins=n_bins)


def _check_bin_size(bin_size, pairs):
    """Return the mass of a bin; by default the root of the whole, rounded down."""
    if bin_size is not None:
        return check_whole_number(bin_size, "bin_size")
    total = pairs.weight.sum()
    if total < np.sqrt(np.count_nonzero(pairs.weight)) * (1 - NEARLY_FULL):
        raise ValueError(
            f"sample_weight sums to {total:.6g} for {len(pairs.q)} tokens, too little "
            "for bins of that many tokens; a weight says how often a token counts, so "
            "scale them to a mean of one, or take strategy='quantile'"
        )
    return max(1, int(np.sqrt(total)))


def _full_bins(line, bin_size):
    """Return how many bins lie before each edge that may matter, rising from 0.

    Heavy tokens make many more bins than there are stretches. Those within one stretch
    are joined, so that edges far from the ends of all stretches are not needed.
    """
    n_bins = max(1.0, np.floor(line[-1] / bin_size + NEARLY_FULL))
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


class Cells(NamedTuple):
    """Tokens sorted by cell, and which bins the cells make up."""

    order: np.ndarray  # (n_tokens,) the tokens, cell by cell
    starts: np.ndarray  # (n_cells + 1,) where the tokens of each cell begin
    part: sparse.csr_matrix  # (n_bins, n_cells) which part of a cell lies in a bin

    @property
    def of_token(self):
        """The cell of each token."""
        cell = np.empty(len(self.order), dtype=np.intp)
        cell[self.order] = np.repeat(
            np.arange(len(self.starts) - 1), np.diff(self.starts)
        )
        return cell

    def in_bins(self, sums):
        """Return sums over cells, which lie along the last axis, as sums over bins."""
        flat = self.part @ sums.reshape(-1, sums.shape[-1]).T
        return flat.T.reshape(*sums.shape[:-1], -1)


def make_cells(shares, confidence):
    """Return the cells of tokens of which bins hold parts, (n_bins, n_tokens) sparse.

    Tokens that lie whole in a bin make up one cell. Tokens of equal confidence that a
    border divides have the same parts, and a cell of their own. Tokens in no bin, which
    have no weight, are put into the first cell.
    """
    by_token = sparse.csc_matrix(shares)
    n_bins, n_tokens = by_token.shape
    n_parts = np.diff(by_token.indptr)
    first_bin = np.zeros(n_tokens, dtype=np.intp)
    first_bin[n_parts > 0] = by_token.indices[by_token.indptr[:-1][n_parts > 0]]
    value = np.unique(confidence, return_inverse=True)[1]
    key = np.where(n_parts > 1, n_bins + value, first_bin)
    order = np.argsort(key, kind="stable")
    _, first = np.unique(key[order], return_index=True)
    starts = np.append(first, n_tokens).astype(np.intp)
    # A token without weight does not stand for its cell.
    held = np.maximum.reduceat(np.where(n_parts[order] > 0, order, -1), first)
    part = by_token[:, np.maximum(held, 0)].tocsr()
    return Cells(order, starts, part)


def cell_starts(q, most):
    """Return where cells of sorted confidences begin, and the end of the last.

    There are no more than ``most`` cells, and tokens of equal confidences are in one.
    """
    n = len(q)
    begins = np.flatnonzero(np.concatenate(([True], q[1:] != q[:-1])))
    cell = begins * min(most, n) // n
    first = np.unique(cell, return_index=True)[1]
    return np.append(begins[first], n).astype(np.intp)
