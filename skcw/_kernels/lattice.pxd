from skcw._kernels.common cimport real


cdef void emissions(
    const real[::1] weights, Py_ssize_t width, const int[::1] row_of,
    Py_ssize_t start, Py_ssize_t length, const long long[::1] indptr,
    const int[::1] indices, const real[::1] values, real[:, ::1] scores) noexcept nogil
cdef void forward_max(
    const real[:, ::1] scores, const real[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best) noexcept nogil
cdef Py_ssize_t best_before(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t t, int label,
    Py_ssize_t n_labels, real* top) noexcept nogil
cdef double best_path(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t length,
    Py_ssize_t n_labels, int[::1] labels) noexcept nogil
cdef void transitions(
    const real[::1] weights, Py_ssize_t width, Py_ssize_t n_labels,
    const int[::1] row_of, const long long[::1] indptr, const int[::1] indices,
    const double[::1] values, Py_ssize_t start, Py_ssize_t length,
    const real[:, ::1] common, real[:, ::1] trans) noexcept nogil


cdef class OpenPaths:
    cdef Py_ssize_t head, tail, most
    cdef double[::1] score
    cdef int[::1] parent
    cdef int[::1] token
    cdef int[::1] label

    cdef void start(self, Py_ssize_t most) noexcept nogil
    cdef void push(self, double score, int parent, int token, int label) noexcept nogil


cdef Py_ssize_t k_best_paths(
    const real[:, ::1] best, const real[:, ::1] trans, Py_ssize_t length,
    Py_ssize_t n_labels, OpenPaths heap, int[:, ::1] paths, double[::1] total,
) noexcept nogil
