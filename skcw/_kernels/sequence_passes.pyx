"""One training pass of the learners of sequences.

CW, AROW and the perceptron compare gold with one rival labeling, PA with up to k: each
of the k best labelings z asks for mean . delta_z >= distance(gold, z) - slack with one
slack for all, and the smallest change of the mean is found by Hildreth's method.

The belief's layout is that of `sequence_update.pxi`. The average of the mean over
rounds is kept lazily: `drift` sums rounds before * step, so that average = mean -
drift / rounds. A round counts as often as the options say.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy

import numpy as np

from skcw._kernels.common cimport longest_sequence, real, rows_of_token
from skcw._kernels.steps cimport (
    Diagonal, arow_step, covariance_diagonal, cw_step, hildreth, optimal_cw_step,
    precision_diagonal)

include "lattice.pxi"


cdef class EdgeFeatures:
    """The features of the step into each token, as numbers of the belief after label 0.

    The first token of a sequence has none.
    """

    cdef const long long[::1] indptr
    cdef const int[::1] indices
    cdef const double[::1] values
    cdef Py_ssize_t most

    def __cinit__(self, offsets, indptr, indices, values):
        self.indptr, self.indices = indptr, indices
        self.values = values
        # Of the sequence that has most of them.
        self.most = longest_sequence(indptr[offsets])


cdef class PassState:
    """The input and the counts of a pass, for any number type of the weights."""

    cdef int[::1] row_of
    cdef const long long[::1] offsets, indptr, order
    cdef const int[::1] indices, gold
    cdef const double[::1] weight, norm, cost
    cdef double cost_unit, rounds, round_weight
    cdef bint counting
    cdef Py_ssize_t width, n_labels, n_rows, most_tokens, most_features
    cdef Py_ssize_t wrong_sequences, wrong_tokens
    # None where transitions do not look at words.
    cdef EdgeFeatures edges
    # Of the current sequence: where it lies, how many copies of it are left to present,
    # and whether this is the first one.
    cdef Py_ssize_t start, length
    cdef double copies_left
    cdef bint first
    # Room for the labels that the model itself gives.
    cdef int[::1] tagged

    def __cinit__(self, progress, corpus, options):
        self.row_of, self.n_rows, self.rounds = progress
        self.offsets, self.indptr, self.indices = (
            corpus.offsets, corpus.indptr, corpus.indices)
        self.gold, self.weight, self.norm = corpus.gold, corpus.weight, corpus.norm
        self.order, self.cost, self.cost_unit = (
            options.order, options.cost, options.cost_unit)
        self.counting, self.width, self.n_labels = (
            options.counting, options.width, len(options.cost))
        self.round_weight = options.round_weight
        self.most_tokens = longest_sequence(self.offsets)
        self.most_features = longest_sequence(
            np.asarray(self.indptr)[np.asarray(self.offsets)])
        if corpus.edges is not None:
            self.edges = EdgeFeatures(corpus.offsets, *corpus.edges)
            self.most_features += self.edges.most
        self.tagged = np.empty(self.most_tokens, dtype=np.int32)

    cdef void start_sequence(self, Py_ssize_t i) noexcept nogil:
        self.start, self.length = self.offsets[i], self.offsets[i + 1] - self.offsets[i]
        self.copies_left = 1.0 if self.weight is None else self.weight[i]
        self.first = True

    cdef void add_mistakes(self, Py_ssize_t mistakes) noexcept nogil:
        """Count the mistakes when the sequence was first presented."""
        self.wrong_tokens += mistakes
        self.wrong_sequences += mistakes > 0
        self.first = False

    def counts(self):
        """Return the counts of a pass; see `_run`."""
        return self.n_rows, self.rounds, self.wrong_sequences, self.wrong_tokens


include "sequence_update.pxi"

# The rule of a learner of one rival: (alpha, beta) for the difference between gold and
# the rival. `distance` is the summed cost of the wrong tokens,
# `strength` and `limit` are the learner's own.
ctypedef (double, double) (*Rule)(
    Difference delta, double margin, double distance, double mean_cost, double strength,
    double limit
) noexcept nogil


cdef class OneRival:
    """A learner that compares gold with the best labeling.

    With `split` every stretch of wrong tokens is a rival of its own: the labeling that
    is wrong there and right elsewhere.
    """

    cdef Rule rule
    cdef Diagonal diagonal
    cdef double strength, limit
    cdef bint split
    cdef Difference delta
    cdef double[::1] margin
    cdef int[::1] guess

    def __cinit__(self, PassState state):
        self.delta = Difference(2 * state.most_features + 4 * state.most_tokens)
        self.margin = np.empty(1)
        self.guess = np.empty(state.most_tokens, dtype=np.int32)


cdef class ManyRivals:
    """A learner that compares gold with up to k labelings, within a budget."""

    cdef Py_ssize_t k
    cdef double budget
    cdef OpenPaths heap
    cdef Difference delta
    cdef int[:, ::1] paths
    cdef double[::1] total, margin, loss, alpha
    cdef double[:, ::1] gram

    def __cinit__(self, PassState state, Py_ssize_t k, double budget):
        self.k, self.budget = k, budget
        self.heap = OpenPaths(k)
        self.delta = Difference(
            (k + 1) * state.most_features + 4 * k * state.most_tokens, k)
        self.paths = np.empty((k, state.most_tokens), dtype=np.int32)
        self.total, self.margin, self.loss, self.alpha = np.empty((4, k))
        self.gram = np.empty((k, k))


cdef void _score(
    PassState state, const real[::1] mean, const real[::1] values,
    const real[:, ::1] forbidden, real[:, ::1] scores, real[:, ::1] plain,
    real[:, ::1] trans, real[:, ::1] best,
) noexcept nogil:
    """Fill the lattice of the current sequence, and `plain` without costs if needed."""
    fill_lattice(state, mean, values, forbidden, scores, trans)
    if state.cost_unit > 0.0:
        if state.first and state.counting:
            memcpy(&plain[0, 0], &scores[0, 0],
                   state.length * state.width * sizeof(real))
        add_cost(state, scores)
    forward_max(scores, trans, 0, state.length, state.n_labels, best)


cdef Py_ssize_t _mistakes(
    PassState state, Py_ssize_t wrong, const real[:, ::1] plain,
    const real[:, ::1] trans, real[:, ::1] best,
) noexcept nogil:
    """Return how many tokens the model gets wrong, costs aside, or else the rival.

    The model is asked only where the rival is wrong: gold that leads in spite of all
    costs leads without them.
    """
    cdef double distance = 0.0
    if wrong > 0 and state.cost_unit > 0.0 and state.counting:
        forward_max(plain, trans, 0, state.length, state.n_labels, best)
        best_path(best, trans, state.length, state.n_labels, state.tagged)
        return count_mistakes(state, state.tagged, 0, state.length, &distance)
    return wrong


cdef void _learn_stretch(
    OneRival learner, PassState state, real[::1] mean, real[::1] variance,
    real[::1] drift, const real[::1] values, Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """Update for the rival that differs from gold from `begin` to `end`."""
    cdef Py_ssize_t wrong
    cdef double alpha, beta, distance = 0.0, share = min(state.copies_left, 1.0)
    # The labels beside a stretch belong to its transitions.
    begin, end = max(begin - 1, 0), min(end + 1, state.length)
    wrong = count_mistakes(state, learner.guess, begin, end, &distance)
    learner.delta.clear()
    add_labelings(learner.delta, 0, state, learner.guess, values, begin, end)
    read_belief(learner.delta, mean, variance, learner.margin)
    alpha, beta = learner.rule(
        learner.delta, learner.margin[0], distance, distance / wrong,
        learner.strength, learner.limit)
    if alpha > 0.0:
        move_by_one(learner.delta, mean, variance, drift, state.rounds, share * alpha,
                    share * beta, learner.diagonal)


cdef bint _update_for_one(
    OneRival learner, PassState state, real[::1] mean, real[::1] variance,
    real[::1] drift, const real[::1] values, const real[:, ::1] plain,
    const real[:, ::1] trans, real[:, ::1] best,
) noexcept nogil:
    """Compare gold with the best labeling; return whether that is another one."""
    cdef Py_ssize_t wrong, begin, end = 0
    cdef double distance = 0.0
    best_path(best, trans, state.length, state.n_labels, learner.guess)
    wrong = count_mistakes(state, learner.guess, 0, state.length, &distance)
    if state.first:
        state.add_mistakes(_mistakes(state, wrong, plain, trans, best))
    if wrong == 0:
        return False
    touch_rows(state, state.edges, variance, learner.guess)
    while True:
        begin, end = next_stretch(state, learner.guess, end, learner.split)
        if begin == state.length:
            return True
        _learn_stretch(learner, state, mean, variance, drift, values, begin, end)


cdef Py_ssize_t _find_rivals(
    ManyRivals learner, PassState state, real[::1] variance, const real[::1] values,
    const real[:, ::1] plain, const real[:, ::1] trans, real[:, ::1] best,
) noexcept nogil:
    """Collect the k best labelings that are wrong; return how many there are."""
    cdef Py_ssize_t z, found, wrong, n_rivals = 0
    cdef double distance = 0.0
    learner.heap.start(learner.k)
    found = k_best_paths(best, trans, state.length, state.n_labels, learner.heap,
                         learner.paths, learner.total)
    learner.delta.clear()
    for z in range(found):
        wrong = count_mistakes(state, learner.paths[z], 0, state.length, &distance)
        if state.first:
            state.add_mistakes(_mistakes(state, wrong, plain, trans, best))
        if wrong == 0:
            continue
        touch_rows(state, state.edges, variance, learner.paths[z])
        add_labelings(learner.delta, n_rivals, state, learner.paths[z], values, 0,
                      state.length)
        learner.loss[n_rivals] = distance
        n_rivals += 1
    return n_rivals


cdef bint _update_for_many(
    ManyRivals learner, PassState state, real[::1] mean, real[::1] variance,
    real[::1] drift, const real[::1] values, const real[:, ::1] plain,
    const real[:, ::1] trans, real[:, ::1] best,
) noexcept nogil:
    """Compare gold with the k best labelings; return whether one comes too close."""
    cdef Py_ssize_t z, n_rivals = _find_rivals(
        learner, state, variance, values, plain, trans, best)
    cdef bint violated = False
    read_belief(learner.delta, mean, variance, learner.margin)
    for z in range(n_rivals):
        learner.loss[z] -= learner.margin[z]
        violated = violated or learner.loss[z] > 0.0
    if violated:
        fill_gram(learner.delta, n_rivals, learner.gram)
        hildreth(learner.gram, learner.loss, n_rivals, learner.budget, learner.alpha)
        move_by_many(learner.delta, mean, drift, state.rounds, learner.alpha,
                     n_rivals, min(state.copies_left, 1.0))
    return violated


cdef _run(
    real[::1] mean, real[::1] variance, real[::1] drift, corpus, options,
    PassState state, OneRival one, ManyRivals many,
):
    """Present every sequence, in the given order, and update the belief in place.

    The learner is `one`, or `many` if that is None. Return the rows in use, the rounds,
    and how many sequences and tokens were wrong when first presented: those that the
    model gets wrong if the options ask to count them, those of the rival if not.
    """
    cdef const real[::1] values = corpus.values
    cdef const real[:, ::1] forbidden = options.forbidden
    dtype = np.asarray(mean).dtype
    shape = state.most_tokens, state.width
    cdef real[:, ::1] scores = np.empty(shape, dtype)
    cdef real[:, ::1] plain = np.empty(shape, dtype)
    cdef real[:, ::1] best = np.empty(shape, dtype)
    squares = 1 if state.edges is None else state.most_tokens
    cdef real[:, ::1] trans = np.zeros((squares * state.width, state.width), dtype)
    cdef Py_ssize_t t
    cdef double share
    cdef bint moved
    with nogil:
        for t in range(state.order.shape[0]):
            state.start_sequence(state.order[t])
            # A weight is a number of copies, presented one after the other; the
            # last one may be a fraction, whose step is scaled by it.
            while state.copies_left > 0.0:
                moved = False
                if state.length > 0:
                    _score(state, mean, values, forbidden, scores, plain, trans, best)
                    if one is not None:
                        moved = _update_for_one(one, state, mean, variance, drift,
                                                values, plain, trans, best)
                    else:
                        moved = _update_for_many(many, state, mean, variance, drift,
                                                 values, plain, trans, best)
                # If nothing moves, further copies would meet the same model.
                share = min(state.copies_left, 1.0) if moved else state.copies_left
                state.rounds += share * state.round_weight
                state.copies_left -= share
    return state.counts()


cdef _run_one(
    real[::1] mean, real[::1] variance, real[::1] drift, progress, corpus, options,
    double strength, double limit, bint split, Rule rule, Diagonal diagonal,
):
    """Run a pass of a learner that looks at one rival; see `_run`."""
    cdef PassState state = PassState(progress, corpus, options)
    cdef OneRival learner = OneRival(state)
    cdef ManyRivals no_other = None
    learner.strength, learner.limit, learner.split = strength, limit, split
    learner.rule, learner.diagonal = rule, diagonal
    return _run(mean, variance, drift, corpus, options, state, learner, no_other)


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
        margin, spread_of(delta), phi, limit * _first_step(delta, phi))


cdef (double, double) _optimal_cw_rule(
    Difference delta, double margin, double distance, double mean_cost, double phi,
    double limit
) noexcept nogil:
    phi *= mean_cost
    return optimal_cw_step(
        &delta.value[0, 0], &delta.sigma[0], delta.n, delta.n_rivals, margin,
        spread_of(delta), phi, limit * _first_step(delta, phi))


cdef (double, double) _arow_rule(
    Difference delta, double margin, double distance, double mean_cost, double r,
    double limit
) noexcept nogil:
    return arow_step(margin, spread_of(delta), distance, r)


cdef (double, double) _perceptron_rule(
    Difference delta, double margin, double distance, double mean_cost, double rate,
    double limit
) noexcept nogil:
    return rate * mean_cost, 0.0


def cw_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, progress, corpus, options,
    double phi, str diagonal, double limit=INFINITY, bint split=False,
):
    """Run one CW pass (Eq. 3); see `_run`.

    alpha goes no further than `limit` times what it would be at the prior.
    `progress` is (row_of, rows in use, rounds so far).
    """
    return _run_one(mean, variance, drift, progress, corpus, options, phi, limit, split,
                    _optimal_cw_rule if diagonal == "optimal" else _cw_rule,
                    covariance_diagonal if diagonal == "covariance"
                    else precision_diagonal)


def arow_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, progress, corpus, options,
    double r, str diagonal,
):
    """Run one AROW pass (Eq. 4); see `_run`.

    The best update among diagonal covariances is that of the precision's diagonal.
    """
    return _run_one(mean, variance, drift, progress, corpus, options, r, INFINITY,
                    False, _arow_rule,
                    covariance_diagonal if diagonal == "covariance"
                    else precision_diagonal)


def perceptron_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, progress, corpus, options,
):
    """Run one perceptron pass; `variance` is None. See `_run`."""
    return _run_one(mean, variance, drift, progress, corpus, options, 1.0, INFINITY,
                    False, _perceptron_rule, precision_diagonal)


def pa_pass(
    real[::1] mean, real[::1] variance, real[::1] drift, progress, corpus, options,
    double budget, Py_ssize_t k,
):
    """Run one PA pass with up to k rivals per sequence; see `_run`."""
    cdef PassState state = PassState(progress, corpus, options)
    cdef OneRival no_other = None
    cdef ManyRivals learner = ManyRivals(state, k, budget)
    return _run(mean, variance, drift, corpus, options, state, no_other, learner)
