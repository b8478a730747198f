"""What every learner does when one sequence is presented to it.

A belief is flat, in rows of `width` labels: row i < width holds the transitions
from label i, row `width` is blank (the prior), and `row_of[f]` is the row of
feature f: the blank one until an update first touches the feature.
"""

from libc.string cimport memcpy

from skcw._kernels.lattice cimport best_path, emissions, forward_max
from skcw._kernels.types cimport real


cdef (Py_ssize_t, Py_ssize_t) longest(
    const long long[::1] offsets, const long long[::1] indptr
) noexcept nogil:
    """Return the most tokens, and the most features, that a sequence has."""
    cdef Py_ssize_t i, tokens, features, most_tokens = 1, most_features = 1
    for i in range(offsets.shape[0] - 1):
        tokens = offsets[i + 1] - offsets[i]
        features = indptr[offsets[i + 1]] - indptr[offsets[i]]
        most_tokens = max(most_tokens, tokens)
        most_features = max(most_features, features)
    return most_tokens, most_features


cdef void fill_lattice(
    const real[::1] mean, Py_ssize_t width, Py_ssize_t n_labels,
    const int[::1] row_of, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    const real[:, ::1] forbidden, real[:, ::1] scores, real[:, ::1] trans,
) noexcept nogil:
    """Score the tokens and transitions; `forbidden` adds minus infinity.

    Its first rows are for transitions, the last but one for the first token and
    the last for the last token of a sequence.
    """
    cdef Py_ssize_t i, j
    emissions(mean, width, row_of, start, length, indptr, indices, values, scores)
    for i in range(n_labels):
        for j in range(width):
            trans[i, j] = mean[i * width + j]
        if forbidden is not None:
            for j in range(n_labels):
                trans[i, j] = trans[i, j] + forbidden[i, j]
    if forbidden is None:
        return
    for j in range(n_labels):
        scores[0, j] = scores[0, j] + forbidden[n_labels, j]
        scores[length - 1, j] = scores[length - 1, j] + forbidden[n_labels + 1, j]


cdef void add_cost(
    real[:, ::1] scores, const int[::1] gold, Py_ssize_t start, Py_ssize_t length,
    const double[::1] cost, double unit, const double[::1] norm,
) noexcept nogil:
    """Make every wrong label of a token look better by `unit` times its cost.

    With `norm`, the lengths of the tokens' feature vectors, costs are in their unit.
    """
    cdef Py_ssize_t p, j
    cdef real gain
    for p in range(length):
        gain = <real>(unit * cost[gold[start + p]])
        if norm is not None:
            gain = <real>(gain * norm[start + p])
        for j in range(cost.shape[0]):
            if j != gold[start + p]:
                scores[p, j] = scores[p, j] + gain


cdef Py_ssize_t count_mistakes(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const double[::1] cost, double* distance,
) noexcept nogil:
    """Return the number of wrong tokens, and their summed cost by pointer."""
    cdef Py_ssize_t p, n = 0
    distance[0] = 0.0
    for p in range(length):
        if gold[start + p] != guess[p]:
            n += 1
            distance[0] += cost[gold[start + p]]
    return n


cdef void keep_plain(
    const real[:, ::1] scores, Py_ssize_t length, real[:, ::1] plain
) noexcept nogil:
    """Copy the scores of a sequence before costs are added to them."""
    memcpy(&plain[0, 0], &scores[0, 0], length * scores.shape[1] * sizeof(real))


cdef Py_ssize_t mislabelled(
    const real[:, ::1] plain, const real[:, ::1] trans, const int[::1] gold,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
    int[::1] guess,
) noexcept nogil:
    """Return how many tokens the model gets wrong, costs aside.

    Asked only where the rival is wrong: gold that leads in spite of all costs leads
    without them.
    """
    cdef Py_ssize_t p, n = 0
    forward_max(plain, trans, 0, length, n_labels, best)
    best_path(best, trans, length, n_labels, guess)
    for p in range(length):
        n += gold[start + p] != guess[p]
    return n


cdef Py_ssize_t touch_rows(
    real[::1] variance, int[::1] row_of, Py_ssize_t n_rows, Py_ssize_t width,
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices,
) noexcept nogil:
    """Give a row of their own to features of wrong tokens; return the rows in use."""
    cdef Py_ssize_t p, j
    cdef long long k
    for p in range(length):
        if gold[start + p] == guess[p]:
            continue
        for k in range(indptr[start + p], indptr[start + p + 1]):
            if row_of[indices[k]] == width:
                row_of[indices[k]] = <int>n_rows
                if variance is not None:
                    for j in range(width):
                        variance[n_rows * width + j] = variance[width * width]
                n_rows += 1
    return n_rows
