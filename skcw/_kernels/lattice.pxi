# Passes over the lattice of one sequence, for kernels that score or learn;
# `lattice.pyx` says how scores and transitions lie.
#
# The k best labelings are exact: after a Viterbi pass the best completion of any suffix
# is known. A labeling is found by walking back along best predecessors; every other
# predecessor on the way is a labeling that leaves the walk there, and its score is
# known before it is walked. Only the k best of those need to be remembered.

cdef extern from "wide_loops.h" nogil:
    # Scores and weights are of float or double.
    void skcw_emissions(
        void*, const void*, Py_ssize_t, const int*, const long long*, Py_ssize_t,
        const int*, const void*)
    void skcw_forward_max(
        void*, const void*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
        Py_ssize_t, Py_ssize_t)


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
    skcw_emissions(&scores[0, 0], &weights[0], width, &row_of[0], &indptr[start],
                   length, &indices[0], x)


cdef void forward_max(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
) noexcept nogil:
    """best[t, j]: the score of the best labeling of tokens start..start+t ending in j.
    """
    cdef Py_ssize_t width = scores.shape[1], rows = rows_of_token(trans)
    skcw_forward_max(&best[0, 0], &scores[start, 0], &trans[start * rows, 0], length,
                     n_labels, width, width, rows * width)


cdef Py_ssize_t best_before(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t t, int label,
    Py_ssize_t n_labels, real* top,
) noexcept nogil:
    """Return the label at t - 1 on the best path to `label` at t."""
    cdef Py_ssize_t i, arg = 0, first = t * rows_of_token(trans)
    cdef real path
    top[0] = -INFINITY
    for i in range(n_labels):
        path = best[t - 1, i] + trans[first + i, label]
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


cdef class OpenPaths:
    """Labelings known by score but not yet walked, best first.

    An open path equals its parent (a walked path) after `token`, has `label` at
    `token`, and is the best of that kind before it.
    """

    cdef Py_ssize_t head, tail, most
    cdef double[::1] score
    cdef int[::1] parent, token, label

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
    cdef Py_ssize_t j, t, i, arg, found, rows = rows_of_token(trans)
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
                    heap.push(score - (top - (best[t - 1, i] + trans[t * rows + i, j])),
                              <int>found, <int>(t - 1), <int>i)
            t -= 1
            paths[found, t] = <int>arg
    return heap.head


cdef void transitions(
    const real[::1] weights, Py_ssize_t width, Py_ssize_t n_labels,
    const int[::1] row_of, const long long[::1] indptr, const int[::1] indices,
    const double[::1] values, Py_ssize_t start, Py_ssize_t length,
    const real[:, ::1] common, real[:, ::1] trans,
) noexcept nogil:
    """Fill the squares of `length` tokens: the common one plus their features.

    After label i, feature f of a transition is the feature f + i of the model.
    """
    cdef Py_ssize_t t, i, j
    cdef long long k, row
    cdef real x = 1.0
    for t in range(length):
        for i in range(n_labels):
            for j in range(width):
                trans[t * width + i, j] = common[i, j]
        for k in range(indptr[start + t], indptr[start + t + 1]):
            if values is not None:
                x = <real>values[k]
            for i in range(n_labels):
                row = <long long>row_of[indices[k] + i] * width
                for j in range(width):
                    trans[t * width + i, j] += x * weights[row + j]
