"""Passes over the shards of a corpus of sequences."""

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from skcw._model.corpus import (
    Corpus,
    PassOptions,
    take_sequences,
    with_tokens_hidden,
)
from skcw._model.decoding import n_workers
from skcw._model.gaussian import Belief, padded, with_room
from skcw._model.mixing import Mixture, moved_cells
from skcw._model.shards import ShardFile
from skcw._util.ragged import offsets_of


class Deal:
    """Which sequences each shard gets, ``n_sequences`` in all.

    Parameters
    ----------
    views : Views
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
        self.n_shards, self.n_labels = plan.n_shards, len(plan.options.cost)
        self.n_jobs = n_workers(plan.n_jobs, plan.n_shards)
        self.n_sequences = self._choose(rng, plan.shuffle)


class WholeDeal(Deal):
    """Deals out a corpus in memory."""

    def _choose(self, rng, shuffle):
        (corpus, _), positions = self.views.plain(0), self.views.corpus.learned(0)
        if corpus.weight is not None:
            positions = positions[corpus.weight[positions] > 0]
        self.order = rng.permutation(positions) if shuffle else positions
        return len(positions)

    def shards(self, folder):
        """Return what opens each shard."""
        n_shards = self.n_shards
        dealt = (np.sort(self.order[k::n_shards]) for k in range(n_shards))
        # Made once, not by each thread.
        made = *self.views.plain(0), folder
        jobs = (delayed(self._shard)(positions, *made) for positions in dealt)
        return Parallel(self.n_jobs, require="sharedmem")(jobs)

    def _shard(self, positions, plain, turns, folder):
        """Return the shard of some sequences, with feature numbers of its own."""
        unknown = self.views.feature
        corpus = take_sequences(plain, positions)
        used = np.zeros(self.n_features, dtype=bool)
        _mark_features(used, corpus, unknown, self.n_labels)
        features = np.flatnonzero(used).astype(np.int32)
        own = np.empty(self.n_features, dtype=np.int32)
        own[features] = np.arange(len(features))
        edges = corpus.edges
        if edges is not None:
            edges = edges[0], own[edges[1]], edges[2]
        arrays = corpus._replace(indices=own[corpus.indices], edges=edges).arrays()
        unknown = None if unknown is None else int(own[unknown])
        arrays |= _turns_of(positions, plain.offsets, turns)
        return folder.share(arrays | {"features": features}, {"unknown": unknown})


class BlockDeal(Deal):
    """Deals out the sequences of each block, to files that are written block by block.

    Shards are equal in size, and without shuffling have the sequences that they would
    have of a corpus in memory.
    """

    def _choose(self, rng, shuffle):
        corpus = self.views.corpus
        self.seed = rng.randint(np.iinfo(np.int32).max) if shuffle else None
        sizes = [len(corpus.learned(block)) for block in range(corpus.n_blocks)]
        # How many sequences come before each block.
        self.n_before = offsets_of(np.array(sizes))
        return int(self.n_before[-1])

    def shards(self, folder):
        """Write all parts; return what opens each shard."""
        parts = [[] for _ in range(self.n_shards)]
        for block in range(self.views.corpus.n_blocks):
            corpus, turns = self.views.plain(block)
            for own, positions in zip(parts, self._dealt(block), strict=True):
                if len(positions):
                    arrays = take_sequences(corpus, positions).arrays()
                    arrays |= _turns_of(positions, corpus.offsets, turns)
                    own.append((folder.write(arrays, {}), len(positions)))
            self.views.corpus.close(block)
        return [self._shard(own, folder) for own in parts]

    def _dealt(self, block):
        """Yield the sequences of a block that each shard gets."""
        order = self.views.corpus.learned(block)
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


class ShardTask(NamedTuple):
    """What a worker needs for one pass over one shard.

    ``shard`` opens its sequences, ``common`` the belief that all shards start from;
    ``kernel`` learns them; ``turn`` tells which tokens to hide, if any. In
    ``options`` the order is not set yet: ``seed`` makes it, or is None for the order in
    which sequences are given. ``piece`` is which of how many pieces of the pass it is.
    """

    shard: Any
    common: Any
    kernel: Any
    n_labels: int
    averaging: bool
    options: PassOptions
    seed: int | None
    turn: int | None
    piece: tuple[int, int]


def learn_shard(task):
    """Make a pass over a shard, or a piece of one; return what it has moved."""
    header, arrays = task.shard.open()
    features = arrays["features"]
    _, common = task.common.open()
    belief, origin = part_of(common, task.n_labels, features)
    width, rows = belief.width, belief.row_of
    if "parts" in header:
        # Parts in files have the feature numbers that all shards have in common.
        rows = np.full(len(common["row_of"]), width, dtype=np.int32)
        rows[features] = belief.row_of
    drift = np.zeros(len(belief.mean), belief.mean.dtype) if task.averaging else None
    tables = belief.mean, belief.variance, drift
    n_rows, rounds, found = _learn_parts(task, tables, rows, len(origin))
    if "parts" in header:
        rows = rows[features]
    after = tuple(None if t is None else t[: n_rows * width] for t in tables)
    numbers = _reported(common, origin, rows, n_rows, width)
    before = common["mean"], common.get("variance")
    return moved_cells(before, *numbers, after, rounds, found)


def _learn_parts(task, tables, rows, n_rows):
    """Learn part by part; return the rows in use, the rounds, and what was found."""
    rounds, found = 0.0, np.zeros(2, dtype=np.int64)
    for corpus, order in presented(task.shard, task.seed, task.turn, task.piece):
        options = task.options._replace(order=order)
        progress = rows, n_rows, rounds
        n_rows, rounds, *wrong = task.kernel(*tables, progress, corpus, options)
        found += wrong
    return n_rows, rounds, tuple(found.tolist())


def _reported(common, origin, rows, n_rows, width):
    """Return the row that each row of a shard was, and the number to report it by."""
    n_old, n_kept = len(common["mean"]) // width, len(origin)
    # What is new was at the prior, which is the row after those of the transitions.
    origin = np.append(origin, np.full(n_rows - n_kept, width))
    numbers = origin.copy()
    new = np.flatnonzero(rows >= n_kept)
    numbers[rows[new]] = n_old + new
    return origin, numbers


class SequenceShards:
    """How sequences are dealt out to shards, and what is learned of each.

    Parameters
    ----------
    training : SequenceTraining
        The belief in training, and the sequences.
    """

    learn = staticmethod(learn_shard)
    # With these more merges in the first pass gained nothing, and they take time.
    few = 4

    def __init__(self, training):
        self.training, self.plan, self.views = training, training.plan, training.views
        self.folder, self.rng = self.views.corpus.folder, training.rng
        kind = WholeDeal if self.views.corpus.in_memory else BlockDeal
        n_features = len(training.expanded.row_of)
        self.deal = kind(self.views, self.plan, self.rng, n_features)
        n_shards, n_sequences = self.plan.n_shards, self.deal.n_sequences
        if n_shards > n_sequences:
            raise ValueError(
                f"n_shards is {n_shards}, but there are only {n_sequences} sequences "
                "to learn from, without those held out to calibrate confidence; each "
                "shard needs at least one"
            )
        self.n_smallest = n_sequences // n_shards

    def shards(self, folder):
        """Return what opens each shard."""
        return self.deal.shards(folder)

    def order(self):
        """Return the seeds of the orders in the shards in the next pass."""
        return self.rng.randint(np.iinfo(np.int32).max, size=self.plan.n_shards)

    def common(self):
        """Return what all shards start from, as arrays."""
        belief, n_rows = self.training.expanded, self.training.n_rows
        # New rows are given out while some shards are still to begin.
        self.n_old, rows = n_rows, belief.row_of.copy()
        size = n_rows * belief.width
        variance = None if belief.variance is None else belief.variance[:size]
        return {"row_of": rows, "mean": belief.mean[:size], "variance": variance}

    def tasks(self, shards, common, number, seeds, piece):
        """Return what a worker needs to know of each shard."""
        plan, belief = self.plan, self.training.expanded
        turn = self.views.turn_of(number, plan.max_iter)
        averaging = belief.average is not None
        return [
            ShardTask(
                shard,
                common,
                plan.kernel,
                belief.n_labels,
                averaging,
                plan.options,
                int(seed) if plan.shuffle else None,
                turn,
                piece,
            )
            for shard, seed in zip(shards, seeds, strict=True)
        ]

    def mixture(self):
        """Return what adds up the moves of all shards."""
        belief = self.training.expanded
        tables = belief.mean, belief.variance, belief.average
        return Mixture(*tables, belief.rounds)

    def add(self, mixture, shard, moves):
        """Add the moves of a shard, with new rows where it was the first to move."""
        belief, features = self.training.expanded, shard.open()[1]["features"]
        width, n_rows = belief.width, self.training.n_rows
        moved = np.zeros(len(features), dtype=bool)
        # Cells ascend.
        new_cells = moves.cells[np.searchsorted(moves.cells, self.n_old * width) :]
        moved[new_cells // width - self.n_old] = True
        new = features[moved & (belief.row_of[features] == width)]
        last = n_rows + len(new)
        belief.row_of[new] = np.arange(n_rows, last, dtype=np.int32)
        if belief.variance is not None:
            belief.variance[n_rows * width : last * width] = belief.variance[width**2]
        mixture.add(moves, self.n_old, belief.row_of[features], width)
        self.training.n_rows = last

    def finish(self, mixture, number):
        """Move the common belief."""
        self.training.expanded.rounds = mixture.finish(number)


def part_of(common, n_labels, features):
    """Return a belief about some features of the one that all shards share.

    Parameters
    ----------
    common : dict of str to ndarray
        The rows of all features, and what stands in the rows.
    n_labels : int
        The number of labels.
    features : ndarray of int32
        The features, which get the numbers 0, 1...

    Returns
    -------
    belief : Belief
        The belief, with room for a row of every feature, and without an average.
    origin : ndarray of int
        The row that each row in use has in the common belief.
    """
    width = padded(n_labels)
    rows = common["row_of"][features]
    used = np.flatnonzero(rows != width)
    # In the order of the common belief, which whoever merges reads from end to end.
    used = used[np.argsort(rows[used], kind="stable")]
    own = np.full(len(features), width, dtype=np.int32)
    own[used] = np.arange(width + 1, width + 1 + len(used))
    origin = np.concatenate([np.arange(width + 1), rows[used]])
    size = (width + 1 + len(features)) * width
    mean, variance = (
        _taken(common[name].reshape(-1, width), origin, size)
        if name in common
        else None
        for name in ("mean", "variance")
    )
    return Belief(n_labels, own, mean, variance, None, 0.0), origin


def _taken(table, rows, size):
    """Return some rows of a table, flat, with room for so many numbers in all."""
    flat = with_room(table[:0].ravel(), size)
    first = flat[: len(rows) * table.shape[1]].reshape(len(rows), -1)
    table.take(rows, axis=0, out=first, mode="clip")
    return flat
