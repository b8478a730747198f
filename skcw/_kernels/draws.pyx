"""Best labelings under weights drawn from the belief, for eight draws at once.

A draw is one weight vector for all of the input. Its normals are a pure function of
the seed, the number of the draw, the feature and the label, so that pieces of a
corpus can be drawn apart, in any order, and only the weights they touch.

Drawn arrays have the shape (rows, labels, lanes): a lane is a draw, and ``labels``
is the number of labels padded to a multiple of four. Drawn transitions have a row for
each label before; or so many for each token, where they look at words.
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy

import numpy as np

from skcw._kernels.common cimport longest_sequence


cdef extern from "draw_loops.h" nogil:
    unsigned long long skcw_mix64(unsigned long long)
    void skcw_draw_rows(
        float*, const float*, const float*, const long long*, Py_ssize_t, Py_ssize_t,
        Py_ssize_t, const unsigned*)
    void skcw_sum_rows(
        float*, const float*, Py_ssize_t, const long long*, Py_ssize_t, const int*,
        const float*)
    void skcw_max_ahead(
        float*, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    void skcw_max_back(
        int*, const float*, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
        Py_ssize_t)

# So many draws are made at once.
LANES = SKCW_DRAWS


cpdef Py_ssize_t padded_labels(Py_ssize_t n_labels):
    """Return how many labels a drawn row has room for."""
    return (n_labels + 3) // 4 * 4


def draw_keys(unsigned long long seed, Py_ssize_t first_draw):
    """Return two random words for each of the draws from `first_draw` on."""
    cdef unsigned int[:, ::1] keys = np.empty((2, SKCW_DRAWS), dtype=np.uint32)
    cdef unsigned long long key
    cdef Py_ssize_t g
    for g in range(SKCW_DRAWS):
        key = skcw_mix64(skcw_mix64(seed) ^ <unsigned long long>(first_draw + g))
        keys[0, g] = <unsigned int>key
        keys[1, g] = <unsigned int>(key >> 32)
    return np.asarray(keys)


def distinct_features(const int[::1] indices, int[::1] slots):
    """Return the distinct features; entry k has feature ``result[slots[k]]``.

    The table is as large as the piece asks, not as the model is.
    """
    cdef Py_ssize_t k, place, n = 0, size = 16
    while size < 2 * indices.shape[0]:
        size *= 2
    cdef int[::1] table = np.full(size, -1, dtype=np.int32)
    cdef int[::1] features = np.empty(indices.shape[0], dtype=np.int32)
    with nogil:
        for k in range(indices.shape[0]):
            place = <Py_ssize_t>(<unsigned int>indices[k] * 0x9e3779b1u) & (size - 1)
            while table[place] >= 0 and features[table[place]] != indices[k]:
                place = (place + 1) & (size - 1)
            if table[place] < 0:
                table[place] = <int>n
                features[n] = indices[k]
                n += 1
            slots[k] = table[place]
    return np.asarray(features)[:n].copy()


def draw_rows(
    const float[:, ::1] mean, const float[:, ::1] deviation, const long long[::1] ids,
    const unsigned int[:, ::1] keys, Py_ssize_t n_labels, float[:, :, ::1] out,
):
    """Fill out[r, j, g] with the weight of label j in row r and draw g.

    ids identify the normals: rows with the same one move together. The padding
    of rows beyond the pairs of labels is left as it is.
    """
    if ids.shape[0] == 0:
        return
    with nogil:
        skcw_draw_rows(&out[0, 0, 0], &mean[0, 0], &deviation[0, 0], &ids[0],
                       ids.shape[0], n_labels, out.shape[1], &keys[0, 0])


cdef class DrawnScores:
    """The scores of every label at the tokens of a sequence, in every lane.

    ``first`` and ``last`` are added to the first and the last token: minus infinity
    where a label may not begin or end a sequence.
    """

    def __cinit__(self, Py_ssize_t n_labels, *args, **kwargs):
        self.n_labels = n_labels
        self.labels = padded_labels(n_labels)
        self.first = None
        self.last = None

    def add_borders(self, const float[::1] first, const float[::1] last):
        """Set the scores that are added to the two ends of a sequence."""
        self.first = first
        self.last = last

    cdef void fill(
        self, Py_ssize_t start, Py_ssize_t length, float* scores,
    ) noexcept nogil:
        pass

    cdef void fill_with_borders(
        self, Py_ssize_t start, Py_ssize_t length, float* scores,
    ) noexcept nogil:
        """Fill scores (length, labels, lanes) and add those of the two ends."""
        cdef Py_ssize_t j, g
        cdef float* end
        self.fill(start, length, scores)
        if self.first is None:
            return
        end = scores + (length - 1) * self.labels * SKCW_DRAWS
        for j in range(self.n_labels):
            for g in range(SKCW_DRAWS):
                scores[j * SKCW_DRAWS + g] += self.first[j]
                end[j * SKCW_DRAWS + g] += self.last[j]


cdef class SummedRows(DrawnScores):
    """Scores by drawn weights: the sum over the features of a token."""

    cdef const float[:, :, ::1] rows
    cdef const long long[::1] indptr
    cdef const int[::1] slots
    cdef const float[::1] values

    def __init__(
        self, Py_ssize_t n_labels, const float[:, :, ::1] rows,
        const long long[::1] indptr, const int[::1] slots, const float[::1] values,
    ):
        self.rows = rows
        self.indptr = indptr
        self.slots = slots
        self.values = values

    cdef void fill(
        self, Py_ssize_t start, Py_ssize_t length, float* scores,
    ) noexcept nogil:
        cdef const float* values = NULL
        cdef Py_ssize_t k
        if self.slots.shape[0] == 0:
            for k in range(length * self.labels * SKCW_DRAWS):
                scores[k] = 0.0
            return
        if self.values is not None:
            values = &self.values[0]
        skcw_sum_rows(scores, &self.rows[0, 0, 0], self.labels, &self.indptr[start],
                      length, &self.slots[0], values)


cdef class IndependentScores(DrawnScores):
    """Scores drawn as such, every token on its own: cheap, and only nearly a draw.

    ``ids`` identify the tokens; see `token_ids`.
    """

    cdef const float[:, ::1] mean, deviation
    cdef const long long[::1] ids
    cdef const unsigned int[:, ::1] keys

    def __init__(
        self, Py_ssize_t n_labels, const float[:, ::1] mean,
        const float[:, ::1] deviation, const long long[::1] ids,
        const unsigned int[:, ::1] keys,
    ):
        self.mean = mean
        self.deviation = deviation
        self.ids = ids
        self.keys = keys

    cdef void fill(
        self, Py_ssize_t start, Py_ssize_t length, float* scores,
    ) noexcept nogil:
        skcw_draw_rows(scores, &self.mean[start, 0], &self.deviation[start, 0],
                       &self.ids[start], length, self.n_labels, self.labels,
                       &self.keys[0, 0])


def token_ids(
    const long long[::1] offsets, const long long[::1] indptr, const int[::1] indices,
    const double[::1] values, long long[::1] ids,
):
    """Write a number for every token: a hash of its sequence and its place there.

    It depends on the features and their values alone, not on the rest of the batch.
    """
    cdef Py_ssize_t s, t, k
    cdef unsigned long long content, bits = 0
    with nogil:
        for s in range(offsets.shape[0] - 1):
            content = 0
            for t in range(offsets[s], offsets[s + 1]):
                content = skcw_mix64(content ^ <unsigned long long>(
                    indptr[t + 1] - indptr[t]))
                for k in range(indptr[t], indptr[t + 1]):
                    if values is not None:
                        memcpy(&bits, &values[k], sizeof(bits))
                    content = skcw_mix64(
                        content ^ <unsigned long long>indices[k] ^ skcw_mix64(bits))
            for t in range(offsets[s], offsets[s + 1]):
                ids[t] = <long long>skcw_mix64(
                    content + <unsigned long long>(t - offsets[s]))


cdef Py_ssize_t drawn_rows_of_token(
    DrawnScores source, const float[:, :, ::1] trans
) noexcept nogil:
    """Return how many rows of drawn transitions each token has of its own."""
    return 0 if trans.shape[0] == source.n_labels else source.n_labels


def draw_transitions(
    const float[:, :, ::1] common, const float[:, :, ::1] rows,
    const long long[::1] indptr, const int[::1] slots, const float[::1] values,
    float[:, :, ::1] trans,
):
    """Fill trans with the drawn transitions into every token.

    They are those that all have in common, and the sum over the token's features of
    transitions: the one in slot s has the rows from s * n_labels on.
    """
    cdef Py_ssize_t t, i, k, c, n_labels = common.shape[0]
    cdef Py_ssize_t size = common.shape[1] * common.shape[2]
    cdef float x = 1.0
    cdef float* out
    cdef const float* row
    with nogil:
        for t in range(indptr.shape[0] - 1):
            for i in range(n_labels):
                out = &trans[t * n_labels + i, 0, 0]
                memcpy(out, &common[i, 0, 0], size * sizeof(float))
                for k in range(indptr[t], indptr[t + 1]):
                    if values is not None:
                        x = values[k]
                    row = &rows[slots[k] * n_labels + i, 0, 0]
                    for c in range(size):
                        out[c] += x * row[c]


def draw_labelings(
    DrawnScores source, const float[:, :, ::1] trans, const long long[::1] offsets,
    int[:, ::1] labels, double[::1] total,
):
    """Write labels[t, g], the best labeling of every sequence in every draw.

    ``total[s]`` is the score of the first draw: minus infinity if nothing is legal.
    """
    cdef Py_ssize_t s, j, start, length, size = source.labels * SKCW_DRAWS
    cdef Py_ssize_t rows = drawn_rows_of_token(source, trans)
    cdef const float* links
    # One sequence at a time: its lattice stays in the nearest cache.
    cdef float[::1] best = np.zeros(longest_sequence(offsets) * size, dtype=np.float32)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            total[s] = 0.0
            if length == 0:
                continue
            source.fill_with_borders(start, length, &best[0])
            links = &trans[start * rows, 0, 0]
            skcw_max_ahead(
                &best[0], links, length, source.n_labels, source.labels, rows * size)
            skcw_max_back(&labels[start, 0], &best[0], links, length,
                          source.n_labels, source.labels, rows * size)
            total[s] = -INFINITY
            for j in range(source.n_labels):
                total[s] = max(
                    total[s], <double>best[(length - 1) * size + j * SKCW_DRAWS])


def add_votes(const int[:, :] labelings, int[:, ::1] votes):
    """Add one vote for the label that each labeling gives to a token."""
    cdef Py_ssize_t t, g
    with nogil:
        for t in range(labelings.shape[1]):
            for g in range(labelings.shape[0]):
                votes[t, labelings[g, t]] += 1
