"""Sums over the moves of shards, and over models: the inner loops of their merge."""

from libc.math cimport sqrt
from libc.string cimport memset

from skcw._kernels.common cimport real

ctypedef fused number:
    int
    long long

# The columns of the sums of a weight, in this order.
cdef enum:
    WEIGHT, STEP, LATE, GAIN, N_MOVES, N_SUMS


cdef double _precision(double variance) noexcept nogil:
    return 1.0 / variance


def mark_moved(
    const real[::1] old_mean, const real[::1] old_variance, const long long[::1] origin,
    Py_ssize_t width, const real[::1] mean, const real[::1] variance,
    const real[::1] drift, unsigned char[::1] moved,
):
    """Set ``moved`` to one for every cell that has changed; return how many.

    Row r of the new tables was row ``origin[r]`` of the old ones, ``width`` cells long.
    The drift was zero. Variances and drift may be None.
    """
    cdef Py_ssize_t r, c, at, old, n_moved = 0
    cdef bint other
    with nogil:
        for r in range(origin.shape[0]):
            old = origin[r] * width
            for c in range(width):
                at = r * width + c
                other = mean[at] != old_mean[old + c]
                if variance is not None:
                    other |= variance[at] != old_variance[old + c]
                if drift is not None:
                    other |= drift[at] != 0.0
                moved[at] = other
                n_moved += other
    return n_moved


def take_moved(
    const unsigned char[::1] moved, const long long[::1] numbers,
    const long long[::1] order, Py_ssize_t width, const real[::1] mean,
    const real[::1] variance, const real[::1] drift, number[::1] cells,
    real[::1] new_mean, real[::1] new_variance, real[::1] new_drift,
):
    """Fill the last four arrays with the cells that have moved, row by row.

    Row r of the tables is reported as row ``numbers[r]``, in the given order of rows.
    """
    cdef Py_ssize_t k, r, c, at, n = 0
    with nogil:
        for k in range(order.shape[0]):
            r = order[k]
            for c in range(width):
                at = r * width + c
                if moved[at]:
                    cells[n] = <number>(numbers[r] * width + c)
                    new_mean[n] = mean[at]
                    if variance is not None:
                        new_variance[n] = variance[at]
                    if drift is not None:
                        new_drift[n] = drift[at]
                    n += 1


def add_moves(
    int[::1] place, long long[::1] met, double[:, ::1] sums, Py_ssize_t n_met,
    const number[::1] cells, Py_ssize_t first_new, const int[::1] new_rows,
    Py_ssize_t width, const real[::1] mean, const real[::1] variance,
    const real[::1] new_mean, const real[::1] new_variance, const real[::1] new_drift,
    double rounds, double least,
):
    """Add the moves of a shard to the sums of the cells; return how many are met.

    Rows are ``width`` cells long. Row ``first_new + r`` is that of feature r of the
    shard, which had none when the shard began; it is now row ``new_rows[r]`` of the
    common tables. The first ``n_met`` cells of these that anybody has moved are in
    ``met``, their sums in ``sums``; ``place`` tells for each cell of the common tables
    which one it is there, from 1 on, or 0. A cell has as sums: weight, weighted move,
    weighted drift of one round, gain in precision and number of moves.
    The weight is the gain, and at least ``least`` times the precision there was. All
    weights are 1 without variances; ``new_drift`` may be None.
    """
    cdef Py_ssize_t i, at, cell
    cdef double weight, gain, before
    cdef double* sum
    with nogil:
        for i in range(cells.shape[0]):
            cell = cells[i]
            if cell >= first_new * width:
                at = cell - first_new * width
                cell = <Py_ssize_t>new_rows[at // width] * width + at % width
            if place[cell] == 0:
                met[n_met] = cell
                memset(&sums[n_met, 0], 0, N_SUMS * sizeof(double))
                n_met += 1
                place[cell] = <int>n_met
            sum = &sums[place[cell] - 1, 0]
            weight = gain = 1.0
            if variance is not None:
                before = _precision(variance[cell])
                gain = max(0.0, _precision(new_variance[i]) - before)
                # Where a variance is as small as it may be, a move still counts.
                weight = gain + least * before
            sum[WEIGHT] += weight
            sum[STEP] += weight * (<double>new_mean[i] - mean[cell])
            if new_drift is not None and rounds > 0.0:
                sum[LATE] += weight * new_drift[i] / rounds
            sum[GAIN] += gain
            sum[N_MOVES] += 1.0
    return n_met


def move_cells(
    int[::1] place, const long long[::1] met, const double[:, ::1] sums,
    real[::1] mean, real[::1] variance, real[::1] drift, double rounds,
    double new_rounds,
):
    """Move the cells that shards have moved, in place, and forget their places.

    ``drift`` (or None) is about ``rounds`` rounds; those of the pass count as
    ``new_rounds`` more.
    """
    cdef Py_ssize_t i, cell
    cdef double step, weight
    cdef const double* sum
    with nogil:
        for i in range(met.shape[0]):
            cell, sum = met[i], &sums[i, 0]
            place[cell] = 0
            weight = sum[WEIGHT]
            step = sum[STEP] / weight
            if drift is not None:
                drift[cell] = <real>(drift[cell] + (
                    rounds * step + new_rounds * (sum[LATE] / weight)))
            mean[cell] = <real>(mean[cell] + step)
            if variance is not None:
                # The mean gain, times the root of their number.
                variance[cell] = <real>(1.0 / (
                    _precision(variance[cell]) + sum[GAIN] / sqrt(sum[N_MOVES])))


def add_rows(
    double[::1] total, const real[::1] table, const long long[::1] here,
    const long long[::1] there, Py_ssize_t width, bint inverse,
):
    """Add row ``there[r]`` of a flat table, or its inverses, to row ``here[r]``."""
    cdef Py_ssize_t r, c, to, at
    cdef double x
    with nogil:
        for r in range(here.shape[0]):
            to, at = here[r] * width, there[r] * width
            for c in range(width):
                x = table[at + c]
                total[to + c] += 1.0 / x if inverse else x
