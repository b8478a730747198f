"""Column files: one token per line, in the layout that a file has."""

import codecs
import io
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import chain
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np

from skcw._util.checks import brief, check_same_lengths
from skcw._util.files import rewriting
from skcw._util.limits import LONGEST_HEAD
from skcw._util.ragged import place_of
from skcw.data.columns import TokenColumns, check_names
from skcw.data.text_lines import check_source, is_utf8, name_of, utf8_lines
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ColumnFileError, FileFormatWarning
from skcw.io.column_scanner import ColumnParser

# Comments and blank lines end a block too when there are very many of them.
BYTES_PER_TOKEN = 256
CONLLU = (
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
)  # fmt: skip
DOCSTART = b"-DOCSTART-"
# The number of the first word of a sentence, or of a range or empty node before it.
FIRST_WORD = re.compile(r"1|1-\d+|[01]\.\d+")


def read_columns(
    source: Any,
    *,
    separator: str | None = None,
    comment: str = "auto",
    encoding: str = "utf-8",
    skip_docstart: bool = True,
    conllu: bool | None = None,
    columns: Sequence[Any] | None = None,
    names: Iterable[Any] | None = None,
) -> Any:
    r"""Read a column file: one token per line, a blank line between sentences.

    Windows line ends, a byte order mark, blank lines that hold blanks, several of
    them in a row, and a last line without a newline are all fine.

    Parameters
    ----------
    source : str, path-like or file object
        The file, opened in binary or text mode if it is an object. A gzip file is
        known by its first two bytes, whatever its name.
    separator : str, default=None
        The separator of columns: ``"\t"`` or another single character, or
        ``" "`` for any run of blanks. By default a TAB if the first line with a token
        has one, else blanks.
    comment : str, default="auto"
        Lines that begin with this are skipped; None if there are none. ``"auto"``: in
        files of two or more columns separated by TABs, lines that begin with ``#``
        and hold no TAB; in others none, because ``#`` may be a word.
    encoding : str, default="utf-8"
        The encoding of the file, such as ``"latin-1"``. Text mode files bring their
        own.
    skip_docstart : bool, default=True
        Skip lines whose first column is ``-DOCSTART-``, as CoNLL-2003 has them. They
        end a sentence like a blank line.
    conllu : bool, default=None
        Read a CoNLL-U file: TABs, comments with ``#``; ranges of words such as
        ``1-2`` and empty nodes such as ``1.1`` are skipped. By default not, with a
        warning if the file looks like one. Columns get their names
        in the format: id, form, lemma, upos, xpos, feats, head, deprel, deps, misc.
    columns : sequence of int, default=None
        The columns to keep, in this order; negative numbers count from the end. With
        ``conllu``, names of the format too. All by default.
    names : sequence of str, default=None
        The names of the columns that are kept.

    Returns
    -------
    columns : TokenColumns
        The sentences. ``lines`` has the line of the file for each token.

    Raises
    ------
    ColumnFileError
        If a line has more or fewer columns than the first one, has nothing in a column
        that is kept, or cannot be decoded. The message names the file and the line.

    See Also
    --------
    iter_columns : The same in blocks, for files of any size.
    write_columns : Write a column file.

    Examples
    --------
    >>> import io
    >>> from skcw.io import read_columns
    >>> file = io.StringIO("Ann NNP B-PER\nsleeps VBZ O\n\nBo NNP B-PER\n")
    >>> sentences = read_columns(file, names=["word", "pos", "label"])
    >>> sentences
    TokenColumns(2 sentences, 3 tokens, columns: word, pos, label)
    >>> X, y = sentences.split_label()
    >>> X[0], y[0]
    ([('Ann', 'NNP'), ('sleeps', 'VBZ')], ['B-PER', 'O'])
    """
    given = separator, comment, skip_docstart, conllu, columns, names
    options = Options(*given)
    blocks = _blocks(source, encoding, options, sys.maxsize, False)
    found = [sentences for _, sentences in blocks]
    return found[0] if found else _nothing(options)


def iter_columns(
    source: Any,
    *,
    block_tokens: int = 100_000,
    separator: str | None = None,
    comment: str = "auto",
    encoding: str = "utf-8",
    skip_docstart: bool = True,
    conllu: bool | None = None,
    columns: Sequence[Any] | None = None,
    names: Iterable[Any] | None = None,
    with_text: bool = False,
) -> Any:
    r"""Read a column file of any size, or standard input, in blocks of sentences.

    Only one block is in memory at a time, and no more is read than what it needs. A
    sentence is never split: a block is as large as its sentences, and a file without
    blank lines is one sentence and one block.

    Parameters
    ----------
    source : str, path-like or file object
        As in :func:`read_columns`. For standard input pass ``sys.stdin.buffer``.
    block_tokens : int, default=100_000
        A block ends with the sentence that brings it to this many tokens.
    separator : str, default=None
        As in :func:`read_columns`.
    comment : str, default="auto"
        As in :func:`read_columns`.
    encoding : str, default="utf-8"
        As in :func:`read_columns`.
    skip_docstart : bool, default=True
        As in :func:`read_columns`.
    conllu : bool, default=None
        As in :func:`read_columns`.
    columns : sequence of int, default=None
        As in :func:`read_columns`.
    names : sequence of str, default=None
        As in :func:`read_columns`.
    with_text : bool, default=False
        Whether to return each block as a pair of its text and its sentences, for
        programs that write a file again with something added. The text is whole lines
        in UTF-8, whatever the encoding of the file, with comments, blank lines and all
        columns; the texts together are the file without its byte order mark. A block
        may then have no sentence, when comments end the file.

    Returns
    -------
    blocks : generator of TokenColumns, or of (bytes, TokenColumns)
        At least one sentence each. Each block numbers its values anew.

    See Also
    --------
    read_columns : Read the whole file at once.

    Examples
    --------
    >>> import io
    >>> from skcw.io import iter_columns
    >>> file = io.BytesIO(b"a\nb\n\nc\n\nd\ne\n")
    >>> [block.lengths.tolist() for block in iter_columns(file, block_tokens=3)]
    [[2, 1], [2]]

    Write the length of each token beside it:

    >>> file = io.BytesIO(b"# a comment\nthe DT\ncat NN\n\nSit VB\n")
    >>> before = 1
    >>> for text, X in iter_columns(file, comment="#", with_text=True, block_tokens=2):
    ...     lines = text.decode().split("\n")
    ...     for line, token in zip(X.lines, sum(X.column(0), [])):
    ...         lines[line - before] += f" {len(token)}"
    ...     before += text.count(b"\n")
    ...     print("\n".join(lines), end="")
    # a comment
    the DT 3
    cat NN 3
    <BLANKLINE>
    Sit VB 3
    """
    given = separator, comment, skip_docstart, conllu, columns, names
    options = Options(*given)
    if not isinstance(block_tokens, Integral) or block_tokens < 1:
        raise ValueError(f"block_tokens is {block_tokens!r}; it must be 1 or more")
    blocks = _blocks(source, encoding, options, int(block_tokens), with_text)
    return blocks if with_text else (sentences for _, sentences in blocks)


def _blocks(source, encoding, options, block_tokens, with_text):
    """Check what can be checked before reading; then read block by block."""
    check_source(source)
    is_utf8(encoding)
    return _read_blocks(source, encoding, options, block_tokens, with_text)


def _read_blocks(source, encoding, options, block_tokens, with_text):
    """Yield (text, sentences); the text is empty unless asked for."""
    with closing(utf8_lines(source, encoding)) as pieces:
        head, layout = _head(pieces, options, name_of(source))
        if layout is None:
            if with_text and head:
                yield head, _nothing(options)
            return
        parser = ColumnParser(layout)
        held = []
        for text in chain([head], pieces):
            at = 0
            while at < len(text):
                begin, at = at, parser.parse(text, at, block_tokens)
                if with_text:
                    held.append(text[begin:at])
                if _is_full(parser, held, block_tokens):
                    yield b"".join(held), _finished(parser, layout)
                    held.clear()
        if parser.n_tokens or held:
            yield b"".join(held), _finished(parser, layout)


def _head(pieces, options, name):
    """Return the text up to the first line with a token at least, and the layout."""
    head, line = b"", 1
    for piece in pieces:
        layout = find_layout(options, name, piece, line, complete=False)
        head += piece
        if layout is not None:
            return head, layout
        line += piece.count(b"\n")
        if len(head) > LONGEST_HEAD:
            raise ColumnFileError(f"{name} has no token in its first {len(head)} bytes")
    return head, find_layout(options, name, head, 1, complete=True)


def _is_full(parser, held, block_tokens):
    if not parser.between_sentences():
        return False
    if parser.n_tokens >= block_tokens:
        return True
    return sum(map(len, held)) >= BYTES_PER_TOKEN * max(block_tokens, 256)


def _finished(parser, layout):
    offsets, codes, values, lines = parser.finish()
    return TokenColumns(offsets, codes, values, layout.names, lines)


def _nothing(options):
    """Return the columns of a file without tokens."""
    known = CONLLU if options.conllu else ()
    n_columns = len(options.columns or options.names or known)
    return TokenColumns(
        np.zeros(1, dtype=np.int64),
        np.empty((n_columns, 0), dtype=np.int32),
        [Vocabulary.empty() for _ in range(n_columns)],
        options.names_of(options.columns or range(n_columns)),
        np.empty(0, dtype=np.int64),
    )


def write_columns(
    path: str | PathLike[str],
    X: Any,
    labels: Any = None,
    *,
    separator: str = "\t",
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences as a column file.

    The file appears under its name only when it is complete; until then an older one
    stays as it is.

    Parameters
    ----------
    path : str or path-like
        The file to write; compressed if its name ends with ``.gz``.
    X : TokenColumns or list of sequences
        The sentences; a token is a tuple of strings, or a string.
    labels : TokenColumns or list of sequences, default=None
        Further columns to the right, in the same forms: a label for each token, or a
        tuple of several.
    separator : str, default="\t"
        The separator to write: one ASCII character.
    encoding : str, default="utf-8"
        The encoding of the file.

    Raises
    ------
    ValueError
        If a value cannot be read back from the file: it is empty, holds the separator
        or a line break, or the encoding lacks one of its characters; or if a sentence
        has no tokens. The message names sentence and token.

    See Also
    --------
    read_columns : Read it again, with the same separator.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skcw.io import read_columns, write_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "corpus.conll.gz"
    ...     write_columns(path, [["Ann", "sleeps"], ["Bo"]], [["PER", "O"], ["PER"]])
    ...     list(read_columns(path))
    [[('Ann', 'PER'), ('sleeps', 'O')], [('Bo', 'PER')]]
    """
    check_separator(separator)
    # Which raises at a name that Python does not know.
    is_utf8(encoding)
    columns = TokenColumns.from_sequences(X)
    if labels is not None:
        columns = _side_by_side(columns, TokenColumns.from_sequences(labels))
    _check_sentences(columns)
    for c in range(columns.n_columns):
        _check_values(columns, c, separator, encoding)
    with (
        rewriting(path) as file,
        io.TextIOWrapper(file, encoding, newline="\n") as text,
    ):
        marked = codecs.lookup(encoding).name == "utf-8-sig"
        for s, sentence in enumerate(columns):
            lines = "\n".join(map(separator.join, sentence))
            if s == 0 and lines.startswith("\ufeff") and not marked:
                # A reader takes the first one for a byte order mark.
                text.write("\ufeff")
            text.write(f"{lines}\n\n")


def _side_by_side(left, right):
    check_same_lengths(left.lengths, right.lengths, ("X", "labels"))
    return TokenColumns(
        left.offsets,
        np.concatenate([left.codes, right.codes]),
        left.values + right.values,
    )


def _check_sentences(columns):
    empty = np.flatnonzero(columns.lengths == 0)
    if len(empty):
        raise ValueError(
            f"sentence {empty[0]} has no tokens, which a column file cannot hold; "
            "leave it out"
        )
    if len(columns) and not columns.n_columns:
        raise ValueError("the tokens have no columns")


def _check_values(columns, c, separator, encoding):
    """Raise if a value of column c could not be read back from the file."""
    encode = codecs.getencoder(encoding)
    faults = {}
    for code, text in enumerate(columns.values[c].names()):
        fault = fault_of(text, separator, encode)
        if fault:
            faults[code] = text, fault
    used = np.flatnonzero(np.isin(columns.codes[c], list(faults)))
    if len(used):
        text, fault = faults[columns.codes[c, used[0]]]
        place = place_of(used[0], columns.offsets, noun="sentence")
        raise ValueError(f"{place} has {text!r} in column {c}, which {fault}")


def fault_of(text, separator, encode):
    """Say why a value cannot stand in a file, or return None."""
    if not text.strip(" \t"):
        return "would leave the column empty; write _ for no value"
    if "\n" in text or "\r" in text:
        return "holds a line break"
    if separator in text or (separator == " " and "\t" in text):
        return f"holds the separator {separator!r}"
    try:
        encode(text)
    except UnicodeEncodeError as error:
        return f"cannot be encoded: {error}"
    return None


class Options:
    """The options that the caller gave for a file, checked."""

    def __init__(self, separator, comment, skip_docstart, conllu, columns, names):
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
        self.separator, self.comment = separator, comment
        self.skip_docstart, self.conllu = skip_docstart, bool(conllu)
        self.columns = _checked_columns(columns, conllu)
        self.names = None if names is None else tuple(names)
        # The file may be CoNLL-U where neither conllu nor columns was given.
        self.doubtful = conllu is None and self.columns is None
        if self.columns is not None and self.names is not None:
            check_names(self.names, len(self.columns))

    def starts_document(self, line):
        """Return whether a line is a ``-DOCSTART-`` line to be skipped."""
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
        The options of the caller.
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
                f"{name} looks like CoNLL-U, whose last column is not a label; pass "
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

    `first` is the number of the first of these lines; `complete` means that no others
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
    """Return whether a line is the first word of CoNLL-U: ten columns, number, head.

    Parameters
    ----------
    line : str
        The first line of a file that is not a comment.

    Returns
    -------
    is_conllu : bool
        Whether it is probably CoNLL-U, perhaps with columns added.

    Examples
    --------
    >>> from skcw.io.columns import is_conllu
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
    return repr(brief(line.decode("utf-8", "replace")))
