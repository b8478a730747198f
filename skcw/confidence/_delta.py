"""Delta methods: the score that is lost if one word gets its best other label."""

import numpy as np

from skcw._kernels.delta import deltas, normalised_deltas
from skcw.confidence._drawing import score_variance, transition_variance


def delta(scored, codes):
    """Return, for every token, the score lost by its best other label.

    Only that token's label changes, its neighbours keep theirs, and only labels that
    are legal there count. It ranks words by certainty but is not a probability. Without
    another label the loss is infinite. For the best labeling it is not negative but
    for rounding.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.

    Returns
    -------
    gap : ndarray of float64, shape (n_tokens,)
        The loss of each token.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence._delta import delta
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"]])
    >>> scored = Decoder(Belief.start(2, 3)).open(batch)
    >>> delta(scored, scored.viterbi()[0])
    array([0., 0.])
    """
    gap = np.empty(scored.n_tokens)

    def work(piece, tokens, sequences):
        deltas(
            piece.scores,
            piece.transitions,
            scored.n_labels,
            piece.offsets,
            codes[tokens],
            gap[tokens],
        )

    scored.each_piece(work)
    return gap


def delta_deviation(scored, codes, *, unit_variance=False):
    """Return the change of a token's label that is least sure to lose.

    The change is the one whose gap is the smallest number of standard deviations:
    Delta = Phi(x, y) - Phi(x, y with one label changed), gap = mean . Delta, and its
    deviation is sqrt(Delta' Sigma Delta).

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    unit_variance : bool, default=False
        Whether all variances count as one, for models that keep none.

    Returns
    -------
    gap, deviation : ndarray of float64, shape (n_tokens,)
        Infinity and one where there is no other legal label.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence._delta import delta_deviation
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> scored = Decoder(Belief.start(1, 3, initial_variance=2.0)).open(batch)
    >>> delta_deviation(scored, scored.viterbi()[0])
    (array([0.]), array([2.]))
    """
    belief = scored.decoder.belief
    if not unit_variance and belief.variance is None:
        raise ValueError("this model keeps no variances; use unit_variance=True")
    gap, deviation = np.empty(scored.n_tokens), np.empty(scored.n_tokens)
    spread = np.ones_like(belief.weights) if unit_variance else belief.variance

    def work(piece, tokens, sequences):
        normalised_deltas(
            piece.scores,
            piece.transitions,
            score_variance(belief, piece.batch, unit_variance=unit_variance),
            *transition_variance(scored, piece.edges, spread),
            scored.n_labels,
            piece.offsets,
            codes[tokens],
            gap[tokens],
            deviation[tokens],
        )

    scored.each_piece(work)
    return gap, deviation


def normalised_delta(scored, codes, *, unit_variance=False):
    """Return the smallest gap of each token in standard deviations.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    unit_variance : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    ratio : ndarray of float64, shape (n_tokens,)
        Infinite without another legal label.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence._delta import normalised_delta
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> scored = Decoder(Belief.start(1, 3, initial_variance=2.0)).open(batch)
    >>> normalised_delta(scored, scored.viterbi()[0])
    array([0.])
    """
    gap, deviation = delta_deviation(scored, codes, unit_variance=unit_variance)
    # If no weight tells the two labels apart, the change is certain, or a tie.
    ratio = np.where(gap == 0.0, 0.0, np.copysign(np.inf, gap))
    return np.divide(gap, deviation, out=ratio, where=deviation > 0.0)


def delta_probit(scored, codes, variance_scale, *, unit_variance=False):
    """Return the probability that each token's label beats its least sure rival.

    With weights from N(weights, s * variance) the gap of one change is a Gaussian:
    it is positive with probability Phi(gap / sqrt(s) / deviation).

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    variance_scale : float
        The factor s of the variances, above 0.
    unit_variance : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    probability : ndarray of float64, shape (n_tokens,)
        One half for a tie, one without another legal label.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence._delta import delta_probit
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> scored = Decoder(Belief.start(1, 3, initial_variance=2.0)).open(batch)
    >>> delta_probit(scored, scored.viterbi()[0], 1.0)
    array([0.5])
    """
    ratio = normalised_delta(scored, codes, unit_variance=unit_variance)
    # Only this method needs SciPy; the others must work without it.
    from scipy.special import ndtr

    return ndtr(ratio / np.sqrt(variance_scale))


def delta_max(scored, codes):
    """Return, for every token, how far the best labeling is ahead of its best rival.

    The rival is the best labeling with any other label at that token: a difference
    of max-marginals, never negative. It ranks words by certainty but is not a
    probability. With a single label there is no rival and the distance is infinite.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.

    Returns
    -------
    distance : ndarray of float64, shape (n_tokens,)
        The distance of each token.
    """
    forced = scored.max_marginals().astype(np.float64)
    tokens = np.arange(len(forced))
    of_label = forced[tokens, codes]
    forced[tokens, codes] = -np.inf
    return np.maximum(of_label - forced.max(axis=1, initial=-np.inf), 0.0)
