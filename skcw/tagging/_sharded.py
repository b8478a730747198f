"""Passes in shards: each starts from the common belief, and the moves are merged."""

from typing import Any, NamedTuple

import numpy as np

from skcw._belief import Belief
from skcw._shards._mixing import Mixture, moved_cells, n_bytes
from skcw._shards._sharing import ShardFolder
from skcw._shards._workers import (
    TasksOfAPass,
    Workers,
    bare_learner,
    traffic_words,
)
from skcw.tagging._passes import (
    Corpus,
    PassOptions,
    pass_options,
    take_sequences,
    with_tokens_hidden,
)


class ShardTask(NamedTuple):
    """What a worker needs for one pass over one shard.

    ``shard`` opens its sequences, ``belief`` is the common one about its features,
    ``learner`` has the kernel; ``turn`` tells which tokens to hide, if any. In
    ``options`` the order is not set yet: ``seed`` makes it, or is None for the order in
    which sequences are given.
    """

    shard: Any
    learner: Any
    belief: Belief
    averaging: bool
    options: PassOptions
    seed: int | None
    turn: int | None


def learn_shard(task):
    """Make one pass over a shard; return what it has moved."""
    header, arrays = task.shard.open()
    corpus = Corpus.from_arrays(arrays)
    if task.turn is not None:
        hidden = arrays[f"turn.{task.turn}"]
        corpus = with_tokens_hidden(corpus, hidden, header["unknown"])
    n_sequences = len(corpus.offsets) - 1
    order = np.arange(n_sequences, dtype=np.int64)
    if task.seed is not None:
        order = np.random.RandomState(task.seed).permutation(order)
    before, width = task.belief, task.belief.width
    belief, n_rows = before.expanded_for_training()
    drift = np.zeros(len(belief.mean), belief.mean.dtype) if task.averaging else None
    n_rows, rounds, *found = task.learner._run_pass(
        belief.mean,
        belief.variance,
        drift,
        (belief.row_of, n_rows, 0.0),
        corpus,
        task.options._replace(order=order),
    )
    size = n_rows * width
    after = (
        None if t is None else t[:size] for t in (belief.mean, belief.variance, drift)
    )
    known = before.grown(n_rows)
    moves = moved_cells(known, *after, rounds, tuple(map(int, found)))
    return _by_feature(moves, belief.row_of, width, n_rows)


def _by_feature(moves, row_of, width, n_rows):
    """Return moves whose cells are in the order of features instead of rows."""
    place = np.arange(n_rows)
    used = np.flatnonzero(row_of != width)
    place[row_of[used]] = width + 1 + used
    rows, columns = np.divmod(moves.cells, width)
    cells = place[rows] * width + columns
    return moves._replace(cells=cells.astype(moves.cells.dtype))


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
        self.sent = self.returned = 0

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
        arrays |= self._turns(positions)
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
        """Make a pass: every shard from the common belief, then merge."""
        belief, n_rows = progress.expanded, progress.n_rows
        plan, width = self.plan, belief.width
        options = pass_options(plan, np.empty(0), width)
        turn = self.views.turn_of(number, plan.max_iter)
        rows = belief.row_of.copy()
        self.sent = self.returned = 0

        def task(k):
            own = part_of(belief, rows, self.shards[k].features)
            seed = int(seeds[k]) if plan.shuffle else None
            averaging = belief.average is not None
            made = ShardTask(
                self.shards[k].shared, self.learner, own, averaging, options, seed, turn
            )
            return made, n_bytes((own.row_of, own.mean, own.variance))

        tasks = TasksOfAPass(task, len(self.shards))
        tables = belief.mean, belief.variance, belief.average
        mixture = Mixture(*tables, belief.rounds, number + 1)
        wrong = np.zeros(2, dtype=np.int64)
        results = self.workers.run(learn_shard, tasks)
        for shard, moves in zip(self.shards, results, strict=True):
            n_rows = self._add(mixture, belief, n_rows, shard.features, moves)
            self.returned += moves.n_bytes
            wrong += moves.found
        self.sent = tasks.sent()
        progress.end_presentation(n_rows, mixture.finish(), *wrong.tolist())

    def _add(self, mixture, belief, n_rows, features, moves):
        """Add the moves of a shard, with new rows where it was the first to move."""
        width = belief.width
        rows, columns = np.divmod(moves.cells, width)
        moved = np.zeros(width + 1 + len(features), dtype=bool)
        moved[rows] = True
        first = moved[width + 1 :] & (belief.row_of[features] == width)
        new = features[first]
        last = n_rows + len(new)
        belief.row_of[new] = np.arange(n_rows, last, dtype=np.int32)
        if belief.variance is not None:
            belief.variance[n_rows * width : last * width] = belief.variance[width**2]
        place = np.concatenate([np.arange(width + 1), belief.row_of[features]])
        mixture.add(place[rows].astype(np.int64) * width + columns, moves)
        return last

    def traffic(self):
        """Return what has travelled in the last pass, for the history."""
        return {"bytes_sent": self.sent, "bytes_returned": self.returned}

    def words(self):
        """Return the same in words."""
        return traffic_words(len(self.shards), self.sent, self.returned)


def part_of(belief, row_of, features):
    """Return a compact belief about some features of an expanded one.

    Parameters
    ----------
    belief : Belief
        The expanded belief.
    row_of : ndarray of int32
        The rows of all of its features.
    features : ndarray of int32
        The features, which get the numbers 0, 1...

    Returns
    -------
    belief : Belief
        The belief, without an average.
    """
    width = belief.width
    rows = row_of[features]
    used = np.flatnonzero(rows != width)
    own = np.full(len(features), width, dtype=np.int32)
    own[used] = np.arange(width + 1, width + 1 + len(used))
    kept = np.concatenate([np.arange(width + 1), rows[used]])
    mean, variance = (
        None if flat is None else flat.reshape(-1, width)[kept].ravel()
        for flat in (belief.mean, belief.variance)
    )
    return Belief(belief.n_labels, own, mean, variance, None, 0.0)
