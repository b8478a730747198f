from skcw._kernels.types cimport real


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
