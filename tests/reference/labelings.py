"""Twin of `skcw.confidence.labeling_lead`: every labeling, every weight."""

from itertools import product

import numpy as np


def lead(weights, transitions, variance, trans_variance, x):
    """Return (lead, deviation) of the best labeling of dense rows x over the second."""
    n_labels = weights.shape[1]

    def phi(labeling):
        state, step = np.zeros_like(weights), np.zeros_like(transitions)
        for t, label in enumerate(labeling):
            state[:, label] += x[t]
            if t:
                step[labeling[t - 1], label] += 1.0
        return state, step

    labelings = list(product(range(n_labels), repeat=len(x)))
    scores = [
        (weights * state).sum() + (transitions * step).sum()
        for state, step in map(phi, labelings)
    ]
    first, second = np.argsort(scores)[::-1][:2]
    pairs = zip(phi(labelings[first]), phi(labelings[second]), strict=True)
    state, step = (one - other for one, other in pairs)
    spread = (variance * state**2).sum() + (trans_variance * step**2).sum()
    return scores[first] - scores[second], np.sqrt(spread)
