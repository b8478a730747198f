"""Features as the options of the command line describe them."""

import re
import warnings

from skcw.cli.inputs import needed_columns
from skcw.cli.messages import warn

DEFAULT_FEATURES = "ner"


def make_features(options, X, label=None):
    """Return unfitted features as the options describe them, and their templates.

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
        The templates of its lines.
    """
    from skcw.features import WindowFeatures, WordClusters
    from skcw.features.extractor import names_of
    from skcw.features.language import LOOKING
    from skcw.features.lines import check_lexicons, templates_of

    # The user has named these; names in the header of a file need not be identifiers.
    given = None if options.columns is None else list(options.columns)
    names = names_of(X, None, given)
    encoding = options.encoding or "utf-8"
    lexicons = {n: read_words(f, encoding) for n, f in options.lexicon}
    check_lexicons(lexicons)
    clusters = {n: WordClusters.read(f, encoding) for n, f in options.clusters}
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
        parts = map(str.strip, chosen.split(";"))
        lines = [("--features", line) for line in parts if line]
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
    """Raise unless each line can be understood; errors name its place.

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


def unused_names(templates, names, kinds):
    """Return the names of lexicons or clusters that no template of a kind uses."""
    atoms = [atom for template in templates for atom in template.atoms]
    used = {view.detail for view, _ in atoms if view.kind in kinds}
    return [name for name in names if name not in used]


def read_words(name, encoding):
    """Return the words of a list, one per line."""
    from skcw.data.text_lines import numbered_lines

    return [line.strip() for _, line in numbered_lines(name, encoding) if line.strip()]
