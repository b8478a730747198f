"""Confidence as the distance to the best labeling that differs at a word."""

import numpy as np


def delta_max(decoder, batch, labels):
    """Return, for every token, how far the best labeling is ahead of its best rival.

    The rival is the best labeling with any other label at that token: a difference
    of max-marginals, never negative. It ranks words by certainty but is not a
    probability. With a single label there is no rival and the distance is infinite.

    Parameters
    ----------
    decoder : Decoder
        The model to ask.
    batch : SequenceBatch
        The sequences.
    labels : ndarray of int32, shape (n_tokens,)
        The predicted labels.

    Returns
    -------
    distance : ndarray of float64, shape (n_tokens,)
        The distance of each token.
    """
    forced = decoder.max_marginals(batch).astype(np.float64)
    tokens = np.arange(len(forced))
    chosen = forced[tokens, labels]
    forced[tokens, labels] = -np.inf
    return np.maximum(chosen - forced.max(axis=1, initial=-np.inf), 0.0)
