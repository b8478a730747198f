"""The layout of a column file: format, separator, comments and columns."""

import re
import warnings
from dataclasses import dataclass
from numbers import Integral

from skcw.data.columns import check_names
from skcw.exceptions import ColumnFileError, FileFormatWarning

CONLLU = (
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
)  # fmt: skip
DOCSTART = b"-DOCSTART-"
# The number of the first word of a sentence, or of a range or empty node before it.
FIRST_WORD = re.compile(r"1|1-\d+|[01]\.\d+")


@dataclass(frozen=True)
class Options:
    """The options that the caller gave for a file, checked."""

    separator: str | None
    comment: str | None
    skip_docstart: bool
    conllu: bool
    columns: tuple | None
    names: tuple | None
    # Whether nobody has said that the file is not CoNLL-U.
    doubtful: bool = False

    @classmethod
    def checked(cls, *, separator, comment, skip_docstart, conllu, columns, names):
        """Return the options, or raise and name the wrong one."""
        if conllu:
            if separator not in (None, "\t"):
                raise ValueError("CoNLL-U files are separated by TABs; omit separator")
            separator, comment = "\t", "#"
        if separator is not None:
            check_separator(separator)
        if comment is not None and not (isinstance(comment, str) and comment):
            raise ValueError(
                f'comment is {comment!r}; it must be "auto", a prefix or None'
            )
        if comment == "auto" and separator not in (None, "\t"):
            comment = None
        columns = _checked_columns(columns, conllu)
        names = None if names is None else tuple(names)
        doubtful = conllu is None and columns is None
        if columns is not None and names is not None:
            check_names(names, len(columns))
        return cls(
            separator, comment, skip_docstart, bool(conllu), columns, names, doubtful
        )

    @property
    def width(self):
        """How many columns are kept of a file that has no line."""
        known = self.columns or self.names or (CONLLU if self.conllu else ())
        return len(known)

    def starts_document(self, line):
        """Tell whether a line is a ``-DOCSTART-`` line to be skipped."""
        ends = (b"", b" ", b"\t", (self.separator or "").encode())
        after = line[len(DOCSTART) : len(DOCSTART) + 1]
        return self.skip_docstart and line.startswith(DOCSTART) and after in ends

    def names_of(self, kept):
        """Return the names of the columns that are kept, if they have names."""
        if self.names is None and self.conllu and max(kept, default=0) < len(CONLLU):
            return tuple(CONLLU[c] for c in kept)
        return self.names


def check_separator(separator):
    """Raise unless columns can be separated by it."""
    single = isinstance(separator, str) and len(separator) == 1 and separator.isascii()
    if not single or separator in "\r\n":
        raise ValueError(f"separator is {separator!r}; it must be one ASCII character")


def _checked_columns(columns, conllu):
    if columns is None:
        return None
    if isinstance(columns, (str, bytes)) or not hasattr(columns, "__iter__"):
        raise TypeError(f"columns is {columns!r}; give a list, such as [0, -1]")
    numbers = []
    for column in columns:
        if isinstance(column, str):
            if not conllu or column not in CONLLU:
                raise ValueError(
                    f"columns holds {column!r}; columns are chosen by number, and in "
                    f"CoNLL-U files also by a name of {', '.join(CONLLU)}"
                )
            column = CONLLU.index(column)
        if isinstance(column, bool) or not isinstance(column, Integral):
            raise TypeError(
                f"columns holds {column!r}; columns are chosen by whole numbers, such "
                "as 0 for the first and -1 for the last"
            )
        numbers.append(int(column))
    if not numbers:
        raise ValueError("columns is empty; name at least one column or pass None")
    return tuple(numbers)


class Layout:
    """The columns of one file, and the errors of lines that do not have them.

    Parameters
    ----------
    options : Options
        What the caller said.
    name : str
        The file.
    number : int
        The number of the first line that holds a token.
    line : bytes
        That line.
    """

    def __init__(self, options, name, number, line):
        self.name = name
        self.first = number
        self.separator = options.separator or ("\t" if b"\t" in line else " ")
        self.n_columns = len(fields_of(line, self.separator))
        self.conllu = options.conllu
        self.skip_docstart = options.skip_docstart
        self.comments_have_no_tab = options.comment == "auto"
        if options.comment != "auto":
            self.comment = options.comment and options.comment.encode()
        else:
            in_tabs = self.separator == "\t" and self.n_columns > 1
            self.comment = b"#" if in_tabs else None
        if options.doubtful and is_conllu(line.decode("utf-8", "replace")):
            warnings.warn(
                f"{name} looks like CoNLL-U, whose last column is no label; pass "
                "conllu=True to read it so, or conllu=False to read it as it is",
                FileFormatWarning,
                stacklevel=2,
            )
        self.kept = self._kept(options.columns)
        self.names = options.names_of(self.kept)
        if self.names is not None:
            check_names(self.names, len(self.kept))

    def _kept(self, columns):
        if columns is None:
            return list(range(self.n_columns))
        for column in columns:
            if not -self.n_columns <= column < self.n_columns:
                raise ColumnFileError(
                    f"{self.name}, line {self.first}: {_columns(self.n_columns)}, "
                    f"but column {column} is asked for (the first is 0)"
                )
        kept = [column % self.n_columns for column in columns]
        if len(set(kept)) != len(kept):
            raise ValueError(f"columns names a column twice: {list(columns)}")
        return kept

    def count_error(self, number, found, line):
        """Return the error of a line with another number of columns."""
        hint = ""
        if line.startswith(b"#"):
            hint = '; if such lines are comments, pass comment="#"'
        between = {"\t": "TABs", " ": "blanks"}
        separator = between.get(self.separator, repr(self.separator))
        return ColumnFileError(
            f"{self.name}, line {number}: {_columns(found)} where {self.n_columns} are "
            f"expected as in line {self.first}, separated by {separator}; the line is "
            f"{_excerpt(line)}{hint}"
        )

    def empty_error(self, number, column, line):
        """Return the error of a line with nothing in a column."""
        return ColumnFileError(
            f"{self.name}, line {number}: nothing in column {column} (the first is "
            f"0) of {_excerpt(line)}; write _ for no value, or leave the column out by "
            "columns="
        )

    def number_error(self, number, line):
        """Return the error of a CoNLL-U line that begins with no number."""
        return ColumnFileError(
            f"{self.name}, line {number}: a CoNLL-U line begins with the number of "
            f"the word: {_excerpt(line)}"
        )


def find_layout(options, name, lines, first, complete):
    """Return the layout that the first lines of a file show, or None.

    `first` is the number of the first of these lines; `complete` tells that no others
    follow.

    The first line with a token decides. Whether lines that begin with # are comments
    depends on the separator, so they do not decide while others may follow.
    """
    doubtful = None
    for number, line in enumerate(lines.split(b"\n"), start=first):
        line = line.rstrip(b"\r")
        if not line.strip(b" \t") or options.starts_document(line):
            continue
        if options.comment == "auto":
            if line.startswith(b"#") and b"\t" not in line:
                doubtful = doubtful or (number, line)
                continue
        elif options.comment and line.startswith(options.comment.encode()):
            continue
        return Layout(options, name, number, line)
    return Layout(options, name, *doubtful) if doubtful and complete else None


def is_conllu(line):
    """Tell the first word of CoNLL-U by its ten columns, its number and its head.

    Parameters
    ----------
    line : str
        The first line of a file that is no comment.

    Returns
    -------
    is_conllu : bool
        Whether it is probably CoNLL-U, perhaps with columns added.

    Examples
    --------
    >>> from skcw.io.layout import is_conllu
    >>> cells = ["1", "Ann", "_", "PROPN", "_", "_", "2", "nsubj", "_", "_"]
    >>> is_conllu(chr(9).join(cells)), is_conllu("Ann NNP B-PER")
    (True, False)
    """
    cells = line.split("\t")
    if len(cells) < len(CONLLU) or not FIRST_WORD.fullmatch(cells[0]):
        return False
    return cells[6] == "_" or cells[6].isdecimal()


def fields_of(line, separator):
    """Return the columns of a line, given as bytes."""
    if separator == " ":
        return [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    return line.split(separator.encode())


def _columns(n):
    return "1 column" if n == 1 else f"{n} columns"


def _excerpt(line):
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= 60 else text[:57] + "...")
