"""The lattice of a sequence by maxima: Viterbi, path scores, max-marginals.

``scores[t, j]`` is the score of label j at token t and ``trans[i, j]`` that of
label j after label i; minus infinity forbids. Rows are padded to a multiple of
eight columns, of which the first ``n_labels`` count. Sequence s owns the tokens
``offsets[s]`` to ``offsets[s + 1]``. Nothing here knows of learning.
"""

from libc.math cimport INFINITY

import numpy as np

from skcw._kernels.types cimport real


cdef extern from "wide_loops.h" nogil:
    void skcw_emissions_f(
        float*, const float*, Py_ssize_t, const int*, const long long*, Py_ssize_t,
        const int*, const float*)
    void skcw_emissions_d(
        double*, const double*, Py_ssize_t, const int*, const long long*, Py_ssize_t,
        const int*, const double*)
    void skcw_forward_max_f(
        float*, const float*, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
        Py_ssize_t)
    void skcw_forward_max_d(
        double*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
        Py_ssize_t)


cdef void emissions(
    const real[::1] weights, Py_ssize_t width, const int[::1] row_of,
    Py_ssize_t start, Py_ssize_t length, const long long[::1] indptr,
    const int[::1] indices, const real[::1] values, real[:, ::1] scores,
) noexcept nogil:
    """Fill scores[:length] with the summed weight rows of the tokens' features."""
    cdef Py_ssize_t t, j
    cdef const real* x = NULL
    if length == 0:
        return
    if indptr[start] == indptr[start + length]:
        for t in range(length):
            for j in range(width):
                scores[t, j] = 0.0
        return
    if values is not None:
        x = &values[0]
    if real is float:
        skcw_emissions_f(
            &scores[0, 0], &weights[0], width, &row_of[0], &indptr[start], length,
            &indices[0], x)
    else:
        skcw_emissions_d(
            &scores[0, 0], &weights[0], width, &row_of[0], &indptr[start], length,
            &indices[0], x)


cdef void forward_max(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
) noexcept nogil:
    """best[t, j]: the score of the best labeling of tokens start..start+t ending in j.
    """
    cdef Py_ssize_t width = scores.shape[1]
    if real is float:
        skcw_forward_max_f(
            &best[0, 0], &scores[start, 0], &trans[0, 0], length, n_labels, width,
            width)
    else:
        skcw_forward_max_d(
            &best[0, 0], &scores[start, 0], &trans[0, 0], length, n_labels, width,
            width)


cdef void _backward_max(
    const real[:, ::1] scores, const real[:, ::1] turned, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
) noexcept nogil:
    """best[t, i]: the same for tokens start+t.. with label i at start+t."""
    cdef Py_ssize_t width = scores.shape[1], last = length - 1
    if real is float:
        skcw_forward_max_f(
            &best[last, 0], &scores[start + last, 0], &turned[0, 0], length, n_labels,
            width, -width)
    else:
        skcw_forward_max_d(
            &best[last, 0], &scores[start + last, 0], &turned[0, 0], length, n_labels,
            width, -width)


cdef Py_ssize_t best_before(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t t, int label,
    Py_ssize_t n_labels, real* top,
) noexcept nogil:
    """Return the label at t - 1 on the best path to `label` at t."""
    cdef Py_ssize_t i, arg = 0
    cdef real path
    top[0] = -INFINITY
    for i in range(n_labels):
        path = best[t - 1, i] + trans[i, label]
        if path > top[0]:
            top[0] = path
            arg = i
    return arg


cdef double best_path(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t length,
    Py_ssize_t n_labels, int[::1] labels,
) noexcept nogil:
    """Write the best labeling (first label wins a tie) and return its score.

    The labels before are looked for again on the way back: cheaper than to
    store a pointer for every cell on the way forth.
    """
    cdef Py_ssize_t t, j, arg = 0
    cdef real top = -INFINITY, unused
    for j in range(n_labels):
        if best[length - 1, j] > top:
            top = best[length - 1, j]
            arg = j
    labels[length - 1] = <int>arg
    for t in range(length - 1, 0, -1):
        labels[t - 1] = <int>best_before(best, trans, t, labels[t], n_labels, &unused)
    return top


cdef Py_ssize_t _longest(const long long[::1] offsets) noexcept nogil:
    cdef Py_ssize_t s, most = 1
    for s in range(offsets.shape[0] - 1):
        most = max(most, <Py_ssize_t>(offsets[s + 1] - offsets[s]))
    return most


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
        (_longest(offsets), scores.shape[1]), np.asarray(trans).dtype)
    cdef Py_ssize_t s, start, length
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            total[s] = 0.0
            if length > 0:
                forward_max(scores, trans, start, length, n_labels, best)
                total[s] = best_path(best, trans, length, n_labels, labels[start:])


def path_scores(
    const real[:, ::1] scores, const real[:, ::1] trans,
    const long long[::1] offsets, const int[::1] labels, double[::1] total,
):
    """Write the score of a given labeling of every sequence, summed in double."""
    cdef Py_ssize_t s, t
    with nogil:
        for s in range(offsets.shape[0] - 1):
            total[s] = 0.0
            for t in range(offsets[s], offsets[s + 1]):
                total[s] += scores[t, labels[t]]
                if t > offsets[s]:
                    total[s] += trans[labels[t - 1], labels[t]]


def max_marginals(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, real[:, ::1] forced,
):
    """Write forced[t, j]: the best score of a labeling that has j at token t."""
    dtype = np.asarray(trans).dtype
    cdef Py_ssize_t most = _longest(offsets), width = scores.shape[1]
    cdef real[:, ::1] turned = np.ascontiguousarray(np.asarray(trans).T)
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
