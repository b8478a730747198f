"""Small tagged corpora for the checks, made from a seed."""

from typing import NamedTuple

import numpy as np

# Words that tell the kind of the span they lie in, words that do not, and filler.
WORDS = {
    "PER": ["anna", "bo", "carl", "dora"],
    "LOC": ["rome", "oslo", "lima", "bern"],
    None: ["the", "a", "went", "to", "saw", "in"],
}
SHARED = ["paris", "new", "van", "san"]


class Tagged(NamedTuple):
    """Sequences and their labels."""

    X: list
    y: list


def make_tagged(
    tagger, seed=0, n_sequences=24, shortest=1, longest=6, valued=False, noise=0.1
):
    """Return a corpus whose labels obey the BIO or IOBES constraints of a tagger.

    Parameters
    ----------
    tagger : estimator
        Labels are written in IOBES if its ``constraints`` are, in BIO otherwise.
    seed : int, default=0
        Controls all random choices.
    n_sequences : int, default=24
        The number of sequences.
    shortest, longest : int
        The least and the largest number of tokens.
    valued : bool, default=False
        Whether tokens are dicts with real values, not lists of strings. No two
        labelings then have the same score but by accident.
    noise : float, default=0.1
        The share of words drawn from those that say nothing.

    Returns
    -------
    corpus : Tagged
        The sequences and their labels.
    """
    rng = np.random.RandomState(seed)
    iobes = tagger.get_params(deep=False).get("constraints") == "IOBES"
    X, y = [], []
    for s in range(n_sequences):
        # The first sequences have the extreme lengths, so that both do occur.
        length = {0: longest, 1: shortest}.get(s, rng.randint(shortest, longest + 1))
        kinds, labels = _spans(rng, length, iobes)
        words = [_word(rng, kind, noise) for kind in kinds]
        X.append([_token(rng, words, t, valued) for t in range(length)])
        y.append(labels)
    return Tagged(X, y)


def _spans(rng, length, iobes):
    """Return the kind of span and the label of every token."""
    kinds, labels = [], []
    while len(kinds) < length:
        kind = rng.choice(["PER", "LOC", ""])
        size = min(rng.randint(1, 4), length - len(kinds))
        if not kind:
            kinds += [None] * size
            labels += ["O"] * size
            continue
        prefixes = ["B"] + ["I"] * (size - 1)
        if iobes:
            prefixes[-1] = "S" if size == 1 else "E"
        kinds += [str(kind)] * size
        labels += [f"{prefix}-{kind}" for prefix in prefixes]
    return kinds, labels


def _word(rng, kind, noise):
    return str(rng.choice(SHARED if rng.rand() < noise else WORDS[kind]))


def _token(rng, words, t, valued):
    before = words[t - 1] if t else "^"
    after = words[t + 1] if t + 1 < len(words) else "$"
    names = ["bias", f"w={words[t]}", f"before={before}", f"after={after}"]
    if not valued:
        return names
    return {name: float(rng.uniform(0.5, 1.5)) for name in names}


def one_token_each(corpus):
    """Return the corpus with every token as a sequence of its own."""
    return Tagged(
        [[token] for sequence in corpus.X for token in sequence],
        [[label] for labels in corpus.y for label in labels],
    )
