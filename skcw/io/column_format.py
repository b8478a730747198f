"""Column files and CoNLL-U among the formats of corpora."""

import codecs
import re
from itertools import pairwise, repeat

from skcw.io.columns import CONLLU, fault_of, fields_of, is_conllu, iter_columns
from skcw.io.corpora import BLOCK_TOKENS, CorpusFile, as_text
from skcw.io.formats import NO_VALUE, OptionError

# Characters that may follow the last column of a line.
ENDS = "\r \t"


class ColumnFile(CorpusFile):
    """A column file: columns are known by their numbers."""

    takes = ("separator", "comment")
    conllu = False
    # The columns of the features and of the labels by default.
    default_columns = None
    default_label = None

    def __init__(self, opened):
        super().__init__(opened)
        self.label = self._number(self._given("label_column"))
        self.columns = self._numbers(self._given("columns"))
        # It writes a byte order mark once, where the encoding has one.
        self._encoder = codecs.getincrementalencoder(opened.encoding)()
        self._before, self._separator = 1, self._given("separator")

    def _number(self, column):
        """Return the number of a column."""
        if not isinstance(column, str):
            return column
        raise OptionError(
            f"{column!r} is not a number; the columns of {self.title} have no names"
        )

    def _numbers(self, columns):
        """Return {name: number}; a bare name is the next one."""
        if columns is None:
            return self.default_columns
        numbers, following = {}, 0
        for name, column in columns.items():
            numbers[name] = following if column is None else self._number(column)
            following = numbers[name] + 1
        if len(set(numbers.values())) < len(numbers):
            raise OptionError("columns= names a column twice")
        return numbers

    def _found(self):
        return {"width": self.width}

    @property
    def width(self):
        """The number of columns of the first line; 0 if there is none."""
        line = self.opened.first
        if line is None:
            return 0
        separator = self._given("separator") or ("\t" if "\t" in line else " ")
        return len(fields_of(line.encode("utf-8", "surrogatepass"), separator))

    def _blocks(self, block_tokens, **chosen):
        return iter_columns(
            self.opened.source,
            block_tokens=block_tokens,
            separator=self._given("separator"),
            comment=self._given("comment") or "auto",
            encoding=self.opened.encoding,
            conllu=self.conllu,
            **chosen,
        )

    def label_column(self, otherwise=-1):
        """Return the number of the column of the true labels."""
        default = otherwise if self.default_label is None else self.default_label
        return default if self.label is None else self.label

    def labeled(self, block_tokens=BLOCK_TOKENS):
        """Yield sentences and their labels.

        Parameters
        ----------
        block_tokens : int
            How many tokens make a block.

        Yields
        ------
        X : TokenColumns
            The columns for the features.
        y : ndarray of object
            A list of labels for each sentence.
        """
        label = self.label_column()
        chosen = _chosen(self.columns, label)
        for columns in self._blocks(block_tokens, **chosen):
            X, y = self._split(columns, -1 if chosen else label)
            yield X, self.labels(y)

    def _split(self, columns, label):
        n_columns = columns.n_columns
        if n_columns < 2:
            raise ValueError(
                f"{self.title} has one column where a word and a label are needed "
                "(separator= says what separates columns)"
            )
        if not -n_columns <= label < n_columns:
            raise ValueError(
                f"{self.title} has {n_columns} columns; label_column={label} is not "
                "one of them (the first is 0, the last -1)"
            )
        return columns.split_label(label)

    def unlabeled(self, block_tokens=BLOCK_TOKENS):
        """Yield the text of each block, and its columns that are for the features.

        Parameters
        ----------
        block_tokens : int
            How many tokens make a block.

        Yields
        ------
        text : bytes
            Whole lines in UTF-8.
        X : TokenColumns
            The sentences in these lines.
        """
        columns, label = self._to_tag()
        chosen = _chosen(columns)
        for text, X in self._blocks(block_tokens, with_text=True, **chosen):
            if label is not None and not chosen and X.n_tokens:
                X, _ = self._split(X, label)
            yield text, X

    def sentences(self, with_labels=True):
        """Yield all sentences; a single column holds no labels."""
        return super().sentences(with_labels and self.width != 1)

    def _to_tag(self):
        """Return the columns of a file that may lack the labels of training."""
        given, width = self.options, self.memory.get("width")
        by_name = getattr(given, "columns", None) is not None
        if by_name or getattr(given, "label_column", None) is not None:
            # Given options replace those of training.
            return (self.columns if by_name or self.conllu else None), self.label
        if width is None or not self.width or self.conllu:
            return self.columns, None
        label = self.label_column() % width
        if self.columns is None:
            # A label in the last column does no harm.
            if label == width - 1 or self.width < width:
                return None, None
            self.opened.note(
                f"column {label} of {self.title}, the labels in training, is left out "
                "(label_column= or columns= says otherwise)"
            )
            return None, label
        return self._columns_as_in_training(width, label), None

    def _columns_as_in_training(self, width, label):
        """Return {name: number} in a file that may lack the column of the labels."""
        columns = self.columns
        if self.width < width:
            if self.width == len(columns):
                return None
            if self.width != width - 1:
                raise ValueError(
                    f"{self.title} has {self.width} columns and the training file had "
                    f"{width}; columns= tells where {', '.join(columns)} are"
                )
            columns = {n: c - (c > label) for n, c in columns.items()}
        if list(columns.values()) != list(range(len(columns))):
            where = ",".join(f"{name}={number}" for name, number in columns.items())
            self.opened.note(f"{self.title} is read as in training: columns={where}")
        return columns

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
        last = -1 if predicted is None else self._number(predicted)
        chosen = [self.label_column(otherwise=-2), last]
        for block in self._blocks(BLOCK_TOKENS, columns=chosen):
            yield self.labels(block.column(0)), self.labels(block.column(1))

    def label_title(self, of_model):
        """Return the name of the column of the true labels in messages."""
        return f"column {self.label_column(-1 if of_model else -2)} of {self.title}"

    def echo(self, text, X, added):
        """Return a block of lines with columns added to those with tokens.

        Parameters
        ----------
        text : bytes
            Whole lines in UTF-8.
        X : TokenColumns
            The tokens, which know their lines.
        added : dict of str to list
            The values to add to them.

        Returns
        -------
        lines : bytes
            The lines in the encoding of the file.
        """
        # The last line may lack its newline; only then is the last piece not empty.
        lines = text.decode("utf-8").split("\n")
        if X.n_tokens:
            self._add(lines, X.lines - self._before, list(as_text(added).values()))
        self._before += len(lines) - 1
        return self._encoder.encode("\n".join(lines))

    def _add(self, lines, places, columns):
        if self._separator is None:
            line = lines[places[0]]
            blank = " " in line.strip(" \r") and "\t" not in line
            self._separator = " " if blank else "\t"
        join = self._separator.join
        if self.conllu:
            _fill_up(lines, self._separator + join([NO_VALUE] * len(columns)))
        # Each begins with a separator.
        added = map(join, zip(repeat("", len(places)), *columns, strict=True))
        # Blanks at the end separate nothing; a TAB there would be a column.
        loose = " \t" if self._separator == " " else ""
        for place, further in zip(places.tolist(), added, strict=True):
            line = lines[place]
            if line[-1] in ENDS:
                words = line.rstrip("\r")
                further += line[len(words) :]
                line = words.rstrip(loose)
            lines[place] = line + further

    def _relabeled(self, changed):
        label, before, s = self.label_column(), 1, 0
        chosen = _chosen(self.columns, label)
        for text, X in self._blocks(BLOCK_TOKENS, with_text=True, **chosen):
            lines = text.decode("utf-8").split("\n")
            places, ends = (X.lines - before).tolist(), X.offsets.tolist()
            for start, end in pairwise(ends):
                new = changed.get(s, ())
                for place, name in zip(places[start:end], new, strict=bool(new)):
                    lines[place] = self._with_label(lines[place], label, name)
                s += 1
            before += len(lines) - 1
            yield self._encoder.encode("\n".join(lines))

    def _with_label(self, line, column, label):
        """Return a line with another label."""
        first = self.opened.first
        separator = self._given("separator") or ("\t" if "\t" in first else " ")
        # What stands between columns stays: one separator, or any number of blanks.
        between = "([ \t]+)" if separator == " " else f"({re.escape(separator)})"
        parts = re.split(between, line.rstrip(ENDS if separator == " " else "\r"))
        fields = [i for i in range(0, len(parts), 2) if separator != " " or parts[i]]
        rest = line[len("".join(parts)) :]
        parts[fields[column]] = label
        return "".join(parts) + rest

    @classmethod
    def writer(cls, form, label_names=None):
        """Return a function that gives a sentence as lines in UTF-8."""
        return lambda sentence: _lines(cls._columns_of(sentence))

    @staticmethod
    def _columns_of(sentence):
        columns = list(sentence.columns.values())
        return columns if sentence.labels is None else [*columns, sentence.labels]


class ConlluFile(ColumnFile):
    """A CoNLL-U file: columns also have the names of the format."""

    conllu = True
    default_columns = {"word": CONLLU.index("form")}
    default_label = CONLLU.index("upos")

    @staticmethod
    def detect(header, first, fits):
        """Return whether the first line with a token is one of CoNLL-U."""
        return is_conllu(first)

    def _number(self, column):
        if isinstance(column, str) and column.lower() in CONLLU:
            return CONLLU.index(column.lower())
        return super()._number(column)

    @staticmethod
    def _columns_of(sentence):
        n_tokens = len(sentence.tokens)
        found = {name: [NO_VALUE] * n_tokens for name in CONLLU}
        found |= {n: values for n, values in sentence.columns.items() if n in CONLLU}
        found["id"] = list(map(str, range(1, n_tokens + 1)))
        found["form"] = sentence.tokens
        pos = sentence.columns.get("pos")
        if sentence.labels is None:
            found["upos"] = found["upos"] if pos is None else pos
        else:
            found["upos"] = sentence.labels
            found["xpos"] = found["xpos"] if pos is None else pos
        return list(found.values())


def _chosen(columns, *others):
    """Return which columns to read, and their names, as the readers take them."""
    if columns is None:
        return {}
    numbers = [*columns.values(), *others]
    if len(set(numbers)) < len(numbers):
        raise OptionError("columns= names the column of the labels, too")
    names = [*columns, *(f" label {i}" for i in range(len(others)))]
    return {"columns": numbers, "names": names}


def _fill_up(lines, filling):
    """Add empty columns to the lines of CoNLL-U that are ranges and empty nodes."""
    for at, line in enumerate(lines):
        number = line.partition("\t")[0]
        if "\t" in line and ("-" in number or "." in number):
            words = line.rstrip("\r")
            lines[at] = words + filling + line[len(words) :]


def _lines(columns):
    """Return columns as lines, and an empty one after them."""
    for column in columns:
        for text in column:
            fault = fault_of(text, "\t", str.encode)
            if fault:
                raise ValueError(f"{text!r} cannot stand in a column: it {fault}")
    rows = map("\t".join, zip(*columns, strict=True))
    return ("\n".join(rows) + "\n\n").encode("utf-8", "surrogatepass")
