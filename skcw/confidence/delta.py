"""Confidence as the score that another label for one word would lose (Delta)."""

import numpy as np
from scipy.special import ndtr

from skcw._kernels.delta import deltas, normalised_deltas
from skcw.confidence._variance import score_variance


def delta(decoder, batch, codes):
    """Return, for every token, the score lost by its best other label.

    Only that token's label changes, its neighbours keep theirs, and only labels that
    are legal there count. It ranks words by certainty but is no probability. Without
    another label the loss is infinite. For the best labeling it is not negative but
    for rounding.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.

    Returns
    -------
    gap : ndarray of float64, shape (n_tokens,)
        The loss of each token.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import delta
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"]])
    >>> decoder = Decoder(Belief.start(2, 3))
    >>> delta(decoder, batch, decoder.viterbi(batch)[0])
    array([0., 0.])
    """
    gap = np.empty(batch.n_tokens)

    def work(piece, tokens, sequences):
        deltas(
            decoder.scores(piece),
            decoder.transitions,
            decoder.n_labels,
            piece.offsets,
            codes[tokens],
            gap[tokens],
        )

    decoder.each_piece(work, batch)
    return gap


def delta_deviation(decoder, batch, codes, *, fixed=False):
    """Return the change of a token's label that is least sure to lose.

    The change is the one whose gap is the smallest number of standard deviations:
    Delta = Phi(x, y) - Phi(x, y with one label changed), gap = mean . Delta, and its
    deviation is sqrt(Delta' Sigma Delta).

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    fixed : bool, default=False
        Whether all variances count as one, which serves models without any.

    Returns
    -------
    gap, deviation : ndarray of float64, shape (n_tokens,)
        Infinity and one where there is no other legal label.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import delta_deviation
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> decoder = Decoder(Belief.start(1, 3, initial_variance=2.0))
    >>> delta_deviation(decoder, batch, decoder.viterbi(batch)[0])
    (array([0.]), array([2.]))
    """
    belief = decoder.belief
    if not fixed and belief.variance is None:
        raise ValueError("this model keeps no variances; use fixed=True")
    gap, deviation = np.empty(batch.n_tokens), np.empty(batch.n_tokens)
    width = belief.width
    spread = np.ones((width, width), belief.weights.dtype)
    if not fixed:
        spread = belief.variance[: width * width].reshape(width, width)

    def work(piece, tokens, sequences):
        normalised_deltas(
            decoder.scores(piece),
            decoder.transitions,
            score_variance(decoder, piece, fixed=fixed),
            spread,
            decoder.n_labels,
            piece.offsets,
            codes[tokens],
            gap[tokens],
            deviation[tokens],
        )

    decoder.each_piece(work, batch)
    return gap, deviation


def normalised_delta(decoder, batch, codes, *, fixed=False):
    """Return the smallest gap of each token in standard deviations.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    fixed : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    ratio : ndarray of float64, shape (n_tokens,)
        Infinite without another legal label.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import normalised_delta
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> decoder = Decoder(Belief.start(1, 3, initial_variance=2.0))
    >>> normalised_delta(decoder, batch, decoder.viterbi(batch)[0])
    array([0.])
    """
    gap, deviation = delta_deviation(decoder, batch, codes, fixed=fixed)
    # A change that no weight speaks of is certain, or a tie.
    ratio = np.where(gap == 0.0, 0.0, np.copysign(np.inf, gap))
    return np.divide(gap, deviation, out=ratio, where=deviation > 0.0)


def delta_probit(decoder, batch, codes, scale, *, fixed=False):
    """Return the probability that each token's label beats its least sure rival.

    With weights from N(weights, scale * variance) the gap of one change is a Gaussian:
    it is positive with probability Phi(gap / sqrt(scale) / deviation).

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    scale : float
        The factor of the variances, above 0.
    fixed : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    probability : ndarray of float64, shape (n_tokens,)
        One half for a tie, one without another legal label.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence import delta_probit
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> decoder = Decoder(Belief.start(1, 3, initial_variance=2.0))
    >>> delta_probit(decoder, batch, decoder.viterbi(batch)[0], 1.0)
    array([0.5])
    """
    ratio = normalised_delta(decoder, batch, codes, fixed=fixed)
    return ndtr(ratio / np.sqrt(scale))
