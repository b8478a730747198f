"""The exact update for several rivals at once (Sec. 5.2 of Crammer et al., 2009).

Each rival r asks that the gold label leads it: margin >= phi * variance for the
`Variance` form, margin >= phi * standard deviation for `Stdev`. Hildreth's method
visits one constraint after the other, takes back what it had added, and adds what
it needs now. The covariance is diagonal all along, so a rival's part of an update is
two numbers: alpha, by which means move along Sigma g, and beta, which its g g' adds
to the precision. Gold's weights get the sum of all, a rival's own weights its own.
"""

from libc.math cimport fabs, sqrt

import numpy as np

from skcw._kernels.tables cimport Row
from skcw._kernels.types cimport real

# Some ten sweeps of some ten turns do; the bounds make the update end in any case.
cdef int MOST_SWEEPS = 1000
cdef int MOST_TURNS = 200
# How near a constraint is met, relative to how much it was violated.
cdef double ROUNDING = 1e-12


cdef class Constraints:
    """The constraints of up to k rivals of one row's label.

    `part[0]` holds sigma x^2 of the gold label's weights, entry by entry, and
    `part[1 + j]` that of rival j.
    """

    def __cinit__(self, Py_ssize_t k, Py_ssize_t longest):
        self.alpha = np.zeros(k)
        self.beta = np.zeros(k)
        self.margin = np.zeros(k)
        self.spread = np.zeros(k)
        self.part = np.empty((k + 1, longest))

    cdef double shrunk(self, Py_ssize_t label, double beta) noexcept nogil:
        """Return the variance of a label's score once its precision gained beta."""
        cdef Py_ssize_t i
        cdef double total = 0.0, part
        for i in range(self.length):
            part = self.part[label, i]
            total += part / (1.0 + beta * part)
        return total


cdef double _read_part(
    Constraints joint, Py_ssize_t place, const real* variance, Py_ssize_t width,
    Row squares, Py_ssize_t label
) noexcept nogil:
    """Fill one row of `part`; return its sum, the variance of the label's score."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(squares.n):
        joint.part[place, i] = (
            squares.value[i] * variance[squares.index[i] * width + label])
        total += joint.part[place, i]
    return total


cdef void read_constraints(
    Constraints joint, const real* variance, Py_ssize_t width, Row squares,
    Py_ssize_t gold, const double* scores, const int[::1] rivals, Py_ssize_t k
) noexcept nogil:
    """Start from the belief as it is: no rival has asked for anything yet."""
    cdef Py_ssize_t j
    joint.n, joint.length = k, squares.n
    joint.own_spread = _read_part(joint, 0, variance, width, squares, gold)
    for j in range(k):
        joint.spread[j] = _read_part(
            joint, 1 + j, variance, width, squares, rivals[j])
        joint.margin[j] = scores[gold] - scores[rivals[j]]
        joint.alpha[j] = 0.0
        joint.beta[j] = 0.0


cdef void read_one_vector(
    Constraints joint, const real* variance, Row squares, double margin
) noexcept nogil:
    """Read the one constraint of two classes: the rival has no weights of its own."""
    cdef Py_ssize_t i
    joint.n, joint.length = 1, squares.n
    joint.own_spread = _read_part(joint, 0, variance, 1, squares, 0)
    for i in range(squares.n):
        joint.part[1, i] = 0.0
    joint.spread[0] = joint.alpha[0] = joint.beta[0] = 0.0
    joint.margin[0] = margin


cdef (double, double) _others(Constraints joint, Py_ssize_t j) noexcept nogil:
    """Return what the other rivals add to gold: the sums of alpha and beta."""
    cdef Py_ssize_t i
    cdef double alpha = 0.0, beta = 0.0
    for i in range(joint.n):
        if i != j:
            alpha += joint.alpha[i]
            beta += joint.beta[i]
    return alpha, beta


cdef (double, double) _lead(
    Constraints joint, Py_ssize_t j, double alpha, double beta, double more,
    double phi, bint deviations
) noexcept nogil:
    """Return by how much constraint j holds if it adds `more`, and its alpha then.

    `alpha` and `beta` are what the others add to gold. The first number grows with
    `more`: means move apart and variances shrink.
    """
    cdef double spread = joint.shrunk(0, beta + more) + joint.shrunk(1 + j, more)
    cdef double wanted = sqrt(spread) if deviations else spread
    cdef double own = more * wanted / phi if deviations else more / (2.0 * phi)
    cdef double margin = (
        joint.margin[j] + alpha * joint.own_spread
        + own * (joint.own_spread + joint.spread[j]))
    return margin - phi * wanted, own


cdef void _project(
    Constraints joint, Py_ssize_t j, double phi, bint deviations
) noexcept nogil:
    """Set constraint j's part to the least that satisfies it (regula falsi)."""
    cdef double alpha, beta, low = 0.0, high, middle, short, over, lead, own, close
    cdef int _turn, side = 0
    alpha, beta = _others(joint, j)
    high = joint.beta[j]
    joint.alpha[j] = joint.beta[j] = 0.0
    short, own = _lead(joint, j, alpha, beta, 0.0, phi, deviations)
    if short >= 0.0 or joint.own_spread + joint.spread[j] <= 0.0:
        return
    close = -ROUNDING * short
    if high <= 0.0:
        high = (1.0 + phi * phi) / (joint.own_spread + joint.spread[j])
    over, own = _lead(joint, j, alpha, beta, high, phi, deviations)
    for _turn in range(MOST_TURNS):
        if over >= 0.0:
            break
        low, short = high, over
        high *= 4.0
        over, own = _lead(joint, j, alpha, beta, high, phi, deviations)
    for _turn in range(MOST_TURNS):
        if over <= close or high - low <= ROUNDING * high:
            break
        middle = (low * over - high * short) / (over - short)
        lead, own = _lead(joint, j, alpha, beta, middle, phi, deviations)
        # The end that stays is halved (Illinois), or it would stay for ever.
        if lead >= 0.0:
            high, over = middle, lead
            short *= 0.5 if side > 0 else 1.0
            side = 1
        else:
            low, short = middle, lead
            over *= 0.5 if side < 0 else 1.0
            side = -1
    over, own = _lead(joint, j, alpha, beta, high, phi, deviations)
    joint.alpha[j], joint.beta[j] = own, high


cdef double _violation(
    Constraints joint, double phi, bint deviations
) noexcept nogil:
    """Return by how much the worst constraint fails, relative to what it asks."""
    cdef Py_ssize_t j
    cdef double alpha, beta, spread, wanted, margin, worst = 0.0
    for j in range(joint.n):
        alpha, beta = _others(joint, j)
        spread = (joint.shrunk(0, beta + joint.beta[j])
                  + joint.shrunk(1 + j, joint.beta[j]))
        wanted = phi * (sqrt(spread) if deviations else spread)
        margin = (joint.margin[j] + (alpha + joint.alpha[j]) * joint.own_spread
                  + joint.alpha[j] * joint.spread[j])
        if wanted > 0.0:
            worst = max(worst, (wanted - margin) / wanted)
    return worst


cdef bint solve_cw(
    Constraints joint, double phi, bint deviations, double tol
) noexcept nogil:
    """Sweep until no constraint is violated by more than `tol`; tell if any pulls."""
    cdef Py_ssize_t j
    cdef int _sweep
    cdef double change, before
    for _sweep in range(MOST_SWEEPS):
        change = 0.0
        for j in range(joint.n):
            before = joint.beta[j]
            _project(joint, j, phi, deviations)
            if fabs(joint.beta[j] - before) > tol * max(before, joint.beta[j]):
                change = 1.0
        if change == 0.0 and _violation(joint, phi, deviations) <= tol:
            break
    for j in range(joint.n):
        if joint.alpha[j] > 0.0:
            return True
    return False


cdef bint solve_arow(Constraints joint, double r) noexcept nogil:
    """Solve AROW's squared hinges for all rivals: alpha_j = max(0, 1 - margin_j) / r.

    Rivals meet in gold's weights alone, so that alpha_j = max(0, 1 - m_j - A v) /
    (r + v_j), with A the sum of all alpha, v gold's spread and v_j the rival's. They
    come in rank order: those that pull are the first ones, and for them A solves a
    linear equation. A rival that pulls adds beta = 1 / r.
    """
    cdef Py_ssize_t j, n = 0
    cdef double total = 0.0, loss, rate, top = 0.0, bottom = 1.0
    while n < joint.n:
        loss = 1.0 - joint.margin[n]
        if loss <= total * joint.own_spread:
            break
        rate = 1.0 / (r + joint.spread[n])
        top += rate * loss
        bottom += rate * joint.own_spread
        total = top / bottom
        n += 1
    for j in range(n):
        loss = 1.0 - joint.margin[j] - total * joint.own_spread
        joint.alpha[j] = max(0.0, loss) / (r + joint.spread[j])
        joint.beta[j] = 1.0 / r
    return n > 0
