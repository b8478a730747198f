"""CSV and JSON lines, whose columns have names: a model finds its own by them."""

import json
import os
from functools import partial

from skcw.cli.corpus import needed_columns
from skcw.cli.echo import PREDICTED, is_added
from skcw.cli.inputs import BLOCK_TOKENS, Input, ReadSentence
from skcw.cli.messages import UsageError


class NamedInput(Input):
    """A file whose columns have names; a subclass reads it."""

    def __init__(self, name, opened, options, encoding, memory):
        super().__init__(name, opened, options, encoding, memory)
        self.columns = self._given("columns")
        self.label = self._given("label_column")

    def labeled(self, block_tokens=BLOCK_TOKENS):
        """Yield sentences and their labels, as :meth:`ColumnInput.labeled` does."""
        for _, X, label in self._blocks(block_tokens, self.label):
            if label is None:
                raise ValueError(
                    f"{self.title} has no labels; it has {', '.join(X.names)}. "
                    "--label-column NAME tells which they are"
                )
            y = self.labels(X.column(label))
            yield self._features(X, label), y

    def unlabeled(self, block_tokens=BLOCK_TOKENS, features=None):
        """Yield what was read, and its columns that are for the features.

        Parameters
        ----------
        block_tokens : int
            How many words make a block.
        features : FeatureExtractor, default=None
            Those of the model.

        Yields
        ------
        read : list
            What the echo of this file takes.
        X : TokenColumns
            The sentences.
        """
        for read, X, _ in self._blocks(block_tokens, self.label, with_labels=False):
            X = self._features(X, None)
            yield read, X if features is None else self.for_model(X, features)

    def for_model(self, X, features):
        """Return the columns that a model has learned from, in its order."""
        if not X.n_tokens:
            # Sentences without words do not tell which columns there are.
            return X
        return columns_for(
            X, features.columns, needed_columns(features.templates), self.title
        )

    def _features(self, X, label):
        """Return the columns for the features, called as the options say."""
        others = [n for n in X.names if n != label and not is_added(n)]
        if self.columns is None:
            return X.select(others)
        wanted = {new: self._name(X, new, old) for new, old in self.columns.items()}
        if label in wanted.values():
            raise UsageError("--columns names the column of the labels, too")
        numbers = [X.names.index(name) for name in wanted.values()]
        return X._renamed(None).select(numbers)._renamed(list(wanted))

    def _name(self, X, new, old):
        """Return which column an option names; what is renamed keeps its old name."""
        name = new if old is None else old
        if isinstance(name, int):
            if not -X.n_columns <= name < X.n_columns:
                raise ValueError(f"{self.title} has {X.n_columns} columns, not {name}")
            return X.names[name]
        found = self._renamed().get(name, name)
        if found not in X.names:
            raise ValueError(
                f"{self.title} has no column {name!r}; it has {', '.join(X.names)}"
            )
        return found

    def _renamed(self):
        """Return {name in the file: what we call it} of columns that we rename."""
        return {}

    def pairs(self, predicted=None):
        """Yield the true and the predicted labels, as :meth:`ColumnInput.pairs`."""
        guess = PREDICTED if predicted is None else predicted
        for _, X, label in self._blocks(BLOCK_TOKENS, self.label):
            for column in (label, guess):
                if column not in X.names:
                    raise ValueError(
                        f"{self.title} has no labels {column or 'of its own'}; it has "
                        f"{', '.join(X.names)}. --label-column and --predicted-column "
                        "tell where the true and the predicted labels are"
                    )
            yield self.labels(X.column(label)), self.labels(X.column(guess))

    def label_title(self, of_model):
        """Return what messages call the true labels."""
        return f"{self.label or 'the labels'} of {self.title}"


def columns_for(X, names, needed, title):
    """Return those columns that a model needs, found by their names.

    Parameters
    ----------
    X : TokenColumns
        Sentences whose columns have names.
    names : list of str
        Those of the model.
    needed : int
        How many of these it looks at.
    title : str
        What messages call the file.

    Returns
    -------
    X : TokenColumns
        The sentences with these columns, in the order of the model.

    Examples
    --------
    >>> from skcw.cli.named_inputs import columns_for
    >>> from skcw.data import TokenColumns
    >>> X = TokenColumns.from_sequences([[("NNP", "Ann")]], names=["pos", "word"])
    >>> columns_for(X, ["word"], 1, "new.csv")[0]
    [('Ann',)]
    """
    known = 0
    while known < len(names) and names[known] in X.names:
        known += 1
    if known < needed:
        missing = names[known]
        raise ValueError(
            f"{title} has no column {missing!r}, which the model has learned from; it "
            f"has {', '.join(X.names)}. --columns {missing}=NAME,... tells which "
            "columns are meant"
        )
    return X.select(names[:known])


class CsvInput(NamedInput):
    """A CSV file with a header."""

    def __init__(self, name, opened, options, encoding, memory):
        from skcw.io.csv_files import CsvFile

        super().__init__(name, opened, options, encoding, memory)
        self.file = CsvFile(
            opened.source,
            separator=options.separator,
            sentence=self._given("sentence_column"),
            encoding=encoding,
        )

    def _blocks(self, block_tokens, label, with_labels=True):
        names = self.file.columns
        if not with_labels:
            # Any column may be one that the model has learned from.
            for rows, X in self.file.blocks(block_tokens):
                yield rows, X, None
            return
        if isinstance(label, int):
            if not -len(self.file.header) <= label < len(self.file.header):
                raise ValueError(
                    f"{self.title} has {len(self.file.header)} columns; "
                    f"--label-column {label} is not one of them"
                )
            label = self.file.header[label]
        elif label is None:
            label = self._last_column()
        label = self._renamed().get(label, label)
        if label not in names:
            raise ValueError(
                f"{self.title} has no column {label!r}; it has {', '.join(names)}"
            )
        for rows, X in self.file.blocks(block_tokens):
            yield rows, X, label

    def _last_column(self):
        """Return the last column that `skcw tag` has not added."""
        header = self.file.header
        own = [
            name for name in header if name in self._renamed() and not is_added(name)
        ]
        return own[-1]

    def _renamed(self):
        return {self.file.header[c]: new for new, c in self.file.columns.items()}

    def echo(self):
        """Return what gives the rows back with columns added."""
        from skcw.cli.echo import CsvEcho

        return CsvEcho(self.file, self.encoding)


class JsonInput(NamedInput):
    """A file with one JSON record per line."""

    def __init__(self, name, opened, options, encoding, memory):
        super().__init__(name, opened, options, encoding, memory)
        self.names = label_names_of(options.label_names, self.label)
        if self.names is None and "label_names" in memory:
            self.names = {int(k): v for k, v in memory["label_names"].items()}

    def _further(self):
        return {"label_names": self.names}

    def _blocks(self, block_tokens, label, with_labels=True):
        from skcw.io.json_lines import columns_of_sentences, iter_records

        if isinstance(label, int):
            raise UsageError("JSON lines have keys; --label-column needs one of them")
        options = self._options(label) | {"with_labels": with_labels}
        held, n_words = [], 0
        for found in iter_records(self.opened.source, options, self.encoding):
            held.append(found)
            n_words += len(found[2].columns["word"])
            if n_words >= block_tokens:
                yield self._block(held, columns_of_sentences)
                held, n_words = [], 0
        if held:
            yield self._block(held, columns_of_sentences)

    def sentences(self, with_labels=True):
        """Yield all sentences, with their text where the records have one."""
        from skcw.io.json_lines import lists_of

        for held, X, label in self._blocks(BLOCK_TOKENS, self.label, with_labels):
            y = [None] * len(X) if label is None else self.labels(X.column(label))
            rows = zip(held, lists_of(self._features(X, label)), y, strict=True)
            for (_, _, sentence), columns, labels in rows:
                yield ReadSentence(columns, labels, sentence.text, sentence.places)

    def _options(self, label):
        tokenize = partial(places_of_tokens, tokenizer=self.tokenizer)
        return {"label": label, "names": self.names, "tokenize": tokenize}

    def _block(self, held, columns_of_sentences):
        X = columns_of_sentences([(n, s) for n, _, s in held], self.title)
        label = next((s.label for _, _, s in held if s.columns["word"]), None)
        return held, X, label

    def _renamed(self):
        return {"tokens": "word", "words": "word", "pos_tags": "pos"}

    def pairs(self, predicted=None):
        """Yield the true and the predicted labels; both may be spans of characters."""
        from skcw.io.json_lines import iter_records

        options = self._options(self.label)
        guess = self._options(predicted or PREDICTED)
        records = iter_records(self.opened.source, options, self.encoding)
        for _, record, sentence in records:
            yield self._pair(record, sentence, guess)

    def _pair(self, record, sentence, options):
        from skcw.io.json_records import RecordError, read_record

        try:
            other = read_record(record, **options)
        except RecordError as error:
            raise ValueError(
                f"{self.title}: {error}. --predicted-column tells where the predicted "
                "labels are"
            ) from None
        if sentence.label is None:
            raise ValueError(f"{self.title} has no true labels; --label-column")
        pair = [[s.columns[s.label]] for s in (sentence, other)]
        return self.labels(pair[0]), self.labels(pair[1])

    def echo(self):
        """Return what gives the records back with the labels added."""
        from skcw.cli.echo import JsonEcho

        return JsonEcho()


def label_names_of(text, key=None):
    """Return {number: label} as an option names them.

    Parameters
    ----------
    text : str or None
        Names with commas between them; or a file with one per line, or with a list or
        an ``id2label`` in JSON.
    key : str, default=None
        The key of the labels, if the file describes several.

    Returns
    -------
    names : dict of int to str or None
        The names.

    Examples
    --------
    >>> from skcw.cli.named_inputs import label_names_of
    >>> label_names_of("O,B-PER")
    {0: 'O', 1: 'B-PER'}
    """
    from skcw.io.json_records import label_names

    if text is None:
        return None
    if not os.path.isfile(text):
        names = text.split(",")
        if len(names) < 2:
            raise UsageError(
                f"--label-names: there is no file {text}; give several names with "
                "commas between them, or a file"
            )
        return label_names(names)
    with open(text, encoding="utf-8") as file:
        content = file.read()
    if content.lstrip()[:1] in ("{", "["):
        try:
            return label_names(json.loads(content), key or "ner_tags")
        except ValueError as error:
            raise ValueError(f"{text}: {error}") from None
    return label_names([line.strip() for line in content.splitlines() if line.strip()])


def places_of_tokens(text, tokenizer=None):
    """Return where the words of a text begin and end, as ``skcw tag --text`` has it."""
    from skcw.io import Tokenizer

    rows = (tokenizer or Tokenizer()).split(text)
    return [(t.start, t.end) for row in rows for t in row]
