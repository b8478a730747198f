"""Algorithm 1 of Crammer, Dredze & Kulesza (2009) on dense vectors, and its companions.

A model is one vector of means and one of variances: the weights of the first label,
then those of the second, and so on. Two classes have one weight vector, whose sign
tells them apart. A row is (x, label, number of copies).
"""

from itertools import count

import numpy as np
from scipy.optimize import brentq, nnls

from tests.reference import steps


def ranked(mean, x, label, n_labels, k):
    """Return the k best labels but the true one, best first; ties to the first."""
    if n_labels == 2:
        return [1 - label]
    scores = mean.reshape(n_labels, -1) @ x
    return [c for c in np.argsort(-scores, kind="stable") if c != label][:k]


def differences(x, label, rivals, n_labels):
    """Return g = f(x, label) - f(x, rival), a row per rival."""
    if n_labels == 2:
        return np.array([x if label == 1 else -x])
    one_hot = np.eye(n_labels)
    signs = [one_hot[label] - one_hot[rival] for rival in rivals]
    return np.array([np.outer(sign, x).ravel() for sign in signs])


def learn(mean, variance, rows, teach, strength, n_labels, k, class_factor=None):
    """Present every row; return mean, variance and the average over rounds.

    ``teach(mean, variance, g, strength, share)`` is one of the updates below. The
    last of a row's copies may be a fraction, which scales its step.
    """
    total, rounds = np.zeros_like(mean), 0.0
    for x, label, copies in rows:
        asked = strength if class_factor is None else strength * class_factor[label]
        while copies > 0:
            share = min(copies, 1.0)
            g = differences(x, label, ranked(mean, x, label, n_labels, k), n_labels)
            mean, variance = teach(mean, variance, g, asked, share)
            total, rounds = total + share * mean, rounds + share
            copies -= share
    return mean, variance, total / rounds


DIAGONALS = {
    "covariance": steps.covariance_diagonal,
    "precision": steps.precision_diagonal,
}


def one_rival(solve, diagonal):
    """Return the update for one g: ``solve(m, v, strength)`` gives (alpha, beta)."""

    def teach(mean, variance, g, strength, share):
        m, v = mean @ g, variance @ g**2
        if v == 0:
            return mean, variance
        alpha, beta = solve(m, v, strength)
        on = g != 0
        narrow = variance.copy()
        narrow[on] = DIAGONALS[diagonal](variance[on], g[on], share * beta)
        return mean + share * alpha * variance * g, narrow

    return teach


def soft_rival(solve, diagonal, budget, prior):
    """Return the same, cut at a budget that counts in steps from the prior.

    ``solve(m, v, strength, budget, fresh)`` gives (alpha, beta).
    """

    def teach(mean, variance, g, strength, share):
        def cut(m, v, strength):
            return solve(m, v, strength, budget, prior * g @ g)

        return one_rival(cut, diagonal)(mean, variance, g, strength, share)

    return teach


def sequential(solve, diagonal):
    """Return the update of Sec. 5.2 that takes one rival after the other."""
    return in_turn(one_rival(solve, diagonal))


def in_turn(step):
    """Return the update that takes a step for one rival after the other."""

    def teach(mean, variance, g, strength, share):
        for rival in g:
            mean, variance = step(mean, variance, rival, strength, share)
        return mean, variance

    return teach


def parallel(solve, diagonal):
    """Return the update of Sec. 5.2 that averages means and precisions."""
    return at_once(one_rival(solve, diagonal))


def joint(solve, diagonal):
    """Return the update that satisfies equal rivals: 2 / (k + 1) of every step."""
    return jointly(one_rival(solve, diagonal))


def at_once(step):
    """Return the update that averages the steps for all rivals."""
    return from_one_start(step, lambda k: 1 / k)


def jointly(step):
    """Return the update that moves means by 2 / (k + 1) of the step for each rival."""
    return from_one_start(step, lambda k: 2 / (k + 1))


def from_one_start(step, pull):
    """Return the update by ``pull(k)`` of each step; precisions are averaged."""

    def teach(mean, variance, g, strength, share):
        models = [step(mean, variance, rival, strength, share) for rival in g]
        means, variances = zip(*models, strict=True)
        moves = np.array(means) - mean
        narrow = 1 / np.mean(1 / np.array(variances), axis=0)
        return mean + pull(len(g)) * moves.sum(axis=0), narrow

    return teach


def exact(demand, alpha_of):
    """Return the update of Sec. 5.2 that satisfies all rivals: Hildreth's sweeps.

    A constraint asks for a margin of phi * demand(variance); ``alpha_of(beta,
    variance, phi)`` is the step of the mean that goes with beta.
    """

    def teach(mean, variance, g, phi, share):
        alpha, beta = np.zeros(len(g)), np.zeros(len(g))

        def lead(j, b):
            """Return by how much constraint j holds if its beta is b, and alpha."""
            beta[j] = b
            v = g[j] ** 2 @ (1 / (1 / variance + beta @ g**2))
            alpha[j] = alpha_of(b, v, phi)
            return (mean + variance * (alpha @ g)) @ g[j] - phi * demand(v)

        for _ in range(10_000):
            before = beta.copy()
            for j in range(len(g)):
                if lead(j, 0.0) < 0 and g[j].any():
                    high = next(4.0**i for i in count() if lead(j, 4.0**i) > 0)
                    root = brentq(lambda b, j=j: lead(j, b), 0, high, xtol=1e-300)
                    lead(j, root)
            if np.allclose(beta, before, rtol=1e-10, atol=0):
                break
        moved = mean + share * variance * (alpha @ g)
        return moved, 1 / (1 / variance + share * beta @ g**2)

    return teach


exact_variance = exact(lambda v: v, lambda beta, v, phi: beta / (2 * phi))
exact_stdev = exact(np.sqrt, lambda beta, v, phi: beta * np.sqrt(v) / phi)


def exact_arow(mean, variance, g, r, share):
    """Minimize the squared hinges of all rivals: alpha = max(0, 1 - margin) / r."""
    gram = (g * variance) @ g.T + r * np.eye(len(g))
    root = np.linalg.cholesky(gram)
    alpha, _ = nnls(root.T, np.linalg.solve(root, 1 - g @ mean))
    beta = np.where(alpha > 0, 1 / r, 0.0)
    moved = mean + share * variance * (alpha @ g)
    return moved, 1 / (1 / variance + share * beta @ g**2)


def pa(mean, variance, g, budget, share):
    """Ask every rival for a margin of one, less one slack that all share."""
    if not g.any():
        return mean, variance
    alpha = steps.k_constraints(g @ g.T, 1 - g @ mean, budget)
    return mean + share * alpha @ g, variance


def perceptron(mean, variance, g, rate, share):
    """Add the difference to the best rival, if the label does not lead it."""
    return mean + share * rate * g[0] * (mean @ g[0] <= 0), variance


def _mixed(key):
    """Return a key with its bits scattered, as splitmix64 ends."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> shift)) * factor % 2**64
    return key ^ (key >> 31)


def hash_of(row):
    """Return the hash of a dense row: the sum of those of what is not zero."""
    total = 0
    for place in np.flatnonzero(row):
        bits = int(np.float64(row[place]).view(np.uint64))
        total += _mixed((bits + 0x9E3779B97F4A7C15 * (int(place) + 1)) % 2**64)
    return _mixed(total % 2**64)
