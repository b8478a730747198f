"""Deal sequences out to shards: those of a corpus in memory, or of blocks on disk.

A shard opens to its features and its sequences. In memory these are one part, which has
feature numbers of its own. Of a corpus in blocks a shard has a part of each block, a
file with the numbers of the corpus; what the shard opens to names these files, and a
worker has one of them in memory at a time.
"""

import numpy as np

from skcw._shards._files import ShardFile
from skcw.data._ragged import offsets_of
from skcw.tagging._passes import Corpus, take_sequences, with_tokens_hidden


class Deal:
    """Which sequences each shard gets, ``n_sequences`` in all.

    Parameters
    ----------
    views : Views or BlockViews
        The corpus, in memory or in blocks.
    plan : Plan
        Tells how many shards and labels there are, and whether to shuffle.
    rng : RandomState
        Shuffles.
    n_features : int
        The number of all features.
    """

    def __init__(self, views, plan, rng, n_features):
        self.views, self.n_features = views, n_features
        self.n_shards, self.n_labels = plan.n_shards, len(plan.cost)
        self.n_sequences = self._choose(rng, plan.shuffle)


class WholeDeal(Deal):
    """Deals out a corpus in memory."""

    def _choose(self, rng, shuffle):
        views = self.views
        positions = views.learnt()
        if views.plain.weight is not None:
            positions = positions[views.plain.weight[positions] > 0]
        self.order = rng.permutation(positions) if shuffle else positions
        return len(positions)

    def shards(self, folder):
        """Return what opens each shard."""
        # The number that a feature has in the shard that is being made.
        own = np.empty(self.n_features, dtype=np.int32)
        n_shards = self.n_shards
        dealt = (np.sort(self.order[k::n_shards]) for k in range(n_shards))
        return [self._shard(positions, own, folder) for positions in dealt]

    def _shard(self, positions, own, folder):
        """Return the shard of some sequences, with feature numbers of its own."""
        views = self.views
        corpus = take_sequences(views.plain, positions)
        used = np.zeros(self.n_features, dtype=bool)
        _mark_features(used, corpus, views.feature, self.n_labels)
        features = np.flatnonzero(used).astype(np.int32)
        own[features] = np.arange(len(features))
        edges = corpus.edges
        if edges is not None:
            edges = edges[0], own[edges[1]], edges[2]
        arrays = corpus._replace(indices=own[corpus.indices], edges=edges).arrays()
        unknown = None if views.feature is None else int(own[views.feature])
        arrays |= _turns_of(positions, views.plain.offsets, views.turns)
        return folder.share(arrays | {"features": features}, {"unknown": unknown})


class BlockDeal(Deal):
    """Deals out the sequences of each block, to files that are written block by block.

    Shards are equal in size, and without shuffling have the sequences that they would
    have of a corpus in memory.
    """

    def _choose(self, rng, shuffle):
        views = self.views
        self.seed = rng.randint(np.iinfo(np.int32).max) if shuffle else None
        sizes = [len(views.learnt(block)) for block in range(views.n_blocks)]
        # How many sequences come before each block.
        self.n_before = offsets_of(np.array(sizes))
        return int(self.n_before[-1])

    def shards(self, folder):
        """Write all parts; return what opens each shard."""
        parts = [[] for _ in range(self.n_shards)]
        for block in range(self.views.n_blocks):
            corpus, turns = self.views.plain(block)
            for own, positions in zip(parts, self._dealt(block), strict=True):
                if len(positions):
                    arrays = take_sequences(corpus, positions).arrays()
                    arrays |= _turns_of(positions, corpus.offsets, turns)
                    own.append((folder.write(arrays, {}), len(positions)))
            self.views.close(block)
        return [self._shard(own, folder) for own in parts]

    def _dealt(self, block):
        """Yield the sequences of a block that each shard gets."""
        order = self.views.learnt(block)
        if self.seed is not None:
            order = np.random.RandomState([self.seed, block]).permutation(order)
        # The shard that is next in turn after the blocks before.
        first = int(self.n_before[block])
        for k in range(self.n_shards):
            yield np.sort(order[(k - first) % self.n_shards :: self.n_shards])

    def _shard(self, parts, folder):
        """Return what opens a shard, given its files and the sequences in each."""
        unknown = self.views.feature
        used = np.zeros(self.n_features, dtype=bool)
        for file, _ in parts:
            corpus = Corpus.from_arrays(file.open()[1])
            _mark_features(used, corpus, unknown, self.n_labels)
            file.close()
        features = np.flatnonzero(used).astype(np.int32)
        sizes = np.array([size for _, size in parts], dtype=np.int64)
        header = {"unknown": unknown, "parts": [list(file) for file, _ in parts]}
        return folder.write({"features": features, "sizes": sizes}, header)


def _mark_features(used, corpus, unknown, n_labels):
    """Note which features some sequences have, by the numbers that all have."""
    used[corpus.indices] = True
    if unknown is not None:
        used[unknown] = True
    if corpus.edges is not None:
        used[np.unique(corpus.edges[1])[:, None] + np.arange(n_labels)] = True


def _turns_of(positions, offsets, turns):
    """Return the tokens of some sequences that are hidden in each turn, renumbered."""
    lengths = np.diff(offsets)[positions]
    first = np.cumsum(lengths) - lengths
    found = {}
    for number, tokens in enumerate(turns):
        owner = np.searchsorted(offsets, tokens, "right") - 1
        place = np.searchsorted(positions, owner)
        here = (place < len(positions)) & np.isin(owner, positions)
        place, tokens = place[here], tokens[here]
        found[f"turn.{number}"] = tokens - offsets[positions[place]] + first[place]
    return found


def presented(shard, seed, turn, piece):
    """Yield what a worker learns from in a pass over a shard, or a piece of one.

    Parameters
    ----------
    shard : SharedArrays or ShardFile
        Opens the shard.
    seed : int or None
        Makes the order; None for that in which sequences are given.
    turn : int or None
        Which tokens to hide, if any.
    piece : tuple of int
        Which of how many pieces of the pass it is.

    Yields
    ------
    corpus : Corpus
        A part of the shard.
    order : ndarray of int64
        Which of its sequences to present, in this order.
    """
    header, arrays = shard.open()
    if "parts" not in header:
        order = _permuted(len(arrays["offsets"]) - 1, seed)[piece[0] :: piece[1]]
        yield _turned(arrays, turn, header), np.ascontiguousarray(order)
        return
    for part, order in _orders(arrays["sizes"], seed, *piece):
        file = ShardFile(*header["parts"][part])
        yield _turned(file.open()[1], turn, header), order
        file.close()


def _turned(arrays, turn, header):
    """Return the corpus of a part with the tokens hidden whose turn it is."""
    corpus = Corpus.from_arrays(arrays)
    if turn is None:
        return corpus
    return with_tokens_hidden(corpus, arrays[f"turn.{turn}"], header["unknown"])


def _orders(sizes, seed, piece, n_pieces):
    """Yield the parts that are read for a piece of a pass, and the order in each.

    Shuffled sequences are as good in one part as in another, so that a part is read for
    one piece alone, if there are enough of them. Else each piece has some of all parts.
    """
    parts = _permuted(len(sizes), seed)
    if seed is not None and len(sizes) >= n_pieces:
        parts, piece, n_pieces = parts[piece::n_pieces], 0, 1
    n_before = 0
    for part in parts.tolist():
        order = _permuted(sizes[part], None if seed is None else [seed, part])
        order = order[(piece - n_before) % n_pieces :: n_pieces]
        n_before += int(sizes[part])
        if len(order):
            yield part, np.ascontiguousarray(order)


def _permuted(n, seed):
    """Return the numbers 0, 1... in an order that the seed makes, if there is one."""
    order = np.arange(n, dtype=np.int64)
    return order if seed is None else np.random.RandomState(seed).permutation(order)
