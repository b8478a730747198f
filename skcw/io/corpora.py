"""Base classes of the files of all formats: read in blocks, written and echoed."""

import sys
from itertools import pairwise

from skcw.data.columns import columns_of_lists, default_names
from skcw.data.schemes import with_outside
from skcw.exceptions import ColumnFileError
from skcw.io.formats import ACCEPT, CONFIDENCE, NBEST, PREDICTED, OptionError
from skcw.io.json_records import Sentence, line_of, make_record, spans_of_labels

# Large enough that the work in compiled code dominates, small enough to answer soon.
BLOCK_TOKENS = 20_000
WHOLE = sys.maxsize
# Eight digits: most labels of a good tagger have more than 0.9999.
DIGITS = 8


class CorpusFile:
    """A file of sentences; a subclass reads, writes and echoes one format.

    Parameters
    ----------
    opened : Opened
        The file after a first look.
    """

    # The options that the format takes besides those of all formats.
    takes = ()

    def __init__(self, opened):
        self.opened, self.title, self.options = opened, opened.title, opened.options
        # The reading of a file of another format does not apply to this one.
        same = opened.memory.get("format") == opened.format
        self.memory = opened.memory if same else {}
        self.outside = self._given("outside", opened.memory)

    def _given(self, name, memory=None):
        """Return an option, or its value in training."""
        value = getattr(self.options, name, None)
        return (memory or self.memory).get(name) if value is None else value

    @staticmethod
    def detect(header, first, fits):
        """Return whether a file seems to have this format.

        Parameters
        ----------
        header, first : str
            Its first line, and the first one that is neither empty nor a comment.
        fits : bool
            Whether its name ends as those of this format do.

        Returns
        -------
        detected : bool
            False for a format that must be asked for.
        """
        return False

    def labels(self, y):
        """Return labels in which the outside is called "O"."""
        return y if self.outside is None else with_outside(y, self.outside)

    def sentences(self, with_labels=True):
        """Yield all sentences one by one, labeled if they have labels.

        Parameters
        ----------
        with_labels : bool, default=True
            Whether to look for labels.

        Yields
        ------
        sentence : Sentence
            Its columns and labels.
        """
        without = ((X, [None] * len(X)) for _, X in self.unlabeled())
        for X, y in self.labeled() if with_labels else without:
            known = {} if X.lines is None else {"lines": X.lines}
            rows = zip(lists_of(X), y, rows_of(known, X), strict=True)
            for columns, labels, more in rows:
                yield Sentence(columns, labels, **more)

    def reading(self):
        """Return how the file is read, for the model to remember: plain values."""
        found = {"format": self.opened.format, "encoding": self.opened.encoding}
        for name in ("columns", "label_column", *self.takes, "outside", "scheme"):
            found[name] = getattr(self.options, name, None)
        found |= {"outside": self.outside, **self._found()}
        return {name: value for name, value in found.items() if value is not None}

    def _found(self):
        """Return other facts about the file that a model should remember."""
        return {}

    def label_column(self):
        """Return the number of the label column, where columns have numbers."""
        return None

    def select(self, X, names, n_needed):
        """Return the columns of X that a model has learned from, in its order.

        Parameters
        ----------
        X : TokenColumns
            Sentences of this file.
        names : list of str
            The columns of the model.
        n_needed : int
            How many of these it looks at.

        Returns
        -------
        X : TokenColumns
            The sentences with these columns.
        """
        return X

    def relabeled(self, changed):
        """Yield the file with other labels in some sentences, as bytes.

        Parameters
        ----------
        changed : dict of int to list of str
            The new labels of sentences by their numbers, as :meth:`labeled` counts.

        Yields
        ------
        part : bytes
            The next part of the file; what is not changed stays.
        """
        if self.outside is not None:
            changed = {
                s: [self.outside if label == "O" else label for label in labels]
                for s, labels in changed.items()
            }
        yield from self._relabeled(changed)

    def _relabeled(self, changed):
        raise OptionError(
            f"a file such as {self.title} cannot be written with other labels; "
            "`skcw convert` writes it in a format that can"
        )

    def echo_as_json(self, names, read, X, added):
        """Return sentences as JSON lines with tokens and the added columns.

        Parameters
        ----------
        names : list of str
            The columns that the model has learned from; others are left out.
        read : object
            The block as :meth:`unlabeled` has read it.
        X : TokenColumns
            Its sentences.
        added : dict of str to list or ndarray
            A value for each token.

        Returns
        -------
        lines : bytes
            One record per sentence.
        """
        names = names[: X.n_columns]
        X = X.select(range(len(names)))._renamed(names)
        rows = zip(lists_of(X), rows_of(added, X), strict=True)
        return b"".join(
            line_of(make_record(columns) | added_values(here)) for columns, here in rows
        )


class NamedFile(CorpusFile):
    """A file whose columns have names, by which a model finds its own.

    A subclass has ``_blocks(block_tokens, label, with_labels)``, which yields the
    rows or records, their sentences and the name of the column of the labels.
    """

    # The name in the file -> our name of a column.
    renamed = {}

    def __init__(self, opened):
        super().__init__(opened)
        self.columns = self._given("columns")
        self.label = self._given("label_column")

    def labeled(self, block_tokens=BLOCK_TOKENS):
        """Yield sentences and their labels, as :meth:`ColumnFile.labeled` does."""
        for _, X, label in self._blocks(block_tokens, self.label, True):
            if label is None:
                raise ValueError(
                    f"{self.title} has no labels; it has {', '.join(X.names)}. "
                    "label_column=NAME tells which they are"
                )
            y = self.labels(X.column(label))
            yield self._features(X, label), y

    def unlabeled(self, block_tokens=BLOCK_TOKENS):
        """Yield blocks as :meth:`echo` takes them, and their sentences.

        Parameters
        ----------
        block_tokens : int
            How many tokens make a block.

        Yields
        ------
        read : list
            The rows or records.
        X : TokenColumns
            The sentences.
        """
        for read, X, _ in self._blocks(block_tokens, self.label, False):
            yield read, self._features(X, None)

    def select(self, X, names, n_needed):
        """Return the columns of X that a model has learned from, in its order."""
        # Sentences without tokens do not tell which columns there are.
        return select_named(X, names, n_needed, self.title) if X.n_tokens else X

    def _features(self, X, label):
        """Return the columns for the features, called as the options say."""
        if self.columns is None:
            return X.select([n for n in X.names if n != label and not is_added(n)])
        wanted = {new: self._name(X, new, old) for new, old in self.columns.items()}
        if label in wanted.values():
            raise OptionError("columns= names the column of the labels, too")
        numbers = [X.names.index(name) for name in wanted.values()]
        return X._renamed(None).select(numbers)._renamed(list(wanted))

    def _name(self, X, new, old):
        """Return the column that an option names, by its new or by its old name."""
        name = new if old is None else old
        if isinstance(name, int):
            if not -X.n_columns <= name < X.n_columns:
                raise ValueError(f"{self.title} has {X.n_columns} columns, not {name}")
            return X.names[name]
        found = self.renamed.get(name, name)
        if found not in X.names:
            raise ValueError(
                f"{self.title} has no column {name!r}; it has {', '.join(X.names)}"
            )
        return found

    def pairs(self, predicted=None):
        """Yield the true and the predicted labels, as :meth:`ColumnFile.pairs`."""
        guess = PREDICTED if predicted is None else predicted
        for _, X, label in self._blocks(BLOCK_TOKENS, self.label, True):
            for column in (label, guess):
                if column not in X.names:
                    raise ValueError(
                        f"{self.title} has no labels {column or 'of its own'}; it has "
                        f"{', '.join(X.names)}. label_column= and predicted_column= "
                        "tell where the true and the predicted labels are"
                    )
            yield self.labels(X.column(label)), self.labels(X.column(guess))

    def label_title(self, of_model):
        """Return the name of the true labels in messages."""
        return f"{self.label or 'the labels'} of {self.title}"


class RecordFile(NamedFile):
    """A file with one record for each sentence.

    A subclass has ``records(label, with_labels)``, which yields the line, the record
    and the :class:`Sentence` of each; ``echoed(record, sentence, added)``, the bytes of
    a record with the added columns; and :meth:`writer`.
    """

    def _blocks(self, block_tokens, label, with_labels):
        held, n_tokens = [], 0
        for found in self.records(label, with_labels):
            held.append(found)
            n_tokens += len(found[2].tokens)
            if n_tokens >= block_tokens:
                yield self._block(held)
                held, n_tokens = [], 0
        if held:
            yield self._block(held)

    def _block(self, held):
        X = columns_of_sentences([(n, s) for n, _, s in held], self.title)
        first = next((s for _, _, s in held if s.tokens), None)
        return held, X, first.label if first and first.labels is not None else None

    def sentences(self, with_labels=True):
        """Yield all sentences, with their text where the records have one."""
        for held, X, label in self._blocks(BLOCK_TOKENS, self.label, with_labels):
            y = [None] * len(X) if label is None else self.labels(X.column(label))
            rows = zip(held, lists_of(self._features(X, label)), y, strict=True)
            for (line, _, sentence), columns, labels in rows:
                lines = [line] * len(sentence.tokens)
                yield sentence._replace(columns=columns, labels=labels, lines=lines)

    def echo(self, read, X, added):
        """Return the records with the added columns."""
        rows = zip(read, rows_of(added, X), strict=True)
        return b"".join(self.echoed(record, s, here) for (_, record, s), here in rows)


def columns_of_sentences(pairs, name):
    """Return sentences as columns, with the names of the first one that has tokens.

    Parameters
    ----------
    pairs : list of (int, Sentence)
        The line and the sentence of each record.
    name : str
        The file, for messages.

    Returns
    -------
    columns : TokenColumns
        The sentences, their labels as the last column.
    """
    first = next((s for _, s in pairs if s.tokens), Sentence({"word": []}))
    texts = {column: [] for column in first.all_columns()}
    lengths, lines = [], []
    for number, sentence in pairs:
        n_tokens, columns = len(sentence.tokens), sentence.all_columns()
        missing = [column for column in texts if column not in columns]
        if n_tokens and missing:
            raise ColumnFileError(
                f"{name}, line {number}: no value for each token in {missing[0]!r}, "
                f"which an earlier record has; it has {', '.join(columns)}"
            )
        for column in texts if n_tokens else ():
            texts[column] += columns[column]
        lengths.append(n_tokens)
        lines += [number] * n_tokens
    return columns_of_lists(lengths, texts, lines)


def select_named(X, names, n_needed, title):
    """Return those columns that a model needs, found by their names.

    Parameters
    ----------
    X : TokenColumns
        Sentences whose columns have names.
    names : list of str
        Those of the model.
    n_needed : int
        How many of these it looks at.
    title : str
        The name of the file in messages.

    Returns
    -------
    X : TokenColumns
        The sentences with these columns, in the order of the model.

    Examples
    --------
    >>> from skcw.data import TokenColumns
    >>> from skcw.io.corpora import select_named
    >>> X = TokenColumns.from_sequences([[("NNP", "Ann")]], names=["pos", "word"])
    >>> select_named(X, ["word"], 1, "new.csv")[0]
    [('Ann',)]
    """
    known = 0
    while known < len(names) and names[known] in X.names:
        known += 1
    if known < n_needed:
        missing = names[known]
        raise ValueError(
            f"{title} has no column {missing!r}, which the model has learned from; it "
            f"has {', '.join(X.names)}. columns={missing}=NAME,... tells which "
            "columns are meant"
        )
    return X.select(names[:known])


def lists_of(columns):
    """Yield each sentence as {name of a column: list of strings}.

    Parameters
    ----------
    columns : TokenColumns
        The sentences.

    Yields
    ------
    lists : dict of str to list of str
        The first is called ``word``; others without a name ``pos``, ``x2``...
    """
    names = columns.names or default_names(columns.n_columns)
    texts = [columns.column(c) for c in range(columns.n_columns)]
    for s in range(len(columns)):
        yield {name: texts[c][s] for c, name in enumerate(names)}


def is_added(name):
    """Return whether a column is one of those that ``skcw tag`` adds."""
    return name in (PREDICTED, CONFIDENCE, ACCEPT) or name.startswith(NBEST)


def rows_of(added, X):
    """Yield the part of added columns that each sentence of X has."""
    for a, b in pairwise(X.offsets.tolist()):
        yield {name: values[a:b] for name, values in added.items()}


def added_values(added, places=None):
    """Return the added columns of one record, as JSON has them.

    Parameters
    ----------
    added : dict of str to list or ndarray
        A value for each token.
    places : list of (int, int), default=None
        The positions of the tokens in a text; labels then become spans.

    Returns
    -------
    values : dict
        The labels, or the spans.
    """
    values = dict(added)
    if CONFIDENCE in values:
        values[CONFIDENCE] = [round(float(v), DIGITS) for v in values[CONFIDENCE]]
    if places is None:
        return values
    spans = spans_of_labels(values.pop(PREDICTED), places, values.pop(CONFIDENCE, None))
    marks = values.pop(ACCEPT, None)
    for span in spans if marks else ():
        words = marks[span["token_start"] : span["token_end"] + 1]
        span[ACCEPT] = next((mark for mark in words if mark != "accept"), "accept")
    others = {name: spans_of_labels(labels, places) for name, labels in values.items()}
    return {PREDICTED: spans, **others}


def as_text(added):
    """Return the added columns as strings; numbers have eight digits.

    Parameters
    ----------
    added : dict of str to list or ndarray
        A value for each token.

    Returns
    -------
    columns : dict of str to list of str
        The same as strings.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.io.corpora import as_text
    >>> as_text({"predicted": ["O"], "confidence": np.array([0.5])})
    {'predicted': ['O'], 'confidence': ['0.50000000']}
    """
    found = dict(added)
    if CONFIDENCE in found:
        found[CONFIDENCE] = [f"{v:.{DIGITS}f}" for v in found[CONFIDENCE].tolist()]
    return found
