"""What a training pass reads: encoded sequences, and how they are presented."""

from typing import NamedTuple

import numpy as np

from skcw._model.shards import Traffic
from skcw._util.ragged import joined_ranges, offsets_of
from skcw.data.batch import SequenceBatch

# What the arrays of ``Corpus.edges`` are called in the file of a shard.
EDGE_ARRAYS = ("edges.indptr", "edges.indices", "edges.values")


class Corpus(NamedTuple):
    """Encoded sequences with their labels, as the kernels read them.

    ``norm`` has the length of every token's feature vector where costs count in that
    unit, or is None. ``edges`` are ``indptr``, ``indices`` and ``values`` of the
    features that look at the label before, or None.
    """

    offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    gold: np.ndarray
    weight: np.ndarray | None
    norm: np.ndarray | None = None
    edges: tuple | None = None

    def arrays(self):
        """Return the arrays by the names that they have in the file of a shard."""
        plain = self._asdict()
        edges = plain.pop("edges") or (None,) * len(EDGE_ARRAYS)
        return plain | dict(zip(EDGE_ARRAYS, edges, strict=True))

    @classmethod
    def from_arrays(cls, arrays):
        """Return the corpus that was written to the file of a shard."""
        edges = None
        if EDGE_ARRAYS[0] in arrays:
            edges = tuple(arrays.get(name) for name in EDGE_ARRAYS)
        names = (name for name in cls._fields if name != "edges")
        return cls(*(arrays.get(name) for name in names), edges)


class PassOptions(NamedTuple):
    """How one pass is made: order of the sequences, costs, legal labelings.

    ``cost_unit`` is what a cost of one adds to the score of a wrong label when the
    rival is looked for; 0 for plain decoding. ``counting`` asks for the words that
    the model gets wrong instead of those that its rival, favored by the costs, does:
    a second decoding of each sequence whose rival is wrong.
    """

    order: np.ndarray
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    width: int
    counting: bool = True


def take_sequences(corpus, positions):
    """Return the corpus of the sequences at some positions.

    Parameters
    ----------
    corpus : Corpus
        The encoded sequences.
    positions : ndarray of int
        The positions.

    Returns
    -------
    corpus : Corpus
        These sequences alone, in that order.
    """
    lengths = np.diff(corpus.offsets)[positions]
    tokens = joined_ranges(corpus.offsets[positions], lengths)
    indptr, indices, values = _take_entries(tokens, *corpus[1:4])
    edges = corpus.edges
    return Corpus(
        offsets_of(lengths),
        indptr,
        indices,
        values,
        corpus.gold[tokens],
        None if corpus.weight is None else corpus.weight[positions],
        None if corpus.norm is None else corpus.norm[tokens],
        None if edges is None else _take_entries(tokens, *edges),
    )


def _take_entries(tokens, indptr, indices, values):
    sizes = np.diff(indptr)[tokens]
    entries = joined_ranges(indptr[tokens], sizes)
    values = None if values is None else values[entries]
    return offsets_of(sizes), indices[entries], values


def with_tokens_hidden(corpus, tokens, feature):
    """Return a corpus in which some tokens have one feature alone.

    Parameters
    ----------
    corpus : Corpus
        The encoded sequences.
    tokens : ndarray of int
        The positions of the tokens, ascending.
    feature : int
        The number of the feature.

    Returns
    -------
    corpus : Corpus
        The same with these tokens changed.
    """
    if not len(tokens):
        return corpus
    batch = SequenceBatch._unchecked(*corpus[:4], feature)._compact()
    changed = batch._replaced(tokens, feature)
    norm = corpus.norm
    if norm is not None:
        norm = norm.copy()
        norm[tokens] = 1.0
    return corpus._replace(
        offsets=changed.offsets,
        indptr=changed.indptr,
        indices=changed.indices,
        values=changed.values,
        norm=norm,
    )


class PlainPasses:
    """Passes over all sequences, one after the other.

    Parameters
    ----------
    views : Views
        The corpus, as it is presented in turn.
    plan : Plan
        What all passes have in common.
    seed : int
        The seed of the order of sequences.
    rows : ndarray of int32
        The rows of the belief, which are no concern of these.
    """

    def __init__(self, views, plan, seed, rows=None):
        self.views, self.plan = views, plan
        self.rng = np.random.RandomState(seed)
        self.traffic = Traffic(1)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def order(self):
        """Return the order of the next pass."""
        return self.views.order(self.rng, self.plan.shuffle)

    def run(self, progress, number, order):
        """Make a pass, or what is left of it."""
        plan, width = self.plan, progress.expanded.width
        given = progress.presented, progress.piece_words
        for corpus, piece in self.views.pieces(number, plan.max_iter, order, *given):
            progress.present(plan, corpus, pass_options(plan, piece, width))
            progress.end_piece()


def pass_options(plan, order, width):
    """Return the options of a pass in some order."""
    return PassOptions(
        order.astype(np.int64),
        plan.cost,
        plan.forbidden,
        plan.cost_unit,
        width,
        plan.counting,
    )
