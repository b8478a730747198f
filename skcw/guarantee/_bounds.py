"""Evidence that a risk is below a bound, from sentences and not from words.

Of the things that one sentence (or document, or row) contributes, some count as losses.
A risk is the ratio of expected losses to expected things, so it is at most ``alpha`` if
a sentence's *excess*, losses − alpha · things, has no positive mean. Each function here
returns evidence against the contrary, in nats: where the contrary is true, evidence of
``log(1 / delta)`` or more has a probability of at most ``delta``.
"""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

# Shares of the capital that are put at stake, relative to what the worst sentence could
# take. The best one depends on how errors cluster, so all are played at once.
STAKES = (0.9, 0.5, 0.25, 0.12, 0.06)


def running_excess(change, group, start):
    """Return the excess of a sentence after each of its events.

    Parameters
    ----------
    change : ndarray of shape (n_events,)
        What each event adds, in the order in which the events happen.
    group : ndarray of int, shape (n_events,)
        The sentence of each event.
    start : ndarray of shape (n_groups,)
        The excess of every sentence before all events.

    Returns
    -------
    order : ndarray of int, shape (n_events,)
        The events sentence by sentence.
    excess : ndarray of shape (n_events,)
        The excess after each event, in that order.
    first : ndarray of bool, shape (n_events,)
        Whether an event is the first of its sentence, in that order.
    """
    order = np.argsort(group, kind="stable")
    group = group[order]
    total = np.cumsum(change[order])
    first = np.ones(len(group), dtype=bool)
    first[1:] = group[1:] != group[:-1]
    # What other sentences had added before the first event of each sentence.
    begins = np.flatnonzero(first)
    earlier = np.concatenate([[0.0], total])[begins]
    lengths = np.diff(np.append(begins, len(group)))
    return order, total - np.repeat(earlier, lengths) + start[group], first


def capital(change, group, start, alpha, most):
    """Return evidence by betting that the mean excess of a sentence is not positive.

    A gambler who stakes ``b`` on each of n sentences owns ``prod(1 - b * excess)``. If
    the mean excess is zero or more, the game is fair or worse for him, and he owns
    ``1 / delta`` with a probability of at most ``delta`` (Markov). Several stakes are
    played with equal shares of the money. The product does not depend on the order of
    sentences, grows as fast as the variance of the excess allows, and each further copy
    of all sentences can only multiply a capital above one.

    Parameters
    ----------
    change, group, start : ndarray
        What each event adds to the excess of its sentence, in the order of events; the
        sentence of each; and the excess of every sentence before.
    alpha : float
        The risk, from 0 to 1.
    most : float
        The most losses that one sentence can have. One that has k times as many counts
        as k of the worst ones.

    Returns
    -------
    evidence : ndarray of shape (n_events + 1,)
        The logarithm of the capital before the first event and after each.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, *Estimating means of bounded random variables by
    betting*, 2024, Section 4.
    """
    order, excess, first = running_excess(change, group, start)
    worst = (1.0 - alpha) * most
    owned = np.empty((len(STAKES), len(change) + 1))
    for row, stake in zip(owned, STAKES, strict=True):
        bet = stake / most
        before = _log_factor(start, bet, worst)
        after = _log_factor(excess, bet, worst)
        gained = np.diff(after, prepend=0.0)
        gained[first] = after[first] - before[group[order][first]]
        row[0] = before.sum()
        row[1 + order] = gained
        np.cumsum(row, out=row)
    return logsumexp(owned, axis=0) - np.log(len(STAKES))


def _log_factor(excess, bet, worst):
    """Return the logarithm of what one sentence multiplies the capital by."""
    factor = np.log1p(-bet * np.minimum(excess, worst))
    beyond = excess > worst
    if beyond.any():
        factor[beyond] *= excess[beyond] / worst
    return factor


def binomial(loss, alpha):
    """Return evidence where every sentence has at most one thing: the exact test.

    Parameters
    ----------
    loss : ndarray of shape (n_events,)
        Whether each accepted thing is wrong, in the order of acceptance.
    alpha : float
        The risk.

    Returns
    -------
    evidence : ndarray of shape (n_events + 1,)
        −log of the probability of so few losses at a risk of `alpha`.
    """
    counts = np.arange(len(loss) + 1)
    losses = np.concatenate([[0.0], np.cumsum(loss)])
    return -binom.logcdf(losses, counts, alpha)
