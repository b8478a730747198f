"""``Score``: the base class of all confidence scores; the table of scores by name."""

from functools import cached_property

import numpy as np

from skcw.metrics._pairs import check_pairs
from skcw.metrics._sentences import smooth_interval

# Each name stands for a class and for options that the name implies.
SCORES = {}


class Score:
    """A score of pairs: prepared once, evaluated for many weights.

    A new score is a subclass in its own file; `registered` puts it into the table under
    the name of its function. Intervals and comparisons call the methods of a score; the
    defaults below work for any score, if slowly.

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
    interval_methods : tuple of str
        The intervals that are known to cover this score; the first is the usual one.
    compared_by : {"influence", "ends", "squares"} or None
        How `compare_scores` compares two values; None if it cannot.
    n_families : int
        In how many families of alternatives an inversion looks for the truth.
    """

    bounds = (0.0, 1.0)
    greater_is_better = False
    interval_methods = ("sandwich", "bootstrap")
    compared_by = "influence"
    n_families = 1

    def __init__(self, pairs):
        self.pairs = pairs

    @classmethod
    def from_arrays(
        cls, correct, confidence, sample_weight=None, groups=None, **options
    ):
        """Return the score of outcomes and confidences, which are checked."""
        return cls(check_pairs(correct, confidence, sample_weight, groups), **options)

    def value(self, weight=None):
        """Return the score, of the pairs as they are or with new weights of words."""
        raise NotImplementedError

    def influence(self):
        """Return what each word adds to the score, to first order."""
        raise NotImplementedError

    def resampled(self, counts):
        """Return the scores if sentences were there as often as each row says.

        Parameters
        ----------
        counts : ndarray of shape (n_resamples, n_sentences)
            How often each sentence was drawn. Words stay in their bins.
        """
        weight, group = self.pairs.weight, self.pairs.group
        return np.array([self.value(weight * row[group]) for row in counts])

    def alternatives(self):
        """Return the family of truths that an inversion asks, or None."""
        return None

    def sandwich(self, level, n_resamples, rng, bar):
        """Return the ends of the interval by the standard error over sentences."""
        return smooth_interval(
            self.value(), self.influence(), self.pairs.group, self.bounds, level
        )


class MeanScore(Score):
    """A score that is the weighted mean of one loss per word.

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
        if weight is None:
            return float(self.pairs.weight @ self.loss / self.pairs.weight.sum())
        # Words without weight must not even change the order of the sum.
        kept = weight > 0
        weight = weight[kept]
        return float(weight @ self.loss[kept] / weight.sum())

    def influence(self):
        """Return the weighted losses less their mean."""
        weight = self.pairs.weight
        return weight * (self.loss - self.value()) / weight.sum()

    def resampled(self, counts):
        """Return the means: two sums per sentence are enough."""
        loss, mass = self._sentence_sums
        return (counts @ loss) / (counts @ mass)

    @cached_property
    def _sentence_sums(self):
        pairs = self.pairs
        loss = np.bincount(pairs.group, pairs.weight * self.loss)
        return loss, np.bincount(pairs.group, pairs.weight)


def registered(name, **options):
    """Return a decorator that puts a class into the table of scores."""

    def put(cls):
        SCORES[name] = cls, options
        return cls

    return put


def score_name(score):
    """Return the name of a score, given that or its function."""
    name = score if isinstance(score, str) else getattr(score, "__name__", None)
    if name not in SCORES:
        raise ValueError(
            f"score is {score!r}; it must be one of {', '.join(SCORES)}, or the "
            "function of that name"
        )
    return name


def make_score(name, correct, confidence, sample_weight=None, groups=None, **options):
    """Return the score of that name for some words."""
    cls, implied = SCORES[name]
    return cls.from_arrays(
        correct, confidence, sample_weight, groups, **(options | implied)
    )
