"""Labelings drawn from the distribution that the scores of a chain define."""

from hashlib import blake2b
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp


def draw_chains(decoder, batch, n_draws, temperature, seed):
    """Return labelings, each drawn with its probability given the sequence.

    Sums run forward, then labels are drawn from the last to the first, each given the
    one behind it. The shares of labels tend to the forward-backward marginals.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    n_draws : int
        How many labelings of each.
    temperature : float
        What scores are divided by.
    seed : int
        The seed. A labeling depends on it, the model and its sequence alone.

    Returns
    -------
    codes : ndarray of int32, shape (n_draws, n_tokens)
        The labelings.
    """
    codes = np.zeros((n_draws, batch.n_tokens), dtype=np.int32)
    total = np.zeros(len(batch))
    n = decoder.n_labels
    transitions = decoder.transitions[:n, :n].astype(np.float64) / temperature

    def draw(piece, tokens, sequences):
        scores = decoder.scores(piece)[:, :n].astype(np.float64) / temperature
        for number, (begin, end) in enumerate(pairwise(piece.offsets.tolist())):
            if begin < end:
                ahead = _sums_ahead(scores[begin:end], transitions)
                total[sequences.start + number] = ahead[-1].max()
                here = slice(tokens.start + begin, tokens.start + end)
                chance = _chances(scores[begin:end], n_draws, seed)
                _draw_back(ahead, transitions, chance, codes[:, here])

    decoder.each_piece(draw, batch)
    decoder.check_legal(total, batch)
    return codes


def _sums_ahead(scores, transitions):
    """Return the log sum over all labelings of the tokens up to each label."""
    ahead = scores.copy()
    for t in range(1, len(scores)):
        ahead[t] += logsumexp(ahead[t - 1, :, None] + transitions, axis=0)
    return ahead


def _chances(scores, n_draws, seed):
    """Return numbers from [0, 1) that depend on the seed and the sequence alone."""
    digest = blake2b(scores.tobytes(), digest_size=8).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest, "little")])
    return rng.random((n_draws, len(scores)))


def _draw_back(ahead, transitions, chance, codes):
    """Draw the last label of each labeling, then those before it."""
    n_draws, length = chance.shape
    onward = np.zeros((n_draws, ahead.shape[1]))
    for t in range(length - 1, -1, -1):
        codes[:, t] = _drawn(ahead[t] + onward, chance[:, t])
        onward = transitions[:, codes[:, t]].T


def _drawn(logits, chance):
    """Return a label for each row of log odds; one that is ruled out never is."""
    top = logits.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0  # no labeling is legal: the caller says so
    reached = np.cumsum(np.exp(logits - top), axis=1)
    # Below the whole sum, even if the product was rounded up to it.
    place = np.minimum(chance * reached[:, -1], np.nextafter(reached[:, -1], 0.0))
    return np.minimum((reached <= place[:, None]).sum(axis=1), logits.shape[1] - 1)
