"""Isotonic regression: pool words until accuracy rises with confidence; ties."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

# Half a right and half a wrong word in each block (Jeffreys), so that none is certain.
JEFFREYS = 0.5


class Ties:
    """The distinct confidences, and which of them each word has.

    Words of equal confidence count as one, so that their order cannot matter.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Any numbers but NaN.

    Attributes
    ----------
    values : ndarray of shape (n_ties,)
        The distinct confidences, rising.
    code : ndarray of int of shape (n,)
        Place of each word's confidence among them.
    """

    def __init__(self, confidence):
        self.values, self.code = np.unique(confidence, return_inverse=True)

    def mass(self, weight):
        """Return the summed weight of the words of each confidence, or their number."""
        return np.bincount(self.code, weight, len(self.values))

    def sums(self, weight, y):
        """Return the summed weights of all words and of the right ones."""
        return self.mass(weight), self.mass(weight * y)


class Blocks(NamedTuple):
    """Neighbouring confidences that share one accuracy, which rises block by block."""

    first: np.ndarray  # (n_blocks,) place of the first confidence of the block
    mass: np.ndarray  # (n_blocks,) summed weight
    right: np.ndarray  # (n_blocks,) summed weight of the right words


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
    return block_accuracy(q, y, weight, extra=JEFFREYS)


def steps_between(start, goal):
    """Return the steps from probabilities to others, and some where they are equal."""
    step = goal - start
    if np.abs(step).max() > 1e-9:
        return step
    return np.where(start <= 0.5, 1.0, -1.0) / np.sqrt(len(start))
