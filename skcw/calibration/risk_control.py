"""Risk control: thresholds of confidence that bound a risk, and conformal sets.

The bound of a threshold holds with high probability, that of sets in the mean.
"""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from scipy.stats import binom, nbinom
from sklearn.utils import check_scalar

from skcw._util.checks import check_real, floats
from skcw._util.ragged import object_rows
from skcw._util.text_table import Table
from skcw.data.schemes import extract_spans
from skcw.exceptions import NoThresholdWarning
from skcw.metrics import pairs
from skcw.metrics.intervals import check_level

# Shares of the capital that are put at stake, relative to what the worst sequence could
# take. The best one depends on how errors cluster, so all are played at once.
STAKES = (0.9, 0.5, 0.25, 0.12, 0.06)
# The default of `max_errors_per_group`. Groups with more units than sentences have
# words, in the mean, are documents, which may be wrong as a whole.
MOST_WRONG, LONGEST_SENTENCE, SHARE_OF_DOCUMENT = 3, 50, 1 / 3


def check_risks(risk):
    """Return one or several risks as a list; raise unless all lie between 0 and 1."""
    risks = np.atleast_1d(np.asarray(risk, dtype=object)).ravel().tolist()
    if not risks:
        raise ValueError("risk is empty; give at least one number between 0 and 1")
    for alpha in risks:
        number = isinstance(alpha, (int, float, np.number))
        if not number or isinstance(alpha, bool) or not 0 < alpha < 1:
            raise ValueError(
                f"risk is {alpha!r}; it must be between 0 and 1, such as 0.01 for one "
                "error in a hundred"
            )
    return [float(alpha) for alpha in risks]


def check_max_errors(max_errors_per_group, sizes):
    """Return the largest number of errors in a group of these sizes, at least 1.

    None is 1 where each group has one unit, 3 where groups are as small as sentences,
    and a third of the mean size where they are larger.
    """
    if max_errors_per_group is None:
        if np.max(sizes, initial=0) <= 1:
            return 1.0
        if np.mean(sizes) <= LONGEST_SENTENCE:
            return float(MOST_WRONG)
        return float(np.ceil(SHARE_OF_DOCUMENT * np.mean(sizes)))
    number = isinstance(max_errors_per_group, (int, float, np.number))
    if not number or not 1 <= max_errors_per_group < np.inf:
        raise ValueError(
            f"max_errors_per_group is {max_errors_per_group!r}; it must be a finite "
            "number, 1 or more"
        )
    return check_real("max_errors_per_group", max_errors_per_group)


def group_numbers(groups):
    """Return the number of each group from 0 on, in the shape that they came in."""
    given = np.asarray(groups)
    flat = given.ravel().tolist()
    for position, group in enumerate(flat):
        if group is None or group != group:
            raise ValueError(
                f"groups[{position}] is {group!r}; everything must belong to a group, "
                "by itself if to no other"
            )
    try:
        numbers = np.unique(given, return_inverse=True)[1]
    except TypeError:
        kinds = sorted({type(group).__name__ for group in flat})
        raise ValueError(
            f"groups holds things of the kinds {', '.join(kinds)}, which cannot be "
            "compared; give all as numbers or all as texts"
        ) from None
    return numbers.reshape(given.shape).astype(np.intp)


def flat_groups(groups, n, lengths):
    """Return the number of the group of each of n units, in rows of some lengths."""
    groups = None if groups is None else group_numbers(groups)
    numbers = pairs.check_groups(groups, n, lengths)
    if lengths is not None:
        owner = np.repeat(np.arange(len(lengths)), lengths)
        split = (owner[1:] == owner[:-1]) & (numbers[1:] != numbers[:-1])
        if split.any():
            raise ValueError(
                f"groups split sequence {owner[np.argmax(split)]}: its tokens are not "
                "independent, so give all of them the same group"
            )
    return numbers


def float_outcomes(correct, confidence):
    """Return outcomes and confidences as floats, and the lengths of their rows."""
    correct, confidence, lengths = pairs.check_outcomes(correct, confidence)
    # The surest count as the largest number: an infinite threshold accepts nothing.
    sure = np.nan_to_num(confidence.astype(np.float64))
    return correct.astype(np.float64), sure, lengths


def check_unit(unit):
    """Raise unless the name of the units is a text."""
    if not isinstance(unit, str):
        raise TypeError(f"unit is {unit!r}; it must be a text such as 'words'")


def running_excess(change, group, start):
    """Return the excess of a sequence after each of its events.

    Parameters
    ----------
    change : ndarray of shape (n_events,)
        What each event adds, in the order in which the events happen.
    group : ndarray of int, shape (n_events,)
        The sequence of each event.
    start : ndarray of shape (n_groups,)
        The excess of every sequence before all events.

    Returns
    -------
    order : ndarray of int, shape (n_events,)
        The events sequence by sequence.
    excess : ndarray of shape (n_events,)
        The excess after each event, in that order.
    first : ndarray of bool, shape (n_events,)
        Whether an event is the first of its sequence, in that order.
    """
    order = np.argsort(group, kind="stable")
    group = group[order]
    total = np.cumsum(change[order])
    first = np.ones(len(group), dtype=bool)
    first[1:] = group[1:] != group[:-1]
    # What other sequences had added before the first event of each.
    begins = np.flatnonzero(first)
    earlier = np.concatenate([[0.0], total])[begins]
    lengths = np.diff(np.append(begins, len(group)))
    return order, total - np.repeat(earlier, lengths) + start[group], first


def capital(change, group, start, alpha, most):
    """Return evidence by betting that the mean excess of a sequence is not positive.

    A gambler who stakes ``b`` on each of n sequences owns ``prod(1 - b * excess)``. If
    the mean excess is zero or more, the game is fair or worse for him, and he owns
    ``1 / delta`` with a probability of at most ``delta`` (Markov). Several stakes are
    played with equal shares of the money. The product does not depend on the order of
    sequences, grows as fast as the variance of the excess allows, and each further copy
    of all sequences can only multiply a capital above one.

    Parameters
    ----------
    change, group, start : ndarray
        What each event adds to the excess of its sequence, in the order of events; the
        sequence of each; and the excess of every sequence before.
    alpha : float
        The risk, from 0 to 1.
    most : float
        The most losses that one sequence can have. One that has k times as many counts
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
    """Return the logarithm of what one sequence multiplies the capital by."""
    factor = np.log1p(-bet * np.minimum(excess, worst))
    beyond = excess > worst
    if beyond.any():
        factor[beyond] *= excess[beyond] / worst
    return factor


def binomial(loss, alpha):
    """Return evidence where every sequence has at most one unit: the exact test.

    Parameters
    ----------
    loss : ndarray of shape (n_events,)
        Whether each accepted unit is wrong, in the order of acceptance.
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


# Tests begin at these shares of all units, the most confident first, and go on step by
# step. A fifth of delta is for the beginnings, the rest for the steps.
STARTS = 0.5 ** np.arange(6)
FOR_STARTS = 0.2
# Of rows one sequence of tests begins at this share of them, or where so many errors
# are allowed if that is later: one wrong row among the surest must not end it.
FIRST_SHARE, FIRST_ERRORS = 0.25, 2
# No number is given for more groups than this many times those at hand.
HOPELESS = 10_000


class RiskThreshold(NamedTuple):
    """A threshold of confidence, and the bound on the risk that it keeps.

    Parameters
    ----------
    risk : float
        The bound: at most this share of the accepted units is wrong. If `recall`, at
        most this share of the true entities is not accepted.
    confidence_level : float
        The bound holds with at least this probability.
    unit : str
        What is accepted: words, entities, sentences or rows.
    threshold : float
        Accept what has this confidence or more; ``inf`` if no threshold keeps the risk.
    accepted : float
        The share of the calibration units that it accepts.
    observed : float
        The share of them that is wrong; if `recall`, of the true ones that it misses.
    n_groups : int
        The number of calibration sentences, or of documents, that have such units.
    needed : float
        About how many it would take, if no threshold keeps the risk; ``inf`` if none
        would suffice.
    recall : bool, default=False
        Whether the risk is that of missing true entities.

    Examples
    --------
    >>> from skcw.calibration.risk_control import RiskThreshold
    >>> print(RiskThreshold(0.01, 0.95, "words", 0.8, 0.913, 0.007, 2000, 2000))
    accepted 91.3 % of the words; at most 1 % of them are wrong, with 95 % certainty
    """

    risk: float
    confidence_level: float
    unit: str
    threshold: float
    accepted: float
    observed: float
    n_groups: int
    needed: float
    recall: bool = False

    @property
    def holds(self):
        """Whether there is a threshold that keeps the risk."""
        return self.threshold < np.inf

    def __repr__(self):
        return f"<RiskThreshold {self.threshold:.4g}: {self}>"

    def _repr_html_(self):
        names = [name for name in self._fields if name not in ("recall", "unit")]
        rows = [(name.replace("_", " "), getattr(self, name)) for name in names]
        return Table([str(self), ""], rows, [None, ".4g"])._repr_html_()

    def __str__(self):
        if not self.holds:
            return self.refusal()
        return (
            f"accepted {_percent(self.accepted)} % of the {self.unit}; {self.bound()}"
        )

    def bound(self):
        """Return the bound on the risk, in words."""
        risk, sure = _percent(self.risk), _percent(self.confidence_level)
        if self.recall:
            return (
                f"at most {risk} % of the true ones are missing, with {sure} % "
                "certainty"
            )
        return f"at most {risk} % of them are wrong, with {sure} % certainty"

    def refusal(self, groups=None):
        """Return why no threshold keeps the risk, in words."""
        groups = groups or ("rows" if self.unit == "rows" else "sentences")
        here = f"{self.n_groups} {groups[:-1] if self.n_groups == 1 else groups}"
        what = f"{here} cannot guarantee a risk of {_percent(self.risk)} %"
        if np.isfinite(self.needed):
            return f"{what}; about {_rounded(self.needed)} would"
        if self.recall:
            missed = _percent(self.observed)
            return f"{what}: {missed} % of the true ones are missed by all {self.unit}"
        return f"{what}: too many of even the most confident {self.unit} are wrong"


def threshold_for(thresholds, risk=None):
    """Return the threshold for a risk; the first one if it is None."""
    for threshold in thresholds:
        if risk is None or threshold.risk == risk:
            return threshold
    known = ", ".join(f"{threshold.risk:g}" for threshold in thresholds)
    raise ValueError(
        f"there is no threshold for a risk of {risk}, only for {known}; set risk and "
        "fit again"
    )


def warn_of_refusals(thresholds, groups):
    """Warn of each risk that no threshold keeps."""
    for threshold in thresholds:
        if not threshold.holds:
            text = f"{threshold.refusal(groups)}. Everything is left for review"
            warnings.warn(text, NoThresholdWarning, stacklevel=3)


def risk_threshold(
    correct: Any,
    confidence: Any,
    risk: Any = 0.01,
    *,
    confidence_level: float = 0.95,
    groups: ArrayLike | None = None,
    unit: str = "words",
    max_errors_per_group: float | None = None,
    together: bool = False,
) -> list[Any]:
    """Return the lowest thresholds that bound the share of errors in what is accepted.

    With probability `confidence_level` over calibration sequences, the share of wrong
    tokens among all that are accepted is at most `risk`, if new sequences come from the
    same distribution. Sequences are exchangeable; the tokens of one are not
    independent.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether each label is right.
    confidence : array of shape (n_tokens,), or a sequence of such
        The confidence in it of a model that was not trained on them, on any scale.
    risk : float or sequence of float, default=0.01
        The share of errors among what is accepted, between 0 and 1.
    confidence_level : float, default=0.95
        The probability 1 − δ with which the bound holds.
    groups : array of shape (n_tokens,) or (n_sequences,), default=None
        The sequence of each token; of nested input, the document of each sequence. By
        default each row is a group, and each token of flat input.
    unit : str, default="words"
        What the units are called.
    max_errors_per_group : float, default=None
        The largest number of errors among what is accepted of one group. If no group
        has more, the bound holds for every distribution. By default 1 if each group
        has one unit, 3 if groups have up to 50 in the mean, as sentences do, and a
        third of the mean if they have more, as documents do. A larger number needs
        more groups.
    together : bool, default=False
        Whether `confidence_level` is the probability that the bounds of all risks hold
        together, and not that of each bound.

    Returns
    -------
    thresholds : list of RiskThreshold
        One for each risk, also if there is one only; its ``threshold`` is infinite
        where none keeps the risk.

    See Also
    --------
    recall_threshold : Bounds the share of true entities that are missed.
    SelectiveTagger : The same as an estimator.

    Notes
    -----
    Learn then test: every distinct confidence is a threshold. From a beginning, the
    tests go on to lower ones while they succeed, so that no correction for their number
    is needed. Beginnings depend on the number of units alone.

    If each group has one unit, as rows have, w wrong ones among k accepted ones pass if
    Pr[Binomial(k, risk) ≤ w] ≤ δ: the exact binomial test, that is, the upper bound of
    Clopper and Pearson. One fixed sequence begins at a quarter of the units, or at the
    first k that two errors pass (one or none, if there are fewer units). Otherwise the
    tests bet on sequences, and six beginnings share a fifth of δ.

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
    >>> (found,) = risk_threshold(correct, confidence, 0.05)
    >>> round(found.threshold, 2), round(found.accepted, 2)
    (0.9, 0.57)
    >>> print(*risk_threshold(correct[:20], confidence[:20], 0.05))
    20 sentences cannot guarantee a risk of 5 %; about 240 would
    """
    check_unit(unit)
    correct, confidence, lengths = float_outcomes(correct, confidence)
    if not len(correct):
        raise ValueError(
            "there is nothing to calibrate on; correct and confidence must hold at "
            "least one value"
        )
    group = flat_groups(groups, len(correct), lengths)
    risks, level = check_risks(risk), check_level(confidence_level)
    most = check_max_errors(max_errors_per_group, np.bincount(group))
    delta = (1.0 - level) / (len(risks) if together else 1)
    order = np.argsort(-confidence, kind="stable")
    steps = Steps(confidence[order], 1.0 - correct[order], group[order])
    return [steps.threshold(alpha, delta, most, level, unit) for alpha in risks]


class Steps:
    """Units in the order in which lower thresholds accept them.

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
        # A threshold accepts all units of one confidence, or none of them.
        self.ends = last_of_ties(confidence)

    @property
    def are_alone(self):
        """Whether each unit is a group, so that errors are independent."""
        return self.n_groups == len(self.group)

    def evidence(self, alpha, most):
        """Return the evidence for every threshold, the strictest first."""
        if self.are_alone:
            found = binomial(self.wrong, alpha)
        else:
            start = np.zeros(self.n_groups)
            found = capital(self.wrong - alpha, self.group, start, alpha, most)
        return found[1:][self.ends]

    def threshold(self, alpha, delta, most, level, unit):
        """Return the lowest threshold that keeps a risk."""
        evidence = self.evidence(alpha, most)
        begins, gate, enough = self._plan(alpha, delta)
        widest = _widest(evidence, begins[evidence[begins] >= gate], enough)
        if widest is None:
            needed = needed_groups(self.n_groups, evidence[begins], gate)
            found = np.inf, 0.0, 0.0, self.n_groups, needed
            return RiskThreshold(alpha, level, unit, *found)
        n_accepted = self.ends[widest] + 1
        threshold = float(self.confidence[self.ends[widest]])
        share = float(n_accepted / len(self.confidence))
        found = threshold, share, float(self.wrong[:n_accepted].mean())
        return RiskThreshold(alpha, level, unit, *found, *[self.n_groups] * 2)

    def _plan(self, alpha, delta):
        """Return where tests begin, and the evidence needed there and after it."""
        n = len(self.confidence)
        if self.are_alone:
            counts = np.array([first_count(n, alpha, delta)])
            gate = enough = -np.log(delta)
        else:
            counts = np.ceil(STARTS * n).astype(np.intp)
            gate = np.log(len(STARTS) / (FOR_STARTS * delta))
            enough = -np.log((1.0 - FOR_STARTS) * delta)
        begins = np.unique(np.searchsorted(self.ends, counts - 1))
        return begins, gate, enough


def first_count(n, alpha, delta):
    """Return how many of n rows are accepted where their tests begin."""
    for errors in range(FIRST_ERRORS, -1, -1):
        # The fewest of which so many may be wrong, whatever n is.
        fewest = errors + 1 + int(nbinom.ppf(1.0 - delta, errors + 1, alpha))
        if fewest <= n:
            return max(fewest, int(np.ceil(FIRST_SHARE * n)))
    return n


def _widest(evidence, begins, enough):
    """Return the number of the lowest threshold in reach, or None if there is none."""
    failures = np.append(np.flatnonzero(evidence < enough), len(evidence))
    # From a beginning one gets to the last threshold before the next failure.
    reached = failures[np.searchsorted(failures, begins)] - 1
    return int(reached.max()) if len(reached) else None


def recall_threshold(
    correct: Sequence[Any],
    confidence: Sequence[Any],
    n_true: ArrayLike,
    risk: Any = 0.1,
    *,
    confidence_level: float = 0.95,
    groups: ArrayLike | None = None,
    unit: str = "entities",
    max_errors_per_group: float | None = None,
) -> list[Any]:
    """Return the highest thresholds that bound the share of true entities missed.

    With probability `confidence_level`, at most the share `risk` of the true entities
    is not among the accepted ones, whether not predicted or not accepted.

    Parameters
    ----------
    correct : sequence of arrays of bool
        Whether each predicted entity is a true one, an array for each sequence.
    confidence : sequence of arrays
        The confidence in each.
    n_true : array of int of shape (n_sequences,)
        The number of true entities of each sequence.
    risk : float or sequence of float, default=0.1
        The share of the true entities that may be missed, between 0 and 1.
    confidence_level : float, default=0.95
        The probability with which the bound holds.
    groups : array of shape (n_sequences,), default=None
        The document of each sequence; by default each sequence is a group.
    unit : str, default="entities"
        What the units are called.
    max_errors_per_group : float, default=None
        The largest number of true entities that are missed in one group; by default 3,
        or a third of their mean number if that is above 50.

    Returns
    -------
    thresholds : list of RiskThreshold
        One for each risk, also if there is one only.

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
    >>> (found,) = recall_threshold(correct, confidence, n_true, 0.1)
    >>> round(found.threshold, 2), round(found.observed, 3)
    (0.71, 0.084)
    """
    check_unit(unit)
    right, sure, lengths = float_outcomes(correct, confidence)
    if lengths is None:
        raise ValueError("correct and confidence must hold one array per sequence")
    risks, level = check_risks(risk), check_level(confidence_level)
    owner, n = np.repeat(np.arange(len(lengths)), lengths), len(lengths)
    n_found = np.bincount(owner, weights=right, minlength=n)
    n_true = check_true_counts(n_true, n_found)
    numbers = np.arange(n) if groups is None else group_numbers(groups)
    numbers = pairs.check_groups(numbers, n, None)
    true = np.bincount(numbers, weights=n_true)
    missed = true - np.bincount(numbers, weights=n_found)
    most = check_max_errors(max_errors_per_group, np.maximum(true, 2))
    flat = sure, right, numbers[owner]
    return [_recall(*flat, true, missed, a, level, most, unit) for a in risks]


def check_true_counts(n_true, n_found):
    """Return how many true entities each sequence has, at least those found."""
    n_true = floats(n_true, "n_true")
    # NaN is not at least anything.
    if n_true.shape != n_found.shape or not (n_true >= n_found).all():
        raise ValueError(
            "n_true must hold a number for each sequence, at least that of its correct "
            "entities"
        )
    if not 0 < n_true.sum() < np.inf:
        raise ValueError("there is no true entity that could be missed: n_true is 0")
    return n_true


def _recall(confidence, right, group, true, missed, alpha, level, most, unit):
    """Return the highest threshold at which not too many true entities are missed."""
    order = np.argsort(confidence, kind="stable")
    confidence, right, group = confidence[order], right[order], group[order]
    start = missed - alpha * true
    evidence = capital(right, group, start, alpha, most)
    # Threshold k leaves out the first k units; ties go together.
    ends = np.concatenate([[0], last_of_ties(confidence) + 1])
    evidence, enough = evidence[ends], -np.log(1.0 - level)
    passed = np.append(np.flatnonzero(evidence < enough), len(evidence))[0] - 1
    everything, n_groups = true.sum(), len(true)
    if passed < 0 or not everything:
        needed = needed_groups(n_groups, evidence[:1], enough)
        lost = missed.sum() / everything if everything else 0.0
        found = np.inf, 0.0, lost, n_groups, needed
        return RiskThreshold(alpha, level, unit, *found, recall=True)
    out = ends[min(passed, len(ends) - 1)]
    lost = float((missed.sum() + right[:out].sum()) / everything)
    threshold = float(confidence[out]) if out < len(confidence) else -np.inf
    share = 1.0 - out / len(confidence) if len(confidence) else 1.0
    found = threshold, share, lost, n_groups, n_groups
    return RiskThreshold(alpha, level, unit, *found, recall=True)


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


def conformal_threshold(
    score: Any,
    risk: float = 0.1,
    *,
    n_missing: int = 0,
    groups: ArrayLike | None = None,
    max_errors_per_group: float | None = None,
) -> float:
    """Return the threshold of scores by which sets contain the truth.

    A set holds everything with at least this score. In new sequences from the same
    distribution, the expected number of truths outside of their sets is at most `risk`
    times the expected number of truths.

    Parameters
    ----------
    score : array of shape (n,), or a sequence of such
        The scores of the true labels of tokens or rows, or of the true entities, by a
        model that was not trained on them.
    risk : float, default=0.1
        The share of truths that may be outside of their sets.
    n_missing : int, default=0
        How many further truths are in no set, however low the threshold: entities that
        are not among the candidates.
    groups : array of shape (n,) or (n_sequences,), default=None
        The sequence of each truth; by default each row, or each number of flat input.
    max_errors_per_group : float, default=None
        The most truths that the sets of one sequence can miss; by default as in
        :func:`risk_threshold`.

    Returns
    -------
    threshold : float
        ``-inf`` if there are too few sequences: only full sets are safe. ``nan`` if
        even those miss too many.

    Notes
    -----
    Conformal risk control with the loss "truths missed − risk · truths" of a sequence,
    which is at most `max_errors_per_group`: the sum over calibration sequences, plus
    the largest loss of a new one, must not be positive.

    References
    ----------
    A. N. Angelopoulos et al., *Conformal risk control*, 2024, Theorem 1.

    Examples
    --------
    >>> from skcw.calibration import conformal_threshold
    >>> conformal_threshold([0.9, 0.2, 0.7, 0.8, 0.6, 0.95, 0.5, 0.4, 0.85, 0.99], 0.3)
    0.5
    """
    if np.ndim(risk) > 0:
        raise ValueError(f"risk is {risk!r}; it must be one number")
    (alpha,) = check_risks(risk)
    check_scalar(n_missing, "n_missing", Integral, min_val=0)
    flat, lengths = pairs.flatten(score, "score")
    flat = pairs.as_float64(flat, "score", "scores must be numbers")
    if not len(flat) or np.isnan(flat).any():
        raise ValueError("score must hold at least one number, and no NaN")
    flat, group = np.nan_to_num(flat), flat_groups(groups, len(flat), lengths)
    most = check_max_errors(max_errors_per_group, np.bincount(group)) * (1.0 - alpha)
    n_missing = check_real("n_missing", n_missing)
    allowed = alpha * (len(flat) + n_missing) - most
    if allowed < 0:
        return -np.inf
    if n_missing > allowed:
        return np.nan
    return float(np.sort(flat)[min(int(allowed - n_missing), len(flat) - 1)])


def conformal_sets(table: ArrayLike, threshold: float, classes: Any) -> list[Any]:
    """Return the labels of each row that reach a threshold; the best one always does.

    Parameters
    ----------
    table : array of shape (n_rows, n_labels)
        The score of every label.
    threshold : float
        What :func:`conformal_threshold` returned.
    classes : sequence
        The labels.

    Returns
    -------
    sets : list of list
        Labels, the most probable first.

    Examples
    --------
    >>> from skcw.calibration import conformal_sets
    >>> conformal_sets([[0.7, 0.25, 0.05], [0.1, 0.1, 0.8]], 0.2, ["A", "B", "C"])
    [['A', 'B'], ['C']]
    """
    table, names = floats(table, "table"), list(classes)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ValueError(
            f"table has the shape {table.shape}; it must have a row for each token and "
            f"a column for each of the {len(names)} classes"
        )
    if np.isnan(table).any():
        raise ValueError("table must hold numbers, but some are NaN")
    if any(isinstance(name, float) and name != name for name in names):
        raise ValueError("classes holds NaN, which is no label")
    check_scalar(threshold, "threshold", Real)
    order = np.argsort(-table, axis=1, kind="stable")
    # Where even full sets miss too many, they are full.
    least = check_real("threshold", threshold)
    least = -np.inf if np.isnan(least) else least
    sizes = np.maximum((table >= least).sum(axis=1), 1)
    return [
        [names[k] for k in row[:size]]
        for row, size in zip(order.tolist(), sizes.tolist(), strict=True)
    ]


def scores_of_truth(table, classes, labels):
    """Return the scores of the true labels in a table.

    Parameters
    ----------
    table : array of shape (n, n_labels)
        The score of every label.
    classes : sequence
        The labels of the columns.
    labels : sequence of length n
        The true labels.

    Returns
    -------
    scores : ndarray of shape (n,)
        NaN where the table has no such label, so that no set can contain it.
    """
    column = {label: k for k, label in enumerate(classes)}
    codes = np.array([column.get(label, -1) for label in labels], dtype=np.intp)
    scores = np.asarray(table, dtype=np.float64)[
        np.arange(len(codes)), np.maximum(codes, 0)
    ]
    return np.where(codes >= 0, scores, np.nan)


def entity_candidates(predictions, n_best):
    """Return the spans of the n best labelings, each with a score.

    The score of a span is the share of the labelings that mark it, each weighted by
    the probability that the tagger gives it.

    Parameters
    ----------
    predictions : Predictions
        Those of a tagger.
    n_best : int
        How many labelings.

    Returns
    -------
    candidates : ndarray of shape (n_sequences,), dtype object
        A dict for each sequence: ``(label, start, end)`` -> score from 0 to 1.
    """
    rows, all_shares = [], predictions.labeling_shares(n_best)
    for labelings, shares in zip(predictions.nbest(n_best), all_shares, strict=True):
        found = {}
        for (labels, _), share in zip(labelings, shares.tolist(), strict=True):
            for span in map(tuple, extract_spans(labels)):
                found[span] = found.get(span, 0.0) + share
        rows.append({span: min(share, 1.0) for span, share in found.items()})
    return object_rows(rows)


def entity_scores(candidates, y):
    """Return the scores of the true entities, and how many are no candidates.

    Parameters
    ----------
    candidates : sequence of dict
        What :func:`entity_candidates` returned.
    y : sequences of str
        The true labels.

    Returns
    -------
    scores : list of list of float
        Those of the true entities of each sequence that are among its candidates.
    n_missing : int
        The number of the others.
    """
    scores, n_missing = [], 0
    for row, labels in zip(candidates, y, strict=True):
        truth = [tuple(span) for span in extract_spans(labels)]
        known = [row[span] for span in truth if span in row]
        n_missing += len(truth) - len(known)
        scores.append(known)
    return scores, n_missing
