"""Proper scores of probabilities, and their parts by isotonic recalibration."""

from typing import NamedTuple

import numpy as np
from scipy.special import entr

from skcw.metrics._cores.base import MeanScore, Score
from skcw.metrics._cores.pooling import isotonic_blocks
from skcw.metrics._cores.ties import Ties

# As scikit-learn's log_loss does with float64: a claim of certainty that is wrong
# costs 36.04 and not infinity.
CLIP = float(np.finfo(np.float64).eps)


class Decomposition(NamedTuple):
    """The parts of a proper score: miscalibration - discrimination + uncertainty.

    Parameters
    ----------
    miscalibration : float or Estimate
        What recalibrating the probabilities would save; 0 is best.
    discrimination : float or Estimate
        What recalibrated probabilities save over claiming the mean for all words;
        higher is better.
    uncertainty : float or Estimate
        The score of claiming the mean for all words, which no model can change.

    Examples
    --------
    >>> from skcw.metrics import brier_decomposition
    >>> parts = brier_decomposition([0.6, 0.6, 0.9, 0.9], [0, 1, 1, 1])
    >>> round(parts.discrimination, 6)
    0.0625
    """

    miscalibration: float
    discrimination: float
    uncertainty: float


class BrierScore(MeanScore):
    """The mean squared difference of probability and outcome."""

    def __init__(self, pairs):
        super().__init__(pairs, (pairs.q - pairs.y) ** 2)


class LogScore(MeanScore):
    """The mean negative logarithm of the probability of what came true."""

    bounds = (0.0, -np.log(CLIP))

    def __init__(self, pairs):
        q = np.clip(pairs.q, CLIP, 1 - CLIP)
        super().__init__(pairs, -np.log(np.where(pairs.y > 0, q, 1 - q)))


class ScorePart(Score):
    """A part of a proper score, and all of them.

    Parameters
    ----------
    pairs : Pairs
        The words.
    part : {"miscalibration", "discrimination", "uncertainty"}
        Which of them ``value`` returns.

    Attributes
    ----------
    score : type
        The proper score, a `MeanScore`.
    """

    score: type

    def __init__(self, pairs, part="miscalibration"):
        super().__init__(pairs)
        self.part = part
        self.greater_is_better = part == "discrimination"
        self._whole = self.score(pairs)
        self._ties = Ties(pairs.q)

    def parts(self, weight=None):
        """Return the `Decomposition` of the score."""
        weight = self.pairs.weight if weight is None else weight
        mass, right = self._ties.sums(weight, self.pairs.y)
        blocks = isotonic_blocks(mass, right)
        total = blocks.mass.sum()
        accuracy = blocks.right / blocks.mass
        recalibrated = blocks.mass @ self.of_constant(accuracy) / total
        uncertainty = self.of_constant(blocks.right.sum() / total)
        # Rounding may leave less than nothing of parts that are none.
        return Decomposition(
            miscalibration=max(0.0, self._whole.value(weight) - float(recalibrated)),
            discrimination=max(0.0, float(uncertainty - recalibrated)),
            uncertainty=float(uncertainty),
        )

    def value(self, weight=None):
        """Return the part."""
        return getattr(self.parts(weight), self.part)

    @staticmethod
    def of_constant(p):
        """Return the score of words that claim p and of which a share p is right."""
        raise NotImplementedError


class BrierPart(ScorePart):
    """A part of the Brier score."""

    score = BrierScore

    @staticmethod
    def of_constant(p):
        """Return p (1 - p)."""
        return p * (1 - p)


class LogPart(ScorePart):
    """A part of the log score."""

    score = LogScore
    bounds = LogScore.bounds

    @staticmethod
    def of_constant(p):
        """Return the entropy of p."""
        return entr(p) + entr(1 - p)
