# One update by one sequence, shared by all learners of `sequence_passes`.
#
# A belief is flat, in rows of `width` labels: row i < width holds the transitions from
# label i, row `width` is blank (the prior), and `row_of[f]` is the row of feature f:
# the blank one until an update first touches the feature.
#
# An update looks at the difference between the features of two labelings. A feature
# that occurs in several tokens must be summed before it is squared, so the pairs are
# collected in a small hash table. One table holds several rivals of the same gold
# labeling: they share most of their cells.
#
# Features of transitions (`EdgeFeatures`) look at the label before, too: after label i,
# feature f of them is the feature f + i of the belief, with a row like any other.

cdef extern from "vectors.h" nogil:
    void SKCW_PREFETCH(const void* address)

# How many cells ahead weights are prefetched: each lies elsewhere in the memory.
cdef enum:
    AHEAD = 12


cdef void fill_lattice(
    PassState state, const real[::1] mean, const real[::1] values,
    const real[:, ::1] forbidden, real[:, ::1] scores, real[:, ::1] trans,
) noexcept nogil:
    """Score the tokens and transitions; `forbidden` adds minus infinity.

    Its first rows are for transitions, the last but one for the first token and
    the last for the last token of a sequence. With edges, `trans` has a square for
    every token; that of the first one, into which no step leads, is what all share.
    """
    cdef Py_ssize_t i, j, width = state.width, n_labels = state.n_labels
    emissions(mean, width, state.row_of, state.start, state.length, state.indptr,
              state.indices, values, scores)
    for i in range(n_labels):
        for j in range(width):
            trans[i, j] = mean[i * width + j]
        if forbidden is not None:
            for j in range(n_labels):
                trans[i, j] = trans[i, j] + forbidden[i, j]
    if state.edges is not None and state.length > 1:
        transitions(mean, width, n_labels, state.row_of, state.edges.indptr,
                    state.edges.indices, state.edges.values, state.start + 1,
                    state.length - 1, trans, trans[width:])
    if forbidden is None:
        return
    for j in range(n_labels):
        scores[0, j] = scores[0, j] + forbidden[n_labels, j]
        scores[state.length - 1, j] = (
            scores[state.length - 1, j] + forbidden[n_labels + 1, j])


cdef void add_cost(PassState state, real[:, ::1] scores) noexcept nogil:
    """Make every wrong label of a token look better by the unit times its cost.

    With `norm`, the lengths of the tokens' feature vectors, costs are in their unit.
    """
    cdef Py_ssize_t p, j, n_labels = state.n_labels
    cdef int label
    cdef real gain, right
    cdef real* row
    for p in range(state.length):
        label = state.gold[state.start + p]
        gain = <real>(state.cost_unit * state.cost[label])
        if state.norm is not None:
            gain = <real>(gain * state.norm[state.start + p])
        row = &scores[p, 0]
        # Adding to all and taking one back needs no question within the loop.
        right = row[label]
        for j in range(n_labels):
            row[j] = row[j] + gain
        row[label] = right


cdef Py_ssize_t count_mistakes(
    PassState state, const int[::1] guess, Py_ssize_t begin, Py_ssize_t end,
    double* distance,
) noexcept nogil:
    """Return the number of wrong tokens, and their summed cost by pointer."""
    cdef Py_ssize_t p, n = 0
    distance[0] = 0.0
    for p in range(begin, end):
        if state.gold[state.start + p] != guess[p]:
            n += 1
            distance[0] += state.cost[state.gold[state.start + p]]
    return n


cdef (Py_ssize_t, Py_ssize_t) next_stretch(
    PassState state, const int[::1] guess, Py_ssize_t begin, bint split,
) noexcept nogil:
    """Return where the next stretch of wrong tokens begins and ends.

    It begins at `length` if there is none. Without `split` the whole sequence is one.
    """
    cdef Py_ssize_t end
    if not split:
        return begin, state.length
    while begin < state.length and state.gold[state.start + begin] == guess[begin]:
        begin += 1
    end = begin
    while end < state.length and state.gold[state.start + end] != guess[end]:
        end += 1
    return begin, end


cdef inline void _touch(
    PassState state, real[::1] variance, Py_ssize_t feature,
) noexcept nogil:
    """Give a feature a row of its own if it has none."""
    cdef Py_ssize_t j, width = state.width
    if state.row_of[feature] != width:
        return
    state.row_of[feature] = <int>state.n_rows
    if variance is not None:
        for j in range(width):
            variance[state.n_rows * width + j] = variance[width * width]
    state.n_rows += 1


cdef inline bint _same_step(
    PassState state, const int[::1] guess, Py_ssize_t p,
) noexcept nogil:
    """Return whether both labelings take the same step into a token, not the first."""
    return (state.gold[state.start + p] == guess[p]
            and state.gold[state.start + p - 1] == guess[p - 1])


cdef void touch_rows(
    PassState state, EdgeFeatures edges, real[::1] variance, const int[::1] guess,
) noexcept nogil:
    """Give a row of their own to features of wrong tokens."""
    cdef Py_ssize_t p, t = state.start
    cdef long long k
    for p in range(state.length):
        if state.gold[t + p] != guess[p]:
            for k in range(state.indptr[t + p], state.indptr[t + p + 1]):
                _touch(state, variance, state.indices[k])
    if edges is None:
        return
    for p in range(1, state.length):
        if not _same_step(state, guess, p):
            for k in range(edges.indptr[t + p], edges.indptr[t + p + 1]):
                _touch(state, variance, edges.indices[k] + state.gold[t + p - 1])
                _touch(state, variance, edges.indices[k] + guess[p - 1])


cdef class Difference:
    """Phi(x, gold) - Phi(x, rival), as pairs of a weight cell and a value.

    A cell is the position of a weight in the flat belief. ``value[i, r]`` is the
    value of ``cell[i]`` for rival r and ``sigma[i]`` the variance of that weight.
    """

    cdef Py_ssize_t n, n_rivals
    cdef int shift
    cdef long long[::1] cell
    cdef double[:, ::1] value
    cdef double[::1] sigma
    cdef int[::1] slot, home

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
    Difference delta, Py_ssize_t rival, PassState state, EdgeFeatures edges,
    Py_ssize_t token, int before, int label, double sign,
) noexcept nogil:
    """Add the features of the step into a token, from one label to another."""
    cdef long long k, row
    for k in range(edges.indptr[token], edges.indptr[token + 1]):
        row = <long long>state.row_of[edges.indices[k] + before] * state.width
        delta.add(row + label, rival,
                  sign if edges.values is None else sign * edges.values[k])


cdef void add_labelings(
    Difference delta, Py_ssize_t rival, PassState state, const int[::1] other,
    const real[::1] values, Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """Add the features of gold minus those of the other labeling, from begin to end."""
    cdef Py_ssize_t p, t
    cdef long long k, row
    cdef double x
    cdef int right, wrong
    for p in range(begin, end):
        t = state.start + p
        right, wrong = state.gold[t], other[p]
        if right != wrong:
            for k in range(state.indptr[t], state.indptr[t + 1]):
                x = 1.0 if values is None else values[k]
                row = <long long>state.row_of[state.indices[k]] * state.width
                delta.add(row + right, rival, x)
                delta.add(row + wrong, rival, -x)
        if p > begin and not _same_step(state, other, p):
            row = <long long>state.gold[t - 1] * state.width
            delta.add(row + right, rival, 1.0)
            row = <long long>other[p - 1] * state.width
            delta.add(row + wrong, rival, -1.0)
            if state.edges is not None:
                _add_step(delta, rival, state, state.edges, t, state.gold[t - 1],
                          right, 1.0)
                _add_step(delta, rival, state, state.edges, t, other[p - 1], wrong,
                          -1.0)


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


cdef double spread_of(Difference delta) noexcept nogil:
    """Return delta' Sigma delta for the first rival."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(delta.n):
        total += delta.sigma[i] * delta.value[i, 0] * delta.value[i, 0]
    return total


cdef void move_by_one(
    Difference delta, real[::1] mean, real[::1] variance, real[::1] drift,
    double rounds_before, double alpha, double beta, Diagonal diagonal,
) noexcept nogil:
    """Apply Eq. (1): mean += alpha Sigma delta, then narrow the variances."""
    cdef Py_ssize_t i
    cdef long long cell
    cdef double x, step, spread = spread_of(delta)
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
            variance[cell] = <real>precision_diagonal(
                delta.sigma[i], x, beta, spread)
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
