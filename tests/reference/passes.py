"""Algorithm 1 on dense vectors, and its companions.

A model is one vector: a weight per (feature, label), then one per (label before,
label). A sentence is (X, y, weight): dense tokens, labels, number of copies.
"""

import numpy as np

from tests.reference import lattice, steps


def features(X, y, n_labels):
    """Return Phi(x, y): summed token features by label, then counts of pairs."""
    one_hot = np.eye(n_labels)[y]
    pairs = one_hot[:-1].T @ one_hot[1:]
    return np.concatenate([(X.T @ one_hot).ravel(), pairs.ravel()])


def scored(mean, X, n_labels, forbidden):
    """Return the scores and transitions of a sentence under a model."""
    weights, trans = mean[: -(n_labels**2)], mean[-(n_labels**2) :]
    scores = lattice.token_scores(weights.reshape(-1, n_labels), X)
    trans = trans.reshape(n_labels, n_labels)
    if forbidden is not None:
        trans = trans + forbidden[:-2]
        scores[:1] += forbidden[-2]
        scores[-1:] += forbidden[-1]
    return scores, trans


def stretches(y, guess):
    """Return labelings that are wrong in one stretch of wrong tokens each."""
    wrong = y != guess
    first = np.flatnonzero(wrong & ~np.append(False, wrong[:-1]))
    last = np.flatnonzero(wrong & ~np.append(wrong[1:], False))
    token = np.arange(len(y))
    return [
        np.where((token >= a) & (token <= b), guess, y)
        for a, b in zip(first, last, strict=True)
    ]


def rivals(mean, X, y, options, k, norm=1.0, split=False):
    """Return the k best labelings as (delta, costs of the wrong tokens)."""
    n_labels = len(options.cost)
    scores, trans = scored(mean, X, n_labels, options.forbidden)
    wrong = np.arange(n_labels) != y[:, None]
    scores += options.cost_unit * wrong * (options.cost[y] * norm)[:, None]
    if k == 1:
        guesses = [lattice.viterbi(scores, trans)[0]]
    else:
        guesses = lattice.k_best(scores, trans, k)[0]
    if split:
        guesses = stretches(y, guesses[0])
    gold = features(X, y, n_labels)
    return [
        (gold - features(X, guess, n_labels), options.cost[y[y != guess]])
        for guess in guesses
        if (y != guess).any()
    ]


def mistakes(mean, X, y, options):
    """Return how many tokens the model gets wrong, costs aside."""
    if not len(y):
        return 0
    scores, trans = scored(mean, X, len(options.cost), options.forbidden)
    return np.count_nonzero(lattice.viterbi(scores, trans)[0] != y)


def learn(mean, variance, sentences, options, rule, k=1, norm_of=None, split=False):
    """Present every sentence; return mean, variance and the average over rounds.

    ``norm_of`` gives the unit of the cost of each token of a sentence.
    """
    mean, variance = mean.copy(), None if variance is None else variance.copy()
    total, rounds = np.zeros_like(mean), 0.0
    for sentence in sentences:
        X, y, copies = sentence
        while copies > 0:
            share = min(copies, 1.0)
            norm = 1.0 if norm_of is None else norm_of(X)
            others = rivals(mean, X, y, options, k, norm, split)
            for those in [[one] for one in others] if split else [others]:
                if those:
                    mean, variance = rule(mean, variance, those, share)
            total, rounds = total + share * mean, rounds + share
            copies -= share
    return mean, variance, total / rounds


def gaussian_rule(solve, narrow):
    """Return the rule of Eq. (2): solve gives (alpha, beta), narrow the diagonal."""

    def rule(mean, variance, others, share):
        delta, costs = others[0]
        v = variance @ delta**2
        if v == 0:
            return mean, variance
        alpha, beta = solve(delta, variance, mean @ delta, v, costs)
        moved = mean + share * alpha * variance * delta
        on = delta != 0
        narrowed = variance.copy()
        narrowed[on] = narrow(variance[on], delta[on], share * beta)
        return moved, narrowed

    return rule


DIAGONALS = {
    "covariance": steps.covariance_diagonal,
    "precision": steps.precision_diagonal,
    "optimal": steps.precision_diagonal,
}


def cw_rule(phi, diagonal, limit=np.inf):
    """Return the CW rule; costs ask for more standard deviations.

    The limit is in units of the step at a margin of zero and variances of one.
    """

    def solve(delta, variance, m, v, costs):
        asked = phi * costs.mean()
        most = limit * asked / np.sqrt((1 + asked**2) * (delta @ delta))
        if diagonal == "optimal":
            on = delta != 0
            return steps.optimal_cw_step(delta[on], variance[on], m, asked, most)
        return steps.cw_step(m, v, asked, most)

    return gaussian_rule(solve, DIAGONALS[diagonal])


def arow_rule(r, diagonal):
    """Return the AROW rule; the distance is the summed cost."""
    return gaussian_rule(
        lambda delta, variance, m, v, costs: steps.arow_step(m, v, costs.sum(), r),
        DIAGONALS[diagonal],
    )


def perceptron_rule(mean, variance, others, share):
    """Add the difference, times the mean cost of the wrong tokens."""
    delta, costs = others[0]
    return mean + share * costs.mean() * delta, variance


def pa_rule(budget):
    """Return the rule of k-best PA with one slack for all rivals."""

    def rule(mean, variance, others, share):
        # A rival with the features of gold can never be told apart from it.
        others = [(delta, costs) for delta, costs in others if delta.any()]
        if not others:
            return mean, variance
        deltas = np.array([delta for delta, _ in others])
        loss = np.array([costs.sum() for _, costs in others]) - deltas @ mean
        alpha = steps.k_constraints(deltas @ deltas.T, loss, budget)
        return mean + share * alpha @ deltas, variance

    return rule
