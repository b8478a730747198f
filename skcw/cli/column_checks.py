"""Checks that the columns of a file hold what a command expects.

A model needs the columns that it has learned from, and labels are compared with labels.
"""

from itertools import chain

from skcw.cli.corpus import needed_columns
from skcw.cli.inputs import title_of
from skcw.cli.messages import warn

# Columns that may follow those of a model: true labels, and those of another tagger.
COLUMNS_BESIDES = 2
# Below this share of known values, a column is probably another one.
FEW = 0.1
# In fewer words, a bad tagger may well get none right.
ENOUGH_WORDS = 20


def check_width(X, templates, names, name, besides=""):
    """Raise unless sentences have the columns that templates look at.

    Parameters
    ----------
    X : TokenColumns
        The sentences.
    templates : list of Template
        What looks at them.
    names : list of str
        The names of the columns in training.
    name : str
        The file, for messages.
    besides : str
        What to say of columns that are not counted.
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
        What to say of columns that are not counted.
    """
    names = features.columns
    check_width(X, features.templates, names, name, besides)
    if not X.n_tokens:
        return
    where = f"{title_of(name)}, line {X.lines[0]}"
    if X.n_columns > len(names) + COLUMNS_BESIDES:
        warn(
            command,
            f"{where}: {X.n_columns} columns where the model has learned from "
            f"{len(names)} ({', '.join(names)}); the others are ignored. A file "
            "has one word per line",
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
        What messages call the true labels.
    predicted : str
        What messages call the predicted labels.
    hint : str
        What to do about it.

    Examples
    --------
    >>> from skcw.cli.column_checks import LabelColumns
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
