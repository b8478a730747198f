"""Figures of a ranking of words in groups of ties, as means over all their orders.

``words[g]`` and ``wrong[g]`` are whole numbers: how many words the g-th group holds and
how many of them are wrong. The least confident group comes first.
"""


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
