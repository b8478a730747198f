"""``make_tagged_corpus``: a generated corpus with named entities."""

import numpy as np
from sklearn.utils import Bunch, check_random_state

from skcw.datasets.grammar import Writer, print_style
from skcw.datasets.lexicon import NameSource, chance, check_count, check_rates, pick

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

DESCRIPTION = """\
Sentences of invented news, written by a small grammar
======================================================

{n_sequences} sentences of 1 to {max_length} words. A token is a pair (word, part of \
speech); the
parts of speech are those of the Penn treebank with about one in twenty confused, as
a tagger would do it. Labels are IOB2 with the types PER, LOC, ORG, MISC and DATE.

Names are composed of syllables. Some endings hint at a type, many do not. A share of
the names is new in every mention, a share belongs to several types or is also a common
word ("Grant", "May"), so that only the context tells. Teams are called by their town
and firms by their founder. The first word of a sentence is capitalized and some
sentences are in capitals throughout.
"""


def make_tagged_corpus(
    n_sequences=1000,
    *,
    random_state=None,
    ambiguity=0.3,
    unseen_rate=0.4,
    label_noise=0.0,
    return_X_y=False,
):
    """Make a corpus of sentences with named entities; no network is needed.

    Well-known names are the same for every seed, so use one seed for training and
    another one for testing. A seed gives the same corpus on every platform.

    With 1,000 sentences for training, :class:`~skcw.CRFSequenceTagger` on
    ``basic_features`` reaches a span F1 of .87 on other sentences
    (mean of three pairs of seeds); .91 with ``ambiguity=0, unseen_rate=0`` and .84 with
    ``ambiguity=1``.

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
            What the annotator says.
        clean_labels : list of list of str
            What is true; the same as `labels` without noise.
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
        DESCR=DESCRIPTION.format(n_sequences=n_sequences, max_length=MAX_LENGTH),
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
