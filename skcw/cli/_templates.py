"""Read lines of features from the command line or a file, and check them."""

import re


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
    from skcw.features._crfpp import numbered_lines

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
    from skcw.features._crfpp import is_template_line, parse_template_line
    from skcw.features._lines import templates_of

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
    from skcw.features._sets import READY_SETS

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
