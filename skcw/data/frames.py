"""Predictions as data frames: pandas, polars and others, through narwhals."""

from itertools import chain
from typing import Any

import numpy as np

from skcw._util.checks import check_same_length, check_same_lengths
from skcw.data.columns import (
    BACKENDS,
    TokenColumns,
    choose_columns,
    default_names,
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

    A subclass has ``labels``, ``confidence``, ``entities``, ``sequence_confidence``
    and ``lengths``.
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
            columns come first; those of a frame stay as they are, with its index.
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
    """Return the input of predictions in a form that frames can be made of."""
    import narwhals as nw

    if X is None or not nw.dependencies.is_into_dataframe(X):
        return _Sequences(X, answers)
    return _Frame(X, answers, sentence)


class _Frame:
    """A frame with one row per token, to which columns are added."""

    def __init__(self, frame, answers, sentence):
        self.table = table_of(frame)
        self.name = sentence_column(self.table.columns, sentence)
        starts, self.keys = sentence_starts(
            sentence_ids(self.table, self.name), "row {}".format
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
    table = table_of(frame)
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
            rows |= token_rows(self.columns)
        return frame_of({**rows, **added}, backend)

    frame = staticmethod(frame_of)
