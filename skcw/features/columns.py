"""Names of the columns of tokens, given or by default."""

import re
from collections.abc import Mapping, Set
from itertools import chain

from skcw._util.checks import check_sequence, refuse_table
from skcw.data.columns import TokenColumns, default_names


class ColumnNames:
    """The names and positions of the columns that tokens have.

    Parameters
    ----------
    names : sequence of str
        One name for each column.
    """

    def __init__(self, names):
        self.names = list(names)

    def __call__(self, name):
        """Return the position of a column, or None; the first is always ``word``."""
        if name in self.names:
            return self.names.index(name)
        return 0 if name == "word" and self.names else None


def is_sequence(thing):
    """Tell whether a thing can be a list of tokens, or of sequences."""
    return hasattr(thing, "__iter__") and not isinstance(thing, (str, bytes, Mapping))


def look_ahead(X):
    """Return X with nothing lost, and its first token (None if there is none)."""
    if isinstance(X, TokenColumns):
        return X, None
    refuse_table(X, "X")
    if not is_sequence(X) or isinstance(X, Set):
        raise TypeError(f"X is a {type(X).__name__}, not a list of sequences")
    sequences, head = iter(X), []
    for s, sequence in enumerate(sequences):
        refuse_table(sequence, f"sequence {s}")
        if not is_sequence(sequence):
            raise TypeError(
                f"sequence {s} is a {type(sequence).__name__}, not a list of tokens: X "
                "is a list of sentences, each a list of tokens"
            )
        check_sequence(sequence, s)
        sequence = sequence if hasattr(sequence, "__len__") else list(sequence)
        head.append(sequence)
        if len(sequence):
            return chain(head, sequences), next(iter(sequence))
    return head, None


def names_of(X, first, given):
    """Return the names of the columns of X, whose first token is `first`."""
    if isinstance(X, TokenColumns):
        found = X.names or default_names(X.n_columns)
    elif isinstance(first, Mapping):
        return list(given) if given else list(first)
    elif first is None:
        found = default_names(2)
    else:
        n_columns = 1 if isinstance(first, str) else _width(first)
        found = default_names(n_columns)
    if given is None:
        return list(found)
    if len(given) > len(found):
        raise ValueError(
            f"columns names {len(given)} columns ({', '.join(given)}), but the tokens "
            f"have {len(found)}"
        )
    return [*given, *list(found)[len(given) :]]


def _width(token):
    try:
        return len(token)
    except TypeError:
        raise TypeError(
            f"the first token is {token!r}; a token is a word, a tuple of columns or a "
            "dict"
        ) from None


def check_order(X, columns):
    """Raise if columns that have names stand in another order than they had in fit.

    Parameters
    ----------
    X : TokenColumns
        The sentences.
    columns : list of str
        The names of the columns in ``fit``.
    """
    for position, name in enumerate(columns):
        if X.names and name in X.names and X.names.index(name) != position:
            raise ValueError(
                f"the columns of X are {', '.join(X.names)}, those of fit were "
                f"{', '.join(columns)}; X.select([...]) puts them in order"
            )


def check_names(columns):
    """Raise unless names of columns can stand in a line of features."""
    if columns is None:
        return
    if isinstance(columns, str) or not all(
        isinstance(name, str) and re.fullmatch(r"[^\W\d]\w*", name) for name in columns
    ):
        raise ValueError(
            f"columns must be a list of names such as ['word', 'pos'], got {columns!r}"
        )
    if len(set(columns)) < len(list(columns)):
        raise ValueError(f"columns has a name twice: {list(columns)}")
