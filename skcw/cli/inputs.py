"""Read corpora and models as the options of the command line describe them."""

import json
import os
from collections import Counter
from contextlib import contextmanager
from itertools import chain

from skcw.cli.messages import (
    UsageError,
    input_of,
    looks_like_model,
    note,
    one_line,
    warn,
)
from skcw.exceptions import ModelFileError
from skcw.io.formats import open_corpus

# Columns that may follow those of a model: true labels, and those of another tagger.
COLUMNS_BESIDES = 2
# Below this share of known values, a column is probably another one.
FEW = 0.1
# In fewer words, a bad tagger may well get none right.
ENOUGH_WORDS = 20


def title_of(name):
    """Return the name of a file of the command line in messages."""
    return "<stdin>" if name == "-" else name


def open_input(name, options, memory=None, tokenizer=None):
    """Return a file of the command line, ready to be read.

    Parameters
    ----------
    name : str
        The file, or "-".
    options : argparse.Namespace
        The options of ``add_reading``, and ``label_column``.
    memory : dict, default=None
        How the file that a model was trained on was read.
    tokenizer : Tokenizer, default=None
        Splits texts without tokens: that of the model; the default one if None.

    Returns
    -------
    file : CorpusFile
        The file.
    """
    key = options.label_column or (memory or {}).get("label_column")
    names = label_names_of(options.label_names, key)
    return open_corpus(
        input_of(name),
        vars(options) | {"label_names": names},
        title=title_of(name),
        memory=memory,
        note=lambda message: note(options, one_line(message)),
        tokenizer=tokenizer,
    )


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
    >>> from skcw.cli.inputs import label_names_of
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


def rescheme(y, options, place=None, repairs=None):
    """Return labels in the scheme that was asked for, if any.

    Errors and repairs, if they are counted, name the `place` of a label in a file.
    """
    if options.scheme is None:
        return y
    from skcw._util.ragged import object_rows
    from skcw.data.schemes import LabelError, converted

    try:
        return object_rows(converted(y, options.scheme, repairs=repairs, place=place))
    except LabelError as error:
        if place is None:
            raise
        where = place(error.sentence, error.token)
        raise ValueError(f"{where} {error.fault}") from None


def place_in(title, lines=None, offsets=(0,), before=0):
    """Return a function that names where a token of a sentence is in a file.

    Parameters
    ----------
    title : str
        The file.
    lines : sequence of int, default=None
        The line of each token of all sentences, if it is known.
    offsets : sequence of int
        Where the tokens of each sentence begin.
    before : int
        How many sentences have been read already.

    Returns
    -------
    place : callable
        ``place(sentence, token)`` is a text.

    Examples
    --------
    >>> from skcw.cli.inputs import place_in
    >>> place_in("a.conll", [7, 8], before=2)(0, 1)
    'a.conll, line 8: sentence 2, token 1'
    """

    def place(s, token):
        line = "" if lines is None else f"line {lines[offsets[s] + token]}: "
        return f"{title}, {line}sentence {before + s}, token {token}"

    return place


class Corpus:
    """The blocks of a labeled file, counted.

    Parameters
    ----------
    file : CorpusFile
        The file.
    in_blocks : bool, default=False
        Whether it is read block by block; otherwise it is one.

    Attributes
    ----------
    first : TokenColumns
        The sentences of the first block.
    n_sentences, n_words : int
        How many of them have been iterated over.
    labels : Counter
        Their labels.
    """

    def __init__(self, file, in_blocks=False):
        from skcw.io.corpora import BLOCK_TOKENS, WHOLE

        self.file = file
        self.n_sentences = self.n_words = 0
        self.labels = Counter()
        blocks = file.labeled(BLOCK_TOKENS if in_blocks else WHOLE)
        blocks = (block for block in blocks if block[0].n_tokens)
        head = next(blocks, None)
        if head is None:
            raise ValueError(f"{file.title} holds no words")
        check_labels(head[1], file)
        self.first = head[0]
        self._blocks = chain([head], blocks)

    def __iter__(self):
        from skcw.data.schemes import Repairs

        file, repairs = self.file, Repairs()
        for X, y in self._blocks:
            place = place_in(file.title, X.lines, X.offsets, self.n_sentences)
            self.n_sentences += len(X)
            self.n_words += int(X.n_tokens)
            y = rescheme(y, file.options, place, repairs)
            self.labels.update(chain.from_iterable(y))
            yield X, y
        repairs.tell(file.opened.note)


def read_labeled(file):
    """Return the sentences of a file and their labels."""
    ((X, y),) = Corpus(file)
    return X, y


def check_labels(y, corpus):
    """Raise if labels are missing; warn if there is one label only."""
    found = set(chain.from_iterable(y))
    where = f"{corpus.label_title(True)} holds"
    if found == {"_"}:
        raise ValueError(
            f"{where} no labels, only _; --label-column tells where they are"
        )
    if len(found) == 1:
        warn(
            corpus.options.command,
            f"{where} one label only, {min(found)!r}, so there is nothing to "
            "learn; --label-column tells where the labels are",
        )


def read_like(name, options, X, features, templates):
    """Return labeled sentences of another file, with the columns of the first.

    Parameters
    ----------
    name : str
        The other file.
    options : argparse.Namespace
        How both are laid out.
    X : TokenColumns
        The sentences of the first.
    features : WindowFeatures
        The features.
    templates : list of Template
        The templates of the features.

    Returns
    -------
    X, y : TokenColumns and ndarray of object
        The sentences and their labels.
    """
    from skcw.features.extractor import names_of
    from skcw.io.corpora import select_named

    other, y = read_labeled(open_input(name, options))
    names = names_of(X, None, features.columns)
    if other.names is not None:
        other = select_named(other, names, needed_columns(templates), title_of(name))
    check_width(other, templates, names, name, " besides the labels")
    return other, y


def tell_of_unknown(counts, classes, name, options):
    """Tell of labels of a file that a model does not know.

    Parameters
    ----------
    counts : dict of str to int
        How often each label occurs in the file.
    classes : iterable of str
        The labels of the model.
    name : str
        The file.
    options : argparse.Namespace
        Those of the command.
    """
    from skcw.data.schemes import with_counts

    unknown = {label: counts[label] for label in set(counts).difference(classes)}
    if unknown:
        note(
            options,
            f"labels of {title_of(name)} that the model does not know: "
            f"{with_counts(unknown)}",
        )


def needed_columns(templates):
    """Return how many columns templates need, up to the last they look at."""
    atoms = [atom for template in templates for atom in template.atoms]
    return 1 + max((view.column or 0 for view, _ in atoms), default=0)


def for_model(corpus, X, features):
    """Return the columns of sentences that a model looks at, in its order."""
    needed = needed_columns(features.templates)
    return corpus.select(X, features.columns, needed)


def check_width(X, templates, names, name, besides=""):
    """Raise unless sentences have the columns that templates look at.

    Parameters
    ----------
    X : TokenColumns
        The sentences.
    templates : list of Template
        The templates of the model.
    names : list of str
        The names of the columns in training.
    name : str
        The file, for messages.
    besides : str
        A remark on columns that are not counted.
    """
    needed = needed_columns(templates)
    if X.n_columns >= needed or not X.n_tokens:
        return
    columns = "1 column" if X.n_columns == 1 else f"{X.n_columns} columns"
    raise ValueError(
        f"{title_of(name)}, line {X.lines[0]}: {columns}{besides}; the model needs "
        f"{needed}: {', '.join(names[:needed])}"
    )


def check_file(features, X, name, command, besides=""):
    """Raise unless a model can read sentences; warn if they look unlike its own.

    Parameters
    ----------
    features : FeatureExtractor
        The features of the model.
    X : TokenColumns
        The first sentences of a file.
    name : str
        The file, for messages.
    command : str
        The name of the command, for warnings.
    besides : str
        A remark on columns that are not counted.
    """
    names = features.columns
    check_width(X, features.templates, names, name, besides)
    if not X.n_tokens:
        return
    where = f"{title_of(name)}, line {X.lines[0]}"
    if X.n_columns > len(names) + COLUMNS_BESIDES:
        text = "; --text reads plain text" if command == "tag" else ""
        warn(
            command,
            f"{where}: {X.n_columns} columns where the model has learned from "
            f"{len(names)} ({', '.join(names)}); the others are ignored. A file "
            f"has one word per line{text}",
        )
    for column, template in _texts_of_columns(features.templates).items():
        if column and _share_known(features.vocabulary, X, column, template) < FEW:
            warn(
                command,
                f"{where}: the model knows almost no value of column {column}, which "
                f"it takes for {names[column]} (such as {_example(X, column)!r}); "
                "--columns and --label-column tell which columns are which",
            )


def _texts_of_columns(templates):
    """Return {column: template} of templates that are the text of a column alone."""
    found = {}
    for template in templates:
        views = [(view.column, view.kind, offset) for view, offset in template.atoms]
        if len(views) == 1 and views[0][1:] == ("text", 0):
            found[views[0][0]] = template
    return found


def _share_known(vocabulary, X, column, template):
    """Return the share of words whose value in a column has a feature."""
    import numpy as np

    if vocabulary is None:
        return 1.0
    before, after = template.literals
    counts = np.bincount(X.codes[column], minlength=len(X.values[column]))
    values = X.values[column].names()
    known = vocabulary.find_all(before + value + after for value in values) >= 0
    return float(counts[known].sum() / counts.sum())


def _example(X, column):
    return X.values[column][int(X.codes[column, 0])]


class LabelColumns:
    """Notices a column that was taken for true or predicted labels by mistake.

    Parameters
    ----------
    true : str
        The name of the true labels in messages.
    predicted : str
        The name of the predicted labels in messages.
    hint : str
        The remedy.

    Examples
    --------
    >>> from skcw.cli.inputs import LabelColumns
    >>> columns = LabelColumns("column 2", "column 3", "choose others")
    >>> columns.add([["B-PER", "O"]], [["0.9812", "0.7300"]])
    Traceback (most recent call last):
        ...
    ValueError: column 3 holds numbers such as '0.9812', not labels; choose others
    """

    def __init__(self, true, predicted, hint):
        self.title, self.other_title, self.hint = true, predicted, hint
        self.true = set()
        self.predicted = set()
        self.words = 0

    def add(self, y_true, y_pred):
        """Take in the labels of sentences; raise if they are numbers.

        Parameters
        ----------
        y_true : iterable of sequences of str
            True labels.
        y_pred : iterable of sequences of str
            Predicted labels.
        """
        true, predicted = (set(chain.from_iterable(y)) for y in (y_true, y_pred))
        numbers = [y and all(map(_is_number, y)) for y in (true, predicted)]
        if numbers == [False, True] and not true & predicted:
            example = next(chain.from_iterable(y_pred))
            raise ValueError(
                f"{self.other_title} holds numbers such as {example!r}, not labels; "
                f"{self.hint}"
            )
        self.words += sum(map(len, y_true))
        self.true |= true
        self.predicted |= predicted

    def check(self):
        """Raise if, in many words, no true label was ever predicted."""
        if self.words < ENOUGH_WORDS or self.true & self.predicted:
            return
        raise ValueError(
            f"{self.title} (such as {min(self.true)!r}) and {self.other_title} (such "
            f"as {min(self.predicted)!r}) have no label in common; {self.hint}"
        )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def open_model(path, mapped=False):
    """Return the model in a file, only to be asked.

    Parameters
    ----------
    path : str
        The file.
    mapped : bool, default=False
        Whether to map its arrays into memory, which processes then share.

    Returns
    -------
    features : FeatureExtractor
        The features of the model.
    ask : callable
        ``predict_all(X)`` gives the answers of the model about ``TokenColumns``.
    selection : dict or None
        The thresholds by which it accepts labels, if it has any.
    reading : dict or None
        How the file that it has learned from was read.
    tokenizer : Tokenizer or None
        The tokenizer of the model.
    """
    from skcw.confidence.inference_model import InferenceModel

    with named_models(path):
        model = InferenceModel.for_words(path, mapped=mapped)
    if model is not None:
        found = model.features, model.predict_all, model.selection
        return *found, model.reading, model.tokenizer
    # What needs scikit-learn is asked through its estimator.
    model, pipeline = load_model(path)
    tagger = getattr(model, "tagger", None)
    selection = getattr(model, "selection_", getattr(tagger, "selection_", None))
    found = pipeline[0].extractor_, model.predict_all, selection
    reading = getattr(model, "reading_", None)
    return *found, reading, pipeline.text_reading()["tokenizer"]


@contextmanager
def named_models(path):
    """Raise an error with a remedy if a file is not a model."""
    try:
        yield
    except ModelFileError:
        if looks_like_model(path):
            raise
        raise ValueError(
            f"{path} is not a skcw model; `skcw train` writes one"
        ) from None


def load_model(path):
    """Return the model in a file; it must hold features.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    model : estimator
        The model: a pipeline, or an estimator around one.
    pipeline : TaggingPipeline
        The pipeline.
    """
    from skcw.io.loading import load
    from skcw.pipeline import TaggingPipeline
    from skcw.tagging.base import layers

    with named_models(path):
        model = load(path)
    for inner in layers(model):
        if isinstance(inner, TaggingPipeline):
            return model, inner
    raise ValueError(
        f"{path} holds a {type(model).__name__} without features: it cannot read "
        "columns of words; `skcw train` writes models that can, and so does `save` of "
        "a pipeline"
    )
