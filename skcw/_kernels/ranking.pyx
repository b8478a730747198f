"""Learn to rank the candidates of lists, online, and vote with all weights passed by.

List i owns the candidates ``offsets[i]`` to ``offsets[i + 1]``, the best of the base
model first; candidate c has the score ``scores[c]`` of that model and the binary
features ``indices[indptr[c]:indptr[c + 1]]`` in growing order. The last weight is that
of the score. Of equal candidates the first one is chosen.
"""

from libc.math cimport INFINITY

from skcw._kernels.steps cimport arow_step, covariance_diagonal, cw_step

cdef enum:
    CW = 0
    AROW = 1


cdef class Lists:
    """Lists of candidates, for loops that read them."""

    cdef const long long[::1] offsets, indptr
    cdef const int[::1] indices
    cdef const double[::1] scores

    def __init__(self, offsets, indptr, indices, scores):
        self.offsets, self.indptr, self.indices = offsets, indptr, indices
        self.scores = scores

    cdef double total(self, Py_ssize_t c, const double[::1] weights) noexcept nogil:
        """Return the score of a candidate under some weights."""
        cdef long long a
        cdef double found = 0.0
        for a in range(self.indptr[c], self.indptr[c + 1]):
            found += weights[self.indices[a]]
        return found + weights[weights.shape[0] - 1] * self.scores[c]

    cdef Py_ssize_t best(
        self, Py_ssize_t i, const double[::1] weights, Py_ssize_t without
    ) noexcept nogil:
        """Return the best candidate of a list, but for one; -1 if there is none."""
        cdef Py_ssize_t c, found = -1
        cdef double value, most = -INFINITY
        for c in range(self.offsets[i], self.offsets[i + 1]):
            if c == without:
                continue
            value = self.total(c, weights)
            if found < 0 or value > most:
                found, most = c, value
        return found


def total_scores(Lists lists, const double[::1] weights, double[::1] out):
    """Put the score of every candidate into out."""
    cdef Py_ssize_t c
    with nogil:
        for c in range(out.shape[0]):
            out[c] = lists.total(c, weights)


cdef Py_ssize_t _difference(
    Lists lists, Py_ssize_t good, Py_ssize_t bad, int* code
) noexcept nogil:
    """Write which features only one of two candidates has; return how many.

    The code of feature k is 2 k where the good one has it and 2 k + 1 where the bad one
    has it. NULL in place of room for the codes only counts.
    """
    cdef long long a = lists.indptr[good], b = lists.indptr[bad]
    cdef long long last_a = lists.indptr[good + 1], last_b = lists.indptr[bad + 1]
    cdef Py_ssize_t n = 0
    cdef int mine, theirs
    while a < last_a or b < last_b:
        mine = lists.indices[a] if a < last_a else 2147483647
        theirs = lists.indices[b] if b < last_b else 2147483647
        if mine == theirs:
            a += 1
            b += 1
            continue
        if code != NULL:
            code[n] = 2 * mine if mine < theirs else 2 * theirs + 1
        n += 1
        if mine < theirs:
            a += 1
        else:
            b += 1
    return n


def count_differences(
    Lists lists, const long long[::1] good, const long long[::1] bad,
    long long[::1] count,
):
    """Count for pairs of candidates the features that only one of them has."""
    cdef Py_ssize_t p
    with nogil:
        for p in range(good.shape[0]):
            count[p] = _difference(lists, good[p], bad[p], NULL)


def fill_differences(
    Lists lists, const long long[::1] good, const long long[::1] bad,
    const long long[::1] indptr, int[::1] codes,
):
    """Write the codes of these features, those of pair p from indptr[p] on."""
    cdef Py_ssize_t p
    with nogil:
        for p in range(good.shape[0]):
            if indptr[p + 1] > indptr[p]:
                _difference(lists, good[p], bad[p], &codes[indptr[p]])


cdef void _add(
    Lists lists, Py_ssize_t c, double size, double[::1] weights
) noexcept nogil:
    cdef long long a
    for a in range(lists.indptr[c], lists.indptr[c + 1]):
        weights[lists.indices[a]] += size
    weights[weights.shape[0] - 1] += size * lists.scores[c]


def perceptron_pass(
    Lists lists, const long long[::1] target, const double[::1] copies,
    const long long[::1] order, double[::1] weights, long long[:, ::1] pairs,
    double[::1] sizes, double[::1] runs, Py_ssize_t n_steps,
):
    """Make one pass, and note each step: the algorithm of Collins (2002), figure 3.

    ``target[i]`` is the candidate that list i should choose, or -1. ``copies[i]`` is
    how often the list is met; the last time may be a fraction, whose step is scaled by
    it. Step t adds sizes[t] times the candidate pairs[t, 0] and takes pairs[t, 1] away;
    after it the weights last for runs[t + 1] lists, before any step for runs[0]. The
    steps noted before are n_steps; the number after this pass is returned.
    """
    cdef Py_ssize_t t, i, chosen
    cdef double left, share
    with nogil:
        for t in range(order.shape[0]):
            i = order[t]
            left = copies[i]
            while left > 0.0:
                share = left
                chosen = target[i]
                if chosen >= 0:
                    chosen = lists.best(i, weights, -1)
                if chosen != target[i]:
                    share = min(left, 1.0)
                    _add(lists, target[i], share, weights)
                    _add(lists, chosen, -share, weights)
                    pairs[n_steps, 0], pairs[n_steps, 1] = target[i], chosen
                    sizes[n_steps] = share
                    n_steps += 1
                runs[n_steps] += share
                left -= share
    return n_steps


cdef void _learn(
    Lists lists, Py_ssize_t good, Py_ssize_t bad, double alpha, double beta,
    double spread, double elapsed, const int* code, Py_ssize_t n,
    double[::1] mean, double[::1] variance, double[::1] drift,
) noexcept nogil:
    """Move mean and variance along the difference of two candidates."""
    cdef Py_ssize_t a, k, last = mean.shape[0] - 1
    cdef double delta, move
    for a in range(n + 1):
        k = last if a == n else code[a] >> 1
        if a == n:
            delta = lists.scores[good] - lists.scores[bad]
        else:
            delta = -1.0 if code[a] & 1 else 1.0
        move = alpha * variance[k] * delta
        mean[k] += move
        drift[k] += elapsed * move
        if delta != 0.0:
            variance[k] = covariance_diagonal(variance[k], delta, beta, spread)


cdef double _spread(
    const int* code, Py_ssize_t n, double gap, const double[::1] variance
) noexcept nogil:
    """Return the variance of the difference of the scores of two candidates."""
    cdef Py_ssize_t a
    cdef double found = gap * gap * variance[variance.shape[0] - 1]
    for a in range(n):
        found += variance[code[a] >> 1]
    return found


def gaussian_pass(
    Lists lists, const long long[::1] target, const double[::1] copies,
    const long long[::1] order, double[::1] mean, double[::1] variance,
    double[::1] drift, int rule, double rate, double limit, double elapsed,
    int[::1] room,
):
    """Make one pass of CW (rate is phi) or AROW (rate is r) with a diagonal covariance.

    The margin is that of the candidate a list should choose over the best other one.
    ``drift`` sums moves times the lists met before, from which averages follow;
    ``elapsed`` is their number, and the number after this pass is returned.
    ``room`` holds the codes of one difference.
    """
    cdef Py_ssize_t t, i, good, bad, n
    cdef double left, share, margin, spread, alpha, beta
    with nogil:
        for t in range(order.shape[0]):
            i = order[t]
            left, good, bad = copies[i], target[i], -1
            while left > 0.0:
                share = left
                if good >= 0:
                    bad = lists.best(i, mean, good)
                if bad >= 0:
                    n = _difference(lists, good, bad, &room[0])
                    margin = lists.total(good, mean) - lists.total(bad, mean)
                    spread = _spread(
                        &room[0], n, lists.scores[good] - lists.scores[bad], variance)
                    if rule == CW:
                        alpha, beta = cw_step(margin, spread, rate, limit)
                    else:
                        alpha, beta = arow_step(margin, spread, 1.0, rate)
                    if alpha > 0.0:
                        share = min(left, 1.0)
                        _learn(lists, good, bad, share * alpha, share * beta, spread,
                               elapsed, &room[0], n, mean, variance, drift)
                elapsed += share
                left -= share
    return elapsed


def pair_spreads(
    Lists lists, const long long[::1] chosen, const double[::1] variance,
    int[::1] room, double[::1] out,
):
    """Put the variance of each candidate's distance to its list's chosen one in out."""
    cdef Py_ssize_t i, c, n
    with nogil:
        for i in range(chosen.shape[0]):
            for c in range(lists.offsets[i], lists.offsets[i + 1]):
                n = _difference(lists, chosen[i], c, &room[0])
                out[c] = _spread(
                    &room[0], n, lists.scores[chosen[i]] - lists.scores[c], variance)


cdef Py_ssize_t _slot(
    unsigned long long value, const int[::1] slots, const unsigned long long[::1] known
) noexcept nogil:
    """Return the slot of a hash, or the empty one where it belongs."""
    cdef Py_ssize_t mask = slots.shape[0] - 1
    cdef Py_ssize_t at = <Py_ssize_t> (
        (value ^ (value >> 29)) & <unsigned long long> mask)
    while slots[at] >= 0 and known[slots[at]] != value:
        at = (at + 1) & mask
    return at


def number_hashes(
    const unsigned long long[::1] hashes, const long long[::1] indptr,
    const long long[::1] sentence, long long n_before, int[::1] slots,
    unsigned long long[::1] known, long long[::1] count, long long[::1] first,
    long long[::1] last, Py_ssize_t n, Py_ssize_t n_in_slots, int[::1] numbers,
    bint grow,
):
    """Number hashes in the order in which they first appear; return how many there are.

    Row r has ``hashes[indptr[r]:indptr[r + 1]]`` and is of ``sentence[r]``, which never
    falls. Of each hash ``count`` gets the number of sentences with it, ``first`` its
    first place (counted from ``n_before``) and ``last`` the last sentence.
    n are known before, of which so many are in slots; there are a power of two of
    these, and more than hashes. An empty one holds -1. Without ``grow`` hashes that are
    not known get -1.
    """
    cdef Py_ssize_t r, k, at
    cdef long long a
    with nogil:
        for k in range(n_in_slots, n):
            slots[_slot(known[k], slots, known)] = <int> k
        for r in range(sentence.shape[0]):
            for a in range(indptr[r], indptr[r + 1]):
                at = _slot(hashes[a], slots, known)
                k = slots[at]
                if k < 0 and not grow:
                    numbers[a] = -1
                    continue
                if k < 0:
                    k = n
                    slots[at] = <int> n
                    known[n], count[n], last[n] = hashes[a], 0, -1
                    first[n] = n_before + a
                    n += 1
                if last[k] != sentence[r]:
                    last[k] = sentence[r]
                    count[k] += 1
                numbers[a] = <int> k
    return n


cdef Py_ssize_t _union(
    const int* one, Py_ssize_t n_one, const int* other, Py_ssize_t n_other, int* out
) noexcept nogil:
    """Write what two growing rows of numbers hold, each once; return how many."""
    cdef Py_ssize_t a = 0, b = 0, n = 0
    while a < n_one and b < n_other:
        out[n] = min(one[a], other[b])
        if one[a] == out[n]:
            a += 1
        if other[b] == out[n]:
            b += 1
        n += 1
    for a in range(a, n_one):
        out[n] = one[a]
        n += 1
    for b in range(b, n_other):
        out[n] = other[b]
        n += 1
    return n


def join_rows(
    const long long[::1] indptr, const int[::1] indices, const long long[::1] starts,
    const long long[::1] parts, long long[::1] ends, int[::1] out, int[::1] room,
):
    """Join growing rows: candidate c is the union of rows parts[starts[c]:starts[c+1]].

    ``ends[c + 1]`` gets where it ends in out. ``room`` holds one candidate.
    """
    cdef Py_ssize_t c, n, k
    cdef long long p, at = 0, row
    with nogil:
        for c in range(starts.shape[0] - 1):
            n = 0
            for p in range(starts[c], starts[c + 1]):
                row = parts[p]
                if indptr[row] == indptr[row + 1]:
                    continue
                for k in range(n):
                    room[k] = out[at + k]
                n = _union(
                    &room[0], n, &indices[indptr[row]], indptr[row + 1] - indptr[row],
                    &out[at])
            at += n
            ends[c + 1] = at


def drop_shared(
    const long long[::1] sentence, const unsigned char[::1] shared,
    long long[::1] indptr, int[::1] indices, long long[::1] stamp,
):
    """Drop what all candidates of a sentence have, in place: it ranks none of them.

    Rows come sentence by sentence. Those that are ``shared`` by all candidates become
    empty, and others lose the features of these. ``stamp`` holds -1 for each feature.
    """
    cdef Py_ssize_t r = 0, q, end, n_rows = sentence.shape[0]
    cdef long long a, first = 0, last, n = 0
    with nogil:
        while r < n_rows:
            end = r
            while end < n_rows and sentence[end] == sentence[r]:
                if shared[end]:
                    for a in range(indptr[end], indptr[end + 1]):
                        stamp[indices[a]] = sentence[r]
                end += 1
            for q in range(r, end):
                last = indptr[q + 1]
                indptr[q] = n
                for a in range(first, last):
                    if stamp[indices[a]] != sentence[r]:
                        indices[n] = indices[a]
                        n += 1
                first = last
            r = end
        indptr[n_rows] = n
    return n
