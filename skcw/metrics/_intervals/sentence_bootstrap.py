"""Scores of sentences drawn again with replacement."""

import numpy as np
from scipy import sparse

from skcw.metrics._cores.base import BinnedScore, MeanScore
from skcw.metrics.classwise_calibration import ClasswiseError

# A chunk of counts takes eight megabytes.
COUNTS_AT_ONCE = 1_000_000
TINY = np.finfo(np.float64).tiny


def resampled_scores(cores, n_resamples, rng, bar):
    """Yield how often each sentence was drawn, and the scores that this gives.

    A resample draws as many sentences as there are, all words of each. Words stay in
    their bins. Sentences without any weight are not drawn.

    Parameters
    ----------
    cores : list of Score
        Scores of words in the same sentences.
    n_resamples : int
        How many resamples.
    rng : numpy.random.Generator
        Rules them.
    bar : object
        Its ``update`` is told of resamples made.

    Yields
    ------
    counts : ndarray of shape (some resamples, n_sentences)
        How often each sentence was drawn.
    scores : ndarray of shape (n_cores, some resamples)
        The scores of each resample.
    """
    evaluators = [_evaluator(core) for core in cores]
    for counts in sentence_counts(cores[0].pairs, n_resamples, rng):
        yield counts, np.array([evaluate(counts) for evaluate in evaluators])
        bar.update(len(counts))


def sentence_counts(pairs, n_resamples, rng):
    """Yield how often each sentence is drawn, (some resamples, n_sentences)."""
    weighty = np.flatnonzero(np.bincount(pairs.group, pairs.weight) > 0)
    n_groups = int(pairs.group.max()) + 1
    at_once = max(1, COUNTS_AT_ONCE // n_groups)
    for start in range(0, n_resamples, at_once):
        counts = np.empty((min(at_once, n_resamples - start), n_groups))
        for row in counts:
            drawn = weighty[rng.integers(len(weighty), size=len(weighty))]
            row[:] = np.bincount(drawn, minlength=n_groups)
        yield counts


def _evaluator(core):
    """Return a function that gives the score for each row of counts."""
    if isinstance(core, MeanScore):
        return _mean_evaluator(core)
    if isinstance(core, BinnedScore):
        return _binned_evaluator(core)
    if isinstance(core, ClasswiseError):
        each = [_binned_evaluator(error) for error in core.errors]
        return lambda counts: np.mean([evaluate(counts) for evaluate in each], axis=0)
    weight, group = core.pairs.weight, core.pairs.group
    return lambda counts: np.array([core.value(weight * row[group]) for row in counts])


def _mean_evaluator(core):
    """Return the same for a mean: two sums a sentence are enough."""
    pairs = core.pairs
    loss = np.bincount(pairs.group, pairs.weight * core.loss)
    mass = np.bincount(pairs.group, pairs.weight)
    return lambda counts: (counts @ loss) / (counts @ mass)


def _binned_evaluator(core):
    """Return the same for bins: three sums for each sentence in each bin."""
    pairs, binning = core.pairs, core.binning
    share = binning.shares(pairs.weight).multiply(pairs.weight).tocsr()
    n, n_groups = len(pairs.q), int(pairs.group.max()) + 1
    where = (np.arange(n), pairs.group)
    sums = [
        share @ sparse.csr_matrix((values, where), shape=(n, n_groups))
        for values in (np.ones(n), binning.claim, pairs.y)
    ]

    def evaluate(counts):
        mass, claimed, right = ((each @ counts.T).T for each in sums)
        return core.combine(np.where(mass > 0, mass, TINY), claimed, right)

    return evaluate
