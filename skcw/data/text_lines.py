"""Read text, gzip and open files as whole lines in UTF-8, piece by piece."""

import codecs
import os
import re
import zlib
from contextlib import nullcontext
from itertools import chain

from skcw._util.limits import LONGEST_LINE
from skcw.exceptions import ColumnFileError

PIECE = 1 << 16
GZIP = b"\x1f\x8b"
BOM = codecs.BOM_UTF8
WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# How files begin that no encoding makes a text.
NO_TEXT = {
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "an archive, such as .zip, .docx or .npz",
    b"\xfd7zXZ": "compressed by xz; of compressed files gzip alone is read",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; of compressed files gzip alone is read",
    b"\x93NUMPY": "an array of NumPy",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
    b"lCRF": "a model of CRFsuite",
}
# A model of skcw: a length, of which most bytes are zero, and JSON.
MODEL = re.compile(rb"....\0\0\0\0\{\"", re.DOTALL)
# Enough bytes to see whether every other one is zero.
SAMPLE = 400


def name_of(source):
    """Return the name of a source in messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the input"


def check_source(source):
    """Raise unless the source is a path or an open file."""
    if not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise TypeError(
            f"source is of type {type(source).__name__}; it must be a path or an open "
            "file (for lists of tokens see TokenColumns.from_sequences)"
        )


def utf8_lines(source, encoding):
    """Yield pieces of a file: whole lines in UTF-8, without a byte order mark.

    No more is read than what is needed for the next piece, and what a pipe has
    ready is not held back.
    """
    name = name_of(source)
    is_path = isinstance(source, (str, os.PathLike))
    with open(source, "rb") if is_path else nullcontext(source) as file:
        is_text = isinstance(file.read(0), str)
        if is_text:
            pieces = _encoded(file, name)
        else:
            pieces = _not_wide(
                _text(_unpacked(_read(file), name), name), name, encoding
            )
            pieces = _recoded(pieces, name, "utf-8" if is_utf8(encoding) else encoding)
        pieces = _whole_lines(pieces, name)
        for first in pieces:
            yield first.removeprefix(BOM)
            break
        yield from pieces


def numbered_lines(source, encoding):
    """Yield the number of each line and its text, without the end of the line.

    Other characters that break lines may stand in a word, so they do not count.
    """
    check_source(source)
    is_utf8(encoding)
    for number, line in enumerate(lines_of(source, encoding), start=1):
        yield number, line.removesuffix("\n").removesuffix("\r")


def lines_of(source, encoding):
    """Yield the lines of a file with their ends."""
    for piece in utf8_lines(source, encoding):
        *lines, last = piece.decode("utf-8").split("\n")
        for line in lines:
            yield line + "\n"
        if last:
            yield last


def is_utf8(encoding):
    """Return whether an encoding is UTF-8 under one of its names."""
    try:
        found = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding is {encoding!r}, which Python does not know; usual ones are "
            "'utf-8' and 'latin-1'"
        ) from None
    return found.name in ("utf-8", "utf-8-sig")


def _read(file):
    # read1 returns what is there, where read would wait for more.
    read = getattr(file, "read1", file.read)
    while piece := read(PIECE):
        yield piece


def _unpacked(pieces, name):
    """Yield the pieces, decompressed if they begin as gzip files do."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= len(GZIP):
            break
    pieces = chain([head], pieces)
    return _inflated(pieces, name) if head.startswith(GZIP) else pieces


def _text(pieces, name):
    """Yield the pieces; raise if they begin as files do that are no texts."""
    for piece in pieces:
        found = [kind for head, kind in NO_TEXT.items() if piece.startswith(head)]
        if MODEL.match(piece):
            found = ["a model of skcw"]
        if found:
            raise ColumnFileError(f"{name} is not a text but {found[0]}")
        yield piece
        if piece:
            break
    yield from pieces


def _not_wide(pieces, name, encoding):
    """Yield the pieces; raise if they are UTF-16 or UTF-32 and should not be."""
    expected = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    for piece in pieces:
        found = None if expected else wide_encoding(piece)
        if found is not None:
            raise ColumnFileError(
                f"{name} is in {found.upper()}, not in {encoding}; pass it: "
                f'encoding="{found}"'
            )
        yield piece
        if piece:
            break
    yield from pieces


def wide_encoding(head):
    """Return the encoding of a text whose characters have two or four bytes, or None.

    Parameters
    ----------
    head : bytes
        The beginning of a file.

    Returns
    -------
    encoding : str or None
        By a byte order mark, or by zeros in every other byte.

    Examples
    --------
    >>> from skcw.data.text_lines import wide_encoding
    >>> wide_encoding("Ann".encode("utf-16")), wide_encoding(b"Ann")
    ('utf-16', None)
    """
    # The mark of UTF-16 begins that of UTF-32, which comes first.
    for mark, encoding in WIDE.items():
        if head.startswith(mark):
            return encoding
    head = head[:SAMPLE]
    first, second = head[::2].count(0), head[1::2].count(0)
    if len(head) < 8 or 5 * max(first, second) < 2 * len(head) or min(first, second):
        return None
    return "utf-16-be" if first else "utf-16-le"


def _inflated(pieces, name):
    member = zlib.decompressobj(wbits=31)
    try:
        for packed in pieces:
            # Members may follow each other, and zeros may fill up the end.
            while packed := packed.lstrip(b"\0") if member.eof else packed:
                if member.eof:
                    member = zlib.decompressobj(wbits=31)
                yield member.decompress(packed, PIECE)
                packed = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error as error:
        raise ColumnFileError(f"{name} is a damaged gzip file: {error}") from error
    if not member.eof:
        raise ColumnFileError(f"{name} is a gzip file whose end is missing")


def _encoded(file, name):
    """Yield the lines of a text file in UTF-8, at least one sentence at a time."""
    held, size = [], 0
    for line, text in enumerate(file, start=1):
        try:
            held.append(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise ColumnFileError(
                f"{name}, line {line}: a character that is not text, "
                f"{text[error.start : error.end]!r}; open the file with its encoding"
            ) from error
        size += len(text)
        if size >= PIECE or not text.strip():
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _recoded(pieces, name, encoding):
    """Yield the pieces in UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for piece in chain(pieces, [None]):
        try:
            text = decoder.decode(piece or b"", final=piece is None)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(encoding, "replace")
            # Errors are reported in the order of the file.
            yield before[: before.rfind("\n") + 1].encode("utf-8")
            raise _undecodable(
                error, name, line + before.count("\n"), encoding
            ) from None
        line += text.count("\n")
        yield text.encode("utf-8")


def _whole_lines(pieces, name):
    """Yield pieces that end with a newline; what follows the last one comes last."""
    held, size, line = [], 0, 1
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            lines = b"".join([*held, piece[:end]])
            yield lines
            line += lines.count(b"\n")
            held, size = [], 0
        held.append(piece[end:])
        size += len(piece) - end
        if size > LONGEST_LINE:
            raise ColumnFileError(
                f"{name}, line {line}: longer than {LONGEST_LINE} bytes; this is "
                "probably not a column file"
            )
    if size:
        yield b"".join(held)


def _undecodable(error, name, line, encoding):
    byte = error.object[error.start]
    if b"\0" in error.object:
        return ColumnFileError(
            f"{name}, line {line}: the byte 0x{byte:02x} is not {encoding}, and zeros "
            "stand beside it: this is a binary file, not a text"
        )
    hint = 'encoding="latin-1"' if is_utf8(encoding) else "another encoding"
    return ColumnFileError(
        f"{name}, line {line}: the byte 0x{byte:02x} is not {encoding} "
        f"({error.reason}); if the file is in another encoding, pass it: {hint}"
    )
