cdef double _by_logarithms(
    const double[:, ::1] scores, const double[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, double[:, ::1] ahead,
    double[:, ::1] back, double[::1] terms, double[:, ::1] out) noexcept nogil
