"""Sums over what shards have moved: the inner loop of their merge."""

from libc.math cimport sqrt

from skcw._kernels.common cimport real

ctypedef fused number:
    int
    long long

# The columns of the sums of a weight, in this order.
cdef enum:
    WEIGHT, STEP, LATE, GAIN, N_MOVES


cdef double _precision(double variance) noexcept nogil:
    return 1.0 / variance


def mark_moved(
    const real[::1] old_mean, const real[::1] old_variance, const long long[::1] origin,
    Py_ssize_t width, const real[::1] mean, const real[::1] variance,
    const real[::1] drift, unsigned char[::1] moved,
):
    """Set ``moved`` to one for every cell that is not what it was, else to zero.

    Row r of the new tables was row ``origin[r]`` of the old ones, ``width`` cells long.
    The drift was zero. Variances and drift may be None.
    """
    cdef Py_ssize_t r, c, at, old
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


def mark_rows(
    const number[::1] cells, Py_ssize_t width, unsigned char[::1] moved
):
    """Set ``moved`` for every row of ``width`` cells that has one of the cells."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(cells.shape[0]):
            moved[cells[i] // width] = 1


def add_moves(
    int[::1] place, long long[::1] met, double[:, ::1] sums, Py_ssize_t n_met,
    const number[::1] cells, const long long[::1] row_of, Py_ssize_t width,
    const real[::1] mean, const real[::1] variance, const real[::1] new_mean,
    const real[::1] new_variance, const real[::1] new_drift, double rounds,
    double least,
):
    """Add what a shard has moved to the sums of the cells; return how many are met.

    Row r of the shard's tables, which are ``width`` cells long, is row ``row_of[r]`` of
    the common ones. The first ``n_met`` cells of the common tables that anybody has
    moved are in ``met``, their sums in ``sums``; ``place`` tells for each cell of the
    common tables which one it is there, from 1 on, or 0. A cell has as sums: weight,
    weighted move, weighted drift of one round, gain in precision and number of moves.
    The weight is the gain, and at least ``least`` times the precision there was. All
    weights are 1 without variances; ``new_drift`` may be None.
    """
    cdef Py_ssize_t i, at, cell
    cdef double weight, gain, before
    cdef double* sum
    with nogil:
        for i in range(cells.shape[0]):
            at = cells[i]
            cell = row_of[at // width] * width + at % width
            if place[cell] == 0:
                met[n_met] = cell
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
    const long long[::1] met, const double[:, ::1] sums, real[::1] mean,
    real[::1] variance, real[::1] drift, double rounds, double new_rounds,
):
    """Move the cells that shards have moved, in place.

    ``drift`` (or None) is about ``rounds`` rounds; those of the pass count as
    ``new_rounds`` more.
    """
    cdef Py_ssize_t i, cell
    cdef double step, weight
    cdef const double* sum
    with nogil:
        for i in range(met.shape[0]):
            cell, sum = met[i], &sums[i, 0]
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
