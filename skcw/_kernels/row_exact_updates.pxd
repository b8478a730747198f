from skcw._kernels.common cimport Row, real


cdef class Constraints:
    cdef Py_ssize_t n
    cdef double[::1] alpha
    cdef double[::1] beta
    cdef double[::1] margin
    cdef double[::1] spread
    cdef double own_spread
    cdef double phi
    cdef bint deviations
    cdef double gold_alpha
    cdef double gold_spread
    cdef double[:, ::1] part
    cdef Py_ssize_t length

    cdef double shrunk(self, Py_ssize_t label, double beta) noexcept nogil


cdef void read_constraints(
    Constraints joint, const real* variance, Py_ssize_t stride, Row squares,
    Py_ssize_t gold, const double* scores, const int[::1] rivals, Py_ssize_t k
) noexcept nogil
cdef void read_one_vector(
    Constraints joint, const real* variance, Py_ssize_t stride, Row squares,
    double margin
) noexcept nogil
cdef bint solve_cw(Constraints joint, double phi, bint deviations) noexcept nogil
cdef bint solve_arow(Constraints joint, double r) noexcept nogil
