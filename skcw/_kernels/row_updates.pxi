# Updates by one row: Sec. 5 of Crammer, Dredze & Kulesza (2009).
#
# A row is compared with its gold label's best rivals.
#
# A table of weights has a row per feature, then one for the intercept, and `width`
# columns: a padded number of labels, or 1 for two classes, whose one weight vector
# stands for the difference between them. Rows are `stride` numbers apart: the tables of
# means, variances and drifts may lie side by side.

cdef extern from "row_loops.h" nogil:
    const Py_ssize_t ROWS_AHEAD "SKCW_ROWS_AHEAD"
    ctypedef struct Step "skcw_step":
        double alpha
        double beta
        double spread
        Py_ssize_t label
    ctypedef struct Ahead "skcw_ahead":
        const void* table
        const int* index
        Py_ssize_t n
        Py_ssize_t stride
        Py_ssize_t reach
    # Tables are of float or double.
    void skcw_row_sums(
        double*, const void*, Py_ssize_t, Py_ssize_t, const Ahead*, const int*,
        const double*, Py_ssize_t)
    void skcw_two_class_sums(
        const void*, const void*, Py_ssize_t, const Ahead*, const int*, const double*,
        Py_ssize_t, double*, double*)
    void skcw_prefetch_rows(
        const void*, Py_ssize_t, Py_ssize_t, const int*, Py_ssize_t)
    void skcw_move_row(
        void*, void*, void*, double, double, Py_ssize_t, const int*, const double*,
        Py_ssize_t, const Step*, Py_ssize_t)


# The rule of a learner for a rival: fill in alpha and beta; the spread is there.
ctypedef void (*Rule)(double strength, double margin, Step* step) noexcept nogil
# Cut a step at a budget, given the spread that the row has under the prior.
ctypedef void (*Soften)(
    double strength, double budget, double prior_spread, Step* step) noexcept nogil

# How an update satisfies several rivals.
cdef enum UpdateKind:
    SEQUENTIAL
    PARALLEL
    JOINT
    EXACT_STDEV
    EXACT_VARIANCE
    EXACT_AROW
    SHARED_SLACK


# The settings of a pass, common to all rows.
cdef struct RowOptions:
    Py_ssize_t width
    Py_ssize_t stride
    # The rows of the tables that the next row needs.
    Ahead next
    Py_ssize_t n_labels
    Py_ssize_t k
    Rule rule
    Diagonal diagonal
    UpdateKind kind
    double strength
    Soften soften
    double budget
    double prior


cdef class Work:
    """The row at hand, and buffers for its update."""

    cdef RowOptions options
    cdef Row row, squares
    cdef Py_ssize_t gold
    # The rounds before, and by what the step is scaled: 1, or the fraction of a copy
    # that a weight leaves over.
    cdef double rounds, share
    # The squared norm of the row, or -1 where nobody has asked for it yet.
    cdef double norm
    cdef double[::1] scores, spreads, alpha, loss
    cdef int[::1] rivals
    cdef double[:, ::1] gram
    cdef Step[::1] steps, moves
    cdef Constraints joint

    def __cinit__(self, Py_ssize_t width, Py_ssize_t k, Py_ssize_t longest):
        self.scores = np.empty(width)
        self.spreads = np.empty(width)
        self.rivals = np.empty(k, dtype=np.int32)
        self.alpha = np.empty(k)
        self.loss = np.empty(k)
        self.gram = np.empty((k, k))
        step = [("alpha", "f8"), ("beta", "f8"), ("spread", "f8"), ("label", "i8")]
        self.steps = np.empty(k, dtype=step)
        # Those of the labels that move: gold's and the rivals'.
        self.moves = np.empty(k + 1, dtype=step)
        self.joint = Constraints(k, longest)


cdef void row_sums(
    const real* table, Py_ssize_t stride, Py_ssize_t width, Ahead ahead, Row row,
    double* out
) noexcept nogil:
    """out[c] = sum of value * table[index, c] over the entries of the row.

    On the way the rows `ahead` are prefetched.
    """
    skcw_row_sums(out, table, stride, width, &ahead, row.index, row.value, row.n)


cdef Ahead rows_ahead(
    const real* table, Py_ssize_t stride, Py_ssize_t reach, const int* index,
    Py_ssize_t n
) noexcept nogil:
    """Return the table rows of n entries but the first few: `reach` numbers of each."""
    cdef Ahead ahead
    cdef Py_ssize_t first = min(n, ROWS_AHEAD)
    ahead.table, ahead.index, ahead.n = table, index + first, n - first
    ahead.stride, ahead.reach = stride * sizeof(real), reach * sizeof(real)
    return ahead


cdef void _move(
    real* mean, real* variance, real* drift, Work work, const Step* steps,
    Py_ssize_t n_steps, Diagonal diagonal,
) noexcept nogil:
    """mean += alpha sigma x for the label of each step, then narrow its variances."""
    cdef Py_ssize_t s
    # The usual diagonal is worth a test: calls would take longer than the rest.
    if variance == NULL or diagonal == precision_diagonal:
        skcw_move_row(mean, variance, drift, work.rounds, LEAST_VARIANCE,
                      work.options.stride, work.row.index, work.row.value, work.row.n,
                      steps, n_steps)
        return
    for s in range(n_steps):
        _move_label(mean, variance, drift, work, steps[s], diagonal)


cdef void _move_label(
    real* mean, real* variance, real* drift, Work work, Step step, Diagonal diagonal,
) noexcept nogil:
    """The same for one label, with any diagonal."""
    cdef Py_ssize_t k, cell
    cdef double sigma, change
    cdef Row row = work.row
    for k in range(row.n):
        cell = row.index[k] * work.options.stride + step.label
        sigma = variance[cell]
        change = step.alpha * sigma * row.value[k]
        mean[cell] = <real>(mean[cell] + change)
        if drift != NULL:
            drift[cell] = <real>(drift[cell] + work.rounds * change)
        variance[cell] = <real>diagonal(sigma, row.value[k], step.beta, step.spread)


cdef double _squared_norm(Work work) noexcept nogil:
    cdef Py_ssize_t k
    if work.norm < 0.0:
        work.norm = 0.0
        for k in range(work.squares.n):
            work.norm += work.squares.value[k]
    return work.norm


cdef double _spread_of(
    const real* variance, Py_ssize_t stride, Py_ssize_t label, Row squares
) noexcept nogil:
    """Return the variance of one label's score."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(squares.n):
        total += squares.value[k] * variance[squares.index[k] * stride + label]
    return total


cdef void sum_row(const real* mean, const real* variance, Work work) noexcept nogil:
    """Fill in the scores of a row, and of two classes the spread."""
    cdef RowOptions* options = &work.options
    cdef Ahead ahead = rows_ahead(
        mean, options.stride, options.stride, work.row.index, work.row.n)
    if options.width == 1 and variance != NULL:
        skcw_two_class_sums(
            mean, variance, options.stride, &ahead, work.row.index, work.row.value,
            work.row.n, &work.scores[0], &work.spreads[0])
        return
    row_sums(mean, options.stride, options.width, ahead, work.row, &work.scores[0])
    if options.width == 1:
        work.spreads[0] = _squared_norm(work)


cdef void rank_rivals(Work work) noexcept nogil:
    """Put the k best labels but gold into `rivals`, best first; ties to the first."""
    cdef const double* scores = &work.scores[0]
    cdef int* rivals = &work.rivals[0]
    cdef Py_ssize_t c, at, n = 0, gold = work.gold, k = work.options.k
    for c in range(work.options.n_labels):
        if c == gold:
            continue
        if n == k:
            if scores[c] <= scores[rivals[n - 1]]:
                continue
            n -= 1
        at = n
        while at > 0 and scores[c] > scores[rivals[at - 1]]:
            rivals[at] = rivals[at - 1]
            at -= 1
        rivals[at] = <int>c
        n += 1


cdef void _solve(Work work, double margin, Step* step) noexcept nogil:
    """Fill in the step for one rival, cut at the budget if it has one."""
    cdef RowOptions* options = &work.options
    cdef double prior_spread
    options.rule(options.strength, margin, step)
    if options.soften != NULL and step.alpha > 0.0:
        prior_spread = _squared_norm(work) * options.prior
        # The difference of two labels has the row twice.
        prior_spread *= 2.0 if options.width > 1 else 1.0
        options.soften(options.strength, options.budget, prior_spread, step)


cdef bint _update_two_classes(
    real* mean, real* variance, real* drift, Work work
) noexcept nogil:
    """Update the one weight vector of two classes; its sign is the class."""
    cdef double sign = 1.0 if work.gold == 1 else -1.0
    cdef RowOptions* options = &work.options
    cdef Step step
    if options.kind in (EXACT_STDEV, EXACT_VARIANCE):
        read_one_vector(work.joint, variance, options.stride, work.squares,
                        sign * work.scores[0])
        solve_cw(work.joint, options.strength, options.kind == EXACT_STDEV)
        step.alpha, step.beta = work.joint.alpha[0], work.joint.beta[0]
        step.spread = work.joint.own_spread
    else:
        step.spread = work.spreads[0]
        _solve(work, sign * work.scores[0], &step)
    if step.alpha <= 0.0:
        return False
    step.alpha *= sign * work.share
    step.beta *= work.share
    step.label = 0
    _move(mean, variance, drift, work, &step, 1, options.diagonal)
    return True


cdef void _read_spreads(const real* variance, Work work) noexcept nogil:
    """Fetch the variances of the scores of gold and its rivals."""
    cdef Py_ssize_t c, stride = work.options.stride, width = work.options.width
    cdef Ahead ahead
    if variance == NULL:
        work.spreads[0] = _squared_norm(work)
        for c in range(1, work.options.n_labels):
            work.spreads[c] = work.spreads[0]
    elif work.options.k == 1:
        c = work.rivals[0]
        work.spreads[c] = _spread_of(variance, stride, c, work.squares)
        c = work.gold
        work.spreads[c] = _spread_of(variance, stride, c, work.squares)
    else:
        ahead = work.options.next
        if stride == width:
            # They have not come with the means.
            ahead = rows_ahead(
                variance, stride, width, work.squares.index, work.squares.n)
        row_sums(variance, stride, width, ahead, work.squares, &work.spreads[0])


cdef bint _update_in_turn(
    real* mean, real* variance, real* drift, Work work
) noexcept nogil:
    """Update for one rival after the other, each from where the last one left."""
    cdef Py_ssize_t j, rival, gold = work.gold, k = work.options.k
    cdef Step* own = &work.moves[0]
    cdef bint moved = False
    own.label = gold
    _read_spreads(variance, work)
    for j in range(k):
        rival = work.rivals[j]
        own.spread = work.spreads[gold] + work.spreads[rival]
        _solve(work, work.scores[gold] - work.scores[rival], own)
        if own.alpha <= 0.0:
            continue
        own.alpha *= work.share
        own.beta *= work.share
        moved = True
        work.scores[gold] += own.alpha * work.spreads[gold]
        work.moves[1] = own[0]
        work.moves[1].alpha = -own.alpha
        work.moves[1].label = rival
        _move(mean, variance, drift, work, own, 2, work.options.diagonal)
        if j + 1 < k:
            work.spreads[gold] = _spread_of(
                variance, work.options.stride, gold, work.squares)
    return moved


cdef void _move_all(
    real* mean, real* variance, real* drift, Work work, double pull, double weight,
) noexcept nogil:
    """Move by all steps at once: `pull` times their alphas, `weight` times their betas.

    Gold takes part in every step, a rival in its own.
    """
    cdef Py_ssize_t j, n = 1
    cdef Step* own = &work.moves[0]
    cdef Step step
    own.alpha = own.beta = own.spread = 0.0
    own.label = work.gold
    for j in range(work.options.k):
        step = work.steps[j]
        own.alpha += pull * step.alpha
        own.beta += weight * step.beta
        if step.alpha > 0.0 or step.beta > 0.0:
            work.moves[n].alpha = -pull * step.alpha
            work.moves[n].beta = weight * step.beta
            work.moves[n].spread = 0.0
            work.moves[n].label = work.rivals[j]
            n += 1
    _move(mean, variance, drift, work, own, n, precision_diagonal)


cdef void _average(
    real* mean, real* variance, real* drift, Work work, Py_ssize_t label,
    Py_ssize_t first, Py_ssize_t stop, double pull,
) noexcept nogil:
    """Move a label by `pull` times the steps `first` to `stop`, those that concern it.

    The other steps leave it as it is; precisions are averaged over all, not variances.
    """
    cdef Py_ssize_t i, j, cell
    cdef RowOptions* options = &work.options
    cdef double sigma, x, precision, change, weight = 1.0 / options.k
    for i in range(work.row.n):
        cell = work.row.index[i] * options.stride + label
        sigma, x = variance[cell], work.row.value[i]
        precision = weight * (options.k - (stop - first)) / sigma
        change = 0.0
        for j in range(first, stop):
            change += work.steps[j].alpha
            precision += weight / options.diagonal(
                sigma, x, work.share * work.steps[j].beta, work.steps[j].spread)
        change *= pull * work.share * sigma * x
        mean[cell] = <real>(mean[cell] + change)
        if drift != NULL:
            drift[cell] = <real>(drift[cell] + work.rounds * change)
        variance[cell] = <real>(1.0 / precision)


cdef bint _update_at_once(
    real* mean, real* variance, real* drift, Work work
) noexcept nogil:
    """Update for every rival from the same start, then bring the results together.

    PARALLEL takes the mean of the k results. JOINT moves the means further, by
    2 / (k + 1) of every step: k rivals that are alike are then satisfied at once,
    since a step for one is also half a step for each of the others, through the gold
    label that they share.
    """
    cdef Py_ssize_t j, rival, gold = work.gold, k = work.options.k
    cdef bint moved = False
    cdef double pull = 2.0 / (k + 1) if work.options.kind == JOINT else 1.0 / k
    _read_spreads(variance, work)
    for j in range(k):
        rival = work.rivals[j]
        work.steps[j].spread = work.spreads[gold] + work.spreads[rival]
        _solve(work, work.scores[gold] - work.scores[rival], &work.steps[j])
        moved = moved or work.steps[j].alpha > 0.0
    if not moved:
        return False
    if work.options.diagonal == precision_diagonal:
        # Precisions grow by beta x^2: one move by the mean is the mean of the moves.
        _move_all(mean, variance, drift, work, pull * work.share,
                  1.0 / k * work.share)
        return True
    _average(mean, variance, drift, work, gold, 0, k, pull)
    for j in range(k):
        if work.steps[j].alpha > 0.0:
            _average(mean, variance, drift, work, work.rivals[j], j, j + 1, -pull)
    return True


cdef bint _update_exactly(
    real* mean, real* variance, real* drift, Work work
) noexcept nogil:
    """Make the smallest change that satisfies all rivals."""
    cdef Py_ssize_t j
    cdef RowOptions* options = &work.options
    cdef bint moved
    read_constraints(work.joint, variance, options.stride, work.squares, work.gold,
                     &work.scores[0], work.rivals, options.k)
    if options.kind == EXACT_AROW:
        moved = solve_arow(work.joint, options.strength)
    else:
        moved = solve_cw(work.joint, options.strength, options.kind == EXACT_STDEV)
    if not moved:
        return False
    for j in range(options.k):
        work.steps[j].alpha = work.joint.alpha[j]
        work.steps[j].beta = work.joint.beta[j]
    _move_all(mean, variance, drift, work, work.share, work.share)
    return True


cdef bint _update_shared_slack(
    real* mean, real* variance, real* drift, Work work
) noexcept nogil:
    """The k-constraint PA update: every rival asks for a margin of 1 less one slack.

    Differences of gold and rivals share gold's part: gram = |x|^2 (1 + identity).
    """
    cdef Py_ssize_t i, j, k = work.options.k
    cdef double norm = _squared_norm(work)
    cdef bint violated = False
    for i in range(k):
        work.loss[i] = 1.0 - work.scores[work.gold] + work.scores[work.rivals[i]]
        violated = violated or work.loss[i] > 0.0
        for j in range(k):
            work.gram[i, j] = norm * (2.0 if i == j else 1.0)
    if not violated or norm <= 0.0:
        return False
    hildreth(work.gram, work.loss, k, work.options.strength, work.alpha)
    for j in range(k):
        work.steps[j].alpha, work.steps[j].beta = work.alpha[j], 0.0
    _move_all(mean, variance, drift, work, work.share, 0.0)
    return True


cdef bint update_row(
    real* mean, real* variance, real* drift, Work work
) noexcept nogil:
    """Update the belief for one row, as the options say; return whether it moved."""
    if work.options.width == 1:
        return _update_two_classes(mean, variance, drift, work)
    if work.options.kind in (PARALLEL, JOINT):
        return _update_at_once(mean, variance, drift, work)
    if work.options.kind == SHARED_SLACK:
        return _update_shared_slack(mean, variance, drift, work)
    if work.options.kind == SEQUENTIAL:
        return _update_in_turn(mean, variance, drift, work)
    return _update_exactly(mean, variance, drift, work)
