"""Where the scores of a sequence come from, in eight draws side by side."""

cdef extern from "draw_loops.h" nogil:
    enum: SKCW_DRAWS


cdef class DrawnScores:
    cdef readonly Py_ssize_t n_labels, labels
    cdef const float[::1] first, last

    cdef void fill(
        self, Py_ssize_t start, Py_ssize_t length, float* scores) noexcept nogil
    cdef void fill_with_borders(
        self, Py_ssize_t start, Py_ssize_t length, float* scores) noexcept nogil


cdef Py_ssize_t drawn_rows_of_token(
    DrawnScores source, const float[:, :, ::1] trans) noexcept nogil
