"""KBV and WKBV: the share of the K best labelings that agree with a label."""

import numpy as np


def k_best_shares(decoder, batch, codes, k, weighted=False):
    """Return, for every K up to k, the share of the K best labelings with each label.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    k : int
        The largest K.
    weighted : bool, default=False
        Whether a labeling counts by its score, if that is positive (WKBV). Where none
        is, all count the same.

    Returns
    -------
    shares : ndarray of float64, shape (k, n_tokens)
        Row K - 1 is that of K; where fewer labelings exist, all of them count.
    """
    shares = np.ones((k, batch.n_tokens))

    def work(piece, tokens, sequences):
        labels, total, found = decoder.k_best(piece, k)
        votes = _votes(total, found, weighted)
        agree = labels == codes[tokens]
        by_token = np.repeat(votes, piece.lengths, axis=0).T
        shares[:, tokens] = np.cumsum(agree * by_token, axis=0) / np.cumsum(
            by_token, axis=0
        )

    decoder._each_piece(work, batch)
    return np.clip(shares, 0.0, 1.0)


def _votes(total, found, weighted):
    """Return what each labeling of each sequence counts."""
    exists = np.arange(total.shape[1]) < found[:, None]
    if not weighted:
        return exists.astype(np.float64)
    votes = np.where(exists, np.maximum(total, 0.0), 0.0)
    # The best labeling comes first: without a positive score there, nowhere.
    return np.where(votes[:, :1] > 0, votes, exists)


def kbv(decoder, batch, codes, settings):
    """Return the share of the K best labelings that have each label."""
    return k_best_shares(decoder, batch, codes, settings.k)[-1]


def wkbv(decoder, batch, codes, settings):
    """Return the share of the K best labelings, weighted by max(0, score)."""
    return k_best_shares(decoder, batch, codes, settings.k, weighted=True)[-1]
