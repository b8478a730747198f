from skcw._kernels.common cimport Row, real


cdef extern from "row_loops.h":
    ctypedef struct Ahead "skcw_ahead":
        const void* table
        const int* index
        Py_ssize_t n
        Py_ssize_t stride
        Py_ssize_t reach


cdef void row_sums(
    const real* table, Py_ssize_t stride, Py_ssize_t width, Ahead ahead, Row row,
    double* out) noexcept nogil
cdef Ahead rows_ahead(
    const real* table, Py_ssize_t stride, Py_ssize_t reach, const int* index,
    Py_ssize_t n) noexcept nogil
cdef void prefetch_rows(
    const real* table, Py_ssize_t stride, Py_ssize_t reach, const int* index,
    Py_ssize_t n) noexcept nogil
