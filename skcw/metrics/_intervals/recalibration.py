"""What the probabilities should have been, as far as the outcomes tell."""

import numpy as np

from skcw.metrics._cores.pooling import isotonic_blocks
from skcw.metrics._cores.ties import Ties

# Half a right and half a wrong word in each block (Jeffreys), so that none is certain.
HALF = 0.5


def block_accuracy(q, y, weight, extra=0.0):
    """Return for each word the accuracy of its block of an isotonic regression.

    Each block gets ``extra`` right and as many wrong words more.
    """
    ties = Ties(q)
    mass, right = ties.sums(weight, y)
    blocks = isotonic_blocks(mass, right)
    accuracy = (blocks.right + extra) / (blocks.mass + 2 * extra)
    block = np.searchsorted(blocks.first, np.arange(len(mass)), side="right") - 1
    return accuracy[np.maximum(block, 0)][ties.code]


def recalibrated(q, y, weight):
    """Return a probability for each word, isotonic in its confidence, never 0 or 1."""
    return block_accuracy(q, y, weight, extra=HALF)


def directed(start, goal):
    """Return the steps from probabilities to others, and some where they are equal."""
    step = goal - start
    if np.abs(step).max() > 1e-9:
        return step
    return np.where(start <= 0.5, 1.0, -1.0) / np.sqrt(len(start))
