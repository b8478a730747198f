"""CSV files: a header, one row per token, and a column that names its sentence."""

import codecs
import csv
import io
from itertools import pairwise

from skcw.data.columns import (
    SENTENCE_NAMES,
    choose_columns,
    columns_of_lists,
    find_name,
    listed_names,
    sentence_starts,
)
from skcw.data.text_lines import lines_of
from skcw.exceptions import ColumnFileError
from skcw.io.columns import check_separator
from skcw.io.corpora import BLOCK_TOKENS, NamedFile, as_text, is_added

SEPARATORS = ",;\t"


class CsvFile(NamedFile):
    """A CSV file with a header.

    By default columns are separated by a comma, a semicolon or a TAB, whichever the
    header has most of, and the column of the sentences is one of a known name. An
    empty cell there means the sentence of the row above.

    Parameters
    ----------
    opened : Opened
        The file after a first look.
    """

    takes = ("sentence_column", "separator")

    def __init__(self, opened):
        super().__init__(opened)
        self._lines = lines_of(opened.source, opened.encoding)
        first = next(self._lines, "")
        self.line_end = "\r\n" if first.endswith("\r\n") else "\n"
        separator = getattr(self.options, "separator", None)
        if separator is not None:
            check_separator(separator)
        self.separator = separator or separator_of(first) or ","
        try:
            self.header = _fields(first, self.separator) if first else []
        except csv.Error as error:
            raise self._error(1, error) from None
        self._choose(self._given("sentence_column"))
        # Columns that an earlier model has added are replaced.
        self._kept = [c for c, name in enumerate(self.header) if not is_added(name)]
        self._encoder = codecs.getincrementalencoder(opened.encoding)()
        self._echoes = False

    @staticmethod
    def detect(header, first, fits):
        """Return whether a line names a column of sentences and others."""
        if fits:
            return True
        separator = separator_of(header)
        try:
            names = _fields(header, separator) if separator else []
        except csv.Error:
            return False
        return find_name(names, SENTENCE_NAMES) is not None

    def _error(self, line, message):
        return ColumnFileError(f"{self.title}, line {line}: {message}")

    def _choose(self, sentence):
        """Find the columns; that of the index of pandas has no name and is left out."""
        named = [name for name in self.header if name]
        twice = [name for name in named if named.count(name) > 1]
        if twice:
            raise self._error(1, f"two columns are called {twice[0]!r}")
        found = find_name(named, SENTENCE_NAMES) if sentence is None else sentence
        if found not in named:
            what = "tells sentences apart" if found is None else f"is called {found!r}"
            raise self._error(
                1,
                f"no column {what}, so sentence ends are unknown; pass "
                f"sentence_column=NAME; {listed_names(named)}",
            )
        self.sentence = self.header.index(found)
        try:
            chosen = choose_columns([name for name in named if name != found])
        except ValueError as error:
            raise self._error(1, error) from None
        self.renamed = {old: new for new, old in chosen.items()}
        self.numbers = {new: self.header.index(name) for new, name in chosen.items()}

    def _blocks(self, block_tokens, label, with_labels):
        # To be tagged, any column may be one that the model has learned from.
        label = self._label_name(label) if with_labels else None
        for rows, numbers in self._rows(block_tokens):
            yield rows, self._sentences(rows, numbers), label

    def _label_name(self, label):
        """Return the name that the column of the labels has in the sentences."""
        if isinstance(label, int):
            if not -len(self.header) <= label < len(self.header):
                raise ValueError(
                    f"{self.title} has {len(self.header)} columns; "
                    f"label_column={label} is not one of them"
                )
            label = self.header[label]
        elif label is None:
            # The last one that is not from an earlier model.
            known = (name for name in reversed(self.header) if name in self.renamed)
            label = next(name for name in known if not is_added(name))
        label = self.renamed.get(label, label)
        if label not in self.numbers:
            raise ValueError(
                f"{self.title} has no column {label!r}; it has "
                f"{', '.join(self.numbers)}"
            )
        return label

    def _rows(self, block_tokens):
        """Yield the rows of whole sentences, and the lines of the file they end in."""
        reader = csv.reader(self._lines, delimiter=self.separator)
        rows, numbers, key = [], [], None
        try:
            for row in reader:
                if not row:
                    continue
                number = reader.line_num + 1
                self._check(row, number)
                cell = row[self.sentence]
                if len(rows) >= block_tokens and cell not in ("", key):
                    yield rows, numbers
                    rows, numbers = [], []
                key = cell or key
                rows.append(row)
                numbers.append(number)
        except csv.Error as error:
            raise self._error(reader.line_num + 1, error) from None
        if rows:
            yield rows, numbers

    def _check(self, row, number):
        if len(row) != len(self.header):
            raise self._error(
                number, f"{len(row)} cells where the header has {len(self.header)}"
            )
        for c in self.numbers.values():
            if not row[c]:
                raise self._error(
                    number,
                    f"nothing in column {self.header[c]!r}; write _ for no value, or "
                    "leave the column out by columns=",
                )

    def _sentences(self, rows, numbers):
        ids = [row[self.sentence] or None for row in rows]
        try:
            starts, _ = sentence_starts(ids, lambda row: f"line {numbers[row]}")
        except ValueError as error:
            raise ColumnFileError(f"{self.title}: {error}") from None
        texts = {name: [row[c] for row in rows] for name, c in self.numbers.items()}
        lengths = [b - a for a, b in pairwise([*starts, len(rows)])]
        return columns_of_lists(lengths, texts, numbers)

    def echo(self, rows, X, added):
        """Return rows with columns added, after the header if they are the first."""
        columns = as_text(added)
        found = [] if self._echoes else [[self.header[c] for c in self._kept]]
        found = [[*row, *columns] for row in found]
        self._echoes = True
        for row, further in zip(rows, zip(*columns.values(), strict=True), strict=True):
            found.append([*(row[c] for c in self._kept), *further])
        return self._text(found)

    def _relabeled(self, changed):
        yield self._text([self.header])
        s = 0
        for rows, X, label in self._blocks(BLOCK_TOKENS, self.label, True):
            for start, end in pairwise(X.offsets.tolist()):
                new = changed.get(s, ())
                for row, name in zip(rows[start:end], new, strict=bool(new)):
                    row[self.numbers[label]] = name
                s += 1
            yield self._text(rows)

    def _text(self, rows):
        return self._encoder.encode(csv_text(rows, self.separator, self.line_end))

    @classmethod
    def writer(cls, form, label_names=None):
        """Return a function that gives a sentence as rows, the first after a header."""
        number = 0

        def written(sentence):
            nonlocal number
            number += 1
            columns = sentence._replace(label="label").all_columns()
            header = [["sentence_id", *columns]] if number == 1 else []
            rows = zip(*columns.values(), strict=True)
            return csv_text([*header, *([str(number), *row] for row in rows)]).encode()

        return written


def separator_of(line):
    """Return the separator of the names in a header, or None."""
    best = max(SEPARATORS, key=line.count)
    return best if best in line else None


def _fields(line, separator):
    return next(csv.reader([line], delimiter=separator), [])


def csv_text(rows, separator=",", line_end="\n"):
    r"""Return rows as the text of a CSV file.

    Parameters
    ----------
    rows : iterable of sequences of str
        The cells.
    separator : str, default=","
        The separator of cells.
    line_end : str, default="\n"
        The end of a row.

    Returns
    -------
    text : str
        The rows; cells are quoted where they have to be.

    Examples
    --------
    >>> from skcw.io.csv_format import csv_text
    >>> csv_text([["1", "a, b"]])
    '1,"a, b"\n'
    """
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator=line_end).writerows(rows)
    return file.getvalue()
