"""What the learners of one rival do with a mistake.

A rule gives (alpha, beta) for the difference between gold and the rival, whose margin
is given; `distance` is the summed cost of the wrong tokens.
"""

from libc.math cimport sqrt

from skcw._kernels.sequence_update cimport Difference, spread_of
from skcw._kernels.steps cimport arow_step, cw_step, optimal_cw_step


cdef double _first_step(Difference delta, double phi) noexcept nogil:
    """Return the alpha of Eq. (3) where the margin is zero and all variances one."""
    cdef Py_ssize_t i
    cdef double square = 0.0
    for i in range(delta.n):
        square += delta.value[i, 0] * delta.value[i, 0]
    # A rival with the features of gold takes no step, whatever the limit.
    return phi / sqrt((1.0 + phi * phi) * square) if square > 0.0 else 0.0


cdef (double, double) cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit
) noexcept nogil:
    phi *= mean_cost
    return cw_step(
        margin, spread_of(delta, 0), phi, limit * _first_step(delta, phi))


cdef (double, double) optimal_cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit
) noexcept nogil:
    phi *= mean_cost
    return optimal_cw_step(
        &delta.value[0, 0], &delta.sigma[0], delta.n, delta.n_rivals, margin,
        spread_of(delta, 0), phi, limit * _first_step(delta, phi))


cdef (double, double) arow_rule(
    Difference delta, double margin, double distance, double mean_cost, double r,
    double limit
) noexcept nogil:
    return arow_step(margin, spread_of(delta, 0), distance, r)


cdef (double, double) perceptron_rule(
    Difference delta, double margin, double distance, double mean_cost, double rate,
    double limit
) noexcept nogil:
    return rate * mean_cost, 0.0
