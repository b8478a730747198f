"""What a training pass reads: encoded sequences, and how they are presented."""

from typing import NamedTuple

import numpy as np

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

    def parts(self, held_out=None):
        """Return all as one block, that without some sequences, and these alone."""
        whole = WholeCorpus(self, None)
        if held_out is None:
            return whole, whole, None
        rest = np.delete(np.arange(len(self.offsets) - 1), held_out)
        return whole, WholeCorpus(self, rest), WholeCorpus(self, held_out)

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


class WholeCorpus:
    """A corpus in memory, as one block; `BlockCorpus` is one of several on disk.

    Parameters
    ----------
    corpus : Corpus
        The encoded sequences.
    chosen : ndarray of int or None
        The sequences to learn from; None for all.
    """

    n_blocks, in_memory = 1, True
    # Where the files of a training are to be; anywhere.
    folder = None

    def __init__(self, corpus, chosen):
        self.corpus, self._chosen = corpus, chosen

    def chosen(self, number):
        """Return the sequences to learn from, or None for all."""
        return self._chosen

    def learned(self, number):
        """Return the sequences to learn from."""
        if self._chosen is not None:
            return self._chosen
        return np.arange(len(self.corpus.offsets) - 1)

    def corpus_of(self, number):
        """Return the sequences as the kernels read them."""
        return self.corpus

    def close(self, number):
        """Keep them."""

    def order(self, rng, shuffle):
        """Return the order of a pass."""
        return rng.permutation(self.learned(0)) if shuffle else self.learned(0)

    def in_order(self, order):
        """Yield the block, and its sequences in the order of a pass."""
        yield 0, order


class PassOptions(NamedTuple):
    """How one pass is made: order of the sequences, costs, legal labelings.

    ``cost_unit`` is what a cost of one adds to the score of a wrong label when the
    rival is looked for; 0 for plain decoding. ``counting`` asks for the words that
    the model gets wrong instead of those that its rival, favored by the costs, does:
    a second decoding of each sequence whose rival is wrong. ``round_weight`` is what a
    sequence presented counts in the average.
    """

    order: np.ndarray
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    width: int
    counting: bool = True
    round_weight: float = 1.0


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


def pieces(order, lengths, n_words):
    """Return an order of sequences in pieces of about so many words each.

    Parameters
    ----------
    order : ndarray of int
        The sequences in the order in which they are presented.
    lengths : ndarray of int
        The number of words of each sequence.
    n_words : int or None
        The size of a piece; None for one piece.

    Returns
    -------
    pieces : list of ndarray
        The order, cut.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.corpus import pieces
    >>> pieces(np.array([2, 0, 1]), np.array([3, 1, 4]), 5)
    [array([2, 0]), array([1])]
    """
    if n_words is None or not len(order):
        return [order]
    ends = np.cumsum(lengths[order])
    cuts = np.searchsorted(ends, np.arange(n_words, ends[-1], n_words)) + 1
    return [piece for piece in np.split(order, np.unique(cuts)) if len(piece)]
