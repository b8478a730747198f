from skcw._kernels.types cimport real


cdef class Difference:
    cdef Py_ssize_t n
    cdef Py_ssize_t n_rivals
    cdef int shift
    cdef long long[::1] cell
    cdef double[:, ::1] value
    cdef double[::1] sigma
    cdef int[::1] slot
    cdef int[::1] home

    cdef void clear(self) noexcept nogil
    cdef void add(self, long long cell, Py_ssize_t rival, double value) noexcept nogil


cdef void add_labelings(
    Difference delta, Py_ssize_t rival, const int[::1] gold, const int[::1] other,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t width, const int[::1] row_of,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
) noexcept nogil
cdef void read_belief(
    Difference delta, real[::1] mean, real[::1] variance, double[::1] margin
) noexcept nogil
cdef double spread_of(Difference delta, Py_ssize_t rival) noexcept nogil
