"""KBV and WKBV: the share of the K best labelings that agree with a label."""

import numpy as np

from skcw.confidence._tallies import span_tally


def k_best_shares(scored, codes, ks, weighted=False):
    """Return, for several K, the share of the K best labelings with each label.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,) or (n_tokens, n_asked)
        The labels to ask about, one or several per token.
    ks : sequence of int
        The values of K.
    weighted : bool, default=False
        Whether a labeling counts by its score, if that is positive (WKBV). Where none
        is, all count the same.

    Returns
    -------
    shares : ndarray of float64, shape (len(ks), *codes.shape)
        Where fewer than K labelings exist, all of them count.
    """
    ks = np.array([min(int(k), np.iinfo(np.int64).max) for k in ks])
    shares = np.ones((len(ks), *codes.shape))

    def work(piece, tokens, sequences):
        most = min(int(ks.max()), piece.most_labelings())
        labels, total, found = piece.k_best(most)
        votes = np.repeat(_votes(total, found, weighted), piece.lengths, axis=0).T
        asked = codes[tokens]
        labels, votes = (
            a.reshape(*a.shape, *[1] * (asked.ndim - 1)) for a in (labels, votes)
        )
        agree = (labels == asked) * votes
        last = np.minimum(ks, len(votes)) - 1
        votes, agree = (np.cumsum(a, axis=0)[last] for a in (votes, agree))
        shares[:, tokens] = agree / votes

    scored.each_piece(work)
    return np.clip(shares, 0.0, 1.0)


def _votes(total, found, weighted):
    """Return what each labeling of each sequence counts."""
    exists = np.arange(total.shape[1]) < found[:, None]
    if not weighted:
        return exists.astype(np.float64)
    votes = np.where(exists, np.maximum(total, 0.0), 0.0)
    # The best labeling comes first: without a positive score there, nowhere.
    return np.where(votes[:, :1] > 0, votes, exists)


def k_best_votes(scored, codes, settings, weighted=False):
    """Return the share of the K best labelings that have each label (KBV, WKBV)."""
    if codes is None:
        every = np.arange(scored.n_labels, dtype=np.int32)
        codes = np.broadcast_to(every, (scored.n_tokens, scored.n_labels))
    return k_best_shares(scored, codes, [settings.n_best], weighted)[0]


def tally_k_best(scored, n_best, tally=None):
    """Show the best labelings to a tally; return how many each sequence has."""
    counts = np.ones(len(scored))

    def work(piece, tokens, sequences):
        labels, _, found = piece.k_best(min(n_best, piece.most_labelings()))
        rank = np.arange(len(labels))[:, None]
        # A labeling that does not exist agrees with nothing.
        labels = np.where(rank >= np.repeat(found, piece.lengths), -1, labels)
        counts[sequences] = np.maximum(found, 1)
        if tally is not None:
            tally(labels, tokens, sequences)

    scored.each_piece(work)
    return counts


def k_best_spans(scored, codes, spans, borders, settings):
    """Return the share of the K best labelings that agree on each span."""
    tally = span_tally(codes, spans, scored.offsets, borders)
    counts = tally_k_best(scored, settings.n_best, tally)
    owner = np.searchsorted(scored.offsets, spans[0], side="right") - 1
    return tally.spans / counts[owner]


def k_best_sequences(scored, codes, settings):
    """Return the share of the best labeling among the K best: one of them."""
    return 1.0 / tally_k_best(scored, settings.n_best)
