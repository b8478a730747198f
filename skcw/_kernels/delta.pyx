"""Delta: the cost of changing the label of one word while its neighbors keep theirs.

Delta = Phi(x, y) - Phi(x, y with label b at token t): its score is the gap, and
Delta' Sigma Delta, with a diagonal Sigma, the variance of that gap.
"""

from libc.math cimport INFINITY, sqrt

from skcw._kernels.common cimport real, rows_of_token


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
    # If no weight tells the two labels apart, the change is certain, or a tie.
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
