"""Moves of the weights of some labels, for the entries of one row.

`row_updates` tells how weights lie, and how far to move them.
"""

from skcw._kernels.common cimport Row, real
from skcw._kernels.steps cimport LEAST_VARIANCE, precision_diagonal

cdef extern from "row_moves.h" nogil:
    void skcw_move_row_f(
        float*, float*, float*, double, double, Py_ssize_t, const int*, const double*,
        Py_ssize_t, const Step*, Py_ssize_t)
    void skcw_move_row_d(
        double*, double*, double*, double, double, Py_ssize_t, const int*,
        const double*, Py_ssize_t, const Step*, Py_ssize_t)


cdef void move(
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
