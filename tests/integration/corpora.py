"""Corpora for tests of several parts at once."""

from functools import cache

from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features

# Enough to learn from, little enough for dozens of fits.
N_SEQUENCES = 90


@cache
def news(seed=0, n_sequences=N_SEQUENCES):
    """Return sentences of (word, part of speech) pairs and their labels."""
    return make_tagged_corpus(n_sequences, random_state=seed, return_X_y=True)


@cache
def features(seed=0, n_sequences=N_SEQUENCES):
    """Return the same with lists of feature strings."""
    tokens, labels = news(seed, n_sequences)
    return featurize(tokens), labels


def featurize(sentences):
    """Return the features of every sentence; a function that can be pickled."""
    return [basic_features(sentence) for sentence in sentences]


def equal_lengths(X, y, length=6):
    """Return the sequences that are long enough, cut to one length."""
    long = [s for s, labels in enumerate(y) if len(labels) >= length]
    return [X[s][:length] for s in long], [y[s][:length] for s in long]
