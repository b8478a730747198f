"""Hidden Markov model by counts, as short as its equations."""

from itertools import pairwise

import numpy as np


def prior(y, n_labels):
    """Return the share of each label among all tokens; an unseen one counts 1/2."""
    count = np.bincount(np.concatenate(y), minlength=n_labels).astype(float)
    count[count == 0] = 0.5
    return count / count.sum()


def transitions(y, n_labels, smoothing):
    """Return log P(j | i), log P(j | first) and log P(j | last) / P(j)."""
    p = prior(y, n_labels)
    pairs, ends = np.zeros((n_labels, n_labels)), np.zeros((2, n_labels))
    for labels in y:
        for i, j in pairwise(labels):
            pairs[i, j] += 1
        ends[0, labels[0]] += 1
        ends[1, labels[-1]] += 1

    def after(count):
        return np.log((count + smoothing * p) / (count.sum() + smoothing))

    links = np.array([after(row) for row in pairs])
    return links, after(ends[0]), after(ends[1]) - np.log(p)


def seen(X, y, n_labels):
    """Return {word: how often it was seen with each label}."""
    count = {}
    for x, labels in zip(X, y, strict=True):
        for word, j in zip(x, labels, strict=True):
            count.setdefault(word, np.zeros(n_labels))[j] += 1
    return count


def mixed(count, wider, weight):
    """Return shares by counts and by `weight` more that are as in the wider class."""
    return (count + weight * wider) / (count.sum() + weight)


def by_class(word, classes_of, count, p, weight):
    """Return P(j | the classes of a word), each class a mixture with the wider one.

    ``classes_of(word)`` names them from the widest to the narrowest. Each distinct
    word of a class has one vote.
    """
    share = p
    for name in classes_of(word):
        votes = [c / c.sum() for other, c in count.items() if name in classes_of(other)]
        if not votes:
            break
        share = mixed(sum(votes), share, weight)
    return share


def by_letters(word, count, share):
    """Return the same with the other spellings of the word, which weigh as seen."""
    others = [
        c for other, c in count.items()
        if other != word and other.lower() == word.lower()
    ]  # fmt: skip
    return mixed(sum(others), share, 1.0) if others else share


def emission(word, count, p, smoothing, share):
    """Return log P(j | word) / P(j); `share` is what was known before it was seen."""
    return np.log(mixed(count.get(word, np.zeros(len(p))), share, smoothing) / p)
