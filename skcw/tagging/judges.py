"""Calibrate confidence by sequences that are new to a model."""

from typing import NamedTuple

import numpy as np

from skcw._model.decoding import Decoder
from skcw._model.training import size_to_judge
from skcw.confidence.fitting import learn_values, make_trial, moved_values
from skcw.confidence.settings import LEARNED, ModelConfidence

# With fewer sequences or words held out, what they say of a temperature is chance.
FEWEST_SEQUENCES, FEWEST_WORDS = 10, 100
FEWEST_STREAMED_WORDS = 300
# More models than these have nothing held out.
MOST_JUDGES = 4
# The largest share of the sequences that is held out.
LARGEST_SHARE = 0.2


class Judges(NamedTuple):
    """By which sequences a training is judged, and what its confidence is called.

    Parameters
    ----------
    source : {"held-out", "dev", "stream", "rule", "off"}
        Whether they are held out of the first passes, or by early stopping; given for
        development; or about to be learned; or there are none.
    held_out : list of ndarray or None
        The positions that each model holds out, to learn them only after it was judged
        by them.
    asked : list of Examples
        The sequences to judge each belief by.
    """

    source: str
    held_out: list
    asked: list


def choose_judges(data, n_models, seed, wanted, source, apart=None):
    """Return by which sequences a training is judged.

    Parameters
    ----------
    data : Examples or BlockExamples
        The sequences to learn from.
    n_models : int
        How many models are averaged.
    seed : int
        The seed of the choice.
    wanted : bool
        Whether confidence is to be learned at all.
    source : {"dev", "held-out", "stream"} or None
        Where sequences are from that are new to the tagger itself, if there are any.
    apart : Examples, default=None
        These sequences.

    Returns
    -------
    judges : Judges
        The sequences, and those that models hold out.
    """
    nothing = [None] * n_models
    if not wanted:
        return Judges("off", nothing, [])
    if source == "stream" and apart.batch.n_tokens < FEWEST_STREAMED_WORDS:
        return Judges("rule", nothing, [])
    n_words = size_to_judge(data.n_words())
    if source is not None and apart.batch.n_tokens >= FEWEST_WORDS:
        return Judges(source, nothing, [apart.first(n_words)])
    present, n_judges = data.present(), min(n_models, MOST_JUDGES)
    share = min(n_words / max(data.n_words(), 1), LARGEST_SHARE)
    size = round(share * len(present) / n_judges)
    order = np.random.RandomState(seed).permutation(present)
    parts = [np.sort(order[k * size : (k + 1) * size]) for k in range(n_judges)]
    asked = [data.take(part) for part in parts]
    words = sum(part.batch.n_tokens for part in asked)
    if size * n_judges < FEWEST_SEQUENCES or words < FEWEST_WORDS:
        return Judges("rule", nothing, [])
    return Judges("held-out", parts + nothing[n_judges:], asked)


def learned_confidence(judges, beliefs, forbidden, margin_of, known):
    """Return the settings of confidence according to the judges, for ``confidence_``.

    Parameters
    ----------
    judges : Judges
        By which sequences each belief is judged.
    beliefs : list of Belief
        The weights that are judged.
    forbidden : ndarray or None
        The constraints.
    margin_of : callable
        Gives the unit of temperature of a belief.
    known : dict
        What ``confidence_`` holds already.

    Returns
    -------
    confidence : dict
        The new ``confidence_``.
    """
    trials = []
    for belief, part in zip(beliefs, judges.asked, strict=True):
        belief = belief.extended(part.batch.n_features, belief.n_labels)
        judge = ModelConfidence(belief, margin=margin_of(belief))
        scored = Decoder(belief, forbidden).open(part.batch)
        trials.append(make_trial(judge, scored, part.codes))
    if judges.source == "stream" and known.keys() >= set(LEARNED):
        before = {name: known[name]["values"] for name in LEARNED}
        found = moved_values(trials[0], before)
    else:
        found = learn_values(trials)
    return known | {
        name: {"metric": "log_loss", "source": judges.source, "values": values}
        for name, values in found.items()
    }
