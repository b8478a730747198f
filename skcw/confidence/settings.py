"""The parameters of confidence methods, and the model's own scale for them."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

# In units of the model's own scale; chosen over corpora and feature sets of all kinds.
DEFAULT_SCALE = 3.0
DEFAULT_FIXED_SCALE = 4.0
DEFAULT_TEMPERATURE = 0.8
DEFAULT_K = 30
SCALE_RANGE = (0.1, 100.0)
FIXED_SCALE_RANGE = (0.1, 40.0)
TEMPERATURE_RANGE = (0.03, 10.0)
# Far from where single precision ends, whatever the unit.
LEAST_VALUE, LARGEST_VALUE = 1e-30, 1e30


class Settings(NamedTuple):
    """What confidence methods need to know besides model and input.

    Parameters
    ----------
    scale : float
        The factor s of the variances of the draws.
    temperature : float
        What scores are divided by before forward-backward.
    n_draws : int
        How many weight vectors are drawn.
    k : int
        How many of the best labelings vote.
    seed : int
        The seed of the draws.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import METHODS, Settings
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"]])
    >>> decoder = Decoder(Belief.start(2, 4))
    >>> codes, _ = decoder.viterbi(batch)
    >>> settings = Settings(scale=1.0, temperature=0.5, k=16)
    >>> METHODS["kbv"].compute(decoder, batch, codes, settings)
    array([0.25, 0.25])
    """

    scale: float
    temperature: float
    n_draws: int = 100
    k: int = 30
    seed: int = 0


def usual_values(fixed):
    """Return the values that are used where none is given or fitted."""
    return {
        "scale": DEFAULT_FIXED_SCALE if fixed else DEFAULT_SCALE,
        "temperature": DEFAULT_TEMPERATURE,
        "k": DEFAULT_K,
    }


def check_positive(name, value):
    """Raise unless a value is a positive number that arithmetic can bear."""
    if not isinstance(value, Real) or not LEAST_VALUE <= value <= LARGEST_VALUE:
        raise ValueError(
            f"{name} must be a positive number from {LEAST_VALUE} to {LARGEST_VALUE}, "
            f"got {value!r}"
        )


def check_count(name, value):
    """Raise unless a value is a positive whole number."""
    whole = isinstance(value, Integral) or (
        isinstance(value, Real) and float(value).is_integer()
    )
    if not whole or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")


def mean_square(belief):
    """Return the mean square of the weights that are not zero; 1 if all are."""
    weights = belief.weights[belief.weights != 0]
    return float(np.mean(np.square(weights, dtype=np.float64))) if len(weights) else 1.0


def scale_unit(belief, fixed=False):
    """Return the model's own unit for the scale of draws.

    With variances of one it is the mean square of the weights, unless these have a
    scale of their own, as logarithms of probabilities do. With the belief's variances
    it is the same over the prior variance, which is in the same unit.

    Parameters
    ----------
    belief : Belief
        The model.
    fixed : bool, default=False
        Whether draws have variances of one.

    Returns
    -------
    unit : float
        The unit.
    """
    if fixed or belief.variance is None:
        return belief.own_unit or mean_square(belief)
    blank = belief.width * belief.width
    return mean_square(belief) / float(belief.variance[blank])
