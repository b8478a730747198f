"""Give files back with labels added, each in its own format, or as JSON lines."""

import codecs
from itertools import pairwise, repeat

# Stands where there is no such labeling, and in lines of CoNLL-U that are not words.
NO_VALUE = "_"
# What may follow the last column of a line.
ENDS = "\r \t"
# What `skcw tag` adds to a file.
PREDICTED, CONFIDENCE, ACCEPT, NBEST = "predicted", "confidence", "accept", "nbest"
# Eight digits: most labels of a good tagger have more than 0.9999.
DIGITS = 8


def is_added(name):
    """Tell whether a column is one of those that `skcw tag` adds."""
    return name in (PREDICTED, CONFIDENCE, ACCEPT) or name.startswith(NBEST)


def as_text(added):
    """Return what is to be added as columns of strings.

    Parameters
    ----------
    added : dict of str to list or ndarray
        A value for each word.

    Returns
    -------
    columns : dict of str to list of str
        The same; numbers have eight digits after the point.
    """
    return {
        name: _digits(values) if name == CONFIDENCE else values
        for name, values in added.items()
    }


def _digits(numbers):
    """Return numbers as strings with eight digits after the point."""
    if ((numbers >= 0) & (numbers <= 1)).all():
        return _probabilities_as_text(numbers)
    return [format(number, ".8f") for number in numbers.tolist()]


def _probabilities_as_text(numbers):
    """Return numbers from 0 to 1 with eight digits, two at a time: twice as fast."""
    import numpy as np

    two_digits = np.array([b"%02d" % number for number in range(100)])
    rest = np.rint(1e8 * numbers).astype(np.int64)
    pairs = np.empty((len(numbers), 5), dtype="S2")
    for place in (4, 3, 2, 1):
        rest, last = np.divmod(rest, 100)
        pairs[:, place] = two_digits[last]
    pairs[:, 0] = np.where(rest > 0, b"1.", b"0.")
    text = pairs.tobytes().decode("ascii")
    return [text[start : start + 10] for start in range(0, len(text), 10)]


class ColumnEcho:
    r"""Gives back the lines of a file with columns added.

    Parameters
    ----------
    separator : str or None
        What to write between columns; by default what the first word's line has.
    encoding : str
        The encoding of the file.
    conllu : bool
        Whether it is CoNLL-U.

    Examples
    --------
    >>> from skcw.cli.echo import ColumnEcho
    >>> from skcw.data import TokenColumns
    >>> from skcw.data.vocabulary import Vocabulary
    >>> echo = ColumnEcho(None, "utf-8", False)
    >>> X = TokenColumns([0, 1], [[0]], [Vocabulary.from_names(["Ann"])], None, [2])
    >>> echo.block(b"# one\nAnn NNP\n\n", X, {"predicted": ["B-PER"]})
    b'# one\nAnn NNP B-PER\n\n'
    """

    def __init__(self, separator, encoding, conllu):
        self.separator = separator
        # It writes a byte order mark once, where the encoding has one.
        self.encoder = codecs.getincrementalencoder(encoding)()
        self.conllu = conllu
        self.before = 1

    def block(self, text, X, added):
        """Return a block of lines with columns added to those with words.

        Parameters
        ----------
        text : bytes
            Whole lines in UTF-8.
        X : TokenColumns
            The words, which know their lines.
        added : dict of str to list
            What to add to them.

        Returns
        -------
        lines : bytes
            The lines in the encoding of the file.
        """
        # The last line may lack its newline; only then is the last piece not empty.
        lines = text.decode("utf-8").split("\n")
        if X.n_tokens:
            self._add(lines, X.lines.tolist(), list(as_text(added).values()))
        self.before += len(lines) - 1
        return self.encoder.encode("\n".join(lines))

    def _add(self, lines, numbers, columns):
        first = self.before
        if self.separator is None:
            self.separator = _separator_of(lines[numbers[0] - first])
        join = self.separator.join
        if self.conllu:
            _fill_up(lines, self.separator + join([NO_VALUE] * len(columns)))
        # Each begins with a separator.
        added = map(join, zip(repeat("", len(numbers)), *columns, strict=True))
        # Blanks at the end separate nothing; a TAB there would be a column.
        loose = " \t" if self.separator == " " else ""
        for number, further in zip(numbers, added, strict=True):
            line = lines[number - first]
            if line[-1] in ENDS:
                words = line.rstrip("\r")
                further += line[len(words) :]
                line = words.rstrip(loose)
            lines[number - first] = line + further


def _separator_of(line):
    """Return what separates the columns of a file with this line."""
    blank = " " in line.strip(" \r") and "\t" not in line
    return " " if blank else "\t"


def _fill_up(lines, filling):
    """Add empty columns to the lines of CoNLL-U that are ranges and empty nodes."""
    for at, line in enumerate(lines):
        number = line.partition("\t")[0]
        if "\t" in line and ("-" in number or "." in number):
            words = line.rstrip("\r")
            lines[at] = words + filling + line[len(words) :]


class CsvEcho:
    r"""Gives back the rows of a CSV file with columns added.

    Parameters
    ----------
    file : CsvFile
        The file.
    encoding : str
        Its encoding.

    Examples
    --------
    >>> import io
    >>> from skcw.cli.echo import CsvEcho
    >>> from skcw.io.csv_files import CsvFile
    >>> file = CsvFile(io.StringIO("sentence_id,word\n1,Ann\n"))
    >>> rows, X = next(file.blocks(9))
    >>> CsvEcho(file, "utf-8").block(rows, X, {"predicted": ["B-PER"]})
    b'sentence_id,word,predicted\n1,Ann,B-PER\n'
    """

    def __init__(self, file, encoding):
        self.file = file
        self.encoder = codecs.getincrementalencoder(encoding)()
        # What an earlier model has added makes room.
        self.kept = [c for c, name in enumerate(file.header) if not is_added(name)]
        self.began = False

    def block(self, rows, X, added):
        """Return rows with columns added, after the header if they are the first."""
        columns = as_text(added)
        found = []
        if not self.began:
            found.append([*(self.file.header[c] for c in self.kept), *columns])
            self.began = True
        for row, further in zip(rows, zip(*columns.values(), strict=True), strict=True):
            found.append([*(row[c] for c in self.kept), *further])
        return self.encoder.encode(self.file.text(found))


class JsonEcho:
    """Gives back the records of JSON lines with the labels added.

    Records with a text get spans of characters, others a label for each token.

    Examples
    --------
    >>> from skcw.cli.echo import JsonEcho
    >>> from skcw.io.json_records import read_record
    >>> from skcw.data.columns import columns_of_lists
    >>> record = {"text": "Ann left", "id": 7}
    >>> sentence = read_record(record)
    >>> X = columns_of_lists([2], sentence.columns)
    >>> JsonEcho().block([(1, record, sentence)], X, {"predicted": ["B-PER", "O"]})
    b'{"text": "Ann left", "id": 7, "predicted": [{"start": 0, "end": 3, "label": ...
    """

    def block(self, held, X, added):
        """Return records as lines, with what is added to them."""
        from skcw.io.json_lines import line_of

        lines = []
        borders = pairwise(X.offsets.tolist())
        for (_, record, sentence), (a, b) in zip(held, borders, strict=True):
            here = {name: values[a:b] for name, values in added.items()}
            target = record[1] if isinstance(record, list) else record
            for name in [name for name in target if is_added(name)]:
                del target[name]
            target |= added_values(here, sentence.places)
            lines.append(line_of(record))
        return b"".join(lines)


class RecordEcho:
    r"""Writes sentences of any file as records with tokens and labels.

    Parameters
    ----------
    names : list of str
        The columns that the model has learned from; others are left out.

    Examples
    --------
    >>> from skcw.cli.echo import RecordEcho
    >>> from skcw.data import TokenColumns
    >>> X = TokenColumns.from_sequences([["Ann"]], names=["word"])
    >>> RecordEcho(["word"]).block(b"Ann", X, {"predicted": ["B-PER"]})
    b'{"tokens": ["Ann"], "predicted": ["B-PER"]}\n'
    """

    def __init__(self, names):
        self.names = names

    def block(self, read, X, added):
        """Return one record per sentence, whatever was read."""
        from skcw.io.json_lines import line_of, lists_of
        from skcw.io.json_records import make_record

        lines = []
        borders = pairwise(X.offsets.tolist())
        names = self.names[: X.n_columns]
        X = X.select(range(len(names)))._renamed(names)
        for columns, (a, b) in zip(lists_of(X), borders, strict=True):
            here = {name: values[a:b] for name, values in added.items()}
            lines.append(line_of(make_record(columns) | added_values(here)))
        return b"".join(lines)


def added_values(added, places=None):
    """Return what is added to one record, as JSON has it.

    Parameters
    ----------
    added : dict of str to list or ndarray
        A value for each token.
    places : list of (int, int), default=None
        Where the tokens stand in a text; labels then become spans.

    Returns
    -------
    values : dict
        The labels, or the spans.
    """
    from skcw.io.json_records import spans_of_labels

    values = {
        name: [round(float(v), DIGITS) for v in column]
        if name == CONFIDENCE
        else column
        for name, column in added.items()
    }
    if places is None:
        return values
    spans = spans_of_labels(values.pop(PREDICTED), places, values.pop(CONFIDENCE, None))
    marks = values.pop(ACCEPT, None)
    for span in spans if marks else ():
        words = marks[span["token_start"] : span["token_end"] + 1]
        span[ACCEPT] = next((mark for mark in words if mark != "accept"), "accept")
    others = {name: spans_of_labels(labels, places) for name, labels in values.items()}
    return {PREDICTED: spans, **others}
