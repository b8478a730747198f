# The exact update for several rivals at once (Sec. 5.2 of Crammer et al., 2009).
#
# Each rival r asks that the gold label leads it: margin >= phi * variance for the
# `Variance` form, margin >= phi * standard deviation for `Stdev`. The covariance is
# diagonal all along, so a rival's part of an update is two numbers: alpha, by which
# means move along Sigma g, and beta, which its g g' adds to the precision. Gold's
# weights get the sum of all, a rival's own weights its own.

# Some ten turns do; the bound makes the update end in any case.
cdef int MOST_TURNS = 200
# How near a constraint is met, relative to how much it was violated.
cdef double ROUNDING = 1e-12


cdef class Constraints:
    """The constraints of up to k rivals of one row's label.

    `part[0]` holds sigma x^2 of the gold label's weights, entry by entry, and
    `part[1 + j]` that of rival j.
    """

    cdef Py_ssize_t n, length
    cdef double[::1] alpha, beta, margin, spread
    cdef double own_spread, phi, gold_alpha, gold_spread
    cdef bint deviations
    cdef double[:, ::1] part

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


ctypedef double (*Excess)(Constraints joint, Py_ssize_t j, double x) noexcept nogil


cdef double _read_part(
    Constraints joint, Py_ssize_t place, const real* variance, Py_ssize_t stride,
    Row squares, Py_ssize_t label
) noexcept nogil:
    """Fill one row of `part`; return its sum, the variance of the label's score."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(squares.n):
        joint.part[place, i] = (
            squares.value[i] * variance[squares.index[i] * stride + label])
        total += joint.part[place, i]
    return total


cdef void read_constraints(
    Constraints joint, const real* variance, Py_ssize_t stride, Row squares,
    Py_ssize_t gold, const double* scores, const int[::1] rivals, Py_ssize_t k
) noexcept nogil:
    """Start from the belief as it is: no rival has asked for anything yet."""
    cdef Py_ssize_t j
    joint.n, joint.length = k, squares.n
    joint.own_spread = _read_part(joint, 0, variance, stride, squares, gold)
    for j in range(k):
        joint.spread[j] = _read_part(
            joint, 1 + j, variance, stride, squares, rivals[j])
        joint.margin[j] = scores[gold] - scores[rivals[j]]
        joint.alpha[j] = 0.0
        joint.beta[j] = 0.0


cdef void read_one_vector(
    Constraints joint, const real* variance, Py_ssize_t stride, Row squares,
    double margin
) noexcept nogil:
    """Read the one constraint of two classes: the rival has no weights of its own."""
    cdef Py_ssize_t i
    joint.n, joint.length = 1, squares.n
    joint.own_spread = _read_part(joint, 0, variance, stride, squares, 0)
    for i in range(squares.n):
        joint.part[1, i] = 0.0
    joint.spread[0] = joint.alpha[0] = joint.beta[0] = 0.0
    joint.margin[0] = margin


cdef double _least_root(
    Constraints joint, Excess excess, Py_ssize_t j, double guess
) noexcept nogil:
    """Return the least number that makes the excess, which grows, not negative.

    Regula falsi, in the Illinois form: an end that stays twice counts by half, or
    it would never change again. The excess at the number returned is the last computed.
    """
    cdef double low = 0.0, high = guess, middle, lead, close
    cdef double short = excess(joint, j, 0.0), over
    cdef int _turn, side = 0
    if short >= 0.0:
        return 0.0
    close = -ROUNDING * short
    over = excess(joint, j, high)
    for _turn in range(MOST_TURNS):
        if over >= 0.0:
            break
        low, short = high, over
        high *= 4.0
        over = excess(joint, j, high)
    for _turn in range(MOST_TURNS):
        if over <= close or high - low <= ROUNDING * high:
            break
        middle = (low * over - high * short) / (over - short)
        lead = excess(joint, j, middle)
        if lead >= 0.0:
            high, over = middle, lead
            short *= 0.5 if side > 0 else 1.0
            side = 1
        else:
            low, short = middle, lead
            over *= 0.5 if side < 0 else 1.0
            side = -1
    excess(joint, j, high)
    return high


cdef double _lead(Constraints joint, Py_ssize_t j, double beta) noexcept nogil:
    """Return by how much constraint j holds if its rival's precision gains beta.

    Gold's part is as `joint` says. The rival's means move apart and its variances
    shrink with beta, so this grows.
    """
    cdef double spread = joint.gold_spread + joint.shrunk(1 + j, beta)
    cdef double wanted = sqrt(spread) if joint.deviations else spread
    joint.beta[j] = beta
    # beta = 2 phi alpha for a bound on variances, phi alpha / deviation for the other.
    joint.alpha[j] = beta * (wanted if joint.deviations else 0.5) / joint.phi
    return (joint.margin[j] + joint.gold_alpha * joint.own_spread
            + joint.alpha[j] * joint.spread[j] - joint.phi * wanted)


cdef double _lone_lead(Constraints joint, Py_ssize_t j, double beta) noexcept nogil:
    """Return the same for an only rival, whose part is gold's part too."""
    joint.gold_spread = joint.shrunk(0, beta)
    joint.gold_alpha = 0.0
    return _lead(joint, j, beta) + joint.alpha[j] * joint.own_spread


cdef void _ask_rivals(Constraints joint) noexcept nogil:
    """Let every rival take the least that it needs, gold's part being given."""
    cdef Py_ssize_t j
    cdef double guess
    for j in range(joint.n):
        guess = joint.beta[j]
        if guess <= 0.0:
            guess = 1.0 / (joint.own_spread + joint.spread[j])
        _least_root(joint, _lead, j, guess)


cdef double _spare_alpha(Constraints joint, Py_ssize_t _j, double alpha) noexcept nogil:
    """Return by how much gold's alpha is more than the rivals ask for together."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    joint.gold_alpha = alpha
    _ask_rivals(joint)
    for j in range(joint.n):
        total += joint.alpha[j]
    return alpha - total


cdef double _spare_beta(Constraints joint, Py_ssize_t _j, double beta) noexcept nogil:
    """Return by how much gold's beta is more than the rivals ask for together."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    joint.gold_spread = joint.shrunk(0, beta)
    if joint.deviations:
        _least_root(joint, _spare_alpha, 0, 1.0 / joint.own_spread)
    else:
        joint.gold_alpha = 0.5 * beta / joint.phi
        _ask_rivals(joint)
    for j in range(joint.n):
        total += joint.beta[j]
    return beta - total


cdef bint solve_cw(Constraints joint, double phi, bint deviations) noexcept nogil:
    """Satisfy all rivals with the least change; return whether any pulls.

    The more gold's weights do, the less is left for each rival, so gold's part is a
    root too. One sweep after the other, as Hildreth's method goes, would take
    thousands where gold is much less certain than its rivals.
    """
    cdef Py_ssize_t j
    joint.phi, joint.deviations = phi, deviations
    if joint.own_spread <= 0.0:
        return False
    if joint.n == 1:
        _least_root(joint, _lone_lead, 0, 1.0 / (joint.own_spread + joint.spread[0]))
    else:
        _least_root(joint, _spare_beta, 0, 1.0 / joint.own_spread)
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
