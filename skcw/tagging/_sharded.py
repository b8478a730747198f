"""Passes in shards: each starts from the common belief, and the moves are merged."""

from typing import Any, NamedTuple

import numpy as np

from skcw._belief import Belief, padded, with_room
from skcw._shards._mixing import Mixture, moved_cells, n_merges
from skcw._shards._sharing import ShardFolder
from skcw._shards._workers import Traffic, Workers, bare_learner
from skcw.tagging._passes import (
    Corpus,
    PassOptions,
    pass_options,
    take_sequences,
    with_tokens_hidden,
)


class ShardTask(NamedTuple):
    """What a worker needs for one pass over one shard.

    ``shard`` opens its sequences, ``common`` the belief that all shards start from;
    ``learner`` has the kernel; ``turn`` tells which tokens to hide, if any. In
    ``options`` the order is not set yet: ``seed`` makes it, or is None for the order in
    which sequences are given. ``piece`` is which of how many pieces of the pass it is.
    """

    shard: Any
    common: Any
    learner: Any
    n_labels: int
    averaging: bool
    options: PassOptions
    seed: int | None
    turn: int | None
    piece: tuple[int, int]


def learn_shard(task):
    """Make a pass over a shard, or a piece of one; return what it has moved."""
    header, arrays = task.shard.open()
    corpus = Corpus.from_arrays(arrays)
    if task.turn is not None:
        hidden = arrays[f"turn.{task.turn}"]
        corpus = with_tokens_hidden(corpus, hidden, header["unknown"])
    n_sequences = len(corpus.offsets) - 1
    order = np.arange(n_sequences, dtype=np.int64)
    if task.seed is not None:
        order = np.random.RandomState(task.seed).permutation(order)
    piece, n_pieces = task.piece
    order = np.ascontiguousarray(order[piece::n_pieces])
    _, common = task.common.open()
    belief, origin = part_of(common, task.n_labels, arrays["features"])
    width = belief.width
    drift = np.zeros(len(belief.mean), belief.mean.dtype) if task.averaging else None
    n_rows, rounds, *found = task.learner._run_pass(
        belief.mean,
        belief.variance,
        drift,
        (belief.row_of, len(origin), 0.0),
        corpus,
        task.options._replace(order=order),
    )
    size = n_rows * width
    after = tuple(
        None if t is None else t[:size] for t in (belief.mean, belief.variance, drift)
    )
    before = common["mean"], common.get("variance")
    n_old, n_kept = len(before[0]) // width, len(origin)
    # What is new was at the prior, which is the row after those of the transitions.
    origin = np.append(origin, np.full(n_rows - n_kept, width))
    numbers = origin.copy()
    new = np.flatnonzero(belief.row_of >= n_kept)
    numbers[belief.row_of[new]] = n_old + new
    return moved_cells(before, origin, numbers, after, rounds, tuple(map(int, found)))


class Shard(NamedTuple):
    """The arrays of a shard, and the numbers that its features have in common."""

    shared: Any
    features: np.ndarray


class ShardedPasses:
    """Passes over the shards of a corpus, each from the common belief.

    Parameters
    ----------
    views : Views
        The corpus, as it is presented in turn.
    plan : Plan
        What all passes have in common.
    seed : int
        The seed of the shards and of the order in them.
    rows : ndarray of int32
        The rows of all features of the belief.
    """

    def __init__(self, views, plan, seed, rows):
        positions = views.learnt()
        if views.plain.weight is not None:
            positions = positions[views.plain.weight[positions] > 0]
        n_sequences = len(positions)
        if plan.n_shards > n_sequences:
            raise ValueError(
                f"n_shards is {plan.n_shards}, but there are only {n_sequences} "
                "sequences to learn from, without those held out to learn how sure to "
                "be; each shard needs at least one"
            )
        if plan.shrinking:
            raise ValueError(
                f"n_shards is {plan.n_shards} and shrinking {plan.shrinking}: in "
                "shards no sequence rests; set one of them to its default"
            )
        self.views, self.plan = views, plan
        self.rng = np.random.RandomState(seed)
        self.learner = bare_learner(plan.run_pass.__self__)
        self.folder = ShardFolder()
        self.workers = Workers(plan.n_jobs, self.folder)
        order = self.rng.permutation(positions) if plan.shuffle else positions
        n_labels = len(plan.cost)
        # The number that a feature has in the shard that is being made.
        self.own = np.empty(len(rows), dtype=np.int32)
        self.shards = [
            self._shard(np.sort(order[k :: plan.n_shards]), n_labels)
            for k in range(plan.n_shards)
        ]
        self.n_smallest = n_sequences // plan.n_shards
        self.traffic = Traffic(plan.n_shards)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.workers.__exit__(*error)
        self.folder.__exit__(*error)

    def _shard(self, positions, n_labels):
        """Return the shard of some sequences, with feature numbers of its own."""
        corpus = take_sequences(self.views.plain, positions)
        used = np.zeros(len(self.own), dtype=bool)
        used[corpus.indices] = True
        if self.views.feature is not None:
            used[self.views.feature] = True
        if corpus.edges is not None:
            used[np.unique(corpus.edges[1])[:, None] + np.arange(n_labels)] = True
        features = np.flatnonzero(used).astype(np.int32)
        self.own[features] = np.arange(len(features))
        own = self.own.__getitem__
        edges = corpus.edges
        if edges is not None:
            edges = edges[0], own(edges[1]), edges[2]
        arrays = corpus._replace(indices=own(corpus.indices), edges=edges).arrays()
        unknown = self.views.feature
        header = {"unknown": None if unknown is None else int(own(unknown))}
        arrays |= self._turns(positions) | {"features": features}
        return Shard(self.folder.share(arrays, header), features)

    def _turns(self, positions):
        """Return the tokens that are hidden in each turn, by the numbers of a shard."""
        offsets = self.views.plain.offsets
        lengths = np.diff(offsets)[positions]
        first = np.cumsum(lengths) - lengths
        found = {}
        for number, tokens in enumerate(self.views.turns):
            owner = np.searchsorted(offsets, tokens, "right") - 1
            place = np.searchsorted(positions, owner)
            here = (place < len(positions)) & np.isin(owner, positions)
            place, tokens = place[here], tokens[here]
            found[f"turn.{number}"] = tokens - offsets[positions[place]] + first[place]
        return found

    def order(self):
        """Return the seeds of the orders in the shards in the next pass."""
        return self.rng.randint(np.iinfo(np.int32).max, size=len(self.shards))

    def run(self, progress, number, seeds):
        """Make a pass, in one piece or in several."""
        self.traffic.start()
        n_pieces = min(n_merges(number + 1, len(self.shards)), self.n_smallest)
        for piece in range(n_pieces):
            self._run_piece(progress, number, seeds, (piece, n_pieces))

    def _run_piece(self, progress, number, seeds, piece):
        """Let every shard learn from the common belief, then merge."""
        belief, n_old = progress.expanded, progress.n_rows
        common, n_rows = self._common(belief, n_old), n_old
        self.traffic.sent += common.n_bytes
        tables = belief.mean, belief.variance, belief.average
        mixture = Mixture(*tables, belief.rounds, number + 1)
        wrong = np.zeros(2, dtype=np.int64)
        tasks = self._tasks(common, belief, number, seeds, piece)
        results = self.workers.run(learn_shard, tasks)
        for shard, moves in zip(self.shards, results, strict=True):
            features = shard.features
            n_rows = self._add(mixture, belief, n_old, n_rows, features, moves)
            self.traffic.returned += moves.n_bytes
            wrong += moves.found
        common.remove()
        progress.end_presentation(n_rows, mixture.finish(), *wrong.tolist())

    def _common(self, belief, n_rows):
        """Return what all shards start from, to be shared with workers."""
        size = n_rows * belief.width
        variance = None if belief.variance is None else belief.variance[:size]
        # New rows are given out while some shards are still to begin.
        rows = belief.row_of.copy()
        return self.folder.share(
            {"row_of": rows, "mean": belief.mean[:size], "variance": variance}
        )

    def _tasks(self, common, belief, number, seeds, piece):
        """Return the task of each shard."""
        plan = self.plan
        options = pass_options(plan, np.empty(0), belief.width)
        turn = self.views.turn_of(number, plan.max_iter)
        averaging = belief.average is not None
        return [
            ShardTask(
                shard.shared,
                common,
                self.learner,
                belief.n_labels,
                averaging,
                options,
                int(seed) if plan.shuffle else None,
                turn,
                piece,
            )
            for shard, seed in zip(self.shards, seeds, strict=True)
        ]

    def _add(self, mixture, belief, n_old, n_rows, features, moves):
        """Add the moves of a shard, with new rows where it was the first to move."""
        width = belief.width
        moved = np.zeros(len(features), dtype=bool)
        new_cells = moves.cells[moves.cells >= n_old * width]
        moved[new_cells // width - n_old] = True
        new = features[moved & (belief.row_of[features] == width)]
        last = n_rows + len(new)
        belief.row_of[new] = np.arange(n_rows, last, dtype=np.int32)
        if belief.variance is not None:
            belief.variance[n_rows * width : last * width] = belief.variance[width**2]
        mixture.add(moves, n_old, belief.row_of[features], width)
        return last


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
