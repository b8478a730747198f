"""Words pooled until their accuracy rises with their confidence."""

from typing import NamedTuple

import numpy as np

from skcw._kernels.pooling import pool_violators


class Blocks(NamedTuple):
    """Neighbouring confidences that share one accuracy, which rises block by block."""

    first: np.ndarray  # (n_blocks,) place of the first confidence of the block
    mass: np.ndarray  # (n_blocks,) summed weight
    right: np.ndarray  # (n_blocks,) summed weight of the right words


def isotonic_blocks(mass, right):
    """Return the blocks of sums that are sorted by confidence.

    The accuracies of the blocks are the rising function of the confidence with the
    least weighted square error, and the best one for every proper score as well.
    """
    n = len(mass)
    first = np.empty(n, dtype=np.int64)
    block_mass, block_right = np.empty(n), np.empty(n)
    n_blocks = pool_violators(mass, right, first, block_mass, block_right)
    return Blocks(first[:n_blocks], block_mass[:n_blocks], block_right[:n_blocks])
