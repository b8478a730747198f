"""Turn feature lines of any kind into templates."""

from collections.abc import Mapping
from functools import lru_cache

from skcw.data._edges import EDGE_MARK
from skcw.features._columns import ColumnNames
from skcw.features._crfpp import (
    is_template_line,
    parse_crfsuite_template,
    parse_template_line,
)
from skcw.features._gazetteer import words_of
from skcw.features._language import parse_line
from skcw.features._sets import READY_SETS


def templates_of(features, columns, lexicons=(), clusters=()):
    """Return the templates that lines of features, or a ready set, stand for.

    Parameters
    ----------
    features : str or list
        The name of a ready set, or lines, among which ready sets may stand.
    columns : list of str
        The names of the columns.
    lexicons : collection of str, default=()
        The names of the lexicons.
    clusters : collection of str, default=()
        The names of the clusters.

    Returns
    -------
    templates : list of Template
        In the order of the lines.
    """
    if isinstance(features, str):
        if features not in READY_SETS:
            raise ValueError(
                f"features is {features!r}; it must be one of "
                f"{', '.join(sorted(READY_SETS))}, or a list of lines"
            )
        features = [features]
    if not isinstance(features, (list, tuple)) or not len(features):
        raise ValueError(f"features must be a ready set or a list, got {features!r}")
    known = tuple(columns), tuple(lexicons), tuple(clusters)
    found = []
    for line in _with_sets(features, columns):
        if not isinstance(line, str):
            found.append(parse_crfsuite_template(line, ColumnNames(columns)))
        else:
            found += _parsed(line, *known)
    _check_positions(found, columns)
    return found


def _with_sets(features, columns):
    """Yield lines; ready sets among them give theirs."""
    for line in features:
        if not isinstance(line, str) or line not in READY_SETS or line in columns:
            yield line
        else:
            # Some tokens have no part of speech.
            lines, here = READY_SETS[line], "pos" in columns
            yield from (line for line in lines if here or "pos" not in line)


def _of_a_file(line, columns):
    return is_template_line(line) and line.strip() not in columns


# The command line and the tests of parameters ask for the same lines again.
@lru_cache(maxsize=1024)
def _parsed(line, columns, lexicons, clusters):
    if _of_a_file(line, columns):
        return tuple(parse_template_line(line))
    return tuple(parse_line(line, ColumnNames(columns), lexicons, clusters))


def _check_positions(templates, columns):
    for template in templates:
        for view, _ in template.atoms:
            if view.column is not None and view.column >= len(columns):
                raise ValueError(
                    f"features: {template.literals[0]!r} looks at column "
                    f"{view.column}, but the tokens have {len(columns)}: "
                    f"{', '.join(columns)}"
                )


def refuse_hashed_edges(templates):
    """Raise if templates look at the label before, which is told by their names."""
    for template in templates:
        if template.literals[0].startswith(EDGE_MARK):
            name = template.literals[0].removeprefix(EDGE_MARK)
            raise ValueError(
                f"features: the line {name!r} of a template looks at the label before, "
                "which needs the names of features; hashing by n_features has none"
            )


def check_lexicons(lexicons):
    """Raise unless lexicons are lists of words by name."""
    if lexicons is None:
        return
    if not isinstance(lexicons, Mapping):
        raise TypeError(f"lexicons must be a dict of lists of words, got {lexicons!r}")
    for name, words in lexicons.items():
        # An iterator would be empty when it is read for the second time.
        if isinstance(words, (str, bytes)) or not hasattr(words, "__len__"):
            raise TypeError(f"the lexicon {name!r} is not a list of words: {words!r}")
        for word in words:
            if not isinstance(word, str) or not words_of(word):
                raise ValueError(
                    f"the lexicon {name!r} holds {word!r}; an entry is a word, or "
                    "several with blanks between them"
                )
