from skcw._kernels.common cimport Row, real
from skcw._kernels.steps cimport Diagonal


cdef extern from "row_moves.h":
    ctypedef struct Step "skcw_step":
        double alpha
        double beta
        double spread
        Py_ssize_t label


cdef void move(
    real* mean, real* variance, real* drift, double rounds_before, Py_ssize_t stride,
    Row row, const Step* steps, Py_ssize_t n_steps, Diagonal diagonal) noexcept nogil
