"""Read column files, models and features as the command-line options describe them."""

import warnings
from contextlib import contextmanager
from copy import copy

from skcw.cli._files import input_of, looks_like_model
from skcw.cli._messages import UsageError, warn
from skcw.cli._templates import (
    check_lines,
    split_lines,
    template_lines,
    unused_names,
)

DEFAULT_FEATURES = "ner"
CONLLU_WORD, CONLLU_LABEL = 1, 3


def label_column(options, otherwise=-1):
    """Return the column of the true labels."""
    if options.label_column is not None:
        return options.label_column
    return CONLLU_LABEL if options.conllu else otherwise


def feature_columns(options):
    """Return {name: number} of the columns for the features, or None for all."""
    if options.columns is None and options.conllu:
        return {"word": CONLLU_WORD}
    return options.columns


def rescheme(y, options):
    """Return labels in the scheme that was asked for, if any."""
    from skcw.data import convert_labels

    return y if options.scheme is None else convert_labels(y, options.scheme)


def reading_options(options):
    """Return the options of the command line that the readers take."""
    return {
        "separator": options.separator,
        "comment": options.comment,
        "encoding": options.encoding,
        "conllu": options.conllu,
    }


def chosen_columns(options, *others):
    """Return which columns to read, and their names, as the readers take them.

    Parameters
    ----------
    options : argparse.Namespace
        With ``columns``: {name: number} or None.
    *others : int
        Further columns, such as that of the labels; they come last.

    Returns
    -------
    chosen : dict
        ``columns`` and ``names``; empty if all columns are to be read.
    """
    columns = feature_columns(options)
    if columns is None:
        return {}
    numbers = [*columns.values(), *others]
    if len(set(numbers)) < len(numbers):
        raise UsageError("--columns names the column of the labels, too")
    names = [*columns, *(f" label {i}" for i in range(len(others)))]
    return {"columns": numbers, "names": names}


def read_labelled(name, options):
    """Return the sentences of a column file and their labels.

    Parameters
    ----------
    name : str
        The file, or "-".
    options : argparse.Namespace
        How it is laid out.

    Returns
    -------
    X : TokenColumns
        The columns without the labels.
    y : ndarray of object
        A list of labels for each sentence.
    """
    from skcw.data import read_columns

    label = label_column(options)
    chosen = chosen_columns(options, label)
    columns = read_columns(input_of(name), **reading_options(options), **chosen)
    if not columns.n_tokens:
        raise ValueError(f"{title_of(name)} holds no words")
    X, y = split_labels(columns, -1 if chosen else label, name)
    return X, rescheme(y, options)


def split_labels(columns, label, name):
    """Return columns without that of the labels, and the labels.

    Parameters
    ----------
    columns : TokenColumns
        What was read.
    label : int
        The column of the labels.
    name : str
        The file, for messages.

    Returns
    -------
    X : TokenColumns
        The other columns.
    y : ndarray of object
        A list of labels for each sentence.
    """
    n_columns = columns.n_columns
    if n_columns < 2:
        raise ValueError(
            f"{title_of(name)} has one column where a word and a label are needed "
            "(--separator says what separates columns)"
        )
    if not -n_columns <= label < n_columns:
        raise ValueError(
            f"{title_of(name)} has {n_columns} columns; --label-column {label} is not "
            "one of them (the first is 0, the last -1)"
        )
    return columns.split_label(label)


def title_of(name):
    """Return what messages call a file of the command line."""
    return "<stdin>" if name == "-" else name


def read_words(name, encoding):
    """Return the words of a list, one per line."""
    with open(name, encoding=encoding) as file:
        try:
            return [line.strip() for line in file if line.strip()]
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} is not {encoding}: {error.reason}") from error


def make_features(options, X):
    """Return unfitted features as the options describe them, and what they stand for.

    Parameters
    ----------
    options : argparse.Namespace
        With the options of ``add_features``.
    X : TokenColumns
        The sentences to learn from.

    Returns
    -------
    features : WindowFeatures
        The features.
    templates : list of Template
        What its lines stand for.
    """
    from skcw.features import WindowFeatures, read_clusters
    from skcw.features._columns import names_of
    from skcw.features._feature_template import LOOKING
    from skcw.features._lines import check_lexicons, templates_of

    columns = feature_columns(options)
    given = None if columns is None else list(columns)
    names = names_of(X, None, given)
    lexicons = {n: read_words(f, options.encoding) for n, f in options.lexicon}
    check_lexicons(lexicons)
    clusters = {n: read_clusters(f, options.encoding) for n, f in options.clusters}
    features = _chosen_features(options, names, lexicons, clusters)
    with warnings.catch_warnings():
        # Fitting shows them.
        warnings.simplefilter("ignore")
        templates = templates_of(features, names, lexicons, clusters)
    for name in unused_names(templates, lexicons, LOOKING):
        hint = f"add one such as in({name})[-1..1]"
        warn(options.command, f"the lexicon {name} is used by no feature; {hint}")
    for name in unused_names(templates, clusters, ("cluster",)):
        hint = f"add one such as cluster({name})[-1..1]"
        warn(options.command, f"the clusters {name} are used by no feature; {hint}")
    features = WindowFeatures(
        features,
        columns=given,
        lexicons=lexicons or None,
        clusters=clusters or None,
        min_count=options.min_count,
    )
    return features, templates


def _chosen_features(options, names, lexicons, clusters):
    """Return a ready set or lines, each of which has been understood."""
    from skcw.features._sets import READY_SETS

    chosen = DEFAULT_FEATURES if options.features is None else options.features
    if options.template is None and chosen in READY_SETS:
        return _ready_set(chosen, lexicons, clusters, names)
    if options.template is None:
        lines = split_lines(chosen)
    else:
        lines = template_lines(options.template)
    check_lines(lines, names, lexicons, _label_after(options, names), clusters)
    return [line for _, line in lines]


def _label_after(options, names):
    """Return the number of the label column if it follows the others, else None."""
    last = label_column(options) in (-1, len(names))
    return len(names) if last and feature_columns(options) is None else None


def _ready_set(name, lexicons, clusters, names):
    """Return a ready set; lexicons and clusters join it as features of three words."""
    from skcw.features._gazetteer import is_of_several_words
    from skcw.features._sets import READY_SETS

    if not lexicons and not clusters:
        return name
    lines = [line for line in READY_SETS[name] if "pos" in names or "pos" not in line]
    for lexicon, entries in lexicons.items():
        view = "span" if is_of_several_words(entries) else "in"
        lines.append(f"{view}({lexicon})[-1..1]")
    return lines + [f"cluster({one})[-1..1]" for one in clusters]


def open_model(path):
    """Return the model in a file, only to be asked.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    features : FeatureExtractor
        What makes features from the columns of words.
    ask : callable
        ``ask(X)`` gives the answers of the model about ``TokenColumns``.
    selection : dict or None
        The thresholds by which it accepts labels, if it has any.
    """
    from skcw._persistence import read_model
    from skcw._runtime import Model, can_serve

    with named_models(path):
        header, arrays = read_model(path)
        if "features" in header and can_serve(header):
            model = Model.from_saved(path, header, arrays)
            return model.features, model.ask, model.selection
    # What needs scikit-learn is asked through its estimator.
    pipeline = load_pipeline(path)
    return pipeline[0].extractor_, pipeline.ask, selection_of(pipeline)


def selection_of(pipeline):
    """Return the thresholds of the tagger of a pipeline, or None."""
    return getattr(pipeline.tagger, "selection_", None)


@contextmanager
def named_models(path):
    """Tell how to make a model if a file is not one."""
    from skcw.exceptions import ModelFileError

    try:
        yield
    except ModelFileError:
        if looks_like_model(path):
            raise
        raise ValueError(
            f"{path} is not a skcw model; `skcw train` writes one"
        ) from None


def load_pipeline(path):
    """Return the model in a file; it must hold features.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    pipeline : TaggingPipeline
        The model.
    """
    from skcw import TaggingPipeline, load

    with named_models(path):
        model = load(path)
    if isinstance(getattr(model, "tagger_", None), TaggingPipeline):
        return _ending_in_tagger(model)
    if not isinstance(model, TaggingPipeline):
        raise ValueError(
            f"{path} holds a {type(model).__name__} without features: it cannot read "
            "columns of words; `skcw train` writes models that can"
        )
    return model


def _ending_in_tagger(wrapped):
    """Return a calibrated or selective pipeline as one that ends in such a tagger."""
    pipeline = wrapped.tagger_
    inner = copy(wrapped)
    inner.tagger = inner.tagger_ = pipeline.tagger
    return pipeline.with_tagger(inner)
