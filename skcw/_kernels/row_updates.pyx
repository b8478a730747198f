"""Updates by one row: Sec. 5 of Crammer, Dredze & Kulesza (2009).

A row is compared with its gold label's best rivals.

A table of weights has a row per feature, then one for the intercept, and `width`
columns: a padded number of labels, or 1 for two classes, whose one weight vector stands
for the difference between them. Rows are `stride` numbers apart: the tables of means,
variances and drifts may lie side by side.
"""

import numpy as np

from skcw._kernels.common cimport Row, real
from skcw._kernels.row_exact_updates cimport (
    Constraints, read_constraints, read_one_vector, solve_arow, solve_cw)
from skcw._kernels.steps cimport LEAST_VARIANCE, hildreth, precision_diagonal


cdef extern from "row_loops.h" nogil:
    const Py_ssize_t ROWS_AHEAD "SKCW_ROWS_AHEAD"
    void skcw_row_sums_f(
        double*, const float*, Py_ssize_t, Py_ssize_t, const Ahead*, const int*,
        const double*, Py_ssize_t)
    void skcw_row_sums_d(
        double*, const double*, Py_ssize_t, Py_ssize_t, const Ahead*, const int*,
        const double*, Py_ssize_t)
    void skcw_prefetch_rows_f(
        const float*, Py_ssize_t, Py_ssize_t, const int*, Py_ssize_t)
    void skcw_prefetch_rows_d(
        const double*, Py_ssize_t, Py_ssize_t, const int*, Py_ssize_t)
    void skcw_move_row_f(
        float*, float*, float*, double, double, Py_ssize_t, const int*, const double*,
        Py_ssize_t, const Step*, Py_ssize_t)
    void skcw_move_row_d(
        double*, double*, double*, double, double, Py_ssize_t, const int*,
        const double*, Py_ssize_t, const Step*, Py_ssize_t)


cdef void row_sums(
    const real* table, Py_ssize_t stride, Py_ssize_t width, Ahead ahead, Row row,
    double* out
) noexcept nogil:
    """out[c] = sum of value * table[index, c] over the entries of the row.

    On the way the rows `ahead` are prefetched.
    """
    if real is float:
        skcw_row_sums_f(out, table, stride, width, &ahead, row.index, row.value, row.n)
    else:
        skcw_row_sums_d(out, table, stride, width, &ahead, row.index, row.value, row.n)


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


cdef void prefetch_rows(
    const real* table, Py_ssize_t stride, Py_ssize_t reach, const int* index,
    Py_ssize_t n
) noexcept nogil:
    """Prefetch the first few of n table rows that will be read soon."""
    if real is float:
        skcw_prefetch_rows_f(table, stride, reach, index, n)
    else:
        skcw_prefetch_rows_d(table, stride, reach, index, n)


cdef void _move(
    real* mean, real* variance, real* drift, double rounds_before, Py_ssize_t stride,
    Row row, const Step* steps, Py_ssize_t n_steps, Diagonal diagonal,
) noexcept nogil:
    """mean += alpha sigma x for the label of each step, then narrow its variances."""
    cdef Py_ssize_t s
    # The usual diagonal is worth a test: calls would take longer than the rest.
    if variance != NULL and diagonal != precision_diagonal:
        for s in range(n_steps):
            _move_label(mean, variance, drift, rounds_before, stride, row, steps[s],
                        diagonal)
    elif real is float:
        skcw_move_row_f(mean, variance, drift, rounds_before, LEAST_VARIANCE, stride,
                        row.index, row.value, row.n, steps, n_steps)
    else:
        skcw_move_row_d(mean, variance, drift, rounds_before, LEAST_VARIANCE, stride,
                        row.index, row.value, row.n, steps, n_steps)


cdef void _move_label(
    real* mean, real* variance, real* drift, double rounds_before, Py_ssize_t stride,
    Row row, Step step, Diagonal diagonal,
) noexcept nogil:
    """The same for one label, with any diagonal."""
    cdef Py_ssize_t k, cell
    cdef double sigma, change
    for k in range(row.n):
        cell = row.index[k] * stride + step.label
        sigma = variance[cell]
        change = step.alpha * sigma * row.value[k]
        mean[cell] = <real>(mean[cell] + change)
        if drift != NULL:
            drift[cell] = <real>(drift[cell] + rounds_before * change)
        variance[cell] = <real>diagonal(sigma, row.value[k], step.beta, step.spread)

cdef double spread_of(
    const real* variance, Py_ssize_t stride, Py_ssize_t label, Row squares
) noexcept nogil:
    """Return the variance of one label's score; without variances all are one."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    if variance == NULL:
        for k in range(squares.n):
            total += squares.value[k]
        return total
    for k in range(squares.n):
        total += squares.value[k] * variance[squares.index[k] * stride + label]
    return total


cdef class Work:
    """Buffers for the row at hand."""

    def __cinit__(self, Py_ssize_t width, Py_ssize_t k, Py_ssize_t longest):
        self.scores = np.empty(width)
        self.spreads = np.empty(width)
        self.rivals = np.empty(k, dtype=np.int32)
        self.alpha = np.empty(k)
        self.loss = np.empty(k)
        self.gram = np.empty((k, k))
        step = [("alpha", "f8"), ("beta", "f8"), ("spread", "f8"), ("label", "i8")]
        self.steps = np.empty(k, dtype=step)
        # Those of the labels that move: the rivals' and gold's.
        self.moves = np.empty(k + 1, dtype=step)
        self.joint = Constraints(k, longest)


cdef void rank_rivals(
    Work work, Py_ssize_t gold, const RowOptions* options
) noexcept nogil:
    """Put the k best labels but gold into `rivals`, best first; ties to the first."""
    cdef Py_ssize_t c, at, n = 0
    for c in range(options.n_labels):
        if c == gold:
            continue
        if n == options.k:
            if work.scores[c] <= work.scores[work.rivals[n - 1]]:
                continue
            n -= 1
        at = n
        while at > 0 and work.scores[c] > work.scores[work.rivals[at - 1]]:
            work.rivals[at] = work.rivals[at - 1]
            at -= 1
        work.rivals[at] = <int>c
        n += 1


cdef double _prior_spread(const RowOptions* options, Row squares) noexcept nogil:
    """Return the spread that the margin of a row has under the prior."""
    cdef double norm = 0.0
    cdef Py_ssize_t k
    for k in range(squares.n):
        norm += squares.value[k]
    # The difference of two labels has the row twice.
    return norm * options.prior * (2.0 if options.width > 1 else 1.0)


cdef void _solve(
    const RowOptions* options, Row squares, double margin, Step* step
) noexcept nogil:
    """Fill in the step for one rival, cut at the budget if it has one."""
    options.rule(options.strength, margin, step)
    if options.soften != NULL and step.alpha > 0.0:
        options.soften(
            options.strength, options.budget, _prior_spread(options, squares), step)


cdef bint _update_two_classes(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update the one weight vector of two classes; its sign is the class."""
    cdef double sign = 1.0 if gold == 1 else -1.0
    cdef Step step
    if options.kind in (EXACT_STDEV, EXACT_VARIANCE):
        read_one_vector(
            work.joint, variance, options.stride, squares, sign * work.scores[0])
        solve_cw(work.joint, options.strength, options.kind == EXACT_STDEV)
        step.alpha, step.beta = work.joint.alpha[0], work.joint.beta[0]
        step.spread = work.joint.own_spread
    else:
        step.spread = spread_of(variance, options.stride, 0, squares)
        _solve(options, squares, sign * work.scores[0], &step)
    if step.alpha <= 0.0:
        return False
    step.alpha *= sign * share
    step.beta *= share
    step.label = 0
    _move(mean, variance, drift, rounds, options.stride, row, &step, 1,
          options.diagonal)
    return True


cdef void _read_spreads(
    const real* variance, const RowOptions* options, Row squares, Work work,
    Py_ssize_t gold,
) noexcept nogil:
    """Fetch the variances of the scores of gold and its rivals."""
    cdef Py_ssize_t c
    cdef Ahead ahead
    if variance == NULL:
        work.spreads[0] = spread_of(variance, options.stride, 0, squares)
        for c in range(1, options.n_labels):
            work.spreads[c] = work.spreads[0]
    elif options.k == 1:
        c = work.rivals[0]
        work.spreads[gold] = spread_of(variance, options.stride, gold, squares)
        work.spreads[c] = spread_of(variance, options.stride, c, squares)
    else:
        ahead = options.next
        if options.stride == options.width:
            # They have not come with the means.
            ahead = rows_ahead(variance, options.stride, options.width, squares.index,
                               squares.n)
        row_sums(variance, options.stride, options.width, ahead, squares,
                 &work.spreads[0])


cdef bint _update_in_turn(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update for one rival after the other, each from where the last one left."""
    cdef Py_ssize_t j, rival
    cdef Step* own = &work.moves[0]
    cdef bint moved = False
    own.label = gold
    _read_spreads(variance, options, squares, work, gold)
    for j in range(options.k):
        rival = work.rivals[j]
        own.spread = work.spreads[gold] + work.spreads[rival]
        _solve(options, squares, work.scores[gold] - work.scores[rival], own)
        if own.alpha <= 0.0:
            continue
        own.alpha *= share
        own.beta *= share
        moved = True
        work.scores[gold] += own.alpha * work.spreads[gold]
        work.moves[1] = own[0]
        work.moves[1].alpha = -own.alpha
        work.moves[1].label = rival
        _move(mean, variance, drift, rounds, options.stride, row, own, 2,
              options.diagonal)
        if j + 1 < options.k:
            work.spreads[gold] = spread_of(variance, options.stride, gold, squares)
    return moved


cdef Py_ssize_t _mean_moves(
    const RowOptions* options, Work work, Py_ssize_t gold, double pull, double share,
) noexcept nogil:
    """Write the means of the steps to `moves`; return how many labels move.

    Precisions grow by beta x^2, so one move by the mean is the mean of the moves.
    """
    cdef Py_ssize_t j, n = 1
    cdef double weight = 1.0 / options.k
    cdef Step* own = &work.moves[0]
    own.alpha = own.beta = own.spread = 0.0
    own.label = gold
    for j in range(options.k):
        own.alpha += pull * share * work.steps[j].alpha
        own.beta += weight * share * work.steps[j].beta
        if work.steps[j].alpha > 0.0:
            work.moves[n].alpha = -pull * share * work.steps[j].alpha
            work.moves[n].beta = weight * share * work.steps[j].beta
            work.moves[n].spread = 0.0
            work.moves[n].label = work.rivals[j]
            n += 1
    return n


cdef void _average(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Work work, Py_ssize_t label, Py_ssize_t first, Py_ssize_t stop,
    double pull, double share,
) noexcept nogil:
    """Move a label by `pull` times the steps `first` to `stop`, those that concern it.

    The other steps leave it as it is; precisions are averaged over all, not variances.
    """
    cdef Py_ssize_t i, j, cell
    cdef double sigma, precision, change, weight = 1.0 / options.k
    for i in range(row.n):
        cell = row.index[i] * options.stride + label
        sigma = variance[cell]
        precision = weight * (options.k - (stop - first)) / sigma
        change = 0.0
        for j in range(first, stop):
            change += work.steps[j].alpha
            precision += weight / options.diagonal(
                sigma, row.value[i], share * work.steps[j].beta, work.steps[j].spread)
        change *= pull * share * sigma * row.value[i]
        mean[cell] = <real>(mean[cell] + change)
        if drift != NULL:
            drift[cell] = <real>(drift[cell] + rounds * change)
        variance[cell] = <real>(1.0 / precision)


cdef bint _update_at_once(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update for every rival from the same start, then bring the results together.

    PARALLEL takes the mean of the k results. JOINT moves the means further, by
    2 / (k + 1) of every step: k rivals that are alike are then satisfied at once,
    since a step for one is also half a step for each of the others, through the gold
    label that they share.
    """
    cdef Py_ssize_t j, rival
    cdef Step step
    cdef bint moved = False
    cdef double pull = (
        2.0 / (options.k + 1) if options.kind == JOINT else 1.0 / options.k)
    _read_spreads(variance, options, squares, work, gold)
    for j in range(options.k):
        rival = work.rivals[j]
        step.spread = work.spreads[gold] + work.spreads[rival]
        _solve(options, squares, work.scores[gold] - work.scores[rival], &step)
        work.steps[j] = step
        moved = moved or step.alpha > 0.0
    if not moved:
        return False
    if options.diagonal == precision_diagonal:
        _move(mean, variance, drift, rounds, options.stride, row, &work.moves[0],
              _mean_moves(options, work, gold, pull, share), options.diagonal)
        return True
    _average(mean, variance, drift, rounds, options, row, work, gold, 0, options.k,
             pull, share)
    for j in range(options.k):
        if work.steps[j].alpha > 0.0:
            _average(mean, variance, drift, rounds, options, row, work, work.rivals[j],
                     j, j + 1, -pull, share)
    return True


cdef bint _update_exactly(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Make the smallest change that satisfies all rivals; see `row_exact_updates`."""
    cdef Py_ssize_t j, n = 1
    cdef Step* own = &work.moves[0]
    cdef bint moved
    read_constraints(work.joint, variance, options.stride, squares, gold,
                     &work.scores[0], work.rivals, options.k)
    if options.kind == EXACT_AROW:
        moved = solve_arow(work.joint, options.strength)
    else:
        moved = solve_cw(work.joint, options.strength, options.kind == EXACT_STDEV)
    if not moved:
        return False
    own.alpha = own.beta = own.spread = 0.0
    own.label = gold
    for j in range(options.k):
        work.moves[n].alpha = -share * work.joint.alpha[j]
        work.moves[n].beta = share * work.joint.beta[j]
        work.moves[n].label = work.rivals[j]
        own.alpha -= work.moves[n].alpha
        own.beta += work.moves[n].beta
        n += work.moves[n].beta > 0.0
    _move(mean, variance, drift, rounds, options.stride, row, own, n,
          precision_diagonal)
    return True


cdef bint _update_shared_slack(
    real* mean, real* drift, double rounds, const RowOptions* options, Row row,
    Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """The k-constraint PA update: every rival asks for a margin of 1 less one slack.

    Differences of gold and rivals share gold's part: gram = |x|^2 (1 + identity).
    """
    cdef Py_ssize_t i, j, n = 1
    cdef real* no_variance = NULL
    cdef double norm = spread_of(no_variance, options.stride, 0, squares)
    cdef Step* own = &work.moves[0]
    cdef bint violated = False
    for i in range(options.k):
        work.loss[i] = 1.0 - work.scores[gold] + work.scores[work.rivals[i]]
        violated = violated or work.loss[i] > 0.0
        for j in range(options.k):
            work.gram[i, j] = norm * (2.0 if i == j else 1.0)
    if not violated or norm <= 0.0:
        return False
    hildreth(work.gram, work.loss, options.k, options.strength, work.alpha)
    own.alpha = 0.0
    own.label = gold
    for j in range(options.k):
        work.moves[n].alpha = -share * work.alpha[j]
        work.moves[n].label = work.rivals[j]
        own.alpha -= work.moves[n].alpha
        n += work.moves[n].alpha < 0.0
    _move(mean, no_variance, drift, rounds, options.stride, row, own, n,
          options.diagonal)
    return True


cdef bint update_row(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update the belief for one row, as the options say; return whether it moved.

    `share` scales the step: 1, or the fraction of a copy that a weight leaves over.
    """
    if options.width == 1:
        return _update_two_classes(mean, variance, drift, rounds, options, row, squares,
                                   work, gold, share)
    if options.kind in (PARALLEL, JOINT):
        return _update_at_once(mean, variance, drift, rounds, options, row, squares,
                               work, gold, share)
    if options.kind == SHARED_SLACK:
        return _update_shared_slack(
            mean, drift, rounds, options, row, squares, work, gold, share)
    if options.kind == SEQUENTIAL:
        return _update_in_turn(mean, variance, drift, rounds, options, row, squares,
                               work, gold, share)
    return _update_exactly(mean, variance, drift, rounds, options, row, squares, work,
                           gold, share)
