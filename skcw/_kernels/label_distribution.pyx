"""The distribution over labels whose scores are independent Gaussians.

Pr[y] = E_{s ~ N(m_y, v_y)} prod_{k != y} Phi((s - m_k) / sqrt(v_k))

is the probability that a score drawn for y is the greatest. `exact_distribution`
integrates, `drawn_distribution` counts draws as the multi-class paper does.

Where to integrate
    Let F(s) be the product of all cdfs Phi_k(s), the probability that every score is
    below s. The leader is the label with the greatest low end, m - CUTOFF * deviation;
    what happens below that end has at most the probability Phi(-CUTOFF). A label that
    beats the leader with less than Phi(-CUTOFF) is left out of the integral and gets
    that probability, an upper bound. The window of every other label,
    m -+ CUTOFF * deviation, reaches down to the leader's low end or below it. So the
    windows are nested upwards: the further up, the wider the labels that are still
    there, and panels may grow in proportion to the height. Their number rises with the
    logarithm of the ratio of the deviations.

How wide a panel may be
    All integrands are entire functions, for which Gauss's rule converges faster than
    geometrically once a panel is no wider than a few of the narrowest deviations.
    The product of many cdfs varies faster than each of them, fastest where all have
    the same deviation: a panel has PANEL_WIDTH narrowest deviations at most, and fewer
    where it is crowded. By itself this erred by up to 1e-9 with 20 labels and by up
    to 4e-8 with hundreds of equal ones, measured against panels of a seventh.

How the tolerance is kept
    Over a panel the integrals of all labels add up to F(high) - F(low), of which one
    is known from the panel above and the other from the rule's first place. A panel
    that misses this by more than PANEL_ERROR is cut in half. Panels go downwards until
    F is below NEGLIGIBLE, or to a score without variance, whose probability is F there.
"""

from libc.math cimport INFINITY, NAN, M_PI, erfc, exp, fabs, hypot, log, sqrt

import numpy as np


cdef extern from "label_lanes.h" nogil:
    enum: SKCW_FOUR, SKCW_PLACES
    void skcw_normal_cdf(double*, Py_ssize_t)
    double skcw_label_panel(
        double*, double*, double*, const double*, const double*, Py_ssize_t, double,
        double)
    void skcw_label_winners(
        long long*, const double*, const double*, const double*, Py_ssize_t, Py_ssize_t)

# In deviations: a label that is left out wins with at most Phi(-CUTOFF) = 1e-11.
cdef double CUTOFF = 6.7
# Labels that are so far below a panel are not part of it; Phi(-PANEL_CUTOFF) = 1e-12.
cdef double PANEL_CUTOFF = 7.0
# A label so many times narrower than the leader is no higher than the leader's low end,
# where it cannot win.
cdef double MAX_WIDTH_RATIO = 1024.0

# How many of the narrowest deviations a panel has, and which share of them at least.
# Labels that are CROWD_CUTOFF deviations below do not crowd a panel.
cdef double PANEL_WIDTH = 7.0
cdef double LEAST_PANEL_SHARE = 0.35
cdef double CROWD_CUTOFF = 2.5

# The labels of a panel may miss their common probability by this.
cdef double PANEL_ERROR = 1e-9
# An eighth of a panel is narrow beyond doubt: its error is rounding.
cdef int MOST_HALVINGS = 3
# So little probability is no longer looked for.
cdef double NEGLIGIBLE = 1e-9


cdef double _cdf(double z) noexcept nogil:
    """Phi(z), right in relative terms far down its lower tail too."""
    return 0.5 * erfc(-z * 0.70710678118654752440)


cdef Py_ssize_t _by_fours(Py_ssize_t n) noexcept nogil:
    return (n + SKCW_FOUR - 1) // SKCW_FOUR * SKCW_FOUR


cdef class Race:
    """Buffers for the labels of one row."""

    cdef Py_ssize_t n_labels, n_out, n_in, n_wide, n_there
    cdef Py_ssize_t leader
    # Of every label.
    cdef double[::1] deviation
    # Labels that are left out, with how often they beat the leader; labels that are in.
    cdef long long[::1] left_out, inside
    cdef double[::1] beats
    # Of the labels inside that have a variance; means are relative to the leader's.
    cdef long long[::1] wide
    cdef double[::1] mean, width, rate, reach, total
    # Of those of them that are there in a panel.
    cdef long long[::1] there
    cdef double[::1] center, pace, chance, edge, room

    def __init__(self, Py_ssize_t n_labels):
        size = _by_fours(n_labels)
        self.n_labels = n_labels
        self.left_out, self.inside, self.wide, self.there = (
            np.zeros(size, dtype=np.int64) for _ in range(4))
        (self.deviation, self.beats, self.mean, self.width, self.rate, self.reach,
         self.total, self.center, self.pace, self.chance, self.edge) = (
            np.zeros(size) for _ in range(11))
        self.room = np.zeros(2 * size * SKCW_PLACES)

    cdef void run(
        self, const double[::1] scores, const double[::1] spreads, double[::1] out,
    ) noexcept nogil:
        """Write the distribution of one row."""
        cdef Py_ssize_t k
        cdef double total = 0.0
        if not self.find_leader(scores, spreads):
            for k in range(self.n_labels):
                out[k] = NAN
            return
        self.choose(scores, spreads)
        for k in range(self.n_out):
            out[self.left_out[k]] = self.beats[k]
        if self.n_in == 1:
            out[self.leader] = 1.0
        elif self.n_in == 2:
            self.duel(scores, out)
        else:
            self.integrate(scores, out)
        for k in range(self.n_labels):
            total += out[k]
        for k in range(self.n_labels):
            out[k] /= total

    cdef bint find_leader(
        self, const double[::1] scores, const double[::1] spreads,
    ) noexcept nogil:
        """Find the greatest low end; return whether all numbers are finite."""
        cdef Py_ssize_t k
        cdef double low, best = -INFINITY
        cdef bint finite = True
        self.leader = 0
        for k in range(self.n_labels):
            self.deviation[k] = sqrt(spreads[k])
            low = scores[k] - CUTOFF * self.deviation[k]
            finite = finite and fabs(low) < INFINITY
            # A score without variance comes first, so that the low end is its place.
            if low > best or (low == best and spreads[k] < spreads[self.leader]):
                best = low
                self.leader = k
        return finite

    cdef void choose(
        self, const double[::1] scores, const double[::1] spreads,
    ) noexcept nogil:
        """Part the labels that can win from those that cannot."""
        cdef Py_ssize_t k, star = self.leader
        cdef double behind, both
        self.n_in = self.n_out = 0
        for k in range(self.n_labels):
            behind = scores[star] - scores[k]
            both = sqrt(spreads[k] + spreads[star])
            if self.n_labels > 2 and behind > 0.0 and (
                    behind > CUTOFF * both
                    or self.deviation[k] * MAX_WIDTH_RATIO < self.deviation[star]):
                self.left_out[self.n_out] = k
                self.beats[self.n_out] = -behind / both if both > 0.0 else -INFINITY
                self.n_out += 1
            else:
                self.inside[self.n_in] = k
                self.n_in += 1
        skcw_normal_cdf(&self.beats[0], _by_fours(self.n_out))

    cdef void duel(self, const double[::1] scores, double[::1] out) noexcept nogil:
        """Two labels: Phi(M / sqrt(V)) of their difference, and a tie is shared."""
        cdef Py_ssize_t one = self.inside[0], two = self.inside[1]
        cdef double ahead = scores[one] - scores[two]
        cdef double both = hypot(self.deviation[one], self.deviation[two])
        if both > 0.0:
            ahead /= both
        elif ahead != 0.0:
            ahead = INFINITY if ahead > 0.0 else -INFINITY
        out[one] = _cdf(ahead)
        out[two] = _cdf(-ahead)

    cdef void line_up(self, const double[::1] scores) noexcept nogil:
        """List the labels inside that have a variance."""
        cdef Py_ssize_t i, k
        self.n_wide = 0
        for i in range(self.n_in):
            k = self.inside[i]
            if self.deviation[k] > 0.0:
                self.wide[self.n_wide] = k
                self.mean[self.n_wide] = scores[k] - scores[self.leader]
                self.width[self.n_wide] = self.deviation[k]
                self.rate[self.n_wide] = 1.0 / self.deviation[k]
                self.reach[self.n_wide] = (
                    self.mean[self.n_wide] + PANEL_CUTOFF * self.deviation[k])
                self.total[self.n_wide] = 0.0
                self.n_wide += 1

    cdef double top(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double high = -INFINITY
        for k in range(self.n_wide):
            high = max(high, self.mean[k] + CUTOFF * self.width[k])
        return high

    cdef double all_below(self, double high) noexcept nogil:
        """F(high)."""
        cdef Py_ssize_t k
        cdef double product = 1.0
        for k in range(self.n_wide):
            self.edge[k] = (high - self.mean[k]) * self.rate[k]
        skcw_normal_cdf(&self.edge[0], _by_fours(self.n_wide))
        for k in range(self.n_wide):
            product *= self.edge[k]
        return product

    cdef double next_low(self, double high) noexcept nogil:
        """Where the panel below `high` ends."""
        cdef Py_ssize_t k
        cdef double low = -INFINITY, crowd = 0.0, share
        for k in range(self.n_wide):
            # Above where the label is, or near enough for it.
            low = max(low, min(self.reach[k], high - PANEL_WIDTH * self.width[k]))
        for k in range(self.n_wide):
            if self.mean[k] + CROWD_CUTOFF * self.width[k] > low:
                share = (high - low) * self.rate[k] / PANEL_WIDTH
                crowd += share * share
        if crowd <= 1.0:
            return low
        share = LEAST_PANEL_SHARE + (1.0 - LEAST_PANEL_SHARE) / sqrt(crowd)
        return high - (high - low) * share

    cdef double look(self, double low, double high) noexcept nogil:
        """Integrate over one panel; return F(low)."""
        cdef Py_ssize_t k
        self.n_there = 0
        for k in range(self.n_wide):
            if self.reach[k] > low:
                self.there[self.n_there] = k
                self.center[self.n_there] = self.mean[k]
                self.pace[self.n_there] = self.rate[k]
                self.n_there += 1
        return skcw_label_panel(
            &self.chance[0], &self.edge[0], &self.room[0], &self.center[0],
            &self.pace[0], self.n_there, low, high - low)

    cdef double go_down(self, double bottom) noexcept nogil:
        """Add up the panels into `total`; return F where they end."""
        cdef Py_ssize_t k
        cdef int halvings = 0
        cdef double high = self.top(), low = 0.0, below_low, missed
        cdef double below_high = self.all_below(high)
        self.n_there = 0
        while high > bottom and below_high > NEGLIGIBLE:
            if halvings > 0:
                low = high - 0.5 * (high - low)
            else:
                low = max(bottom, self.next_low(high))
            below_low = self.look(low, high)
            missed = below_high - below_low
            for k in range(self.n_there):
                missed -= self.chance[k]
            if fabs(missed) > PANEL_ERROR and halvings < MOST_HALVINGS:
                halvings += 1
                continue
            for k in range(self.n_there):
                self.total[self.there[k]] += self.chance[k]
            high = low
            below_high = below_low
            halvings = 0
        return below_high

    cdef void integrate(self, const double[::1] scores, double[::1] out) noexcept nogil:
        """Three labels or more."""
        cdef Py_ssize_t k
        cdef double rest = 1.0, at_edge = 0.0
        self.line_up(scores)
        if self.n_wide > 0:
            rest = self.go_down(-CUTOFF * self.deviation[self.leader])
        if self.n_wide < self.n_in:
            # Scores without variance are equal here, and greatest if all others are
            # below them.
            for k in range(self.n_in):
                out[self.inside[k]] = rest / (self.n_in - self.n_wide)
        else:
            # The next to nothing that is left is shared as at the last place.
            for k in range(self.n_there):
                at_edge += self.edge[k]
            for k in range(self.n_there):
                if at_edge > 0.0:
                    self.total[self.there[k]] += rest * (self.edge[k] / at_edge)
        for k in range(self.n_wide):
            out[self.wide[k]] = self.total[k]


def _check_shapes(scores, spreads):
    if scores.shape != spreads.shape or scores.shape[1] == 0:
        raise ValueError(
            "scores and spreads must have the same shape and one label or more, got "
            f"{scores.shape} and {spreads.shape}")


def exact_distribution(const double[:, ::1] scores, const double[:, ::1] spreads):
    """Return how likely each label's score is the greatest, right to 1e-8.

    ``scores`` (n_rows, n_labels) are the means and ``spreads`` the variances, which
    may be zero; labels without variance share a tie. Rows with a number that is not
    finite, or a variance below zero, become NaN.
    """
    cdef Py_ssize_t i
    _check_shapes(np.asarray(scores), np.asarray(spreads))
    cdef Race race = Race(scores.shape[1])
    cdef double[:, ::1] out = np.empty((scores.shape[0], scores.shape[1]))
    with nogil:
        for i in range(scores.shape[0]):
            race.run(scores[i], spreads[i], out[i])
    return np.asarray(out)


cdef void _count(
    const double[::1] scores, const double[::1] spreads, const double[:, ::1] noise,
    Py_ssize_t n_draws, double[::1] mean, double[::1] deviation,
    long long[::1] winner, double[::1] out,
) noexcept nogil:
    """Write how often each label of one row wins a draw."""
    cdef Py_ssize_t k, d, n_labels = scores.shape[0], n_fixed = 0, first = 0
    cdef double top = -INFINITY, fixed = -INFINITY, nothing = 0.0
    for k in range(n_labels):
        top = max(top, scores[k])
        deviation[k] = sqrt(spreads[k])
        if not fabs(scores[k]) + deviation[k] < INFINITY:
            nothing = NAN
    for k in range(n_labels):
        # Relative to the greatest, small deviations are not rounded away.
        mean[k] = scores[k] - top
        out[k] = nothing
        if deviation[k] == 0.0 and mean[k] > fixed:
            fixed, first, n_fixed = mean[k], k, 0
        if deviation[k] == 0.0 and mean[k] == fixed:
            n_fixed += 1
    skcw_label_winners(
        &winner[0], &mean[0], &deviation[0], &noise[0, 0], n_labels, noise.shape[1])
    for d in range(n_draws):
        out[winner[d]] += 1.0
    for k in range(n_labels):
        out[k] /= n_draws
    # Of labels that are equal in every draw the first won: they share.
    if n_fixed > 1:
        out[first] /= n_fixed
        for k in range(first + 1, n_labels):
            if deviation[k] == 0.0 and mean[k] == fixed:
                out[k] = out[first]


def drawn_distribution(
    const double[:, ::1] scores, const double[:, ::1] spreads, noise,
):
    """Return the share of draws in which each label's score is the greatest.

    ``noise`` (n_draws, n_labels) are standard normals, the same for every row, so that
    no row depends on the others. Ties and bad rows are as in `exact_distribution`.
    """
    cdef Py_ssize_t i, n_draws, n_labels = scores.shape[1]
    _check_shapes(np.asarray(scores), np.asarray(spreads))
    if noise.ndim != 2 or noise.shape[1] != n_labels or noise.shape[0] == 0:
        raise ValueError(
            f"noise must have the shape (n_draws, {n_labels}) and one draw or more, "
            f"got {noise.shape}")
    n_draws = noise.shape[0]
    by_label = np.zeros((n_labels, _by_fours(n_draws)))
    by_label[:, :n_draws] = noise.T
    cdef const double[:, ::1] draws = by_label
    cdef double[::1] mean = np.empty(n_labels), deviation = np.empty(n_labels)
    cdef long long[::1] winner = np.empty(draws.shape[1], dtype=np.int64)
    cdef double[:, ::1] out = np.empty((scores.shape[0], n_labels))
    with nogil:
        for i in range(scores.shape[0]):
            _count(scores[i], spreads[i], draws, n_draws, mean, deviation, winner,
                   out[i])
    return np.asarray(out)


# The variance of Gumbel's distribution of temperature one.
cdef double GUMBEL = M_PI * M_PI / 6.0

# Sums over the labels of a row: of probabilities, of their products with scores,
# deviations and both, and of scores and deviations alone.
cdef struct LabelSums:
    double total, score, square, deviation, deviations, both, scores, widths


cdef inline LabelSums _sums_of_labels(
    double* cautious, const double[:, ::1] scores, const double[:, ::1] deviations,
    Py_ssize_t i, double caution, double rate
) noexcept nogil:
    """Fill in the scores of a row less caution and less the best; return the sums."""
    cdef LabelSums sums
    cdef Py_ssize_t c, n_labels = scores.shape[1]
    cdef double best = -INFINITY, x, d, p
    sums.total = sums.score = sums.square = sums.deviation = sums.deviations = 0.0
    sums.both = sums.scores = sums.widths = 0.0
    for c in range(n_labels):
        cautious[c] = scores[i, c] - caution * deviations[i, c]
        best = max(best, cautious[c])
    for c in range(n_labels):
        cautious[c] -= best
        x, d = cautious[c], deviations[i, c]
        p = exp(rate * x)
        sums.total += p
        sums.score += p * x
        sums.square += p * x * x
        sums.deviation += p * d
        sums.deviations += p * d * d
        sums.both += p * x * d
        sums.scores += x
        sums.widths += d
    return sums


def softmax_loss(
    const double[::1] point, const double[:, ::1] scores,
    const double[:, ::1] deviations, const double[::1] shares, const int[::1] gold,
    const double[::1] weight, double smooth,
):
    """Return the log loss at (noise, scale, caution), its gradient and curvature.

    Each score less `caution` deviations is divided by the temperature of its row, whose
    variance is `noise` and `scale` times the row's share. `smooth` of the truth is left
    to the labels but gold. The curvature is Fisher's information: the part of the
    second derivatives that is never negative.
    """
    cdef Py_ssize_t i, j, k, n_labels = scores.shape[1]
    cdef double noise = point[0], scale = point[1], caution = point[2], value = 0.0
    cdef double variance, rate, gain, spread, excess, cross
    cdef double other = smooth / (n_labels - 1), own = 1.0 - smooth - other
    cdef double[2] rates
    cdef LabelSums sums
    cdef double[::1] cautious = np.empty(n_labels)
    found = np.zeros(3), np.zeros((3, 3))
    cdef double[::1] gradient = found[0]
    cdef double[:, ::1] curvature = found[1]
    with nogil:
        for i in range(scores.shape[0]):
            variance = noise + scale * shares[i]
            rate = sqrt(GUMBEL / variance)
            sums = _sums_of_labels(
                &cautious[0], scores, deviations, i, caution, rate)
            # Means over the labels from here on.
            sums.score /= sums.total
            sums.deviation /= sums.total
            gain = other * sums.scores + own * cautious[gold[i]]
            value += weight[i] * (log(sums.total) - rate * gain)
            excess = sums.deviation - (
                other * sums.widths + own * deviations[i, gold[i]])
            # The rate by what it is made of.
            rates[0] = -0.5 * rate / variance
            rates[1] = rates[0] * shares[i]
            spread = weight[i] * (sums.square / sums.total - sums.score * sums.score)
            cross = weight[i] * rate * (
                sums.both / sums.total - sums.score * sums.deviation)
            for j in range(2):
                gradient[j] += rates[j] * weight[i] * (sums.score - gain)
                curvature[2, j] -= rates[j] * cross
                for k in range(j + 1):
                    curvature[j, k] += rates[j] * rates[k] * spread
            gradient[2] -= weight[i] * rate * excess
            curvature[2, 2] += weight[i] * rate * rate * (
                sums.deviations / sums.total - sums.deviation * sums.deviation)
        for j in range(3):
            for k in range(j):
                curvature[k, j] = curvature[j, k]
    return value, *found
