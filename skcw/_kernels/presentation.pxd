from skcw._kernels.types cimport real


cdef (Py_ssize_t, Py_ssize_t) longest(
    const long long[::1] offsets, const long long[::1] indptr) noexcept nogil
cdef void fill_lattice(
    const real[::1] mean, Py_ssize_t width, Py_ssize_t n_labels,
    const int[::1] row_of, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    const real[:, ::1] forbidden, real[:, ::1] scores, real[:, ::1] trans,
) noexcept nogil
cdef void add_cost(
    real[:, ::1] scores, const int[::1] gold, Py_ssize_t start, Py_ssize_t length,
    const double[::1] cost, double unit, const double[::1] norm) noexcept nogil
cdef Py_ssize_t count_mistakes(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const double[::1] cost, double* distance) noexcept nogil
cdef void keep_plain(
    const real[:, ::1] scores, Py_ssize_t length, real[:, ::1] plain) noexcept nogil
cdef Py_ssize_t mislabelled(
    const real[:, ::1] plain, const real[:, ::1] trans, const int[::1] gold,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t n_labels, real[:, ::1] best,
    int[::1] guess) noexcept nogil
cdef Py_ssize_t touch_rows(
    real[::1] variance, int[::1] row_of, Py_ssize_t n_rows, Py_ssize_t width,
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t length,
    const long long[::1] indptr, const int[::1] indices) noexcept nogil
