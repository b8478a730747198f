"""One sequence's lattice, by enumeration and by the textbook recursions.

``scores`` has a row per token and a column per label; ``trans[i, j]`` is the score
of label j after label i; minus infinity forbids.
"""

from itertools import product

import numpy as np
from scipy.special import logsumexp


def token_scores(weights, X):
    """Return the scores of dense tokens (n_tokens, n_features)."""
    return X @ weights


def all_labelings(n_tokens, n_labels):
    """Return every labeling as a row."""
    rows = list(product(range(n_labels), repeat=n_tokens))
    return np.array(rows, dtype=np.intp).reshape(len(rows), n_tokens)


def path_scores(scores, trans, labelings):
    """Return the score of each row of labels."""
    tokens = np.arange(len(scores))
    pairs = trans[labelings[:, :-1], labelings[:, 1:]]
    return scores[tokens, labelings].sum(axis=1) + pairs.sum(axis=1)


def viterbi(scores, trans):
    """Return the best labeling and its score; the first label wins a tie."""
    if not len(scores):
        return np.empty(0, dtype=np.intp), 0.0
    best, before = scores[0], []
    for row in scores[1:]:
        paths = best[:, None] + trans
        before.append(paths.argmax(axis=0))
        best = paths.max(axis=0) + row
    labels = [best.argmax()]
    for choice in reversed(before):
        labels.append(choice[labels[-1]])
    return np.array(labels[::-1]), best.max()


def max_marginals(scores, trans):
    """Return the best score with label j at token t, by forbidding the others."""
    forced = np.empty_like(scores)
    for t, j in np.ndindex(*scores.shape):
        only = scores.copy()
        only[t, np.arange(scores.shape[1]) != j] = -np.inf
        forced[t, j] = viterbi(only, trans)[1]
    return forced


def k_best(scores, trans, k):
    """Return the k best legal labelings and their scores, by enumeration."""
    rows = all_labelings(*scores.shape)
    total = path_scores(scores, trans, rows)
    best = np.argsort(-total, kind="stable")[:k]
    best = best[total[best] > -np.inf]
    return rows[best], total[best]


def marginals(scores, trans):
    """Return the label marginals and log Z by forward-backward on logarithms."""
    ahead, back = np.array(scores), np.zeros_like(scores)
    for t in range(1, len(scores)):
        ahead[t] += logsumexp(ahead[t - 1][:, None] + trans, axis=0)
    for t in range(len(scores) - 2, -1, -1):
        back[t] = logsumexp(trans + scores[t + 1] + back[t + 1], axis=1)
    log_z = logsumexp(ahead[-1])
    return np.exp(ahead + back - log_z), log_z


def flattened(logits, noise):
    """Return the logarithms of p / (1 + (exp(noise) - 1) p), normalized again."""
    p = np.exp(logits - logsumexp(logits))
    with np.errstate(divide="ignore"):
        rows = np.log(p / (1 + np.expm1(noise) * p))
    return rows - logsumexp(rows)


def noisy_marginals(scores, trans, noise):
    """Return marginals by passes that flatten what they leave behind at a token."""
    ahead, back = np.zeros_like(scores), np.zeros_like(scores)
    for t in range(1, len(scores)):
        message = flattened(ahead[t - 1] + scores[t - 1], noise)
        ahead[t] = logsumexp(message[:, None] + trans, axis=0)
    for t in range(len(scores) - 2, -1, -1):
        message = flattened(back[t + 1] + scores[t + 1], noise)
        back[t] = logsumexp(trans + message, axis=1)
    rows = ahead + scores + back
    return np.exp([flattened(row, noise) for row in rows])


def marginals_by_enumeration(scores, trans):
    """Return the same from the probability of every labeling."""
    rows = all_labelings(*scores.shape)
    total = path_scores(scores, trans, rows)
    log_z = logsumexp(total)
    share = np.exp(total - log_z)
    labels = np.arange(scores.shape[1])
    return np.array([share @ (column[:, None] == labels) for column in rows.T]), log_z


def pair_marginals(scores, trans):
    """Return P(label i at t, label j at t + 1) by forward-backward on logarithms."""
    _, log_z = marginals(scores, trans)
    ahead, back = np.array(scores), np.zeros_like(scores)
    for t in range(1, len(scores)):
        ahead[t] += logsumexp(ahead[t - 1][:, None] + trans, axis=0)
    for t in range(len(scores) - 2, -1, -1):
        back[t] = logsumexp(trans + scores[t + 1] + back[t + 1], axis=1)
    after = (scores + back)[1:, None, :]
    return np.exp(ahead[:-1, :, None] + trans + after - log_z)


def pair_marginals_by_enumeration(scores, trans):
    """Return the same from the probability of every labeling."""
    rows = all_labelings(*scores.shape)
    total = path_scores(scores, trans, rows)
    share = np.exp(total - logsumexp(total))
    table = np.zeros((max(len(scores) - 1, 0), *trans.shape))
    for t in range(len(table)):
        np.add.at(table[t], (rows[:, t], rows[:, t + 1]), share)
    return table
