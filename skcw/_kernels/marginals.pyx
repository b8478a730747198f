"""Forward-backward: the probability of every label at every token.

A labeling's probability is proportional to the exponential of its score. The
passes run on scaled numbers; a sequence whose scores differ so much that numbers
that count may have underflowed is done again with logarithms. Transitions are one
square for all tokens, or one for each, see `rows_of_token`.
"""

from libc.math cimport INFINITY, exp, log

import numpy as np

from skcw._kernels.common cimport longest_sequence, rows_of_token


cdef extern from "wide_loops.h" nogil:
    void skcw_inflow(double*, const double*, const double*, Py_ssize_t, Py_ssize_t)


cdef double _exponentials(
    const double[:, ::1] scores, Py_ssize_t start, Py_ssize_t length,
    Py_ssize_t n_labels, double[:, ::1] factor,
) noexcept nogil:
    """factor[t, j] = exp(scores - their maximum); return the summed maxima."""
    cdef Py_ssize_t t, j
    cdef double top, total = 0.0
    for t in range(length):
        top = -INFINITY
        for j in range(n_labels):
            top = max(top, scores[start + t, j])
        if top == -INFINITY:
            return -INFINITY
        for j in range(n_labels):
            factor[t, j] = exp(scores[start + t, j] - top)
        total += top
    return total


cdef double _normalize(
    double[:, ::1] state, double[:, ::1] factor, const double[:, ::1] inflow,
    Py_ssize_t t, Py_ssize_t n_labels,
) noexcept nogil:
    """state[t] = factor[t] * inflow[t] with sum one; return the sum before."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(n_labels):
        state[t, j] = factor[t, j] * inflow[t, j]
        total += state[t, j]
    if total > SMALLEST_SUM:
        for j in range(n_labels):
            state[t, j] /= total
    return total


cdef double _lost(
    double[:, ::1] state, double[:, ::1] factor, const double[::1] best_link,
    Py_ssize_t t, Py_ssize_t n_labels, double total, double before,
) noexcept nogil:
    """Return how small, as a logarithm, what is left may be beside what underflowed.

    What underflowed in this row was compared with one, and the row's sum is left.
    What did so earlier can since have lost as little as the links allow.
    """
    cdef Py_ssize_t j
    cdef double bound = 0.0, least = 1.0
    for j in range(n_labels):
        bound += factor[t, j] * best_link[j]
        least = min(least, state[t, j])
    before = max(before + log(bound / total), -log(total))
    return 0.0 if before < LARGEST_LOSS and least > SAFE_SHARE else before


cdef double _scaled(
    double[:, ::1] factor, const double[:, :, ::1] trans,
    const double[:, :, ::1] turned, const double[:, :, ::1] best_link,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t n_labels,
    double[:, ::1] inflow, double[:, ::1] ahead, double[:, ::1] back,
    double[:, ::1] out,
) noexcept nogil:
    """Write marginals by scaled passes; return log Z of the factors, or -inf."""
    cdef Py_ssize_t t, j, at = 0, width = trans.shape[2]
    cdef bint own = trans.shape[0] > 1
    cdef double total, log_z = 0.0, lost_ahead = 0.0, lost_back = 0.0
    for j in range(n_labels):
        inflow[0, j] = 1.0
    for t in range(length):
        if t > 0:
            at = (start + t) * own
            skcw_inflow(
                &inflow[t, 0], &ahead[t - 1, 0], &trans[at, 0, 0], n_labels, width)
        total = _normalize(ahead, factor, inflow, t, n_labels)
        if total <= SMALLEST_SUM:
            return -INFINITY
        log_z += log(total)
        if t > 0:
            lost_ahead = _lost(
                ahead, factor, best_link[0, at], t, n_labels, total, lost_ahead)
    for j in range(n_labels):
        inflow[length - 1, j] = 1.0
    for t in range(length - 1, -1, -1):
        if t < length - 1:
            at = (start + t + 1) * own
            skcw_inflow(
                &inflow[t, 0], &back[t + 1, 0], &turned[at, 0, 0], n_labels, width)
        total = _normalize(back, factor, inflow, t, n_labels)
        if total <= SMALLEST_SUM:
            return -INFINITY
        if t < length - 1:
            lost_back = _lost(
                back, factor, best_link[1, at], t, n_labels, total, lost_back)
        total = 0.0
        for j in range(n_labels):
            out[start + t, j] = ahead[t, j] * inflow[t, j]
            total += out[start + t, j]
        if total <= SMALLEST_SUM:
            return -INFINITY
        for j in range(n_labels):
            out[start + t, j] /= total
    return log_z if max(lost_ahead, lost_back) < LARGEST_LOSS else -INFINITY


cdef double _log_sum(const double[::1] terms, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double top = -INFINITY, total = 0.0
    for i in range(n):
        top = max(top, terms[i])
    if top == -INFINITY:
        return top
    for i in range(n):
        total += exp(terms[i] - top)
    return top + log(total)


cdef double by_logarithms(
    const double[:, ::1] scores, const double[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, double[:, ::1] ahead,
    double[:, ::1] back, double[::1] terms, double[:, ::1] out,
) noexcept nogil:
    """Write marginals by logarithms, slower and for any range; return log Z."""
    cdef Py_ssize_t t, i, j, at, rows = rows_of_token(trans)
    cdef double log_z
    for j in range(n_labels):
        ahead[0, j] = scores[start, j]
        back[length - 1, j] = 0.0
    for t in range(1, length):
        at = (start + t) * rows
        for j in range(n_labels):
            for i in range(n_labels):
                terms[i] = ahead[t - 1, i] + trans[at + i, j]
            ahead[t, j] = _log_sum(terms, n_labels) + scores[start + t, j]
    for t in range(length - 2, -1, -1):
        at = (start + t + 1) * rows
        for i in range(n_labels):
            for j in range(n_labels):
                terms[j] = trans[at + i, j] + scores[start + t + 1, j] + back[t + 1, j]
            back[t, i] = _log_sum(terms, n_labels)
    log_z = _log_sum(ahead[length - 1], n_labels)
    for t in range(length):
        for j in range(n_labels):
            if log_z == -INFINITY:
                out[start + t, j] = 0.0
            else:
                out[start + t, j] = exp(ahead[t, j] + back[t, j] - log_z)
    return log_z


def marginals(
    const double[:, ::1] scores, const double[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, double[:, ::1] out, double[::1] log_z,
):
    """Write the marginal of every label at every token and every log partition."""
    cdef Py_ssize_t s, t, start, length, width = trans.shape[1]
    cdef Py_ssize_t most = longest_sequence(offsets)
    cdef Py_ssize_t rows = rows_of_token(trans)
    # One square, or one for each token.
    used = np.asarray(trans).reshape(-1, rows or trans.shape[0], width)
    used = used[:, :n_labels, :n_labels]
    # Each by itself, so that no bit depends on the other sequences.
    shifts = np.where(np.isfinite(used), used, -np.inf).max(axis=(1, 2), keepdims=True)
    shifts[np.isneginf(shifts)] = 0.0
    cdef double[::1] top = shifts.ravel()
    padded = np.zeros((len(used), n_labels, width))
    padded[:, :, :n_labels] = np.exp(used - shifts)
    cdef double[:, :, ::1] links = padded
    padded = np.zeros((len(used), n_labels, width))
    padded[:, :, :n_labels] = np.exp(used.transpose(0, 2, 1) - shifts)
    cdef double[:, :, ::1] turned = padded
    cdef double[:, :, ::1] best_link = np.stack(
        [np.max(links, axis=1), np.max(turned, axis=1)])
    cdef double[:, ::1] factor = np.empty((most, width))
    cdef double[:, ::1] inflow = np.empty((most, width))
    cdef double[:, ::1] ahead = np.empty((most, width))
    cdef double[:, ::1] back = np.empty((most, width))
    cdef double[::1] terms = np.empty(n_labels)
    cdef double shift
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            log_z[s] = 0.0
            if length == 0:
                continue
            shift = _exponentials(scores, start, length, n_labels, factor)
            log_z[s] = shift
            if shift != -INFINITY:
                log_z[s] = _scaled(factor, links, turned, best_link, start, length,
                                   n_labels, inflow, ahead, back, out)
            if log_z[s] == -INFINITY:
                log_z[s] = by_logarithms(scores, trans, start, length, n_labels,
                                         ahead, back, terms, out)
            else:
                if rows == 0:
                    shift += (length - 1) * top[0]
                else:
                    for t in range(start + 1, start + length):
                        shift += top[t]
                log_z[s] += shift
