from skcw._kernels.sequence_update cimport Difference

ctypedef (double, double) (*Rule)(
    Difference, double margin, double distance, double mean_cost, double strength,
    double limit
) noexcept nogil


cdef (double, double) cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit) noexcept nogil
cdef (double, double) optimal_cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit) noexcept nogil
cdef (double, double) arow_rule(
    Difference delta, double margin, double distance, double mean_cost, double r,
    double limit) noexcept nogil
cdef (double, double) perceptron_rule(
    Difference delta, double margin, double distance, double mean_cost, double rate,
    double limit) noexcept nogil
