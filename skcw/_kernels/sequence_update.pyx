"""One update by one sequence, shared by all learners of sequences.

A belief is flat, in rows of `width` labels: row i < width holds the transitions
from label i, row `width` is blank (the prior), and `row_of[f]` is the row of
feature f: the blank one until an update first touches the feature.

An update looks at the difference between the features of two labelings. A feature that
occurs in several tokens must be summed before it is squared, so the pairs are collected
in a small hash table. One table holds several rivals of the same gold labeling: they
share most of their cells.

Features of transitions (`EdgeFeatures`) look at the label before, too: after label i,
feature f of them is the feature f + i of the belief, with a row like any other.
"""

from libc.string cimport memcpy

import numpy as np

from skcw._kernels.common cimport longest_sequence, real
from skcw._kernels.lattice cimport best_path, emissions, forward_max, transitions
from skcw._kernels.steps cimport precise_variance, precision_diagonal

cdef extern from "vectors.h" nogil:
    void SKCW_PREFETCH(const void* address)

# How many cells ahead weights are prefetched: each lies elsewhere in the memory.
cdef enum:
    AHEAD = 12


cdef class EdgeFeatures:
    """The features of the step into each token, as numbers of the belief after label 0.

    The first token of a sequence has none.
    """

    def __cinit__(self, offsets, indptr, indices, values):
        self.indptr, self.indices = indptr, indices
        self.values = values
        # Of the sequence that has most of them.
        self.most = longest_sequence(indptr[offsets])


cdef void fill_lattice(
    const real[::1] mean, Py_ssize_t width, Py_ssize_t n_labels,
    const int[::1] row_of, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    const real[:, ::1] forbidden, EdgeFeatures edges, real[:, ::1] scores,
    real[:, ::1] trans,
) noexcept nogil:
    """Score the tokens and transitions; `forbidden` adds minus infinity.

    Its first rows are for transitions, the last but one for the first token and
    the last for the last token of a sequence. With edges, `trans` has a square for
    every token; that of the first one, into which no step leads, is what all share.
    """
    cdef Py_ssize_t i, j
    emissions(mean, width, row_of, start, length, indptr, indices, values, scores)
    for i in range(n_labels):
        for j in range(width):
            trans[i, j] = mean[i * width + j]
        if forbidden is not None:
            for j in range(n_labels):
                trans[i, j] = trans[i, j] + forbidden[i, j]
    if edges is not None and length > 1:
        transitions(mean, width, n_labels, row_of, edges.indptr, edges.indices,
                    edges.values, start + 1, length - 1, trans, trans[width:])
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
    cdef Py_ssize_t p, j, n_labels = cost.shape[0]
    cdef real gain, right
    cdef real* row
    for p in range(length):
        gain = <real>(unit * cost[gold[start + p]])
        if norm is not None:
            gain = <real>(gain * norm[start + p])
        row = &scores[p, 0]
        # Adding to all and taking one back needs no question within the loop.
        right = row[gold[start + p]]
        for j in range(n_labels):
            row[j] = row[j] + gain
        row[gold[start + p]] = right


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


cdef Py_ssize_t mislabeled(
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


cdef (Py_ssize_t, Py_ssize_t) next_stretch(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t begin,
    Py_ssize_t length, bint split,
) noexcept nogil:
    """Return where the next stretch of wrong tokens begins and ends.

    It begins at `length` if there is none. Without `split` the whole sequence is one.
    """
    cdef Py_ssize_t end
    if not split:
        return begin, length
    while begin < length and gold[start + begin] == guess[begin]:
        begin += 1
    end = begin
    while end < length and gold[start + end] != guess[end]:
        end += 1
    return begin, end


cdef inline Py_ssize_t _touch(
    real[::1] variance, int[::1] row_of, Py_ssize_t feature, Py_ssize_t n_rows,
    Py_ssize_t width,
) noexcept nogil:
    """Give a feature a row of its own if it has none; return the rows in use."""
    cdef Py_ssize_t j
    if row_of[feature] != width:
        return n_rows
    row_of[feature] = <int>n_rows
    if variance is not None:
        for j in range(width):
            variance[n_rows * width + j] = variance[width * width]
    return n_rows + 1


cdef inline bint _same_step(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t p,
) noexcept nogil:
    """Return whether both labelings take the same step into token p."""
    return (gold[start + p] == guess[p]
            and (p == 0 or gold[start + p - 1] == guess[p - 1]))


cdef Py_ssize_t touch_rows(
    real[::1] variance, int[::1] row_of, Py_ssize_t n_rows, Py_ssize_t width,
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices, EdgeFeatures edges,
) noexcept nogil:
    """Give a row of their own to features of wrong tokens; return the rows in use."""
    cdef Py_ssize_t p
    cdef long long k
    for p in range(length):
        if gold[start + p] == guess[p]:
            continue
        for k in range(indptr[start + p], indptr[start + p + 1]):
            n_rows = _touch(variance, row_of, indices[k], n_rows, width)
    if edges is None:
        return n_rows
    for p in range(1, length):
        if _same_step(gold, guess, start, p):
            continue
        for k in range(edges.indptr[start + p], edges.indptr[start + p + 1]):
            n_rows = _touch(variance, row_of, edges.indices[k] + gold[start + p - 1],
                            n_rows, width)
            n_rows = _touch(variance, row_of, edges.indices[k] + guess[p - 1],
                            n_rows, width)
    return n_rows


cdef class Difference:
    """Phi(x, gold) - Phi(x, rival), as pairs of a weight cell and a value.

    A cell is the position of a weight in the flat belief. ``value[i, r]`` is the
    value of ``cell[i]`` for rival r and ``sigma[i]`` the variance of that weight.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_rivals=1):
        cdef Py_ssize_t size = 16
        self.shift = 60
        while size < 2 * capacity:
            size *= 2
            self.shift -= 1
        self.n = 0
        self.n_rivals = n_rivals
        self.cell = np.empty(max(capacity, 1), dtype=np.int64)
        self.value = np.empty((max(capacity, 1), n_rivals))
        self.sigma = np.empty(max(capacity, 1))
        self.slot = np.full(size, -1, dtype=np.int32)
        self.home = np.empty(max(capacity, 1), dtype=np.int32)

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            self.slot[self.home[i]] = -1
        self.n = 0

    cdef void add(self, long long cell, Py_ssize_t rival, double value) noexcept nogil:
        """Add `value` to the cell's entry of one rival (Fibonacci hashing)."""
        cdef Py_ssize_t mask = self.slot.shape[0] - 1
        cdef Py_ssize_t at = <Py_ssize_t>(
            (<unsigned long long>cell * <unsigned long long>0x9E3779B97F4A7C15)
            >> self.shift
        )
        cdef Py_ssize_t i, r
        while self.slot[at] >= 0:
            i = self.slot[at]
            if self.cell[i] == cell:
                self.value[i, rival] += value
                return
            at = (at + 1) & mask
        i = self.n
        self.n += 1
        self.slot[at] = <int>i
        self.home[i] = <int>at
        self.cell[i] = cell
        for r in range(self.n_rivals):
            self.value[i, r] = 0.0
        self.value[i, rival] = value


cdef void _add_step(
    Difference delta, Py_ssize_t rival, EdgeFeatures edges, Py_ssize_t token,
    int before, int label, Py_ssize_t width, const int[::1] row_of, double sign,
) noexcept nogil:
    """Add the features of the step into a token, from one label to another."""
    cdef long long k, row
    for k in range(edges.indptr[token], edges.indptr[token + 1]):
        row = <long long>row_of[edges.indices[k] + before] * width
        delta.add(row + label, rival,
                  sign if edges.values is None else sign * edges.values[k])


cdef void add_labelings(
    Difference delta, Py_ssize_t rival, const int[::1] gold, const int[::1] other,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t width, const int[::1] row_of,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    EdgeFeatures edges,
) noexcept nogil:
    """Add the features of gold[start:] minus those of other[:length]."""
    cdef Py_ssize_t p
    cdef long long k, row
    cdef double x
    cdef int right, wrong
    for p in range(length):
        right, wrong = gold[start + p], other[p]
        if right != wrong:
            for k in range(indptr[start + p], indptr[start + p + 1]):
                x = 1.0 if values is None else values[k]
                row = <long long>row_of[indices[k]] * width
                delta.add(row + right, rival, x)
                delta.add(row + wrong, rival, -x)
        if p > 0 and not _same_step(gold, other, start, p):
            delta.add(<long long>gold[start + p - 1] * width + right, rival, 1.0)
            delta.add(<long long>other[p - 1] * width + wrong, rival, -1.0)
            if edges is not None:
                _add_step(delta, rival, edges, start + p, gold[start + p - 1],
                          right, width, row_of, 1.0)
                _add_step(delta, rival, edges, start + p, other[p - 1],
                          wrong, width, row_of, -1.0)


cdef void read_belief(
    Difference delta, real[::1] mean, real[::1] variance, double[::1] margin
) noexcept nogil:
    """Fetch the variances of the cells and the margin mean . delta of each rival."""
    cdef Py_ssize_t i, r
    cdef long long cell
    for r in range(delta.n_rivals):
        margin[r] = 0.0
    for i in range(delta.n):
        if i + AHEAD < delta.n:
            SKCW_PREFETCH(&mean[delta.cell[i + AHEAD]])
            if variance is not None:
                SKCW_PREFETCH(&variance[delta.cell[i + AHEAD]])
        cell = delta.cell[i]
        delta.sigma[i] = 1.0 if variance is None else variance[cell]
        for r in range(delta.n_rivals):
            margin[r] += mean[cell] * delta.value[i, r]


cdef double spread_of(Difference delta, Py_ssize_t rival) noexcept nogil:
    """Return delta' Sigma delta for one rival."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(delta.n):
        total += delta.sigma[i] * delta.value[i, rival] * delta.value[i, rival]
    return total


cdef void move_by_one(
    Difference delta, real[::1] mean, real[::1] variance, real[::1] drift,
    double rounds_before, double alpha, double beta, Diagonal diagonal,
) noexcept nogil:
    """Apply Eq. (1): mean += alpha Sigma delta, then narrow the variances."""
    cdef Py_ssize_t i
    cdef long long cell
    cdef double x, step, spread = spread_of(delta, 0)
    cdef bint precise = diagonal == precision_diagonal
    for i in range(delta.n):
        if i + AHEAD < delta.n and drift is not None:
            SKCW_PREFETCH(&drift[delta.cell[i + AHEAD]])
        x = delta.value[i, 0]
        if x == 0.0:
            continue
        cell = delta.cell[i]
        step = alpha * delta.sigma[i] * x
        mean[cell] = <real>(mean[cell] + step)
        if drift is not None:
            drift[cell] = <real>(drift[cell] + rounds_before * step)
        if variance is None:
            continue
        # The usual diagonal is worth a test: calls would take longer than the rest.
        if precise:
            variance[cell] = <real>precise_variance(delta.sigma[i], x, beta)
        else:
            variance[cell] = <real>diagonal(delta.sigma[i], x, beta, spread)


cdef void fill_gram(
    Difference delta, Py_ssize_t n_rivals, double[:, ::1] gram
) noexcept nogil:
    """gram[a, b] = delta_a . delta_b."""
    cdef Py_ssize_t i, a, b
    for a in range(n_rivals):
        for b in range(a + 1):
            gram[a, b] = 0.0
    for i in range(delta.n):
        for a in range(n_rivals):
            for b in range(a + 1):
                gram[a, b] += delta.value[i, a] * delta.value[i, b]
    for a in range(n_rivals):
        for b in range(a):
            gram[b, a] = gram[a, b]


cdef void move_by_many(
    Difference delta, real[::1] mean, real[::1] drift, double rounds_before,
    const double[::1] alpha, Py_ssize_t n_rivals, double share,
) noexcept nogil:
    """mean += sum of alpha_z delta_z."""
    cdef Py_ssize_t i, a
    cdef double step
    for i in range(delta.n):
        step = 0.0
        for a in range(n_rivals):
            step += alpha[a] * delta.value[i, a]
        step *= share
        if step != 0.0:
            mean[delta.cell[i]] = <real>(mean[delta.cell[i]] + step)
            if drift is not None:
                drift[delta.cell[i]] = <real>(
                    drift[delta.cell[i]] + rounds_before * step)
