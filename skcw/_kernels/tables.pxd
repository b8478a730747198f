from skcw._kernels.types cimport real


# One example: positions of its features in the table, and their values.
cdef struct Row:
    const int* index
    const double* value
    Py_ssize_t n


# What an update does to one label: see `steps`.
cdef struct Step:
    double alpha
    double beta
    double spread


# The diagonal that a covariance keeps: its own, or that of its inverse.
ctypedef double (*Diagonal)(
    double sigma, double delta, double beta, double spread) noexcept nogil


cdef class RowReader:
    cdef int[::1] index
    cdef double[::1] value
    cdef double[::1] square
    cdef int bias

    cdef Row values(self, Py_ssize_t n) noexcept nogil
    cdef Row squares(self, Py_ssize_t n) noexcept nogil


cdef Py_ssize_t read_row(
    RowReader reader, const long long[::1] indptr, const int[::1] indices,
    const real[::1] values, Py_ssize_t i) noexcept nogil
cdef void row_sums(
    const real* table, Py_ssize_t width, Row row, double* out) noexcept nogil
cdef void prefetch_rows(
    const real* table, Py_ssize_t width, const int* index, Py_ssize_t n
) noexcept nogil
cdef double spread_of(
    const real* variance, Py_ssize_t width, Py_ssize_t label, Row squares
) noexcept nogil
cdef void move(
    real* mean, real* variance, real* drift, double rounds_before, Py_ssize_t width,
    Py_ssize_t label, Row row, Step step, Diagonal diagonal) noexcept nogil
