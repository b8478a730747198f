"""Passes over flat rows: training of the classifiers, and sums for predictions.

The layout of the weights is that of `row_updates.pxi`.

The average of the mean over rounds is kept lazily: `drift` sums (round - 1) * step,
so that average = mean - drift / rounds.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy

import numpy as np

from skcw._kernels.common cimport Row, longest_sequence, real
from skcw._kernels.steps cimport (
    LEAST_VARIANCE, Diagonal, arow_step, covariance_diagonal, cw_precision, cw_step,
    hildreth, precision_diagonal, variance_step)

include "row_exact_updates.pxi"
include "row_updates.pxi"


cdef extern from "row_loops.h" nogil:
    void skcw_prefetch(const void*, Py_ssize_t)


cdef class RowReader:
    """The entries of the current row, the intercept's included.

    `bias` is the intercept's place in the table, or -1 without one.
    """

    cdef int[::1] index
    cdef double[::1] value
    cdef double[::1] square
    cdef int bias
    cdef Row row, squares

    def __cinit__(self, const long long[::1] indptr, int bias):
        cdef Py_ssize_t longest = 1 + longest_sequence(indptr)
        self.index = np.empty(longest, dtype=np.int32)
        self.value = np.empty(longest)
        self.square = np.empty(longest)
        self.bias = bias
        self.row.index = self.squares.index = &self.index[0]
        self.row.value, self.squares.value = &self.value[0], &self.square[0]


cdef void read_row(
    RowReader reader, const long long[::1] indptr, const int[::1] indices,
    const real[::1] values, Py_ssize_t i
) noexcept nogil:
    """Copy row i into the reader."""
    cdef Py_ssize_t k, first = indptr[i], n = indptr[i + 1] - first
    cdef int* index = &reader.index[0]
    cdef double* value = &reader.value[0]
    cdef double* square = &reader.square[0]
    for k in range(n):
        index[k] = indices[first + k]
        value[k] = values[first + k]
        square[k] = value[k] * value[k]
    if reader.bias >= 0:
        index[n] = reader.bias
        value[n] = square[n] = 1.0
        n += 1
    reader.row.n = reader.squares.n = n


cdef void _stdev_rule(double phi, double margin, Step* step) noexcept nogil:
    # Most rows are clearly sure enough: no root is needed to see it.
    if margin > 0.0 and margin * margin > 1.000001 * phi * phi * step.spread:
        step.alpha = step.beta = 0.0
        return
    step.alpha, step.beta = cw_step(margin, step.spread, phi, INFINITY)


cdef void _variance_rule(double phi, double margin, Step* step) noexcept nogil:
    step.alpha, step.beta = variance_step(margin, step.spread, phi)


cdef void _soft_stdev(
    double phi, double budget, double prior_spread, Step* step
) noexcept nogil:
    """Cut alpha as SCW-I does (Wang, Zhao & Hoi, 2012, Prop. 1).

    The bound counts in alphas with which the row would move a model that knows
    nothing, so that it means the same for rows of any length and scale.
    """
    cdef double most = budget * cw_step(0.0, prior_spread, phi, INFINITY)[0]
    if step.alpha > most:
        step.alpha = most
        step.beta = cw_precision(most, step.spread, phi)


cdef void _soft_variance(
    double phi, double budget, double prior_spread, Step* step
) noexcept nogil:
    """The same in the form that bounds variances."""
    cdef double most = budget * variance_step(0.0, prior_spread, phi)[0]
    if step.alpha > most:
        step.alpha = most
        step.beta = 2.0 * most * phi


cdef void _arow_rule(double r, double margin, Step* step) noexcept nogil:
    step.alpha, step.beta = arow_step(margin, step.spread, 1.0, r)


cdef void _perceptron_rule(double rate, double margin, Step* step) noexcept nogil:
    step.alpha, step.beta = (rate if margin <= 0.0 else 0.0), 0.0


cdef void _pa_rule(double budget, double margin, Step* step) noexcept nogil:
    """The smallest change with margin >= 1, but no more than the budget."""
    step.alpha = step.beta = 0.0
    if margin < 1.0 and step.spread > 0.0:
        step.alpha = min(budget, (1.0 - margin) / step.spread)


cdef bint _is_wrong(Work work) noexcept nogil:
    """Return whether a rival is predicted; of equal scores the first label's wins."""
    cdef Py_ssize_t rival = work.rivals[0], gold = work.gold
    if work.options.width == 1:
        return (work.scores[0] > 0.0) != (gold == 1)
    if work.scores[rival] == work.scores[gold]:
        return rival < gold
    return work.scores[rival] > work.scores[gold]


cdef Py_ssize_t _row_stride(const real[:, :] table, Py_ssize_t wanted=-1) except -1:
    """Return by how many numbers rows of a table are apart; raise if not `wanted`."""
    cdef Py_ssize_t size = sizeof(real), stride = table.strides[0] // size
    if table.shape[1] > 1 and table.strides[1] != size:
        raise ValueError("the columns of a table must lie side by side")
    if wanted not in (-1, stride):
        raise ValueError("the rows of all tables must be equally far apart")
    return stride


cdef _set_strides(
    RowOptions* options, real[:, :] mean, real[:, :] variance, real[:, :] drift
):
    """Set how far apart the rows of the tables are; raise if it is not the same."""
    options.stride = _row_stride(mean)
    if variance is not None:
        _row_stride(variance, options.stride)
    if drift is not None:
        _row_stride(drift, options.stride)


cdef void _ask_for_next(
    const real* means, RowOptions* options, const long long[::1] indptr,
    const int[::1] indices, const real[::1] values, const long long[::1] order,
    Py_ssize_t t
) noexcept nogil:
    """Prefetch the first weights of the next row, and the entries after it.

    The other weights of the next row are prefetched little by little.
    """
    cdef Py_ssize_t i, n
    options.next.n = 0
    if t + 1 < order.shape[0]:
        i = order[t + 1]
        n = indptr[i + 1] - indptr[i]
        if n > 0:
            skcw_prefetch_rows(
                means, options.stride, options.stride, &indices[indptr[i]], n)
            options.next = rows_ahead(
                means, options.stride, options.stride, &indices[indptr[i]], n)
    if t + 2 < order.shape[0]:
        i = order[t + 2]
        n = indptr[i + 1] - indptr[i]
        if n > 0:
            skcw_prefetch(&indices[indptr[i]], n * sizeof(int))
            skcw_prefetch(&values[indptr[i]], n * sizeof(real))


cdef _run(
    real[:, :] mean, real[:, :] variance, real[:, :] drift, double rounds, rows,
    const long long[::1] order, RowOptions options,
):
    """Present every row in this order and update the tables in place.

    `rows` has the arrays indptr, indices, values, gold and weight (or None), and
    `bias`, the intercept's place in the tables or -1; `class_factor` multiplies the
    learner's strength for rows of a class, or is None. Return the rounds so far,
    and how many rows were wrong when first presented.
    """
    cdef const long long[::1] indptr = rows.indptr
    cdef const int[::1] indices = rows.indices
    cdef const real[::1] values = rows.values
    cdef const int[::1] gold = rows.gold
    cdef const double[::1] weight = rows.weight
    cdef const double[::1] class_factor = rows.class_factor
    _set_strides(&options, mean, variance, drift)
    cdef RowReader reader = RowReader(indptr, rows.bias)
    cdef Work work = Work(options.width, options.k, reader.index.shape[0])
    cdef real* means = &mean[0, 0]
    cdef real* variances = NULL if variance is None else &variance[0, 0]
    cdef real* drifts = NULL if drift is None else &drift[0, 0]
    cdef Py_ssize_t t, i, n_wrong = 0
    cdef double copies_left
    cdef bint first
    work.options, work.rounds = options, rounds
    with nogil:
        for t in range(order.shape[0]):
            i = order[t]
            read_row(reader, indptr, indices, values, i)
            _ask_for_next(means, &work.options, indptr, indices, values, order, t)
            work.row, work.squares, work.gold = reader.row, reader.squares, gold[i]
            work.norm = -1.0
            copies_left = 1.0 if weight is None else weight[i]
            first = True
            if class_factor is not None:
                work.options.strength = options.strength * class_factor[gold[i]]
            # A weight is a number of copies, presented one after the other; the
            # last one may be a fraction, whose step is scaled by it.
            while copies_left > 0.0:
                sum_row(means, variances, work)
                if options.width > 1:
                    rank_rivals(work)
                if first:
                    n_wrong += _is_wrong(work)
                    first = False
                work.share = min(copies_left, 1.0)
                if not update_row(means, variances, drifts, work):
                    # Further copies would meet the same model: nothing moves.
                    work.rounds += copies_left
                    break
                work.rounds += work.share
                copies_left -= work.share
    return work.rounds, n_wrong


cdef RowOptions _row_options(
    Py_ssize_t width, Py_ssize_t n_labels, Py_ssize_t k, Rule rule,
    Diagonal diagonal, double strength
):
    cdef RowOptions options
    options.width, options.n_labels = width, n_labels
    options.stride = width
    options.next.table = options.next.index = NULL
    options.next.n = options.next.stride = options.next.reach = 0
    options.k = min(k, n_labels - 1)
    options.rule, options.diagonal, options.strength = rule, diagonal, strength
    options.kind = SEQUENTIAL
    options.soften, options.budget, options.prior = NULL, INFINITY, 1.0
    return options


def cw_row_pass(
    real[:, :] mean, real[:, :] variance, real[:, :] drift, double rounds, rows,
    const long long[::1] order, Py_ssize_t n_labels, Py_ssize_t k, double phi,
    str update, str step, str diagonal, double budget=INFINITY, double prior=1.0,
):
    """Run one CW pass: Eqs. (7) and (8) of Crammer et al. (2009), or Stdev; see `_run`.

    The best update among diagonal covariances of one rival is the exact one. With a
    `budget` below infinity no step has more than that many times the alpha with which
    the row would move the prior, whose variance is `prior`; exact updates have none.
    """
    cdef RowOptions options = _row_options(
        mean.shape[1], n_labels, k, _stdev_rule if step == "stdev" else _variance_rule,
        covariance_diagonal if diagonal == "covariance" else precision_diagonal, phi)
    if update == "exact" or (diagonal == "optimal" and options.k == 1):
        options.kind = EXACT_STDEV if step == "stdev" else EXACT_VARIANCE
    elif update in ("parallel", "joint"):
        options.kind = PARALLEL if update == "parallel" else JOINT
    if budget < INFINITY:
        options.soften = _soft_stdev if step == "stdev" else _soft_variance
        options.budget, options.prior = budget, prior
    return _run(mean, variance, drift, rounds, rows, order, options)


def arow_row_pass(
    real[:, :] mean, real[:, :] variance, real[:, :] drift, double rounds, rows,
    const long long[::1] order, Py_ssize_t n_labels, Py_ssize_t k, double r,
    str update, str diagonal,
):
    """Run one AROW pass: a hinge loss of 1, squared; see `_run`."""
    cdef RowOptions options = _row_options(
        mean.shape[1], n_labels, k, _arow_rule,
        covariance_diagonal if diagonal == "covariance" else precision_diagonal, r)
    if update == "exact":
        options.kind = EXACT_AROW
    elif update == "parallel":
        options.kind = PARALLEL
    return _run(mean, variance, drift, rounds, rows, order, options)


def perceptron_row_pass(
    real[:, :] mean, real[:, :] variance, real[:, :] drift, double rounds, rows,
    const long long[::1] order, Py_ssize_t n_labels,
):
    """Run one perceptron pass; `variance` is None. See `_run`."""
    cdef RowOptions options = _row_options(
        mean.shape[1], n_labels, 1, _perceptron_rule, precision_diagonal, 1.0)
    return _run(mean, variance, drift, rounds, rows, order, options)


def pa_row_pass(
    real[:, :] mean, real[:, :] variance, real[:, :] drift, double rounds, rows,
    const long long[::1] order, Py_ssize_t n_labels, Py_ssize_t k, double budget,
):
    """Run one passive-aggressive pass with up to k rivals per row; see `_run`."""
    cdef RowOptions options = _row_options(
        mean.shape[1], n_labels, k, _pa_rule, precision_diagonal, budget)
    if options.k > 1:
        options.kind = SHARED_SLACK
    return _run(mean, variance, drift, rounds, rows, order, options)


def table_sums(
    const real[:, :] table, const long long[::1] indptr, const int[::1] indices,
    const real[::1] values, int bias, bint squared,
):
    """Return sums of table rows weighted by the values, or by their squares.

    Of a table of means these are the scores, an array of shape (n_rows, width); of
    variances, with `squared`, the variances of the scores. `bias` is the place of
    the intercept, or -1.
    """
    cdef Py_ssize_t i, n_rows = indptr.shape[0] - 1, width = table.shape[1]
    cdef Py_ssize_t stride = _row_stride(table)
    sums = np.empty((n_rows, width))
    cdef double[:, ::1] out = sums
    cdef RowReader reader = RowReader(indptr, bias)
    cdef Row row
    with nogil:
        for i in range(n_rows):
            if i + 1 < n_rows and indptr[i + 2] > indptr[i + 1]:
                skcw_prefetch_rows(&table[0, 0], stride, width, &indices[indptr[i + 1]],
                                   indptr[i + 2] - indptr[i + 1])
            read_row(reader, indptr, indices, values, i)
            row = reader.squares if squared else reader.row
            row_sums(&table[0, 0], stride, width,
                     rows_ahead(&table[0, 0], stride, width, row.index, row.n), row,
                     &out[i, 0])
    return sums


def seen_features(const int[::1] indices):
    """Return for each feature up to the last one whether it occurs."""
    cdef Py_ssize_t k
    cdef int last = -1
    with nogil:
        for k in range(indices.shape[0]):
            last = max(last, indices[k])
    seen = np.zeros(last + 1, dtype=bool)
    cdef unsigned char[::1] out = seen.view(np.uint8)
    with nogil:
        for k in range(indices.shape[0]):
            out[indices[k]] = 1
    return seen


cdef unsigned long long _mixed(unsigned long long key) noexcept nogil:
    """Scatter the bits of a key (the finalizer of splitmix64)."""
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9ULL
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBULL
    return key ^ (key >> 31)


def hash_order(const unsigned long long[::1] hashes):
    """Return the positions of hashes in ascending order; equal ones stay in theirs.

    Hashes are spread evenly: sorted by their first bits, they are nearly in place.
    """
    cdef Py_ssize_t i, k, place, n = hashes.shape[0]
    cdef int shift = 63
    while n >> (64 - shift):
        shift -= 1
    found = np.empty(n, dtype=np.int64)
    cdef long long[::1] order = found
    cdef long long[::1] starts = np.zeros((1 << (64 - shift)) + 1, dtype=np.int64)
    with nogil:
        for i in range(n):
            starts[(hashes[i] >> shift) + 1] += 1
        for k in range(1, starts.shape[0]):
            starts[k] += starts[k - 1]
        for i in range(n):
            k = hashes[i] >> shift
            order[starts[k]] = i
            starts[k] += 1
        for k in range(1, n):
            i, place = order[k], k
            while place > 0 and hashes[order[place - 1]] > hashes[i]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = i
    return found


def salted_hashes(const unsigned long long[::1] keys, unsigned long long salt):
    """Return a hash of every key and a random number."""
    cdef Py_ssize_t i
    cdef unsigned long long mixed
    hashes = np.empty(keys.shape[0], dtype=np.uint64)
    cdef unsigned long long[::1] out = hashes
    with nogil:
        for i in range(keys.shape[0]):
            mixed = (keys[i] ^ salt) * 0x9E3779B97F4A7C15ULL
            mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9ULL
            out[i] = mixed ^ (mixed >> 32)
    return hashes


def row_keys(
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
    const int[::1] gold,
):
    """Return a number per row that depends on its content and label alone.

    A zero counts as absent, so that dense and sparse rows agree.
    """
    cdef Py_ssize_t i, k, n_rows = indptr.shape[0] - 1
    cdef unsigned long long key, bits
    cdef double value
    keys = np.empty(n_rows, dtype=np.uint64)
    cdef unsigned long long[::1] out = keys
    with nogil:
        for i in range(n_rows):
            key = _mixed(<unsigned long long>gold[i] + 0x9E3779B97F4A7C15ULL)
            for k in range(indptr[i], indptr[i + 1]):
                value = values[k]
                if value != 0.0:
                    memcpy(&bits, &value, sizeof(bits))
                    key = _mixed(key ^ bits) + 0x9E3779B97F4A7C15ULL * (
                        <unsigned long long>indices[k] + 1)
            out[i] = key
    return keys


def row_hashes(
    const long long[::1] indptr, const int[::1] indices, const real[::1] values
):
    """Return a number per row that depends on its content alone.

    Entries are hashed one by one and added up: no step waits for the one before. A zero
    counts as absent.
    """
    cdef Py_ssize_t i, k, n_rows = indptr.shape[0] - 1
    cdef unsigned long long total, bits
    cdef double value
    hashes = np.empty(n_rows, dtype=np.uint64)
    cdef unsigned long long[::1] out = hashes
    with nogil:
        for i in range(n_rows):
            total = 0
            for k in range(indptr[i], indptr[i + 1]):
                value = values[k]
                if value != 0.0:
                    memcpy(&bits, &value, sizeof(bits))
                    total += _mixed(bits + 0x9E3779B97F4A7C15ULL * (
                        <unsigned long long>indices[k] + 1))
            out[i] = _mixed(total)
    return hashes
