"""Closed-form and small iterative update steps.

Every step answers how far to move the mean (alpha) and how much precision to
add (beta): mean += alpha * sigma * delta, precision += beta * delta * delta.
Equation numbers are those of Mejer & Crammer (2010) unless another paper is named.
"""

from libc.math cimport INFINITY, fabs, sqrt

# The diagonal that a covariance keeps: its own, or that of its inverse.
ctypedef double (*Diagonal)(
    double sigma, double delta, double beta, double spread) noexcept nogil

cdef extern from *:
    """
    /* Single precision rounds smaller variances to zero. */
    #define SKCW_LEAST_VARIANCE 1e-30
    /* The relative error that the solution of the k-constraint problem may have. */
    #define SKCW_TOLERANCE 1e-12
    /* A budget counts as spent with so little of it left, relatively. */
    #define SKCW_BUDGET_TOLERANCE 1e-9
    """
    const double LEAST_VARIANCE "SKCW_LEAST_VARIANCE"
    const double TOLERANCE "SKCW_TOLERANCE"
    const double BUDGET_TOLERANCE "SKCW_BUDGET_TOLERANCE"


cdef inline (double, double) cw_step(
    double margin, double spread, double phi, double limit
) noexcept nogil:
    """Solve Eq. (3): the smallest change with margin >= phi * standard deviation.

    A finite `limit` makes the constraint soft: alpha goes no further (SCW-I of Wang,
    Zhao & Hoi, 2012, Proposition 1), and beta follows from the alpha that is left.
    """
    cdef double phi2 = phi * phi
    cdef double half = 1.0 + phi2 / 2.0   # phi' of the paper
    cdef double full = 1.0 + phi2         # phi'' of the paper
    cdef double root, alpha
    if spread <= 0.0:
        return 0.0, 0.0
    root = sqrt(margin * margin * phi2 * phi2 / 4.0 + spread * phi2 * full)
    alpha = (-margin * half + root) / (spread * full)
    if alpha <= 0.0:
        return 0.0, 0.0
    alpha = min(alpha, limit)
    return alpha, cw_precision(alpha, spread, phi)


cdef inline double cw_precision(double alpha, double spread, double phi) noexcept nogil:
    """Return the beta that goes with any alpha: alpha * phi / sqrt(v+)."""
    # The square root of v+, in a form that does not cancel for large alpha.
    cdef double shrunk = alpha * spread * phi
    shrunk = 2.0 * spread / (shrunk + sqrt(shrunk * shrunk + 4.0 * spread))
    return alpha * phi / shrunk


cdef inline (double, double) variance_step(
    double margin, double spread, double phi
) noexcept nogil:
    """Solve Eq. (7) of Crammer et al. (2009): margin >= phi * variance, linearized.

    alpha v is the positive root of 2 phi z^2 + (1 + 2 phi m) z + (m - phi v), in the
    form that does not cancel; beta = 2 alpha phi by Eq. (8).
    """
    cdef double middle = 1.0 + 2.0 * phi * margin
    cdef double other = 1.0 - 2.0 * phi * margin
    cdef double root, alpha
    if spread <= 0.0 or margin >= phi * spread:
        return 0.0, 0.0
    # (1 + 2 phi m)^2 - 8 phi (m - phi v), which is never negative.
    root = sqrt(other * other + 8.0 * phi * phi * spread)
    if middle >= 0.0:
        alpha = 2.0 * (phi * spread - margin) / (middle + root) / spread
    else:
        alpha = (root - middle) / (4.0 * phi * spread)
    return alpha, 2.0 * alpha * phi


cdef inline (double, double) arow_step(
    double margin, double spread, double distance, double r
) noexcept nogil:
    """Solve Eq. (4): a hinge loss of `distance`, with beta = 1 / r."""
    if distance <= margin:
        return 0.0, 0.0
    return (distance - margin) / (r + spread), 1.0 / r


cdef inline double covariance_diagonal(
    double sigma, double delta, double beta, double spread
) noexcept nogil:
    """Return the diagonal of the full new covariance (Sherman-Morrison)."""
    # The true value is positive; rounding may not take a variance to zero.
    cdef double pull = sigma * delta
    cdef double smaller = sigma - beta * pull * pull / (1.0 + beta * spread)
    return max(smaller, 1e-12 * sigma, LEAST_VARIANCE)


cdef inline double precision_diagonal(
    double sigma, double delta, double beta, double spread
) noexcept nogil:
    """Return the inverse of the new precision, which grows by beta delta squared."""
    return max(sigma / (1.0 + sigma * beta * delta * delta), LEAST_VARIANCE)


cdef inline double _spread_after(
    const double* delta, const double* sigma, Py_ssize_t n, Py_ssize_t stride,
    double beta
) noexcept nogil:
    """Return delta' Sigma+ delta when Sigma stays diagonal and gains beta."""
    cdef Py_ssize_t k
    cdef double square, total = 0.0
    for k in range(n):
        square = delta[k * stride] * delta[k * stride]
        total += square * sigma[k] / (1.0 + sigma[k] * beta * square)
    return total


cdef inline (double, double) optimal_cw_step(
    const double* delta, const double* sigma, Py_ssize_t n, Py_ssize_t stride,
    double margin, double spread, double phi, double limit
) noexcept nogil:
    """Solve the CW problem among diagonal covariances by a one-dimensional search.

    With u(beta) the new standard deviation, alpha = beta * u / phi and the
    constraint reads margin + u * (spread * beta / phi - phi) = 0, which grows
    with beta; the root is bracketed and bisected. alpha grows with beta too: under a
    `limit` the search ends where alpha reaches it, if that comes first.
    """
    cdef double low = 0.0, high, middle, deviation
    cdef int _turn
    if spread <= 0.0 or margin >= phi * sqrt(spread):
        return 0.0, 0.0
    high = phi * phi / spread + 1.0 / spread
    for _turn in range(200):
        deviation = sqrt(_spread_after(delta, sigma, n, stride, high))
        if (margin + deviation * (spread * high / phi - phi) >= 0.0
                or high * deviation >= limit * phi):
            break
        low = high
        high *= 4.0
    for _turn in range(100):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        deviation = sqrt(_spread_after(delta, sigma, n, stride, middle))
        if (margin + deviation * (spread * middle / phi - phi) >= 0.0
                or middle * deviation >= limit * phi):
            high = middle
        else:
            low = middle
    deviation = sqrt(_spread_after(delta, sigma, n, stride, high))
    return high * deviation / phi, high


cdef inline double _used(double[::1] alpha, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n):
        total += alpha[i]
    return total


cdef inline double _gain(
    double[:, ::1] gram, double[::1] loss, Py_ssize_t n, double[::1] alpha,
    Py_ssize_t i
) noexcept nogil:
    """Return how much constraint i is still violated: the dual's gradient."""
    cdef Py_ssize_t j
    cdef double value = loss[i]
    for j in range(n):
        value -= gram[i, j] * alpha[j]
    return value


cdef inline double _trade(
    double[:, ::1] gram, double[::1] loss, Py_ssize_t n, double[::1] alpha
) noexcept nogil:
    """Move budget from the least to the most violated constraint; return their gap."""
    cdef Py_ssize_t i, poor = -1, rich = -1
    cdef double gain, most = -INFINITY, least = INFINITY, bend, amount
    for i in range(n):
        if gram[i, i] <= 0.0:
            continue
        gain = _gain(gram, loss, n, alpha, i)
        if gain > most:
            most, poor = gain, i
        if alpha[i] > 0.0 and gain < least:
            least, rich = gain, i
    if rich < 0 or most <= least:
        return 0.0
    bend = gram[poor, poor] + gram[rich, rich] - 2.0 * gram[poor, rich]
    amount = (most - least) / bend if bend > 0.0 else alpha[rich]
    if amount > alpha[rich]:
        amount = alpha[rich]
    alpha[poor] += amount
    alpha[rich] -= amount
    return most - least


cdef inline double _sweep(
    double[:, ::1] gram, double[::1] loss, Py_ssize_t n, double budget,
    double[::1] alpha
) noexcept nogil:
    """Set one multiplier after the other to its best value; return the change.

    A rival that has the features of gold cannot be separated from it: its row
    of the Gram matrix is zero and it gets nothing.
    """
    cdef Py_ssize_t i
    cdef double step, room, change = 0.0
    for i in range(n):
        if gram[i, i] <= 0.0:
            continue
        step = _gain(gram, loss, n, alpha, i) / gram[i, i]
        room = budget - _used(alpha, n)
        if step > room:
            # Rounding errors in the wrong place would be traded forever.
            step = room if room > TOLERANCE * budget else 0.0
        if step < -alpha[i]:
            step = -alpha[i]
        alpha[i] += step
        change += fabs(step)
    return change


cdef inline void hildreth(
    double[:, ::1] gram, double[::1] loss, Py_ssize_t n, double budget,
    double[::1] alpha
) noexcept nogil:
    """Solve the k-constraint PA problem: alpha >= 0, sum(alpha) <= budget.

    Hildreth's sweeps visit one multiplier at a time. All constraints share one
    slack, so the multipliers share one budget; a sweep over single multipliers
    can stall when it is spent, and then multipliers trade in pairs until all that
    pull are violated by the same amount.
    """
    cdef Py_ssize_t i, _round, _pair
    cdef double change, gap, scale = 1.0
    for i in range(n):
        alpha[i] = 0.0
        scale = max(scale, fabs(loss[i]))
    # Some dozen sweeps do; rivals that are nearly the same take thousands.
    for _round in range(10000):
        change = _sweep(gram, loss, n, budget, alpha)
        gap = 0.0
        if _used(alpha, n) >= budget * (1.0 - BUDGET_TOLERANCE):
            for _pair in range(n):
                gap = _trade(gram, loss, n, alpha)
                if gap <= TOLERANCE * scale:
                    break
        if change <= TOLERANCE * _used(alpha, n) and gap <= TOLERANCE * scale:
            break
