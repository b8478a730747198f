"""Pairs of a prediction and an outcome whose CalibMSE is known."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

N_QUANTILES = 100_000


def moved(p, shift):
    """Return probabilities moved away from one half, and cut to what may be one."""
    return np.where(p > 0.5, np.minimum(1, p + shift), np.maximum(0, p - shift))


@dataclass(frozen=True)
class BetaPredictions:
    """The thesis's set-up: predictions of a beta distribution, outcomes moved.

    The prediction q is drawn from Beta(a, b), the outcome from Bernoulli(t(q)), where t
    moves q away from one half by a shift k of at most one half.
    """

    a: float
    b: float

    def draw(self, n, shift, rng):
        """Return n outcomes and their predictions."""
        q = rng.beta(self.a, self.b, size=n)
        return rng.uniform(size=n) < moved(q, shift), q

    def true_mse(self, shift):
        """Return E[(t(q) - q)^2], which CalibMSE estimates.

        q is moved by k, except that it cannot go further than to 0 or 1: where q < k
        it is moved by q, where q > 1 - k by 1 - q.
        """
        between = beta.cdf(1 - shift, self.a, self.b) - beta.cdf(shift, self.a, self.b)
        ends = (
            _square_below(shift, self.a, self.b),
            _square_below(shift, self.b, self.a),
        )
        return float(sum(ends) + shift**2 * between)

    def chance(self, shift):
        """Return what outcomes add to CalibMSE, times the size of the bins."""
        q = beta.ppf((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES, self.a, self.b)
        p = moved(q, shift)
        return float(np.mean(p * (1 - p)))


def _square_below(limit, a, b):
    """Return E[q^2; q < limit] of Beta(a, b): q^2 makes it Beta(a + 2, b)."""
    second_moment = a * (a + 1) / ((a + b) * (a + b + 1))
    return second_moment * beta.cdf(limit, a + 2, b)


@dataclass(frozen=True)
class MovedClaims:
    """The other way round: true probabilities p are uniform, the claims are t(p).

    Claims of 0 and of 1 gather what was cut there, of many probabilities.
    """

    def draw(self, n, shift, rng):
        """Return n outcomes and the claims about them."""
        p = rng.uniform(size=n)
        claimed = moved(p, shift)
        return rng.uniform(size=n) < p, claimed

    def true_mse(self, shift):
        """Return CalibMSE of endless pairs in endless bins.

        Claims between the ends are off by k; those that were cut to 0 or 1, a share of
        k at each end, have a mean probability of k / 2 or 1 - k / 2.
        """
        return (1 - 2 * shift) * shift**2 + 2 * shift * (shift / 2) ** 2

    def chance(self, shift):
        """Return what outcomes add to CalibMSE, times the size of the bins."""
        return 1 / 6


DESIGNS = {
    "beta(1, 1)": BetaPredictions(1, 1),
    "beta(0.5, 0.5)": BetaPredictions(0.5, 0.5),
    "beta(5, 1)": BetaPredictions(5, 1),
    "beta(2, 5)": BetaPredictions(2, 5),
    "claims moved": MovedClaims(),
}
