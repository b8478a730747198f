"""Sequences of every form of the contract, in the form CRFsuite reads."""

from collections.abc import Mapping
from contextlib import contextmanager
from itertools import pairwise, zip_longest

import numpy as np
from scipy import sparse

from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_sequences, is_numeric_sequence

_STRINGS = frozenset({str, np.str_})
_MISSING = object()


class ItemReader:
    """Turns sequences into lists of tokens that CRFsuite can read.

    A token becomes a list of feature strings or a dict from feature to value. Columns
    of numeric sequences are called ``x0``, ``x1``, and so on; zeros are left out.

    Parameters
    ----------
    n_columns : int or None
        How many columns a numeric sequence must have; if None, the first one decides.
    """

    def __init__(self, n_columns=None):
        self.n_columns = n_columns

    def read_all(self, X):
        """Yield the tokens of every sequence."""
        for s, sequence in enumerate(self.sequences(X)):
            yield self.read(sequence, s)

    def sequences(self, X):
        """Return an iterable of sequences, or say why `X` is none."""
        if not isinstance(X, SequenceBatch):
            return check_sequences(X)
        # Names say what a feature is, so a batch of any encoder can be read.
        if X.vocabulary is None:
            self._check_columns(X.n_features, "the batch")
        return X.to_lists()

    def read(self, sequence, s):
        """Return the tokens of sequence number `s`."""
        if is_numeric_sequence(sequence):
            return self._read_rows(sparse.csr_array(sequence), s)
        if isinstance(sequence, (str, bytes, dict)) or not hasattr(
            sequence, "__iter__"
        ):
            raise TypeError(
                f"sequence {s} is {_describe(sequence)}, not a list of tokens"
            )
        return [_read_token(token, s, t) for t, token in enumerate(sequence)]

    def _check_columns(self, n_columns, where):
        if self.n_columns is None:
            self.n_columns = n_columns
        if n_columns != self.n_columns:
            raise ValueError(
                f"{where} has {n_columns} columns where {self.n_columns} are expected"
            )

    def _read_rows(self, rows, s):
        """Return the rows of a CSR matrix as dicts."""
        self._check_columns(rows.shape[1], f"sequence {s}")
        bad = np.flatnonzero(~np.isfinite(rows.data))
        if bad.size:
            t = np.searchsorted(rows.indptr, bad[0], side="right") - 1
            raise ValueError(
                f"sequence {s}, token {t}, column {rows.indices[bad[0]]} is "
                f"{rows.data[bad[0]]}; values must be finite"
            )
        names = [f"x{column}" for column in rows.indices.tolist()]
        pairs = list(zip(names, rows.data.tolist(), strict=True))
        return [
            {name: float(value) for name, value in pairs[start:end] if value}
            for start, end in pairwise(rows.indptr.tolist())
        ]


def _read_token(token, s, t):
    """Return a token as a list of strings or as a dict; say what is wrong with it."""
    if isinstance(token, str):
        return [token]
    if isinstance(token, Mapping):
        return _read_dict(token, s, t)
    if isinstance(token, (bytes, int, float)) or not hasattr(token, "__iter__"):
        raise TypeError(
            f"sequence {s}, token {t} is {_describe(token)}; a token is a list of "
            "feature strings, a dict, or a string"
        )
    return _read_names(token, s, t)


def _read_names(names, s, t):
    names = names if isinstance(names, list) else list(names)
    # One set operation a token is cheaper than an isinstance call a feature.
    if not _STRINGS.issuperset(map(type, names)):
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    f"sequence {s}, token {t} has the feature {_describe(name)}; "
                    "features are strings (for numbers use a dict, or a 2-D array "
                    "per sequence)"
                )
    return names


def _read_dict(features, s, t):
    """Return a dict of checked values: strings, numbers, dicts and lists."""
    _read_names(list(features), s, t)
    return {
        name: value if type(value) is str else _read_value(name, value, s, t)
        for name, value in features.items()
    }


def _read_value(name, value, s, t):
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _read_dict(value, s, t)
    if isinstance(value, (list, set, frozenset, tuple)):
        return _read_names(value, s, t)
    try:
        if isinstance(value, bytes):
            raise TypeError
        number = float(value)
    except OverflowError:
        number = np.inf
    except (TypeError, ValueError):
        raise TypeError(
            f"sequence {s}, token {t}: the value of feature {name!r} is "
            f"{_describe(value)}; it must be a string, a number, a bool, or a dict, "
            "list or set of those"
        ) from None
    if not np.isfinite(number):
        raise ValueError(
            f"sequence {s}, token {t}: the value of feature {name!r} is {number}; "
            "values must be finite"
        )
    return number


def _describe(thing):
    text = repr(thing)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{text} ({type(thing).__name__})"


def read_labels(row, s):
    """Return the labels of sequence number `s` as a list of strings."""
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise TypeError(
            f"the labels of sequence {s} are {_describe(row)}, not a list of strings"
        )
    labels = row.tolist() if isinstance(row, np.ndarray) else list(row)
    for t, label in enumerate(labels):
        if not isinstance(label, str):
            raise TypeError(
                f"the label of sequence {s}, token {t} is {_describe(label)}; labels "
                "are strings"
            )
        # CRFsuite would cut the label there.
        if "\0" in label:
            raise ValueError(
                f"the label of sequence {s}, token {t} is {label!r}; CRFsuite cannot "
                "store a NUL character"
            )
    return labels


def read_pairs(X, y, reader):
    """Yield number, tokens and labels of every sequence, checked by each other."""
    if isinstance(y, (str, bytes)) or not hasattr(y, "__iter__"):
        raise TypeError(f"y is {_describe(y)}, not a list of label sequences")
    both = zip_longest(reader.sequences(X), y, fillvalue=_MISSING)
    for s, (sequence, row) in enumerate(both):
        if sequence is _MISSING or row is _MISSING:
            rest = 1 + sum(1 for _ in both)
            n_X, n_y = (s, s + rest) if sequence is _MISSING else (s + rest, s)
            raise ValueError(f"X has {n_X} sequences but y has {n_y}")
        tokens, labels = reader.read(sequence, s), read_labels(row, s)
        if len(tokens) != len(labels):
            raise ValueError(
                f"sequence {s} has {len(tokens)} tokens but {len(labels)} labels"
            )
        yield s, tokens, labels


@contextmanager
def located(s):
    """Name the sequence in errors that come out of CRFsuite's own reading."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise ValueError(f"sequence {s} cannot be read by CRFsuite: {error}") from error
