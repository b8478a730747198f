"""Made-up names, and random choices that are the same on every platform."""

import re
from functools import cache
from numbers import Integral, Real

import numpy as np

from skcw.datasets.fetching import read_table

_TABLE = read_table("news.toml")["names"]
WORD_NAMES, ONSETS, VOWELS, CODAS, SHARED_ENDINGS = (
    tuple(_TABLE[kind].split())
    for kind in ("words", "onsets", "vowels", "codas", "shared_endings")
)
ENDINGS = {kind: tuple(words.split()) for kind, words in _TABLE["endings"].items()}

# How many names of a kind are well known, that is, return in every corpus.
KNOWN = {"first": 120, "last": 400, "place": 250, "firm": 150}
N_SHARED = 120
# Share of names whose ending speaks for their kind.
TELLING_RATE = {"known": 0.6, "new": 0.25}
WORD_NAME_RATE = 0.2
_TRIPLE = re.compile(r"(.)\1\1")


def check_count(name, count):
    """Raise unless `count` is an integer and not negative."""
    if not isinstance(count, Integral) or count < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {count!r}")


def check_rates(**rates):
    """Raise unless every rate is a number from zero to one."""
    for name, rate in rates.items():
        if not isinstance(rate, Real) or not 0 <= rate <= 1:
            raise ValueError(f"{name} must be a number in [0, 1], got {rate!r}")


def pick(rng, items, *, skewed=False):
    """Return one of `items`; if `skewed`, the first ones come more often.

    Only ``random_sample`` and exact arithmetic are used: their results are the same
    on every platform, whereas integer types and ``pow`` differ.
    """
    u = rng.random_sample()
    return items[int(len(items) * (u * u if skewed else u))]


def chance(rng, probability):
    """Return True with the given probability."""
    return rng.random_sample() < probability


def invent(rng, kind, telling_rate):
    """Return a name of a kind; its ending hints at the kind or does not."""
    parts = [pick(rng, ONSETS), pick(rng, VOWELS), pick(rng, CODAS)]
    if chance(rng, 0.35):
        parts[2:] = [pick(rng, ONSETS), pick(rng, VOWELS), pick(rng, CODAS)]
    telling = chance(rng, telling_rate)
    parts.append(pick(rng, ENDINGS[kind] if telling else SHARED_ENDINGS))
    return _TRIPLE.sub(r"\1\1", "".join(parts)).capitalize()


@cache
def known_names():
    """Return the well-known names of every kind, and those of several kinds.

    They do not depend on the seed, so all corpora share them.
    """
    rng = np.random.RandomState(20100)
    telling = TELLING_RATE["known"]
    names = {
        kind: [invent(rng, kind, telling) for _ in range(count)]
        for kind, count in KNOWN.items()
    }
    kinds = list(KNOWN)
    names["shared"] = [invent(rng, pick(rng, kinds), telling) for _ in range(N_SHARED)]
    return names


class NameSource:
    """A stream of names for one corpus.

    Parameters
    ----------
    rng : RandomState
    ambiguity : float
        Probability that a name is one of several kinds, or a common word.
    unseen_rate : float
        Probability that another name is invented on the spot.
    """

    def __init__(self, rng, ambiguity, unseen_rate):
        self.rng = rng
        self.ambiguity = ambiguity
        self.unseen_rate = unseen_rate

    def draw(self, kind):
        """Return a name of the given kind."""
        if chance(self.rng, self.ambiguity):
            if chance(self.rng, WORD_NAME_RATE):
                return pick(self.rng, WORD_NAMES)
            return pick(self.rng, known_names()["shared"], skewed=True)
        if chance(self.rng, self.unseen_rate):
            return invent(self.rng, kind, TELLING_RATE["new"])
        return pick(self.rng, known_names()[kind], skewed=True)
