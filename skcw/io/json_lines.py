"""JSON lines: files with one sentence per line, as a JSON record."""

import json
import warnings
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from os import PathLike
from typing import Any

from skcw._util.checks import check_same_lengths
from skcw._util.files import rewriting
from skcw.data.columns import TokenColumns
from skcw.data.labels import check_label_rows
from skcw.data.schemes import Repairs
from skcw.data.text_lines import name_of, numbered_lines
from skcw.exceptions import ColumnFileError
from skcw.io.corpora import (
    RecordFile,
    added_values,
    columns_of_sentences,
    is_added,
    lists_of,
)
from skcw.io.formats import PREDICTED, OptionError
from skcw.io.json_records import (
    FORMS,
    MISALIGNED,
    TEXT_FORMS,
    Misaligned,
    RecordError,
    Sentence,
    label_names,
    line_of,
    looks_like_record,
    make_record,
    numbered,
    read_record,
    relabeled_spans,
    span_key,
)
from skcw.io.tokenizer import places_of

# A line of these is empty; other blanks are not JSON.
BLANKS = " \t\r\n\x0b\x0c"


def read_json_lines(
    source: Any,
    *,
    label: str | None = None,
    names: Any = None,
    tokenize: Callable[..., Any] | None = None,
    encoding: str = "utf-8",
    misaligned: str = "widen",
) -> Any:
    r"""Read a file with one JSON record per line, each a sentence.

    Understood are tokens with labels, ``{"tokens": ["Ann", "left"], "tags": ["B-PER",
    "O"]}``, also with numbers for labels, as Hugging Face datasets have them; and
    texts with spans of characters: those of Prodigy and spaCy
    (``{"text": "Ann left", "tokens": [...], "spans": [{"start": 0, "end": 3, "label":
    "PER"}]}``, ``["Ann left", {"entities": [[0, 3, "PER"]]}]``) and of doccano
    (``{"text": "Ann left", "label": [[0, 3, "PER"]]}``).

    Parameters
    ----------
    source : str, path-like or file object
        The file, also compressed by gzip.
    label : str, default=None
        The key of the labels, or of the spans; by default the first of ``tags``,
        ``ner_tags``, ``labels``, ``label`` and ``ner``, or of ``spans``, ``ents``,
        ``entities``, ``label`` and ``labels``.
    names : list of str, dict or ClassLabel, default=None
        The names of labels that are numbers: a list, an ``id2label``, or the
        ``ClassLabel`` of a dataset.
    tokenize : callable, default=None
        Takes a text and returns where its tokens begin and end, for records with a
        text and no tokens. By default words, numbers and single other characters.
    encoding : str, default="utf-8"
        The encoding of the file.
    misaligned : {"widen", "drop", "raise"}, default="widen"
        What to do about spans that begin or end within a token: widen them to the
        tokens that they share a character with, or leave them out, and warn; or raise.
        A span that cuts a token of the record's own is an error unless it is dropped.

    Returns
    -------
    columns : TokenColumns
        The sentences: ``word``, other lists with a value for each token, and last the
        labels, if the records have any (``label`` if they were made from spans).

    Raises
    ------
    ColumnFileError
        If a line is not such a record, or has other columns than the first one. The
        message names the file and the line.

    See Also
    --------
    write_json_lines : Write such a file.
    read_columns : Read a column file.

    Examples
    --------
    >>> import io
    >>> from skcw.io import read_json_lines
    >>> file = io.StringIO('{"tokens": ["Ann", "left"], "ner_tags": [1, 0]}\n')
    >>> X, y = read_json_lines(file, names=["O", "B-PER"]).split_label()
    >>> X[0], y[0]
    ([('Ann',), ('left',)], ['B-PER', 'O'])
    """
    if misaligned not in MISALIGNED:
        known = ", ".join(map(repr, MISALIGNED))
        raise ValueError(f"misaligned is {misaligned!r}; it must be one of {known}")
    options = {"label": label, "tokenize": tokenize, "misaligned": misaligned}
    options["names"] = label_names(names, label)
    # The line that has called this function.
    warn = partial(warnings.warn, stacklevel=4)
    records = iter_records(source, options, encoding, warn)
    pairs = list(map(itemgetter(0, 2), records))
    return columns_of_sentences(pairs, name_of(source))


def iter_records(source, options, encoding, tell):
    """Yield the number of each line, its record and its sentence.

    Parameters
    ----------
    source : str, path-like or file object
        The file.
    options : dict
        The keywords of ``read_record``.
    encoding : str
        The encoding of the file.
    tell : callable
        Takes a message about spans that do not begin and end with a token.

    Yields
    ------
    number : int
        The line, counted from one.
    record : dict or list
        Its JSON value.
    sentence : Sentence
        The sentence.
    """
    name, misaligned = name_of(source), Misaligned()
    for number, line in numbered_lines(source, encoding):
        if not line.strip(BLANKS):
            continue
        place = f"{name}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            array = line.strip() == "[" or (number == 1 and line.lstrip()[:1] == "[")
            hint = "; a list of records must be written one record per line"
            raise ColumnFileError(
                f"{place}: not JSON: {error}{hint if array else ''}"
            ) from None
        try:
            sentence = read_record(record, **options)
        except RecordError as error:
            raise ColumnFileError(f"{place}: {error}") from None
        misaligned.add(place, sentence)
        yield number, record, sentence
    misaligned.tell(tell)


def write_json_lines(
    path: str | PathLike[str],
    X: Any,
    labels: Any = None,
    *,
    form: str = "tokens",
    names: Any = None,
) -> None:
    r"""Write sentences as JSON, one record per line, in UTF-8.

    Parameters
    ----------
    path : str or path-like
        The file to write; compressed if its name ends with ``.gz``. It appears only
        when it is complete.
    X : TokenColumns or list of sequences
        The sentences; a token is a tuple of strings, or a string.
    labels : list of sequences of str, default=None
        A label for each token.
    form : {"tokens", "ids", "prodigy", "doccano", "spacy"}, default="tokens"
        ``{"tokens": [...], "tags": [...]}``; the same with numbers, ``{"tokens":
        [...], "ner_tags": [...]}``; or texts, words with blanks between them, with
        spans of characters as one of these tools reads them.
    names : list of str, dict or ClassLabel, default=None
        The names of the labels in the order of their numbers, for ``form="ids"``.

    See Also
    --------
    read_json_lines : Read it again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skcw.io import write_json_lines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "corpus.jsonl"
    ...     write_json_lines(path, [["Ann", "left"]], [["B-PER", "O"]])
    ...     path.read_text()
    '{"tokens": ["Ann", "left"], "tags": ["B-PER", "O"]}\n'
    """
    if form not in FORMS:
        raise ValueError(f"form is {form!r}; it must be one of {', '.join(FORMS)}")
    if form == "ids" and names is None:
        raise ValueError('form="ids" needs the names of the labels: names=[...]')
    columns = TokenColumns.from_sequences(X)
    known = label_names(names) if form == "ids" else None
    written = JsonLinesFile.writer(form, known)
    rows = check_label_rows(labels, "labels") if labels is not None else None
    if rows is not None:
        check_same_lengths(columns.lengths, list(map(len, rows)), ("X", "labels"))
    repairs = Repairs()
    with rewriting(path) as file:
        for s, sentence in enumerate(lists_of(columns)):
            if rows is not None and form in TEXT_FORMS:
                repairs.add_read(rows[s], s)
            try:
                file.write(written(Sentence(sentence, rows and rows[s])))
            except RecordError as error:
                raise ValueError(f"sentence {s}: {error}") from None
    repairs.tell(partial(warnings.warn, stacklevel=3))


class JsonLinesFile(RecordFile):
    """A file with one JSON record per line: tokens with labels, or text with spans."""

    takes = ("label_names", "misaligned")
    renamed = {"tokens": "word", "words": "word", "pos_tags": "pos"}
    # What messages call a record.
    unit = "line"
    _read = staticmethod(read_record)

    def __init__(self, opened):
        super().__init__(opened)
        names = self._given("label_names", opened.memory)
        # The keys are strings where a model has kept them as JSON.
        self.names = names and {int(k): v for k, v in names.items()}

    @staticmethod
    def detect(header, first, fits):
        """Return whether the first line is a record, or seems to begin JSON."""
        if first.lstrip()[:1] not in ("{", "["):
            return False
        try:
            return looks_like_record(json.loads(first)) or fits
        except ValueError:
            return fits

    def _found(self):
        return {"label_names": self.names}

    def _options(self, label):
        tokenize = partial(places_of, tokenizer=self.opened.tokenizer)
        found = {"label": label, "names": self.names, "tokenize": tokenize}
        return found | {"misaligned": self._given("misaligned") or "widen"}

    def records(self, label, with_labels):
        """Yield the line, the record and the sentence of each."""
        if isinstance(label, int):
            raise OptionError("JSON lines have keys; label_column= needs one of them")
        options = self._options(label) | {"with_labels": with_labels}
        opened = self.opened
        return iter_records(opened.source, options, opened.encoding, opened.note)

    def pairs(self, predicted=None):
        """Yield the true and the predicted labels; both may be spans of characters."""
        guess, misaligned = self._options(predicted or PREDICTED), Misaligned()
        for number, record, sentence in self.records(self.label, True):
            try:
                other = self._read(record, **guess)
            except RecordError as error:
                raise ValueError(
                    f"{self.title}: {error}. predicted_column= tells where the "
                    "predicted labels are"
                ) from None
            if sentence.labels is None:
                raise ValueError(f"{self.title} has no true labels; label_column=")
            misaligned.add(f"{self.title}, {self.unit} {number}, predicted", other)
            yield self.labels([sentence.labels]), self.labels([other.labels])
        misaligned.tell(self.opened.note)

    def echo_as_json(self, names, read, X, added):
        """Return the records with the added columns: they are JSON already."""
        return self.echo(read, X, added)

    def echoed(self, record, sentence, added):
        """Return a record with spans, or with a label for each token."""
        target = record[1] if isinstance(record, list) else record
        for name in [name for name in target if is_added(name)]:
            del target[name]
        target |= added_values(added, sentence.places)
        return line_of(record)

    def _relabeled(self, changed):
        for s, (_, record, sentence) in enumerate(self.records(self.label, True)):
            if s in changed:
                self.relabel(record, sentence, changed[s])
            yield line_of(record)

    def relabel(self, record, sentence, labels):
        """Put other labels into a record, or other spans."""
        target = record[1] if isinstance(record, list) else record
        if sentence.places is not None:
            key = span_key(target, self.label)
            target[key] = relabeled_spans(target[key], sentence, labels, key)
        elif all(isinstance(value, str) for value in target[sentence.label]):
            target[sentence.label] = labels
        else:
            ids = {name: number for number, name in self.names.items()}
            target[sentence.label] = numbered(labels, ids)

    @classmethod
    def writer(cls, form, label_names=None):
        """Return a function that gives a sentence as a record."""
        if form == "ids" and label_names is None:
            raise OptionError('to="ids" needs the names of the labels: label_names=')
        ids = label_names and {name: i for i, name in label_names.items()}
        form = form if form in FORMS else "tokens"

        def written(sentence):
            columns, labels, text, places = sentence[:4]
            return line_of(make_record(columns, labels, form, text, places, ids))

        return written
