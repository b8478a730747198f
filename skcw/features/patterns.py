"""Regular expressions that cannot take forever, whoever wrote them.

Python's engine tries one way after the other: ``(a+)+$`` takes 2**n steps for n
letters, and a pattern may come with a model from anywhere. So patterns are read before
they are used. Repeated groups must be plain, so that the ways are as many as a power of
the number of letters; and the texts that a pattern is compared with are short enough
for that power.
"""

import re
from typing import NamedTuple

from skcw._util.limits import (
    DEEPEST_GROUP,
    LONGEST_MATCHED,
    MOST_CHARACTERS,
    MOST_REPEATS,
    MOST_STEPS,
    SHORTEST_LIMIT,
)

_REPEAT = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}")
_OPENING = re.compile(r"\((?:\?(?::|P<\w+>))?")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)


class Pattern(NamedTuple):
    """A pattern, and how long the texts may be that it is compared with.

    Parameters
    ----------
    regex : re.Pattern
        The compiled pattern.
    n_letters : int
        Longer texts count as if they did not match.
    """

    regex: re.Pattern
    n_letters: int

    def search(self, text):
        """Return what of a text matches, as ``re.Pattern.search`` does."""
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
    ValueError: a repeated group has a repetition or a choice in it, which can take...
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has more than {MOST_CHARACTERS} characters")
    n_letters = _Reader(text).n_letters()
    try:
        return Pattern(re.compile(text), n_letters)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


class _Reader:
    """Reads a pattern from left to right and counts in how many ways it can match."""

    def __init__(self, text):
        self.text, self.at = text, 0
        # Of each group that is open, whether there is a repetition or choice in it, and
        # how many branches it has.
        self.open, self.branches = [False], [1]
        # How many repetitions have no end, and the ways of all the others.
        self.n_endless, self.n_ways = 0, 1

    def n_letters(self):
        """Return how many letters a text may have; raise if even few are too many."""
        while self.at < len(self.text):
            self._step()
        self.n_ways *= self.branches[0]
        anchored = self.text.startswith(("^", r"\A")) and "|" not in self.text
        power = max(1, self.n_endless + (not anchored))
        found = int(min(LONGEST_MATCHED, (MOST_STEPS / self.n_ways) ** (1 / power)))
        if found < SHORTEST_LIMIT:
            raise ValueError(
                "it has too many repetitions and choices, and can take very long; "
                "write several shorter patterns"
            )
        return found

    def _step(self):
        """Read a letter, a class, a group's begin or end, and what repeats it."""
        letter, inner = self.text[self.at], False
        if letter == "(":
            return self._begin_group()
        if letter == "|":
            self.at += 1
            self.branches[-1] += 1
            self.open[-1] = True
            return None
        if letter == ")" and len(self.open) > 1:
            inner = self.open.pop()
            self.open[-1] |= inner
            self.n_ways *= self.branches.pop()
        if letter == "[" and (found := _CLASS.match(self.text, self.at)):
            self.at = found.end()
        else:
            self._skip_letter(letter)
        self._read_repeat(inner)
        return None

    def _begin_group(self):
        found = _OPENING.match(self.text, self.at)
        if self.text.startswith("?", found.end()):
            raise ValueError(
                "groups that begin with (? can only be (?:...) and (?P<name>...)"
            )
        self.at = found.end()
        self.open.append(False)
        self.branches.append(1)
        if len(self.open) > DEEPEST_GROUP:
            raise ValueError(f"more than {DEEPEST_GROUP} groups are within each other")

    def _skip_letter(self, letter):
        following = self.text[self.at + 1 : self.at + 2]
        if letter == "\\" and following.isdigit() and following != "0":
            raise ValueError("it refers back to a group, which can take very long")
        self.at += 2 if letter == "\\" else 1

    def _read_repeat(self, inner):
        found = _REPEAT.match(self.text, self.at)
        if not found or found[0] in ("{}", "{,}"):
            return
        self.at = found.end()
        if self.text[self.at : self.at + 1] in ("?", "+"):
            # As few as possible, or as many without trying fewer: the same ways.
            self.at += 1
        least, most = _bounds(found)
        if inner and most != 1:
            raise ValueError(
                "a repeated group has a repetition or a choice in it, which can take "
                "very long; write it without, as [ab]+ instead of (a|b)+"
            )
        self.open[-1] = True
        if most is None:
            self.n_endless += 1
        else:
            self.n_ways *= max(1, most - least + 1)


def _bounds(found):
    """Return how often at least and at most, None for without end."""
    if found[0] in "*+?":
        return int(found[0] == "+"), 1 if found[0] == "?" else None
    if max(len(found[1]), len(found[3])) > 3:
        raise ValueError(f"{found[0][:20]} repeats more than {MOST_REPEATS} times")
    least = int(found[1] or 0)
    most = least if not found[2] else int(found[3]) if found[3] else None
    if max(least, most or 0) > MOST_REPEATS:
        raise ValueError(f"{found[0]} repeats more than {MOST_REPEATS} times")
    return least, most
