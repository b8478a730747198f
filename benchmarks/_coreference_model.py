"""A mention-ranking log-linear model: each mention chooses an antecedent or itself.

The mentions of a document are numbered as they come. Mention i chooses among the arcs
to 0, 1, ... i - 1 and the arc to itself, which begins a cluster. All arcs of a document
stand in one row, those of mention 0 first: the order of ``numpy.tril_indices``. An arc
has one code in each of several fields, and each code of each field has a weight.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

# How much each kind of error costs in training by the Berkeley system: an antecedent
# for a mention that begins a cluster, none for one that has some, a wrong one.
BERKELEY_COSTS = (0.1, 3.0, 1.0)


class Problem(NamedTuple):
    """The arcs of all documents, ready for training."""

    patterns: csr_array  # (n_patterns, n_weights), the codes of arcs that are alike
    pattern: np.ndarray  # (n_arcs,), which of them an arc has
    starts: np.ndarray  # (n_mentions,), the first arc of each mention
    right: np.ndarray  # (n_arcs,) bool, whether an arc is one that the truth allows
    cost: np.ndarray  # (n_arcs,), what training adds to the score of a wrong arc


def n_mentions_of(n_arcs):
    """Return the number of mentions that have so many arcs."""
    return int((np.sqrt(8 * n_arcs + 1) - 1) / 2)


def right_arcs(clusters):
    """Tell of each arc whether it leads to an earlier mention of the same cluster.

    The arc of the first mention of a cluster to itself is right, and no other one.
    """
    clusters = np.asarray(clusters)
    mention, antecedent = np.tril_indices(len(clusters))
    itself = mention == antecedent
    same = (clusters[mention] == clusters[antecedent]) & ~itself
    first = np.ones(len(clusters), dtype=bool)
    first[mention[same]] = False
    return same | (itself & first[mention])


def arc_costs(clusters, costs):
    """Return the cost of each arc: none for right ones."""
    mention, antecedent = np.tril_indices(len(clusters))
    right, itself = right_arcs(clusters), mention == antecedent
    begins = right[itself][mention]
    wrong = np.where(begins, costs[0], np.where(itself, costs[1], costs[2]))
    return np.where(right, 0.0, wrong)


def posed(documents, sizes, costs=(0.0, 0.0, 0.0)):
    """Return the training problem of documents ``(codes, clusters)``."""
    codes = np.concatenate([codes for codes, _ in documents])
    right = np.concatenate([right_arcs(clusters) for _, clusters in documents])
    cost = np.concatenate([arc_costs(clusters, costs) for _, clusters in documents])
    choices = [np.arange(1, len(clusters) + 1) for _, clusters in documents]
    starts = np.cumsum(np.concatenate([[0], *choices]))[:-1]
    pattern, first = _alike(codes, sizes)
    return Problem(_one_hot(codes[first], sizes), pattern, starts, right, cost)


def _alike(codes, sizes):
    """Return the number of each row's pattern, and a row of each pattern."""
    number, found = np.zeros(len(codes), dtype=np.int64), 1
    for field, size in enumerate(sizes):
        number = number * size + codes[:, field]
        found *= size
        if found > 2**40:
            number = np.unique(number, return_inverse=True)[1]
            found = int(number.max(initial=0)) + 1
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    return number, first


def _one_hot(codes, sizes):
    """Return a sparse row of ones for each row of codes."""
    offsets = np.cumsum([0, *sizes[:-1]])
    indptr = np.arange(len(codes) + 1) * len(sizes)
    ones = np.ones(codes.size)
    return csr_array(
        (ones, (codes + offsets).ravel(), indptr), (len(codes), sum(sizes))
    )


def loss_and_slope(weights, problem, penalty):
    """Return the negative log-likelihood of right arcs, penalized, and its gradient.

    A mention is right with any of its right antecedents, so their probabilities add up.
    """
    score = (problem.patterns @ weights)[problem.pattern]
    chosen, log_all = _shares(score + problem.cost, problem.starts)
    allowed = np.where(problem.right, score, -np.inf)
    wanted, log_right = _shares(allowed, problem.starts)
    slope = np.bincount(
        problem.pattern, chosen - wanted, minlength=problem.patterns.shape[0]
    )
    loss = (log_all - log_right).sum() + penalty / 2 * weights @ weights
    return loss, problem.patterns.T @ slope + penalty * weights


def _shares(score, starts):
    """Return the softmax over the arcs of each mention, and the log of its sum."""
    sizes = np.diff([*starts, len(score)])
    top = np.maximum.reduceat(score, starts)
    power = np.exp(score - np.repeat(top, sizes))
    total = np.add.reduceat(power, starts)
    return power / np.repeat(total, sizes), top + np.log(total)


def fit_weights(documents, sizes, penalty=1.0, costs=(0.0, 0.0, 0.0), max_iter=100):
    """Return the weights with the least loss, by L-BFGS."""
    problem = posed(documents, sizes, costs)
    found = minimize(
        loss_and_slope,
        np.zeros(sum(sizes)),
        (problem, penalty),
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": max_iter},
    )
    return found.x


def antecedents(weights, codes, sizes):
    """Return the probability that mention i (row) chooses mention j (column)."""
    n = n_mentions_of(len(codes))
    offsets = np.cumsum([0, *sizes[:-1]])
    score = weights[codes + offsets].sum(axis=1)
    starts = np.arange(n) * np.arange(1, n + 1) // 2
    table = np.zeros((n, n))
    table[np.tril_indices(n)] = _shares(score, starts)[0] if n else []
    return table


def best_clusters(table):
    """Return the clustering in which each mention takes its most probable choice."""
    clusters = np.arange(len(table))
    for i, choice in enumerate(table.argmax(axis=1)):
        clusters[i] = clusters[choice]
    return clusters


def drawn_clusters(table, n, rng):
    """Return n clusterings (n, n_mentions), each by choices drawn for all mentions."""
    clusters = np.tile(np.arange(len(table)), (n, 1))
    for i, row in enumerate(table):
        reached = np.cumsum(row[: i + 1])
        chance = rng.random(n) * reached[-1]
        choice = np.minimum(np.searchsorted(reached, chance, side="right"), i)
        clusters[:, i] = clusters[np.arange(n), choice]
    return clusters


def together(table):
    """Return the exact probability that two mentions belong to one cluster.

    Mention i chooses whatever the mentions before it have chosen. So it is together
    with an earlier mention k if it chooses a mention j that is together with k:
    P(i ~ k) = sum over j < i of P(i chooses j) P(j ~ k).
    """
    found = np.eye(len(table))
    for i in range(1, len(table)):
        found[i, :i] = found[:i, i] = table[i, :i] @ found[:i, :i]
    return found
