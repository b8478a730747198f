"""Beam search and marginals where each label depends on the two before it.

At token t label j after the labels a, b (a before b) has the probability
softmax_j(scores[t, j] + previous[b, j] + pairs[pair_row[a, b], j]); the last term is
missing where the row is negative. Before the first token both labels are the border,
whose number is ``n_labels``. A label whose score is minus infinity is impossible.
Sequence s owns the tokens ``offsets[s]`` to ``offsets[s + 1]``.
"""

from libc.math cimport INFINITY, exp, log

import numpy as np

from skcw._kernels.common cimport longest_sequence


cdef bint _worse(
    double value, Py_ssize_t index, double other, Py_ssize_t other_index,
) noexcept nogil:
    """Return whether a candidate ranks behind another; of equal ones the later does."""
    return value < other or (value == other and index > other_index)


cdef void _sink(
    double[::1] value, Py_ssize_t[::1] index, Py_ssize_t at, Py_ssize_t size,
) noexcept nogil:
    """Let a candidate sink in a heap that has the worst one on top."""
    cdef Py_ssize_t child
    cdef double moved = value[at]
    cdef Py_ssize_t moved_index = index[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _worse(
                value[child + 1], index[child + 1], value[child], index[child]):
            child += 1
        if not _worse(value[child], index[child], moved, moved_index):
            break
        value[at] = value[child]
        index[at] = index[child]
        at = child
    value[at] = moved
    index[at] = moved_index


cdef Py_ssize_t _offer(
    double[::1] value, Py_ssize_t[::1] index, Py_ssize_t size, double new,
    Py_ssize_t new_index,
) noexcept nogil:
    """Keep a candidate if it is among the best so far; return how many are kept.

    Candidates come in the order of their numbers: an equal one does not displace.
    """
    cdef Py_ssize_t at, above
    if size == value.shape[0]:
        if new > value[0]:
            value[0] = new
            index[0] = new_index
            _sink(value, index, 0, size)
        return size
    at = size
    while at > 0:
        above = (at - 1) // 2
        if not _worse(new, new_index, value[above], index[above]):
            break
        value[at] = value[above]
        index[at] = index[above]
        at = above
    value[at] = new
    index[at] = new_index
    return size + 1


cdef void _rank(
    double[::1] value, Py_ssize_t[::1] index, Py_ssize_t size,
) noexcept nogil:
    """Sort a heap in place, best first."""
    cdef Py_ssize_t last
    cdef double worst
    cdef Py_ssize_t worst_index
    for last in range(size - 1, 0, -1):
        worst = value[0]
        worst_index = index[0]
        value[0] = value[last]
        index[0] = index[last]
        _sink(value, index, 0, last)
        value[last] = worst
        index[last] = worst_index


cdef class LabelModel:
    """The probabilities of the next label, as the module's first lines give them."""

    cdef const double[:, ::1] scores, previous, pairs
    cdef const int[:, ::1] pair_row
    cdef Py_ssize_t n_labels
    # Of the labels at the last token that was weighed.
    cdef double[::1] logit, power

    def __init__(
        self, const double[:, ::1] scores, const double[:, ::1] previous,
        const int[:, ::1] pair_row, const double[:, ::1] pairs,
    ):
        self.scores = scores
        self.previous = previous
        self.pair_row = pair_row
        self.pairs = pairs
        self.n_labels = previous.shape[1]
        self.logit = np.empty(self.n_labels)
        self.power = np.empty(self.n_labels)

    cdef double weigh(self, Py_ssize_t t, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        """Set every label's logit and its exponential; return the sum of these.

        The logits are shifted so that the largest is zero.
        """
        cdef Py_ssize_t j
        cdef int row = self.pair_row[a, b]
        cdef double top = -INFINITY, total = 0.0
        for j in range(self.n_labels):
            self.logit[j] = self.scores[t, j] + self.previous[b, j]
            if row >= 0:
                self.logit[j] += self.pairs[row, j]
            top = max(top, self.logit[j])
        for j in range(self.n_labels):
            self.logit[j] -= top
            self.power[j] = exp(self.logit[j])
            total += self.power[j]
        return total


cdef class Beam:
    """Beginnings of labelings, best first, and the steps that led to them."""

    cdef Py_ssize_t size
    cdef double[::1] total, value
    cdef Py_ssize_t[::1] index
    cdef Py_ssize_t[:, ::1] before, after
    cdef int[:, ::1] label, parent

    def __init__(self, Py_ssize_t beam, Py_ssize_t longest):
        self.total = np.empty(beam)
        self.value = np.empty(beam)
        self.index = np.empty(beam, dtype=np.intp)
        self.before = np.empty((beam, 2), dtype=np.intp)
        self.after = np.empty((beam, 2), dtype=np.intp)
        self.label = np.empty((longest, beam), dtype=np.int32)
        self.parent = np.empty((longest, beam), dtype=np.int32)

    cdef void begin(self, Py_ssize_t border) noexcept nogil:
        """Start with the one labeling of nothing."""
        self.size = 1
        self.total[0] = 0.0
        self.before[0, 0] = self.before[0, 1] = border

    cdef void step(self, LabelModel model, Py_ssize_t t, Py_ssize_t at) noexcept nogil:
        """Extend the labelings by the best labels of token t, the one at this place."""
        cdef Py_ssize_t r, j, k, kept = 0, n_labels = model.n_labels
        cdef double shift
        for r in range(self.size):
            shift = self.total[r] - log(
                model.weigh(t, self.before[r, 0], self.before[r, 1]))
            for j in range(n_labels):
                if model.logit[j] > -INFINITY:
                    kept = _offer(self.value, self.index, kept,
                                  shift + model.logit[j], r * n_labels + j)
        _rank(self.value, self.index, kept)
        for r in range(kept):
            k = self.index[r] // n_labels
            j = self.index[r] - k * n_labels
            self.label[at, r] = <int>j
            self.parent[at, r] = <int>k
            self.after[r, 0] = self.before[k, 1]
            self.after[r, 1] = j
            self.total[r] = self.value[r]
        self.before, self.after = self.after, self.before
        self.size = kept

    cdef void write(
        self, int[:, ::1] labels, Py_ssize_t start, Py_ssize_t length,
        double[::1] total,
    ) noexcept nogil:
        """Write the labelings and their logarithms."""
        cdef Py_ssize_t r, at, k
        for r in range(self.size):
            total[r] = self.total[r]
            k = r
            for at in range(length - 1, -1, -1):
                labels[r, start + at] = self.label[at, k]
                k = self.parent[at, k]


def beam_search(
    const double[:, ::1] scores, const double[:, ::1] previous,
    const int[:, ::1] pair_row, const double[:, ::1] pairs,
    const long long[::1] offsets, int[:, ::1] labels, double[:, ::1] total,
    int[::1] found,
):
    """Write the most probable labelings that a beam finds, their logarithms, how many.

    At every token the ``labels.shape[0]`` most probable beginnings are kept; of equal
    ones those whose beginning was better, then those with the lower label.
    """
    cdef Py_ssize_t s, t, start
    cdef LabelModel model = LabelModel(scores, previous, pair_row, pairs)
    cdef Beam beam = Beam(labels.shape[0], longest_sequence(offsets))
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            beam.begin(model.n_labels)
            for t in range(start, offsets[s + 1]):
                beam.step(model, t, t - start)
            found[s] = <int>beam.size
            beam.write(labels, start, offsets[s + 1] - start, total[s])


cdef class Histories:
    """The most probable pairs of last labels, and their probabilities."""

    cdef Py_ssize_t size
    cdef double[::1] mass
    cdef Py_ssize_t[::1] index
    cdef Py_ssize_t[:, ::1] before
    # flow[b, j]: the probability of b at the token before and j here.
    cdef double[:, ::1] flow

    def __init__(self, Py_ssize_t beam, Py_ssize_t n_labels):
        self.mass = np.empty(beam)
        self.index = np.empty(beam, dtype=np.intp)
        self.before = np.empty((beam, 2), dtype=np.intp)
        self.flow = np.zeros((n_labels + 1, n_labels))

    cdef void begin(self, Py_ssize_t border) noexcept nogil:
        """Start at the border."""
        self.size = 1
        self.mass[0] = 1.0
        self.before[0, 0] = self.before[0, 1] = border

    cdef void step(
        self, LabelModel model, Py_ssize_t t, const Py_ssize_t[:, ::1] asked,
        double[::1] out, double[::1] joint,
    ) noexcept nogil:
        """Write the probabilities of the labels of token t, and keep the best.

        Those of the asked pairs, its label and the one before, go to ``joint``.
        """
        cdef Py_ssize_t r, j, b, k
        cdef double share, total = 0.0
        for r in range(self.size):
            b = self.before[r, 1]
            share = self.mass[r] / model.weigh(t, self.before[r, 0], b)
            for j in range(model.n_labels):
                self.flow[b, j] += share * model.power[j]
                total += share * model.power[j]
        for k in range(asked.shape[1]):
            joint[k] = self.flow[asked[0, k], asked[1, k]] / total
        for j in range(model.n_labels):
            out[j] = 0.0
        self.size = 0
        for b in range(model.n_labels + 1):
            for j in range(model.n_labels):
                if self.flow[b, j] > 0.0:
                    out[j] += self.flow[b, j]
                    self.size = _offer(self.mass, self.index, self.size,
                                       self.flow[b, j], b * model.n_labels + j)
                    self.flow[b, j] = 0.0
        _to_one(out)
        _to_one(self.mass[:self.size])
        for r in range(self.size):
            b = self.index[r] // model.n_labels
            self.before[r, 0] = b
            self.before[r, 1] = self.index[r] - b * model.n_labels


cdef void _to_one(double[::1] shares) noexcept nogil:
    """Divide shares by their sum."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(shares.shape[0]):
        total += shares[i]
    for i in range(shares.shape[0]):
        shares[i] /= total


def history_marginals(
    const double[:, ::1] scores, const double[:, ::1] previous,
    const int[:, ::1] pair_row, const double[:, ::1] pairs,
    const long long[::1] offsets, Py_ssize_t beam, double[:, ::1] out,
    const Py_ssize_t[:, ::1] asked, double[:, ::1] joint,
):
    """Write the probability of every label at every token, whatever stands before it.

    Later tokens carry no information on a label in such a model. Of the pairs of last
    labels the ``beam`` most probable are kept; with all of them the result is exact.
    ``joint[t, k]`` gets the probability of the label ``asked[0, k]`` at the token
    before t and ``asked[1, k]`` at t, which is 0 at the first token of a sequence.
    """
    cdef Py_ssize_t s, t
    cdef LabelModel model = LabelModel(scores, previous, pair_row, pairs)
    cdef Histories histories = Histories(beam, model.n_labels)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            histories.begin(model.n_labels)
            for t in range(offsets[s], offsets[s + 1]):
                histories.step(model, t, asked, out[t], joint[t])
