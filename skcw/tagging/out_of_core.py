"""Training out of core: a corpus that is read once, into blocks on disk."""

import re
from contextlib import contextmanager
from numbers import Integral
from tempfile import TemporaryDirectory

from skcw._model.spilling import Budget, Spiller

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
LEAST_MEMORY = 1 << 20


def bytes_of(memory):
    """Return the number of bytes that a size such as "2G" stands for.

    Parameters
    ----------
    memory : int or str
        A number of bytes, or a number and K, M, G or T.

    Returns
    -------
    n_bytes : int
        The bytes.

    Examples
    --------
    >>> from skcw.tagging.out_of_core import bytes_of
    >>> bytes_of("1.5M")
    1572864
    """
    found = re.fullmatch(
        r"(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?", str(memory).strip().upper()
    )
    if isinstance(memory, bool) or found is None:
        raise ValueError(
            f"memory is {memory!r}; it must be a number of bytes, or a size such as "
            "'500M' or '2G'"
        )
    n_bytes = int(float(found[1]) * _UNITS.get(found[2], 1))
    if n_bytes < LEAST_MEMORY:
        raise ValueError(f"memory is {memory!r}; at least 1M is needed")
    return n_bytes


@contextmanager
def spilled(source, tagger, learn, memory, max_features, min_count, folder):
    """Give a corpus in encoded blocks on disk, which are removed in the end.

    Parameters
    ----------
    source : callable or iterable
        Pairs of sequences and labels, or what returns them.
    tagger : OnlineTagger
        Who is going to learn.
    learn : callable
        ``learn(X, vocabulary)`` encodes sequences.
    memory : int or str
        How much memory may be used.
    max_features : int or None
        The most features to keep.
    min_count : int
        How often a feature must occur.
    folder : str, path-like or None
        Where to make a folder for the blocks; None is that of temporary files.

    Yields
    ------
    spilled : Spilled
        The corpus.
    """
    if max_features is not None and (
        not isinstance(max_features, Integral) or max_features < 1
    ):
        raise ValueError(f"max_features is {max_features!r}; it must be 1 or more")
    budget = Budget(bytes_of(memory), max_features, min_count)
    parts = source() if callable(source) else source
    if isinstance(parts, (str, bytes, dict)) or not hasattr(parts, "__iter__"):
        raise TypeError(
            f"the source gives a {type(parts).__name__}; it must be a function that "
            "returns an iterator of pairs (X, y): some sequences and their labels"
        )
    with TemporaryDirectory(prefix="skcw-", dir=folder) as place:
        spiller = Spiller(place, budget, learn, tagger.dtype)
        for number, part in enumerate(parts):
            if not isinstance(part, (tuple, list)) or len(part) != 2:
                raise TypeError(
                    f"part {number} of the source is a {type(part).__name__}; it must "
                    "be a pair (X, y): some sequences and their labels"
                )
            try:
                spiller.add(*part)
            except (TypeError, ValueError) as error:
                error.add_note(f"This is about part {number} of the source.")
                raise
        yield spiller.finish()._replace(folder=folder)


def check_streamable(tagger, dev=None):
    """Raise if a tagger asks for what needs all sequences at once."""
    if tagger.early_stopping is not False and dev is None:
        raise ValueError(
            "early_stopping would hold out a share of a corpus that is not in memory; "
            "give X_dev and y_dev instead"
        )
    if tagger.warm_start:
        raise ValueError("fit_stream starts anew; set warm_start to False")
