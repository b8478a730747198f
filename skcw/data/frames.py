"""Data frames in and out: pandas, polars and others, through narwhals."""

from importlib.util import find_spec
from itertools import chain

import numpy as np

from skcw._util.checks import check_same_length, check_same_lengths
from skcw.data.columns import (
    SENTENCE_NAMES,
    choose_columns,
    columns_of_lists,
    default_names,
    find_name,
    listed_names,
    sentence_starts,
)

BACKENDS = ("pandas", "polars", "pyarrow")
PREDICTED, CONFIDENCE = "predicted", "confidence"
UNITS = ("word", "entity", "sentence")


def read_frame(frame, sentence=None, columns=None):
    """Return the sentences of a frame that has one row per token.

    Parameters
    ----------
    frame : data frame
        Of any library that narwhals knows.
    sentence : str, default=None
        The column that tells sentences apart.
    columns : dict, sequence of str or None, default=None
        As in :meth:`TokenColumns.from_frame`.

    Returns
    -------
    columns : TokenColumns
        The sentences.
    """
    table = _table(frame)
    sentence = _sentence_column(table.columns, sentence)
    names = [name for name in table.columns if name != sentence]
    chosen = choose_columns(names, columns)
    texts = {new: _texts(table[name], name) for new, name in chosen.items()}
    starts, _ = sentence_starts(_ids(table, sentence), "row {}".format)
    return columns_of_lists(np.diff([*starts, len(table)]), texts)


def _table(frame):
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


def _sentence_column(names, given):
    found = find_name(names, SENTENCE_NAMES) if given is None else given
    if found is None:
        raise ValueError(
            "which column tells sentences apart? Name it: sentence=...; "
            + listed_names(names)
        )
    if found not in names:
        raise ValueError(
            f"the frame has no column {found!r} for the sentences; "
            f"{listed_names(names)} (an index becomes a column by reset_index())"
        )
    return found


def _ids(table, sentence):
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
            "unless told otherwise: read_csv(..., keep_default_na=False)"
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


def frame_of_columns(columns, backend=None):
    """Return token columns as a frame with one row per token.

    Parameters
    ----------
    columns : TokenColumns
        The sentences.
    backend : str, default=None
        As in :func:`frame_of`.

    Returns
    -------
    frame : data frame
        With ``sentence_id`` from 0 on, then the columns.
    """
    return frame_of(_token_rows(columns), backend)


def _token_rows(columns):
    names = columns.names or default_names(columns.n_columns)
    rows = {"sentence_id": np.repeat(np.arange(len(columns)), columns.lengths)}
    for c, name in enumerate(names):
        rows[name] = list(chain.from_iterable(columns.column(c)))
    return rows


class AnswersInFrames:
    """Gives the answers of any tagger as data frames.

    A subclass has ``labels``, ``confidence``, ``entities``, ``sequence_confidence``
    and ``lengths``.
    """

    def to_frame(self, X=None, *, unit="word", sentence=None, backend=None, **options):
        """Return what the tagger says as a data frame.

        Parameters
        ----------
        X : data frame, TokenColumns or sequences of words, default=None
            What the tagger was asked about, or the frame that it was made from. Its
            columns come first; those of a frame stay as they are, with its index.
        unit : {"word", "entity", "sentence"}, default="word"
            What a row is about.
        sentence : str, default=None
            The column of a frame X that tells sentences apart, as in
            :meth:`skcw.data.TokenColumns.from_frame`.
        backend : {"pandas", "polars", "pyarrow"}, default=None
            The library of the result; by default that of the frame X, or else the
            first of these that is installed.
        **options : object
            Those of ``confidence``, ``entities`` or ``sequence_confidence``, such as
            ``method``.

        Returns
        -------
        frame : data frame
            For words, ``predicted`` and ``confidence`` after the columns of X. For
            entities, the sentence, ``start`` and ``end`` (exclusive, in words),
            ``text`` if X has words, ``label`` and ``confidence``. For sentences, the
            confidence that all labels are right.

        Examples
        --------
        >>> import pandas as pd
        >>> from skcw import make_tagging_pipeline
        >>> from skcw.data import TokenColumns
        >>> frame = pd.DataFrame({
        ...     "sentence_id": [1, 1, 2, 2],
        ...     "word": ["Ann", "left", "Bob", "left"],
        ...     "label": ["B-PER", "O", "B-PER", "O"],
        ... })
        >>> X, y = TokenColumns.from_frame(frame).split_label("label")
        >>> answers = make_tagging_pipeline(["word"]).fit(X, y).predict_all(X)
        >>> answers.to_frame(frame).columns.tolist()
        ['sentence_id', 'word', 'label', 'predicted', 'confidence']
        >>> answers.to_frame(frame, unit="entity")["text"].tolist()
        ['Ann', 'Bob']
        """
        if unit not in UNITS:
            raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(UNITS)}")
        source = _source_of(X, self, sentence)
        if unit == "word":
            added = {
                PREDICTED: list(chain.from_iterable(self.labels())),
                CONFIDENCE: np.concatenate([[], *self.confidence(**options)]),
            }
            return source.with_columns(added, backend)
        if unit == "sentence":
            sure = self.sequence_confidence(**options)
            return source.frame({source.name: source.keys, CONFIDENCE: sure}, backend)
        return source.frame(_entity_rows(self, source, options), backend)


def _entity_rows(answers, source, options):
    found = answers.entities(**options)
    rows = [(s, entity) for s, row in enumerate(found) for entity in row]
    data = {
        source.name: [source.keys[s] for s, _ in rows],
        "start": [entity.start for _, entity in rows],
        "end": [entity.end for _, entity in rows],
    }
    if source.words is not None:
        data["text"] = [" ".join(source.words[s][e.start : e.end]) for s, e in rows]
    data["label"] = [entity.label for _, entity in rows]
    data[CONFIDENCE] = [entity.confidence for _, entity in rows]
    return data


def _source_of(X, answers, sentence):
    """Return what answers are about, in a form that frames can be made of."""
    import narwhals as nw

    if X is None or not nw.dependencies.is_into_dataframe(X):
        return _Sequences(X, answers)
    return _Frame(X, answers, sentence)


class _Frame:
    """A frame with one row per token, to which columns are added."""

    def __init__(self, frame, answers, sentence):
        self.table = _table(frame)
        self.name = _sentence_column(self.table.columns, sentence)
        starts, self.keys = sentence_starts(
            _ids(self.table, self.name), "row {}".format
        )
        lengths = np.diff([*starts, len(self.table)])
        check_same_lengths(
            lengths, answers.lengths, ("the frame", "predict_all"), ("rows", "tokens")
        )
        word = next(
            iter(
                choose_columns(
                    [name for name in self.table.columns if name != self.name]
                ).values()
            )
        )
        flat = iter(self.table[word].to_list())
        self.words = [[str(next(flat)) for _ in range(n)] for n in lengths]

    def with_columns(self, added, backend):
        import narwhals as nw

        own = self.table.implementation
        series = [
            nw.new_series(name, list(values), backend=own)
            for name, values in added.items()
        ]
        frame = self.table.with_columns(*series).to_native()
        return frame if backend is None else _converted(frame, backend)

    def frame(self, data, backend):
        own = self.table.implementation.value
        return frame_of(data, backend or (own if own in BACKENDS else None))


def _converted(frame, backend):
    table = _table(frame)
    return frame_of({name: table[name].to_list() for name in table.columns}, backend)


class _Sequences:
    """Sequences of any kind, whose sentences are numbered."""

    name = "sentence_id"

    def __init__(self, X, answers):
        self.answers = answers
        self.keys = list(range(len(answers)))
        self.columns, self.words = None, None
        if X is not None:
            check_same_length(len(X), len(answers), ("X", "predict_all"))
            self._read_words(X)

    def _read_words(self, X):
        from skcw.data.columns import TokenColumns

        if not isinstance(X, TokenColumns):
            # Features have no text; words and tuples of columns have.
            first = next((x[0] for x in X if len(x)), None)
            if not isinstance(first, (str, tuple)):
                return
            X = TokenColumns.from_sequences(X)
        check_same_lengths(X.lengths, self.answers.lengths, ("X", "predict_all"))
        if X.names is None and X.n_columns:
            X = X._renamed(default_names(X.n_columns))
        self.columns = X
        self.words = list(X.column(0)) if X.n_columns else None

    def with_columns(self, added, backend):
        lengths = self.answers.lengths
        rows = {"sentence_id": np.repeat(np.arange(len(lengths)), lengths)}
        if self.columns is not None:
            rows |= _token_rows(self.columns)
        return frame_of({**rows, **added}, backend)

    frame = staticmethod(frame_of)
