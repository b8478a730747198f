"""Choose the parameters of confidence methods on held-out labelled sequences."""

from functools import partial
from typing import NamedTuple

import numpy as np

from skcw.confidence._draws import draw_marginal_fixed
from skcw.confidence._marginals import marginal
from skcw.confidence._settings import LEARNT, ModelConfidence, Settings, mean_square

# More words than these would make the choice slower, not better.
FEWEST_WORDS, MOST_WORDS = 600, 6000
# Temperatures are looked for in this range, in units of the model's margin.
TEMPERATURES = (0.03, 30.0)
# These amounts of noise are tried, in units of the mean square weight. Draws flatten
# marginals, so averaged ones want a lower temperature: one in this range of factors.
NOISES, COOLING_FACTORS = (1.0, 3.0), (0.3, 1.2)
TRIAL_DRAWS = 16
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
    from skcw.metrics._proper_losses import log_losses

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
    """A model, sequences that it has not learnt from, and its labels for them.

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


def words_to_judge(n_words):
    """Return how many words to ask about after training on `n_words`.

    The search for a temperature then takes less than a fifth of the training.
    """
    return min(max(n_words // 16, FEWEST_WORDS), MOST_WORDS)


def make_trial(model, scored, gold):
    """Return the trial of a model on labelled sequences that are new to it."""
    codes, _ = scored.viterbi()
    return Trial(model, scored, codes, codes == gold)


def trial_loss(trials, compute, temperature, noise=0.0):
    """Return the loss of "this label is right", over all trials.

    Parameters
    ----------
    trials : list of Trial
        The trials.
    compute : callable
        A confidence method.
    temperature : float
        In units of each model's margin.
    noise : float, default=0.0
        In units of each model's mean square weight.

    Returns
    -------
    loss : float
        The mean over words.
    """
    sure = []
    for trial in trials:
        settings = Settings(
            # The mean square takes a while, and without noise it is not needed.
            variance_scale=noise * mean_square(trial.model.belief) if noise else 0.0,
            temperature=temperature * trial.model.margin,
            n_draws=TRIAL_DRAWS,
        )
        sure.append(compute(trial.scored, trial.codes, settings))
    correct = np.concatenate([trial.correct for trial in trials])
    return _log_loss(correct, np.concatenate(sure))


def learn_temperature(trials, ends=TEMPERATURES):
    """Return the temperature of marginals with the least log loss.

    Parameters
    ----------
    trials : list of Trial
        Models on sequences that are new to them.
    ends : tuple of float
        The range to look in.

    Returns
    -------
    temperature : float
        In units of the margin.
    """
    return _best_temperature(partial(trial_loss, trials, marginal), ends)[0]


def _best_temperature(loss, ends):
    """Return the temperature with the least loss, to about a tenth, and that loss."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda exponent: loss(temperature=np.exp(exponent)),
        bounds=np.log(ends),
        method="bounded",
        options={"xatol": 0.1},
    )
    return float(np.exp(found.x)), float(found.fun)


def learn_noise(trials, temperature):
    """Return the noise and the temperature of marginals averaged over draws.

    Parameters
    ----------
    trials : list of Trial
        Models on sequences that are new to them.
    temperature : float
        The best one without noise.

    Returns
    -------
    noise : float
        In units of the mean square weight; 0 where draws do not help.
    temperature : float
        The temperature that goes with it.
    """
    best = trial_loss(trials, marginal, temperature), 0.0, temperature
    for noise in NOISES:
        cooled, loss = _best_temperature(
            partial(trial_loss, trials, draw_marginal_fixed, noise=noise),
            [temperature * factor for factor in COOLING_FACTORS],
        )
        best = min(best, (loss, noise, cooled))
    return best[1:]


def learn_values(trials):
    """Return the values of the methods that need no other learning.

    Parameters
    ----------
    trials : list of Trial
        Models on sequences that are new to them.

    Returns
    -------
    chosen : dict of str to dict
        The values of ``LEARNT`` in the models' units.
    """
    temperature = learn_temperature(trials)
    noise, cooled = learn_noise(trials, temperature)
    plain, drawn = LEARNT
    return {
        plain: {"temperature": temperature},
        drawn: {"temperature": cooled, "variance_scale": noise},
    }


def moved_values(trial, values):
    """Return values moved towards what a trial on a few more sequences says.

    Only temperatures move, all of them by the same factor, and the less the fewer the
    words: a stream of small batches moves them smoothly.

    Parameters
    ----------
    trial : Trial
        A model on sequences that it is about to learn from.
    values : dict of str to dict
        What ``learn_values`` has returned before.

    Returns
    -------
    moved : dict of str to dict
        The same values at other temperatures.
    """
    before = values["marginal"]["temperature"]
    found = learn_temperature([trial], (before / 8.0, before * 8.0))
    share = len(trial.codes) / (len(trial.codes) + MOST_WORDS)
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
        Models on sequences that are new to them; the first tells what is usual.
    metric : str
        One of ``METRICS``.
    n_values : int
        How many values of the scale and of the temperature to try.
    **options : int
        ``n_draws`` and ``random_state``.

    Returns
    -------
    fit : dict
        The ``metric``, the ``values`` chosen and the ``curves`` they come from.
    """
    _check_informative(trials, metric)
    model = trials[0].model
    method = model.served[name]
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
            "no predicted label is wrong, so average precision tells nothing; "
            "give sequences that the tagger has not learnt from, or another metric"
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
        The model on labelled sequences that it has not learnt from.
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
