"""Read corpora, models and features as the command-line options describe them."""

import re
import warnings
from contextlib import contextmanager
from itertools import chain

from skcw.cli.inputs import WHOLE, open_input, title_of
from skcw.cli.messages import looks_like_model, warn


def split_lines(text):
    """Return the lines of ``--features``, each with its place for messages.

    Parameters
    ----------
    text : str
        Lines separated by semicolons.

    Returns
    -------
    lines : list of (str, str)
        Places and lines.
    """
    lines = (line.strip() for line in text.split(";"))
    return [("--features", line) for line in lines if line]


def template_lines(path):
    """Return the lines of a file of features, each with its place for messages.

    Parameters
    ----------
    path : str
        CRF++ templates and lines of our own language; those with ``#`` are comments.

    Returns
    -------
    lines : list of (str, str)
        Places and lines.
    """
    from skcw.features.lines import numbered_lines

    found = numbered_lines(path)
    if not found:
        raise ValueError(f"{path} holds no features")
    return [(f"{path}, line {number}", line) for number, line in found]


def check_lines(lines, names, lexicons, label=None, clusters=()):
    """Raise unless each line can be understood; tell where it stands.

    Parameters
    ----------
    lines : list of (str, str)
        Places and lines.
    names : list of str
        The names of the columns that features can look at.
    lexicons : collection of str
        The names of the lexicons.
    label : int, default=None
        The column of the labels, if it comes after the others.
    clusters : collection of str, default=()
        The names of the clusters.
    """
    from skcw.features.lines import is_template_line, parse_template_line, templates_of

    for place, line in lines:
        try:
            if is_template_line(line) and line not in names:
                _check_columns(parse_template_line(line), line, names, label)
            else:
                templates_of([line], names, lexicons, clusters)
        except ValueError as error:
            text = str(error).removeprefix("features: ").removeprefix("template: ")
            raise ValueError(f"{place}: {text}{_ready_sets(place, line)}") from None


def _check_columns(templates, line, names, label):
    needed = needed_columns(templates)
    if needed <= len(names):
        return
    known = ", ".join(f"{c} ({name})" for c, name in enumerate(names))
    hint = "; that is the column of the labels" if needed - 1 == label else ""
    raise ValueError(
        f"{line!r} looks at column {needed - 1}{hint}; the first column is 0, and the "
        f"features can look at {known}"
    )


def _ready_sets(place, line):
    """Return a hint for a word that is not a feature and so may be meant as a set."""
    from skcw.features.lines import READY_SETS

    if place != "--features" or not re.fullmatch(r"\w+", line):
        return ""
    return f". The ready sets are {', '.join(sorted(READY_SETS))}"


def needed_columns(templates):
    """Return how many columns templates need, up to the last they look at."""
    atoms = [atom for template in templates for atom in template.atoms]
    return 1 + max((view.column or 0 for view, _ in atoms), default=0)


def unused_names(templates, names, kinds):
    """Return the names of lexicons or clusters that no template of a kind uses."""
    atoms = [atom for template in templates for atom in template.atoms]
    used = {view.detail for view, _ in atoms if view.kind in kinds}
    return [name for name in names if name not in used]


DEFAULT_FEATURES = "ner"


def rescheme(y, options):
    """Return labels in the scheme that was asked for, if any."""
    from skcw.data import convert_labels

    return y if options.scheme is None else convert_labels(y, options.scheme)


def read_labeled(corpus):
    """Return the sentences of a file and their labels.

    Parameters
    ----------
    corpus : Input
        The file.

    Returns
    -------
    X : TokenColumns
        The columns without the labels.
    y : ndarray of object
        A list of labels for each sentence.
    """
    blocks = [block for block in corpus.labeled(WHOLE) if block[0].n_tokens]
    if not blocks:
        raise ValueError(f"{corpus.title} holds no words")
    ((X, y),) = blocks
    check_labels(y, corpus)
    return X, rescheme(y, corpus.options)


def check_labels(y, corpus):
    """Raise if labels are missing; warn if there is nothing to tell apart."""
    found = set(chain.from_iterable(y))
    where = f"{corpus.label_title(True)} holds"
    if found == {"_"}:
        raise ValueError(
            f"{where} no labels, only _; --label-column tells where they are"
        )
    if len(found) == 1:
        warn(
            corpus.options.command,
            f"{where} one label only, {min(found)!r}, so that there is nothing to "
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
        What is learned from them.
    templates : list of Template
        What the features stand for.

    Returns
    -------
    X, y : TokenColumns and ndarray of object
        The sentences and their labels.
    """
    from skcw.cli.column_checks import check_width
    from skcw.cli.named_inputs import columns_for
    from skcw.features.columns import names_of

    other, y = read_labeled(open_input(name, options))
    names = names_of(X, None, features.columns)
    if other.names is not None:
        other = columns_for(other, names, needed_columns(templates), title_of(name))
    check_width(other, templates, names, name, " besides the labels")
    return other, y


def read_words(name, encoding):
    """Return the words of a list, one per line."""
    with open(name, encoding=encoding) as file:
        try:
            return [line.strip() for line in file if line.strip()]
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} is not {encoding}: {error.reason}") from error


def make_features(options, X, label=None):
    """Return unfitted features as the options describe them, and what they stand for.

    Parameters
    ----------
    options : argparse.Namespace
        With the options of ``add_features``.
    X : TokenColumns
        The sentences to learn from.
    label : int, default=None
        The column of the labels in a file of columns, for messages.

    Returns
    -------
    features : WindowFeatures
        The features.
    templates : list of Template
        What its lines stand for.
    """
    from skcw.features import WindowFeatures, read_clusters
    from skcw.features.columns import names_of
    from skcw.features.language import LOOKING
    from skcw.features.lines import check_lexicons, templates_of

    # The user has named these; names in the header of a file need not be identifiers.
    given = None if options.columns is None else list(options.columns)
    names = names_of(X, None, given)
    encoding = options.encoding or "utf-8"
    lexicons = {n: read_words(f, encoding) for n, f in options.lexicon}
    check_lexicons(lexicons)
    clusters = {n: read_clusters(f, encoding) for n, f in options.clusters}
    features = _chosen_features(options, names, lexicons, clusters, label)
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


def _chosen_features(options, names, lexicons, clusters, label):
    """Return a ready set or lines, each of which has been understood."""
    from skcw.features.lines import READY_SETS

    chosen = DEFAULT_FEATURES if options.features is None else options.features
    if options.template is None and chosen in READY_SETS:
        return _ready_set(chosen, lexicons, clusters, names)
    if options.template is None:
        lines = split_lines(chosen)
    else:
        lines = template_lines(options.template)
    after = len(names) if label in (-1, len(names)) else None
    check_lines(lines, names, lexicons, after, clusters)
    return [line for _, line in lines]


def _ready_set(name, lexicons, clusters, names):
    """Return a ready set; lexicons and clusters join it as features of three words."""
    from skcw.features.lines import READY_SETS
    from skcw.features.resources import is_of_several_words

    if not lexicons and not clusters:
        return name
    lines = [line for line in READY_SETS[name] if "pos" in names or "pos" not in line]
    for lexicon, entries in lexicons.items():
        view = "span" if is_of_several_words(entries) else "in"
        lines.append(f"{view}({lexicon})[-1..1]")
    return lines + [f"cluster({one})[-1..1]" for one in clusters]


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
        What makes features from the columns of words.
    ask : callable
        ``predict_all(X)`` gives the answers of the model about ``TokenColumns``.
    selection : dict or None
        The thresholds by which it accepts labels, if it has any.
    reading : dict or None
        How the file that it has learned from was read.
    tokenizer : Tokenizer or None
        What cuts a text into words as the model knows them.
    """
    from skcw.confidence.inference_model import InferenceModel, can_serve
    from skcw.io.model_files import read_model

    with named_models(path):
        header, arrays = read_model(path, mapped=mapped)
        if "features" in header and can_serve(header):
            model = InferenceModel.from_saved(path, header, arrays)
            found = model.features, model.predict_all, model.selection
            return *found, header.get("reading"), model.tokenizer
    # What needs scikit-learn is asked through its estimator.
    model, pipeline = load_model(path)
    found = pipeline[0].extractor_, model.predict_all, selection_of(model)
    return *found, header.get("reading"), pipeline.text_reading()["tokenizer"]


def selection_of(model):
    """Return the thresholds of a model or of the tagger in it, or None."""
    tagger = getattr(model, "tagger", None)
    return getattr(model, "selection_", getattr(tagger, "selection_", None))


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


def load_model(path):
    """Return the model in a file; it must hold features.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    model : estimator
        The model: a pipeline, or what was built around one.
    pipeline : TaggingPipeline
        The pipeline.
    """
    from skcw import TaggingPipeline, load

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


def layers(model):
    """Yield a model, what it is built around, and so on inwards."""
    while model is not None:
        yield model
        model = getattr(model, "estimator_", None)
