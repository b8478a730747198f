"""Sums over rows of a table of weights, and requests for rows ahead of need.

`row_updates` tells how weights lie.
"""

from skcw._kernels.common cimport Row, real

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


cdef void row_sums(
    const real* table, Py_ssize_t stride, Py_ssize_t width, Ahead ahead, Row row,
    double* out
) noexcept nogil:
    """out[c] = sum of value * table[index, c] over the entries of the row.

    On the way the rows `ahead` are asked for.
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
    """Ask the memory for the first few of n table rows that will be read soon."""
    if real is float:
        skcw_prefetch_rows_f(table, stride, reach, index, n)
    else:
        skcw_prefetch_rows_d(table, stride, reach, index, n)
