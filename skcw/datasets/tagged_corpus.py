"""``make_tagged_corpus``: a corpus with named entities, written by a small grammar.

The rules in ``news.toml`` are weights and lists of parts. A part is ``word/TAG`` (taken
as it is), a symbol of the grammar, a symbol of the lexicon, or a slot: ``@kind`` is a
name of that kind and ``#kind`` a number. A symbol that starts with an entity type and a
colon labels all words below it as one mention of that type.
"""

import math
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from skcw.datasets.fetching import read_table
from skcw.datasets.names import NameSource, chance, check_count, check_rates, pick

MAX_LENGTH = 30
TAG_NOISE = 0.05
TYPES = ("PER", "LOC", "ORG", "MISC", "DATE")
CONFUSED_TAGS = {
    "NNP": ("NN", "JJ", "NNPS"),
    "NN": ("NNP", "JJ", "VB"),
    "JJ": ("NNP", "NN"),
    "VBD": ("VBN", "VBN", "NNP"),
    "VBN": ("VBD", "JJ"),
    "NNS": ("NNPS", "VBZ"),
}


def make_tagged_corpus(
    n_sequences: int = 1000,
    *,
    random_state: int | np.random.RandomState | None = None,
    ambiguity: float = 0.3,
    unseen_rate: float = 0.4,
    label_noise: float = 0.0,
    return_X_y: bool = False,
) -> Any:
    """Make a corpus of sentences with named entities; no network is needed.

    Well-known names are the same for every seed, so use one seed for training and
    another one for testing. A seed gives the same corpus on every platform.

    Parameters
    ----------
    n_sequences : int, default=1000
        The number of sentences.

    random_state : int, RandomState instance or None, default=None
        Controls every random choice.

    ambiguity : float in [0, 1], default=0.3
        Probability that a name belongs to several types or is also a common word, so
        that only the context can decide.

    unseen_rate : float in [0, 1], default=0.4
        Probability that another name is invented for the place where it stands. Such
        names hardly ever return, so they are new in held-out sentences, as are
        the rare ones among the others.

    label_noise : float in [0, 1], default=0.0
        Probability that a mention is annotated wrongly (missed, given another type,
        or cut by its last word) and that a capitalized word outside of mentions is
        taken for a name. The labels stay legal IOB2.

    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        With the attributes

        tokens : list of list of (str, str)
            A (word, part of speech) pair for every word of every sentence.
        labels : list of list of str
            The annotated labels.
        clean_labels : list of list of str
            The true labels; the same as `labels` without noise.
        noisy : list of ndarray of bool
            Where these two differ.
        DESCR : str
            A description of the corpus.

    tokens, labels : tuple, if ``return_X_y``
        The first two of them.

    See Also
    --------
    skcw.features.basic.basic_features : Turns a sentence into lists of features.

    Examples
    --------
    >>> from skcw.datasets import make_tagged_corpus
    >>> corpus = make_tagged_corpus(1000, random_state=7)
    >>> corpus.tokens[0][:3]
    [('President', 'NNP'), ('Pololf', 'NNP'), ('Reawosson', 'NNP')]
    >>> corpus.labels[0][:3]
    ['O', 'B-PER', 'I-PER']
    """
    check_count("n_sequences", n_sequences)
    check_rates(ambiguity=ambiguity, unseen_rate=unseen_rate, label_noise=label_noise)
    rng = check_random_state(random_state)
    sentences = _write(rng, n_sequences, ambiguity, unseen_rate)
    tokens = [[(word, tag) for word, tag, _ in sentence] for sentence in sentences]
    clean = [[label or "O" for _, _, label in sentence] for sentence in sentences]
    # Noise comes last: the same seed gives the same sentences at every noise level.
    labels = [
        annotate_badly(rng, [word for word, _ in words], row, label_noise)
        for words, row in zip(tokens, clean, strict=True)
    ]
    if return_X_y:
        return tokens, labels
    return Bunch(
        tokens=tokens,
        labels=labels,
        clean_labels=clean,
        noisy=[
            np.array([a != b for a, b in zip(*rows, strict=True)], dtype=bool)
            for rows in zip(labels, clean, strict=True)
        ],
        DESCR=_TABLE["description"].format(
            n_sequences=n_sequences, max_length=MAX_LENGTH
        ),
    )


def _write(rng, n_sequences, ambiguity, unseen_rate):
    """Return sentences as lists of (word, tag, label or None)."""
    writer = Writer(rng, NameSource(rng, ambiguity, unseen_rate))
    sentences = []
    for _ in range(n_sequences):
        words = print_style(rng, writer.sentence(MAX_LENGTH))
        sentences.append(blur_tags(rng, words, TAG_NOISE))
    return sentences


def blur_tags(rng, words, rate):
    """Return the words with some tags confused, as a tagger would do it."""
    return [
        (word, pick(rng, CONFUSED_TAGS[tag]), label)
        if tag in CONFUSED_TAGS and chance(rng, rate)
        else (word, tag, label)
        for word, tag, label in words
    ]


def annotate_badly(rng, words, labels, rate):
    """Return labels as a careless annotator would give them, still legal IOB2."""
    labels = list(labels)
    start = 0
    while start < len(labels):
        end = start + 1
        while end < len(labels) and labels[end].startswith("I-"):
            end += 1
        if chance(rng, rate):
            _spoil(rng, words, labels, start, end)
        start = end
    return labels


def _spoil(rng, words, labels, start, end):
    """Miss, mistype or cut the mention in place; or take a capital for a name."""
    if labels[start] == "O":
        if words[start][0].isupper():
            labels[start] = "B-" + pick(rng, TYPES)
        return
    kind = labels[start][2:]
    error = pick(
        rng,
        ("missed", "mistyped", "cut") if end - start > 1 else ("missed", "mistyped"),
    )
    if error == "missed":
        labels[start:end] = ["O"] * (end - start)
    elif error == "cut":
        labels[end - 1] = "O"
    else:
        wrong = pick(rng, [other for other in TYPES if other != kind])
        labels[start:end] = [label[:2] + wrong for label in labels[start:end]]


def _read_rules(text):
    """Return the expansions of one symbol, each as often as its weight says."""
    expansions = []
    for line in text.strip().splitlines():
        weight, *parts = line.split()
        expansions.extend([parts] * int(weight))
    return expansions


_TABLE = read_table("news.toml")
EXPANSIONS = {symbol: _read_rules(text) for symbol, text in _TABLE["rules"].items()}
# Symbol: its part of speech, then the words that it may become.
WORDS = {
    symbol: (text.split()[0], tuple(text.split()[1:]))
    for symbol, text in _TABLE["lexicon"].items()
}


class Writer:
    """Writes one sentence after another as (word, tag, label) triples."""

    def __init__(self, rng, names):
        self.rng = rng
        self.names = names

    def sentence(self, max_length):
        """Return a sentence of at most `max_length` words."""
        while True:
            words = _tidy(self._expand("SENTENCE", None))
            if len(words) <= max_length:
                return words

    def _expand(self, symbol, entity):
        words = []
        for part in pick(self.rng, EXPANSIONS[symbol]):
            words.extend(self._part(part, entity))
        return words

    def _part(self, part, entity):
        if "/" in part:
            word, _, tag = part.rpartition("/")
            return [(word, tag, entity)]
        kind, colon, symbol = part.rpartition(":")
        if colon:
            return _as_mention(self._expand(symbol, kind), kind)
        if part[0] in "@#":
            return [(*self._slot(part), entity)]
        if part in WORDS:
            tag, words = WORDS[part]
            return [(pick(self.rng, words), tag, entity)]
        return self._expand(part, entity)

    def _slot(self, part):
        """Return the word and the tag that fill a slot."""
        if part[0] == "#":
            return self._number(part[1:]), "CD"
        if part == "@initial":
            return pick(self.rng, "ABCDEFGHJKLMNPRSTVW") + ".", "NNP"
        if part == "@acronym":
            return self._acronym(), "NNP"
        if part == "@nation":
            place = self.names.draw("place").rstrip("aeiou")
            return place + pick(self.rng, ["ian", "ese", "ish", "an", "i"]), "JJ"
        return self.names.draw(part[1:]), "NNP"

    def _acronym(self):
        name = self.names.draw("firm").upper()
        return "".join(name[i] for i in (0, len(name) // 2, -1))

    def _number(self, kind):
        draw = self.rng.random_sample
        if kind == "year":
            return str(1900 + int(110 * math.sqrt(draw())))
        if kind == "decimal":
            return f"{int(100 * draw())}.{int(10 * draw())}"
        if kind == "large":
            return f"{1 + int(99 * draw())},{int(1000 * draw()):03d}"
        if kind == "stamp":
            month, day = 1 + int(12 * draw()), 1 + int(28 * draw())
            return f"{1990 + int(20 * draw())}-{month:02d}-{day:02d}"
        top = {"day": 31, "age": 90, "small": 12}[kind]
        return str(1 + int(top * draw()))


def _tidy(words):
    """Leave out a comma that another mark follows, as "Ann, the coach," gives it."""
    following = [*words[1:], ("", "", None)]
    return [
        word
        for word, after in zip(words, following, strict=True)
        if not (word[1] == "," and after[1] in {",", ".", ""})
    ]


def _as_mention(words, kind):
    """Label words as one mention: ``B-`` on the first one, ``I-`` on the others."""
    return [
        (word, tag, f"{'I' if position else 'B'}-{kind}")
        for position, (word, tag, _) in enumerate(words)
    ]


def print_style(rng, words, capitals_rate=0.06):
    """Capitalize the first word; print a few sentences in capitals throughout."""
    if chance(rng, capitals_rate):
        return [(word.upper(), tag, label) for word, tag, label in words]
    for position, (word, tag, label) in enumerate(words):
        if word[0].isalpha():
            first = (word[0].upper() + word[1:], tag, label)
            return [*words[:position], first, *words[position + 1 :]]
    return words
