"""Confidence from drawn weight vectors: shares of votes, and averaged marginals."""

import numpy as np

from skcw._kernels.draw_marginals import add_marginals
from skcw._kernels.draws import LANES, draw_labelings
from skcw.confidence._drawing import Drawing
from skcw.confidence._marginals import chosen, marginal
from skcw.confidence._tallies import Agreement, Votes, span_tally

# Draws flatten marginals on their own: averaged ones want a lower temperature.
DRAWN_TEMPERATURE = 0.6


def count_draws(
    scored,
    n_draws,
    variance_scale,
    tallies,
    *,
    seed,
    unit_variance=False,
    independent=False,
):
    """Label the batch with every draw and let tallies count what they want.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model to draw from.
    n_draws : int
        How many weight vectors w ~ N(weights, s * variance) to draw.
    variance_scale : float
        The factor s of the variances, at least 0.
    tallies : list of callables
        Each is called as ``tally(labelings, tokens, sequences)`` with labelings
        (draws, tokens of the piece) and the slices of the batch they belong to.
        Pieces come in any order and from several threads, but never share a token;
        the draws of a piece come one group after another. The array is used again.
    seed : int
        From 0 to 2**64 - 1. The result depends on it and on the sequences alone.
    unit_variance : bool, default=False
        Whether all variances count as one (KD-Fixed).
    independent : bool, default=False
        Whether to draw the scores of each token on their own: cheaper, but then a
        feature that occurs twice does not move together.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.confidence._draws import count_draws
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> scored = Decoder(Belief.start(2, 3, initial_variance=1.0)).open(batch)
    >>> def show(labelings, tokens, sequences):
    ...     print(labelings.shape, tokens, sequences)
    >>> count_draws(scored, 4, 1.0, [show], seed=0)
    (4, 3) slice(0, 3, None) slice(0, 2, None)
    """
    total = np.zeros(len(scored))

    def label(group, part, tokens, sequences):
        labels = np.zeros((part.n_tokens, LANES), dtype=np.int32)
        draw_labelings(
            group.scores, group.transitions, part.offsets, labels, total[sequences]
        )
        for tally in tallies:
            tally(labels[:, : group.n_draws].T, tokens, sequences)

    drawing = Drawing(
        scored,
        n_draws,
        variance_scale,
        seed=seed,
        unit_variance=unit_variance,
        independent=independent,
    )
    drawing.each_group(label)
    scored.check_legal(total)


def draw_votes(
    scored, n_draws, variance_scale, *, seed, unit_variance=False, independent=False
):
    """Return how many draws give each token each label.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model to draw from.
    n_draws : int
        How many weight vectors w ~ N(weights, s * variance) to draw.
    variance_scale : float
        The factor s of the variances, at least 0.
    seed : int
        From 0 to 2**64 - 1.
    unit_variance : bool, default=False
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
    >>> from skcw.confidence._draws import draw_votes
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> scored = Decoder(Belief.start(2, 3, initial_variance=1.0)).open(batch)
    >>> draw_votes(scored, 300, 1.0, seed=0).sum(axis=1)
    array([300, 300, 300])
    """
    votes = Votes(scored.n_tokens, scored.n_labels)
    count_draws(
        scored,
        n_draws,
        variance_scale,
        [votes],
        seed=seed,
        unit_variance=unit_variance,
        independent=independent,
    )
    return votes.counts


def draw_marginals(
    scored,
    n_draws,
    variance_scale,
    *,
    temperature=1.0,
    seed,
    unit_variance=False,
    independent=False,
):
    """Return forward-backward marginals, averaged over draws of the weights.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model to draw from.
    n_draws : int
        How many weight vectors w ~ N(weights, s * variance) to draw.
    variance_scale : float
        The factor s of the variances, at least 0.
    temperature : float, default=1.0
        What scores are divided by.
    seed : int
        From 0 to 2**64 - 1.
    unit_variance : bool, default=False
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
    >>> from skcw.confidence._draws import draw_marginals
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> scored = Decoder(Belief.start(2, 2, initial_variance=1.0)).open(batch)
    >>> draw_marginals(scored, 10, 0.0, seed=0)
    array([[0.5, 0.5],
           [0.5, 0.5],
           [0.5, 0.5]])
    """
    (table,) = draw_marginals_at(
        scored,
        n_draws,
        variance_scale,
        [temperature],
        seed=seed,
        unit_variance=unit_variance,
        independent=independent,
    )
    return table


def draw_marginals_at(scored, n_draws, variance_scale, temperatures, *, seed, **how):
    """Return what ``draw_marginals`` does for each temperature, from the same draws.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model to draw from.
    n_draws : int
        How many weight vectors to draw.
    variance_scale : float
        The factor of the variances.
    temperatures : sequence of float
        What scores are divided by.
    seed : int
        From 0 to 2**64 - 1.
    **how : bool
        ``unit_variance`` and ``independent``.

    Returns
    -------
    tables : list of ndarray of float64, shape (n_tokens, n_labels)
        One for each temperature.
    """
    tables = np.zeros((len(temperatures), scored.n_tokens, scored.n_labels))
    legal = np.zeros((len(temperatures), len(scored)))

    def add(group, part, tokens, sequences):
        for table, mass, temperature in zip(tables, legal, temperatures, strict=True):
            add_marginals(
                group.scores,
                group.transitions,
                part.offsets,
                temperature,
                group.n_draws,
                table[tokens],
                mass[sequences],
            )

    drawing = Drawing(scored, n_draws, variance_scale, seed=seed, **how)
    drawing.each_group(add)
    for mass in legal:
        scored.check_legal(mass)
    tables /= n_draws
    return list(tables)


def tally_draws(scored, settings, tally, **how):
    """Draw models by the settings of a method, and let a tally count."""
    count_draws(
        scored,
        settings.n_draws,
        settings.variance_scale,
        [tally],
        seed=settings.seed,
        **how,
    )
    return tally


def drawn_votes(scored, codes, settings, **how):
    """Return the share of drawn models that give each label (KD-PC, KD-Fixed).

    `how` is ``unit_variance`` or ``independent`` of :func:`count_draws`.
    """
    if codes is None:
        votes = Votes(scored.n_tokens, scored.n_labels)
        return tally_draws(scored, settings, votes, **how).counts / settings.n_draws
    agreement = tally_draws(scored, settings, Agreement(codes), **how)
    return agreement.tokens / settings.n_draws


def draw_marginal(scored, codes, settings):
    """Return the marginal of each label, averaged over draws of the weights."""
    rows = draw_marginals(
        scored,
        settings.n_draws,
        settings.variance_scale,
        temperature=DRAWN_TEMPERATURE * settings.temperature,
        seed=settings.seed,
    )
    return np.clip(chosen(rows, codes), 0.0, 1.0)


def draw_marginal_fixed(scored, codes, settings):
    """Return the marginal of each label, averaged over draws with one variance.

    Without noise there is nothing to draw: it is the marginal itself.
    """
    if settings.variance_scale == 0.0:
        return marginal(scored, codes, settings)
    rows = draw_marginals(
        scored,
        settings.n_draws,
        settings.variance_scale,
        temperature=settings.temperature,
        seed=settings.seed,
        unit_variance=True,
    )
    return np.clip(chosen(rows, codes), 0.0, 1.0)


def blend(scored, codes, settings):
    """Return the mean of the share of draws and of the marginal."""
    votes = drawn_votes(scored, codes, settings)
    return 0.5 * (votes + marginal(scored, codes, settings))


def drawn_spans(scored, codes, spans, borders, settings, **how):
    """Return the share of drawn models that agree on each span."""
    tally = span_tally(codes, spans, scored.offsets, borders)
    return tally_draws(scored, settings, tally, **how).spans / settings.n_draws


def drawn_sequences(scored, codes, settings, **how):
    """Return the share of drawn models that give the very same labeling."""
    tally = tally_draws(scored, settings, Agreement(codes, scored.offsets), **how)
    return tally.sequences / settings.n_draws
