"""Predictions as data frames: pandas, polars and others, through narwhals."""

from itertools import chain, pairwise
from typing import Any

import numpy as np

from skcw._util.checks import check_same_length, check_same_lengths
from skcw.data.columns import (
    BACKENDS,
    TokenColumns,
    choose_columns,
    frame_of,
    sentence_column,
    sentence_ids,
    sentence_starts,
    table_of,
    token_rows,
)

PREDICTED, CONFIDENCE = "predicted", "confidence"
UNITS = ("word", "entity", "sentence")


class AnswersInFrames:
    """Base of predictions that can be given as data frames.

    A subclass has ``labels``, ``confidence``, ``entities``, ``sequence_confidence``,
    ``lengths`` and ``tokens``.
    """

    def to_frame(
        self,
        X: Any = None,
        *,
        unit: str = "word",
        sentence: str | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Any:
        """Return the predictions as a data frame.

        Parameters
        ----------
        X : data frame, TokenColumns or sequences of words, default=None
            The input of the predictions, or the frame that it was made from. Its
            columns come first; those of a frame stay as they are, with its index. By
            default the sequences that were asked about, where their tokens are words.
        unit : {"word", "entity", "sentence"}, default="word"
            The unit of a row.
        sentence : str, default=None
            The column of a frame X with the sentence of each row, as in
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
            ``text`` if there are words, ``label`` and ``confidence``. For sentences,
            the confidence that all labels are right.

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
        >>> answers.to_frame().columns.tolist()
        ['sentence_id', 'word', 'predicted', 'confidence']
        """
        if unit not in UNITS:
            raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(UNITS)}")
        table = _table_of(X)
        if table is None:
            name, keys = "sentence_id", list(range(len(self)))
            columns = self.tokens if X is None else _columns_of(X, self)
            has_words = columns is not None and columns.n_columns
            words = list(columns.words()) if has_words else None
        else:
            name, keys, words = _sentences_of(table, sentence, self.lengths)
        if unit == "word":
            data = {
                PREDICTED: list(chain.from_iterable(self.labels())),
                CONFIDENCE: np.concatenate([[], *self.confidence(**options)]),
            }
            if table is not None:
                return _with_columns(table, data, backend)
            numbers = np.repeat(np.arange(len(self)), self.lengths)
            rows = {} if columns is None else token_rows(columns)
            data = {name: numbers, **rows, **data}
        elif unit == "sentence":
            data = {name: keys, CONFIDENCE: self.sequence_confidence(**options)}
        else:
            data = _entity_rows(self.entities(**options), name, keys, words)
        if backend is None and table is not None:
            own = table.implementation.value
            backend = own if own in BACKENDS else None
        return frame_of(data, backend)


def _entity_rows(found, name, keys, words):
    rows = [(s, entity) for s, row in enumerate(found) for entity in row]
    data = {
        name: [keys[s] for s, _ in rows],
        "start": [entity.start for _, entity in rows],
        "end": [entity.end for _, entity in rows],
    }
    if words is not None:
        data["text"] = [" ".join(words[s][e.start : e.end]) for s, e in rows]
    data["label"] = [entity.label for _, entity in rows]
    data[CONFIDENCE] = [entity.confidence for _, entity in rows]
    return data


def _table_of(X):
    """Return a frame in the form of narwhals; None of anything else."""
    import narwhals as nw

    return table_of(X) if nw.dependencies.is_into_dataframe(X) else None


def _sentences_of(table, sentence, expected):
    """Return the column of the sentences, which they are, and their words."""
    name = sentence_column(table.columns, sentence)
    starts, keys = sentence_starts(sentence_ids(table, name), "row {}".format)
    places = [*starts, len(table)]
    names = ("the frame", "predict_all")
    check_same_lengths(np.diff(places), expected, names, ("rows", "tokens"))
    word, *_ = choose_columns([n for n in table.columns if n != name]).values()
    flat = list(map(str, table[word].to_list()))
    return name, keys, [flat[a:b] for a, b in pairwise(places)]


def _columns_of(X, answers):
    """Return sequences as columns; None of features, which have no text."""
    names = ("X", "predict_all")
    check_same_length(len(X), len(answers), names)
    columns = columns_of_tokens(X)
    if columns is not None:
        check_same_lengths(columns.lengths, answers.lengths, names)
    return columns


def columns_of_tokens(X):
    """Return sequences as columns; None of features, which have no text."""
    if isinstance(X, TokenColumns):
        return X
    first = next((x[0] for x in X if len(x)), None)
    return TokenColumns.from_sequences(X) if isinstance(first, (str, tuple)) else None


def _with_columns(table, added, backend):
    import narwhals as nw

    own = table.implementation
    series = [nw.new_series(n, list(v), backend=own) for n, v in added.items()]
    table = table.with_columns(*series)
    if backend is None:
        return table.to_native()
    return frame_of({name: table[name].to_list() for name in table.columns}, backend)
