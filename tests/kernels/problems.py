"""Random lattices and corpora in the form the kernels take, and the way back."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from skcw._model.gaussian import Belief, padded
from skcw.confidence.draws import count_draws
from skcw.confidence.tallies import Votes

# One label; padding of one column, of none, of seven; several blocks of eight.
LABEL_COUNTS = (1, 2, 7, 8, 9, 25)

# Float64 kernels and their twins add the same numbers in another order.
EXACT = 1e-9
# Float32 keeps about seven digits; sums of a few hundred steps lose three.
FLOAT32 = 2e-3


class Corpus(NamedTuple):
    """Sequences as the training kernels read them."""

    offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    gold: np.ndarray
    weight: np.ndarray | None
    norm: np.ndarray | None = None
    edges: tuple | None = None

    def as_type(self, dtype):
        if self.values is None:
            return self
        return self._replace(values=self.values.astype(dtype))

    def sentences(self, n_features):
        """Return (dense tokens, labels, weight) per sequence, for the twins."""
        tokens = np.zeros((len(self.indptr) - 1, n_features))
        values = np.ones(len(self.indices)) if self.values is None else self.values
        rows = np.repeat(np.arange(len(tokens)), np.diff(self.indptr))
        np.add.at(tokens, (rows, self.indices), values)
        weight = self.weight
        weight = np.ones(len(self.offsets) - 1) if weight is None else weight
        return [
            (tokens[a:b], self.gold[a:b], w)
            for a, b, w in zip(self.offsets, self.offsets[1:], weight, strict=False)
        ]


class PassOptions(NamedTuple):
    """How a pass is made."""

    order: np.ndarray
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    width: int
    counting: bool = True
    round_weight: float = 1.0


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def random_lattice(rng, n_labels, lengths, dtype=np.float64, scale=1.0):
    """Return padded scores, padded transitions and offsets."""
    width = padded(n_labels)
    # What lies in the padding must not matter.
    scores = np.full((sum(lengths), width), 1e3, dtype)
    trans = np.full((width, width), 1e3, dtype)
    scores[:, :n_labels] = scale * rng.normal(size=(sum(lengths), n_labels))
    trans[:n_labels, :n_labels] = scale * rng.normal(size=(n_labels, n_labels))
    return scores, trans, offsets_of(lengths)


@st.composite
def small_lattices(draw, values):
    """Return the scores and transitions of up to 5 tokens and 3 labels, unpadded."""
    n_labels, n_tokens = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    size = (n_tokens + n_labels) * n_labels
    rows = draw(st.lists(values, min_size=size, max_size=size))
    rows = np.array(rows, dtype=float).reshape(-1, n_labels)
    return rows[:n_tokens], rows[n_tokens:]


def pad(rows, n_rows):
    """Return rows in the kernels' form: columns (and rows) padded with zeros."""
    wide = np.zeros((n_rows, padded(rows.shape[1])))
    wide[: len(rows), : rows.shape[1]] = rows
    return wide


def random_corpus(rng, n_labels, lengths, n_features=12, real_values=False, most=4):
    """Return sequences whose features repeat, also within a token."""
    counts = rng.integers(1, most + 1, size=sum(lengths))
    indices = rng.integers(n_features, size=counts.sum()).astype(np.int32)
    values = rng.normal(size=len(indices)) if real_values else None
    gold = rng.integers(n_labels, size=sum(lengths)).astype(np.int32)
    return Corpus(offsets_of(lengths), offsets_of(counts), indices, values, gold, None)


def random_belief(rng, n_features, n_labels, with_variance=True, dtype=np.float64):
    """Return a closed belief in which two features of three have been touched."""
    belief = Belief.start(
        n_features, n_labels, 1.5 if with_variance else None, dtype=dtype
    )
    touched = rng.permutation(n_features)[: -(-2 * n_features // 3)]
    width = belief.width
    first = width + 1
    row_of = belief.row_of
    row_of[touched] = np.arange(first, first + len(touched), dtype=np.int32)
    mean = np.zeros((first + len(touched), width), dtype)
    mean[:n_labels, :n_labels] = rng.normal(size=(n_labels, n_labels))
    mean[first:, :n_labels] = rng.normal(size=(len(touched), n_labels))
    variance = None
    if with_variance:
        variance = np.full_like(mean, 1.5)
        shrink = rng.uniform(0.2, 1.0, size=(len(mean), n_labels))
        variance[:, :n_labels] *= shrink
        variance[n_labels:first] = 1.5  # padding and the blank row
        variance = variance.ravel()
    return Belief(n_labels, row_of, mean.ravel(), variance, np.zeros(mean.size), 0.0)


def draw_votes(scored, n_draws, variance_scale, *, seed, **how):
    """Return how many draws give each token each label."""
    votes = Votes(scored.n_tokens, scored.n_labels)
    count_draws(scored, n_draws, variance_scale, [votes], seed=seed, **how)
    return votes.counts


def pass_options(
    corpus, n_labels, order=None, cost=None, forbidden=None, cost_unit=0.0
):
    """Return the options of a pass; a cost unit of 0 is plain decoding."""
    order = np.arange(len(corpus.offsets) - 1) if order is None else order
    cost = np.ones(n_labels) if cost is None else np.asarray(cost, dtype=float)
    return PassOptions(
        np.asarray(order, dtype=np.int64), cost, forbidden, cost_unit, padded(n_labels)
    )


def run_passes(kernel, belief, corpus, options, *parameters, n_passes=1):
    """Train a copy of a belief; return it closed, and the last pass's report."""
    dtype = belief.mean.dtype
    corpus = corpus.as_type(dtype)
    if options.forbidden is not None:
        options = options._replace(forbidden=options.forbidden.astype(dtype))
    opened, n_rows = belief.expanded_for_training()
    for _ in range(n_passes):
        n_rows, opened.rounds, *wrong = kernel(
            opened.mean,
            opened.variance,
            opened.average,
            (opened.row_of, n_rows, opened.rounds),
            corpus,
            options,
            *parameters,
        )
    return opened.compacted(n_rows), tuple(wrong)


def as_vector(belief, kind):
    """Return weights by feature and label, then transitions, in one vector."""
    parts = belief.feature_weights(kind), belief.transition_weights(kind)
    return np.concatenate([part.ravel() for part in parts]).astype(np.float64)


def bytes_of(belief):
    """Return everything a belief holds, to compare bit by bit."""
    return belief.rounds, {k: v.tobytes() for k, v in belief.arrays().items()}
