"""Sentences as columns of values, as files and data frames have them."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw._util.checks import check_sequence, refuse_table
from skcw._util.ragged import (
    RaggedRows,
    check_steps,
    frozen,
    joined_ranges,
    object_rows,
    offsets_of,
    own_copy,
    place_of,
)
from skcw.data.vocabulary import Vocabulary

# Ten columns, the last of which is for notes and often empty.
LAST_OF_CONLLU = 9


class TokenColumns(RaggedRows):
    """Sentences whose tokens have the same columns (word, POS, label...), frozen.

    Made by :func:`skcw.io.read_columns`, from a data frame by :meth:`from_frame`, or
    from lists by :meth:`from_sequences`. A value is kept as a number of four bytes, and
    its text once per column. The object has a length, can be sliced and fancy-indexed
    like an array of sentences, and so passes through cross-validation. Iteration, and
    an integer index, give a sentence as a list of tuples of strings, which any Python
    feature function can read.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Sentence s owns the tokens ``offsets[s]`` to ``offsets[s + 1]``.
    codes : ndarray of int32, shape (n_columns, n_tokens)
        The number of each token's value in each column.
    values : sequence of Vocabulary
        One for each column: token t has the text ``values[c][codes[c, t]]`` in
        column c.
    names : sequence of str, default=None
        The names of the columns.
    lines : ndarray of int64, shape (n_tokens,), default=None
        The line of the file that each token comes from, counted from one.

    Attributes
    ----------
    shape : tuple
        ``(n_sequences,)``, which lets scikit-learn index it like an array.

    See Also
    --------
    read_columns : Read a column file.
    read_json_lines : Read a file with one JSON object per sentence.

    Examples
    --------
    >>> from skcw.data import TokenColumns
    >>> X = TokenColumns.from_sequences(
    ...     [[("the", "DT"), ("cat", "NN")], [("Sit", "VB")]], names=["word", "pos"]
    ... )
    >>> X
    TokenColumns(2 sentences, 3 tokens, columns: word, pos)
    >>> X[0]
    [('the', 'DT'), ('cat', 'NN')]
    >>> X.column("word").tolist()
    [['the', 'cat'], ['Sit']]
    >>> X[1:].lengths
    array([1])
    """

    def __init__(
        self,
        offsets: ArrayLike,
        codes: ArrayLike,
        values: Sequence[Any],
        names: Iterable[Any] | None = None,
        lines: ArrayLike | None = None,
    ) -> None:
        # Copies, for the arrays are the caller's, who may change them later.
        self._store(
            own_copy("offsets", offsets, np.int64),
            own_copy("codes", codes, np.int32),
            tuple(values),
            None if names is None else tuple(names),
            None if lines is None else own_copy("lines", lines, np.int64),
        )
        self._check()

    @classmethod
    def from_sequences(
        cls, rows: Iterable[Any], names: Iterable[Any] | None = None
    ) -> Self:
        """Make columns from sequences of tuples of strings, or of plain strings.

        Parameters
        ----------
        rows : iterable of sequences, or TokenColumns
            A token is a tuple or list of strings, as many for each token, or a single
            string, which makes one column.
        names : sequence of str, default=None
            The names of the columns.

        Returns
        -------
        columns : TokenColumns
            The same tokens.
        """
        if isinstance(rows, TokenColumns):
            return rows if names is None else rows._renamed(names)
        refuse_table(rows, "X")
        lengths, tokens = [], []
        for s, row in enumerate(rows):
            check_sequence(row, s)
            before = len(tokens)
            tokens += [(t,) if isinstance(t, str) else t for t in row]
            lengths.append(len(tokens) - before)
        offsets = offsets_of(lengths)
        n_columns = _common_width(tokens, offsets, len(names or ()))
        texts = ([token[c] for token in tokens] for c in range(n_columns))
        return cls(offsets, *_coded(texts, n_columns, offsets), names)

    @classmethod
    def from_frame(
        cls, frame: Any, sentence: str | None = None, columns: Any = None
    ) -> Self:
        """Make columns from a data frame with one row per token.

        Parameters
        ----------
        frame : data frame
            Of pandas, polars, pyarrow or another library that narwhals knows. The
            rows of a sentence stand together, in the order of its words.
        sentence : str, default=None
            The column with the sentence of each row. A missing value means the sentence
            of the row above, as in files that name it once. By default a column
            called ``sentence_id``, ``sent_id``, ``sentence`` or ``Sentence #``, in any
            letter case.
        columns : dict or sequence of str, default=None
            The columns to keep: names in the order wanted, the word first, or
            ``{new name: name in the frame}``. By default all others, that
            of the words first. The features look for ``word`` and ``pos``; unless a
            dict says otherwise, a column called ``token`` or ``form`` is renamed to
            ``word``, and ``upos`` or ``pos_tags`` to ``pos``, in any letter case.

        Returns
        -------
        columns : TokenColumns
            The sentences, with the names of the columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from skcw.data import TokenColumns
        >>> frame = pd.DataFrame({
        ...     "sentence_id": [7, 7, 8],
        ...     "word": ["Ann", "left", "Stop"],
        ...     "label": ["B-PER", "O", "O"],
        ... })
        >>> X, y = TokenColumns.from_frame(frame).split_label("label")
        >>> X[0], y[0]
        ([('Ann',), ('left',)], ['B-PER', 'O'])
        """
        table = table_of(frame)
        sentence = sentence_column(table.columns, sentence)
        names = [name for name in table.columns if name != sentence]
        chosen = choose_columns(names, columns)
        texts = {new: _texts(table[name], name) for new, name in chosen.items()}
        starts, _ = sentence_starts(sentence_ids(table, sentence), "row {}".format)
        return columns_of_lists(np.diff([*starts, len(table)]), texts)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with one row per token.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            The library; by default the first of these that is installed.

        Returns
        -------
        frame : data frame
            With ``sentence_id``, counted from 0, and the columns, called ``word``,
            ``pos``, ``x2``... if they have no names.
        """
        return frame_of(token_rows(self), backend)

    def _renamed(self, names):
        return TokenColumns(self.offsets, self.codes, self.values, names, self.lines)

    def _store(self, offsets, codes, values, names, lines):
        """Keep read-only views: compiled code relies on the checks."""
        self.offsets = frozen(offsets)
        self.codes = frozen(codes)
        self.values = values
        self.names = names
        self.lines = None if lines is None else frozen(lines)

    def _check(self):
        """Raise unless the arrays fit together."""
        if self.codes.ndim != 2 or len(self.codes) != len(self.values):
            raise ValueError(
                f"codes has the shape {self.codes.shape}; it must have one row for "
                f"each of the {len(self.values)} vocabularies in values"
            )
        for c, values in enumerate(self.values):
            if not isinstance(values, Vocabulary):
                raise TypeError(f"values[{c}] is {values!r}; it must be a Vocabulary")
        n_tokens = self.codes.shape[1]
        check_steps("offsets", self.offsets, n_tokens)
        for c, (codes, values) in enumerate(zip(self.codes, self.values, strict=True)):
            if n_tokens and not (codes.min() >= 0 and codes.max() < len(values)):
                raise ValueError(f"codes[{c}] must lie between 0 and {len(values) - 1}")
        if self.names is not None:
            check_names(self.names, len(self.values))
        if self.lines is not None and self.lines.shape != (n_tokens,):
            raise ValueError("lines must be one number for each token")

    @property
    def n_tokens(self):
        """The number of tokens in all."""
        return self.codes.shape[1]

    @property
    def n_columns(self):
        """The number of columns."""
        return len(self.codes)

    def __iter__(self):
        texts = [values.names() for values in self.values]
        for first, last in pairwise(self.offsets.tolist()):
            rows = self.codes[:, first:last].tolist()
            yield _tokens(map(texts[c].__getitem__, row) for c, row in enumerate(rows))

    def _row(self, position):
        """Return a sentence as a list of tuples."""
        first, last = self.offsets[position : position + 2]
        rows = self.codes[:, first:last].tolist()
        return _tokens(
            map(self.values[c].__getitem__, row) for c, row in enumerate(rows)
        )

    def _slice(self, start, stop):
        return self._take(np.arange(start, stop, dtype=np.int64))

    def _take(self, positions):
        lengths = self.lengths[positions]
        tokens = joined_ranges(self.offsets[positions], lengths)
        taken = TokenColumns.__new__(TokenColumns)
        taken._store(
            offsets_of(lengths),
            np.ascontiguousarray(self.codes[:, tokens]),
            self.values,
            self.names,
            None if self.lines is None else self.lines[tokens],
        )
        return taken

    def _number(self, column):
        """Return the number of a column given by number or name."""
        if isinstance(column, str):
            # Those without names have the ones that features call them by.
            names = list(self.names or default_names(self.n_columns))
            if column not in names:
                raise KeyError(f"no column {column!r}; {listed_names(names)}")
            return names.index(column)
        if not -self.n_columns <= column < self.n_columns:
            raise IndexError(f"no column {column}; there are {self.n_columns}")
        return int(column) % self.n_columns

    def column(self, column: int | str) -> np.ndarray:
        """Return one column, given by number or name, as one list per sentence.

        Parameters
        ----------
        column : int or str
            Its number, from the end if negative, or its name.

        Returns
        -------
        texts : ndarray of object, shape (n_sequences,)
            A list of strings for each sentence.
        """
        column = self._number(column)
        texts = self.values[column].names()
        flat = [texts[code] for code in self.codes[column].tolist()]
        return object_rows(flat[a:b] for a, b in pairwise(self.offsets.tolist()))

    def words(self) -> np.ndarray:
        """Return the column called ``word``, or else the first one.

        Returns
        -------
        words : ndarray of object, shape (n_sequences,)
            A list of strings for each sentence.
        """
        named = self.names is not None and "word" in self.names
        return self.column("word" if named else 0)

    def select(self, columns: Sequence[Any]) -> Self:
        """Return some of the columns, in the order given, by numbers or names.

        Parameters
        ----------
        columns : sequence of int or str
            Numbers, from the end if negative, or names: those that features call
            columns by (``word``, ``pos``, ``x2``...) if they have none of their own.

        Returns
        -------
        selected : TokenColumns
            The same sentences with these columns.
        """
        if isinstance(columns, (str, int)):
            raise TypeError(f"columns is {columns!r}; give a list of numbers or names")
        numbers = [self._number(column) for column in columns]
        names = self.names
        if names is None and any(isinstance(column, str) for column in columns):
            names = default_names(self.n_columns)
        return TokenColumns(
            self.offsets,
            self.codes[numbers],
            [self.values[c] for c in numbers],
            None if names is None else [names[c] for c in numbers],
            self.lines,
        )

    def split_label(self, label: int | str = -1) -> tuple[Any, ...]:
        """Return the columns without that of the labels, and the labels.

        Parameters
        ----------
        label : int or str, default=-1
            The label column, by number or name.

        Returns
        -------
        X : TokenColumns
            The other columns.
        y : ndarray of object, shape (n_sequences,)
            A list of labels for each sentence.

        Raises
        ------
        ValueError
            If it is the last column of CoNLL-U, and holds nothing but ``_``.
        """
        label = self._number(label)
        if label == LAST_OF_CONLLU and self.values[label].names() == ["_"]:
            raise ValueError(
                f"column {label} holds nothing but _, which is not a label; name the "
                "column of the labels: split_label(...)"
                + (f"; the columns are {', '.join(self.names)}" if self.names else "")
            )
        others = [c for c in range(self.n_columns) if c != label]
        return self.select(others), self.column(label)

    def __getstate__(self):
        return vars(self).copy()

    def __setstate__(self, state):
        self._store(**state)

    def __repr__(self):
        named = f"columns: {', '.join(self.names)}" if self.names else None
        return (
            f"TokenColumns({len(self)} sentences, {self.n_tokens} tokens, "
            f"{named or f'{self.n_columns} columns'})"
        )


def check_names(names, n_columns):
    """Raise unless there is one distinct name per column."""
    if len(names) != n_columns:
        raise ValueError(f"names has {len(names)} names for {n_columns} columns")
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be strings, not {list(names)}")
    if len(set(names)) != len(names):
        raise ValueError(f"names must differ from each other, not {list(names)}")


def _tokens(columns):
    return list(zip(*columns, strict=True))


def _common_width(tokens, offsets, default):
    """Return how many columns all tokens have."""
    if not tokens:
        return default
    width = None
    for t, token in enumerate(tokens):
        if not isinstance(token, (tuple, list)):
            raise TypeError(
                f"{place_of(t, offsets)} is {token!r}; a token is a tuple of strings "
                "or a string"
            )
        width = len(token) if width is None else width
        if len(token) != width:
            raise ValueError(
                f"{place_of(t, offsets)} has {len(token)} columns where {width} are "
                "expected, as many as the first token has"
            )
    return width


def _coded(texts, n_columns, offsets):
    """Return the codes of columns of texts, and the values that they stand for."""
    codes, values = np.empty((n_columns, offsets[-1]), dtype=np.int32), []
    for c, column in enumerate(texts):
        seen = {}
        codes[c] = [seen.setdefault(text, len(seen)) for text in column]
        for code, value in enumerate(seen):
            if not isinstance(value, str):
                place = place_of(int(np.argmax(codes[c] == code)), offsets)
                raise TypeError(
                    f"{place} has {value!r} in column {c}; values must be strings"
                )
        values.append(Vocabulary.from_names(seen))
    return codes, values


# Our name of a column -> other names of it, in any letter case.
OTHER_NAMES = {
    "word": ("word", "token", "form", "words", "tokens"),
    "pos": ("pos", "pos_tags", "pos_tag", "upos", "xpos"),
}
SENTENCE_NAMES = ("sentence_id", "sent_id", "sentence", "sentence #", "sentence_no")


def find_name(names, wanted):
    """Return the first name that is one of those wanted, in any letter case, or None.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.
    wanted : sequence of str
        Names in lower case, the best first.

    Returns
    -------
    name : str or None
        The name as the table has it.

    Examples
    --------
    >>> from skcw.data.columns import SENTENCE_NAMES, find_name
    >>> find_name(["Word", "Sentence #"], SENTENCE_NAMES)
    'Sentence #'
    """
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next((lower[name] for name in wanted if name in lower), None)


def choose_columns(names, columns=None):
    """Return the columns of a table to keep, with their new names.

    Parameters
    ----------
    names : sequence of str
        The columns of the table, without that of the sentences.
    columns : dict, sequence of str or None, default=None
        {new name: name in the table}; or names, in the order wanted; or
        all, the word first.

    Returns
    -------
    chosen : dict of str to str
        {new name: name in the table}.

    Examples
    --------
    >>> from skcw.data.columns import choose_columns
    >>> choose_columns(["POS", "Word", "Tag"])
    {'word': 'Word', 'pos': 'POS', 'Tag': 'Tag'}
    """
    if isinstance(columns, Mapping):
        chosen = dict(columns)
    else:
        if isinstance(columns, str):
            raise TypeError(f"columns is {columns!r}; give a list of names or a dict")
        kept = list(names if columns is None else columns)
        _check_known(kept, names)
        known = {new: find_name(kept, others) for new, others in OTHER_NAMES.items()}
        if columns is None and known["word"] is not None:
            kept.remove(known["word"])
            kept.insert(0, known["word"])
        new_names = {old: new for new, old in known.items() if new not in kept}
        chosen = {new_names.get(name, name): name for name in kept}
    _check_known(chosen.values(), names)
    if not chosen:
        raise ValueError("there is no column of words besides that of the sentences")
    return chosen


def _check_known(wanted, names):
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; {listed_names(names)}")


def default_names(n_columns):
    """Return the default names of columns."""
    return [*("word", "pos")[:n_columns], *(f"x{c}" for c in range(2, n_columns))]


def listed_names(names):
    """Return the names of columns as the end of a message."""
    return f"the columns are {', '.join(map(repr, names))}"


def sentence_starts(ids, row_name):
    """Return where sentences begin: where the identifier of a row changes.

    Parameters
    ----------
    ids : sequence
        An identifier for each row; None means that of the row before.
    row_name : callable
        Takes the number of a row and returns how to name it.

    Returns
    -------
    starts : list of int
        The first row of each sentence.
    keys : list
        The identifier of each sentence.

    Examples
    --------
    >>> from skcw.data.columns import sentence_starts
    >>> sentence_starts(["a", "a", "b", None], "row {}".format)
    ([0, 2], ['a', 'b'])
    """
    starts, keys, where = [], [], {}
    for row, key in enumerate(ids):
        if key is None:
            if not row:
                raise ValueError(f"{row_name(0)} has no sentence")
            continue
        if keys and key == keys[-1]:
            continue
        if key in where:
            raise ValueError(
                f"{row_name(row)} is of sentence {key!r} again, which began in "
                f"{row_name(where[key])} and ended before another one; put the rows of "
                "each sentence together (a stable sort by the sentence does it)"
            )
        where[key] = row
        starts.append(row)
        keys.append(key)
    return starts, keys


def columns_of_lists(lengths, texts, lines=None):
    """Return named columns from flat lists of strings.

    Parameters
    ----------
    lengths : sequence of int
        The number of tokens of each sentence.
    texts : dict of str to list of str
        The values of all tokens by the name of their column.
    lines : sequence of int, default=None
        The line that each token comes from.

    Returns
    -------
    columns : TokenColumns
        The sentences.

    Examples
    --------
    >>> from skcw.data.columns import columns_of_lists
    >>> columns_of_lists([2, 1], {"word": ["the", "cat", "Sit"]})[0]
    [('the',), ('cat',)]
    """
    offsets = offsets_of(lengths)
    coded = _coded(texts.values(), len(texts), offsets)
    return TokenColumns(offsets, *coded, list(texts), lines)


# The libraries of data frames that we can make one of, the first choice first.
BACKENDS = ("pandas", "polars", "pyarrow")


def table_of(frame):
    """Return a frame in the form of narwhals."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(frame):
        lazy = (
            " (a lazy one: call collect() first)" if hasattr(frame, "collect") else ""
        )
        raise TypeError(
            f"the frame is a {type(frame).__name__}{lazy}; it must be a data frame of "
            "pandas, polars or another library that narwhals knows"
        )
    table = nw.from_native(frame, eager_only=True)
    odd = [name for name in table.columns if not isinstance(name, str)]
    if odd:
        raise TypeError(f"the frame has the column {odd[0]!r}; names must be strings")
    return table


def sentence_column(names, given):
    """Return the column of a frame with the sentence of each row."""
    found = find_name(names, SENTENCE_NAMES) if given is None else given
    if found is None:
        raise ValueError(
            "the column with the sentence of each row is unknown: pass sentence=...; "
            + listed_names(names)
        )
    if found not in names:
        raise ValueError(
            f"the frame has no column {found!r} for the sentences; "
            f"{listed_names(names)} (an index becomes a column by reset_index())"
        )
    return found


def sentence_ids(table, sentence):
    """Return the sentence of each row; None for that of the row before."""
    ids = table[sentence]
    return [
        None if missing else key
        for key, missing in zip(ids.to_list(), ids.is_null().to_list(), strict=True)
    ]


def _texts(series, name):
    """Return a column as a list of strings, or say why it holds none."""
    missing = series.is_null().to_numpy()
    if missing.any():
        raise ValueError(
            f"row {int(missing.argmax())} has no value in column {name!r}; write _ for "
            "no value. pandas takes words such as NA, null and None for missing ones "
            "by default: use read_csv(..., keep_default_na=False)"
        )
    values = series.to_list()
    if series.dtype.is_integer():
        return list(map(str, values))
    for row, value in enumerate(values):
        if isinstance(value, str):
            continue
        raise TypeError(_not_text(row, name, value))
    return values


def _not_text(row, name, value):
    if hasattr(value, "__len__"):
        return (
            f"row {row} has a {type(value).__name__} in column {name!r}: such a frame "
            f"has one row per sentence. Give its columns to fit as they are, "
            f"df[{name!r}].tolist(), or make one row per token by df.explode([...])"
        )
    return (
        f"row {row} has {value!r} in column {name!r}; values must be strings or whole "
        "numbers. Leave it out by columns=[...], or turn it into a few strings"
    )


def frame_of(data, backend=None):
    """Return a data frame.

    Parameters
    ----------
    data : dict of str to list or ndarray
        The columns.
    backend : {"pandas", "polars", "pyarrow"}, default=None
        The library; by default the first of these that is installed.

    Returns
    -------
    frame : data frame
        Of that library.
    """
    import narwhals as nw

    if backend is None:
        backend = next((name for name in BACKENDS if find_spec(name)), None)
        if backend is None:
            raise ImportError("a data frame needs pandas, polars or pyarrow")
    elif backend not in BACKENDS:
        raise ValueError(
            f"backend is {backend!r}; it must be one of {', '.join(BACKENDS)}"
        )
    columns = {name: list(values) for name, values in data.items()}
    return nw.from_dict(columns, backend=backend).to_native()


def token_rows(columns):
    """Return token columns as columns of a frame with one row per token."""
    names = columns.names or default_names(columns.n_columns)
    rows = {"sentence_id": np.repeat(np.arange(len(columns)), columns.lengths)}
    for c, name in enumerate(names):
        rows[name] = list(chain.from_iterable(columns.column(c)))
    return rows
