"""The table of file formats, and which of them a file has.

To add a format, write a subclass of :class:`skcw.io.corpora.CorpusFile` in a module of
its own and add an entry to ``FORMATS``: the command line knows no other list.
"""

import os
from contextlib import closing
from importlib import import_module
from types import SimpleNamespace
from typing import NamedTuple

# So many bytes of comments are enough to stop looking for a token.
LONGEST_LOOK = 1 << 20
# The columns that ``skcw tag`` adds to a file.
PREDICTED, CONFIDENCE, ACCEPT, NBEST = "predicted", "confidence", "accept", "nbest"
# Stands where there is no value.
NO_VALUE = "_"


class OptionError(ValueError):
    """An option does not make sense for the format of a file."""


class Format(NamedTuple):
    """A format of corpora.

    Parameters
    ----------
    title : str
        Its name in messages.
    reader : str or type
        The subclass of :class:`skcw.io.corpora.CorpusFile` that detects, reads, writes
        and echoes it; as ``"module:class"``, it is imported on first use.
    endings : tuple of str, default=()
        How the names of such files end.
    forms : dict of str to str, default={}
        The forms that ``skcw convert --to`` offers, each with a description.

    Examples
    --------
    >>> from skcw.io.formats import FORMATS
    >>> FORMATS["csv"].title, FORMATS["csv"].file_class().__name__
    ('CSV with a header', 'CsvFile')
    """

    title: str
    reader: object
    endings: tuple = ()
    forms: dict = {}

    def file_class(self):
        """Return the class that reads and writes files of this format."""
        if not isinstance(self.reader, str):
            return self.reader
        module, _, name = self.reader.partition(":")
        return getattr(import_module(module), name)


# The first is the format by default; the last is the first to be detected.
FORMATS = {
    "columns": Format(
        "columns of words",
        "skcw.io.column_format:ColumnFile",
        (".conll", ".tsv", ".txt", ".iob", ".bio"),
        {"columns": "one word per line with its columns, the label last"},
    ),
    "conllu": Format(
        "CoNLL-U",
        "skcw.io.column_format:ConlluFile",
        (".conllu",),
        {
            "conllu": "CoNLL-U: the word in FORM, the label in UPOS; columns called "
            "lemma, feats...\nin theirs, pos in XPOS"
        },
    ),
    "csv": Format(
        "CSV with a header",
        "skcw.io.csv_format:CsvFile",
        (".csv",),
        {"csv": "a header, sentence_id, a row for each word"},
    ),
    "jsonl": Format(
        "JSON lines",
        "skcw.io.json_lines:JsonLinesFile",
        (".jsonl", ".ndjson", ".json"),
        {
            "jsonl": '{"tokens": [...], "tags": [...]}',
            "ids": '{"tokens": [...], "ner_tags": [...]} with numbers: see '
            "--label-names",
            "prodigy": '{"text": ..., "tokens": [...], "spans": [{"start": ..., '
            '"end": ...}]}',
            "doccano": '{"text": ..., "label": [[start, end, label]]}',
            "spacy": '["text", {"entities": [[start, end, label]]}]',
        },
    ),
    "labelstudio": Format(
        "Label Studio", "skcw.io.label_studio:LabelStudioFile", (".json",)
    ),
    "text": Format("plain text", "skcw.io.text_answers:TextFile"),
}


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
    format : str
        A key of ``FORMATS``.

    Examples
    --------
    >>> from skcw.io.formats import guess_format
    >>> guess_format("sentence_id,word,tag", "sentence_id,word,tag")
    'csv'
    """
    default, *others = FORMATS
    for format in reversed(others) if first is not None else ():
        fits = ends_as(name, FORMATS[format].endings)
        if FORMATS[format].file_class().detect(header, first, fits):
            return format
    return default


def ends_as(name, endings):
    """Return whether the name of a file, compressed or not, has one of some endings."""
    return name.lower().removesuffix(".gz").endswith(endings)


def formats_written():
    """Return {form of ``skcw convert --to``: the key of its format}."""
    return {form: key for key, format in FORMATS.items() for form in format.forms}


def form_of(name):
    """Return the form that the ending of a file name stands for, or None."""
    known = [f for f in FORMATS.values() if f.forms and ends_as(name, f.endings)]
    return next(iter(known[0].forms)) if known else None


class Opened(NamedTuple):
    """A file whose first lines were read, and the options of its reader.

    Parameters
    ----------
    source : str or file object
        The file, which is read from its beginning.
    title : str
        Its name in messages.
    format : str
        A key of ``FORMATS``.
    first : str or None
        The first line that is neither empty nor a comment.
    encoding : str
        Its encoding.
    options : SimpleNamespace
        The options of reading; None, or a missing one, leaves the choice to the format.
    memory : dict
        How the file that a model was trained on was read.
    note : callable
        Takes a message about what was assumed.
    tokenizer : Tokenizer or None
        Splits texts into tokens.

    Examples
    --------
    >>> from skcw.io.formats import Opened
    >>> Opened("train.conll", "train.conll", "columns", "Anna NNP B-PER").encoding
    'utf-8'
    """

    source: object
    title: str
    format: str
    first: str | None
    encoding: str = "utf-8"
    options: object = None
    memory: dict = {}
    note: object = str
    tokenizer: object = None


def open_corpus(
    source, options=(), *, title=None, memory=None, note=str, tokenizer=None
):
    r"""Open a file of sentences in any of the formats.

    Parameters
    ----------
    source : str or binary file
        The file.
    options : dict, default=()
        The options of reading by name, such as ``format`` (guessed by default),
        ``encoding``, ``columns`` and ``label_column``; see the class of each format.
    title : str, default=None
        The name of the file in messages; by default its own.
    memory : dict, default=None
        How the file that a model was trained on was read, for the options that are
        missing.
    note : callable, default=str
        Takes a message about what was assumed.
    tokenizer : Tokenizer, default=None
        Splits records that have a text only, and plain text; by default the default
        tokenizer.

    Returns
    -------
    corpus : CorpusFile
        The file, ready to be read.

    Examples
    --------
    >>> import io
    >>> from skcw.io.formats import open_corpus
    >>> corpus = open_corpus(io.BytesIO(b"Ann B-PER\nleft O\n"))
    >>> [(list(X), y.tolist()) for X, y in corpus.labeled()]
    [([[('Ann',), ('left',)]], [['B-PER', 'O']])]
    """
    from skcw.data.text_lines import name_of

    wanted = {"format": None, "encoding": None, **dict(options)}
    memory, title = memory or {}, title or name_of(source)
    encoding = _encoding(source, wanted["encoding"], memory)
    if not isinstance(source, str) or not os.path.isfile(source):
        # A pipe cannot be opened twice; its first bytes are kept in memory.
        is_path = isinstance(source, str)
        pipe = open(source, "rb") if is_path else source  # noqa: SIM115
        source = Replayed(pipe, owned=is_path)
    header, first = _first_lines(source, encoding)
    if isinstance(source, Replayed):
        source.rewind()
    format = wanted["format"] or guess_format(header, first, title)
    expected = (next(iter(FORMATS)), memory.get("format"))
    if not wanted["format"] and format not in expected:
        note(f"{title} is read as {FORMATS[format].title} (format= says otherwise)")
    given = SimpleNamespace(**wanted), memory, note, tokenizer
    opened = Opened(source, title, format, first, encoding, *given)
    return FORMATS[format].file_class()(opened)


def _encoding(source, given, memory):
    """Return the encoding of a file; that of training only where UTF-8 fails."""
    if given is not None or not isinstance(source, str):
        return given or "utf-8"
    other = memory.get("encoding", "utf-8")
    return "utf-8" if other == "utf-8" or _is_utf8_text(source) else other


def _is_utf8_text(source):
    from skcw.data.text_lines import utf8_lines
    from skcw.exceptions import ColumnFileError

    try:
        for _ in utf8_lines(source, "utf-8"):
            pass
    except ColumnFileError:
        return False
    return True


def _first_lines(source, encoding):
    """Return the first line, and the first that is neither empty nor a comment."""
    from skcw.data.text_lines import lines_of

    header, size = None, 0
    with closing(lines_of(source, encoding)) as lines:
        for line in lines:
            size += len(line)
            line = line.rstrip("\r\n")
            header = line if header is None else header
            if line.strip() and not line.startswith("#"):
                return header, line
            if size > LONGEST_LOOK:
                break
    return header, None


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
    >>> from skcw.io.formats import Replayed
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
        """Return what is there, at most `size` bytes if they are new."""
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
