"""One training pass of k-best passive-aggressive learning.

Each of the k best labelings z asks for mean . delta_z >= distance(gold, z) - slack
with one slack for all; the smallest change of the mean is found by Hildreth's
method. The belief's layout is that of `presentation`.
"""

import numpy as np

from skcw._kernels.difference cimport Difference, add_labelings, read_belief
from skcw._kernels.kbest cimport OpenPaths, k_best_paths
from skcw._kernels.lattice cimport forward_max
from skcw._kernels.presentation cimport (
    add_cost, count_mistakes, fill_lattice, keep_plain, longest, mislabelled,
    touch_rows)
from skcw._kernels.steps cimport hildreth
from skcw._kernels.types cimport real


cdef void _fill_gram(
    Difference delta, Py_ssize_t n_rivals, double[:, ::1] gram
) noexcept nogil:
    """gram[a, b] = delta_a . delta_b."""
    cdef Py_ssize_t i, a, b
    for a in range(n_rivals):
        for b in range(a + 1):
            gram[a, b] = 0.0
    for i in range(delta.n):
        for a in range(n_rivals):
            for b in range(a + 1):
                gram[a, b] += delta.value[i, a] * delta.value[i, b]
    for a in range(n_rivals):
        for b in range(a):
            gram[b, a] = gram[a, b]


cdef void _move(
    Difference delta, real[::1] mean, real[::1] drift, double rounds_before,
    const double[::1] alpha, Py_ssize_t n_rivals, double share,
) noexcept nogil:
    """mean += sum of alpha_z delta_z."""
    cdef Py_ssize_t i, a
    cdef double step
    for i in range(delta.n):
        step = 0.0
        for a in range(n_rivals):
            step += alpha[a] * delta.value[i, a]
        step *= share
        if step != 0.0:
            mean[delta.cell[i]] = <real>(mean[delta.cell[i]] + step)
            if drift is not None:
                drift[delta.cell[i]] = <real>(
                    drift[delta.cell[i]] + rounds_before * step)


def pa_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, state, corpus, lesson,
    double budget, Py_ssize_t k,
):
    """Run one PA pass with up to k rivals a sequence; `variance` is None.

    `state` is (row_of, rows in use, rounds so far). Return the rows in use, the
    rounds, and how many sequences and tokens were wrong when first presented: those
    that the model gets wrong if the lesson asks to count them, those of the rival
    if not.
    """
    cdef int[::1] row_of = state[0]
    cdef Py_ssize_t n_rows = state[1]
    cdef double rounds = state[2]
    cdef const long long[::1] offsets = corpus.offsets
    cdef const long long[::1] indptr = corpus.indptr
    cdef const int[::1] indices = corpus.indices
    cdef const real[::1] values = corpus.values
    cdef const int[::1] gold = corpus.gold
    cdef const double[::1] weight = corpus.weight
    cdef const double[::1] norm = corpus.norm
    cdef const long long[::1] order = lesson.order
    cdef const double[::1] cost = lesson.cost
    cdef const real[:, ::1] forbidden = lesson.forbidden
    cdef double cost_unit = lesson.cost_unit
    cdef bint counting = lesson.counting
    cdef Py_ssize_t width = lesson.width, n_labels = cost.shape[0]
    cdef Py_ssize_t most_tokens, most_features
    most_tokens, most_features = longest(offsets, indptr)
    dtype = np.asarray(mean).dtype
    cdef real[:, ::1] scores = np.empty((most_tokens, width), dtype)
    cdef real[:, ::1] plain = np.empty((most_tokens, width), dtype)
    cdef real[:, ::1] best = np.empty((most_tokens, width), dtype)
    cdef real[:, ::1] trans = np.empty((width, width), dtype)
    cdef int[:, ::1] paths = np.empty((k, most_tokens), dtype=np.int32)
    cdef int[::1] tagged = np.empty(most_tokens, dtype=np.int32)
    cdef double[::1] total = np.empty(k)
    cdef OpenPaths heap = OpenPaths(k)
    cdef Difference delta = Difference(
        (k + 1) * most_features + 4 * k * most_tokens, k)
    cdef double[::1] margin = np.empty(k)
    cdef double[::1] loss = np.empty(k)
    cdef double[::1] alpha = np.empty(k)
    cdef double[:, ::1] gram = np.empty((k, k))
    cdef Py_ssize_t t, i, z, start, length, wrong, found, n_rivals, mistakes
    cdef Py_ssize_t wrong_sequences = 0, wrong_tokens = 0
    cdef double copies, share, distance = 0.0
    cdef bint first, violated
    with nogil:
        for t in range(order.shape[0]):
            i = order[t]
            start, length = offsets[i], offsets[i + 1] - offsets[i]
            copies = 1.0 if weight is None else weight[i]
            first = True
            while copies > 0.0:
                if length == 0:
                    rounds += copies
                    break
                fill_lattice(mean, width, n_labels, row_of, start, length, indptr,
                             indices, values, forbidden, scores, trans)
                if cost_unit > 0.0:
                    if first and counting:
                        keep_plain(scores, length, plain)
                    add_cost(scores, gold, start, length, cost, cost_unit, norm)
                forward_max(scores, trans, 0, length, n_labels, best)
                heap.start(k)
                found = k_best_paths(
                    best, trans, length, n_labels, heap, paths, total)
                delta.clear()
                n_rivals = 0
                for z in range(found):
                    wrong = count_mistakes(
                        gold, paths[z], start, length, cost, &distance)
                    if first and z == 0:
                        mistakes = wrong
                        if wrong > 0 and cost_unit > 0.0 and counting:
                            mistakes = mislabelled(plain, trans, gold, start, length,
                                                   n_labels, best, tagged)
                        wrong_tokens += mistakes
                        wrong_sequences += mistakes > 0
                    if wrong == 0:
                        continue
                    n_rows = touch_rows(variance, row_of, n_rows, width, gold,
                                        paths[z], start, length, indptr, indices)
                    add_labelings(delta, n_rivals, gold, paths[z], start, length,
                                  width, row_of, indptr, indices, values)
                    loss[n_rivals] = distance
                    n_rivals += 1
                first = False
                read_belief(delta, mean, variance, margin)
                violated = False
                for z in range(n_rivals):
                    loss[z] -= margin[z]
                    violated = violated or loss[z] > 0.0
                if not violated:
                    rounds += copies
                    break
                _fill_gram(delta, n_rivals, gram)
                hildreth(gram, loss, n_rivals, budget, alpha)
                share = min(copies, 1.0)
                _move(delta, mean, drift, rounds, alpha, n_rivals, share)
                rounds += share
                copies -= share
    return n_rows, rounds, wrong_sequences, wrong_tokens
