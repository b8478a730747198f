"""The feature language: ``word[-2..2]``, ``prefix(1..4)``, ``a & b``."""

import re
from itertools import product
from math import prod

from skcw._limits import LARGEST_IN_A_LINE, MOST_COMBINATIONS
from skcw.features._feature_template import (
    FARTHEST,
    FLAGS,
    PLACES,
    View,
    named_template,
)
from skcw.features._patterns import compiled_pattern

_TOKENS = re.compile(
    r"""\s*(?:
        (?P<name>[^\W\d]\w*) | (?P<number>-?\d+) | (?P<range>\.\.)
        | (?P<string>"(?:[^"\\]|\\.)*") | (?P<mark>[()\[\],&])
    )""",
    re.VERBOSE,
)

SIZED = ("prefix", "suffix", "ngrams")
WHOLE = ("lower", "shape", "short_shape", "length", "initial")
LISTED = {"in": "lexicon", "span": "lexicon", "cluster": "cluster"}
NGRAMS = {"bigram": 2, "trigram": 3}

FUNCTIONS = {*SIZED, *WHOLE, *NGRAMS, *FLAGS, *LISTED}

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
        self.lists = {"lexicon": lexicons, "cluster": clusters}
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
        if name in NGRAMS:
            return self._ngram(name)
        if name in PLACES:
            return [[(name, View(None, name), 0)]]
        column = self.columns(name)
        if column is not None and self._peek()[1] != "(":
            return [[(name, View(column, "text"), 0)]]
        if name not in FUNCTIONS:
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
        opened = self._take("(")
        if opened and self._peek()[0] == "name" and self._comes_column(name):
            column, prefix = self._column()
            if not self._take(","):
                prefix = prefix.rstrip(",")
        if name in SIZED:
            return self._sized(name, column, prefix, opened)
        if name == "matches":
            pattern, text = self._pattern()
            self._expect(")")
            return [(f"matches({prefix}{text})", View(column, name, 0, pattern))]
        if name in LISTED:
            return self._listed(name, column, prefix, opened)
        if opened:
            self._expect(")")
        return [(f"{name}({prefix})" if prefix else name, View(column, name))]

    def _comes_column(self, name):
        """Tell whether a column comes next; a lexicon or clusters may come alone."""
        after = self.tokens[self.at + 1 : self.at + 3]
        return name not in LISTED or (
            after[:1] == [("mark", ",")] and [kind for kind, _ in after[1:]] == ["name"]
        )

    def _listed(self, name, column, prefix, opened):
        """Read the name of a lexicon or of clusters, and lengths of paths."""
        if not opened:
            raise self._error(f"{name} needs a name, such as {name}(cities)")
        kind, text = self._next()
        what = LISTED[name]
        if kind != "name" or text not in self.lists[what]:
            known = ", ".join(sorted(self.lists[what])) or "none is given"
            raise self._error(f"there is no {what} {text!r} ({what}s: {known})")
        prefix += text
        if name != "cluster" or not self._take(","):
            self._expect(")")
            return [(f"{name}({prefix})", View(column, name, 0, text))]
        sizes = self._numbers(")")
        if min(sizes) < 1:
            raise self._error(f"the length {min(sizes)} of a path is not positive")
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
        sizes = self._numbers(")")
        if min(sizes) < 1:
            raise self._error(f"the size {min(sizes)} is not positive")
        return [(f"{name}({prefix}{n})", View(column, name, n)) for n in sizes]

    def _pattern(self):
        """Return a regular expression, and how it is written in a name."""
        kind, text = self._next()
        if kind != "string":
            raise self._error('matches("...") needs a regular expression in quotes')
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
