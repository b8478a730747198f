"""What a file is: columns of words, CoNLL-U, CSV or JSON lines, by its first line."""

import json
import os
from contextlib import closing
from typing import NamedTuple

from skcw.cli.messages import input_of, note

TITLES = {
    "columns": "columns of words",
    "conllu": "CoNLL-U",
    "csv": "CSV with a header",
    "jsonl": "JSON lines",
}
# So many bytes of comments are enough to stop looking for a word.
LONGEST_LOOK = 1 << 20
JSON_ENDS = (".jsonl", ".json", ".ndjson")


class Opened(NamedTuple):
    """A file whose first lines were looked at.

    Parameters
    ----------
    source : str or file object
        What the readers take.
    format : str
        One of ``TITLES``.
    first : str or None
        The first line that is neither empty nor a comment.

    Examples
    --------
    >>> from skcw.cli.formats import Opened
    >>> Opened("train.conll", "columns", "Anna NNP B-PER").format
    'columns'
    """

    source: object
    format: str
    first: str | None


def look_at(name, options, encoding, expected=None):
    """Return a file with its format, which is guessed unless the options name it.

    Parameters
    ----------
    name : str
        The file, or "-".
    options : argparse.Namespace
        With ``format``, ``conllu`` and ``command``.
    encoding : str
        The encoding of the file.
    expected : str, default=None
        The format of which nothing need be said: that of training.

    Returns
    -------
    opened : Opened
        The file, which is read from its beginning.
    """
    source = input_of(name)
    if not isinstance(source, str) or not os.path.isfile(source):
        # What cannot be opened twice, such as a pipe, is read again from memory.
        is_path = isinstance(source, str)
        pipe = open(source, "rb") if is_path else source  # noqa: SIM115
        source = Replayed(pipe, owned=is_path)
    header, first = _first_lines(source, encoding)
    if isinstance(source, Replayed):
        source.rewind()
    named = "conllu" if options.conllu else options.format
    found = named or guess_format(header, first, name)
    if not named and found not in ("columns", expected):
        note(
            options,
            f"{'<stdin>' if name == '-' else name} is read as {TITLES[found]} "
            "(--format says otherwise)",
        )
    return Opened(source, found, first)


def _first_lines(source, encoding):
    """Return the first line, and the first that is neither empty nor a comment."""
    from skcw.data.text_lines import utf8_lines

    header, size = None, 0
    with closing(utf8_lines(source, encoding)) as pieces:
        for piece in pieces:
            for line in piece.decode("utf-8").split("\n"):
                line = line.rstrip("\r")
                header = line if header is None else header
                if line.strip() and not line.startswith("#"):
                    return header, line
            size += len(piece)
            if size > LONGEST_LOOK:
                break
    return header, None


def guess_format(header, first, name=""):
    """Return the format that the first lines of a file show.

    Parameters
    ----------
    header : str or None
        The first line.
    first : str or None
        The first line that is neither empty nor a comment.
    name : str, default=""
        The file; its ending decides only where lines leave doubt.

    Returns
    -------
    format : {"columns", "conllu", "csv", "jsonl"}
        The format.

    Examples
    --------
    >>> from skcw.cli.formats import guess_format
    >>> guess_format("sentence_id,word,tag", "sentence_id,word,tag")
    'csv'
    """
    from skcw.io.csv_files import looks_like_header
    from skcw.io.layout import is_conllu

    if first is None:
        return "columns"
    ending = name.removesuffix(".gz").lower()
    if first.lstrip()[:1] in ("{", "[") and _is_json(first, ending):
        return "jsonl"
    if ending.endswith(".csv") or looks_like_header(header):
        return "csv"
    return "conllu" if is_conllu(first) else "columns"


def _is_json(line, ending):
    from skcw.io.json_records import looks_like_record

    try:
        return looks_like_record(json.loads(line)) or ending.endswith(JSON_ENDS)
    except ValueError:
        return ending.endswith(JSON_ENDS)


class Replayed:
    """A stream whose first bytes can be read twice.

    Parameters
    ----------
    file : binary file
        The stream, such as standard input.
    owned : bool, default=False
        Whether to close it at its end.

    Examples
    --------
    >>> import io
    >>> from skcw.cli.formats import Replayed
    >>> stream = Replayed(io.BytesIO(b"abc"))
    >>> stream.read1(2), stream.rewind(), stream.read1(2), stream.read1(2)
    (b'ab', None, b'ab', b'c')
    """

    def __init__(self, file, owned=False):
        self._file = file
        self._owned = owned
        self._kept = []
        self._again = False
        if hasattr(file, "name"):
            self.name = file.name

    def read(self, size):
        """Return what is there, at most so many bytes if they are new."""
        if not size:
            return b""
        if self._again and self._kept:
            return self._kept.pop(0)
        # read1 returns what is there, where read would wait for more.
        piece = getattr(self._file, "read1", self._file.read)(size)
        if not self._again:
            self._kept.append(piece)
        elif not piece and self._owned:
            self._file.close()
        return piece

    read1 = read

    def rewind(self):
        """Begin again with the first byte; from now on nothing is kept."""
        self._again = True
