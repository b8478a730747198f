"""Confidence as agreement among weights drawn from the belief (KD-PC, KD-Fixed)."""

import numpy as np

from skcw._kernels.draw_marginals import add_marginals
from skcw._kernels.draws import LANES, draw_labelings
from skcw.confidence._drawing import Drawing
from skcw.confidence._tallies import Votes


def count_draws(
    decoder,
    batch,
    n_draws,
    scale,
    tallies,
    *,
    seed,
    fixed=False,
    independent=False,
):
    """Label the batch with every draw and let tallies count what they want.

    Parameters
    ----------
    decoder : Decoder
        The model to draw from; its threads work on pieces of the batch.
    batch : SequenceBatch
        The sequences.
    n_draws : int
        How many weight vectors w ~ N(weights, scale * variance) to draw.
    scale : float
        The factor of the variances, at least 0.
    tallies : list of callables
        Each is called as ``tally(labelings, tokens, sequences)`` with labelings
        (draws, tokens of the piece) and the slices of the batch they belong to.
        Pieces come in any order and from several threads, but never share a token;
        the draws of a piece come one group after another. The array is used again.
    seed : int
        From 0 to 2**64 - 1. The result depends on it and on the sequences alone.
    fixed : bool, default=False
        Whether all variances count as one (KD-Fixed).
    independent : bool, default=False
        Whether to draw the scores of each token on their own: cheaper, but then a
        feature that occurs twice does not move together.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import count_draws
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> decoder = Decoder(Belief.start(2, 3, initial_variance=1.0))
    >>> def show(labelings, tokens, sequences):
    ...     print(labelings.shape, tokens, sequences)
    >>> count_draws(decoder, batch, 4, 1.0, [show], seed=0)
    (4, 3) slice(0, 3, None) slice(0, 2, None)
    """
    total = np.zeros(len(batch))

    def label(group, piece, tokens, sequences):
        labels = np.zeros((piece.n_tokens, LANES), dtype=np.int32)
        draw_labelings(
            group.scores, group.transitions, piece.offsets, labels, total[sequences]
        )
        for tally in tallies:
            tally(labels[:, : group.n_draws].T, tokens, sequences)

    drawing = Drawing(
        decoder, n_draws, scale, seed=seed, fixed=fixed, independent=independent
    )
    drawing.each_group(label, batch)
    decoder.check_legal(total, batch)


def draw_votes(decoder, batch, n_draws, scale, *, seed, fixed=False, independent=False):
    """Return how many draws give each token each label.

    Parameters
    ----------
    decoder : Decoder
        The model to draw from.
    batch : SequenceBatch
        The sequences.
    n_draws : int
        How many weight vectors w ~ N(weights, scale * variance) to draw.
    scale : float
        The factor of the variances, at least 0.
    seed : int
        From 0 to 2**64 - 1.
    fixed : bool, default=False
        Whether all variances count as one (KD-Fixed).
    independent : bool, default=False
        Whether to draw the scores of each token on their own.

    Returns
    -------
    votes : ndarray of int32, shape (n_tokens, n_labels)
        Every row sums to n_draws.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import draw_votes
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> decoder = Decoder(Belief.start(2, 3, initial_variance=1.0))
    >>> draw_votes(decoder, batch, 300, 1.0, seed=0).sum(axis=1)
    array([300, 300, 300])
    """
    votes = Votes(batch.n_tokens, decoder.n_labels)
    count_draws(
        decoder,
        batch,
        n_draws,
        scale,
        [votes],
        seed=seed,
        fixed=fixed,
        independent=independent,
    )
    return votes.counts


def draw_marginals(
    decoder,
    batch,
    n_draws,
    scale,
    *,
    temperature=1.0,
    seed,
    fixed=False,
    independent=False,
):
    """Return forward-backward marginals, averaged over draws of the weights.

    Parameters
    ----------
    decoder : Decoder
        The model to draw from.
    batch : SequenceBatch
        The sequences.
    n_draws : int
        How many weight vectors w ~ N(weights, scale * variance) to draw.
    scale : float
        The factor of the variances, at least 0.
    temperature : float, default=1.0
        What scores are divided by.
    seed : int
        From 0 to 2**64 - 1.
    fixed : bool, default=False
        Whether all variances count as one.
    independent : bool, default=False
        Whether to draw the scores of each token on their own.

    Returns
    -------
    marginals : ndarray of float64, shape (n_tokens, n_labels)
        Every row sums to one.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import draw_marginals
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> decoder = Decoder(Belief.start(2, 2, initial_variance=1.0))
    >>> draw_marginals(decoder, batch, 10, 0.0, seed=0)
    array([[0.5, 0.5],
           [0.5, 0.5],
           [0.5, 0.5]])
    """
    out = np.zeros((batch.n_tokens, decoder.n_labels))
    legal = np.zeros(len(batch))

    def add(group, piece, tokens, sequences):
        add_marginals(
            group.scores,
            group.transitions,
            piece.offsets,
            temperature,
            group.n_draws,
            out[tokens],
            legal[sequences],
        )

    drawing = Drawing(
        decoder, n_draws, scale, seed=seed, fixed=fixed, independent=independent
    )
    drawing.each_group(add, batch)
    decoder.check_legal(legal, batch)
    out /= n_draws
    return out
