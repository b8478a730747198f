"""Choose the parameters of confidence methods on held-out labeled sequences."""

from typing import NamedTuple

import numpy as np

from skcw._model.training import MOST_TO_JUDGE
from skcw.confidence.draws import draw_marginals_at, score_variance
from skcw.confidence.marginals import chosen, marginal
from skcw.confidence.settings import LEARNED, ModelConfidence, Settings

# Temperatures are looked for in this range, in units of the model's margin: in steps by
# a factor of two until the best lies between two others, then by so many parabolas.
TEMPERATURES, FACTOR, N_PARABOLAS = (0.03, 30.0), 2.0, 2
# Draws with so much noise are tried: the variance that it adds to the score of a word,
# in units of the squared temperature. Draws flatten marginals, so averaged ones want a
# lower temperature: one near these factors of it.
NOISE, COOLING_FACTORS = 0.5, (0.6, 0.77, 0.95)
# Averaged marginals rank words better at the same loss, and they are asked for with
# more draws than here: their loss on trial may be larger than without noise by this.
# About so many words are enough to tell.
TRIAL_DRAWS, LARGEST_LOSS, DRAWN_WORDS = 8, 1.02, 1000
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

    def first(self, n_words):
        """Return the trial of the first sequences, with about so many words."""
        batch, decoder = self.scored.batch, self.scored.decoder
        n = int(np.searchsorted(batch.offsets, n_words)) or 1
        if n >= len(batch):
            return self
        edges = self.scored.edges
        edges = None if edges is None else edges[:n]._compact()
        scored = type(self.scored)(decoder, batch[:n]._compact(), edges=edges)
        size = int(batch.offsets[n])
        return Trial(self.model, scored, self.codes[:size], self.correct[:size])


def make_trial(model, scored, gold):
    """Return the trial of a model on labeled sequences that are new to it."""
    codes, _ = scored.viterbi()
    return Trial(model, scored, codes, codes == gold)


def marginal_loss(trials, temperature):
    """Return the loss of "this label is right" of marginals, over all trials.

    Parameters
    ----------
    trials : list of Trial
        The trials.
    temperature : float
        In units of each model's margin.

    Returns
    -------
    loss : float
        The mean over words.
    """
    sure = []
    for trial in trials:
        settings = Settings(0.0, temperature * trial.model.margin)
        sure.append(marginal(trial.scored, trial.codes, settings))
    return _log_loss(_all_correct(trials), np.concatenate(sure))


def drawn_losses(trials, variance, temperatures):
    """Return the loss of marginals averaged over draws, at each temperature.

    Parameters
    ----------
    trials : list of Trial
        The trials.
    variance : float
        The variance of the draws, in units of each model's squared margin.
    temperatures : sequence of float
        In units of each model's margin.

    Returns
    -------
    losses : list of float
        The mean over words at each temperature.
    """
    sure = []
    for trial in trials:
        margin = trial.model.margin
        tables = draw_marginals_at(
            trial.scored,
            TRIAL_DRAWS,
            variance * margin**2,
            [temperature * margin for temperature in temperatures],
            seed=0,
            unit_variance=True,
        )
        sure.append([chosen(table, trial.codes) for table in tables])
    correct = _all_correct(trials)
    return [
        _log_loss(correct, np.concatenate(rows)) for rows in zip(*sure, strict=True)
    ]


def _all_correct(trials):
    return np.concatenate([trial.correct for trial in trials])


def learn_temperature(trials, ends=TEMPERATURES):
    """Return the temperature of marginals with the least log loss, to about a tenth.

    Parameters
    ----------
    trials : list of Trial
        Models on held-out sequences.
    ends : tuple of float
        The range to look in.

    Returns
    -------
    temperature : float
        In units of the margin.
    """
    losses = {}

    def ask(temperature):
        losses[temperature] = marginal_loss(trials, temperature)

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
    """Return the lowest point of a parabola about the least loss."""
    tried = sorted(losses)
    k = tried.index(min(tried[1:-1], key=losses.get))
    near = tried[k - 1 : k + 2]
    return _lowest_point(near, [losses[temperature] for temperature in near])[0]


def learn_noise(trials, temperature):
    """Return the noise and the temperature of marginals averaged over draws.

    Parameters
    ----------
    trials : list of Trial
        Models on held-out sequences.
    temperature : float
        The best one without noise.

    Returns
    -------
    variance : float
        The variance of the draws, in units of the squared margin; 0 where draws do not
        help.
    temperature : float
        The temperature that goes with it.
    """
    trials = [trial.first(DRAWN_WORDS // len(trials)) for trial in trials]
    unit = float(np.mean([noise_unit(trial, temperature) for trial in trials]))
    tried = [temperature * factor for factor in COOLING_FACTORS]
    cooled, loss = _lowest_point(tried, drawn_losses(trials, NOISE * unit, tried))
    if loss > LARGEST_LOSS * marginal_loss(trials, temperature):
        return 0.0, temperature
    return NOISE * unit, cooled


def noise_unit(trial, deviation):
    """Return the variance of weights that gives scores of words this deviation.

    Parameters
    ----------
    trial : Trial
        A model on some sequences.
    deviation : float
        The standard deviation of scores, in units of the model's margin.

    Returns
    -------
    variance : float
        In units of the squared margin.
    """
    # The decoder's belief has a row for tokens without known features.
    belief, batch = trial.scored.decoder.belief, trial.scored.batch
    spread = score_variance(belief, batch, unit_variance=True)[:, 0].mean()
    # Without any known feature there is nothing to draw.
    return float(deviation**2 / (spread or 1.0))


def _lowest_point(temperatures, losses):
    """Return the temperature of the least loss on a parabola, and that loss.

    The parabola is one in the logarithm, through three points.
    """
    x, y = np.log(temperatures), np.asarray(losses)
    left, right = np.diff(y) / np.diff(x)
    bend = (right - left) / (x[2] - x[0])
    if bend <= 0.0:
        lowest = x[np.argmin(y)]
    else:
        # It is not extrapolated far beyond its points.
        lowest = 0.5 * (x[0] + x[1] - left / bend)
        lowest = np.clip(lowest, x[0] - 0.3, x[2] + 0.3)
    loss = y[0] + (lowest - x[0]) * (left + bend * (lowest - x[1]))
    return float(np.exp(lowest)), float(loss)


def learn_values(trials, model):
    """Return the values of the methods that need no other learning.

    Parameters
    ----------
    trials : list of Trial
        Models on held-out sequences.
    model : ModelConfidence
        The model that is to use the values.

    Returns
    -------
    chosen : dict of str to dict
        The values of ``LEARNED`` in the model's units.
    """
    temperature = learn_temperature(trials)
    variance, cooled = learn_noise(trials, temperature)
    cautious = 1.0 + TOO_SURE / sum(len(trial.codes) for trial in trials)
    scale = variance * model.margin**2 / model.belief.mean_square if variance else 0.0
    plain, drawn = LEARNED
    return {
        plain: {"temperature": cautious * temperature},
        drawn: {"temperature": cautious * cooled, "variance_scale": scale},
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
