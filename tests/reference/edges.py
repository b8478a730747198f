"""Transitions that look at words: every labeling written down, every weight.

A model is one vector: a weight per (feature, label), one per (label before, label),
then one per (feature of a step, label before, label). A sentence is dense features of
its tokens, X, and of the steps into them, E.
"""

import numpy as np

from tests.reference import lattice


def phi(X, E, y, n_labels):
    """Return the counts of a labeling, in the order of the weights."""
    one_hot = np.eye(n_labels)[y]
    pairs = np.einsum("ti,tj->tij", one_hot[:-1], one_hot[1:])
    steps = np.einsum("te,tij->eij", E[1:], pairs)
    parts = (X.T @ one_hot, pairs.sum(axis=0), steps)
    return np.concatenate([part.ravel() for part in parts])


def legal_scores(forbidden, y):
    """Return 0 for a labeling that the constraints allow and minus infinity if not."""
    if forbidden is None or not len(y):
        return 0.0
    return forbidden[y[:-1], y[1:]].sum() + forbidden[-2, y[0]] + forbidden[-1, y[-1]]


def every_labeling(mean, X, E, n_labels, forbidden=None):
    """Return all labelings and their scores."""
    rows = lattice.all_labelings(len(X), n_labels)
    scores = [mean @ phi(X, E, y, n_labels) + legal_scores(forbidden, y) for y in rows]
    return rows, np.array(scores)


def marginals(rows, scores, n_labels):
    """Return the probability of each label at each token, and the log of the sum."""
    top = scores.max()
    share = np.exp(scores - top)
    table = np.einsum("n,ntj->tj", share / share.sum(), np.eye(n_labels)[rows])
    return table, top + np.log(share.sum())


def max_marginals(rows, scores, n_labels):
    """Return the best score of a labeling with label j at token t."""
    table = np.empty((rows.shape[1], n_labels))
    for t, j in np.ndindex(*table.shape):
        table[t, j] = scores[rows[:, t] == j].max()
    return table


def one_label_changes(mean, variance, X, E, y, t, n_labels, forbidden=None):
    """Return gap and deviation of every legal change of the label at token t."""
    found = []
    for label in set(range(n_labels)) - {y[t]}:
        other = y.copy()
        other[t] = label
        if np.isfinite(legal_scores(forbidden, other)):
            change = phi(X, E, y, n_labels) - phi(X, E, other, n_labels)
            found.append((mean @ change, np.sqrt(change**2 @ variance)))
    return found or [(np.inf, 1.0)]


def learn(mean, variance, sentences, cost, cost_unit, rule, k=1, forbidden=None):
    """Present every sentence (X, E, y); return mean, variance and the average."""
    n_labels, total = len(cost), np.zeros_like(mean)
    for X, E, y in sentences:
        rows, scores = every_labeling(mean, X, E, n_labels, forbidden)
        scores = scores + cost_unit * ((rows != y) * cost[y]).sum(axis=1)
        gold = phi(X, E, y, n_labels)
        best = rows[np.argsort(-scores, kind="stable")[:k]]
        others = [
            (gold - phi(X, E, guess, n_labels), cost[y[y != guess]])
            for guess in best
            if (y != guess).any()
        ]
        if others:
            mean, variance = rule(mean, variance, others, 1.0)
        total = total + mean
    return mean, variance, total / len(sentences)
