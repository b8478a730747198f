from skcw._kernels.common cimport Row, real
from skcw._kernels.row_exact_updates cimport Constraints
from skcw._kernels.steps cimport Diagonal


cdef extern from "row_loops.h":
    ctypedef struct Step "skcw_step":
        double alpha
        double beta
        double spread
        Py_ssize_t label
    ctypedef struct Ahead "skcw_ahead":
        const void* table
        const int* index
        Py_ssize_t n
        Py_ssize_t stride
        Py_ssize_t reach


# The rule of a learner for a rival: fill in alpha and beta; the spread is there.
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


# The settings of a pass, common to all rows.
cdef struct RowOptions:
    Py_ssize_t width
    Py_ssize_t stride
    # The rows of the tables that the next row needs.
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


cdef void row_sums(
    const real* table, Py_ssize_t stride, Py_ssize_t width, Ahead ahead, Row row,
    double* out) noexcept nogil
cdef Ahead rows_ahead(
    const real* table, Py_ssize_t stride, Py_ssize_t reach, const int* index,
    Py_ssize_t n) noexcept nogil
cdef void prefetch_rows(
    const real* table, Py_ssize_t stride, Py_ssize_t reach, const int* index,
    Py_ssize_t n) noexcept nogil
cdef void rank_rivals(
    Work work, Py_ssize_t gold, const RowOptions* options) noexcept nogil
cdef bint update_row(
    real* mean, real* variance, real* drift, double rounds, const RowOptions* options,
    Row row, Row squares, Work work, Py_ssize_t gold, double share) noexcept nogil
