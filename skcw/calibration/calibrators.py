"""Calibration maps per label, and a common map for labels with too few words."""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from skcw._util.checks import check_sample_weight
from skcw._util.limits import LARGEST_DISTANCE
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.confidence import METHODS
from skcw.data.saved import saved_array, saved_number

# The loss is convex and has at most three coefficients: it is solved to rounding.
OPTIONS = {"maxiter": 1000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-10}

# Slopes are expected from 0 to 2 or so: as much as one word or two can tell of them.
PULL = 1.0


def smoothed_targets(correct, weight):
    """Return Platt's targets: one right and one wrong word more than were seen.

    With them the best coefficients are finite even where all words are right.
    """
    right, wrong = weight @ correct, weight @ (1.0 - correct)
    return np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))


def fit_logistic(columns, correct, weight, least, pull=PULL):
    """Minimize the weighted logarithmic loss of ``expit(columns @ coefficients)``.

    A coefficient with a least value is a slope, for which 1 leaves confidences as they
    are. Where confidences hardly vary the words do not tell the slopes, and the map
    would rise beyond them as noise has it: a weak pull keeps such slopes near 1.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_words, n_columns)
        What is known of each word.
    correct : ndarray of float64, shape (n_words,)
        1 where its label is right, else 0; the targets are Platt's.
    weight : ndarray of float64, shape (n_words,)
        How often each word counts.
    least : sequence of float or None
        The least value of each coefficient; None for an intercept.
    pull : float, default=PULL
        The factor of half the squared distance of each slope from 1.

    Returns
    -------
    coefficients : ndarray of float64, shape (n_columns,)
        The best ones.
    """
    target = smoothed_targets(correct, weight)
    total = weight.sum()
    slopes = np.array([low is not None for low in least])
    ideal, pulls = slopes * 1.0, slopes * (pull / total)
    # The pull counts too, or a column of next to nothing would have no scale.
    unit = np.hypot(np.abs(columns).max(axis=0), np.sqrt(pulls))
    unit[unit == 0] = 1.0
    columns, share = columns / unit, weight / total

    def loss(coefficients):
        score = columns @ coefficients
        slope = columns.T @ (share * (expit(score) - target))
        away = coefficients / unit - ideal
        value = share @ (np.logaddexp(0.0, score) - target * score)
        return value + pulls @ away**2 / 2, slope + pulls * away / unit

    bounds = [
        (None if low is None else low * size, None)
        for low, size in zip(least, unit, strict=True)
    ]
    found = minimize(
        loss, ideal * unit, jac=True, method="L-BFGS-B", bounds=bounds, options=OPTIONS
    )
    return found.x / unit


# How near to 0 and 1 logarithms see a confidence, at the least and at the most.
LEAST_EDGE, LARGEST_EDGE = 1e-12, 1e-2
# How much of the result is the confidence itself where order is kept: less than any
# sample can tell, more than rounding.
TIE_SHARE = 1e-5


class Words(NamedTuple):
    """How sure a tagger was of words, whether it was right, and what each counts."""

    confidence: np.ndarray
    correct: np.ndarray
    weight: np.ndarray


def check_words(confidence, correct, sample_weight=None):
    """Return float64 arrays of the words that count; correct as 0 and 1."""
    confidence = _flat(confidence, "confidence")
    correct = _flat(correct, "correct")
    weight = np.ones(len(confidence))
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, len(confidence), "words")
    if len(correct) != len(confidence):
        raise ValueError(
            f"confidence has {len(confidence)} words but correct has {len(correct)}"
        )
    strange = np.flatnonzero((correct != 0) & (correct != 1))
    if strange.size:
        raise ValueError(
            f"correct[{strange[0]}] is {correct[strange[0]]}; it must be True where "
            "the label is right and False where it is wrong"
        )
    if not weight.any():
        raise ValueError("there are no words to learn from, or all have weight 0")
    counts = weight > 0
    return Words(confidence[counts], correct[counts], weight[counts])


def _flat(values, name):
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or array.ndim != 1:
        raise ValueError(
            f"{name} must be one flat array of numbers; join the rows of several "
            f"sequences by np.concatenate({name})"
        )
    return array


class BaseCalibrator:
    """Base of the maps: a non-decreasing function into [0, 1].

    A subclass gives ``_learn`` and ``_map`` on checked arrays, and stores plain numbers
    and arrays only.

    Parameters
    ----------
    keep_order : bool, default=True
        Whether confidences that differ stay different, and in their order, where the
        map is flat: a hundred-thousandth of the result is the confidence itself, as a
        number from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.calibration import BaseCalibrator
    >>> class Half(BaseCalibrator):
    ...     def _map(self, q):
    ...         return np.full(q.shape, 0.5)
    >>> Half(keep_order=False)([0.2, 0.9])
    array([0.5, 0.5])
    >>> low, high = Half()([0.2, 0.9])
    >>> bool(low < high)
    True
    """

    # Whether it takes confidences in [0, 1] only, or distances of any size too.
    of_probabilities = True
    # What it learns: numbers and arrays.
    learns = ()

    def __init__(self, *, keep_order=True):
        self.keep_order = keep_order

    @changes_at_once
    def fit(self, confidence, correct, sample_weight=None):
        """Learn from words that the tagger has not learned from; return the map."""
        q, y, weight = check_words(confidence, correct, sample_weight)
        self._learn(self._checked(q), y, weight)
        return self

    @reads_at_once
    def __call__(self, confidence):
        """Return the probability of being right, in an array of the same shape."""
        if not all(hasattr(self, name) for name in self.learns):
            raise NotFittedError(f"this {type(self).__name__} was not fitted; call fit")
        q = self._checked(np.asarray(confidence, dtype=np.float64))
        probability = np.clip(self._map(q), 0.0, 1.0)
        if self.keep_order:
            # Both parts never fall, and rounding keeps it so.
            probability = (1 - TIE_SHARE) * probability + TIE_SHARE * (1 - 1 / (1 + q))
        return probability

    def _checked(self, q):
        most = 1.0 if self.of_probabilities else np.inf
        bad = np.flatnonzero(~((q >= 0) & (q <= most)))
        if bad.size:
            raise ValueError(
                f"the confidence {q.flat[bad[0]]} does not lie between 0 and {most}. "
                "Distances such as those of 'delta' are not probabilities: they are "
                "mapped by IsotonicCalibrator() or SigmoidCalibrator(logit=False)"
            )
        return np.minimum(q, LARGEST_DISTANCE)

    def _learn(self, q, y, weight):
        """Set the fitted state from words that all count."""

    def _map(self, q):
        raise NotImplementedError

    def __repr__(self):
        learned = {name: vars(self).get(name) for name in self.learns}
        numbers = [f"{k}={v:.4g}" for k, v in learned.items() if isinstance(v, float)]
        return f"{type(self).__name__}({', '.join(numbers)})"


class IdentityCalibrator(BaseCalibrator):
    """Leaves confidences as they are; learning it changes nothing.

    Parameters
    ----------
    keep_order : bool, default=True
        Of no effect: order is kept.

    Examples
    --------
    >>> from skcw.calibration import IdentityCalibrator
    >>> IdentityCalibrator().fit([0.2, 0.9], [True, True])([0.2, 0.9])
    array([0.2, 0.9])
    """

    def __call__(self, confidence):
        """Return the confidences."""
        return self._checked(np.asarray(confidence, dtype=np.float64)).copy()


class IsotonicCalibrator(BaseCalibrator):
    """Isotonic regression: the non-decreasing map with the least squared error [1]_.

    It has no shape to be wrong about, and needs many words: with fewer than about a
    thousand, prefer a map with few parameters. Between two confidences that were seen
    it is a straight line, beyond them it is flat. It takes distances such as those of
    ``"delta"`` as well.

    Parameters
    ----------
    keep_order : bool, default=True
        Whether confidences keep their order where the map is flat.

    Attributes
    ----------
    confidence_, probability_ : ndarray of float64
        The corners of the map.

    References
    ----------
    .. [1] B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate
       multiclass probability estimates", KDD 2002.

    Examples
    --------
    >>> from skcw.calibration import IsotonicCalibrator
    >>> right = [False, True, False, True]
    >>> fitted = IsotonicCalibrator(keep_order=False).fit([0.2, 0.4, 0.6, 0.8], right)
    >>> fitted([0.1, 0.5, 0.7, 1.0])
    array([0.  , 0.5 , 0.75, 1.  ])
    """

    of_probabilities = False
    learns = ("confidence_", "probability_")

    def _learn(self, q, y, weight):
        curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        curve.fit(q, y, sample_weight=weight)
        self.confidence_ = np.asarray(curve.X_thresholds_, dtype=np.float64)
        self.probability_ = np.asarray(curve.y_thresholds_, dtype=np.float64)

    def _map(self, q):
        return np.interp(q, self.confidence_, self.probability_)


class SigmoidCalibrator(BaseCalibrator):
    """Logistic regression on the log-odds of the confidence, after Platt [1]_.

    ``expit(slope * logit(q) + intercept)`` with a slope that is not negative.
    As in Platt's article, targets stay off 0 and 1 as if one more word had been right
    and one more wrong. Confidences of 0 and 1, which have no log-odds, count as a tenth
    as far away as the nearest other one that was seen. A pull as weak as a word or two
    keeps the slope near 1 where confidences hardly vary and so cannot tell it.

    Parameters
    ----------
    logit : bool, default=True
        Whether to take log-odds first. Without it the map is Platt's own, for distances
        such as those of ``"delta"``.
    keep_order : bool, default=True
        Whether confidences keep their order where the map is flat.

    Attributes
    ----------
    slope_, intercept_ : float
        The fitted line. With log-odds, 1 and 0 leave confidences as they are.
    edge_ : float
        The least distance from 0 and 1 that counts.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons
       to regularized likelihood methods", 1999.

    Examples
    --------
    >>> from skcw.calibration import SigmoidCalibrator
    >>> right = [True] * 70 + [False] * 30
    >>> SigmoidCalibrator().fit([0.9] * 100, right)([0.9]).round(2)
    array([0.7])
    """

    learns = ("slope_", "intercept_", "edge_")

    def __init__(self, *, logit=True, keep_order=True):
        super().__init__(keep_order=keep_order)
        self.logit = logit

    @property
    def of_probabilities(self):
        """Whether log-odds are taken of the confidences."""
        return self.logit

    def _learn(self, q, y, weight):
        self.edge_ = edge_of(q)
        columns = np.column_stack([self._score(q), np.ones(len(q))])
        # Distances have units of their own, in which a slope of 1 means nothing.
        pull = PULL if self.logit else 0.0
        found = fit_logistic(columns, y, weight, [0.0, None], pull)
        self.slope_, self.intercept_ = map(float, found)

    def _map(self, q):
        return expit(self.slope_ * self._score(q) + self.intercept_)

    def _score(self, q):
        return log_odds(q, self.edge_) if self.logit else q


class TemperatureCalibrator(BaseCalibrator):
    """Divides the log-odds of the confidence by one number [1]_.

    Below a temperature of one the tagger was too modest, above it too sure; one half
    stays one half. Targets, ends and pull are as in :class:`SigmoidCalibrator`.

    Parameters
    ----------
    keep_order : bool, default=True
        Whether confidences keep their order where rounding would make them equal.

    Attributes
    ----------
    temperature_ : float
        The number.
    edge_ : float
        The least distance from 0 and 1 that counts.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Weinberger, "On calibration of modern neural
       networks", ICML 2017.

    Examples
    --------
    >>> from skcw.calibration import TemperatureCalibrator
    >>> right = [True] * 75 + [False] * 25
    >>> TemperatureCalibrator().fit([0.9] * 100, right)
    TemperatureCalibrator(temperature_=1.983, edge_=0.01)
    """

    learns = ("temperature_", "edge_")

    def _learn(self, q, y, weight):
        self.edge_ = edge_of(q)
        # Above a temperature of a thousand every confidence would be one half.
        found = fit_logistic(log_odds(q, self.edge_)[:, None], y, weight, [1e-3])
        self.temperature_ = float(1.0 / found[0])

    def _map(self, q):
        return expit(log_odds(q, self.edge_) / self.temperature_)


class BetaCalibrator(BaseCalibrator):
    """Beta calibration: ``expit(a ln q - b ln(1 - q) + c)`` with a, b >= 0 [1]_.

    It is right where the confidences of right and of wrong words have beta
    distributions; unlike the sigmoid it can bend either end by itself. Targets, ends
    and the pull, of a and b to 1, are as in :class:`SigmoidCalibrator`.

    Parameters
    ----------
    keep_order : bool, default=True
        Whether confidences keep their order where the map is flat.

    Attributes
    ----------
    a_, b_, c_ : float
        The parameters; 1, 1 and 0 leave confidences as they are.
    edge_ : float
        The least distance from 0 and 1 that counts.

    References
    ----------
    .. [1] M. Kull, T. Silva Filho and P. Flach, "Beta calibration: a well-founded and
       easily implemented improvement on logistic calibration for binary classifiers",
       AISTATS 2017.

    Examples
    --------
    >>> from skcw.calibration import BetaCalibrator
    >>> right = [True] * 70 + [False] * 30
    >>> BetaCalibrator().fit([0.9] * 100, right)([0.9]).round(2)
    array([0.7])
    """

    learns = ("a_", "b_", "c_", "edge_")

    def _learn(self, q, y, weight):
        self.edge_ = edge_of(q)
        columns = np.column_stack([*logarithms(q, self.edge_), np.ones(len(q))])
        found = fit_logistic(columns, y, weight, [0.0, 0.0, None])
        self.a_, self.b_, self.c_ = map(float, found)

    def _map(self, q):
        near_zero, near_one = logarithms(q, self.edge_)
        return expit(self.a_ * near_zero + self.b_ * near_one + self.c_)


def edge_of(q):
    """Return what 0 and 1 count as: a tenth as far away as the nearest of the others.

    A share of a hundred draws that is one says little more than 0.99. Taken for a
    certainty, a single wrong word there would bend the whole curve. For such shares a
    tenth did best on three corpora; marginals do not mind.
    """
    inside = q[(q > 0) & (q < 1)]
    gap = np.minimum(inside, 1 - inside).min() / 10 if len(inside) else LARGEST_EDGE
    return float(np.clip(gap, LEAST_EDGE, LARGEST_EDGE))


def logarithms(q, edge):
    """Return ln q and -ln(1 - q) of confidences that stay off 0 and 1."""
    q = np.clip(q, edge, 1 - edge)
    return np.log(q), -np.log1p(-q)


def log_odds(q, edge):
    """Return ln(q / (1 - q)) of confidences that stay off 0 and 1."""
    return np.add(*logarithms(q, edge))


MAPS = {
    "isotonic": IsotonicCalibrator,
    "sigmoid": SigmoidCalibrator,
    "temperature": TemperatureCalibrator,
    "beta": BetaCalibrator,
    "identity": IdentityCalibrator,
}


def map_maker(name, method, keep_order):
    """Return a function that makes maps fit for the confidences of a method."""
    kind = MAPS[name]
    if method not in METHODS or METHODS[method].probability:
        return partial(kind, keep_order=keep_order)
    if kind is SigmoidCalibrator:
        return partial(kind, logit=False, keep_order=keep_order)
    if kind.of_probabilities:
        raise ValueError(
            f"method {method!r} gives distances, which are not probabilities: "
            f"map={name!r} cannot take them, 'isotonic' and 'sigmoid' can"
        )
    return partial(kind, keep_order=keep_order)


class LabelMaps:
    """A common map, and maps of single labels that take its place.

    Parameters
    ----------
    common : BaseCalibrator
        The map of all labels without their own map.
    by_label : dict of str to BaseCalibrator
        The others.
    """

    def __init__(self, common, by_label):
        self.common = common
        self.by_label = by_label

    @classmethod
    def learn(cls, make, words, least=None):
        """Fit maps to words; without `least`, the common one alone.

        Parameters
        ----------
        make : callable
            Returns a map that is not fitted.
        words : HeldOut
            The words.
        least : int, default=None
            How many words a label needs to get its own map. Some must be right and
            some wrong.
        """
        common = make().fit(words.confidence, words.correct, words.weight)
        by_label = {}
        for label in () if least is None else np.unique(words.label):
            own = words.where((words.label == label) & (words.weight > 0))
            if len(own.label) >= least and 0 < own.correct.sum() < len(own.label):
                fitted = make().fit(own.confidence, own.correct, own.weight)
                by_label[str(label)] = fitted
        return cls(common, by_label)

    def __call__(self, confidence, label):
        """Return the probability that each of these labels is right."""
        probability = self.common(confidence)
        for name, own in self.by_label.items():
            here = label == name
            probability[here] = own(confidence[here])
        return probability

    def state(self):
        """Return the maps in numbers, strings and lists."""
        labels = {label: _state(own) for label, own in self.by_label.items()}
        return {"common": _state(self.common), "by_label": labels}

    @classmethod
    def from_state(cls, state):
        """Return the maps that `state` described."""
        by_label = {label: _restored(own) for label, own in state["by_label"].items()}
        return cls(_restored(state["common"]), by_label)


def _state(fitted):
    kind = next(name for name, cls in MAPS.items() if type(fitted) is cls)
    return {"kind": kind, **vars(fitted)}


def _restored(state):
    state = dict(state)
    fitted = MAPS[state.pop("kind")]()
    if set(state) != {*vars(fitted), *fitted.learns}:
        raise ValueError(f"a map has other values than {', '.join(fitted.learns)}")
    for name, value in state.items():
        setattr(fitted, name, _restored_value(value, name))
    # A damaged file shows here, not at the first prediction.
    with np.errstate(all="raise", under="ignore"):
        given = np.linspace(0.0, 1.0, 17)
        found = fitted(given)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("a map gives something that is not a probability")
    return fitted


def _restored_value(value, name):
    if isinstance(value, bool):
        return value
    if not isinstance(value, list):
        return saved_number(value, name)
    numbers = {name: np.asarray(value, dtype=np.float64)}
    # Distances may have any size that is finite.
    most = np.finfo(np.float64).max
    corners = saved_array(numbers, name, ("f8",), (None,), largest=most)
    if not len(corners) or (np.diff(corners) < 0).any():
        raise ValueError(f"{name} of a map is empty, or does not rise")
    return corners
