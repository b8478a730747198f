from skcw._kernels.common cimport Row, real
from skcw._kernels.row_exact_updates cimport Constraints
from skcw._kernels.row_moves cimport Step
from skcw._kernels.row_sums cimport Ahead
from skcw._kernels.steps cimport Diagonal


# What a learner does with a rival: fill in alpha and beta; the spread is there.
ctypedef void (*Rule)(double strength, double margin, Step* step) noexcept nogil
# Cut a step at a budget, given the spread that the row has under the prior.
ctypedef void (*Soften)(
    double strength, double budget, double prior_spread, Step* step) noexcept nogil

# How an update satisfies several rivals.
cdef enum UpdateKind:
    SEQUENTIAL
    PARALLEL
    JOINT
    EXACT_STDEV
    EXACT_VARIANCE
    EXACT_AROW
    SHARED_SLACK


# What all rows of a pass have in common.
cdef struct RowOptions:
    Py_ssize_t width
    Py_ssize_t stride
    # What the next row needs of the tables.
    Ahead next
    Py_ssize_t n_labels
    Py_ssize_t k
    Rule rule
    Diagonal diagonal
    UpdateKind kind
    double strength
    Soften soften
    double budget
    double prior


cdef class Work:
    cdef double[::1] scores
    cdef double[::1] spreads
    cdef int[::1] rivals
    cdef double[::1] alpha
    cdef double[::1] loss
    cdef double[:, ::1] gram
    cdef Step[::1] steps
    cdef Step[::1] moves
    cdef Constraints joint


cdef void rank_rivals(
    Work work, Py_ssize_t gold, const RowOptions* options) noexcept nogil
cdef bint update_row(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share) noexcept nogil
