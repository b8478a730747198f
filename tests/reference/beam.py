"""Labels one after the other, each by the two before it: by lists and enumeration.

The model is a function ``log_next(t, a, b)`` that gives the log-probabilities of all
labels at token t after the labels a and b; before the first token both are the border.
"""

from itertools import product

import numpy as np
from scipy.special import log_softmax


def local_model(scores, previous, pair_row, pairs):
    """Return the log_next of one sequence's scores and of the weights of histories."""

    def log_next(t, a, b):
        row = pair_row[a, b]
        return log_softmax(scores[t] + previous[b] + (pairs[row] if row >= 0 else 0.0))

    return log_next


def log_probability(log_next, labels, border):
    """Return the log-probability of one labeling."""
    history = [border, border, *labels]
    return sum(log_next(t, *history[t : t + 2])[j] for t, j in enumerate(labels))


def every_labeling(log_next, n_tokens, n_labels):
    """Return all labelings and their log-probabilities, best first."""
    rows = product(range(n_labels), repeat=n_tokens)
    found = [(row, log_probability(log_next, row, n_labels)) for row in rows]
    return sorted(found, key=lambda pair: -pair[1])


def beam_search(log_next, n_tokens, n_labels, beam):
    """Return the labelings that a beam finds and their log-probabilities."""
    kept = [((), 0.0)]
    for t in range(n_tokens):
        longer = []
        for labels, total in kept:
            history = (n_labels, n_labels, *labels)[-2:]
            for j, step in enumerate(log_next(t, *history)):
                longer.append(((*labels, j), total + step))
        # Sorting is stable: of equal ones the earlier stays ahead.
        kept = sorted(longer, key=lambda pair: -pair[1])[:beam]
    return kept


def marginals(log_next, n_tokens, n_labels):
    """Return the probability of every label at every token, over all labelings."""
    table = np.zeros((n_tokens, n_labels))
    for labels, total in every_labeling(log_next, n_tokens, n_labels):
        table[np.arange(n_tokens), labels] += np.exp(total)
    return table


def pair_marginals(log_next, n_tokens, n_labels):
    """Return P(label i at t - 1, label j at t) over all labelings; 0 for t = 0."""
    table = np.zeros((n_tokens, n_labels, n_labels))
    for labels, total in every_labeling(log_next, n_tokens, n_labels):
        for t in range(1, n_tokens):
            table[t, labels[t - 1], labels[t]] += np.exp(total)
    return table
