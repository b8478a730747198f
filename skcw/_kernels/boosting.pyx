"""Boosting of an exponential ranking loss, one feature a round; Collins (2002), fig. 2.

Pair p is the good candidate of a list beside another one, with the weight
``weight[p]``: the exponential of minus its margin. ``pair_codes`` lists, from
``pair_starts[p]`` on, the features in which the two differ: 2 k where the good one has
feature k, 2 k + 1 where the other one has it. ``feature_codes`` is the inverse: 2 p or
2 p + 1 for every pair in which feature k differs. ``sums[2 k]`` and ``sums[2 k + 1]``
are the weights of those pairs, W+ and W-.

The feature with the largest gain stands at the top of a tree of comparisons: node v has
the better of the features of the nodes 2 v and 2 v + 1, and feature k is the leaf
``n_leaves + k``. The cost of a round grows with the pairs that it touches.
"""

from libc.math cimport exp, fabs, log, sqrt


cdef double _gain(const double[::1] sums, Py_ssize_t k) noexcept nogil:
    """Return |sqrt(W+) - sqrt(W-)|; rounding may leave a sum below zero."""
    return fabs(sqrt(max(sums[2 * k], 0.0)) - sqrt(max(sums[2 * k + 1], 0.0)))


cdef int _better(
    const int[::1] tree, const double[::1] gain, Py_ssize_t v
) noexcept nogil:
    """Return which of two features below a node has more gain; the first of equals."""
    cdef int a = tree[2 * v], b = tree[2 * v + 1]
    if b < 0 or (a >= 0 and gain[a] >= gain[b]):
        return a
    return b


def start_tree(const double[::1] sums, double[::1] gain, int[::1] tree):
    """Fill in the gains of all features and the tree."""
    cdef Py_ssize_t k, v, n_leaves = tree.shape[0] // 2
    with nogil:
        for k in range(n_leaves):
            tree[n_leaves + k] = -1
            if k < gain.shape[0]:
                gain[k] = _gain(sums, k)
                tree[n_leaves + k] = <int>k
        for v in range(n_leaves - 1, 0, -1):
            tree[v] = _better(tree, gain, v)


cdef void _climb(int[::1] tree, const double[::1] gain, int k) noexcept nogil:
    """Compare a feature anew, up to where it loses as it did before."""
    cdef Py_ssize_t v = (tree.shape[0] // 2 + k) // 2
    cdef int found
    while v > 0:
        found = _better(tree, gain, v)
        if found == tree[v] and found != k:
            break
        tree[v] = found
        v //= 2


cdef double _reweigh(
    int k, double step, const long long[::1] pair_starts, const int[::1] pair_codes,
    const long long[::1] feature_starts, const int[::1] feature_codes,
    double[::1] weight, double[::1] sums, int[::1] touched, int[::1] mark,
    Py_ssize_t* n_touched,
) noexcept nogil:
    """Change the weights of the pairs that feature k separates; return the sum."""
    cdef long long a, b
    cdef int p, q
    cdef double change, total = 0.0, for_good = exp(-step), for_bad = exp(step)
    for a in range(feature_starts[k], feature_starts[k + 1]):
        p = feature_codes[a] >> 1
        change = weight[p] * ((for_bad if feature_codes[a] & 1 else for_good) - 1.0)
        weight[p] += change
        total += change
        for b in range(pair_starts[p], pair_starts[p + 1]):
            sums[pair_codes[b]] += change
            q = pair_codes[b] >> 1
            if not mark[q]:
                mark[q] = 1
                touched[n_touched[0]] = q
                n_touched[0] += 1
    return total


def boost(
    const long long[::1] pair_starts, const int[::1] pair_codes,
    const long long[::1] feature_starts, const int[::1] feature_codes,
    double[::1] weight, double[::1] sums, double[::1] gain, int[::1] tree,
    int[::1] touched, int[::1] mark, double loss, double smoothing, double least,
    int[::1] feature, double[::1] step, double[::1] losses,
):
    """Add to one weight a round; return the number of rounds that lowered the loss.

    Round r adds step[r] to the weight of feature[r] and leaves a loss of losses[r].
    The step is half the logarithm of (W+ + e Z) / (W- + e Z), with the smoothing e and
    the loss Z before the round. Rounds end where the square of the gain, by which a
    round without smoothing lowers the loss, is not above ``least``: what rounding has
    left of sums. All else is state, which the next call continues with; ``touched`` and
    ``mark`` (zeros) have room for each feature.
    """
    cdef Py_ssize_t r, a, n_touched, n_rounds = 0
    cdef double change
    cdef int k
    with nogil:
        for r in range(feature.shape[0]):
            k = tree[1]
            if k < 0 or gain[k] * gain[k] <= least:
                break
            step[r] = 0.5 * log((max(sums[2 * k], 0.0) + smoothing * loss)
                                / (max(sums[2 * k + 1], 0.0) + smoothing * loss))
            n_touched = 0
            change = _reweigh(k, step[r], pair_starts, pair_codes, feature_starts,
                              feature_codes, weight, sums, touched, mark, &n_touched)
            # Only rounding could raise it.
            loss += min(change, 0.0)
            feature[r], losses[r], n_rounds = k, loss, r + 1
            for a in range(n_touched):
                k = touched[a]
                mark[k] = 0
                gain[k] = _gain(sums, k)
                _climb(tree, gain, k)
    return n_rounds


def judge_rounds(
    const int[::1] feature, const double[::1] step, const long long[::1] offsets,
    const long long[::1] starts, const int[::1] owners, const int[::1] list_of,
    double[::1] totals, long long[::1] chosen, const double[::1] errors,
    double wrong, int[::1] touched, double[::1] out,
):
    """Put into out the errors of the candidates chosen after every round.

    ``owners`` lists from ``starts[k]`` on the candidates that have feature k, in the
    order of their lists; ``totals`` and ``chosen`` are the state before the first
    round, of which errors are ``wrong`` in all. ``touched`` has room for each list.
    """
    cdef Py_ssize_t r, n_touched, b, i, c, best
    cdef long long a
    with nogil:
        for r in range(feature.shape[0]):
            n_touched = 0
            for a in range(starts[feature[r]], starts[feature[r] + 1]):
                totals[owners[a]] += step[r]
                if n_touched == 0 or touched[n_touched - 1] != list_of[owners[a]]:
                    touched[n_touched] = list_of[owners[a]]
                    n_touched += 1
            for b in range(n_touched):
                i = touched[b]
                best = offsets[i]
                for c in range(offsets[i] + 1, offsets[i + 1]):
                    if totals[c] > totals[best]:
                        best = c
                wrong += errors[best] - errors[chosen[i]]
                chosen[i] = best
            out[r] = wrong
