"""Merge finished Gaussians about the same weights, whoever has learnt them."""

import numpy as np

RULES = ("gain", "mean")


class GaussianMerge:
    """Means and variances of several models, added one by one.

    ``"mean"`` averages means and precisions over all models; one that has not seen a
    feature counts with its prior. ``"gain"`` weighs the mean of each weight by the
    precision that its model has gained over the prior, and leaves out models that have
    gained none: what one of them alone knows stays as it is. Learners without variances
    leave out models whose weight is zero. Under both rules a model merged with itself
    is that model.

    Parameters
    ----------
    rule : {"gain", "mean"}
        The rule.
    prior : float or None
        The variance that all models began with; None for learners that keep none.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._shards._merging import GaussianMerge
    >>> merge = GaussianMerge("gain", prior=1.0)
    >>> merge.add(np.array([1.0, 1.0]), np.array([0.5, 0.5]), 1.0)
    >>> merge.add(np.array([0.0, 3.0]), np.array([1.0, 0.25]), 1.0)
    >>> merge.result()
    (array([1. , 2.5]), array([0.5       , 0.33333333]))
    """

    def __init__(self, rule, prior):
        self.rule, self.prior = rule, prior
        self.first = None

    def add(self, mean, variance, share, prior=None):
        """Add the arrays of one model, whose share is a positive number.

        `prior` is the variance of its untouched weights, if that is rounded elsehow.
        """
        if self.first is None:
            self.first = mean, variance
            self.same = np.ones(mean.shape, dtype=bool)
            self.weight, self.step, self.gain, self.shares = np.zeros((4, *mean.shape))
        self.same &= mean == self.first[0]
        gain = 0.0
        if variance is not None:
            self.same &= variance == self.first[1]
            # Rounded as the others are: what was not touched has gained nothing.
            prior = variance.dtype.type(self.prior if prior is None else prior)
            gain = 1.0 / variance.astype(np.float64) - 1.0 / float(prior)
        weight, counts = share, share
        if self.rule == "gain":
            moved = mean != 0.0 if variance is None else (mean != 0.0) | (gain > 0.0)
            counts = share * moved
            weight = counts
            if variance is not None:
                # A variance may be as small as the prior where a weight has moved.
                least = LEAST_GAIN / self.prior
                weight = share * np.where(moved, np.maximum(gain, least), 0.0)
        self.weight += weight
        self.step += weight * mean.astype(np.float64)
        self.gain += counts * gain
        self.shares += counts

    def result(self):
        """Return the mean and the variance of the merge."""
        mean, variance = self.first
        found = np.zeros(mean.shape)
        np.divide(self.step, self.weight, out=found, where=self.weight > 0)
        # Where all agree, nothing is rounded.
        merged = np.where(self.same, mean, found).astype(mean.dtype)
        if variance is None:
            return merged, None
        gain = np.zeros(mean.shape)
        np.divide(self.gain, self.shares, out=gain, where=self.shares > 0)
        found = 1.0 / (1.0 / self.prior + gain)
        return merged, np.where(self.same, variance, found).astype(variance.dtype)


# The least weight of a weight that has moved, as a share of the prior precision.
LEAST_GAIN = 1e-12
