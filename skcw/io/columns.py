"""Column files: one token per line, in the layout that a file has."""

import codecs
import gzip
import io
import sys
from contextlib import ExitStack, closing
from itertools import chain
from numbers import Integral

import numpy as np

from skcw._util.files import replacing
from skcw._util.limits import LONGEST_HEAD
from skcw._util.ragged import place_of
from skcw.data.columns import TokenColumns
from skcw.data.text_lines import check_source, is_utf8, name_of, utf8_lines
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ColumnFileError
from skcw.io.column_scanner import ColumnParser
from skcw.io.layout import Options, check_separator, find_layout

# Comments and blank lines end a block too when there are very many of them.
BYTES_PER_TOKEN = 256


def read_columns(
    source,
    *,
    separator=None,
    comment="auto",
    encoding="utf-8",
    skip_docstart=True,
    conllu=None,
    columns=None,
    names=None,
):
    r"""Read a column file: one token per line, a blank line between sentences.

    Windows line ends, a byte order mark, blank lines that hold blanks, several of
    them in a row, and a last line without a newline are all fine.

    Parameters
    ----------
    source : str, path-like or file object
        The file, opened in binary or text mode if it is an object. A gzip file is
        known by its first two bytes, whatever its name.
    separator : str, default=None
        What stands between columns: ``"\t"`` or another single character, or
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
        The sentences. Its ``lines`` tells where in the file each token stands.

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
    options = Options.checked(
        separator=separator,
        comment=comment,
        skip_docstart=skip_docstart,
        conllu=conllu,
        columns=columns,
        names=names,
    )
    blocks = _blocks(source, encoding, options, sys.maxsize, False)
    found = [sentences for _, sentences in blocks]
    return found[0] if found else _nothing(options)


def iter_columns(
    source,
    *,
    block_tokens=100_000,
    separator=None,
    comment="auto",
    encoding="utf-8",
    skip_docstart=True,
    conllu=None,
    columns=None,
    names=None,
):
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

    Returns
    -------
    blocks : generator of TokenColumns
        At least one sentence each. Each block numbers its values anew.

    See Also
    --------
    iter_blocks : The same with the text of each block.

    Examples
    --------
    >>> import io
    >>> from skcw.io import iter_columns
    >>> file = io.BytesIO(b"a\nb\n\nc\n\nd\ne\n")
    >>> [block.lengths.tolist() for block in iter_columns(file, block_tokens=3)]
    [[2, 1], [2]]
    """
    options = Options.checked(
        separator=separator,
        comment=comment,
        skip_docstart=skip_docstart,
        conllu=conllu,
        columns=columns,
        names=names,
    )
    blocks = _blocks(source, encoding, options, _checked_size(block_tokens), False)
    return (sentences for _, sentences in blocks)


def iter_blocks(
    source,
    *,
    block_tokens=100_000,
    separator=None,
    comment="auto",
    encoding="utf-8",
    skip_docstart=True,
    conllu=None,
    columns=None,
    names=None,
):
    r"""Read a column file in blocks, each with the text it was read from.

    For programs that give a file back with something added: comments, blank lines and
    all columns are in the text, and ``lines`` of the sentences tells which line of
    the file each token stands in.

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

    Returns
    -------
    blocks : generator of (bytes, TokenColumns)
        Whole lines in UTF-8, whatever the encoding of the file, and their sentences.
        The texts together are the file without its byte order mark. A block may have
        no sentence, when comments end the file.

    See Also
    --------
    iter_columns : The sentences alone.

    Examples
    --------
    Write the length of each word beside it:

    >>> import io
    >>> from skcw.io import iter_blocks
    >>> file = io.BytesIO(b"# a comment\nthe DT\ncat NN\n\nSit VB\n")
    >>> before = 1
    >>> for text, sentences in iter_blocks(file, comment="#", block_tokens=2):
    ...     lines = text.decode().split("\n")
    ...     for line, word in zip(sentences.lines, sum(sentences.column(0), [])):
    ...         lines[line - before] += f" {len(word)}"
    ...     before += text.count(b"\n")
    ...     print("\n".join(lines), end="")
    # a comment
    the DT 3
    cat NN 3
    <BLANKLINE>
    Sit VB 3
    """
    options = Options.checked(
        separator=separator,
        comment=comment,
        skip_docstart=skip_docstart,
        conllu=conllu,
        columns=columns,
        names=names,
    )
    return _blocks(source, encoding, options, _checked_size(block_tokens), True)


def _checked_size(block_tokens):
    if not isinstance(block_tokens, Integral) or block_tokens < 1:
        raise ValueError(f"block_tokens is {block_tokens!r}; it must be 1 or more")
    return int(block_tokens)


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
    n_columns = options.width
    return TokenColumns(
        np.zeros(1, dtype=np.int64),
        np.empty((n_columns, 0), dtype=np.int32),
        [Vocabulary.empty() for _ in range(n_columns)],
        options.names_of(options.columns or range(n_columns)),
        np.empty(0, dtype=np.int64),
    )


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
