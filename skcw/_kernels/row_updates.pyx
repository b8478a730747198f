"""Updates by one row: Sec. 5 of Crammer, Dredze & Kulesza (2009).

A row is compared with its gold label's best rivals.

A table of weights has a row per feature, then one for the intercept, and `width`
columns: a padded number of labels, or 1 for two classes, whose one weight vector stands
for the difference between them.
"""

import numpy as np

from skcw._kernels.common cimport Row, real
from skcw._kernels.row_exact_updates cimport (
    Constraints, read_constraints, read_one_vector, solve_arow, solve_cw)
from skcw._kernels.steps cimport hildreth, precision_diagonal

cdef extern from "row_loops.h" nogil:
    void skcw_row_sums_f(
        double*, const float*, Py_ssize_t, const int*, const double*, Py_ssize_t)
    void skcw_row_sums_d(
        double*, const double*, Py_ssize_t, const int*, const double*, Py_ssize_t)
    void skcw_prefetch_rows_f(const float*, Py_ssize_t, const int*, Py_ssize_t)
    void skcw_prefetch_rows_d(const double*, Py_ssize_t, const int*, Py_ssize_t)


cdef void row_sums(
    const real* table, Py_ssize_t width, Row row, double* out
) noexcept nogil:
    """out[c] = sum of value * table[index, c] over the entries of the row."""
    if real is float:
        skcw_row_sums_f(out, table, width, row.index, row.value, row.n)
    else:
        skcw_row_sums_d(out, table, width, row.index, row.value, row.n)


cdef void prefetch_rows(
    const real* table, Py_ssize_t width, const int* index, Py_ssize_t n
) noexcept nogil:
    """Ask the memory for table rows that will be read soon."""
    if real is float:
        skcw_prefetch_rows_f(table, width, index, n)
    else:
        skcw_prefetch_rows_d(table, width, index, n)


cdef double spread_of(
    const real* variance, Py_ssize_t width, Py_ssize_t label, Row squares
) noexcept nogil:
    """Return the variance of one label's score; without variances all are one."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    if variance == NULL:
        for k in range(squares.n):
            total += squares.value[k]
        return total
    for k in range(squares.n):
        total += squares.value[k] * variance[squares.index[k] * width + label]
    return total


cdef void move(
    real* mean, real* variance, real* drift, double rounds_before, Py_ssize_t width,
    Py_ssize_t label, Row row, Step step, Diagonal diagonal,
) noexcept nogil:
    """mean += alpha sigma x for one label, then narrow its variances."""
    cdef Py_ssize_t k, cell
    cdef double sigma, change
    for k in range(row.n):
        cell = row.index[k] * width + label
        sigma = 1.0 if variance == NULL else variance[cell]
        change = step.alpha * sigma * row.value[k]
        mean[cell] = <real>(mean[cell] + change)
        if drift != NULL:
            drift[cell] = <real>(drift[cell] + rounds_before * change)
        if variance != NULL:
            variance[cell] = <real>diagonal(
                sigma, row.value[k], step.beta, step.spread)


cdef class Work:
    """What is computed anew for every row."""

    def __cinit__(self, Py_ssize_t width, Py_ssize_t k, Py_ssize_t longest):
        self.scores = np.empty(width)
        self.spreads = np.empty(width)
        self.rivals = np.empty(k, dtype=np.int32)
        self.alpha = np.empty(k)
        self.loss = np.empty(k)
        self.gram = np.empty((k, k))
        self.steps = np.empty(
            k, dtype=[("alpha", "f8"), ("beta", "f8"), ("spread", "f8")])
        self.joint = Constraints(k, longest)


cdef void rank_rivals(Work work, Py_ssize_t gold, const Course* course) noexcept nogil:
    """Put the k best labels but gold into `rivals`, best first; ties to the first."""
    cdef Py_ssize_t c, at, n = 0
    for c in range(course.n_labels):
        if c == gold:
            continue
        if n == course.k:
            if work.scores[c] <= work.scores[work.rivals[n - 1]]:
                continue
            n -= 1
        at = n
        while at > 0 and work.scores[c] > work.scores[work.rivals[at - 1]]:
            work.rivals[at] = work.rivals[at - 1]
            at -= 1
        work.rivals[at] = <int>c
        n += 1


cdef double _fresh_spread(const Course* course, Row squares) noexcept nogil:
    """Return the spread that the margin of a row has under the prior."""
    cdef double norm = 0.0
    cdef Py_ssize_t k
    for k in range(squares.n):
        norm += squares.value[k]
    # The difference of two labels has the row twice.
    return norm * course.prior * (2.0 if course.width > 1 else 1.0)


cdef void _solve(
    const Course* course, Row squares, double margin, Step* step
) noexcept nogil:
    """Fill in the step for one rival, cut at the course's budget if it has one."""
    course.rule(course.strength, margin, step)
    if course.soften != NULL and step.alpha > 0.0:
        course.soften(
            course.strength, course.budget, _fresh_spread(course, squares), step)


cdef bint _teach_two_classes(
    real* mean, real* variance, real* drift, double rounds, const Course* course,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update the one weight vector of two classes, whose sign tells them apart."""
    cdef double sign = 1.0 if gold == 1 else -1.0
    cdef Step step
    if course.manner in (EXACT_STDEV, EXACT_VARIANCE):
        read_one_vector(work.joint, variance, squares, sign * work.scores[0])
        solve_cw(work.joint, course.strength, course.manner == EXACT_STDEV)
        step.alpha, step.beta = work.joint.alpha[0], work.joint.beta[0]
        step.spread = work.joint.own_spread
    else:
        step.spread = spread_of(variance, 1, 0, squares)
        _solve(course, squares, sign * work.scores[0], &step)
    if step.alpha <= 0.0:
        return False
    step.alpha *= sign * share
    step.beta *= share
    move(mean, variance, drift, rounds, 1, 0, row, step, course.diagonal)
    return True


cdef void _read_spreads(
    const real* variance, const Course* course, Row squares, Work work,
    Py_ssize_t gold,
) noexcept nogil:
    """Fetch the variances of the scores of gold and its rivals."""
    cdef Py_ssize_t c
    if variance == NULL:
        work.spreads[0] = spread_of(variance, course.width, 0, squares)
        for c in range(1, course.n_labels):
            work.spreads[c] = work.spreads[0]
    elif course.k == 1:
        c = work.rivals[0]
        work.spreads[gold] = spread_of(variance, course.width, gold, squares)
        work.spreads[c] = spread_of(variance, course.width, c, squares)
    else:
        row_sums(variance, course.width, squares, &work.spreads[0])


cdef bint _teach_in_turn(
    real* mean, real* variance, real* drift, double rounds, const Course* course,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update for one rival after the other, each from where the last one left."""
    cdef Py_ssize_t j, rival
    cdef Step step
    cdef bint moved = False
    _read_spreads(variance, course, squares, work, gold)
    for j in range(course.k):
        rival = work.rivals[j]
        step.spread = work.spreads[gold] + work.spreads[rival]
        _solve(course, squares, work.scores[gold] - work.scores[rival], &step)
        if step.alpha <= 0.0:
            continue
        step.alpha *= share
        step.beta *= share
        moved = True
        move(mean, variance, drift, rounds, course.width, gold, row, step,
             course.diagonal)
        work.scores[gold] += step.alpha * work.spreads[gold]
        step.alpha = -step.alpha
        move(mean, variance, drift, rounds, course.width, rival, row, step,
             course.diagonal)
        if j + 1 < course.k:
            work.spreads[gold] = spread_of(variance, course.width, gold, squares)
    return moved


cdef void _average_precision(
    real* mean, real* variance, real* drift, double rounds, const Course* course,
    Row row, Work work, Py_ssize_t label, Py_ssize_t first, Py_ssize_t stop,
    double sign, double share,
) noexcept nogil:
    """Move a label by the mean of k steps, of which `first` to `stop` concern it.

    The other steps leave it as it is; precisions are averaged, not variances.
    """
    cdef Py_ssize_t i, j, cell
    cdef double sigma, precision, change, weight = 1.0 / course.k
    for i in range(row.n):
        cell = row.index[i] * course.width + label
        sigma = variance[cell]
        precision = weight * (course.k - (stop - first)) / sigma
        change = 0.0
        for j in range(first, stop):
            change += work.steps[j].alpha
            precision += weight / course.diagonal(
                sigma, row.value[i], share * work.steps[j].beta, work.steps[j].spread)
        change *= sign * share * weight * sigma * row.value[i]
        mean[cell] = <real>(mean[cell] + change)
        if drift != NULL:
            drift[cell] = <real>(drift[cell] + rounds * change)
        variance[cell] = <real>(1.0 / precision)


cdef bint _teach_at_once(
    real* mean, real* variance, real* drift, double rounds, const Course* course,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update for every rival from the same start, then average the results."""
    cdef Py_ssize_t j, rival
    cdef Step step
    cdef bint moved = False
    _read_spreads(variance, course, squares, work, gold)
    for j in range(course.k):
        rival = work.rivals[j]
        step.spread = work.spreads[gold] + work.spreads[rival]
        _solve(course, squares, work.scores[gold] - work.scores[rival], &step)
        work.steps[j] = step
        moved = moved or step.alpha > 0.0
    if not moved:
        return False
    _average_precision(mean, variance, drift, rounds, course, row, work, gold, 0,
                       course.k, 1.0, share)
    for j in range(course.k):
        if work.steps[j].alpha > 0.0:
            _average_precision(mean, variance, drift, rounds, course, row, work,
                               work.rivals[j], j, j + 1, -1.0, share)
    return True


cdef bint _teach_exactly(
    real* mean, real* variance, real* drift, double rounds, const Course* course,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Make the smallest change that satisfies all rivals; see `row_exact_updates`."""
    cdef Py_ssize_t j
    cdef Step own, step
    cdef bint moved
    read_constraints(work.joint, variance, course.width, squares, gold,
                     &work.scores[0], work.rivals, course.k)
    if course.manner == EXACT_AROW:
        moved = solve_arow(work.joint, course.strength)
    else:
        moved = solve_cw(work.joint, course.strength, course.manner == EXACT_STDEV)
    if not moved:
        return False
    own.alpha = own.beta = own.spread = step.spread = 0.0
    for j in range(course.k):
        step.alpha = -share * work.joint.alpha[j]
        step.beta = share * work.joint.beta[j]
        own.alpha -= step.alpha
        own.beta += step.beta
        if step.beta > 0.0:
            move(mean, variance, drift, rounds, course.width, work.rivals[j], row,
                 step, precision_diagonal)
    move(mean, variance, drift, rounds, course.width, gold, row, own,
         precision_diagonal)
    return True


cdef bint _teach_shared_slack(
    real* mean, real* drift, double rounds, const Course* course, Row row,
    Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """The k-constraint PA update: every rival asks for a margin of 1 less one slack.

    Differences of gold and rivals share gold's part: gram = |x|^2 (1 + identity).
    """
    cdef Py_ssize_t i, j
    cdef real* no_variance = NULL
    cdef double norm = spread_of(no_variance, course.width, 0, squares)
    cdef Step own, step
    cdef bint violated = False
    for i in range(course.k):
        work.loss[i] = 1.0 - work.scores[gold] + work.scores[work.rivals[i]]
        violated = violated or work.loss[i] > 0.0
        for j in range(course.k):
            work.gram[i, j] = norm * (2.0 if i == j else 1.0)
    if not violated or norm <= 0.0:
        return False
    hildreth(work.gram, work.loss, course.k, course.strength, work.alpha)
    own.alpha = own.beta = own.spread = step.beta = step.spread = 0.0
    for j in range(course.k):
        step.alpha = -share * work.alpha[j]
        own.alpha -= step.alpha
        if step.alpha < 0.0:
            move(mean, no_variance, drift, rounds, course.width, work.rivals[j], row,
                 step, course.diagonal)
    move(mean, no_variance, drift, rounds, course.width, gold, row, own,
         course.diagonal)
    return True


cdef bint teach(
    real* mean, real* variance, real* drift, double rounds, const Course* course,
    Row row, Row squares, Work work, Py_ssize_t gold, double share,
) noexcept nogil:
    """Update the belief for one row in the course's manner; tell whether it moved.

    `share` scales the step: 1, or the fraction of a copy that a weight leaves over.
    """
    if course.width == 1:
        return _teach_two_classes(mean, variance, drift, rounds, course, row, squares,
                                  work, gold, share)
    if course.manner == PARALLEL:
        return _teach_at_once(mean, variance, drift, rounds, course, row, squares,
                              work, gold, share)
    if course.manner == SHARED_SLACK:
        return _teach_shared_slack(
            mean, drift, rounds, course, row, squares, work, gold, share)
    if course.manner == SEQUENTIAL:
        return _teach_in_turn(mean, variance, drift, rounds, course, row, squares,
                              work, gold, share)
    return _teach_exactly(mean, variance, drift, rounds, course, row, squares, work,
                          gold, share)
