"""How good a clustering of mentions is, whatever the model believes of it."""

import numpy as np


def _overlaps(truth, found):
    """Return how many mentions each true and each found cluster share."""
    rows = np.unique(truth, return_inverse=True)[1]
    columns = np.unique(found, return_inverse=True)[1]
    table = np.zeros((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1))
    np.add.at(table, (rows, columns), 1.0)
    return table


def _f(right, found, true):
    """Return the harmonic mean of precision and recall from three sums."""
    precision = right[0] / found if found else 0.0
    recall = right[1] / true if true else 0.0
    return 2 * precision * recall / (precision + recall) if right[0] else 0.0


def b_cubed(truths, founds):
    """Return B-cubed F: how much mentions share of their clusters, on average."""
    precise = recalled = mentions = 0.0
    for truth, found in zip(truths, founds, strict=True):
        shared = _overlaps(truth, found)
        square = shared**2
        precise += (square.sum(axis=0) / shared.sum(axis=0)).sum()
        recalled += (square.sum(axis=1) / shared.sum(axis=1)).sum()
        mentions += shared.sum()
    return _f((precise, recalled), mentions, mentions)


def pairwise(truths, founds):
    """Return F of the pairs of mentions that are put together."""
    right = found_pairs = true_pairs = 0.0
    for truth, found in zip(truths, founds, strict=True):
        shared = _overlaps(truth, found)
        right += (shared * (shared - 1) / 2).sum()
        for axis in (0, 1):
            size = shared.sum(axis=axis)
            total = (size * (size - 1) / 2).sum()
            found_pairs += total * (axis == 0)
            true_pairs += total * (axis == 1)
    return _f((right, right), found_pairs, true_pairs)
