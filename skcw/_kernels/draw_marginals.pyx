"""Forward-backward with drawn weights, for eight draws at once.

The passes are those of `marginals`: scaled, and where numbers that count may have
underflowed a draw's sequence is done again with logarithms. Arrays have the shape
(tokens, labels, lanes), as in `draws`.
"""

from libc.math cimport INFINITY, log

import numpy as np

from skcw._kernels.common cimport longest_sequence
from skcw._kernels.draws cimport SKCW_DRAWS, DrawnScores, drawn_rows_of_token
from skcw._kernels.marginals cimport (
    LARGEST_LOSS, SAFE_SHARE, SMALLEST_SUM, by_logarithms)


cdef extern from "lane_sums.h" nogil:
    void skcw_lane_exponentials(
        double*, const float*, const double*, Py_ssize_t, double)
    void skcw_lane_inflow(
        double*, const double*, const double*, Py_ssize_t, Py_ssize_t)


cdef class Links:
    """The exponentials of one group's transitions, both ways round.

    The first axis has one entry, or one for every token.
    """

    cdef const float[:, :, ::1] trans
    cdef double[:, :, :, ::1] ahead, back
    cdef double[:, :, ::1] best_ahead, best_back
    # How many rows of `trans` a token has of its own, and whether it has any.
    cdef Py_ssize_t rows
    cdef bint own

    def __init__(self, DrawnScores source, trans, double temperature):
        n_labels, labels = source.n_labels, source.labels
        self.trans = trans
        self.rows = drawn_rows_of_token(source, trans)
        self.own = self.rows > 0
        used = trans.reshape(-1, n_labels, labels, SKCW_DRAWS)[:, :, :n_labels]
        used = used.astype(np.float64) / temperature
        finite = np.where(np.isfinite(used), used, -np.inf)
        finite = finite.max(axis=(1, 2), keepdims=True)
        links = np.zeros((len(used), n_labels, labels, SKCW_DRAWS))
        links[:, :, :n_labels] = np.exp(used - np.where(np.isinf(finite), 0.0, finite))
        turned = np.zeros_like(links)
        turned[:, :, :n_labels] = links[:, :, :n_labels].transpose(0, 2, 1, 3)
        self.ahead, self.best_ahead = links, links.max(axis=1)
        self.back, self.best_back = turned, turned.max(axis=1)


cdef class Passes:
    """Room for the lattice of the longest sequence, and what a pass needs to know."""

    cdef Py_ssize_t n_labels, labels, size
    cdef double temperature
    cdef double[:, :, ::1] factor, ahead, back
    cdef double[:, ::1] inflow
    # How small what is left may be beside what underflowed.
    cdef double[::1] total, lost
    # Lanes that must be done again.
    cdef int[::1] failed

    def __init__(self, DrawnScores source, Py_ssize_t most, double temperature):
        shape = most, source.labels, SKCW_DRAWS
        self.n_labels, self.labels = source.n_labels, source.labels
        self.temperature = temperature
        self.factor, self.ahead, self.back = (np.zeros(shape) for _ in range(3))
        self.inflow = np.zeros(shape[1:])
        self.total, self.lost = np.zeros(SKCW_DRAWS), np.zeros(SKCW_DRAWS)
        self.failed = np.zeros(SKCW_DRAWS, dtype=np.int32)

    cdef void exponentials(self, const float* scores, Py_ssize_t length) noexcept nogil:
        """factor[t, j, g] = exp(score - its maximum over j)."""
        cdef Py_ssize_t t, j, g
        cdef const float* row
        cdef double[SKCW_DRAWS] top
        for t in range(length):
            row = scores + t * self.labels * SKCW_DRAWS
            for g in range(SKCW_DRAWS):
                top[g] = row[g]
            for j in range(1, self.n_labels):
                for g in range(SKCW_DRAWS):
                    top[g] = max(top[g], <double>row[j * SKCW_DRAWS + g])
            for g in range(SKCW_DRAWS):
                if top[g] == -INFINITY:
                    top[g] = 0.0
            skcw_lane_exponentials(&self.factor[t, 0, 0], row, top, self.n_labels,
                                   1.0 / self.temperature)

    cdef void begin(self) noexcept nogil:
        cdef Py_ssize_t j, g
        for g in range(SKCW_DRAWS):
            self.lost[g] = 0.0
            for j in range(self.n_labels):
                self.inflow[j, g] = 1.0

    cdef void step(self, Py_ssize_t t, double[:, ::1] state) noexcept nogil:
        """state = factor[t] * inflow, with the sum one in every lane."""
        cdef Py_ssize_t j, g
        for j in range(self.n_labels):
            for g in range(SKCW_DRAWS):
                state[j, g] = self.factor[t, j, g] * self.inflow[j, g]
        self.normalize(state)

    cdef void normalize(self, double[:, ::1] state) noexcept nogil:
        """Divide the state of a token by its sum in every lane, the `total`."""
        cdef Py_ssize_t j, g
        cdef double[SKCW_DRAWS] total, factor
        for g in range(SKCW_DRAWS):
            total[g] = 0.0
        for j in range(self.n_labels):
            for g in range(SKCW_DRAWS):
                total[g] += state[j, g]
        for g in range(SKCW_DRAWS):
            if total[g] <= SMALLEST_SUM:
                self.failed[g] = 1
                total[g] = 1.0
            self.total[g] = total[g]
            factor[g] = 1.0 / total[g]
        for j in range(self.n_labels):
            for g in range(SKCW_DRAWS):
                state[j, g] *= factor[g]

    cdef void watch(
        self, Py_ssize_t t, const double[:, ::1] state, const double[:, ::1] best_link,
    ) noexcept nogil:
        """Note how small what is left may be beside what underflowed."""
        cdef Py_ssize_t j, g
        cdef double bound
        cdef double[SKCW_DRAWS] least
        for g in range(SKCW_DRAWS):
            least[g] = 1.0
        for j in range(self.n_labels):
            for g in range(SKCW_DRAWS):
                least[g] = min(least[g], state[j, g])
        for g in range(SKCW_DRAWS):
            # A sum above SMALLEST_SUM cannot lose more than LARGEST_LOSS in one step.
            if self.lost[g] == 0.0 and least[g] > SAFE_SHARE:
                continue
            bound = 0.0
            for j in range(self.n_labels):
                bound += self.factor[t, j, g] * best_link[j, g]
            self.lost[g] = max(self.lost[g] + log(bound / self.total[g]),
                               -log(self.total[g]))
            if self.lost[g] >= LARGEST_LOSS:
                self.failed[g] = 1
            elif least[g] > SAFE_SHARE:
                self.lost[g] = 0.0

    cdef void run(
        self, const float* scores, Links links, Py_ssize_t start, Py_ssize_t length,
    ) noexcept nogil:
        """Leave the marginals in `ahead`, but for the lanes that failed."""
        cdef Py_ssize_t t, j, g, at
        for g in range(SKCW_DRAWS):
            self.failed[g] = 0
        self.exponentials(scores, length)
        self.begin()
        for t in range(length):
            at = (start + t) * links.own
            if t > 0:
                skcw_lane_inflow(&self.inflow[0, 0], &self.ahead[t - 1, 0, 0],
                                 &links.ahead[at, 0, 0, 0], self.n_labels, self.labels)
            self.step(t, self.ahead[t])
            if t > 0:
                self.watch(t, self.ahead[t], links.best_ahead[at])
        self.begin()
        for t in range(length - 1, -1, -1):
            at = (start + t + 1) * links.own
            if t < length - 1:
                skcw_lane_inflow(&self.inflow[0, 0], &self.back[t + 1, 0, 0],
                                 &links.back[at, 0, 0, 0], self.n_labels, self.labels)
            self.step(t, self.back[t])
            if t < length - 1:
                self.watch(t, self.back[t], links.best_back[at])
            # What ends at t times what begins after it.
            for j in range(self.n_labels):
                for g in range(SKCW_DRAWS):
                    self.ahead[t, j, g] *= self.inflow[j, g]
            self.normalize(self.ahead[t])


cdef class Again:
    """One lane by logarithms, slower and for any range."""

    cdef Py_ssize_t n_labels
    cdef double[:, ::1] scores, trans, ahead, back, out
    cdef double[::1] terms

    def __init__(self, DrawnScores source, Py_ssize_t most, Links links):
        n = self.n_labels = source.n_labels
        self.scores, self.ahead, self.back, self.out = (
            np.empty((most, n)) for _ in range(4))
        squares = most if links.own else 1
        self.trans, self.terms = np.empty((squares * n, n)), np.empty(n)

    cdef bint run(
        self, Passes passes, const float* scores, Links links, Py_ssize_t start,
        Py_ssize_t length, Py_ssize_t g,
    ) noexcept nogil:
        """Put the marginals of lane g in their place; tell whether there are any."""
        cdef Py_ssize_t t, i, j
        for t in range(length):
            for j in range(self.n_labels):
                self.scores[t, j] = (
                    scores[(t * passes.labels + j) * SKCW_DRAWS + g]
                    / passes.temperature)
        for i in range(self.n_labels * (length if links.own else 1)):
            for j in range(self.n_labels):
                self.trans[i, j] = (
                    links.trans[start * links.rows + i, j, g] / passes.temperature)
        if by_logarithms(self.scores, self.trans, 0, length, self.n_labels,
                         self.ahead, self.back, self.terms, self.out) == -INFINITY:
            return False
        for t in range(length):
            for j in range(self.n_labels):
                passes.ahead[t, j, g] = self.out[t, j]
        return True


def add_marginals(
    DrawnScores source, const float[:, :, ::1] trans, const long long[::1] offsets,
    double temperature, Py_ssize_t n_draws, double[:, ::1] out, double[::1] legal,
):
    """Add the marginals of the first n_draws lanes to out (n_tokens, n_labels).

    ``legal[s]`` becomes minus infinity where the constraints allow no labeling.
    """
    cdef Py_ssize_t s, t, j, g, start, length, most = longest_sequence(offsets)
    cdef Passes passes = Passes(source, most, temperature)
    cdef Links links = Links(source, np.asarray(trans), temperature)
    cdef Again again = Again(source, most, links)
    cdef float[::1] scores = np.zeros(
        most * source.labels * SKCW_DRAWS, dtype=np.float32)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            legal[s] = 0.0
            if length == 0:
                continue
            source.fill_with_borders(start, length, &scores[0])
            passes.run(&scores[0], links, start, length)
            for g in range(n_draws):
                if passes.failed[g] and not again.run(
                        passes, &scores[0], links, start, length, g):
                    legal[s] = -INFINITY
            if legal[s] == -INFINITY:
                continue
            for t in range(length):
                for j in range(source.n_labels):
                    for g in range(n_draws):
                        out[start + t, j] += passes.ahead[t, j, g]
