"""Lines of features: ready sets, files of CRF++ and Wapiti, our own language."""

import re
from collections.abc import Mapping
from functools import lru_cache
from os import PathLike

from skcw.data.edges import EDGE_MARK
from skcw.features.language import (
    FARTHEST,
    ColumnNames,
    Template,
    View,
    parse_line,
)
from skcw.features.patterns import compiled_pattern
from skcw.features.resources import words_of

WORDS = ["bias", "word[-2..2]", "bigram(word)[-1..0]"]

AFFIXES = ["prefix(1..4)", "suffix(1..4)"]

CHUNKING = [
    *WORDS,
    "suffix(1..3)",
    "short_shape",
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
    "word[-2..2] & pos",
    "lower[-1..1]",
    "suffix(4)",
    "word & pos[-1,1]",
    "word[-1] & pos[-1]",
    "word[1] & pos[1]",
    "pos[-2] & pos[-1] & pos[0] & pos[1] & pos[2]",
]

NER = [
    *WORDS,
    "lower[-2..2]",
    "shape[-1..1]",
    "short_shape[-2..2]",
    "bigram(short_shape)[-1..0]",
    "trigram(short_shape)[-1]",
    *AFFIXES,
    "pos[-2..2]",
    "bigram(pos)[-1..0]",
]

POS = [
    *WORDS,
    "lower[-2..2]",
    "short_shape[-1..1]",
    "first & short_shape",
    *AFFIXES,
    "has_digit",
    "has_hyphen",
    "first_capital",
    "all_capitals",
]

READY_SETS = {"chunking": CHUNKING, "ner": NER, "pos": POS}

_MACRO = re.compile(
    r"""%(?P<kind>[xXtTmM]) \[ \s*(?P<row>[+-]?\d{1,9})\s* , \s*(?P<column>\d{1,9})\s*
    (?: , \s*"(?P<pattern>(?:[^"\\]|\\.)*)"\s* )? \]""",
    re.VERBOSE,
)

# Wapiti's classes of characters are those of C, negated in upper case.
_CLASSES = {
    "a": "A-Za-z",
    "d": "0-9",
    "l": "a-z",
    "p": r"!-/:-@\[-`{-~",
    "s": r" \t-\r",
    "u": "A-Z",
    "w": "A-Za-z0-9",
}
_ESCAPE = re.compile(r"\\(.)")
_REGULAR = {"m": "match", "M": "lower_match"}


def is_template_line(line):
    """Return whether a line is one of a template file, not of our own language."""
    line = line.strip()
    return "%" in line or bool(re.match(r"[UuBb*]\d*(:|$)", line))


def parse_template_line(line):
    """Return the templates of a line of a template file: one, none, or two.

    A bare ``B`` is about transitions, which every tagger has: it makes no feature. A
    ``B`` line with macros makes features that look at the label before; their names
    begin with ``label[-1]&``. A ``*`` line is one of ``U`` and one of ``B``.

    Parameters
    ----------
    line : str
        For example ``"U01:%x[-1,0]/%x[0,0]"``. The first number of ``%x`` is an
        offset, the second one a column. Wapiti's ``%X`` (lower-cased), ``%t`` (tests a
        regular expression), ``%m`` (what matched) and ``%M`` (that, lower-cased) are
        read too, with blanks inside the brackets if need be.

    Returns
    -------
    templates : list of Template
        The templates, whose features are called as CRF++ calls them.

    Examples
    --------
    >>> from skcw.features.lines import parse_template_line
    >>> [template.literals for template in parse_template_line("B01:%x[0,0]")]
    [('label[-1]&B01:', '')]
    """
    line = line.strip()
    mark = line[0]
    if mark not in "UuBb*":
        raise ValueError(
            f"template: the line {line!r} begins with neither U, B nor *; a line is "
            "like U01:%x[-1,0]/%x[0,0]"
        )
    literals, atoms, at = [], [], 0
    for macro in _MACRO.finditer(line):
        literals.append(line[at : macro.start()])
        atoms.append(_atom(line, macro))
        at = macro.end()
    literals.append(line[at:])
    if any("%" in text for text in literals):
        raise ValueError(
            f"template: a % of the line {line!r} is not understood; a macro is like "
            '%x[-1,0], %X[0,0], %t[0,0,"^\\d"] or %m[0,0,".$"]'
        )
    if not atoms:
        # One feature that every token has, or transitions as all have them.
        constant = Template((line, ""), ((View(None, "bias"), 0),))
        return [] if mark in "Bb" else [constant]
    of_token = Template(tuple(literals), tuple(atoms))
    of_step = Template((EDGE_MARK + literals[0], *literals[1:]), tuple(atoms))
    kinds = {"u": [of_token], "b": [of_step], "*": [of_token, of_step]}
    return kinds[mark.lower()]


def _atom(line, macro):
    offset, column = int(macro["row"]), int(macro["column"])
    if abs(offset) > FARTHEST:
        raise ValueError(f"template: an offset of {line!r} is beyond {FARTHEST}")
    kind, pattern = macro["kind"], macro["pattern"]
    if (kind in "xX") != (pattern is None):
        raise ValueError(
            f"template: in {line!r}, %t and %m need a regular expression in quotes and "
            "%x has none"
        )
    if kind in "xX":
        return View(column, "text" if kind == "x" else "lower"), offset
    detail = _python_pattern(pattern)
    try:
        compiled_pattern(detail)
    except ValueError as error:
        raise ValueError(f"template: {pattern!r} in {line!r}: {error}") from None
    # In upper case, Wapiti lowers the result; true and false are low already.
    return View(column, _REGULAR.get(kind, "test"), 0, detail), offset


def _python_pattern(pattern):
    """Write Wapiti's classes of characters as Python reads them."""

    def translated(escape):
        letter = escape[1]
        members = _CLASSES.get(letter.lower())
        if members is None:
            return re.escape(letter)
        return f"[{members}]" if letter.islower() else f"[^{members}]"

    return _ESCAPE.sub(translated, pattern)


def parse_crfsuite_template(template, columns):
    """Return the template of fields and offsets as CRFsuite's scripts write them.

    Parameters
    ----------
    template : sequence of (str, int)
        For example ``(("w", -1), ("w", 0))``. A token whose window leaves the sequence
        has no such feature.
    columns : callable
        Gives the position of a column for its name, or None.

    Returns
    -------
    template : Template
        Its features are called like ``w[-1]|w[0]=the|cat``.
    """
    try:
        fields = [(str(name), int(offset)) for name, offset in template]
    except (TypeError, ValueError):
        fields = []
    if not fields or any(abs(offset) > FARTHEST for _, offset in fields):
        raise ValueError(
            f"features: {template!r} is neither a line of text nor a template like "
            '(("word", -1), ("word", 0))'
        )
    atoms = []
    for name, offset in fields:
        column = columns(name)
        if column is None:
            raise ValueError(f"features: there is no column {name!r} for {template!r}")
        atoms.append((View(column, "inside"), offset))
    name = "|".join(f"{name}[{offset}]" for name, offset in fields)
    return Template((f"{name}=", *["|"] * (len(atoms) - 1), ""), tuple(atoms))


def read_template(path: str | PathLike[str]) -> list[str]:
    r"""Return the lines of a template file, ready for :class:`WindowFeatures`.

    Parameters
    ----------
    path : str or path-like
        A template file of CRF++ or Wapiti. Comments (from ``#`` at the beginning of
        a line) and blank lines are skipped.

    Returns
    -------
    lines : list of str
        The other lines; each has been understood.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from skcw.features import WindowFeatures, read_template
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "template"
    ...     _ = file.write_text("# words\nU00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nB\n")
    ...     lines = read_template(file)
    >>> lines
    ['U00:%x[0,0]', 'U01:%x[-1,0]/%x[0,0]', 'B']
    >>> WindowFeatures(lines).fit([["the", "cat"]]).get_feature_names_out()[:2]
    array(['U00:the', 'U01:_B-1/the'], dtype=object)
    """
    lines = []
    for number, line in numbered_lines(path):
        try:
            parse_template_line(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        lines.append(line)
    return lines


def numbered_lines(path):
    """Return the lines of a file of features with their numbers.

    Parameters
    ----------
    path : str or path-like
        Templates, or lines of our own language; those that begin with ``#`` are
        comments.

    Returns
    -------
    lines : list of (int, str)
        Numbers from 1 on, and lines without blanks around them.
    """
    with open(path, encoding="utf-8-sig") as file:
        try:
            lines = [line.strip() for line in file]
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error.reason}") from error
    numbered = enumerate(lines, start=1)
    return [(n, line) for n, line in numbered if line and not line.startswith("#")]


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


# The command line and searches over parameters parse the same lines again.
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
    """Raise if templates look at the label before, which only names can show."""
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
