"""How sure to be: temperature and noise learnt from sequences new to the model."""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from skcw.confidence.draw_marginal import draw_marginal_fixed
from skcw.confidence.marginal import marginal
from skcw.confidence.settings import Settings, mean_square
from skcw.confidence.tuning import METRICS

# More words than these would make the choice slower, not better.
FEWEST_WORDS, MOST_WORDS = 600, 6000
# Temperatures are looked for in this range, in units of the model's margin.
TEMPERATURES = (0.03, 30.0)
# These amounts of noise are tried, in units of the mean square weight. Draws flatten
# marginals, so averaged ones want a lower temperature: one in this range of factors.
NOISES, COOLERS = (1.0, 3.0), (0.3, 1.2)
TRIAL_DRAWS = 16
# The methods whose values are learnt.
LEARNT = ("marginal", "draw-marginal-fixed")


class Trial(NamedTuple):
    """A model, sequences that it has not learnt from, and what it says of them.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    correct : ndarray of bool, shape (n_tokens,)
        Which of them are right.
    margin : float
        The model's unit of temperature.
    """

    decoder: object
    batch: object
    codes: np.ndarray
    correct: np.ndarray
    margin: float


def words_to_judge(n_words):
    """Return how many words to ask about after training on so many.

    The search for a temperature then takes less than a fifth of the training.
    """
    return min(max(n_words // 16, FEWEST_WORDS), MOST_WORDS)


def make_trial(decoder, batch, gold, margin):
    """Return the trial of a model on labelled sequences that are new to it."""
    codes, _ = decoder.viterbi(batch)
    return Trial(decoder, batch, codes, codes == gold, margin)


def log_loss(trials, compute, temperature, noise=0.0):
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
            scale=noise * mean_square(trial.decoder.belief),
            temperature=temperature * trial.margin,
            n_draws=TRIAL_DRAWS,
        )
        sure.append(compute(trial.decoder, trial.batch, trial.codes, settings))
    correct = np.concatenate([trial.correct for trial in trials])
    return -METRICS["log_loss"](np.concatenate(sure), correct)


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
    return _best_temperature(partial(log_loss, trials, marginal), ends)[0]


def _best_temperature(loss, ends):
    """Return the temperature with the least loss, to about a tenth, and that loss."""
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
    best = log_loss(trials, marginal, temperature), 0.0, temperature
    for noise in NOISES:
        cooled, loss = _best_temperature(
            partial(log_loss, trials, draw_marginal_fixed, noise=noise),
            [temperature * factor for factor in COOLERS],
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
        drawn: {"temperature": cooled, "scale": noise},
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
