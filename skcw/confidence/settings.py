"""Parameters of confidence methods, and their values for a fitted model."""

import sys
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

from skcw._util.limits import LARGEST_SETTING, LEAST_SETTING, MOST_IN_A_FILE
from skcw.confidence.methods import METHODS, check_method, served_methods
from skcw.data.saved import saved_flag, saved_kind, saved_number
from skcw.exceptions import UnlearnedConfidenceWarning

# In units of the model's own scale; chosen over corpora and feature sets of all kinds.
DEFAULT_SCALE = 3.0
DEFAULT_UNIT_SCALE = 4.0
DEFAULT_TEMPERATURE = 0.8
DEFAULT_N_BEST = 30
# The methods whose values a margin-trained tagger learns as it learns its weights.
LEARNED = ("marginal", "noisy-marginal")
# Warnings name the line outside of the package, from Python 3.12 on.
HERE = str(Path(__file__).parents[1])
OUTSIDE = {"stacklevel": 2}
if sys.version_info >= (3, 12):
    OUTSIDE |= {"skip_file_prefixes": (HERE,)}


class Settings(NamedTuple):
    """The parameters of a confidence method for one call.

    Parameters
    ----------
    variance_scale : float
        The factor s of the variances of the draws, or the variance of noise in scores
        that have been divided by the temperature.
    temperature : float
        What scores are divided by before forward-backward.
    n_draws : int
        How many weight vectors are drawn.
    n_best : int
        How many of the best labelings vote.
    seed : int
        The seed of the draws.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw._model.decoding import Decoder
    >>> from skcw.confidence.methods import METHODS
    >>> from skcw.confidence.settings import Settings
    >>> from skcw.data import SequenceEncoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"]])
    >>> scored = Decoder(Belief.start(2, 4)).open(batch)
    >>> settings = Settings(variance_scale=1.0, temperature=0.5, n_best=16)
    >>> METHODS["kbv"].compute(scored, scored.viterbi()[0], settings)
    array([0.25, 0.25])
    """

    variance_scale: float
    temperature: float
    n_draws: int = 100
    n_best: int = DEFAULT_N_BEST
    seed: int = 0


def check_positive(name, value):
    """Raise unless a value is a positive number within a safe range."""
    if not isinstance(value, Real) or not LEAST_SETTING <= value <= LARGEST_SETTING:
        raise ValueError(
            f"{name} must be a positive number from {LEAST_SETTING} to "
            f"{LARGEST_SETTING}, got {value!r}"
        )


def check_count(name, value):
    """Raise unless a value is a positive whole number."""
    whole = isinstance(value, Integral) or (
        isinstance(value, Real) and float(value).is_integer()
    )
    if not whole or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")


def checked_fits(fits):
    """Return the fitted values in a model file; raise unless they are usable.

    Parameters
    ----------
    fits : object
        Should be ``confidence_`` of a tagger.

    Returns
    -------
    fits : dict
        For each method a dict with the ``values`` chosen.
    """
    for name, fit in saved_kind(fits, "confidence", dict).items():
        values = saved_kind(fit, f"confidence of {name}", dict).get("values", {})
        saved_kind(values, f"the values of {name}", dict)
        check_saved_options(values)
    return fits


def check_saved_options(options):
    """Raise unless the options of a method in a model file are usable.

    Parameters
    ----------
    options : dict
        Some of ``variance_scale``, ``temperature``, ``n_best`` and ``n_draws``.
    """
    for name, value in options.items():
        if name in ("n_best", "n_draws"):
            saved_number(value, name, 1, MOST_IN_A_FILE)
            check_count(name, value)
        elif name == "temperature":
            saved_number(value, name, LEAST_SETTING, LARGEST_SETTING)
        elif name == "variance_scale":
            saved_number(value, name, 0, LARGEST_SETTING)
        else:
            raise ValueError(f"there is no option {name!r}")


def saved_confidence(belief, fitted, own):
    """Return the confidence methods of a saved model; raise if its file is damaged.

    Parameters
    ----------
    belief : Belief
        The model.
    fitted : object
        Should be ``confidence_`` of the tagger.
    own : object
        Should be the other values that the tagger wrote.

    Returns
    -------
    confidence : ModelConfidence
        The same as that of the tagger.
    """
    saved_kind(own, "confidence", dict)
    for name in ("margin", "temperature"):
        saved_number(own[name], name, LEAST_SETTING, LARGEST_SETTING)
    saved_number(own["seed"], "seed", 0, 2**64 - 1, whole=True)
    saved_flag(own["is_rule"], "is_rule")
    confidence = ModelConfidence(belief, fitted=checked_fits(fitted), **own)
    # An unsuitable default method is reported now, not at the first prediction.
    name, method = confidence.chosen()
    if not method.any_label:
        raise ValueError(f"the default method {name!r} cannot judge every label")
    return confidence


def scale_unit(belief, unit_variance=False):
    """Return the model's own unit for the scale of draws.

    With variances of one it is the mean square of the weights, unless these have a
    scale of their own, as logarithms of probabilities do. With the belief's variances
    it is the same over the prior variance, which is in the same unit.

    Parameters
    ----------
    belief : Belief
        The model.
    unit_variance : bool, default=False
        Whether draws have variances of one.

    Returns
    -------
    unit : float
        The unit.
    """
    if unit_variance or belief.variance is None:
        return belief.own_unit or belief.mean_square
    return belief.mean_square / float(belief.prior_variance)


@dataclass(eq=False, repr=False, match_args=False)
class ModelConfidence:
    """The confidence methods of a fitted model, with their units and values.

    Parameters
    ----------
    belief : Belief
        The model.
    margin : float, default=1.0
        The unit of temperatures: about the score by which a right label leads.
    temperature : float, default=0.8
        The temperature where none is given or fitted, in that unit.
    default : str, default="marginal"
        The method for words that is used if none is named.
    fitted : dict, default=None
        ``confidence_`` of the tagger: for each method the ``values`` chosen.
    seed : int, default=0
        The seed of draws where ``random_state`` is not given.
    is_rule : bool, default=False
        Whether ``fit`` had too little data to calibrate confidence; its use then warns.
    methods : dict of str to Method, default=METHODS
        All methods for such a model.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.settings import ModelConfidence
    >>> confidence = ModelConfidence(Belief.start(2, 3), margin=2.0)
    >>> confidence.settings("marginal").temperature
    1.6
    >>> list(confidence.served)[:3]
    ['delta', 'delta-max', 'marginal']
    """

    belief: Any
    _: KW_ONLY
    margin: float = 1.0
    temperature: float = DEFAULT_TEMPERATURE
    default: str = "marginal"
    fitted: dict | None = None
    seed: int = 0
    is_rule: bool = False
    methods: Mapping = field(default_factory=lambda: METHODS)

    def __post_init__(self):
        self.fitted = self.fitted or {}
        self.served = served_methods(self.belief.variance is not None, self.methods)

    def chosen(self, name=None, kind=None):
        """Return the name of a method, or of the default, and the method.

        It must be able to judge "any_label", or whole "spans", "sequences" or "pairs".
        """
        if kind in (None, "any_label"):
            name = self.default if name is None else name
            method = check_method(name, self.served, self.methods)
            if kind and not method.any_label:
                able = [n for n, m in self.served.items() if m.any_label]
                raise ValueError(
                    f"method {name!r} compares the predicted label with its rivals; to "
                    f"judge given labels it must be one of {', '.join(able)}"
                )
            return name, method
        among = [n for n, m in self.served.items() if getattr(m, kind) is not None]
        name = "marginal" if name is None else name
        if not among:
            raise ValueError(
                f"this tagger has no method for whole {kind}, only for words: "
                f"{', '.join(self.served)}"
            )
        if name not in among:
            raise ValueError(
                f"method is {name!r}; for whole {kind} it must be one of "
                f"{', '.join(among)}"
            )
        return name, self.served[name]

    def usual(self, method):
        """Return the values of a method where none is given or fitted."""
        scale = DEFAULT_UNIT_SCALE if method.unit_variance else DEFAULT_SCALE
        usual = {
            "variance_scale": scale,
            "temperature": self.temperature,
            "n_best": DEFAULT_N_BEST,
        }
        return usual | method.usual

    def unit(self, parameter, method):
        """Return the model's own unit of a parameter of a method."""
        if parameter == "temperature":
            return self.margin
        of_weights = method.needs_variance or method.unit_variance
        if parameter == "variance_scale" and of_weights:
            return scale_unit(self.belief, method.unit_variance)
        return 1.0

    def settings(self, name, *, n_draws=None, random_state=None, **options):
        """Return the settings of a call: what is given, was fitted, or is usual.

        Parameters
        ----------
        name : str
            The method.
        n_draws : int, default=None
            By default that of the method.
        random_state : int, default=None
            Controls the draws; by default the seed of the model.
        **options : float or int
            ``variance_scale`` and ``temperature`` in units of the model, and
            ``n_best``.

        Returns
        -------
        settings : Settings
            The settings.
        """
        method = self.served[name]
        fitted = self.fitted.get(name, {}).get("values", {})
        if name in LEARNED and not fitted and not options.get("temperature"):
            self._warn_of_rule()
        values = self.usual(method) | fitted
        drawn = {"n_draws": n_draws, "random_state": random_state}
        given = {*options, *(key for key, v in drawn.items() if v is not None)}
        if unknown := given - set(method.options):
            raise TypeError(
                f"method {name!r} has no option {min(unknown)!r}; its options are "
                f"{', '.join(method.options) or 'none'}"
            )
        values |= {key: v for key, v in options.items() if v is not None}
        n_draws = method.n_draws if n_draws is None else n_draws
        check_positive("temperature", values["temperature"])
        # fit may choose no noise at all, but it cannot be given.
        if options.get("variance_scale") is not None:
            check_positive("variance_scale", values["variance_scale"])
        check_count("n_best", values["n_best"])
        check_count("n_draws", n_draws)
        return Settings(
            variance_scale=self._variance_scale(values["variance_scale"], method),
            temperature=values["temperature"] * self.margin,
            n_draws=int(n_draws),
            n_best=int(values["n_best"]),
            seed=self.draw_seed(random_state),
        )

    def _variance_scale(self, value, method):
        # The unit is a mean over all weights, and not needed without draws.
        if not value or "variance_scale" not in method.tunes:
            return value
        return value * self.unit("variance_scale", method)

    def draw_seed(self, random_state):
        """Return the seed of draws: the one that is given, or that of the model."""
        if random_state is None:
            return self.seed
        if not isinstance(random_state, Integral) or not 0 <= random_state < 2**64:
            raise ValueError(
                "random_state of draws must be an integer from 0 to 2**64 - 1, got "
                f"{random_state!r}"
            )
        return int(random_state)

    def _warn_of_rule(self):
        """Warn if ``fit`` had too little data to calibrate confidence."""
        if self.is_rule:
            warnings.warn(
                "the tagger was trained on too few sequences to calibrate its "
                "confidence, which follows a rule of thumb; fit on more, or call "
                "fit_confidence with labeled sequences that are new to it",
                UnlearnedConfidenceWarning,
                **OUTSIDE,
            )
