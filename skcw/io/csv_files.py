"""CSV files: a header, one row per token, and a column that tells sentences apart."""

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
from skcw.data.text_lines import check_source, is_utf8, name_of, utf8_lines
from skcw.exceptions import ColumnFileError
from skcw.io.layout import check_separator

SEPARATORS = ",;\t"


def separator_of(line):
    """Return what separates the names in a header, or None if nothing does."""
    counts = {separator: line.count(separator) for separator in SEPARATORS}
    best = max(counts, key=counts.get)
    return best if counts[best] else None


def looks_like_header(line):
    """Tell whether a line names a column of sentences and others.

    Parameters
    ----------
    line : str
        The first line of a file.

    Returns
    -------
    is_header : bool
        Whether it is probably the header of a CSV file.

    Examples
    --------
    >>> from skcw.io.csv_files import looks_like_header
    >>> looks_like_header("Sentence #,Word,Tag"), looks_like_header("1,000 CD")
    (True, False)
    """
    separator = separator_of(line)
    try:
        names = _fields(line, separator) if separator else []
    except csv.Error:
        return False
    return find_name(names, SENTENCE_NAMES) is not None


def _fields(line, separator):
    return next(csv.reader([line], delimiter=separator), [])


class CsvFile:
    r"""A CSV file that is read in blocks of sentences.

    Parameters
    ----------
    source : str, path-like or file object
        The file.
    separator : str, default=None
        What separates columns; by default a comma, a semicolon or a TAB, whichever the
        header has most of.
    sentence : str, default=None
        The column that tells sentences apart; by default one of a known name. An empty
        cell means the sentence of the row above.
    columns : dict or sequence of str, default=None
        As in :meth:`TokenColumns.from_frame`.
    encoding : str, default="utf-8"
        The encoding of the file.

    Examples
    --------
    >>> import io
    >>> from skcw.io.csv_files import CsvFile
    >>> file = CsvFile(io.StringIO("sentence_id,word\n1,Ann\n1,left\n2,Stop\n"))
    >>> [X[0] for rows, X in file.blocks(2)]
    [[('Ann',), ('left',)], [('Stop',)]]
    """

    def __init__(
        self, source, *, separator=None, sentence=None, columns=None, encoding="utf-8"
    ):
        check_source(source)
        is_utf8(encoding)
        self.name = name_of(source)
        lines = _lines(source, encoding)
        first = next(lines, "")
        self.line_end = "\r\n" if first.endswith("\r\n") else "\n"
        if separator is not None:
            check_separator(separator)
        self.separator = separator or separator_of(first) or ","
        try:
            self.header = _fields(first, self.separator) if first else []
        except csv.Error as error:
            raise ColumnFileError(f"{self.name}, line 1: {error}") from None
        self._lines = lines
        self._choose(sentence, columns)

    def _choose(self, sentence, columns):
        """Find the columns; that of the index of pandas has no name and is left out."""
        named = [name for name in self.header if name]
        twice = [name for name in named if named.count(name) > 1]
        if twice:
            raise ColumnFileError(
                f"{self.name}, line 1: two columns are called {twice[0]!r}"
            )
        found = find_name(named, SENTENCE_NAMES) if sentence is None else sentence
        if found not in named:
            what = "tells sentences apart" if found is None else f"is called {found!r}"
            raise ColumnFileError(
                f"{self.name}, line 1: no column {what}, so that nobody knows where a "
                f"sentence ends; pass sentence=NAME; {listed_names(named)}"
            )
        self.sentence = self.header.index(found)
        try:
            chosen = choose_columns([name for name in named if name != found], columns)
        except ValueError as error:
            raise ColumnFileError(f"{self.name}, line 1: {error}") from None
        self.columns = {new: self.header.index(name) for new, name in chosen.items()}

    def blocks(self, block_tokens):
        """Yield rows and their sentences.

        Parameters
        ----------
        block_tokens : int
            A block ends with the sentence that brings it to this many tokens.

        Yields
        ------
        rows : list of list of str
            The cells of all columns.
        X : TokenColumns
            The sentences.
        """
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
                    yield rows, self._sentences(rows, numbers)
                    rows, numbers = [], []
                key = cell or key
                rows.append(row)
                numbers.append(number)
        except csv.Error as error:
            number = reader.line_num + 1
            raise ColumnFileError(f"{self.name}, line {number}: {error}") from None
        if rows:
            yield rows, self._sentences(rows, numbers)

    def _check(self, row, number):
        if len(row) != len(self.header):
            raise ColumnFileError(
                f"{self.name}, line {number}: {len(row)} cells where the header has "
                f"{len(self.header)}"
            )
        for c in self.columns.values():
            if not row[c]:
                raise ColumnFileError(
                    f"{self.name}, line {number}: nothing in column "
                    f"{self.header[c]!r}; write _ for no value, or leave the column "
                    "out by columns="
                )

    def _sentences(self, rows, numbers):
        ids = [row[self.sentence] or None for row in rows]
        try:
            starts, _ = sentence_starts(ids, lambda row: f"line {numbers[row]}")
        except ValueError as error:
            raise ColumnFileError(f"{self.name}: {error}") from None
        texts = {name: [row[c] for row in rows] for name, c in self.columns.items()}
        lengths = [b - a for a, b in pairwise([*starts, len(rows)])]
        return columns_of_lists(lengths, texts, numbers)

    def text(self, rows):
        """Return rows as text, in the manner of the file."""
        return csv_text(rows, self.separator, self.line_end)


def _lines(source, encoding):
    for piece in utf8_lines(source, encoding):
        # Not splitlines: other characters that break lines may stand in a word.
        *lines, last = piece.decode("utf-8").split("\n")
        for line in lines:
            yield line + "\n"
        if last:
            yield last


def csv_text(rows, separator=",", line_end="\n"):
    r"""Return rows as the text of a CSV file.

    Parameters
    ----------
    rows : iterable of sequences of str
        The cells.
    separator : str, default=","
        What to write between them.
    line_end : str, default="\n"
        What to write after a row.

    Returns
    -------
    text : str
        The rows; cells are quoted where they have to be.

    Examples
    --------
    >>> from skcw.io.csv_files import csv_text
    >>> csv_text([["1", "a, b"]])
    '1,"a, b"\n'
    """
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator=line_end).writerows(rows)
    return file.getvalue()
