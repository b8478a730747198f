"""The k best distinct labelings of a sequence, exactly and best first.

After a Viterbi pass the best completion of any suffix is known. A labeling is
found by walking back along best predecessors; every other predecessor on the way
is a labeling that leaves the walk there, and its score is known before it is
walked. Only the k best of those need to be remembered.
"""

from libc.math cimport INFINITY

import numpy as np

from skcw._kernels.lattice cimport best_before, forward_max
from skcw._kernels.types cimport real


cdef class OpenPaths:
    """Labelings known by score but not yet walked, best first.

    An open path equals its parent (a walked path) after `token`, has `label` at
    `token`, and is the best of that kind before it.
    """

    def __cinit__(self, Py_ssize_t capacity):
        self.score = np.empty(capacity)
        self.parent = np.empty(capacity, dtype=np.int32)
        self.token = np.empty(capacity, dtype=np.int32)
        self.label = np.empty(capacity, dtype=np.int32)
        self.start(capacity)

    cdef void start(self, Py_ssize_t most) noexcept nogil:
        self.head = 0
        self.tail = 0
        # Every path before the head is used up: head and tail stay below `most`.
        self.most = most

    cdef void push(self, double score, int parent, int token, int label) noexcept nogil:
        """Insert in order; forget the worst when there are more than needed."""
        cdef Py_ssize_t at
        if score == -INFINITY:
            return
        if self.tail == self.most:
            if self.tail == self.head or score <= self.score[self.tail - 1]:
                return
            self.tail -= 1
        at = self.tail
        while at > self.head and self.score[at - 1] < score:
            self.score[at] = self.score[at - 1]
            self.parent[at] = self.parent[at - 1]
            self.token[at] = self.token[at - 1]
            self.label[at] = self.label[at - 1]
            at -= 1
        self.score[at] = score
        self.parent[at] = parent
        self.token[at] = token
        self.label[at] = label
        self.tail += 1


cdef Py_ssize_t k_best_paths(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t length,
    Py_ssize_t n_labels, OpenPaths heap, int[:, ::1] paths, double[::1] total,
) noexcept nogil:
    """Write up to heap.most labelings, best first; return how many exist."""
    cdef Py_ssize_t j, t, i, arg, found
    cdef double score
    cdef real top = 0.0
    for j in range(n_labels):
        heap.push(best[length - 1, j], -1, <int>(length - 1), <int>j)
    while heap.head < heap.tail:
        found = heap.head
        heap.head += 1
        score = heap.score[found]
        total[found] = score
        t = heap.token[found]
        for i in range(t + 1, length):
            paths[found, i] = paths[heap.parent[found], i]
        paths[found, t] = heap.label[found]
        while t > 0:
            j = paths[found, t]
            arg = best_before(best, trans, t, <int>j, n_labels, &top)
            for i in range(n_labels):
                if i != arg:
                    heap.push(score - (top - (best[t - 1, i] + trans[i, j])),
                              <int>found, <int>(t - 1), <int>i)
            t -= 1
            paths[found, t] = <int>arg
    return heap.head


def k_best(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t n_labels,
    const long long[::1] offsets, int[:, ::1] labels, double[:, ::1] total,
    int[::1] found,
):
    """Write the k best labelings of every sequence, their scores and their number.

    ``labels[r, t]`` is the label of token t in the labeling of rank r.
    """
    cdef Py_ssize_t s, r, t, start, length, most = 1, k = labels.shape[0]
    for s in range(offsets.shape[0] - 1):
        most = max(most, <Py_ssize_t>(offsets[s + 1] - offsets[s]))
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
                best, trans, length, n_labels, heap, paths, total[s])
            for r in range(found[s]):
                for t in range(length):
                    labels[r, start + t] = paths[r, t]
