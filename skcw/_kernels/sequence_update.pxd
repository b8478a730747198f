from skcw._kernels.common cimport real
from skcw._kernels.steps cimport Diagonal


cdef class EdgeFeatures:
    cdef const long long[::1] indptr
    cdef const int[::1] indices
    cdef const double[::1] values
    cdef Py_ssize_t most


cdef void fill_lattice(
    const real[::1] mean, Py_ssize_t width, Py_ssize_t n_labels,
    const int[::1] row_of, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    const real[:, ::1] forbidden, EdgeFeatures edges, real[:, ::1] scores,
    real[:, ::1] trans,
) noexcept nogil
cdef void add_cost(
    real[:, ::1] scores, const int[::1] gold, Py_ssize_t start, Py_ssize_t length,
    const double[::1] cost, double unit, const double[::1] norm) noexcept nogil
cdef Py_ssize_t count_mistakes(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const double[::1] cost, double* distance) noexcept nogil
cdef void keep_plain(
    const real[:, ::1] scores, Py_ssize_t length, real[:, ::1] plain) noexcept nogil
cdef Py_ssize_t mislabeled(
    const real[:, ::1] plain, const real[:, ::1] trans, const int[::1] gold,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
    int[::1] guess) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) next_stretch(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t begin,
    Py_ssize_t length, bint split) noexcept nogil
cdef Py_ssize_t touch_rows(
    real[::1] variance, int[::1] row_of, Py_ssize_t n_rows, Py_ssize_t width,
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices, EdgeFeatures edges,
) noexcept nogil


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
    EdgeFeatures edges,
) noexcept nogil
cdef void read_belief(
    Difference delta, real[::1] mean, real[::1] variance, double[::1] margin
) noexcept nogil
cdef double spread_of(Difference delta, Py_ssize_t rival) noexcept nogil
cdef void move_by_one(
    Difference delta, real[::1] mean, real[::1] variance, real[::1] drift,
    double rounds_before, double alpha, double beta, Diagonal diagonal) noexcept nogil
cdef void fill_gram(
    Difference delta, Py_ssize_t n_rivals, double[:, ::1] gram) noexcept nogil
cdef void move_by_many(
    Difference delta, real[::1] mean, real[::1] drift, double rounds_before,
    const double[::1] alpha, Py_ssize_t n_rivals, double share) noexcept nogil
