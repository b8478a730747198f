"""Small helpers for rows of different lengths."""

import numpy as np


def object_rows(rows):
    """Return one row per sequence as a 1-D object array, whatever the lengths.

    ``np.array(rows, dtype=object)`` would give a 2-D array when all lengths agree.
    """
    rows = list(rows)
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def split_rows(flat, offsets):
    """Return ``flat[offsets[i]:offsets[i + 1]]`` for every i as a 1-D object array."""
    return object_rows(
        flat[start:stop]
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    )


def joined_ranges(starts, lengths):
    """Return ``concatenate([arange(s, s + n) for s, n in zip(starts, lengths)])``."""
    ends = np.cumsum(lengths)
    if not len(ends):
        return np.empty(0, dtype=np.int64)
    shift = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(ends[-1], dtype=np.int64) + shift


def offsets_of(lengths):
    """Return where each row begins when rows of these lengths are joined."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
