"""Passes in shards: each starts from the common belief, and the moves are merged."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skcw._belief import Belief, padded, with_room
from skcw._shards._mixing import Mixture, moved_cells, n_merges
from skcw._shards._sharing import ShardFolder
from skcw._shards._workers import Traffic, Workers, bare_learner
from skcw.tagging._dealing import BlockDeal, WholeDeal, presented
from skcw.tagging._passes import PassOptions, pass_options
from skcw.tagging._unknown import Views


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
        n_rows, rounds, *wrong = task.learner._run_pass(
            *tables, progress, corpus, options
        )
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


class ShardedPasses:
    """Passes over the shards of a corpus, each from the common belief.

    Parameters
    ----------
    views : Views or BlockViews
        The corpus, as it is presented in turn.
    plan : Plan
        What all passes have in common.
    seed : int
        The seed of the shards and of the order in them.
    rows : ndarray of int32
        The rows of all features of the belief.
    """

    def __init__(self, views, plan, seed, rows):
        self.views, self.plan = views, plan
        self.rng = np.random.RandomState(seed)
        kind = WholeDeal if isinstance(views, Views) else BlockDeal
        self.deal = kind(views, plan, self.rng, len(rows))
        n_sequences = self.deal.n_sequences
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
        self.learner = bare_learner(plan.run_pass.__self__)
        self.folder = ShardFolder(views.folder)
        self.workers = Workers(plan.n_jobs, self.folder)
        self.n_smallest = n_sequences // plan.n_shards
        self.traffic = Traffic(plan.n_shards)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.workers.__exit__(*error)
        self.folder.__exit__(*error)

    @cached_property
    def shards(self):
        """What opens each shard, made when the first pass begins."""
        return self.deal.shards(self.folder)

    def order(self):
        """Return the seeds of the orders in the shards in the next pass."""
        return self.rng.randint(np.iinfo(np.int32).max, size=self.plan.n_shards)

    def run(self, progress, number, seeds):
        """Make a pass, in one piece or in several."""
        self.traffic.start()
        n_pieces = min(n_merges(number + 1, self.plan.n_shards), self.n_smallest)
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
            features = shard.open()[1]["features"]
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
                shard,
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
