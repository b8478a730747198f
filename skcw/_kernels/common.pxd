"""What several kernels share."""

# The number type of weights: float in daily use, double for exact comparisons.
ctypedef fused real:
    float
    double


# One flat row: positions of its features in a table of weights, and their values.
cdef struct Row:
    const int* index
    const double* value
    Py_ssize_t n


cdef inline Py_ssize_t longest_sequence(const long long[::1] offsets) noexcept nogil:
    """Return the length of the longest sequence, at least one.

    Sequence s owns the tokens ``offsets[s]`` to ``offsets[s + 1]``.
    """
    cdef Py_ssize_t s, most = 1
    for s in range(offsets.shape[0] - 1):
        most = max(most, <Py_ssize_t>(offsets[s + 1] - offsets[s]))
    return most
