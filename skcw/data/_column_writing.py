"""Write column files: one token per line, a blank line after each sentence."""

import codecs
import gzip
import io
from contextlib import ExitStack

import numpy as np

from skcw.data._files import replacing
from skcw.data._layout import check_separator
from skcw.data._ragged import place_of
from skcw.data._text_lines import is_utf8
from skcw.data._token_columns import TokenColumns


def write_columns(path, X, labels=None, *, separator="\t", encoding="utf-8"):
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
        What to write between columns: one ASCII character.
    encoding : str, default="utf-8"
        The encoding of the file.

    Raises
    ------
    ValueError
        If a value cannot be read back from the file: it is empty, holds the separator
        or a line break, or the encoding lacks one of its characters; or if a sentence
        has no tokens. The message tells sentence and token.

    See Also
    --------
    read_columns : Read it again, with the same separator.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skcw.data import read_columns, write_columns
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
    with replacing(path) as draft:
        _write(draft, columns, separator, encoding, str(path).endswith(".gz"))


def _side_by_side(left, right):
    if len(left) != len(right):
        raise ValueError(f"{len(left)} sentences, but labels for {len(right)}")
    differ = np.flatnonzero(left.lengths != right.lengths)
    if len(differ):
        s = differ[0]
        raise ValueError(
            f"sentence {s} has {left.lengths[s]} tokens, but {right.lengths[s]} labels"
        )
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


def _write(path, columns, separator, encoding, compressed):
    marked = codecs.lookup(encoding).name == "utf-8-sig"
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "wb"))
        if compressed:
            # The same sentences give the same bytes at any time, under any name.
            packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
            file = stack.enter_context(packed)
        text = stack.enter_context(io.TextIOWrapper(file, encoding, newline="\n"))
        for s, sentence in enumerate(columns):
            lines = "\n".join(map(separator.join, sentence))
            if s == 0 and lines.startswith("\ufeff") and not marked:
                # A reader takes the first one for a byte order mark.
                text.write("\ufeff")
            text.write(f"{lines}\n\n")
