"""Words that lie in the same bins with the same parts, summed as one."""

from typing import NamedTuple

import numpy as np
from scipy import sparse


class Cells(NamedTuple):
    """Words sorted by cell, and which bins the cells make up."""

    order: np.ndarray  # (n_words,) the words, cell by cell
    starts: np.ndarray  # (n_cells + 1,) where the words of each cell begin
    part: sparse.csr_matrix  # (n_bins, n_cells) which part of a cell lies in a bin

    @property
    def of_word(self):
        """The cell of each word."""
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
    """Return the cells of words of which bins hold parts, (n_bins, n_words) sparse.

    Words that lie whole in a bin make up one cell. Words of equal confidence that a
    border divides have the same parts, and a cell of their own. Words in no bin, which
    have no weight, are put into the first cell.
    """
    by_word = sparse.csc_matrix(shares)
    n_bins, n_words = by_word.shape
    n_parts = np.diff(by_word.indptr)
    first_bin = np.zeros(n_words, dtype=np.intp)
    first_bin[n_parts > 0] = by_word.indices[by_word.indptr[:-1][n_parts > 0]]
    value = np.unique(confidence, return_inverse=True)[1]
    key = np.where(n_parts > 1, n_bins + value, first_bin)
    order = np.argsort(key, kind="stable")
    _, first = np.unique(key[order], return_index=True)
    starts = np.append(first, n_words).astype(np.intp)
    # A word without weight does not stand for its cell.
    held = np.maximum.reduceat(np.where(n_parts[order] > 0, order, -1), first)
    part = by_word[:, np.maximum(held, 0)].tocsr()
    return Cells(order, starts, part)
