"""Labelings by weights drawn from the belief, and what is counted over them."""

import numpy as np

from skcw._kernels.draws import (
    LANES,
    SummedRows,
    add_votes,
    distinct_features,
    draw_keys,
    draw_labelings,
    draw_rows,
    padded_labels,
)

# Transitions from label i are drawn as if i were this feature and those after it.
FIRST_TRANSITION = 1 << 32


class WeightDraws:
    def __init__(self, decoder, n_draws, scale, *, seed, fixed=False):
        self.decoder = decoder
        self.n_draws = n_draws
        self.root_scale = np.sqrt(scale)
        self.seed = seed
        self.fixed = fixed
        belief = decoder.belief
        self.labels = padded_labels(belief.n_labels)
        self.mean = self._rows(belief.weights)
        self.variance = None if fixed else self._rows(belief.variance)

    def _rows(self, flat):
        return flat.reshape(-1, self.decoder.belief.width)

    def gaussian(self, rows):
        mean = self.mean[rows, : self.labels].astype(np.float32, copy=False)
        return np.ascontiguousarray(mean), self.deviation(rows)

    def deviation(self, rows):
        if self.fixed:
            return np.full((len(rows), self.labels), self.root_scale, np.float32)
        deviation = np.sqrt(self.variance[rows, : self.labels], dtype=np.float32)
        deviation *= np.float32(self.root_scale)
        return deviation

    def transitions(self):
        n = self.decoder.n_labels
        rows = np.arange(n)
        mean = self.decoder.transitions[:n, : self.labels].astype(np.float32)
        mean[:, n:] = 0.0
        return mean, self.deviation(rows), FIRST_TRANSITION + rows

    def each(self, batch, consume):
        belief = self.decoder.belief
        total = np.zeros(len(batch))
        transitions = self.transitions()

        def draw(piece, tokens, sequences):
            piece = piece.compact()
            slots = np.empty(len(piece.indices), dtype=np.int32)
            features = distinct_features(piece.indices, slots)
            mean, deviation = self.gaussian(belief.row_of[features])
            ids = features.astype(np.int64)
            values = piece.values
            if values is not None:
                values = values.astype(np.float32, copy=False)
            rows = np.empty((len(ids), self.labels, LANES), np.float32)
            trans = np.empty((belief.n_labels, self.labels, LANES), np.float32)
            labels = np.empty((piece.n_tokens, LANES), np.int32)
            for first in range(0, self.n_draws, LANES):
                keys = draw_keys(self.seed, first)
                draw_rows(mean, deviation, ids, keys, rows)
                draw_rows(*transitions, keys, trans)
                source = SummedRows(belief.n_labels, rows, piece.indptr, slots, values)
                draw_labelings(source, trans, piece.offsets, labels, total[sequences])
                n = min(LANES, self.n_draws - first)
                consume(labels[:, :n].T, tokens, sequences)

        self.decoder._each_piece(draw, batch)
