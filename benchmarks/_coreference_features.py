"""Plain features of mentions and of pairs of them, as codes in fields.

Groups of fields: how far apart two mentions are, what kinds of words they are, whether
their words and heads are the same, and which words they are.
"""

from collections import Counter
from itertools import accumulate

import numpy as np

PRONOUNS = {
    "I": "i me my mine myself",
    "you": "you your yours yourself yourselves thou thee thy thine",
    "he": "he him his himself",
    "she": "she her hers herself",
    "it": "it its itself",
    "we": "we us our ours ourselves",
    "they": "they them their theirs themselves",
    "who": "who whom whose which that",
    "here": "here there",
}
CLASS_OF = {word: name for name, words in PRONOUNS.items() for word in words.split()}
KINDS = [*PRONOUNS, "name", "male name", "female name", "phrase"]
# Broader: a pronoun, a name, or a phrase.
BROAD = np.array([0] * len(PRONOUNS) + [1] * 3 + [2])
TITLES = {
    "male name": {"mr.", "mr", "sir", "lord", "king", "captain", "uncle", "master"},
    "female name": {"mrs.", "mrs", "miss", "lady", "madame", "queen", "aunt"},
}
DETERMINERS = {"the": 1, "a": 2, "an": 2, "this": 3, "that": 3, "these": 3, "those": 3}
# What follows these words in a phrase is not its head.
BEHIND_HEAD = {",", "of", "in", "on", "at", "with", "from", "to", "for", "by", "who"}
BEHIND_HEAD |= {"which", "that", "whose", "and", "or", "as", "-", "--", "("}
# Distances from these values upwards fall into one class each.
MENTION_STEPS = (1, 2, 3, 4, 6, 9, 13, 21, 34, 60, 120, 240)
SENTENCE_STEPS = (1, 2, 3, 5, 9, 17, 40)
# A word that so many mentions of the training part have is known.
LEAST_COUNT = 20
GROUPS = ("distance", "kinds", "matches", "words")


def kind_of(mention):
    """Return the class of a pronoun, whether it is a name, or a phrase."""
    low = [word.lower() for word in mention.words]
    if len(low) == 1 and low[0] in CLASS_OF:
        return CLASS_OF[low[0]]
    title = next((kind for kind, words in TITLES.items() if low[0] in words), None)
    named = mention.words[-1][:1].isupper() and low[0] not in DETERMINERS
    if title and (len(low) > 1 or named):
        return title
    return "name" if named else "phrase"


def head_of(mention):
    """Return the last word before what only describes it, in lower case."""
    low = [word.lower() for word in mention.words]
    ends = [k for k, word in enumerate(low) if word in BEHIND_HEAD and k > 0]
    return low[(ends[0] if ends else len(low)) - 1]


class Fields:
    """Encodes the arcs of documents by the fields of the first few groups.

    Parameters
    ----------
    groups : sequence of str
        Some of ``GROUPS``.
    documents : list of Document
        Those of the training part, which tell the known words.
    """

    def __init__(self, groups, documents):
        self.groups = groups
        heads = Counter(head_of(m) for one in documents for m in one.mentions)
        known = sorted(word for word, n in heads.items() if n >= LEAST_COUNT)
        self.word_number = {word: k + 1 for k, word in enumerate(known)}
        self.sizes = None

    def encode(self, document):
        """Return the codes of all arcs (n_arcs, n_fields) of a document."""
        here = _Mentions(document.mentions, self.word_number)
        fields = [field for group in self.groups for field in getattr(here, group)()]
        self.sizes = [size for _, size in fields]
        return np.stack([codes for codes, _ in fields], axis=1)


class _Mentions:
    """The mentions of one document, and the fields of all pairs of them.

    A field is a pair: the code of each arc, and how many codes there are.
    """

    def __init__(self, mentions, word_number):
        self.later, self.earlier = np.tril_indices(len(mentions))
        self.itself = self.later == self.earlier
        self.kind = np.array([KINDS.index(kind_of(m)) for m in mentions], dtype=int)
        self.head = _numbered([head_of(m) for m in mentions])
        self.string = _numbered([" ".join(m.words).lower() for m in mentions])
        self.sentence = np.array([m.sentence for m in mentions], dtype=int)
        self.start = np.array([m.start for m in mentions], dtype=int)
        self.end = np.array([m.end for m in mentions], dtype=int)
        first = [m.words[0].lower() for m in mentions]
        self.determiner = np.array([DETERMINERS.get(w, 0) for w in first], dtype=int)
        self.word = np.array([word_number.get(head_of(m), 0) for m in mentions], int)
        self.n_words = len(word_number) + 1
        self.names = [frozenset(m.words) for m in mentions]

    def _field(self, codes, size):
        """Return a field of pairs; the arc to itself has a code of its own."""
        return np.where(self.itself, size, codes), size + 1

    def _with_kind(self, codes, size):
        """Return codes apart for pronouns, names and phrases that look back."""
        return self._field(codes * 3 + BROAD[self.kind[self.later]], size * 3)

    def distance(self):
        """Yield how many mentions and sentences lie between two mentions."""
        apart = np.searchsorted(MENTION_STEPS, self.later - self.earlier, "right")
        yield self._field(apart, len(MENTION_STEPS) + 1)
        lines = self.sentence[self.later] - self.sentence[self.earlier]
        lines = np.searchsorted(SENTENCE_STEPS, lines, "right")
        yield self._field(lines, len(SENTENCE_STEPS) + 1)

    def kinds(self):
        """Yield the kinds of both, and the distance for each kind."""
        n = len(KINDS)
        yield self._field(self.kind[self.later] * n + self.kind[self.earlier], n * n)
        yield np.where(self.itself, self.kind[self.later], n), n + 1
        for codes, size in list(self.distance()):
            yield self._with_kind(np.where(self.itself, 0, codes), size)

    def matches(self):
        """Yield whether strings, heads and words are the same, or one is in another."""
        same_string = self.string[self.later] == self.string[self.earlier]
        same_head = self.head[self.later] == self.head[self.earlier]
        yield self._with_kind(same_string + 2 * same_head, 4)
        yield self._with_kind(self._shared_words(), 4)
        inside = (self.start[self.later] < self.end[self.earlier]).astype(int)
        yield self._with_kind(inside, 2)
        # A mention is new if nothing like it was there before.
        string_seen = _seen(same_string, self.later, self.itself)
        head_seen = _seen(same_head, self.later, self.itself)
        news = (string_seen + 2 * head_seen) * 4 + self.determiner
        n = len(KINDS)
        codes = news[self.later] * n + self.kind[self.later]
        yield np.where(self.itself, codes, 16 * n), 16 * n + 1

    def _shared_words(self):
        """Return whether the capitalized words of one are among those of the other."""
        capital = [frozenset(w for w in m if w[:1].isupper()) for m in self.names]
        out = np.zeros(len(self.later), dtype=int)
        pairs = zip(self.later.tolist(), self.earlier.tolist(), strict=True)
        for k, (i, j) in enumerate(pairs):
            if capital[i] and capital[j]:
                shared = len(capital[i] & capital[j])
                out[k] = 1 + (shared > 0) + (shared == len(capital[i]))
        return out

    def words(self):
        """Yield the heads of both mentions, and that of one that is new."""
        n = self.n_words
        yield np.where(self.itself, self.word[self.later], n), n + 1
        yield self._field(self.word[self.later], n)
        yield self._field(self.word[self.earlier], n)


def _numbered(names):
    number = {}
    return np.array([number.setdefault(name, len(number)) for name in names], dtype=int)


def _seen(same, later, itself):
    """Tell of each mention whether an earlier one is the same."""
    return np.bincount(later, same & ~itself, minlength=itself.sum()) > 0


def first_groups():
    """Yield the groups one by one, each with those before it."""
    yield from accumulate(([group] for group in GROUPS), lambda a, b: a + b)
