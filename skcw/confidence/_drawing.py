"""Weights drawn for the pieces of a batch, group by group."""

from typing import NamedTuple

import numpy as np

from skcw._kernels.draws import (
    LANES,
    IndependentScores,
    SummedRows,
    distinct_features,
    draw_keys,
    draw_rows,
    padded_labels,
    token_ids,
)
from skcw.confidence._variance import score_variance

# Transitions from label i are drawn as if i were this feature and those after it.
FIRST_TRANSITION = 1 << 32
# A piece is cut where it has more entries: at worst each asks for a row of its own.
MOST_ENTRIES = 1 << 18


class Group(NamedTuple):
    """Up to eight draws of a piece: scores by token, transitions, how many count."""

    scores: object
    transitions: np.ndarray
    n_draws: int


class Drawing:
    """Draws w ~ N(weights, scale * variance), each one weight vector for all input.

    Every weight's normal is a pure function of the seed, the draw's number, the
    feature and the label. So no result depends on how a batch is cut, on its order
    or on threads; only the weights that a piece touches are drawn; and memory is
    that of a piece and one group of draws. Weights are drawn in single precision.

    Parameters
    ----------
    decoder : Decoder
        The model, its constraints and its number of threads.
    n_draws : int
        The number of draws.
    scale : float
        The factor s of the variances, at least 0.
    seed : int
        From 0 to 2**64 - 1.
    fixed : bool, default=False
        Whether all variances count as one, those of untouched features too.
    independent : bool, default=False
        Whether to draw the scores of every token on their own instead: cheaper, but a
        feature that occurs twice no longer moves together. Transitions are drawn as
        ever.
    """

    def __init__(
        self, decoder, n_draws, scale, *, seed, fixed=False, independent=False
    ):
        if n_draws < 1 or not 0 <= scale < np.inf:
            raise ValueError(
                "n_draws must be at least 1 and scale finite and not negative, got "
                f"{n_draws} and {scale}"
            )
        if not fixed and decoder.belief.variance is None:
            raise ValueError(
                "this model keeps no variances to draw with; draw with fixed=True"
            )
        self.decoder = decoder
        self.n_draws = n_draws
        self.root_scale = np.float32(np.sqrt(scale))
        self.seed = seed
        self.fixed = fixed
        self.independent = independent
        self.labels = padded_labels(decoder.n_labels)

    def each_group(self, work, batch):
        """Call work(group, piece, its tokens, its sequences) for all groups of draws.

        Pieces run in the decoder's threads, and a piece's groups one after another.
        """

        def draw(piece, tokens, sequences):
            for first, last in _cuts(piece):
                start = int(piece.offsets[first])
                part = piece[first:last].compact()
                self._draw_part(
                    work,
                    part,
                    slice(tokens.start + start, tokens.start + start + part.n_tokens),
                    slice(sequences.start + first, sequences.start + last),
                )

        self.decoder.each_piece(draw, batch)

    def _draw_part(self, work, piece, tokens, sequences):
        n_labels, borders = self.decoder.n_labels, self.decoder.borders
        scores_of = (self._independent if self.independent else self._rows)(piece)
        transitions = self._transitions()
        trans = self._room(n_labels)
        for first in range(0, self.n_draws, LANES):
            keys = draw_keys(self.seed, first)
            draw_rows(*transitions, keys, n_labels, trans)
            scores = scores_of(keys)
            if borders is not None:
                scores.add_borders(*borders.astype(np.float32))
            n_draws = min(LANES, self.n_draws - first)
            work(Group(scores, trans, n_draws), piece, tokens, sequences)

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

    def _independent(self, piece):
        """Return a function that draws the scores of the tokens of a piece."""
        ids = np.empty(piece.n_tokens, dtype=np.int64)
        values = piece.values
        if values is not None:
            values = values.astype(np.float64, copy=False)
        token_ids(piece.offsets, piece.indptr, piece.indices, values, ids)
        mean = _single(self.decoder.scores(piece)[:, : self.labels])
        variance = score_variance(self.decoder, piece, fixed=self.fixed)
        deviation = self.root_scale * np.sqrt(_single(variance[:, : self.labels]))

        def draw(keys):
            return IndependentScores(self.decoder.n_labels, mean, deviation, ids, keys)

        return draw

    def _transitions(self):
        """Return means, deviations and ids of the transitions."""
        n_labels = self.decoder.n_labels
        rows = np.arange(n_labels)
        mean = _single(self.decoder.transitions[:n_labels, : self.labels])
        return mean, self._deviation(rows), FIRST_TRANSITION + rows

    def _columns(self, flat, rows):
        """Return rows of the belief, as many columns as are drawn."""
        return _single(flat.reshape(-1, self.decoder.belief.width)[rows, : self.labels])

    def _deviation(self, rows):
        if self.fixed:
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
