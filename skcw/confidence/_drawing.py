"""Draw weight vectors from a belief, in groups, for the pieces of a batch."""

from typing import NamedTuple

import numpy as np

from skcw._kernels.delta import square_values
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
from skcw._kernels.lattice import score_tokens

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
        Whether to draw the scores of every token on their own instead: cheaper, but a
        feature that occurs twice no longer moves together. Transitions are drawn as
        ever.
    """

    def __init__(
        self,
        scored,
        n_draws,
        variance_scale,
        *,
        seed,
        unit_variance=False,
        independent=False,
    ):
        if n_draws < 1 or not 0 <= variance_scale < np.inf:
            raise ValueError(
                "n_draws must be at least 1 and variance_scale finite and not "
                f"negative, got {n_draws} and {variance_scale}"
            )
        if not unit_variance and scored.decoder.belief.variance is None:
            raise ValueError(
                "this model keeps no variances to draw with; draw with "
                "unit_variance=True"
            )
        self.scored = scored
        self.decoder = scored.decoder
        self.n_draws = n_draws
        self.root_scale = np.float32(np.sqrt(variance_scale))
        self.seed = seed
        self.unit_variance = unit_variance
        self.independent = independent
        self.labels = padded_labels(scored.n_labels)

    def each_group(self, work):
        """Call work(group, part, its tokens, its sequences) for all groups of draws.

        Pieces run in the decoder's threads, and the groups of a part one after another.
        """

        def draw(piece, tokens, sequences):
            for first, last in _cuts(piece.batch):
                start, stop = map(int, piece.offsets[[first, last]])
                self._draw_part(
                    work,
                    piece.batch[first:last].compact(),
                    piece.scores[start:stop] if self.independent else None,
                    slice(tokens.start + start, tokens.start + stop),
                    slice(sequences.start + first, sequences.start + last),
                )

        self.scored.each_piece(draw)

    def _draw_part(self, work, part, mean, tokens, sequences):
        n_labels, borders = self.decoder.n_labels, self.decoder.borders
        scores_of = self._rows(part) if mean is None else self._independent(part, mean)
        transitions = self._transitions()
        trans = self._room(n_labels)
        for first in range(0, self.n_draws, LANES):
            keys = draw_keys(self.seed, first)
            draw_rows(*transitions, keys, n_labels, trans)
            scores = scores_of(keys)
            if borders is not None:
                scores.add_borders(*borders.astype(np.float32))
            n_draws = min(LANES, self.n_draws - first)
            work(Group(scores, trans, n_draws), part, tokens, sequences)

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
        """Return means, deviations and ids of the transitions."""
        n_labels = self.decoder.n_labels
        rows = np.arange(n_labels)
        mean = _single(self.decoder.transitions[:n_labels, : self.labels])
        return mean, self._deviation(rows), FIRST_TRANSITION + rows

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
    batch = batch.with_precision(dtype).compact()
    squares = _squares(batch, dtype)
    variance, row_of = belief.variance, belief.row_of
    if unit_variance:
        variance, row_of = np.ones(belief.width, dtype), np.zeros_like(row_of)
    out = np.empty((batch.n_tokens, belief.width), dtype)
    score_tokens(
        variance, belief.width, row_of, batch.indptr, batch.indices, squares, out
    )
    return out


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
