"""Choose the scale, the temperature or K of a method on labelled sequences."""

import numpy as np

from skcw.confidence.kbv import k_best_shares
from skcw.confidence.methods import METHODS
from skcw.confidence.settings import (
    FIXED_SCALE_RANGE,
    SCALE_RANGE,
    TEMPERATURE_RANGE,
    Settings,
    scale_unit,
)
from skcw.metrics import error_average_precision, root_calibration_mse

# K is chosen among these.
K_VALUES = (2, 5, 10, 20, 30, 50, 100)

# What a confidence of 0 or 1 counts in the logarithmic loss.
LEAST = 1e-4


def _log_score(confidence, correct):
    confidence = np.clip(confidence, LEAST, 1.0 - LEAST)
    return float(np.mean(np.log(np.where(correct, confidence, 1.0 - confidence))))


# All of them are better when larger.
METRICS = {
    "average_precision": lambda confidence, correct: error_average_precision(
        correct, confidence
    ),
    "rmse": lambda confidence, correct: (
        -root_calibration_mse(correct, confidence, strategy="uniform", claim="centre")
    ),
    "log_loss": _log_score,
}


def grid_of(parameter, n_values, fixed=False):
    """Return the values to try, in units of the model's own scale."""
    if parameter == "k":
        return np.array(K_VALUES, dtype=float)
    ends = TEMPERATURE_RANGE
    if parameter == "scale":
        ends = FIXED_SCALE_RANGE if fixed else SCALE_RANGE
    return np.geomspace(*ends, n_values)


def scores_of(
    name, parameter, grid, unit, decoder, batch, codes, correct, metric, settings
):
    """Return the metric of a method for each value of one of its parameters.

    Parameters
    ----------
    name : str
        The method.
    parameter : {"scale", "temperature", "k"}
        What varies.
    grid : ndarray
        Its values.
    unit : float
        What they are multiplied by.
    decoder : Decoder
        The model.
    batch : SequenceBatch
        Labelled sequences that the model has not learnt from.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    correct : ndarray of bool, shape (n_tokens,)
        Which of them are right.
    metric : str
        One of ``METRICS``.
    settings : Settings
        The other parameters.

    Returns
    -------
    scores : ndarray of float64
        One for each value; larger is better.
    """
    measure = METRICS[metric]
    if parameter == "k":
        shares = k_best_shares(decoder, batch, codes, grid.astype(int), name == "wkbv")
        return np.array([measure(share, correct) for share in shares])
    compute = METHODS[name].parts.get(parameter, METHODS[name].compute)
    found = []
    for value in grid:
        trial = settings._replace(**{parameter: float(value * unit)})
        found.append(measure(compute(decoder, batch, codes, trial), correct))
    return np.array(found)


def best_of(grid, scores, usual):
    """Return the value with the best score; of several the nearest to the usual one.

    Parameters
    ----------
    grid : ndarray
        The values.
    scores : ndarray
        Their scores.
    usual : float
        The value that is used where none was fitted.

    Returns
    -------
    value : float
        The value.
    """
    best = grid[scores == scores.max()]
    if usual == 0:
        return float(best.min())
    return float(best[np.argmin(np.abs(np.log(best / usual)))])


def unit_of(parameter, belief, margin, fixed):
    """Return the model's own unit of a parameter."""
    if parameter == "scale":
        return scale_unit(belief, fixed)
    return margin if parameter == "temperature" else 1.0


def settings_of(values, belief, margin, fixed, **others):
    """Return settings for a model from values in its units.

    Parameters
    ----------
    values : dict
        ``scale`` and ``temperature`` in units of the model, and ``k``.
    belief : Belief
        The model.
    margin : float
        The score by which a right label should lead.
    fixed : bool
        Whether draws have variances of one.
    **others : int
        ``n_draws`` and ``seed``.

    Returns
    -------
    settings : Settings
        The settings.
    """
    return Settings(
        scale=values["scale"] * unit_of("scale", belief, margin, fixed),
        temperature=values["temperature"] * margin,
        k=int(values["k"]),
        **others,
    )
