"""Twins of the kernels that rank candidates: dense NumPy, one line per formula.

Lists are ``(offsets, dense, scores)``: list i owns the rows ``offsets[i]`` to
``offsets[i + 1]`` of the 0/1 matrix `dense`; the last weight is that of the score.
"""

from itertools import pairwise

import numpy as np

from skcw.reranking.global_features import quotations, strings_of_quotation


def rows_of(offsets, dense, scores):
    """Return candidates as vectors, the score last."""
    return np.column_stack([dense, scores]).astype(np.float64)


def perceptron(offsets, dense, scores, target, order):
    """Return the weights after every list: Collins (2002), figure 3."""
    rows = rows_of(offsets, dense, scores)
    weights, kept = np.zeros(rows.shape[1]), []
    for i in order:
        if target[i] >= 0:
            own = slice(offsets[i], offsets[i + 1])
            best = offsets[i] + int((rows[own] @ weights).argmax())
            weights = weights + rows[target[i]] - rows[best]
        kept.append(weights)
    return np.array(kept)


def votes(kept, offsets, dense, scores):
    """Return how many weights choose each candidate: Collins (2002), figure 4."""
    rows, won = rows_of(offsets, dense, scores), np.zeros(len(scores))
    for weights in kept:
        for first, last in pairwise(offsets):
            won[first + int((rows[first:last] @ weights).argmax())] += 1
    return won


def gaussian(offsets, dense, scores, target, order, start, step):
    """Return mean, variance and average after a pass with a diagonal covariance.

    ``step(margin, spread)`` gives alpha and beta.
    """
    rows = rows_of(offsets, dense, scores)
    mean, variance = (part.copy() for part in start)
    kept = []
    for i in order:
        own = [c for c in range(offsets[i], offsets[i + 1]) if c != target[i]]
        if target[i] >= 0 and own:
            bad = own[int((rows[own] @ mean).argmax())]
            delta = rows[target[i]] - rows[bad]
            margin, spread = delta @ mean, delta**2 @ variance
            alpha, beta = step(margin, spread)
            if alpha > 0:
                mean = mean + alpha * variance * delta
                shrunk = beta * (variance * delta) ** 2 / (1 + beta * spread)
                variance = variance - shrunk
        kept.append(mean)
    return mean, variance, np.mean(kept, axis=0)


def boosting(differences, weight, smoothing, n_rounds):
    """Return features, steps and losses; Collins (2002), figure 2, from scratch.

    ``differences[p, k]`` is 1, -1 or 0: which candidate of pair p has feature k.
    """
    margins = -np.log(weight)
    found = []
    for _ in range(n_rounds):
        weight = np.exp(-margins)
        plus, minus = (differences == 1).T @ weight, (differences == -1).T @ weight
        best = int(np.abs(np.sqrt(plus) - np.sqrt(minus)).argmax())
        extra = smoothing * weight.sum()
        step = 0.5 * np.log((plus[best] + extra) / (minus[best] + extra))
        margins = margins + step * differences[:, best]
        found.append((best, step, np.exp(-margins).sum()))
    return found


def numbered(rows, sentence):
    """Return numbers of names in the order in which rows have them, and their counts.

    A name counts once for each sentence with it.
    """
    number, places = {}, {}
    for row, s in zip(rows, sentence, strict=True):
        for name in row:
            number.setdefault(name, len(number))
            places.setdefault(name, set()).add(s)
    found = [[number[name] for name in row] for row in rows]
    return found, [len(places[name]) for name in number]


def joined(rows, parts, sentence, telling):
    """Return the features of candidates, each the union of some rows, sorted.

    If telling, those are left out that a row has which all candidates of a sentence
    have.
    """
    found = [set().union(*(rows[p] for p in own)) for own in parts]
    for s in set(sentence) if telling else ():
        mine = [c for c, place in enumerate(sentence) if place == s]
        shared = set.intersection(*(set(parts[c]) for c in mine))
        for c in mine:
            found[c] -= set().union(*(rows[p] for p in shared))
    return [sorted(features) for features in found]


def quotation_strings(view, labels, spans):
    """Return the features anchored on all quotations of a sentence."""
    whole = {(span.start, span.end): span.label for span in spans}
    return [
        name
        for start, end in quotations(view.words)
        for name in strings_of_quotation(view, labels, whole, start, end)
    ]
