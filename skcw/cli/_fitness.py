"""Whether a file has the columns that a model has learnt from."""

from skcw.cli._corpus import title_of
from skcw.cli._errors import warn
from skcw.cli._templates import needed_columns

# True labels and those of another tagger often follow the columns of a model.
COLUMNS_BESIDES = 2
# Below this share of known values, a column is probably another one.
FEW = 0.1


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


def check_like(X, name, X_train, features, templates):
    """Raise unless a further file has the columns of that to learn from.

    Parameters
    ----------
    X : TokenColumns
        The sentences of the further file.
    name : str
        Its name, for messages.
    X_train : TokenColumns
        The sentences to learn from.
    features : WindowFeatures
        The features to learn.
    templates : list of Template
        What they stand for.
    """
    from skcw.features.columns import names_of

    names = names_of(X_train, None, features.columns)
    check_width(X, templates, names, name, " besides the labels")


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
            f"{where}: {X.n_columns} columns where the model has learnt from "
            f"{len(names)} ({', '.join(names)}); the others are not looked at. A file "
            "has one word a line",
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
