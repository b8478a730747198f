"""Thresholds that keep a risk: fixed-sequence tests from strict to lax, or back."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from skcw.calibration.checks import (
    check_entities,
    check_groups,
    check_level,
    check_most,
    check_pairs,
    check_risks,
    check_true_counts,
    check_unit,
)

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


# Acceptance may begin at these shares of all things, the surest first, and is then
# widened step by step. A fifth of delta is for the beginnings, the rest for the steps.
STARTS = 0.5 ** np.arange(6)
FOR_STARTS = 0.2
# More sentences than this many times those at hand are as good as none.
HOPELESS = 10_000


class RiskThreshold(NamedTuple):
    """A threshold, and what is promised of all that is accepted by it.

    Parameters
    ----------
    risk : float
        The promise: of what is accepted, at most this share is wrong. If `recall`, at
        most this share of the true entities is not accepted.
    level : float
        The promise holds with at least this probability.
    unit : str
        What is accepted: words, entities, sentences or rows.
    threshold : float
        Accept what has this confidence or more; ``inf`` if nothing can be promised.
    accepted : float
        The share of the calibration units that it accepts.
    observed : float
        The share of them that is wrong; if `recall`, of the true ones that it misses.
    n_groups : int
        The number of calibration sentences, or of documents, that have such units.
    needed : float
        About how many would do, if nothing can be promised; ``inf`` if no number.
    recall : bool, default=False
        Whether the promise is about what is missed.

    Examples
    --------
    >>> from skcw.calibration import RiskThreshold
    >>> print(RiskThreshold(0.01, 0.95, "words", 0.8, 0.913, 0.007, 2000, 2000))
    accepted 91.3 % of the words; at most 1 % of them are wrong, with 95 % certainty
    """

    risk: float
    level: float
    unit: str
    threshold: float
    accepted: float
    observed: float
    n_groups: int
    needed: float
    recall: bool = False

    @property
    def holds(self):
        """Whether something can be promised at all."""
        return self.threshold < np.inf

    def __str__(self):
        if not self.holds:
            return self.refusal()
        return (
            f"accepted {_percent(self.accepted)} % of the {self.unit}; {self.terms()}"
        )

    def terms(self):
        """Return what is promised, in words."""
        risk, sure = _percent(self.risk), _percent(self.level)
        if self.recall:
            return (
                f"at most {risk} % of the true ones are missing, with {sure} % "
                "certainty"
            )
        return f"at most {risk} % of them are wrong, with {sure} % certainty"

    def refusal(self, groups=None):
        """Return why nothing can be promised, in words."""
        groups = groups or ("rows" if self.unit == "rows" else "sentences")
        here = f"{self.n_groups} {groups[:-1] if self.n_groups == 1 else groups}"
        what = f"{here} cannot promise {_percent(self.risk)} %"
        if np.isfinite(self.needed):
            return f"{what}; about {_rounded(self.needed)} would"
        if self.recall:
            missed = _percent(self.observed)
            return f"{what}: {missed} % of the true ones are missed by all {self.unit}"
        return f"{what}: too many of even the surest {self.unit} are wrong"


def promise_for(promises, risk=None):
    """Return the promise that was made for a risk; the first one if it is None."""
    for promise in promises:
        if risk is None or promise.risk == risk:
            return promise
    made = ", ".join(f"{promise.risk:g}" for promise in promises)
    raise ValueError(f"no promise was made for a risk of {risk}, only for {made}")


def risk_threshold(
    correct,
    confidence,
    risk=0.01,
    *,
    level=0.95,
    groups=None,
    unit="words",
    max_errors_per_group=None,
    together=False,
):
    """Return the lowest threshold that keeps the share of wrong things among accepted.

    With probability `level` over calibration sentences, the share of wrong words among
    all accepted words of the language is at most `risk`, if new sentences are like
    these. The sentence is what is exchangeable: its words are not independent.

    Parameters
    ----------
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether each label is right.
    confidence : array of shape (n_words,), or a sequence of such
        How sure a model, which has not learned from them, is of each; on any scale.
    risk : float or sequence of float, default=0.01
        The share of wrong words among those accepted, between 0 and 1.
    level : float, default=0.95
        The probability 1 − δ with which the promise holds.
    groups : array of shape (n_words,) or (n_sentences,), default=None
        The sentence of each word; of nested input, the document of each sentence. By
        default each row is a group, and each word of flat input.
    unit : str, default="words"
        What the things are called.
    max_errors_per_group : float, default=None
        The most wrong words that one group may have among its accepted ones. If none
        has more, as is certain if none is longer, the promise holds for every
        distribution. By default 1 if each group has one thing, 3 if groups have up to
        50 in the mean, as sentences do, and a third of the mean if they have more, as
        documents do. A larger one needs more groups.
    together : bool, default=False
        Whether `level` is the probability that the promises of all risks hold, and not
        each by itself.

    Returns
    -------
    promise : RiskThreshold or list of RiskThreshold
        One for each risk; without threshold where nothing can be promised.

    See Also
    --------
    recall_threshold : Bounds the share of true entities that are missed.
    SelectiveTagger : The same as an estimator.

    Notes
    -----
    Learn then test: every distinct confidence is a threshold. From a beginning, the
    tests go on to laxer ones while they succeed, so that no correction for their number
    is needed. Six beginnings, counted in words and not in errors, share a fifth of δ.

    References
    ----------
    A. N. Angelopoulos et al., *Learn then test: calibrating predictive algorithms to
    achieve risk control*, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.calibration import risk_threshold
    >>> rng = np.random.RandomState(0)
    >>> confidence = rng.beta(8, 1, size=(1000, 10))
    >>> correct = rng.uniform(size=(1000, 10)) < confidence
    >>> promise = risk_threshold(correct, confidence, 0.05)
    >>> round(promise.threshold, 2), round(promise.accepted, 2)
    (0.9, 0.57)
    >>> print(risk_threshold(correct[:20], confidence[:20], 0.05))
    20 sentences cannot promise 5 %; about 240 would
    """
    check_unit(unit)
    correct, confidence, group = check_pairs(correct, confidence, groups)
    risks, level = check_risks(risk), check_level(level)
    most = check_most(max_errors_per_group, np.bincount(group))
    delta = (1.0 - level) / (len(risks) if together else 1)
    order = np.argsort(-confidence, kind="stable")
    steps = Steps(confidence[order], 1.0 - correct[order], group[order])
    found = [steps.promise(alpha, delta, most, level, unit) for alpha in risks]
    return found[0] if np.ndim(risk) == 0 else found


class Steps:
    """Things in the order in which laxer thresholds accept them.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Falling.
    wrong : ndarray of shape (n,)
        Whether each is wrong.
    group : ndarray of int, shape (n,)
        The sentence of each, numbered from 0.
    """

    def __init__(self, confidence, wrong, group):
        self.confidence = confidence
        self.wrong = wrong
        self.group = group
        self.n_groups = int(group.max()) + 1 if len(group) else 0
        # A threshold accepts all words of one confidence, or none of them.
        self.ends = last_of_ties(confidence)
        self._known = {}

    def evidence(self, alpha, most):
        """Return the evidence for every threshold, the strictest first."""
        if (alpha, most) not in self._known:
            self._known[alpha, most] = self._evidence(alpha, most)
        return self._known[alpha, most]

    def _evidence(self, alpha, most):
        if self.n_groups == len(self.group):
            return binomial(self.wrong, alpha)[1:][self.ends]
        start = np.zeros(self.n_groups)
        return capital(self.wrong - alpha, self.group, start, alpha, most)[1:][
            self.ends
        ]

    def promise(self, alpha, delta, most, level, unit):
        """Return the laxest threshold that keeps a risk."""
        evidence = self.evidence(alpha, most)
        gate = np.log(len(STARTS) / (FOR_STARTS * delta))
        begins = self._begins()
        enough = -np.log((1.0 - FOR_STARTS) * delta)
        widest = _widest(evidence, begins[evidence[begins] >= gate], enough)
        if widest is None:
            needed = needed_groups(self.n_groups, evidence[begins], gate)
            return RiskThreshold(
                alpha, level, unit, np.inf, 0.0, 0.0, self.n_groups, needed
            )
        n_accepted = self.ends[widest] + 1
        return RiskThreshold(
            alpha,
            level,
            unit,
            float(self.confidence[self.ends[widest]]),
            float(n_accepted / len(self.confidence)),
            float(self.wrong[:n_accepted].mean()),
            self.n_groups,
            self.n_groups,
        )

    def _begins(self):
        """Return the numbers of the thresholds at which acceptance may begin."""
        counts = np.ceil(STARTS * len(self.confidence)).astype(np.intp)
        return np.unique(np.searchsorted(self.ends, counts - 1))


def _widest(evidence, begins, enough):
    """Return the number of the laxest threshold in reach, or None if there is none."""
    failures = np.append(np.flatnonzero(evidence < enough), len(evidence))
    # From a beginning one gets to the last threshold before the next failure.
    reached = failures[np.searchsorted(failures, begins)] - 1
    return int(reached.max()) if len(reached) else None


def recall_threshold(
    correct,
    confidence,
    n_true,
    risk=0.1,
    *,
    level=0.95,
    groups=None,
    unit="entities",
    max_errors_per_group=None,
):
    """Return the highest threshold by which few of the true entities are missed.

    With probability `level`, at most the share `risk` of the true entities is not among
    the accepted ones, whether they were not predicted or not accepted.

    Parameters
    ----------
    correct : sequence of arrays of bool
        Whether each predicted entity is a true one, an array for each sentence.
    confidence : sequence of arrays
        How sure a model is of each.
    n_true : array of int of shape (n_sentences,)
        The number of true entities of each sentence.
    risk : float or sequence of float, default=0.1
        The share of the true entities that may be missed, between 0 and 1.
    level : float, default=0.95
        The probability with which the promise holds.
    groups : array of shape (n_sentences,), default=None
        The document of each sentence; by default each sentence is a group.
    unit : str, default="entities"
        What the things are called.
    max_errors_per_group : float, default=None
        The most true entities that may be missed in one group; by default 3, or a third
        of their mean number if that is above 50.

    Returns
    -------
    promise : RiskThreshold or list of RiskThreshold
        One for each risk.

    See Also
    --------
    risk_threshold : Bounds the share of wrong ones.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.calibration import recall_threshold
    >>> rng = np.random.RandomState(0)
    >>> confidence = rng.beta(8, 1, size=(1000, 3))
    >>> correct = rng.uniform(size=(1000, 3)) < confidence
    >>> n_true = correct.sum(axis=1) + (rng.uniform(size=1000) < 0.1)
    >>> promise = recall_threshold(correct, confidence, n_true, 0.1)
    >>> round(promise.threshold, 2), round(promise.observed, 3)
    (0.71, 0.084)
    """
    check_unit(unit)
    rows, confidence = check_entities(correct, confidence)
    n_true = check_true_counts(n_true, rows)
    risks, level = check_risks(risk), check_level(level)
    true, missed, flat = _true_by_group(rows, confidence, n_true, groups)
    most = check_most(max_errors_per_group, np.maximum(true, 2))
    found = [_recall(*flat, true, missed, a, level, most, unit) for a in risks]
    return found[0] if np.ndim(risk) == 0 else found


def _true_by_group(rows, confidence, n_true, groups):
    """Return true and missed entities of every group, and the predicted ones flat."""
    numbers = np.arange(len(rows)) if groups is None else check_groups(groups)
    if numbers.shape != (len(rows),):
        raise ValueError(
            f"groups has the shape {numbers.shape}; it must hold one for each of the "
            f"{len(rows)} sentences"
        )
    _, numbers = np.unique(numbers, return_inverse=True)
    true = np.bincount(numbers, weights=n_true)
    missed = true - np.bincount(numbers, weights=[row.sum() for row in rows])
    group = np.repeat(numbers, [len(row) for row in rows])
    right = np.concatenate([np.empty(0), *rows])
    sure = np.concatenate([np.empty(0), *confidence])
    return true, missed, (sure, right, group)


def _recall(confidence, right, group, true, missed, alpha, level, most, unit):
    """Return the strictest threshold at which not too many true ones are missed."""
    order = np.argsort(confidence, kind="stable")
    confidence, right, group = confidence[order], right[order], group[order]
    start = missed - alpha * true
    evidence = capital(right, group, start, alpha, most)
    # Threshold k leaves out the k things that come first; ties go together.
    ends = np.concatenate([[0], last_of_ties(confidence) + 1])
    evidence, enough = evidence[ends], -np.log(1.0 - level)
    passed = np.append(np.flatnonzero(evidence < enough), len(evidence))[0] - 1
    everything, n_groups = true.sum(), len(true)
    if passed < 0 or not everything:
        needed = needed_groups(n_groups, evidence[:1], enough)
        lost = missed.sum() / everything if everything else 0.0
        return RiskThreshold(
            alpha, level, unit, np.inf, 0.0, lost, n_groups, needed, True
        )
    out = ends[min(passed, len(ends) - 1)]
    lost = float((missed.sum() + right[:out].sum()) / everything)
    threshold = float(confidence[out]) if out < len(confidence) else -np.inf
    share = 1.0 - out / len(confidence) if len(confidence) else 1.0
    return RiskThreshold(
        alpha, level, unit, threshold, share, lost, n_groups, n_groups, True
    )


def last_of_ties(values):
    """Return the positions after which sorted values change, and the last one."""
    return np.flatnonzero(
        np.append(values[1:] != values[:-1], [True] * (len(values) > 0))
    )


def needed_groups(n_groups, evidence, enough):
    """Return about how many groups would give enough evidence."""
    # Evidence grows in proportion to the groups, at the threshold that has most of it.
    best = evidence.max() if len(evidence) else 0.0
    needed = n_groups * enough / best if best > 0 else np.inf
    return float(np.ceil(needed)) if needed < HOPELESS * n_groups else np.inf


def _percent(share):
    return f"{100 * share:.4g}"


def _rounded(number):
    """Return a number to two digits, as a text."""
    size = 10 ** max(int(np.log10(number)) - 1, 0)
    return f"{int(np.ceil(number / size) * size):,}"
