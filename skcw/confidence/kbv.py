"""KBV and WKBV: the share of the K best labelings that agree with a label."""

import numpy as np


def k_best_shares(decoder, batch, codes, ks, weighted=False):
    """Return, for several K, the share of the K best labelings with each label.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    ks : sequence of int
        The values of K.
    weighted : bool, default=False
        Whether a labeling counts by its score, if that is positive (WKBV). Where none
        is, all count the same.

    Returns
    -------
    shares : ndarray of float64, shape (len(ks), n_tokens)
        Where fewer than K labelings exist, all of them count.
    """
    ks = np.array([min(int(k), np.iinfo(np.int64).max) for k in ks])
    shares = np.ones((len(ks), batch.n_tokens))

    def work(piece, tokens, sequences):
        most = min(int(ks.max()), decoder.most_labelings(piece))
        labels, total, found = decoder.k_best(piece, most)
        votes = np.repeat(_votes(total, found, weighted), piece.lengths, axis=0).T
        agree = (labels == codes[tokens]) * votes
        last = np.minimum(ks, len(votes)) - 1
        votes, agree = (np.cumsum(a, axis=0)[last] for a in (votes, agree))
        shares[:, tokens] = agree / votes

    decoder.each_piece(work, batch)
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
    return k_best_shares(decoder, batch, codes, [settings.k])[0]


def wkbv(decoder, batch, codes, settings):
    """Return the share of the K best labelings, weighted by max(0, score)."""
    return k_best_shares(decoder, batch, codes, [settings.k], weighted=True)[0]
