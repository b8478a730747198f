"""Calibrators: monotone maps from confidence to probability, by label or for all."""

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from skcw._util.checks import check_weight_values, floats
from skcw._util.limits import LARGEST_DISTANCE
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.confidence.methods import METHODS
from skcw.data.saved import saved_array, saved_number
from skcw.metrics.pairs import check_pairs

# The loss is convex and has at most three coefficients: it is solved to rounding.
OPTIONS = {"maxiter": 1000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-10}

# The weight of the prior on slopes, which are from 0 to 2 or so: one or two tokens.
PULL = 1.0


def smoothed_targets(correct, weight):
    """Return Platt's targets: one right and one wrong token more than were seen.

    With them the best coefficients are finite even where all tokens are right.
    """
    right, wrong = weight @ correct, weight @ (1.0 - correct)
    return np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))


def fit_logistic(columns, correct, weight, least, pull=PULL):
    """Minimize the weighted logarithmic loss of ``expit(columns @ coefficients)``.

    A coefficient with a least value is a slope, for which 1 leaves confidences as they
    are. Where confidences hardly vary, the data do not determine the slopes: a weak
    pull keeps them near 1.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_tokens, n_columns)
        The functions of the confidence that are combined.
    correct : ndarray of float64, shape (n_tokens,)
        1 where the label is right, else 0; the targets are Platt's.
    weight : ndarray of float64, shape (n_tokens,)
        How often each token counts.
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


# Where confidences are clipped before logarithms: the range of the edge.
LEAST_EDGE, LARGEST_EDGE = 1e-12, 1e-2
# The share of the confidence itself in the result where order is kept: below the noise
# of any sample, above rounding.
TIE_SHARE = 1e-5


class BaseCalibrator:
    """Base of the calibrators: a non-decreasing function into [0, 1].

    A subclass implements ``_learn`` and ``_map`` on checked arrays, and stores only
    plain numbers and arrays.

    Parameters
    ----------
    keep_order : bool, default=True
        Whether confidences that differ stay different, and in their order, where the
        map is flat: a hundred-thousandth of the result is the confidence itself.

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

    # Whether only confidences in [0, 1] are valid, or distances of any size too.
    of_probabilities = True
    # The fitted attributes: numbers and arrays.
    learns = ()

    def __init__(self, *, keep_order: bool = True) -> None:
        self.keep_order = keep_order

    @changes_at_once
    def fit(
        self, correct: Any, confidence: Any, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the calibrator to held-out data.

        Parameters
        ----------
        correct : array of shape (n_tokens,), or a sequence of such
            Whether each label is right.
        confidence : array of shape (n_tokens,), or a sequence of such
            The confidence in it.
        sample_weight : array of shape (n_tokens,), default=None
            How much each token counts.

        Returns
        -------
        self : object
            The fitted calibrator.
        """
        found = check_pairs(correct, confidence, sample_weight, probabilities=False)
        check_weight_values(found.weight, "tokens")
        self._learn(self._checked(found.q), found.y, found.weight)
        return self

    @reads_at_once
    def __call__(self, confidence):
        """Return the probability of being right, in an array of the same shape."""
        if not all(hasattr(self, name) for name in self.learns):
            raise NotFittedError(f"this {type(self).__name__} was not fitted; call fit")
        q = self._checked(floats(confidence, "confidence"))
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
        """Set the fitted attributes from tokens of positive weight."""

    def _map(self, q):
        raise NotImplementedError

    def __repr__(self):
        learned = {name: vars(self).get(name) for name in self.learns}
        numbers = [f"{k}={v:.4g}" for k, v in learned.items() if isinstance(v, float)]
        return f"{type(self).__name__}({', '.join(numbers)})"


class IdentityCalibrator(BaseCalibrator):
    """Leaves confidences as they are.

    Parameters
    ----------
    keep_order : bool, default=True
        Has no effect: order is kept.

    Examples
    --------
    >>> from skcw.calibration.calibrators import IdentityCalibrator
    >>> IdentityCalibrator().fit([True, True], [0.2, 0.9])([0.2, 0.9])
    array([0.2, 0.9])
    """

    def __call__(self, confidence):
        """Return the confidences."""
        return self._checked(np.asarray(confidence, dtype=np.float64)).copy()


class IsotonicCalibrator(BaseCalibrator):
    """Isotonic regression: the non-decreasing map with the least squared error [1]_.

    It assumes no shape, and needs many tokens: with fewer than about a thousand, prefer
    a calibrator with few parameters. It is linear between the confidences seen, and
    flat beyond them. Distances such as those of ``"delta"`` are valid as well.

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
    >>> fitted = IsotonicCalibrator(keep_order=False).fit(right, [0.2, 0.4, 0.6, 0.8])
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
    As in Platt's article, targets stay off 0 and 1 as if one more token had been right
    and one more wrong. Confidences of 0 and 1, which have no log-odds, are moved
    inwards by a tenth of the distance of the nearest other one. A weak pull keeps the
    slope near 1 where confidences hardly vary.

    Parameters
    ----------
    logit : bool, default=True
        Whether to take log-odds first. Without, it is Platt's own map, for distances
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
    >>> SigmoidCalibrator().fit(right, [0.9] * 100)([0.9]).round(2)
    array([0.7])
    """

    learns = ("slope_", "intercept_", "edge_")

    def __init__(self, *, logit: bool = True, keep_order: bool = True) -> None:
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

    Below a temperature of one the tagger was underconfident, above it overconfident;
    one half stays one half. Targets, ends and pull are as in
    :class:`SigmoidCalibrator`.

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
    >>> TemperatureCalibrator().fit(right, [0.9] * 100)
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

    It is exact where the confidences of right and of wrong tokens have beta
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
    >>> BetaCalibrator().fit(right, [0.9] * 100)([0.9]).round(2)
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
    """Return the distance from 0 and 1 at which confidences are clipped.

    It is a tenth of that of the nearest confidence. A share of a hundred draws that is
    one says little more than 0.99: taken for a certainty, a single wrong token there
    would bend the whole curve.
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


CALIBRATORS = {
    "isotonic": IsotonicCalibrator,
    "sigmoid": SigmoidCalibrator,
    "temperature": TemperatureCalibrator,
    "beta": BetaCalibrator,
    "identity": IdentityCalibrator,
}


def calibrator_maker(name, method, keep_order):
    """Return a function that makes calibrators for the confidences of a method."""
    kind = CALIBRATORS[name]
    if method not in METHODS or METHODS[method].probability:
        return partial(kind, keep_order=keep_order)
    if kind is SigmoidCalibrator:
        return partial(kind, logit=False, keep_order=keep_order)
    if kind.of_probabilities:
        raise ValueError(
            f"confidence_method={method!r} gives distances, which are not "
            f"probabilities: method={name!r} cannot take them, 'isotonic' and "
            "'sigmoid' can"
        )
    return partial(kind, keep_order=keep_order)


class LabelCalibrators:
    """A common calibrator, and those of single labels that take its place.

    Parameters
    ----------
    common : BaseCalibrator
        The calibrator of all labels without one of their own.
    by_label : dict of str to BaseCalibrator
        The others.
    """

    def __init__(self, common, by_label):
        self.common = common
        self.by_label = by_label

    @classmethod
    def learn(cls, make, words, least=None):
        """Fit calibrators; without `least`, the common one alone.

        Parameters
        ----------
        make : callable
            Returns a calibrator that is not fitted.
        words : HeldOut
            The tokens.
        least : int, default=None
            How many tokens a label needs for a calibrator of its own, some right and
            some wrong.
        """
        common = make().fit(words.correct, words.confidence, words.weight)
        by_label = {}
        for label in () if least is None else np.unique(words.label):
            own = words.where((words.label == label) & (words.weight > 0))
            if len(own.label) >= least and 0 < own.correct.sum() < len(own.label):
                fitted = make().fit(own.correct, own.confidence, own.weight)
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
        """Return the calibrators as numbers, strings and lists."""
        labels = {label: _state(own) for label, own in self.by_label.items()}
        return {"common": _state(self.common), "by_label": labels}

    @classmethod
    def from_state(cls, state):
        """Return the calibrators that `state` described."""
        by_label = {label: _restored(own) for label, own in state["by_label"].items()}
        return cls(_restored(state["common"]), by_label)


def _state(fitted):
    kind = next(name for name, cls in CALIBRATORS.items() if type(fitted) is cls)
    return {"kind": kind, **vars(fitted)}


def _restored(state):
    state = dict(state)
    fitted = CALIBRATORS[state.pop("kind")]()
    if set(state) != {*vars(fitted), *fitted.learns}:
        raise ValueError(
            f"a calibrator has other values than {', '.join(fitted.learns)}"
        )
    for name, value in state.items():
        setattr(fitted, name, _restored_value(value, name))
    # A damaged file shows here, not at the first prediction.
    with np.errstate(all="raise", under="ignore"):
        given = np.linspace(0.0, 1.0, 17)
        found = fitted(given)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("a calibrator gives something that is not a probability")
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
        raise ValueError(f"{name} of a calibrator is empty, or does not rise")
    return corners
