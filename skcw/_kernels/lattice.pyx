"""The lattice of a sequence by maxima: Viterbi, k best, path scores, deltas.

``scores[t, j]`` is the score of label j at token t and ``trans[i, j]`` that of
label j after label i; minus infinity forbids. If transitions look at words, each token
has such a square of its own, see `rows_of_token`. Rows are padded to a multiple of
eight columns, of which the first ``n_labels`` count. Sequence s owns the tokens
``offsets[s]`` to ``offsets[s + 1]``. Nothing here knows of learning.

Delta is the cost of changing the label of one token while its neighbors keep theirs:
Delta = Phi(x, y) - Phi(x, y with label b at token t). Its score is the gap, and
Delta' Sigma Delta, with a diagonal Sigma, the variance of that gap.
"""

from libc.math cimport INFINITY, sqrt

import numpy as np

from skcw._kernels.common cimport longest_sequence, real, rows_of_token

include "lattice.pxi"


cdef void _backward_max(
    const real[:, ::1] scores, const real[:, ::1] turned, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
) noexcept nogil:
    """best[t, i]: the same for tokens start+t.. with label i at start+t."""
    cdef Py_ssize_t width = scores.shape[1], last = length - 1
    cdef Py_ssize_t rows = rows_of_token(turned)
    # The first step of the way back is that into the last token.
    cdef const real* behind = &turned[0, 0] + (start + length) * rows * width
    skcw_forward_max(&best[last, 0], &scores[start + last, 0], behind, length, n_labels,
                     width, -width, -rows * width)


def score_transitions(
    const real[::1] weights, Py_ssize_t n_labels, const int[::1] row_of,
    const long long[::1] indptr, const int[::1] indices, const double[::1] values,
    const real[:, ::1] common, real[:, ::1] trans,
):
    """Fill trans with the squares of all tokens, one below the other."""
    with nogil:
        transitions(weights, trans.shape[1], n_labels, row_of, indptr, indices, values,
                    0, indptr.shape[0] - 1, common, trans)


def score_tokens(
    const real[::1] weights, Py_ssize_t width, const int[::1] row_of,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    real[:, ::1] scores,
):
    """Fill scores with the summed weight rows of every token's features."""
    with nogil:
        emissions(weights, width, row_of, 0, indptr.shape[0] - 1, indptr, indices,
                  values, scores)


def viterbi(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, int[::1] labels, double[::1] total,
):
    """Write the best labeling of every sequence and its score."""
    cdef real[:, ::1] best = np.empty(
        (longest_sequence(offsets), scores.shape[1]), np.asarray(trans).dtype)
    cdef Py_ssize_t s, start, length, rows = rows_of_token(trans)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            total[s] = 0.0
            if length > 0:
                forward_max(scores, trans, start, length, n_labels, best)
                total[s] = best_path(
                    best, trans[start * rows:], length, n_labels, labels[start:])


def k_best(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, int[:, ::1] labels, double[:, ::1] total,
    int[::1] found,
):
    """Write the k best labelings of every sequence, their scores and their number.

    ``labels[r, t]`` is the label of token t in the labeling of rank r.
    """
    cdef Py_ssize_t s, r, t, start, length, k = labels.shape[0]
    cdef Py_ssize_t rows = rows_of_token(trans)
    cdef Py_ssize_t most = longest_sequence(offsets)
    cdef real[:, ::1] best = np.empty(
        (most, scores.shape[1]), np.asarray(trans).dtype)
    cdef int[:, ::1] paths = np.empty((k, most), dtype=np.int32)
    cdef OpenPaths heap = OpenPaths(k)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            if length == 0:
                found[s] = 1
                total[s, 0] = 0.0
                continue
            heap.start(k)
            forward_max(scores, trans, start, length, n_labels, best)
            found[s] = <int>k_best_paths(
                best, trans[start * rows:], length, n_labels, heap, paths, total[s])
            for r in range(found[s]):
                for t in range(length):
                    labels[r, start + t] = paths[r, t]


def path_scores(
    const real[:, ::1] scores, const real[:, ::1] trans,
    const long long[::1] offsets, const int[::1] labels, double[::1] total,
):
    """Write the score of a given labeling of every sequence, summed in double."""
    cdef Py_ssize_t s, t, rows = rows_of_token(trans)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            total[s] = 0.0
            for t in range(offsets[s], offsets[s + 1]):
                total[s] += scores[t, labels[t]]
                if t > offsets[s]:
                    total[s] += trans[t * rows + labels[t - 1], labels[t]]


def max_marginals(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, real[:, ::1] forced,
):
    """Write forced[t, j]: the best score of a labeling that has j at token t."""
    dtype = np.asarray(trans).dtype
    cdef Py_ssize_t most = longest_sequence(offsets), width = scores.shape[1]
    squares = np.asarray(trans).reshape(-1, width, width).transpose(0, 2, 1)
    cdef real[:, ::1] turned = np.ascontiguousarray(squares).reshape(-1, width)
    cdef real[:, ::1] before = np.empty((most, width), dtype)
    cdef real[:, ::1] after = np.empty((most, width), dtype)
    cdef Py_ssize_t s, t, j, start, length
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            if length == 0:
                continue
            forward_max(scores, trans, start, length, n_labels, before)
            _backward_max(scores, turned, start, length, n_labels, after)
            for t in range(length):
                for j in range(n_labels):
                    # Both passes hold the token's own score; a forbidden one
                    # would give inf - inf.
                    if scores[start + t, j] == -INFINITY:
                        forced[start + t, j] = -INFINITY
                    else:
                        forced[start + t, j] = (
                            before[t, j] + (after[t, j] - scores[start + t, j]))


def square_values(
    const int[::1] slots, const long long[::1] indptr, int[::1] seen, real[::1] values,
):
    """Replace the value of every feature at a token by its square.

    A feature that a token has twice is one weight with the sum of both values: the
    first gets the square of it and the second 0. `slots` numbers the distinct
    features, and `seen` has room for each of them.
    """
    cdef Py_ssize_t t, k, place
    with nogil:
        for place in range(seen.shape[0]):
            seen[place] = -1
        for t in range(indptr.shape[0] - 1):
            for k in range(indptr[t], indptr[t + 1]):
                place = seen[slots[k]]
                if place >= indptr[t]:
                    values[place] += values[k]
                    values[k] = 0.0
                else:
                    seen[slots[k]] = <int>k
        for k in range(values.shape[0]):
            values[k] *= values[k]


cdef double _transition_variance(
    const real[:, ::1] variance, const real[:, ::1] common, Py_ssize_t t,
    Py_ssize_t before, Py_ssize_t a, Py_ssize_t b, Py_ssize_t after,
) noexcept nogil:
    """Return the variance of the transitions that change with a -> b.

    They are + (before, a) - (before, b) + (a, after) - (b, after); a border has the
    label -1. The same transition with the same sign twice counts four times, with
    both signs not at all: `common` is the covariance of a transition into t and the
    same one out of t. It is the variance unless transitions look at words.
    """
    cdef Py_ssize_t into = t * rows_of_token(variance)
    cdef Py_ssize_t out = (t + 1) * rows_of_token(variance)
    cdef double total = 0.0
    if before >= 0:
        total += variance[into + before, a] + variance[into + before, b]
    if after >= 0:
        total += variance[out + a, after] + variance[out + b, after]
    if before < 0 or after < 0:
        return total
    if before == a and a == after:
        total += 2.0 * common[out + a, a]
    if before == b and b == after:
        total += 2.0 * common[out + b, b]
    if before == b and a == after:
        total -= 2.0 * common[out + b, a]
    if before == a and b == after:
        total -= 2.0 * common[out + a, b]
    return total


cdef double _gap(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t t,
    Py_ssize_t before, Py_ssize_t a, Py_ssize_t b, Py_ssize_t after,
) noexcept nogil:
    """Return the score that is lost with label b instead of a; infinite if illegal."""
    cdef Py_ssize_t into = t * rows_of_token(trans), out = into + rows_of_token(trans)
    cdef double gap = <double>scores[t, a] - scores[t, b]
    if before >= 0:
        gap += <double>trans[into + before, a] - trans[into + before, b]
    if after >= 0:
        gap += <double>trans[out + a, after] - trans[out + b, after]
    return gap


cdef double _ratio(double gap, double variance) noexcept nogil:
    if variance > 0.0:
        return gap / sqrt(variance)
    # If no weight separates the two labels, the change is certain, or a tie.
    return 0.0 if gap == 0.0 else (INFINITY if gap > 0.0 else -INFINITY)


def deltas(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, const int[::1] codes, double[::1] gaps,
):
    """Write the smallest gap of every token; infinite where there is no rival."""
    cdef Py_ssize_t s, t, b, before, after
    with nogil:
        for s in range(offsets.shape[0] - 1):
            for t in range(offsets[s], offsets[s + 1]):
                before = codes[t - 1] if t > offsets[s] else -1
                after = codes[t + 1] if t + 1 < offsets[s + 1] else -1
                gaps[t] = INFINITY
                for b in range(n_labels):
                    if b != codes[t]:
                        gaps[t] = min(gaps[t], _gap(
                            scores, trans, t, before, codes[t], b, after))


def normalized_deltas(
    const real[:, ::1] scores, const real[:, ::1] trans,
    const real[:, ::1] variance, const real[:, ::1] trans_variance,
    const real[:, ::1] trans_common, Py_ssize_t n_labels,
    const long long[::1] offsets, const int[::1] codes, double[::1] gaps,
    double[::1] deviations,
):
    """Write gap and deviation of the change whose gap has the fewest deviations.

    The variances of transitions are one square or one for each token, as `trans` is;
    `trans_common` has the same shape, see `_transition_variance`.
    """
    cdef Py_ssize_t s, t, a, b, before, after
    cdef double gap, spread, ratio, least
    with nogil:
        for s in range(offsets.shape[0] - 1):
            for t in range(offsets[s], offsets[s + 1]):
                a = codes[t]
                before = codes[t - 1] if t > offsets[s] else -1
                after = codes[t + 1] if t + 1 < offsets[s + 1] else -1
                least = gaps[t] = INFINITY
                deviations[t] = 1.0
                for b in range(n_labels):
                    if b == a:
                        continue
                    gap = _gap(scores, trans, t, before, a, b, after)
                    if gap == INFINITY:
                        continue
                    spread = variance[t, a] + variance[t, b] + _transition_variance(
                        trans_variance, trans_common, t, before, a, b, after)
                    ratio = _ratio(gap, spread)
                    if ratio < least:
                        least = ratio
                        gaps[t] = gap
                        deviations[t] = sqrt(max(spread, 0.0))
