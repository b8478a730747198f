"""Choose the parameters of confidence methods on held-out labeled sequences."""

from typing import NamedTuple

import numpy as np

from skcw._model.training import MOST_TO_JUDGE
from skcw.confidence.marginals import marginal
from skcw.confidence.settings import LEARNED, ModelConfidence, Settings

# Temperatures are looked for in this range, in units of the model's margin: in steps by
# a factor of two until the best lies between two others, then by so many parabolas.
TEMPERATURES, FACTOR, N_PARABOLAS = (0.03, 30.0), 2.0, 2
# The noise that flattens the default confidence, chosen over corpora and feature
# sets of all kinds. What a few held-out words say is enough for a temperature alone.
NOISE = 0.5
# The best temperature for a few words is too low for others: on 240 samples of six
# corpora by about 15 % with 400 words and 4 % with 1,500, this over their number.
TOO_SURE = 60.0
# What `fit_method` tries, in units of the model's own scale.
SCALE_RANGE = (0.1, 100.0)
UNIT_SCALE_RANGE = (0.1, 40.0)
TEMPERATURE_RANGE = (0.03, 10.0)
N_BEST_VALUES = (2, 5, 10, 20, 30, 50, 100)
# One word that is wrong at a confidence of 1 must not decide: shares of draws are often
# exactly 1.
LOG_LOSS_CLIP = 1e-4


def _log_loss(correct, confidence):
    """Return `skcw.metrics.log_loss`, without its checks."""
    from skcw.metrics.losses import log_losses

    return float(np.mean(log_losses(correct, confidence, LOG_LOSS_CLIP)))


def _average_precision(correct, confidence):
    from skcw.metrics import error_average_precision

    return error_average_precision(correct, confidence)


def _root_calibration_mse(correct, confidence):
    from skcw.metrics import root_calibration_mse

    return root_calibration_mse(correct, confidence)


# The measures of ``fit_confidence``, by their names in `skcw.metrics`. Larger is better
# here, so the losses change their sign. Imports are late: only fitting needs SciPy.
METRICS = {
    "error_average_precision": _average_precision,
    "root_calibration_mse": lambda *pair: -_root_calibration_mse(*pair),
    "log_loss": lambda *pair: -_log_loss(*pair),
}


class Trial(NamedTuple):
    """A model, held-out sequences, and its labels for them.

    Parameters
    ----------
    model : ModelConfidence
        The model.
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    correct : ndarray of bool, shape (n_tokens,)
        Which of them are right.
    """

    model: ModelConfidence
    scored: object
    codes: np.ndarray
    correct: np.ndarray


def make_trial(model, scored, gold):
    """Return the trial of a model on labeled sequences that are new to it."""
    codes, _ = scored.viterbi()
    return Trial(model, scored, codes, codes == gold)


def marginal_loss(trials, temperature, noise=0.0):
    """Return the loss of "this label is right" of marginals, over all trials.

    Parameters
    ----------
    trials : list of Trial
        The trials.
    temperature : float
        In units of each model's margin.
    noise : float
        The variance of noise by which they are flattened.

    Returns
    -------
    loss : float
        The mean over words.
    """
    sure = []
    for trial in trials:
        settings = Settings(0.0, temperature * trial.model.margin)
        sure.append(marginal(trial.scored, trial.codes, settings, noise))
    correct = np.concatenate([trial.correct for trial in trials])
    return _log_loss(correct, np.concatenate(sure))


def learn_temperature(trials, ends=TEMPERATURES, noise=0.0):
    """Return the temperature of marginals with the least log loss, to about a tenth.

    Parameters
    ----------
    trials : list of Trial
        Models on held-out sequences.
    ends : tuple of float
        The range to look in.
    noise : float
        The variance of noise by which marginals are flattened.

    Returns
    -------
    temperature : float
        In units of the margin.
    """
    losses = {}

    def ask(temperature):
        losses[temperature] = marginal_loss(trials, temperature, noise)

    start = float(np.sqrt(ends[0] * ends[1]))
    for temperature in (start / FACTOR, start, start * FACTOR):
        ask(temperature)
    while True:
        tried = sorted(losses)
        best = min(tried, key=losses.get)
        if best == tried[0] and best > ends[0]:
            ask(best / FACTOR)
        elif best == tried[-1] and best < ends[1]:
            ask(best * FACTOR)
        else:
            break
    if best in (tried[0], tried[-1]):
        return float(np.clip(best, *ends))
    for _ in range(N_PARABOLAS):
        lowest = _lowest(losses)
        if np.abs(np.log(np.array(list(losses)) / lowest)).min() < 0.02:
            return lowest
        ask(lowest)
    return _lowest(losses)


def _lowest(losses):
    """Return the lowest point of a parabola about the least loss.

    It is one in the logarithm, through three points.
    """
    tried = sorted(losses)
    k = tried.index(min(tried[1:-1], key=losses.get))
    x = np.log(tried[k - 1 : k + 2])
    y = np.array([losses[value] for value in tried[k - 1 : k + 2]])
    left, right = np.diff(y) / np.diff(x)
    bend = (right - left) / (x[2] - x[0])
    if bend <= 0.0:
        return float(np.exp(x[np.argmin(y)]))
    # It is not extrapolated far beyond its points.
    lowest = 0.5 * (x[0] + x[1] - left / bend)
    return float(np.exp(np.clip(lowest, x[0] - 0.3, x[2] + 0.3)))


def learn_values(trials):
    """Return the values of the methods that need no other learning.

    Parameters
    ----------
    trials : list of Trial
        Models on held-out sequences.

    Returns
    -------
    chosen : dict of str to dict
        The values of ``LEARNED`` in the model's units.
    """
    cautious = 1.0 + TOO_SURE / sum(len(trial.codes) for trial in trials)
    plain, noisy = (
        cautious * learn_temperature(trials, noise=noise) for noise in (0.0, NOISE)
    )
    return {
        LEARNED[0]: {"temperature": plain},
        LEARNED[1]: {"temperature": noisy, "variance_scale": NOISE},
    }


def moved_values(trial, values):
    """Return values moved towards the best ones of a trial on a few more sequences.

    Only temperatures move, all of them by one factor, which is the nearer to 1 the
    fewer the words: a stream of small batches moves them smoothly.

    Parameters
    ----------
    trial : Trial
        A model on sequences that it is about to be trained on.
    values : dict of str to dict
        What ``learn_values`` has returned before.

    Returns
    -------
    moved : dict of str to dict
        The same values at other temperatures.
    """
    before = values["marginal"]["temperature"]
    found = learn_temperature([trial], (before / 8.0, before * 8.0))
    share = len(trial.codes) / (len(trial.codes) + MOST_TO_JUDGE)
    factor = (found / before) ** share
    return {
        name: own | {"temperature": own["temperature"] * factor}
        for name, own in values.items()
    }


def fit_method(name, trials, *, metric, n_values, **options):
    """Choose the parameters of a method on trials.

    Parameters
    ----------
    name : str
        The method.
    trials : list of Trial
        Models on held-out sequences; the first one has the usual values.
    metric : str
        One of ``METRICS``.
    n_values : int
        How many values of the scale and of the temperature to try.
    **options : int
        ``n_draws`` and ``random_state``, for methods that draw.

    Returns
    -------
    fit : dict
        The ``metric``, the ``values`` chosen and the ``curves`` they come from.
    """
    _check_informative(trials, metric)
    model = trials[0].model
    method = model.served[name]
    options = {key: v for key, v in options.items() if key in method.options}
    fit = {"metric": metric, "values": {}, "curves": {}}
    for parameter in method.tunes:
        grid = grid_of(parameter, n_values, method.unit_variance)
        scores = np.zeros(len(grid))
        for trial in trials:
            settings = trial.model.settings(name, **fit["values"], **options)
            scores += scores_of(name, parameter, grid, trial, metric, settings)
        usual = model.usual(method)[parameter]
        fit["values"][parameter] = best_of(grid, scores, usual)
        fit["curves"][parameter] = {
            "grid": grid.tolist(),
            "scores": (scores / len(trials)).tolist(),
        }
    return fit


def _check_informative(trials, metric):
    correct = np.concatenate([trial.correct for trial in trials])
    if not len(correct):
        raise ValueError("X has no tokens, so there is nothing to choose by")
    if metric == "error_average_precision" and correct.all():
        raise ValueError(
            "no predicted label is wrong, so average precision is undefined; "
            "give sequences that the tagger was not trained on, or another metric"
        )


def grid_of(parameter, n_values, unit_variance=False):
    """Return the values to try, in units of the model's own scale."""
    if parameter == "n_best":
        return np.array(N_BEST_VALUES, dtype=float)
    ends = TEMPERATURE_RANGE
    if parameter == "variance_scale":
        ends = UNIT_SCALE_RANGE if unit_variance else SCALE_RANGE
    return np.geomspace(*ends, n_values)


def scores_of(name, parameter, grid, trial, metric, settings):
    """Return the metric of a method for each value of one of its parameters.

    Parameters
    ----------
    name : str
        The method.
    parameter : {"variance_scale", "temperature", "n_best"}
        What varies.
    grid : ndarray
        Its values, in units of the model.
    trial : Trial
        The model on held-out labeled sequences.
    metric : str
        One of ``METRICS``.
    settings : Settings
        The other parameters.

    Returns
    -------
    scores : ndarray of float64
        One for each value; larger is better.
    """
    method, measure = trial.model.served[name], METRICS[metric]
    if method.at_once is not None:
        rows = method.at_once(trial.scored, trial.codes, grid)
        return np.array([measure(trial.correct, row) for row in rows])
    unit = trial.model.unit(parameter, method)
    compute = method.parts.get(parameter, method.compute)
    found = []
    for value in grid:
        one = settings._replace(**{parameter: float(value * unit)})
        sure = compute(trial.scored, trial.codes, one)
        found.append(measure(trial.correct, sure))
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
