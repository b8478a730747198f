"""Drawn outcomes and their sums in cells, word by word."""

from itertools import pairwise

import numpy as np


def mixed(normal, common, group, own, shared):
    """Return the number of each word in each draw."""
    return np.float32(own) * normal + np.float32(shared) * common[:, group]


def draw_right(normal, common, group, own, shared, limits, weight, starts):
    """Return the weight of right words, (places, draws, cells)."""
    number = mixed(normal, common, group, own, shared)
    right = weight * (number[None] <= limits[:, None])
    cells = [right[..., a:b].sum(axis=2) for a, b in pairwise(starts)]
    return np.stack(cells, axis=2)


def draw_classes(normal, common, group, own, shared, limits, cells, weight, n_cells):
    """Return the weight of words in cells of drawn classes, (places, draws, cells)."""
    number = mixed(normal, common, group, own, shared)
    right = np.zeros((len(limits), len(normal), n_cells))
    for place, draw, word in np.ndindex(len(limits), *number.shape):
        within = np.flatnonzero(number[draw, word] <= limits[place, word, :-1])
        tried = within[0] if len(within) else limits.shape[2] - 1
        if cells[word, tried] >= 0:
            right[place, draw, cells[word, tried]] += weight[word]
    return right
