"""Types and helpers that several kernels share."""

# The number type of weights: float in daily use, double for exact comparisons.
ctypedef fused real:
    float
    double


# One flat row: positions of its features in a table of weights, and their values.
cdef struct Row:
    const int* index
    const double* value
    Py_ssize_t n


cdef inline Py_ssize_t rows_of_token(const real[:, ::1] trans) noexcept nogil:
    """Return how many rows of `trans` each token has of its own.

    0 if one square of transitions serves all tokens. If transitions look at words, the
    squares of the tokens lie one below the other: that of token t is for the step from
    t - 1 to t. (A square for a single token is never looked at.)
    """
    return 0 if trans.shape[0] <= trans.shape[1] else trans.shape[1]


cdef inline Py_ssize_t longest_sequence(const long long[::1] offsets) noexcept nogil:
    """Return the length of the longest sequence, at least one.

    Sequence s owns the tokens ``offsets[s]`` to ``offsets[s + 1]``.
    """
    cdef Py_ssize_t s, most = 1
    for s in range(offsets.shape[0] - 1):
        most = max(most, <Py_ssize_t>(offsets[s + 1] - offsets[s]))
    return most
