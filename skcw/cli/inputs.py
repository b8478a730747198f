"""Files of sentences of any format, in blocks, so that memory does not grow with them.

``open_input`` gives an object that yields labeled sentences, sentences to label, or
pairs of true and predicted labels. A model remembers how the file that it has learned
from was read: what the options leave open is read in the same way.
"""

import sys
from typing import NamedTuple

from skcw.cli.formats import look_at
from skcw.cli.messages import UsageError, note

# Large enough that the work in compiled code dominates, small enough to answer soon.
BLOCK_TOKENS = 20_000
CONLLU_WORD, CONLLU_LABEL = 1, 3
WHOLE = sys.maxsize


def title_of(name):
    """Return what messages call a file of the command line."""
    return "<stdin>" if name == "-" else name


def open_input(name, options, memory=None, tokenizer=None):
    """Return a file of the command line, ready to be read.

    Parameters
    ----------
    name : str
        The file, or "-".
    options : argparse.Namespace
        The options of ``add_reading``, and ``label_column``.
    memory : dict, default=None
        How the file that a model has learned from was read.
    tokenizer : Tokenizer, default=None
        What cuts records of JSON lines that have a text only: that of the model; the
        default one if None.

    Returns
    -------
    file : Input
        The file.
    """
    from skcw.cli.named_inputs import CsvInput, JsonInput

    memory = memory or {}
    encoding = _encoding(name, options, memory)
    opened = look_at(name, options, encoding, memory.get("format"))
    kinds = {"csv": CsvInput, "jsonl": JsonInput}
    kind = kinds.get(opened.format, ColumnInput)
    file = kind(name, opened, options, encoding, memory)
    file.tokenizer = tokenizer
    return file


def _encoding(name, options, memory):
    """Return the encoding of a file; that of training only where UTF-8 fails."""
    if options.encoding is not None or name == "-":
        return options.encoding or "utf-8"
    other = memory.get("encoding", "utf-8")
    return "utf-8" if other == "utf-8" or _is_decodable(name) else other


def _is_decodable(name):
    from skcw.data.text_lines import utf8_lines
    from skcw.exceptions import ColumnFileError

    try:
        for _ in utf8_lines(name, "utf-8"):
            pass
    except ColumnFileError:
        return False
    return True


class ReadSentence(NamedTuple):
    """A sentence of a file, with all that other formats may want.

    Parameters
    ----------
    columns : dict of str to list of str
        Values by the name of their column; the first is the word.
    labels : list of str or None
        A label for each word.
    text : str, default=None
        The text, if the file has one.
    places : list of (int, int), default=None
        Where each word stands in the text.

    Examples
    --------
    >>> from skcw.cli.inputs import ReadSentence
    >>> ReadSentence({"word": ["Ann", "left"]}, ["B-PER", "O"]).words
    ['Ann', 'left']
    """

    columns: dict
    labels: list | None
    text: str | None = None
    places: list | None = None

    @property
    def words(self):
        """The words."""
        return next(iter(self.columns.values()))


class Input:
    """A file of sentences; a subclass knows its format.

    Parameters
    ----------
    name : str
        The file, or "-".
    opened : Opened
        The file after a first look.
    options : argparse.Namespace
        How it is laid out.
    encoding : str
        Its encoding.
    memory : dict
        How the file that a model has learned from was read.
    """

    def __init__(self, name, opened, options, encoding, memory):
        self.name, self.title = name, title_of(name)
        self.opened, self.options, self.encoding = opened, options, encoding
        # What is known of a file of another kind tells nothing about this one.
        same = memory.get("format") == opened.format
        self.memory = memory if same else {}
        self.outside = self._given("outside", memory)
        self.tokenizer = None

    def _given(self, name, memory=None):
        """Return an option, or what the model remembers in its place."""
        value = getattr(self.options, name, None)
        return (memory or self.memory).get(name) if value is None else value

    def labels(self, y):
        """Return labels with the name of the outside that the package has."""
        from skcw.data.schemes import with_outside

        return y if self.outside is None else with_outside(y, self.outside)

    def sentences(self, with_labels=True):
        """Yield all sentences one by one, labeled if they have labels.

        Parameters
        ----------
        with_labels : bool, default=True
            Whether there are labels to look for.

        Yields
        ------
        sentence : ReadSentence
            Its columns and labels.
        """
        from skcw.io.json_lines import lists_of

        blocks = self.labeled() if with_labels else self._without_labels()
        for X, y in blocks:
            for columns, labels in zip(lists_of(X), y, strict=True):
                yield ReadSentence(columns, labels)

    def _without_labels(self):
        for _, X in self.unlabeled():
            yield X, [None] * len(X)

    def reading(self):
        """Return how the file is read, for the model to remember: plain values."""
        found = {
            "format": self.opened.format,
            "encoding": self.encoding,
            "columns": self.options.columns,
            "label_column": self.options.label_column,
            "sentence_column": self.options.sentence_column,
            "separator": self.options.separator,
            "comment": self.options.comment,
            "outside": self.outside,
            "scheme": self.options.scheme,
            **self._further(),
        }
        return {key: value for key, value in found.items() if value is not None}

    def _further(self):
        return {}

    def label_column(self):
        """Return the number of the label column, where columns have numbers."""
        return None


class ColumnInput(Input):
    """A column file, or CoNLL-U."""

    def __init__(self, name, opened, options, encoding, memory):
        super().__init__(name, opened, options, encoding, memory)
        self.conllu = opened.format == "conllu"
        self.label = self._number(self._given("label_column"))
        self.columns = self._numbers(self._given("columns"))

    def _number(self, column):
        """Return the number of a column; only CoNLL-U has names, too."""
        from skcw.io.layout import CONLLU

        if not isinstance(column, str):
            return column
        if self.conllu and column.lower() in CONLLU:
            return CONLLU.index(column.lower())
        raise UsageError(
            f"{column!r} is not a number; the columns of {self.title} have no names"
        )

    def _numbers(self, columns):
        """Return {name: number}; a bare name is the next one."""
        if columns is None:
            return {"word": CONLLU_WORD} if self.conllu else None
        numbers, following = {}, 0
        for name, column in columns.items():
            numbers[name] = following if column is None else self._number(column)
            following = numbers[name] + 1
        if len(set(numbers.values())) < len(numbers):
            raise UsageError("--columns names a column twice")
        return numbers

    def _further(self):
        return {"width": self.width}

    @property
    def separator(self):
        """What separates columns, if anybody has said so."""
        return self._given("separator")

    @property
    def width(self):
        """The number of columns of the first line; 0 if there is none."""
        from skcw.io.layout import fields_of

        line = self.opened.first
        if line is None:
            return 0
        separator = self.separator or ("\t" if "\t" in line else " ")
        return len(fields_of(line.encode("utf-8", "surrogatepass"), separator))

    def _blocks(self, iterate, block_tokens, **chosen):
        return iterate(
            self.opened.source,
            block_tokens=block_tokens,
            separator=self.separator,
            comment=self._given("comment") or "auto",
            encoding=self.encoding,
            conllu=self.conllu,
            **chosen,
        )

    def label_column(self, otherwise=-1):
        """Return the column of the true labels."""
        if self.label is not None:
            return self.label
        return CONLLU_LABEL if self.conllu else otherwise

    def labeled(self, block_tokens=BLOCK_TOKENS):
        """Yield sentences and their labels.

        Parameters
        ----------
        block_tokens : int
            How many words make a block.

        Yields
        ------
        X : TokenColumns
            The columns for the features.
        y : ndarray of object
            A list of labels for each sentence.
        """
        from skcw.io import iter_columns

        label = self.label_column()
        chosen = _chosen(self.columns, label)
        for columns in self._blocks(iter_columns, block_tokens, **chosen):
            X, y = self._split(columns, -1 if chosen else label)
            yield X, self.labels(y)

    def _split(self, columns, label):
        n_columns = columns.n_columns
        if n_columns < 2:
            raise ValueError(
                f"{self.title} has one column where a word and a label are needed "
                "(--separator says what separates columns)"
            )
        if not -n_columns <= label < n_columns:
            raise ValueError(
                f"{self.title} has {n_columns} columns; --label-column {label} is not "
                "one of them (the first is 0, the last -1)"
            )
        return columns.split_label(label)

    def unlabeled(self, block_tokens=BLOCK_TOKENS, features=None):
        """Yield the text of each block, and its columns that are for the features.

        Parameters
        ----------
        block_tokens : int
            How many words make a block.
        features : FeatureExtractor, default=None
            Those of the model; needed where columns have names.

        Yields
        ------
        text : bytes
            Whole lines in UTF-8.
        X : TokenColumns
            The sentences in these lines.
        """
        from skcw.io import iter_blocks

        columns, label = self._to_tag()
        chosen = _chosen(columns)
        for text, X in self._blocks(iter_blocks, block_tokens, **chosen):
            if label is not None and not chosen and X.n_tokens:
                X, _ = self._split(X, label)
            yield text, X

    def sentences(self, with_labels=True):
        """Yield all sentences; a single column holds no labels."""
        return super().sentences(with_labels and self.width != 1)

    def _to_tag(self):
        """Return the columns of a file that may lack the labels of training."""
        options, width = self.options, self.memory.get("width")
        if options.columns is not None or options.label_column is not None:
            # What the user has said leaves nothing to remember.
            own = options.columns is not None or self.conllu
            return (self.columns if own else None), self.label
        if width is None or not self.width or self.conllu:
            return self.columns, None
        label = self.label_column() % width
        columns = self.columns
        if columns is None:
            # A label that comes last is in nobody's way.
            here = label if label < width - 1 and self.width >= width else None
            if here is not None:
                note(
                    options,
                    f"column {here} of {self.title}, the labels in training, is left "
                    "out (--label-column or --columns says otherwise)",
                )
            return None, here
        if self.width < width:
            if self.width == len(columns):
                return None, None
            if self.width != width - 1:
                raise ValueError(
                    f"{self.title} has {self.width} columns and the training file had "
                    f"{width}; --columns tells where {', '.join(columns)} are"
                )
            columns = {n: c - (c > label) for n, c in columns.items()}
        if list(columns.values()) != list(range(len(columns))):
            where = ",".join(f"{name}={number}" for name, number in columns.items())
            note(options, f"{self.title} is read as in training: --columns {where}")
        return columns, None

    def pairs(self, predicted=None):
        """Yield the true and the predicted labels that the file holds.

        Parameters
        ----------
        predicted : int, default=None
            The column of the predicted labels; the last if None.

        Yields
        ------
        gold, guess : ndarray of object
            A list of labels for each sentence.
        """
        from skcw.io import iter_columns

        last = -1 if predicted is None else self._number(predicted)
        chosen = [self.label_column(otherwise=-2), last]
        for block in self._blocks(iter_columns, BLOCK_TOKENS, columns=chosen):
            yield self.labels(block.column(0)), self.labels(block.column(1))

    def for_model(self, X, features):
        """Return the columns for a model: they are known by their order."""
        return X

    def label_title(self, of_model):
        """Return what messages call the column of the true labels."""
        return f"column {self.label_column(-1 if of_model else -2)} of {self.title}"

    def echo(self):
        """Return what gives the lines back with columns added."""
        from skcw.cli.echo import ColumnEcho

        return ColumnEcho(self.separator, self.encoding, self.conllu)


def _chosen(columns, *others):
    """Return which columns to read, and their names, as the readers take them."""
    if columns is None:
        return {}
    numbers = [*columns.values(), *others]
    if len(set(numbers)) < len(numbers):
        raise UsageError("--columns names the column of the labels, too")
    names = [*columns, *(f" label {i}" for i in range(len(others)))]
    return {"columns": numbers, "names": names}
