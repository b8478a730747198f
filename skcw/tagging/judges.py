"""Judges of confidence: models that are asked about sequences new to them."""

from typing import NamedTuple

import numpy as np

from skcw._model.blocks import BlockCorpus
from skcw._model.decoding import Decoder
from skcw._model.examples import SHADOW_SHARE
from skcw.confidence.fitting import (
    learn_values,
    make_trial,
    moved_values,
    words_to_judge,
)
from skcw.confidence.settings import LEARNED, ModelConfidence

# With fewer sequences or words held out, what they say of a temperature is chance.
FEWEST_SEQUENCES, FEWEST_WORDS = 10, 100
FEWEST_STREAMED_WORDS = 300
# From so many models on, so many of them leave a small part out: no shadow is needed.
ENOUGH_MODELS = 4


class Judges(NamedTuple):
    """Which sequences each model learns from, and who is asked about the others.

    Parameters
    ----------
    source : {"shadow", "members", "dev", "held-out", "stream", "rule", "off"}
        Who judges: a model of its own, fitted without a share of the sequences; the
        first of several models, each fitted without a small part; the tagger itself, on
        development sequences, on those that early stopping holds out, or on those that
        it is about to learn from; or nobody.
    learned : list of ndarray or None
        The positions that each model learns from; None for all of them. Of a corpus
        in blocks what a shadow sees of it.
    unseen : list of ndarray
        The positions that each judge is asked about. The only judge that is a shadow
        comes after the models; members are the first of them.
    n_words : int
        How many words to ask about.
    """

    source: str
    learned: list
    unseen: list
    n_words: int = 0


def choose_judges(data, corpus, n_models, seed, wanted, source, apart=None):
    """Return the judges of a training, and the sequences that they are asked about.

    Parameters
    ----------
    data : Examples or BlockExamples
        The sequences to learn from.
    corpus : Corpus or BlockCorpus
        The same as kernels read them.
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
        The judges.
    asked : Examples or None
        The sequences, among others where the judges name positions.
    """
    everything = [None] * n_models
    nobody = Judges("rule", everything, []), None
    if not wanted:
        return Judges("off", everything, []), None
    if source == "stream" and apart.batch.n_tokens < FEWEST_STREAMED_WORDS:
        return nobody
    n_learned = data.n_words()
    n_words = words_to_judge(n_learned)
    if source is not None and apart.batch.n_tokens >= FEWEST_WORDS:
        return Judges(source, everything, [], n_words), apart
    if isinstance(corpus, BlockCorpus):
        shadow = corpus.without_share(seed)
        asked = shadow.unseen_examples(n_words)
        judges = Judges("shadow", [*everything, shadow], [], n_words)
        return nobody if asked.batch.n_tokens < FEWEST_WORDS else (judges, asked)
    order = np.random.RandomState(seed).permutation(np.flatnonzero(data.used()))
    if n_models >= ENOUGH_MODELS:
        # Of a small corpus no member leaves out more than a tenth.
        size = min(n_words // ENOUGH_MODELS, n_learned // 10)
        parts = _parts(order, data.batch.lengths, size)
        learned = [np.sort(np.setdiff1d(order, part)) for part in parts]
        learned += everything[ENOUGH_MODELS:]
        judges = Judges("members", learned, parts, n_words)
    else:
        cut = round(SHADOW_SHARE * len(order))
        learned = [*everything, np.sort(order[cut:])]
        judges = Judges("shadow", learned, [order[:cut]], n_words)
    words = sum(int(data.batch.lengths[part].sum()) for part in judges.unseen)
    if sum(map(len, judges.unseen)) < FEWEST_SEQUENCES or words < FEWEST_WORDS:
        return nobody
    return judges, data


def _parts(order, lengths, n_words):
    """Return the positions that each judging member leaves out: about so many words."""
    ends = np.cumsum(lengths[order])
    cuts = [np.searchsorted(ends, k * n_words) for k in range(1, ENOUGH_MODELS + 1)]
    return np.split(order, cuts)[:ENOUGH_MODELS]


def learned_confidence(judges, beliefs, data, forbidden, model, margin_of, known):
    """Return the settings of confidence according to the judges, for ``confidence_``.

    Parameters
    ----------
    judges : Judges
        Who is asked about what; where they name no positions, about all of `data`.
    beliefs : list of Belief
        The judges' weights.
    data : Examples
        The sequences.
    forbidden : ndarray or None
        The constraints.
    model : ModelConfidence
        The model that is judged.
    margin_of : callable
        Gives the unit of temperature of a judge.
    known : dict
        What ``confidence_`` holds already.

    Returns
    -------
    confidence : dict
        The new ``confidence_``.
    """
    parts = [data.take(positions) for positions in judges.unseen] or [data]
    trials = []
    for belief, part in zip(beliefs, parts, strict=True):
        part = part.first(judges.n_words // len(beliefs))
        belief = belief.extended(part.batch.n_features, belief.n_labels)
        judge = ModelConfidence(belief, margin=margin_of(belief))
        scored = Decoder(belief, forbidden).open(part.batch)
        trials.append(make_trial(judge, scored, part.codes))
    if judges.source == "stream" and known.keys() >= set(LEARNED):
        before = {name: known[name]["values"] for name in LEARNED}
        found = moved_values(trials[0], before)
    else:
        found = learn_values(trials, model)
    return known | {
        name: {"metric": "log_loss", "source": judges.source, "values": values}
        for name, values in found.items()
    }
