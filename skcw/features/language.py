"""The language of feature lines: its functions, and the templates of a line."""

import re
from collections.abc import Callable
from itertools import product
from math import prod
from typing import NamedTuple

from skcw._util.limits import LARGEST_IN_A_LINE, MOST_COMBINATIONS
from skcw.features.basic import word_shape
from skcw.features.patterns import compiled_pattern
from skcw.features.resources import FIRST

# The arguments of a function, after the name of a column.
NOTHING, SIZES, PATTERN, LEXICON, CLUSTER, ATOM, PLACE = (
    "", "sizes", "pattern", "lexicon", "cluster", "atom", "place",
)  # fmt: skip

# A view of this name in views.pxi.
COMPILED = None

# Beyond this, an offset must be a mistake; margins of sequences are that wide.
FARTHEST = 100


class Function(NamedTuple):
    """A function of the language.

    Parameters
    ----------
    view : callable or None
        Takes a text, then the arguments that `reads` names: a size, a pattern, a set of
        words, or a function that gives clusters and the length of their paths. Returns
        the value as text, or None for no feature. None for a view that is compiled.
    help : str
        A line for the documentation of :class:`WindowFeatures`.
    reads : str, default=""
        The arguments besides a column: ``"sizes"``, ``"pattern"``,
        ``"lexicon"`` or ``"cluster"``; instead of a column ``"atom"``; or ``"place"``
        for a function of the place of a token.
    flag : bool, default=False
        Whether it holds or not: its features have no value after the name, and its
        view gives an empty text where it holds.
    """

    view: Callable | None
    help: str
    reads: str = NOTHING
    flag: bool = False


def _cluster(text, cluster_of, size):
    path = cluster_of(text)
    return path[:size] if path and size else path


def _matches(text, pattern):
    return "" if pattern.search(text) else None


def _match(text, pattern):
    found = pattern.search(text)
    return found.group() if found else ""


def _flag(view, help, reads=NOTHING):
    return Function(view, help, reads, flag=True)


# One line for each function. The name of one that is compiled is also its view's.
FUNCTIONS = {
    "lower": Function(COMPILED, "the text in lower case"),
    "shape": Function(COMPILED, "kinds of characters: ``McLeod-73`` is ``AaAaaa-00``"),
    "short_shape": Function(COMPILED, "the same, runs written once: ``AaAa-0``"),
    "length": Function(lambda text: str(len(text)), "the number of characters"),
    "initial": Function(
        lambda text: word_shape(text[:1]) or None, "the shape of the first character"
    ),
    "prefix": Function(COMPILED, "first characters: ``prefix(1..4)``", SIZES),
    "suffix": Function(COMPILED, "last characters: ``suffix(3)``", SIZES),
    "ngrams": Function(COMPILED, "all runs of characters: ``ngrams(2..3)``", SIZES),
    "cluster": Function(
        _cluster,
        "``cluster(brown)``, or the start of its path: ``cluster(brown, 4)``",
        CLUSTER,
    ),
    "span": Function(
        lambda text, words: FIRST if text in words else None,
        "``span(cities)``: B at the first word of an entry, I at the others",
        LEXICON,
    ),
    "in": _flag(
        lambda text, words: "" if text in words else None,
        "``in(cities)``: belongs to an entry of a lexicon",
        LEXICON,
    ),
    "matches": _flag(_matches, 'a regular expression: ``matches("[0-9]$")``', PATTERN),
    "has_digit": _flag(COMPILED, "some character is a digit"),
    "all_digits": _flag(COMPILED, "all characters are digits"),
    "has_hyphen": _flag(COMPILED, "some character is a hyphen"),
    "first_capital": _flag(COMPILED, "the first character is a capital"),
    "has_capital": _flag(COMPILED, "some character is a capital"),
    "all_capitals": _flag(COMPILED, "the letters are capitals"),
    "first": _flag(COMPILED, "the first token of a sequence", PLACE),
    "last": _flag(COMPILED, "the last token of a sequence", PLACE),
    "bias": _flag(COMPILED, "every token", PLACE),
    "bigram": Function(COMPILED, "``bigram(pos)`` is ``pos[0] & pos[1]``", ATOM),
    "trigram": Function(COMPILED, "``trigram(pos)`` likewise", ATOM),
}

# Further views, of the macros of template files; beyond the ends they see marks.
MACROS = {
    "test": Function(
        lambda text, pattern: "true" if pattern.search(text) else "false", "%t", PATTERN
    ),
    "match": Function(_match, "%m", PATTERN),
    "lower_match": Function(
        lambda text, pattern: _match(text, pattern).lower(), "%M", PATTERN
    ),
}

# Functions of a lexicon, whose entries may have several words.
LOOKING = [name for name, known in FUNCTIONS.items() if known.reads == LEXICON]
NGRAMS = {"bigram": 2, "trigram": 3}


def functions_help():
    """Return a line for each function, as a list in a docstring."""
    return "".join(
        f"    - ``{name}``: {'flag, ' * known.flag}{known.help}\n"
        for name, known in FUNCTIONS.items()
    )


class View(NamedTuple):
    """A column, and how a feature looks at it.

    Parameters
    ----------
    column : int or None
        The position of the column; None for views of the place of a token.
    kind : str
        The name of a function or of a macro; ``"text"`` or ``"inside"``.
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


class ColumnNames:
    """The names and positions of the columns that tokens have.

    Parameters
    ----------
    names : sequence of str
        One name for each column.
    """

    def __init__(self, names):
        self.names = list(names)

    def __call__(self, name):
        """Return the position of a column, or None; the first is always ``word``."""
        if name in self.names:
            return self.names.index(name)
        return 0 if name == "word" and self.names else None


def named_template(parts):
    """Return the template of a conjunction of (name, view, offset).

    Its features are called after the parts: ``word[-1]&shape[0]=the&Aa``.
    """
    name = "&".join(name for name, _, _ in parts)
    known = [FUNCTIONS.get(view.kind) for _, view, _ in parts]
    valued = [function is None or not function.flag for function in known]
    literals = [name + "=" if any(valued) else name]
    for i, has_value in enumerate(valued):
        literals.append("&" if has_value and any(valued[i + 1 :]) else "")
    return Template(tuple(literals), tuple((view, offset) for _, view, offset in parts))


def _encoded(text):
    """Return a part of a feature's name in UTF-8."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"the feature {text!r} holds half of a character, which has no UTF-8"
        ) from None


def compiled_plan(templates, lexicons, clusters, found_in):
    """Return views and templates as the compiled extractor takes them.

    Parameters
    ----------
    templates : list of Template
        The templates that make the features.
    lexicons : dict of str to collection of str
        Words by the name of their list.
    clusters : dict of str to callable
        Give the cluster of a word, or None, by the name of the clusters.
    found_in : dict of (int, str) to int
        The added columns that show where entries of several words were found, by the
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
        rows.append((list(map(_encoded, template.literals)), atoms))
    data = lexicons, clusters, found_in
    return [_compiled_view(view, *data) for view in views], rows


def _compiled_view(view, lexicons, clusters, found_in):
    function = FUNCTIONS.get(view.kind) or MACROS.get(view.kind)
    if function is None or function.view is COMPILED:
        return view.column, view.kind, view.size, None
    found = found_in.get((view.column, view.detail))
    if function.reads == LEXICON and found is not None:
        # The text of the added column is B or I, or nothing.
        return found, "called", 0, _entry_flag if function.flag else _some
    given = _arguments(view, function.reads, lexicons, clusters)
    # Functions have no value beyond the ends of a sequence; macros see marks there.
    kind = "asked" if view.kind in MACROS else "called"
    return view.column, kind, 0, lambda text: function.view(text, *given)


def _arguments(view, reads, lexicons, clusters):
    """Return the arguments of a Python view besides the text."""
    if reads == PATTERN:
        return (compiled_pattern(view.detail),)
    if reads == LEXICON:
        return (frozenset(lexicons[view.detail]),)
    if reads == CLUSTER:
        return clusters[view.detail], view.size
    return (view.size,) if reads == SIZES else ()


def _some(text):
    return text or None


def _entry_flag(text):
    return "" if text else None


_TOKENS = re.compile(
    r"""\s*(?:
        (?P<name>[^\W\d]\w*) | (?P<number>-?\d+) | (?P<range>\.\.)
        | (?P<string>"(?:[^"\\]|\\.)*") | (?P<mark>[()\[\],&])
    )""",
    re.VERBOSE,
)

HELP = (
    'write for example "word[-2..2]", "prefix(1..4)", "shape[-1] & shape[0]", '
    '"bigram(pos)[-2..1]"'
)


def parse_line(line, columns, lexicons=(), clusters=()):
    """Return the templates that one line of the language stands for.

    Parameters
    ----------
    line : str
        Atoms joined by ``&``. An atom is a column or a function of one, with offsets
        in brackets; ranges stand for all their numbers, and a line for all
        combinations.
    columns : callable
        Gives the position of a column for its name, or None.
    lexicons : collection of str
        The names of the lexicons.
    clusters : collection of str
        The names of the clusters.

    Returns
    -------
    templates : list of Template
        The last range runs fastest.
    """
    return _Parser(line, columns, lexicons, clusters).line()


class _Parser:
    def __init__(self, line, columns, lexicons, clusters):
        self.text = line
        self.columns = columns
        self.lists = {LEXICON: lexicons, CLUSTER: clusters}
        self.tokens = self._cut(line)
        self.at = 0

    def _cut(self, line):
        tokens, at = [], 0
        line = line.rstrip()
        while at < len(line):
            found = _TOKENS.match(line, at)
            if not found:
                raise self._error(f"{line[at:].strip()!r} is not understood")
            tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()
        return tokens

    def _error(self, trouble):
        return ValueError(f"features: {trouble} in the line {self.text!r}; {HELP}")

    def _peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def _next(self):
        token = self._peek()
        self.at += 1
        return token

    def _take(self, value):
        """Step over a mark if it comes next."""
        if self._peek()[1] != value:
            return False
        self.at += 1
        return True

    def _expect(self, value):
        if not self._take(value):
            raise self._error(f"{value!r} is missing after {self._before()!r}")

    def _before(self):
        return " ".join(text for _, text in self.tokens[: self.at])

    def line(self):
        terms = [self._term()]
        while self._take("&"):
            terms.append(self._term())
        if self._peek()[0] != "end":
            raise self._error(f"{self._peek()[1]!r} comes unexpectedly")
        if prod(map(len, terms)) > MOST_COMBINATIONS:
            raise self._error(f"there are more than {MOST_COMBINATIONS} combinations")
        return [
            named_template([part for group in choice for part in group])
            for choice in product(*terms)
        ]

    def _term(self):
        """Return the alternatives of a term, each a list of (name, view, offset)."""
        atoms = self._atom()
        offsets = [0]
        if self._take("["):
            offsets = self._numbers("]")
        for offset in offsets:
            if abs(offset) > FARTHEST:
                raise self._error(f"the offset {offset} is beyond {FARTHEST}")
        return [
            [
                (_placed(name, view, offset + shift), view, offset + shift)
                for name, view, shift in atom
            ]
            for atom in atoms
            for offset in offsets
        ]

    def _atom(self):
        """Return the alternatives of an atom, each a list of (name, view, shift)."""
        kind, name = self._next()
        if kind != "name":
            raise self._error(f"a column or a function is missing before {name!r}")
        function, column = FUNCTIONS.get(name), self.columns(name)
        if function and function.reads == ATOM:
            return self._ngram(name)
        if function and function.reads == PLACE:
            return [[(name, View(None, name), 0)]]
        if column is not None and self._peek()[1] != "(":
            return [[(name, View(column, "text"), 0)]]
        if function is None:
            known = ", ".join(getattr(self.columns, "names", ()))
            raise self._error(f"{name!r} is neither a column ({known}) nor a function")
        return [[(text, view, 0)] for text, view in self._function(name)]

    def _ngram(self, name):
        """Read ``bigram(x)``: x at an offset and at the next one."""
        self._expect("(")
        if self._peek()[1] in NGRAMS:
            raise self._error(f"{name}(...) cannot hold another n-gram")
        inner = self._atom()
        self._expect(")")
        return [
            [(text, view, shift) for shift in range(NGRAMS[name])]
            for [(text, view, _)] in inner
        ]

    def _function(self, name):
        """Return (name, view) of each alternative of a function of a column."""
        column, prefix = self.columns("word") or 0, ""
        opened, reads = self._take("("), FUNCTIONS[name].reads
        if opened and self._peek()[0] == "name" and self._comes_column(reads):
            column, prefix = self._column()
            if not self._take(","):
                prefix = prefix.rstrip(",")
        if reads == SIZES:
            return self._sized(name, column, prefix, opened)
        if reads == PATTERN:
            pattern, text = self._pattern(name)
            self._expect(")")
            return [(f"{name}({prefix}{text})", View(column, name, 0, pattern))]
        if reads in self.lists:
            return self._listed(name, column, prefix, opened)
        if opened:
            self._expect(")")
        return [(f"{name}({prefix})" if prefix else name, View(column, name))]

    def _comes_column(self, reads):
        """Return whether a column comes next; a lexicon or clusters may come alone."""
        after = self.tokens[self.at + 1 : self.at + 3]
        return reads not in self.lists or (
            after[:1] == [("mark", ",")] and [kind for kind, _ in after[1:]] == ["name"]
        )

    def _listed(self, name, column, prefix, opened):
        """Read the name of a lexicon or of clusters, and lengths of paths."""
        if not opened:
            raise self._error(f"{name} needs a name, such as {name}(cities)")
        kind, text = self._next()
        reads = FUNCTIONS[name].reads
        if kind != "name" or text not in self.lists[reads]:
            known = ", ".join(sorted(self.lists[reads])) or "none is given"
            raise self._error(f"there is no {reads} {text!r} ({reads}s: {known})")
        prefix += text
        if reads != CLUSTER or not self._take(","):
            self._expect(")")
            return [(f"{name}({prefix})", View(column, name, 0, text))]
        sizes = self._sizes()
        return [(f"{name}({prefix},{n})", View(column, name, n, text)) for n in sizes]

    def _column(self):
        name = self._next()[1]
        column = self.columns(name)
        if column is None:
            raise self._error(f"there is no column {name!r}")
        return column, name + ","

    def _sized(self, name, column, prefix, opened):
        if not opened:
            raise self._error(f"{name} needs a size, such as {name}(3) or {name}(1..3)")
        return [(f"{name}({prefix}{n})", View(column, name, n)) for n in self._sizes()]

    def _sizes(self):
        sizes = self._numbers(")")
        if min(sizes) < 1:
            raise self._error(f"the size {min(sizes)} is not positive")
        return sizes

    def _pattern(self, name):
        """Return a regular expression, and how it is written in a name."""
        kind, text = self._next()
        if kind != "string":
            raise self._error(f'{name}("...") needs a regular expression in quotes')
        pattern = text[1:-1].replace('\\"', '"')
        try:
            compiled_pattern(pattern)
        except ValueError as error:
            raise self._error(
                f"{text} is not a regular expression that can be used ({error})"
            ) from None
        return pattern, text

    def _numbers(self, end):
        """Read ``-2..2`` or ``1,3`` up to the closing mark."""
        numbers = []
        while True:
            first = self._number()
            last = self._number() if self._take("..") else first
            if last < first:
                raise self._error(f"the range {first}..{last} runs backwards")
            numbers += range(first, last + 1)
            if not self._take(","):
                break
        self._expect(end)
        return numbers

    def _number(self):
        kind, text = self._next()
        if kind != "number" or len(text) > 9 or abs(int(text)) > LARGEST_IN_A_LINE:
            text = text if len(text) < 20 else text[:20] + "..."
            raise self._error(f"{text!r} stands where a small number is expected")
        return int(text)


def _placed(name, view, offset):
    return name if view.kind == "bias" else f"{name}[{offset}]"
