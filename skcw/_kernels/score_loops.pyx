"""Loops over words for confidence scores: rankings, and resampled outcomes.

Rankings: words in groups of ties, as means over all their orders. ``words[g]`` and
``wrong[g]`` are whole numbers: how many words the g-th group holds and how many of them
are wrong. The least confident group comes first.

Outcomes drawn again and again, summed in cells of words: the i-th word has in the d-th
draw the normal number normal[d, i] of its own and that of its sentence,
common[d, group[i]]. It is right if their mix lies at or below a limit. Several places,
which differ in their limits, use the same numbers.
"""

cdef Py_ssize_t WORDS_AT_ONCE = 256


def average_precision(const double[::1] words, const double[::1] wrong):
    """Return the average precision of retrieving wrong words; 0 if there are none.

    A group of m words with e wrong ones after N words with E wrong ones adds
    e / m sum_{k=1}^m (E + 1 + (k - 1) (e - 1) / (m - 1)) / (N + k).
    """
    cdef Py_ssize_t g
    cdef double m, e, k, slope, inside, before = 0.0, found = 0.0, total = 0.0
    with nogil:
        for g in range(words.shape[0]):
            m = words[g]
            e = wrong[g]
            if e > 0.0:
                slope = (e - 1.0) / (m - 1.0) if m > 1.0 else 0.0
                inside = 0.0
                k = 1.0
                while k <= m:
                    inside += (found + 1.0 + (k - 1.0) * slope) / (before + k)
                    k += 1.0
                total += e / m * inside
            before += m
            found += e
    return total / found if found > 0.0 else 0.0


def mean_risk(const double[::1] words, const double[::1] wrong):
    """Return the mean share of wrong words among the 1, 2, ... most confident.

    A group of m words with e wrong ones below N words with E wrong ones adds
    sum_{k=1}^m (E + k e / m) / (N + k). Without words the mean is 0.
    """
    cdef Py_ssize_t g
    cdef double m, e, k, above = 0.0, lost = 0.0, total = 0.0
    with nogil:
        for g in range(words.shape[0] - 1, -1, -1):
            m = words[g]
            e = wrong[g]
            k = 1.0
            while k <= m:
                total += (lost + k * e / m) / (above + k)
                k += 1.0
            above += m
            lost += e
    return total / above if above > 0.0 else 0.0


cdef void _mix(
    float[::1] mixed, const float[::1] normal, const float[::1] common,
    const Py_ssize_t[::1] group, float own, float shared,
) noexcept nogil:
    """Put own * normal + shared * common of its sentence for each word into mixed."""
    cdef Py_ssize_t i
    for i in range(normal.shape[0]):
        mixed[i] = own * normal[i] + shared * common[group[i]]


cdef double _sum_below(
    const float[::1] mixed, const float[::1] limit, const double[::1] weight,
    Py_ssize_t start, Py_ssize_t stop,
) noexcept nogil:
    """Return the weight of the words from start to stop at or below their limits."""
    cdef Py_ssize_t i = start
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    # Four sums do not wait for each other.
    while i + 4 <= stop:
        a += weight[i] if mixed[i] <= limit[i] else 0.0
        b += weight[i + 1] if mixed[i + 1] <= limit[i + 1] else 0.0
        c += weight[i + 2] if mixed[i + 2] <= limit[i + 2] else 0.0
        d += weight[i + 3] if mixed[i + 3] <= limit[i + 3] else 0.0
        i += 4
    while i < stop:
        a += weight[i] if mixed[i] <= limit[i] else 0.0
        i += 1
    return (a + b) + (c + d)


def draw_right(
    const float[:, ::1] normal, const float[:, ::1] common,
    const Py_ssize_t[::1] group, float own, float shared,
    const float[:, ::1] limits, const double[::1] weight,
    const Py_ssize_t[::1] starts, float[::1] mixed, double[:, :, ::1] right,
):
    """Sum the weight of right words in cells: right[place, draw, cell].

    The words of cell c are those from starts[c] to starts[c + 1]; limits[place, i] is
    the limit of the i-th word. ``mixed`` is room for one number per word.
    """
    cdef Py_ssize_t d, p, c
    with nogil:
        for d in range(normal.shape[0]):
            _mix(mixed, normal[d], common[d], group, own, shared)
            for p in range(limits.shape[0]):
                for c in range(right.shape[2]):
                    right[p, d, c] = _sum_below(
                        mixed, limits[p], weight, starts[c], starts[c + 1])


def draw_classes(
    const float[:, ::1] normal, const float[:, ::1] common,
    const Py_ssize_t[::1] group, float own, float shared,
    const float[:, :, ::1] limits, const int[:, ::1] cells,
    const double[::1] weight, float[:, ::1] mixed, double[:, :, ::1] right,
):
    """Sum the weight of words in the cells of drawn classes: right[place, draw, cell].

    Each word tries its classes in an order of its own. It is of the first one whose
    limit limits[place, i, k] its number does not exceed, or of the last, and then lies
    in cells[i, k], which is -1 for a class that has no cells. ``mixed`` is room for one
    number per word and draw.
    """
    cdef Py_ssize_t d, p, i, begin, end = 0, n = normal.shape[1]
    right[:, :, :] = 0.0
    with nogil:
        for d in range(normal.shape[0]):
            _mix(mixed[d], normal[d], common[d], group, own, shared)
            # First all words are of the class they try first, which most of them are.
            for i in range(n):
                if cells[i, 0] >= 0:
                    right[0, d, cells[i, 0]] += weight[i]
        for p in range(1, limits.shape[0]):
            right[p] = right[0]
        # The limits of some words at a time stay in the cache for all draws.
        while end < n:
            begin, end = end, min(n, end + WORDS_AT_ONCE)
            for p in range(limits.shape[0]):
                for d in range(normal.shape[0]):
                    _move_on(
                        mixed[d], limits[p], cells, weight, begin, end, right[p, d])


cdef void _move_on(
    const float[::1] mixed, const float[:, ::1] limits, const int[:, ::1] cells,
    const double[::1] weight, Py_ssize_t begin, Py_ssize_t end, double[::1] right,
) noexcept nogil:
    """Take words that exceed their first limit to the cell of their class."""
    cdef Py_ssize_t i, k, last = limits.shape[1] - 1
    for i in range(begin, end):
        if mixed[i] <= limits[i, 0]:
            continue
        k = 1
        while k < last and mixed[i] > limits[i, k]:
            k += 1
        if cells[i, 0] >= 0:
            right[cells[i, 0]] -= weight[i]
        if cells[i, k] >= 0:
            right[cells[i, k]] += weight[i]
