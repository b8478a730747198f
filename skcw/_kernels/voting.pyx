"""Votes of all weights that a perceptron has passed by, replayed step by step.

Weights begin with zeros; step t changes feature k by ``moves[a]`` for every a of
``starts[k]`` to ``starts[k + 1]`` with ``steps[a] = t``. After t steps the weight of
the score is ``level[t]``, and these weights have ``votes[t + 1] - votes[t]`` votes.

Between two steps that touch a list only the weight s of the score changes, and a
candidate's total is a line in s. Who leads at the least and at the largest s of a
stretch leads all through it; other stretches are halved. The extremes come from
``low`` and ``high``: row r, column t holds those of level[t:t + 2**r].
"""


cdef struct Field:
    # The candidates of a list at the current step.
    Py_ssize_t first, n
    const double* score
    double* sum


cdef Py_ssize_t _leader(Field field, double s) noexcept nogil:
    """Return the candidate that leads at a weight of the score; the first of equals."""
    cdef Py_ssize_t j, found = 0
    cdef double value, most = s * field.score[0] + field.sum[0]
    for j in range(1, field.n):
        value = s * field.score[j] + field.sum[j]
        if value > most:
            found, most = j, value
    return found


cdef void _count(
    Field field, Py_ssize_t begin, Py_ssize_t end, const double[::1] level,
    const double[::1] votes, const double[:, ::1] low, const double[:, ::1] high,
    double[::1] won,
) noexcept nogil:
    """Give the votes of the weights from begin to end, between which no sum changes."""
    cdef Py_ssize_t row = 0, chosen, middle
    while begin + (<Py_ssize_t>2 << row) <= end:
        row += 1
    middle = end - (<Py_ssize_t>1 << row)
    chosen = _leader(field, min(low[row, begin], low[row, middle]))
    if end - begin > 1 and chosen != _leader(
            field, max(high[row, begin], high[row, middle])):
        middle = (begin + end) // 2
        _count(field, begin, middle, level, votes, low, high, won)
        _count(field, middle, end, level, votes, low, high, won)
    else:
        won[field.first + chosen] += votes[end] - votes[begin]


cdef Py_ssize_t _collect(
    Py_ssize_t first, Py_ssize_t last, const long long[::1] indptr,
    const int[::1] indices, const int[::1] owners, const long long[::1] starts,
    const int[::1] steps, const double[::1] moves, int[::1] slot,
    double[:, ::1] change,
) noexcept nogil:
    """Sum the changes of each step for the candidates from first to last.

    Features that all of them have change nothing. ``slot[t]`` becomes the row of
    `change` of a step that does; their number is returned.
    """
    cdef Py_ssize_t c, n = last - first, n_rows = 0
    cdef long long a, b
    cdef int k, t
    for c in range(first, last):
        for a in range(indptr[c], indptr[c + 1]):
            k = indices[a]
            if owners[k] == n:
                continue
            for b in range(starts[k], starts[k + 1]):
                t = steps[b]
                if slot[t] < 0:
                    slot[t] = <int>n_rows
                    change[n_rows, :n] = 0.0
                    n_rows += 1
                change[slot[t], c - first] += moves[b]
    return n_rows


cdef void _tally(
    Py_ssize_t first, Py_ssize_t last, const long long[::1] indptr,
    const int[::1] indices, int[::1] owners, int step
) noexcept nogil:
    """Count for each feature the candidates that have it, or uncount them."""
    cdef long long a
    for a in range(indptr[first], indptr[last]):
        if step:
            owners[indices[a]] += step
        else:
            owners[indices[a]] = 0


def replay_votes(
    const long long[::1] offsets, const long long[::1] indptr, const int[::1] indices,
    const double[::1] scores, const long long[::1] starts, const int[::1] steps,
    const double[::1] moves, const double[::1] level, const double[::1] votes,
    const double[:, ::1] low, const double[:, ::1] high, int[::1] owners,
    int[::1] slot, double[:, ::1] change, double[::1] sums, double[::1] won,
):
    """Put into won how many votes each candidate gets.

    ``owners`` (zeros, one per feature), ``slot`` (-1, one per step) and ``sums`` are
    room for the work on one list, ``change`` for a row per step.
    """
    cdef Py_ssize_t i, j, t, begin, n_rows, n_steps = level.shape[0]
    cdef Field field
    with nogil:
        for i in range(offsets.shape[0] - 1):
            field.first, field.n = offsets[i], offsets[i + 1] - offsets[i]
            field.score, field.sum = &scores[field.first], &sums[0]
            _tally(field.first, field.first + field.n, indptr, indices, owners, 1)
            n_rows = _collect(field.first, field.first + field.n, indptr, indices,
                              owners, starts, steps, moves, slot, change)
            _tally(field.first, field.first + field.n, indptr, indices, owners, 0)
            for j in range(field.n):
                sums[j] = 0.0
            begin = 0
            for t in range(1, n_steps):
                if slot[t] < 0:
                    continue
                _count(field, begin, t, level, votes, low, high, won)
                for j in range(field.n):
                    sums[j] += change[slot[t], j]
                slot[t], begin = -1, t
                n_rows -= 1
                if n_rows == 0:
                    break
            _count(field, begin, n_steps, level, votes, low, high, won)
