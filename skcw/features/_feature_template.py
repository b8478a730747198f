"""Templates: the parts that a feature is made of."""

from typing import NamedTuple

from skcw.features._basic import word_shape
from skcw.features._patterns import compiled_pattern

# Views whose presence says it all: their features have no value after the name.
FLAGS = (
    "has_digit",
    "all_digits",
    "has_hyphen",
    "first_capital",
    "has_capital",
    "all_capitals",
    "in",
    "matches",
    "first",
    "last",
    "bias",
)

# Views of the place of a token, not of one of its columns.
PLACES = ("first", "last", "bias")

# Views of a lexicon, whose entries may have several words.
LOOKING = ("in", "span")

# What can be told of a text at sight, besides what is compiled.
SEEN = {
    "length": lambda text: str(len(text)),
    "initial": lambda text: word_shape(text[0]) if text else None,
}

# Beyond this, an offset must be a mistake; margins of sentences are that wide.
FARTHEST = 100


class View(NamedTuple):
    """What is looked at: a column, and how.

    Parameters
    ----------
    column : int or None
        The position of the column; None for views of the place of a token.
    kind : str
        ``"text"``, ``"lower"``, ``"shape"``, ``"short_shape"``, ``"prefix"``,
        ``"suffix"``, ``"ngrams"``, ``"length"``, ``"initial"``, ``"cluster"``,
        ``"span"``, a flag, ``"test"``, ``"match"`` or ``"lower_match"``.
    size : int
        The number of characters of a prefix, suffix, n-gram or path of a cluster.
    detail : str
        The name of the lexicon or of the clusters, or the regular expression.
    """

    column: int | None
    kind: str
    size: int = 0
    detail: str = ""


class Template(NamedTuple):
    """Literal texts around the values of some views, each at an offset.

    Parameters
    ----------
    literals : tuple of str
        One more than there are atoms.
    atoms : tuple of (View, int)
        The views and their offsets from the token.
    """

    literals: tuple
    atoms: tuple


def named_template(parts):
    """Return the template of a conjunction of (name, view, offset).

    Its features are called after the parts: ``word[-1]&shape[0]=the&Aa``.
    """
    name = "&".join(name for name, _, _ in parts)
    valued = [view.kind not in FLAGS for _, view, _ in parts]
    literals = [name + "=" if any(valued) else name]
    for i, has_value in enumerate(valued):
        literals.append("&" if has_value and any(valued[i + 1 :]) else "")
    return Template(tuple(literals), tuple((view, offset) for _, view, offset in parts))


def compiled_plan(templates, lexicons, clusters, found_in):
    """Return views and templates as the compiled extractor takes them.

    Parameters
    ----------
    templates : list of Template
        What makes the features.
    lexicons : dict of str to collection of str
        Words by the name of their list.
    clusters : dict of str to callable
        Give the cluster of a word, or None, by the name of the clusters.
    found_in : dict of (int, str) to int
        The added columns that tell where entries of several words were found, by the
        column that was searched and the name of the lexicon.

    Returns
    -------
    views : list of tuple
        Column, kind, size and payload of each view.
    rows : list of tuple
        Literals, and numbers of views with offsets, of each template.
    """
    views = {}
    rows = []
    for template in templates:
        atoms = [(views.setdefault(v, len(views)), o) for v, o in template.atoms]
        rows.append(([text.encode("utf-8") for text in template.literals], atoms))
    data = lexicons, clusters, found_in
    return [_compiled_view(view, *data) for view in views], rows


def _compiled_view(view, lexicons, clusters, found_in):
    found = found_in.get((view.column, view.detail))
    if view.kind in LOOKING and found is not None:
        # The text of the added column is B or I, or nothing.
        return found, "called", 0, _entry_flag if view.kind == "in" else _some
    if view.kind == "in":
        words = frozenset(
            word.encode("utf-8", "surrogatepass") for word in lexicons[view.detail]
        )
        return view.column, "lexicon", 0, words
    if view.kind == "cluster":
        return view.column, "called", 0, _path(clusters[view.detail], view.size)
    if view.kind in SEEN:
        return view.column, "called", 0, SEEN[view.kind]
    if view.kind in ("matches", "test", "match", "lower_match"):
        # Flags are absent beyond the ends of a sentence; values have marks there.
        kind = "called" if view.kind in FLAGS else "asked"
        return view.column, kind, 0, _asking(view.kind, compiled_pattern(view.detail))
    return view.column, view.kind, view.size, None


def _some(text):
    return text or None


def _entry_flag(text):
    return "" if text else None


def _path(cluster_of, size):
    """Return the function that gives the first letters of the cluster of a word."""
    if not size:
        return cluster_of

    def beginning(word):
        path = cluster_of(word)
        return None if path is None else path[:size]

    return beginning


def _asking(kind, pattern):
    """Return the function that gives the value of a text."""
    if kind == "matches":
        return lambda text: "" if pattern.search(text) else None
    if kind == "test":
        return lambda text: "true" if pattern.search(text) else "false"

    lower = str.lower if kind == "lower_match" else str

    def match(text):
        found = pattern.search(text)
        return lower(found.group()) if found else ""

    return match
