cdef extern from *:
    """
    /* Below this a scaled row has lost its digits. */
    #define SKCW_FAINT 1e-250
    /* Numbers below exp(-700) lose digits and then all. They may still be what counts
     * if the rest gets as small: by how much it does is added up, up to this. */
    #define SKCW_MOST_LOST 600.0
    /* With every label of a row above this, what underflowed before is forgotten. */
    #define SKCW_IN_SIGHT 1e-20
    """
    const double FAINT "SKCW_FAINT"
    const double MOST_LOST "SKCW_MOST_LOST"
    const double IN_SIGHT "SKCW_IN_SIGHT"


cdef double by_logarithms(
    const double[:, ::1] scores, const double[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, double[:, ::1] ahead,
    double[:, ::1] back, double[::1] terms, double[:, ::1] out) noexcept nogil
