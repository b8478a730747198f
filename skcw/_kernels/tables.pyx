"""Weight tables of classifiers of flat rows: read them, sum them, move them.

A table has a row per feature, then one for the intercept, and `width` columns:
a padded number of labels, or 1 for two classes, whose one weight vector stands for
the difference between them.
"""

from skcw._kernels.types cimport real

import numpy as np

cdef extern from "row_loops.h" nogil:
    void skcw_row_sums_f(
        double*, const float*, Py_ssize_t, const int*, const double*, Py_ssize_t)
    void skcw_row_sums_d(
        double*, const double*, Py_ssize_t, const int*, const double*, Py_ssize_t)
    void skcw_prefetch_rows_f(const float*, Py_ssize_t, const int*, Py_ssize_t)
    void skcw_prefetch_rows_d(const double*, Py_ssize_t, const int*, Py_ssize_t)


cdef class RowReader:
    """The entries of the row at hand, the intercept's included.

    `bias` is the intercept's place in the table, or -1 without one.
    """

    def __cinit__(self, const long long[::1] indptr, int bias):
        cdef Py_ssize_t longest = 1 + max(0, np.diff(indptr).max(initial=0))
        self.index = np.empty(longest, dtype=np.int32)
        self.value = np.empty(longest)
        self.square = np.empty(longest)
        self.bias = bias

    cdef Row values(self, Py_ssize_t n) noexcept nogil:
        cdef Row row
        row.index, row.value, row.n = &self.index[0], &self.value[0], n
        return row

    cdef Row squares(self, Py_ssize_t n) noexcept nogil:
        cdef Row row
        row.index, row.value, row.n = &self.index[0], &self.square[0], n
        return row


cdef Py_ssize_t read_row(
    RowReader reader, const long long[::1] indptr, const int[::1] indices,
    const real[::1] values, Py_ssize_t i
) noexcept nogil:
    """Copy row i into the reader; return the number of entries."""
    cdef Py_ssize_t k, n = 0
    for k in range(indptr[i], indptr[i + 1]):
        reader.index[n] = indices[k]
        reader.value[n] = values[k]
        n += 1
    if reader.bias >= 0:
        reader.index[n] = reader.bias
        reader.value[n] = 1.0
        n += 1
    for k in range(n):
        reader.square[k] = reader.value[k] * reader.value[k]
    return n


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


def table_sums(
    const real[:, ::1] table, const long long[::1] indptr, const int[::1] indices,
    const real[::1] values, int bias, bint squared,
):
    """Return sums of table rows weighted by the values, or by their squares.

    Of a table of means these are the scores, an array of shape (n_rows, width); of
    variances, with `squared`, the variances of the scores. `bias` is the place of
    the intercept, or -1.
    """
    cdef Py_ssize_t i, n, n_rows = indptr.shape[0] - 1, width = table.shape[1]
    sums = np.empty((n_rows, width))
    cdef double[:, ::1] out = sums
    cdef RowReader reader = RowReader(indptr, bias)
    with nogil:
        for i in range(n_rows):
            if i + 1 < n_rows and indptr[i + 2] > indptr[i + 1]:
                prefetch_rows(&table[0, 0], width, &indices[indptr[i + 1]],
                              indptr[i + 2] - indptr[i + 1])
            n = read_row(reader, indptr, indices, values, i)
            row_sums(&table[0, 0], width,
                     reader.squares(n) if squared else reader.values(n), &out[i, 0])
    return sums
