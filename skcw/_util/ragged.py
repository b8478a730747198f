"""Small helpers for rows of different lengths."""

from itertools import pairwise

import numpy as np


def object_rows(rows):
    """Return one row per sequence as a 1-D object array, whatever the lengths.

    ``np.array(rows, dtype=object)`` would give a 2-D array when all lengths agree.
    """
    return np.fromiter(rows, dtype=object)


def split_rows(flat, offsets):
    """Return ``flat[offsets[i]:offsets[i + 1]]`` for every i as a 1-D object array."""
    return object_rows([flat[start:stop] for start, stop in pairwise(offsets.tolist())])


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


def frozen(array):
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def own_copy(name, array, dtype):
    """Return a read-only copy: checks of it stay true."""
    try:
        given = np.asarray(array)
        copy = np.array(given, dtype=dtype, order="C")
        same = not np.issubdtype(dtype, np.integer) or np.array_equal(copy, given)
    except (TypeError, ValueError, OverflowError):
        same = False
    if not same:
        kind = "whole numbers" if np.issubdtype(dtype, np.integer) else "numbers"
        raise ValueError(f"{name} must be an array of {kind} that fit {dtype.__name__}")
    copy.flags.writeable = False
    return copy


def check_steps(name, steps, last):
    """Raise unless an array of offsets begins with 0, never falls and ends so."""
    if steps.ndim != 1:
        raise ValueError(f"{name} has the shape {steps.shape}; it must be flat")
    if not len(steps) or steps[0] != 0 or (steps[1:] < steps[:-1]).any():
        raise ValueError(f"{name} must begin with 0 and never fall")
    if steps[-1] != last:
        raise ValueError(f"{name} ends with {steps[-1]} instead of {last}")


def place_of(token, offsets, first=0, noun="sequence"):
    """Say where a token is, given where sequences begin and the first one's number."""
    sequence = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"{noun} {first + sequence}, token {token - offsets[sequence]}"


class RaggedRows:
    """Base of frozen collections of sequences of different lengths.

    A subclass sets ``offsets`` and gives ``_slice(start, stop)``, ``_take(positions)``
    and ``_row(position)``, the meaning of an integer index.
    """

    @property
    def shape(self):
        """One axis, which lets scikit-learn index the sequences like an array."""
        return (len(self),)

    @property
    def lengths(self):
        """The number of tokens of each sequence."""
        return np.diff(self.offsets)

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, key):
        if isinstance(key, tuple):
            # ``rows[key, ...]`` is the form that scikit-learn uses for arrays.
            if len(key) != 2 or key[1] is not Ellipsis:
                raise IndexError(f"{self!r} has one axis, that of the sequences")
            key = key[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._slice(start, max(start, stop))
            return self._take(np.arange(start, stop, step))
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            if not -len(self) <= key < len(self):
                raise IndexError(f"there is no sequence {key} in {self!r}")
            return self._row(int(key) % len(self))
        return self._take(self._positions(key))

    def _positions(self, key):
        """Return the positions that a list of integers or a mask stands for."""
        key = np.asarray(key)
        if key.dtype == bool and key.ndim == 1:
            if len(key) != len(self):
                raise IndexError(
                    f"the mask has {len(key)} entries for {len(self)} sequences"
                )
            return np.flatnonzero(key)
        key = key.astype(np.int64) if key.size == 0 else key
        if key.ndim != 1 or not np.issubdtype(key.dtype, np.integer):
            raise IndexError("index sequences by integers, a slice or a mask")
        if key.size and (key.min() < -len(self) or key.max() >= len(self)):
            raise IndexError(f"an index is out of range for {len(self)} sequences")
        return np.where(key < 0, key + len(self), key)
