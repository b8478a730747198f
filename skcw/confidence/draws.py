"""Confidence from random draws of the weights."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from skcw._kernels.draws import (
    LANES,
    IndependentScores,
    SummedRows,
    distinct_features,
    draw_keys,
    draw_labelings,
    draw_rows,
    draw_transitions,
    padded_labels,
    token_ids,
)
from skcw._kernels.lattice import score_tokens, square_values
from skcw._kernels.marginals import add_marginals
from skcw.confidence.marginals import chosen, marginal
from skcw.confidence.tallies import Agreement, Votes, span_tally

# Transitions from label i are drawn as if i were this feature and those after it.
FIRST_TRANSITION = 1 << 32
# And features that look at the label before as if they were these.
FIRST_EDGE = 1 << 33
# A piece is cut where it has more entries: at worst each asks for a row of its own.
MOST_ENTRIES = 1 << 18


class Group(NamedTuple):
    """Up to eight draws of a piece: scores by token, transitions, how many count."""

    scores: object
    transitions: np.ndarray
    n_draws: int


@dataclass(eq=False, repr=False, match_args=False)
class Drawing:
    """Draws w ~ N(weights, s * variance), each one weight vector for all input.

    Every weight's normal is a pure function of the seed, the draw's number, the
    feature and the label. So no result depends on how a batch is cut, on its order
    or on threads; only the weights that a piece touches are drawn; and memory is
    that of a piece and one group of draws. Weights are drawn in single precision.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    n_draws : int
        The number of draws.
    variance_scale : float
        The factor s of the variances, at least 0.
    seed : int
        From 0 to 2**64 - 1.
    unit_variance : bool, default=False
        Whether all variances count as one, those of untouched features too.
    independent : bool, default=False
        Whether to draw the scores of every token independently: cheaper, but a feature
        that occurs twice no longer has one weight. Transitions are drawn as usual.
    """

    scored: Any
    n_draws: int
    variance_scale: float
    _: KW_ONLY
    seed: int
    unit_variance: bool = False
    independent: bool = False

    def __post_init__(self):
        if self.n_draws < 1 or not 0 <= self.variance_scale < np.inf:
            raise ValueError(
                "n_draws must be at least 1 and variance_scale finite and not "
                f"negative, got {self.n_draws} and {self.variance_scale}"
            )
        self.decoder = self.scored.decoder
        if not self.unit_variance and self.decoder.belief.variance is None:
            raise ValueError(
                "this model keeps no variances to draw with; draw with "
                "unit_variance=True"
            )
        self.root_scale = np.float32(np.sqrt(self.variance_scale))
        self.labels = padded_labels(self.scored.n_labels)

    def each_group(self, work):
        """Call work(group, part, its tokens, its sequences) for all groups of draws.

        Pieces run in the decoder's threads, and the groups of a part one after another.
        """

        def draw(piece, tokens, sequences):
            edges = piece.edges
            for first, last in _cuts(piece.batch):
                start, stop = map(int, piece.offsets[[first, last]])
                part = piece.batch[first:last]._compact()
                mean = piece.scores[start:stop] if self.independent else None
                groups = self._groups(
                    self._rows(part) if mean is None else self._independent(part, mean),
                    None if edges is None else edges[first:last]._compact(),
                )
                for group in groups:
                    work(
                        group,
                        part,
                        slice(tokens.start + start, tokens.start + stop),
                        slice(sequences.start + first, sequences.start + last),
                    )

        self.scored.each_piece(draw)

    def _groups(self, scores_of, edges):
        """Yield the groups of draws of a part, whose arrays are used again."""
        borders = self.decoder.borders
        transitions_of = self._transitions()
        if edges is not None:
            transitions_of = self._own_transitions(transitions_of, edges)
        for first in range(0, self.n_draws, LANES):
            keys = draw_keys(self.seed, first)
            scores = scores_of(keys)
            if borders is not None:
                scores.add_borders(*borders.astype(np.float32))
            n_draws = min(LANES, self.n_draws - first)
            yield Group(scores, transitions_of(keys), n_draws)

    def _rows(self, piece):
        """Return a function that draws the weights of the features of a piece."""
        belief = self.decoder.belief
        slots = np.empty(len(piece.indices), dtype=np.int32)
        features = distinct_features(piece.indices, slots)
        ids = features.astype(np.int64)
        mean = self._columns(belief.weights, belief.row_of[features])
        deviation = self._deviation(belief.row_of[features])
        values = _single(piece.values)
        rows = self._room(len(features))

        def draw(keys):
            draw_rows(mean, deviation, ids, keys, belief.n_labels, rows)
            return SummedRows(belief.n_labels, rows, piece.indptr, slots, values)

        return draw

    def _independent(self, piece, mean):
        """Return a function that draws the scores of the tokens of a piece."""
        ids = np.empty(piece.n_tokens, dtype=np.int64)
        values = piece.values
        if values is not None:
            values = values.astype(np.float64, copy=False)
        token_ids(piece.offsets, piece.indptr, piece.indices, values, ids)
        mean = _single(mean[:, : self.labels])
        belief = self.decoder.belief
        variance = score_variance(belief, piece, unit_variance=self.unit_variance)
        deviation = self.root_scale * np.sqrt(_single(variance[:, : self.labels]))

        def draw(keys):
            return IndependentScores(self.decoder.n_labels, mean, deviation, ids, keys)

        return draw

    def _transitions(self):
        """Return a function that draws the transitions."""
        n_labels = self.decoder.n_labels
        rows = np.arange(n_labels)
        mean = _single(self.decoder.transitions[:n_labels, : self.labels])
        deviation, trans = self._deviation(rows), self._room(n_labels)

        def draw(keys):
            draw_rows(mean, deviation, FIRST_TRANSITION + rows, keys, n_labels, trans)
            return trans

        return draw

    def _own_transitions(self, common, edges):
        """Return a function that draws the transitions into every token of a part.

        The rows of a feature after each of the labels lie one below the other.
        """
        belief, n_labels = self.decoder.belief, self.decoder.n_labels
        slots = np.empty(len(edges.indices), dtype=np.int32)
        first = distinct_features(edges.indices, slots).astype(np.int64)
        features = (first[:, None] + np.arange(n_labels)).ravel()
        ids = FIRST_EDGE + features - self.decoder.first_edge
        mean = self._columns(belief.weights, belief.row_of[features])
        deviation = self._deviation(belief.row_of[features])
        values = _single(edges.values)
        rows, trans = self._room(len(features)), self._room(edges.n_tokens * n_labels)

        def draw(keys):
            draw_rows(mean, deviation, ids, keys, n_labels, rows)
            draw_transitions(common(keys), rows, edges.indptr, slots, values, trans)
            return trans

        return draw

    def _columns(self, flat, rows):
        """Return rows of the belief, as many columns as are drawn."""
        return _single(flat.reshape(-1, self.decoder.belief.width)[rows, : self.labels])

    def _deviation(self, rows):
        if self.unit_variance:
            return np.full((len(rows), self.labels), self.root_scale)
        variance = self._columns(self.decoder.belief.variance, rows)
        return self.root_scale * np.sqrt(variance)

    def _room(self, n_rows):
        return np.zeros((n_rows, self.labels, LANES), dtype=np.float32)


def _single(array):
    if array is None:
        return None
    return np.ascontiguousarray(array, dtype=np.float32)


def _cuts(piece):
    """Yield the first and the last sequence of parts with few enough entries."""
    entries = piece.indptr[piece.offsets]
    first = 0
    while first < len(piece):
        last = int(np.searchsorted(entries, entries[first] + MOST_ENTRIES, "right"))
        last = max(last - 1, first + 1)
        yield first, last
        first = last


def score_variance(belief, batch, *, unit_variance=False):
    """Return x' Sigma x of every token and label, padded to the width.

    Parameters
    ----------
    belief : Belief
        The model.
    batch : SequenceBatch
        The sequences.
    unit_variance : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    variance : ndarray of shape (n_tokens, width)
        In the precision of the belief.
    """
    dtype = belief.weights.dtype
    batch = batch.with_precision(dtype)._compact()
    squares = _squares(batch, dtype)
    variance, row_of = belief.variance, belief.row_of
    if unit_variance:
        variance, row_of = np.ones(belief.width, dtype), np.zeros_like(row_of)
    out = np.empty((batch.n_tokens, belief.width), dtype)
    score_tokens(
        variance, belief.width, row_of, batch.indptr, batch.indices, squares, out
    )
    return out


def transition_variance(scored, edges, variance):
    """Return the variance of every transition, and its covariance with the next one.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    edges : SequenceBatch or None
        The features of the steps into the tokens of a piece.
    variance : ndarray
        The variance of every weight, in the belief's layout.

    Returns
    -------
    variance, common : ndarray of shape (n_squares * width, width)
        Squares as ``ScoredBatch.transitions`` has them. ``common`` at token t is the
        covariance of a transition into t with the same one into the token before.
    """
    decoder = scored.decoder
    square = decoder.square(variance)
    if edges is None:
        return square, square
    owner = np.repeat(np.arange(edges.n_tokens), np.diff(edges.indptr))
    # Twice the same feature is one weight with the sum of both values.
    key = owner * edges.n_features + edges.indices
    distinct, first, entry = np.unique(key, return_index=True, return_inverse=True)
    x = np.bincount(entry, edges.values, minlength=len(distinct))
    before = np.searchsorted(distinct, distinct - edges.n_features)
    repeats = distinct[before] == distinct - edges.n_features
    values = np.zeros((2, len(key)))
    values[0, first] = x * x
    values[1, first] = np.where(repeats, x * x[before], 0.0)
    return tuple(decoder.squares(variance, edges, square, row) for row in values)


def _squares(batch, dtype):
    """Return the squared value of every feature at every token."""
    slots = np.empty(len(batch.indices), dtype=np.int32)
    n_distinct = len(distinct_features(batch.indices, slots))
    seen = np.empty(n_distinct, dtype=np.int32)
    squares = (
        np.ones(len(slots), dtype) if batch.values is None else batch.values.copy()
    )
    square_values(slots, batch.indptr, seen, squares)
    return squares


# Draws flatten marginals on their own: averaged ones want a lower temperature.
DRAWN_TEMPERATURE = 0.6


def count_draws(scored, n_draws, variance_scale, tallies, *, seed, **how):
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
    **how : bool
        ``unit_variance`` and ``independent`` of :class:`Drawing`.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.draws import count_draws
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._model.decoding import Decoder
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

    Drawing(scored, n_draws, variance_scale, seed=seed, **how).each_group(label)
    scored.check_legal(total)


def draw_marginals(scored, n_draws, variance_scale, *, temperature=1.0, seed, **how):
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
    **how : bool
        ``unit_variance`` and ``independent`` of :class:`Drawing`.

    Returns
    -------
    marginals : ndarray of float64, shape (n_tokens, n_labels)
        Every row sums to one.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.draws import draw_marginals
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._model.decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], ["a"]])
    >>> scored = Decoder(Belief.start(2, 2, initial_variance=1.0)).open(batch)
    >>> draw_marginals(scored, 10, 0.0, seed=0)
    array([[0.5, 0.5],
           [0.5, 0.5],
           [0.5, 0.5]])
    """
    table = np.zeros((scored.n_tokens, scored.n_labels))
    legal = np.zeros(len(scored))

    def add(group, part, tokens, sequences):
        add_marginals(
            group.scores,
            group.transitions,
            part.offsets,
            temperature,
            group.n_draws,
            table[tokens],
            legal[sequences],
        )

    Drawing(scored, n_draws, variance_scale, seed=seed, **how).each_group(add)
    scored.check_legal(legal)
    return table / n_draws


def tally_draws(scored, settings, tally, **how):
    """Draw models by the settings of a method, and let a tally count."""
    drawn = settings.n_draws, settings.variance_scale
    count_draws(scored, *drawn, [tally], seed=settings.seed, **how)
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
    drawn = settings.n_draws, settings.variance_scale
    how = {"temperature": DRAWN_TEMPERATURE * settings.temperature}
    rows = draw_marginals(scored, *drawn, seed=settings.seed, **how)
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
