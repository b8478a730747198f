"""Regular expressions from anywhere that cannot hang a process.

Python's engine tries one way after the other: ``(a+)+$`` takes 2**n steps for n
letters, and a pattern may come with a model from anywhere. So the ways are counted
before a pattern is used: repeated groups must be plain, which keeps the number of steps
a power of the length of the text, and texts too long for that power match nothing.
"""

import re

# The parser of the engine itself: another one could read a pattern differently.
from re import _parser
from typing import NamedTuple

from skcw._util.limits import (
    LONGEST_MATCHED,
    MOST_CHARACTERS,
    MOST_STEPS,
    SHORTEST_LIMIT,
)

ONE_CHARACTER = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}
REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


class Pattern(NamedTuple):
    """A pattern, and how long the texts may be that it is compared with.

    Parameters
    ----------
    regex : re.Pattern
        The compiled pattern.
    n_letters : int
        Longer texts do not match.
    """

    regex: re.Pattern
    n_letters: int

    def search(self, text):
        """Return where a text matches, as ``re.Pattern.search`` does."""
        return self.regex.search(text) if len(text) <= self.n_letters else None


def compiled_pattern(text):
    """Return a pattern that takes at most some tenth of a second for any text.

    Parameters
    ----------
    text : str
        The regular expression, in Python's syntax.

    Returns
    -------
    pattern : Pattern
        With a method ``search``.

    Examples
    --------
    >>> from skcw.features.patterns import compiled_pattern
    >>> compiled_pattern("^[A-Z]+$").search("NATO").group()
    'NATO'
    >>> compiled_pattern("(a+)+$")
    Traceback (most recent call last):
        ...
    ValueError: a repeated group holds a repetition or a choice, which can take...
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has more than {MOST_CHARACTERS} characters")
    try:
        regex = re.compile(text)
        n_ways, n_endless = _ways(_parser.parse(text))
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None
    anchored = text.startswith(("^", r"\A")) and "|" not in text
    power = max(1, n_endless + (not anchored))
    n_letters = int(min(LONGEST_MATCHED, (int(MOST_STEPS) // n_ways) ** (1 / power)))
    if n_letters < SHORTEST_LIMIT:
        raise ValueError(
            "it has too many repetitions and choices, and can take very long; write "
            "several shorter patterns"
        )
    return Pattern(regex, n_letters)


def _ways(parts):
    """Return in how many ways parts can match, and the repetitions without an end.

    Each of the latter multiplies the ways by the length of the text.
    """
    n_ways, n_endless = 1, 0
    for kind, value in parts:
        more, endless = _ways_of_part(str(kind), value)
        n_ways *= more
        n_endless += endless
    return n_ways, n_endless


def _ways_of_part(kind, value):
    if kind in ONE_CHARACTER:
        return 1, 0
    if kind == "SUBPATTERN":
        return _ways(value[-1])
    if kind == "BRANCH":
        ways, endless = zip(*map(_ways, value[1]), strict=True)
        return sum(ways), max(endless)
    if kind not in REPEATS:
        raise ValueError("it refers back or looks around, which can take very long")
    least, most, inner = value
    n_ways, n_endless = _ways(inner)
    if most == 1:
        return 2 * n_ways, n_endless
    if (n_ways, n_endless) != (1, 0):
        raise ValueError(
            "a repeated group holds a repetition or a choice, which can take very "
            "long; write it without, as [ab]+ instead of (a+|b)+"
        )
    if most == _parser.MAXREPEAT:
        return max(1, least), 1
    return max(2, most), 0
