# The diagonal that a covariance keeps: its own, or that of its inverse.
ctypedef double (*Diagonal)(
    double sigma, double delta, double beta, double spread) noexcept nogil

cdef extern from *:
    """
    /* Single precision rounds smaller variances to zero. */
    #define SKCW_LEAST_VARIANCE 1e-30
    """
    const double LEAST_VARIANCE "SKCW_LEAST_VARIANCE"


cdef inline double precise_variance(
    double sigma, double delta, double beta
) noexcept nogil:
    """Return the inverse of a precision that grows by beta times delta squared."""
    return max(sigma / (1.0 + sigma * beta * delta * delta), LEAST_VARIANCE)


cdef (double, double) cw_step(
    double margin, double spread, double phi, double limit) noexcept nogil
cdef double cw_precision(double alpha, double spread, double phi) noexcept nogil
cdef (double, double) variance_step(
    double margin, double spread, double phi) noexcept nogil
cdef (double, double) arow_step(
    double margin, double spread, double distance, double r) noexcept nogil
cdef double covariance_diagonal(
    double sigma, double delta, double beta, double spread) noexcept nogil
cdef double precision_diagonal(
    double sigma, double delta, double beta, double spread) noexcept nogil
cdef (double, double) optimal_cw_step(
    const double* delta, const double* sigma, Py_ssize_t n, Py_ssize_t stride,
    double margin, double spread, double phi, double limit) noexcept nogil
cdef void hildreth(
    double[:, ::1] gram, double[::1] loss, Py_ssize_t n, double budget,
    double[::1] alpha) noexcept nogil
