cdef extern from *:
    """
    /* Below this a scaled row has lost its digits. */
    #define SKCW_SMALLEST_SUM 1e-250
    /* Numbers below exp(-700) lose digits and then all. They may still be what counts
     * if the rest gets as small: by how much it does is added up, up to this. */
    #define SKCW_LARGEST_LOSS 600.0
    /* With every label of a row above this, what underflowed before is forgotten. */
    #define SKCW_SAFE_SHARE 1e-20
    """
    const double SMALLEST_SUM "SKCW_SMALLEST_SUM"
    const double LARGEST_LOSS "SKCW_LARGEST_LOSS"
    const double SAFE_SHARE "SKCW_SAFE_SHARE"


cdef double by_logarithms(
    const double[:, ::1] scores, const double[:, ::1] trans, Py_ssize_t start,
    Py_ssize_t length, Py_ssize_t n_labels, double[:, ::1] ahead,
    double[:, ::1] back, double[::1] terms, double[:, ::1] out) noexcept nogil
