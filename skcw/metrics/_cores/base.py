"""What every score of confidence is: prepared once, evaluated for many weights."""

from skcw.metrics._cores.binnings import make_binning


class Score:
    """A score of pairs.

    Parameters
    ----------
    pairs : Pairs
        The words; ``pairs.weight`` are the weights of the score itself.

    Attributes
    ----------
    bounds : tuple of two floats
        No value of the score lies outside.
    greater_is_better : bool
        Which of two values is the better one.
    """

    bounds = (0.0, 1.0)
    greater_is_better = False

    def __init__(self, pairs):
        self.pairs = pairs

    def value(self, weight=None):
        """Return the score, of the pairs as they are or with one new weight a word."""
        raise NotImplementedError


class MeanScore(Score):
    """A score that is the weighted mean of one loss a word.

    Parameters
    ----------
    pairs : Pairs
        The words.
    loss : ndarray of shape (n,)
        What each word costs.
    """

    def __init__(self, pairs, loss):
        super().__init__(pairs)
        self.loss = loss

    def value(self, weight=None):
        """Return the weighted mean of the losses."""
        weight = self.pairs.weight if weight is None else weight
        return float(weight @ self.loss / weight.sum())


class BinnedScore(Score):
    """A score of how far claims are from the outcomes in bins.

    Parameters
    ----------
    pairs : Pairs
        The words.
    strategy, bin_size, n_bins :
        As in `calibration_bins`; words are put into bins again for each weight.
    """

    def __init__(self, pairs, *, strategy="adaptive", bin_size=None, n_bins=None):
        super().__init__(pairs)
        self.binning = make_binning(pairs, strategy, bin_size, n_bins)

    def value(self, weight=None):
        """Return the score of the bins that the weights make."""
        weight = self.pairs.weight if weight is None else weight
        return float(self.combine(*self.binning.sums(weight)))

    def combine(self, mass, claimed, right):
        """Return the score of filled bins, which lie along the last axis."""
        raise NotImplementedError
