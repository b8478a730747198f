"""Which features of a token a hidden Markov model reads."""

import numpy as np

from skcw._limits import LARGEST_COUNT, LEAST_COUNT


def check_values(batch):
    """Return a batch; raise if a value is no count, or too large or small for one."""
    compact = batch.compact()
    if compact.values is None:
        return batch
    size = np.abs(compact.values)
    usable = (size == 0) | ((size >= LEAST_COUNT) & (size <= LARGEST_COUNT))
    bad = np.flatnonzero((compact.values < 0) | ~usable)
    if len(bad):
        token = np.searchsorted(compact.indptr, bad[0], side="right") - 1
        s = np.searchsorted(compact.offsets, token, side="right") - 1
        raise ValueError(
            f"sequence {s}, token {token - compact.offsets[s]} has the feature value "
            f"{compact.values[bad[0]]}; a hidden Markov model counts features, so "
            f"values must be 0 or from {LEAST_COUNT:g} to {LARGEST_COUNT:g}"
        )
    return batch


def is_read(vocabulary, n_features, prefix):
    """Tell which features begin with a prefix.

    Parameters
    ----------
    vocabulary : Vocabulary or None
        The names; None for numeric columns.
    n_features : int
        The number of features.
    prefix : str or None
        The prefix; None reads everything.

    Returns
    -------
    read : ndarray of bool, shape (n_features,)
        Whether each feature is read.
    """
    if not prefix:
        return np.ones(n_features, dtype=bool)
    if vocabulary is None:
        raise ValueError(
            f"word_prefix is {prefix!r}, but numeric columns have no names"
        )
    wanted = np.frombuffer(prefix.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    starts, lengths = vocabulary.ends[:-1], np.diff(vocabulary.ends)
    read = lengths >= len(wanted)
    letters = vocabulary.blob[starts[read][:, None] + np.arange(len(wanted))]
    read[read] = (letters == wanted).all(axis=1)
    return read


def words_of(vocabulary, numbers, prefix):
    """Return the words that features stand for; None where they have no names."""
    if vocabulary is None:
        return None
    start = len(prefix or "")
    return [vocabulary[number][start:] for number in numbers.tolist()]
