"""Forward-backward: the probability of every label at every token.

A labeling's probability is proportional to the exponential of its score. The
passes run on scaled numbers; a sequence whose scores differ so much that numbers
that count may have underflowed is done again with logarithms. Transitions are one
square for all tokens, or one for each, see `rows_of_token`.

With drawn weights the passes are the same, for eight draws at once. Their arrays have
the shape (tokens, labels, lanes), as in `draws`.
"""

from libc.math cimport INFINITY, exp, expm1, log, log1p

import numpy as np

from skcw._kernels.common cimport longest_sequence, real, rows_of_token
from skcw._kernels.draws cimport SKCW_DRAWS, DrawnScores, drawn_rows_of_token


cdef extern from "wide_loops.h" nogil:
    # Scores are of float or double.
    double skcw_label_exponentials(
        double*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double)
    double skcw_pass_step(
        double*, double*, double*, const double*, const double*, const double*, double,
        Py_ssize_t)
    double skcw_meet(double*, double*, const double*, double, Py_ssize_t)
    void skcw_inflow(double*, const double*, const double*, Py_ssize_t, Py_ssize_t)
    void skcw_lane_exponentials(
        double*, const float*, const double*, Py_ssize_t, double)
    void skcw_lane_inflow(
        double*, const double*, const double*, Py_ssize_t, Py_ssize_t)
    const double SMALLEST_SUM "SKCW_SMALLEST_SUM"
    const double SAFE_SHARE "SKCW_SAFE_SHARE"
    const double LARGEST_LOSS "SKCW_LARGEST_LOSS"
    const double LARGEST_RATIO "SKCW_LARGEST_RATIO"


cdef class Sequence:
    """Buffers for the longest sequence, and what a pass on scaled numbers needs."""

    cdef Py_ssize_t n_labels, width
    cdef double gain
    cdef double[:, ::1] factor, ahead
    cdef double[::1] inflow, state, message

    def __init__(self, Py_ssize_t most, n_labels, width, double gain):
        self.n_labels, self.width, self.gain = n_labels, width, gain
        self.factor, self.ahead = (np.zeros((most, width)) for _ in range(2))
        self.inflow, self.state, self.message = (np.zeros(width) for _ in range(3))

    cdef double step(
        self, Py_ssize_t t, double* state, double* lost, const double* best_link,
    ) noexcept nogil:
        """state = factor[t] * inflow with sum one; return the sum before."""
        return skcw_pass_step(
            state, &self.message[0], lost, &self.factor[t, 0], &self.inflow[0],
            best_link, self.gain, self.n_labels)

    cdef double run(
        self, const double[:, :, ::1] trans, const double[:, :, ::1] turned,
        const double[:, :, ::1] best_link, Py_ssize_t start, Py_ssize_t length,
        double[:, ::1] out,
    ) noexcept nogil:
        """Write marginals; return log Z of the factors, or -inf if digits are lost."""
        cdef Py_ssize_t t, j, at
        cdef bint own = trans.shape[0] > 1
        cdef const double* link = NULL
        cdef double total, log_z = 0.0, product = 1.0
        cdef double[2] lost = [1.0, 1.0]
        self.inflow[:] = 1.0
        for t in range(length):
            if t > 0:
                at = (start + t) * own
                link = &best_link[0, at, 0]
                skcw_inflow(&self.inflow[0], &self.message[0], &trans[at, 0, 0],
                            self.n_labels, self.width)
            total = self.step(t, &self.ahead[t, 0], &lost[0], link)
            if total <= SMALLEST_SUM:
                return -INFINITY
            product *= total
            # Logarithms are taken of many sums at once.
            if product < 1e-30 or product > 1e200:
                log_z += log(product)
                product = 1.0
        log_z += log(product)
        self.inflow[:] = 1.0
        link = NULL
        for t in range(length - 1, -1, -1):
            if t < length - 1:
                at = (start + t + 1) * own
                link = &best_link[1, at, 0]
                skcw_inflow(&self.inflow[0], &self.message[0], &turned[at, 0, 0],
                            self.n_labels, self.width)
            if self.step(t, &self.state[0], &lost[1], link) <= SMALLEST_SUM:
                return -INFINITY
            if skcw_meet(&self.ahead[t, 0], &self.state[0], &self.inflow[0], self.gain,
                         self.n_labels) <= SMALLEST_SUM:
                return -INFINITY
            for j in range(self.n_labels):
                out[start + t, j] = self.ahead[t, j]
        return log_z if max(lost[0], lost[1]) < LARGEST_RATIO else -INFINITY


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


cdef double _flatten_logs(
    double[::1] row, double gain, Py_ssize_t n,
) noexcept nogil:
    """Do as skcw_flatten to logarithms, which need not be normalized; return log sum.
    """
    cdef Py_ssize_t j
    cdef double total = _log_sum(row, n)
    if gain > 0.0 and total > -INFINITY:
        for j in range(n):
            row[j] -= total + log1p(gain * exp(row[j] - total))
    return total


cdef double _by_logarithms(
    const real[:, ::1] scores, const double[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, double temperature, double gain,
    double[:, ::1] ahead, double[:, ::1] back, double[:, ::1] terms,
    double[:, ::1] out,
) noexcept nogil:
    """Write marginals by logarithms, slower and for any range; return log Z."""
    cdef Py_ssize_t t, i, j, at, rows = rows_of_token(trans)
    cdef double total, log_z = -INFINITY
    for t in range(length):
        at = (start + t) * rows
        for j in range(n_labels):
            ahead[t, j] = scores[start + t, j] / temperature
            if t > 0:
                for i in range(n_labels):
                    terms[1, i] = terms[0, i] + trans[at + i, j]
                ahead[t, j] += _log_sum(terms[1], n_labels)
        terms[0, :n_labels] = ahead[t, :n_labels]
        log_z = _flatten_logs(terms[0], gain, n_labels)
    for t in range(length - 1, -1, -1):
        at = (start + t + 1) * rows
        for i in range(n_labels):
            back[t, i] = 0.0
            if t < length - 1:
                for j in range(n_labels):
                    terms[1, j] = trans[at + i, j] + terms[0, j]
                back[t, i] = _log_sum(terms[1], n_labels)
        for j in range(n_labels):
            terms[0, j] = scores[start + t, j] / temperature + back[t, j]
        _flatten_logs(terms[0], gain, n_labels)
    for t in range(length):
        for j in range(n_labels):
            terms[0, j] = ahead[t, j] + back[t, j]
        total = log_z
        if gain > 0.0:
            # Only without noise the sums of all tokens are Z.
            _flatten_logs(terms[0], gain, n_labels)
            total = _log_sum(terms[0], n_labels)
        for j in range(n_labels):
            out[start + t, j] = 0.0
            if log_z > -INFINITY:
                out[start + t, j] = exp(terms[0, j] - total)
    return log_z


cdef class Factors:
    """The exponentials of transitions, both ways round, and what they were divided by.

    A model whose tokens share one square makes them once for a temperature.
    """

    cdef Py_ssize_t rows
    cdef const double[:, ::1] trans
    cdef double[::1] top
    cdef double[:, :, ::1] links, turned, best_link

    def __init__(self, const double[:, ::1] trans, Py_ssize_t n_labels):
        cdef Py_ssize_t width = trans.shape[1]
        self.trans, self.rows = trans, rows_of_token(trans)
        # One square, or one for each token.
        used = np.asarray(trans).reshape(-1, self.rows or trans.shape[0], width)
        used = used[:, :n_labels, :n_labels]
        # Each by itself, so that no bit depends on the other sequences.
        finite = np.where(np.isfinite(used), used, -np.inf)
        shifts = finite.max(axis=(1, 2), keepdims=True)
        shifts[np.isneginf(shifts)] = 0.0
        self.top = shifts.ravel()
        padded = np.zeros((len(used), n_labels, width))
        padded[:, :, :n_labels] = np.exp(used - shifts)
        self.links = padded
        padded = np.zeros((len(used), n_labels, width))
        padded[:, :, :n_labels] = np.exp(used.transpose(0, 2, 1) - shifts)
        self.turned = padded
        self.best_link = np.stack(
            [np.max(self.links, axis=1), np.max(self.turned, axis=1)])


def marginals(
    const real[:, ::1] scores, Factors factors, Py_ssize_t n_labels,
    const long long[::1] offsets, double[:, ::1] out, double[::1] log_z,
    double temperature=1.0, double noise=0.0,
):
    """Write the marginal of every label at every token and every log partition.

    Scores are divided by the temperature; transitions have been. With noise, a
    variance, odds of what a pass leaves behind at a token are flattened as noise in
    the token's scores would on average, see ``skcw_flatten``: labels that are nearly
    ruled out get exp(noise) times the odds, the mean of a lognormal number. The log
    partitions mean nothing then, but for minus infinity where nothing is legal.
    """
    cdef Py_ssize_t s, t, start, length, width = factors.trans.shape[1]
    cdef Py_ssize_t most = longest_sequence(offsets)
    cdef Py_ssize_t rows = factors.rows
    cdef const double[:, ::1] trans = factors.trans
    cdef double[::1] top = factors.top
    cdef double[:, :, ::1] links = factors.links
    cdef double[:, :, ::1] turned = factors.turned
    cdef double[:, :, ::1] best_link = factors.best_link
    cdef double gain = expm1(noise), shift
    cdef Sequence passes = Sequence(most, n_labels, width, gain)
    cdef double[:, ::1] ahead = np.empty((most, n_labels))
    cdef double[:, ::1] back = np.empty((most, n_labels))
    cdef double[:, ::1] terms = np.empty((2, n_labels))
    with nogil:
        for s in range(offsets.shape[0] - 1):
            start, length = offsets[s], offsets[s + 1] - offsets[s]
            log_z[s] = 0.0
            if length == 0:
                continue
            shift = skcw_label_exponentials(
                &passes.factor[0, 0], &scores[start, 0], length, n_labels, width,
                temperature)
            log_z[s] = shift
            if shift != -INFINITY:
                log_z[s] = passes.run(links, turned, best_link, start, length, out)
            if log_z[s] == -INFINITY:
                log_z[s] = _by_logarithms(scores, trans, start, length, n_labels,
                                          temperature, gain, ahead, back, terms, out)
            else:
                if rows == 0:
                    shift += (length - 1) * top[0]
                else:
                    for t in range(start + 1, start + length):
                        shift += top[t]
                log_z[s] += shift


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
    """Buffers for the longest sequence, and the settings of a pass."""

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
    cdef double[:, ::1] scores, trans, ahead, back, terms, out

    def __init__(self, DrawnScores source, Py_ssize_t most, Links links):
        n = self.n_labels = source.n_labels
        self.scores, self.ahead, self.back, self.out = (
            np.empty((most, n)) for _ in range(4))
        squares = most if links.own else 1
        self.trans, self.terms = np.empty((squares * n, n)), np.empty((2, n))

    cdef bint run(
        self, Passes passes, const float* scores, Links links, Py_ssize_t start,
        Py_ssize_t length, Py_ssize_t g,
    ) noexcept nogil:
        """Put the marginals of lane g in their place; return whether there are any."""
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
        if _by_logarithms(self.scores, self.trans, 0, length, self.n_labels, 1.0, 0.0,
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
