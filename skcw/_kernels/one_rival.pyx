"""One training pass of the learners that compare gold with one rival labeling.

The belief's layout is that of `presentation`. The average of the mean over rounds
is kept lazily: `drift` sums (round - 1) * step, so that
average = mean - drift / rounds.
"""

from libc.math cimport INFINITY, sqrt

import numpy as np

from skcw._kernels.difference cimport (
    Difference, add_labelings, read_belief, spread_of)
from skcw._kernels.lattice cimport best_path, forward_max
from skcw._kernels.presentation cimport (
    add_cost, count_mistakes, fill_lattice, keep_plain, longest, mislabelled,
    touch_rows)
from skcw._kernels.steps cimport (
    arow_step, covariance_diagonal, cw_step, optimal_cw_step, precision_diagonal)
from skcw._kernels.types cimport real

# What a learner does with a mistake: (alpha, beta) from the difference, whose
# margin is given; `distance` is the summed cost of the wrong tokens.
ctypedef (double, double) (*Rule)(
    Difference, double margin, double distance, double mean_cost, double strength,
    double limit
) noexcept nogil
ctypedef double (*Diagonal)(
    double sigma, double delta, double beta, double spread) noexcept nogil


cdef double _first_step(Difference delta, double phi) noexcept nogil:
    """Return the alpha of Eq. (3) where the margin is zero and all variances one."""
    cdef Py_ssize_t i
    cdef double square = 0.0
    for i in range(delta.n):
        square += delta.value[i, 0] * delta.value[i, 0]
    # A rival with the features of gold takes no step, whatever the limit.
    return phi / sqrt((1.0 + phi * phi) * square) if square > 0.0 else 0.0


cdef (double, double) _cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit
) noexcept nogil:
    phi *= mean_cost
    return cw_step(
        margin, spread_of(delta, 0), phi, limit * _first_step(delta, phi))


cdef (double, double) _optimal_cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit
) noexcept nogil:
    phi *= mean_cost
    return optimal_cw_step(
        &delta.value[0, 0], &delta.sigma[0], delta.n, delta.n_rivals, margin,
        spread_of(delta, 0), phi, limit * _first_step(delta, phi))


cdef (double, double) _arow_rule(
    Difference delta, double margin, double distance, double mean_cost, double r,
    double limit
) noexcept nogil:
    return arow_step(margin, spread_of(delta, 0), distance, r)


cdef (double, double) _perceptron_rule(
    Difference delta, double margin, double distance, double mean_cost, double rate,
    double limit
) noexcept nogil:
    return rate * mean_cost, 0.0


cdef void _move(
    Difference delta, real[::1] mean, real[::1] variance, real[::1] drift,
    double rounds_before, double alpha, double beta, Diagonal diagonal,
) noexcept nogil:
    """Apply Eq. (1): mean += alpha Sigma delta, then narrow the variances."""
    cdef Py_ssize_t i
    cdef long long cell
    cdef double x, step, spread = spread_of(delta, 0)
    for i in range(delta.n):
        x = delta.value[i, 0]
        if x == 0.0:
            continue
        cell = delta.cell[i]
        step = alpha * delta.sigma[i] * x
        mean[cell] = <real>(mean[cell] + step)
        if drift is not None:
            drift[cell] = <real>(drift[cell] + rounds_before * step)
        if variance is not None:
            variance[cell] = <real>diagonal(delta.sigma[i], x, beta, spread)


cdef (Py_ssize_t, Py_ssize_t) _next_stretch(
    const int[::1] gold, const int[::1] guess, Py_ssize_t start, Py_ssize_t begin,
    Py_ssize_t length, bint split,
) noexcept nogil:
    """Return where the next stretch of wrong tokens begins and ends.

    It begins at `length` if there is none. Without `split` the whole sequence is one.
    """
    cdef Py_ssize_t end
    if not split:
        return begin, length
    while begin < length and gold[start + begin] == guess[begin]:
        begin += 1
    end = begin
    while end < length and gold[start + end] != guess[end]:
        end += 1
    return begin, end


cdef _run(
    real[::1] mean, real[::1] variance, real[::1] drift, state, corpus, lesson,
    double strength, double limit, bint split, Rule rule, Diagonal diagonal,
):
    """Present every sequence in the lesson's order and update the belief in place.

    `state` is (row_of, rows in use, rounds so far). Return the rows in use, the
    rounds, and how many sequences and tokens were wrong when first presented: those
    that the model gets wrong if the lesson asks to count them, those of the rival
    if not.
    With `split` every stretch of wrong tokens is a rival of its own: the labeling that
    is wrong there and right elsewhere.
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
    cdef int[::1] guess = np.empty(most_tokens, dtype=np.int32)
    cdef int[::1] tagged = np.empty(most_tokens, dtype=np.int32)
    cdef Difference delta = Difference(2 * most_features + 4 * most_tokens)
    cdef double[::1] margin = np.empty(1)
    cdef Py_ssize_t t, i, start, length, wrong, mistakes, begin, end, stop
    cdef Py_ssize_t wrong_sequences = 0, wrong_tokens = 0
    cdef double copies, share, distance = 0.0, alpha, beta
    cdef bint first
    with nogil:
        for t in range(order.shape[0]):
            i = order[t]
            start, length = offsets[i], offsets[i + 1] - offsets[i]
            copies = 1.0 if weight is None else weight[i]
            first = True
            # A weight is a number of copies, presented one after the other; the
            # last one may be a fraction, whose step is scaled by it.
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
                best_path(best, trans, length, n_labels, guess)
                wrong = count_mistakes(gold, guess, start, length, cost, &distance)
                if first:
                    mistakes = wrong
                    if wrong > 0 and cost_unit > 0.0 and counting:
                        mistakes = mislabelled(plain, trans, gold, start, length,
                                               n_labels, best, tagged)
                    wrong_tokens += mistakes
                    wrong_sequences += mistakes > 0
                    first = False
                if wrong == 0:
                    # Further copies would meet the same model: nothing moves.
                    rounds += copies
                    break
                n_rows = touch_rows(variance, row_of, n_rows, width, gold, guess,
                                    start, length, indptr, indices)
                share = min(copies, 1.0)
                end = 0
                while True:
                    begin, end = _next_stretch(gold, guess, start, end, length, split)
                    if begin == length:
                        break
                    # The labels beside a stretch belong to its transitions.
                    begin, stop = max(begin - 1, 0), min(end + 1, length)
                    wrong = count_mistakes(gold, guess[begin:stop], start + begin,
                                           stop - begin, cost, &distance)
                    delta.clear()
                    add_labelings(delta, 0, gold, guess[begin:stop], start + begin,
                                  stop - begin, width, row_of, indptr, indices, values)
                    read_belief(delta, mean, variance, margin)
                    alpha, beta = rule(
                        delta, margin[0], distance, distance / wrong, strength, limit)
                    if alpha > 0.0:
                        _move(delta, mean, variance, drift, rounds, share * alpha,
                              share * beta, diagonal)
                rounds += share
                copies -= share
    return n_rows, rounds, wrong_sequences, wrong_tokens


def cw_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, state, corpus, lesson,
    double phi, str diagonal, double limit=INFINITY, bint split=False,
):
    """Run one CW pass (Eq. 3); see `_run`.

    alpha goes no further than `limit` times what it would be at the prior.
    """
    if diagonal == "covariance":
        return _run(mean, variance, drift, state, corpus, lesson, phi, limit, split,
                    _cw_rule, covariance_diagonal)
    if diagonal == "precision":
        return _run(mean, variance, drift, state, corpus, lesson, phi, limit, split,
                    _cw_rule, precision_diagonal)
    return _run(mean, variance, drift, state, corpus, lesson, phi, limit, split,
                _optimal_cw_rule, precision_diagonal)


def arow_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, state, corpus, lesson,
    double r, str diagonal,
):
    """Run one AROW pass (Eq. 4); see `_run`.

    The best update among diagonal covariances is that of the precision's diagonal.
    """
    return _run(mean, variance, drift, state, corpus, lesson, r, INFINITY, False,
                _arow_rule,
                covariance_diagonal if diagonal == "covariance"
                else precision_diagonal)


def perceptron_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, state, corpus, lesson,
):
    """Run one perceptron pass; `variance` is None. See `_run`."""
    return _run(mean, variance, drift, state, corpus, lesson, 1.0, INFINITY, False,
                _perceptron_rule, precision_diagonal)
