"""Passes over rows: their order, in one piece or in shards."""

from typing import Any, NamedTuple

import numpy as np

from skcw._model.mixing import Mixture, moved_cells, n_merges
from skcw._model.rows import Rows, take_rows
from skcw._model.shards import ShardFolder, Traffic, Workers, bare_learner

# The arrays of rows that are written to the file of a shard.
ROW_ARRAYS = ("indptr", "indices", "values", "gold", "weight", "class_factor")


def pass_order(rows, salt):
    """Return the order in which a pass presents rows, as the kernels read it.

    Every pass sorts the rows by a hash of their content, their label and a random
    number. So the model does not depend on the order in which rows are given, equal
    rows stand beside each other, and a weight of two is the same as two copies.

    Parameters
    ----------
    rows : Rows
        The rows.
    salt : uint64 or None
        The random number; None for the order in which rows are given.

    Returns
    -------
    order : ndarray of int64
        The positions of the rows.
    """
    if salt is not None:
        order = salted_order(rows.keys, salt)
    else:
        order = np.arange(len(rows))
        if rows.weight is not None:
            order = order[rows.weight > 0]
    return order.astype(np.int64)


def salted_order(keys, salt):
    """Return the order of rows by a hash of their keys and a random number."""
    mixed = (keys ^ salt) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.argsort(mixed ^ (mixed >> np.uint64(32)), kind="stable")


def order_of_piece(keys, salt, piece, n_pieces):
    """Return the order in one of several pieces of a pass.

    A piece has whole groups of equal rows, unless rows are learned in the order in which
    they come (no salt).
    """
    if salt is None:
        return np.arange(piece, len(keys), n_pieces)
    order = salted_order(keys, salt)
    return order[keys[order] % np.uint64(n_pieces) == piece]


def row_passes(rows, plan, seen=None):
    """Return what makes the passes of a training.

    Parameters
    ----------
    rows : Rows
        The rows.
    plan : Plan
        What all passes have in common.
    seen : ndarray of bool, default=None
        Which rows to learn from; None for all.

    Returns
    -------
    passes : PlainPasses or ShardedPasses
        A context manager with ``run(belief)``.
    """
    if plan.n_shards == 1:
        return PlainPasses(rows, plan, seen)
    if seen is not None:
        rows = take_rows(rows, np.flatnonzero(seen))
    return ShardedPasses(rows, plan)


class Passes:
    """What passes have in common, be they in one piece or in shards.

    Parameters
    ----------
    plan : Plan
        What all passes have in common.
    """

    def __init__(self, plan):
        self.plan = plan
        self.rng = np.random.RandomState(plan.seed) if plan.shuffle else None
        self.number = 0
        self.traffic = Traffic(plan.n_shards)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def skip(self, n_passes):
        """Leave out passes that were made before; the next have their own orders."""
        for _ in range(n_passes):
            self.next_salt()

    def next_salt(self):
        """Return the random number of the next pass; None if nothing is shuffled."""
        self.number += 1
        return self.salt()

    def salt(self):
        """Return a random number, or None if nothing is shuffled."""
        if self.rng is None:
            return None
        return self.rng.randint(0, 2**63 - 1, dtype=np.int64).astype(np.uint64)


class PlainPasses(Passes):
    """Passes over all rows, one after the other.

    Parameters
    ----------
    rows : Rows
        The rows.
    plan : Plan
        What all passes have in common.
    seen : ndarray of bool or None
        Which rows to learn from; None for all.
    """

    def __init__(self, rows, plan, seen=None):
        super().__init__(plan)
        self.rows, self.seen = rows, seen

    def run(self, belief):
        """Make a pass in place; return how many rows were wrong, and of how many."""
        order = pass_order(self.rows, self.next_salt())
        if self.seen is not None:
            order = order[self.seen[order]]
        belief.rounds, wrong = self.plan.run_pass(belief, self.rows, order)
        return wrong, len(order)


class RowTask(NamedTuple):
    """What a worker needs for one pass over one shard.

    ``shard`` opens its rows, ``common`` the tables that all shards start from;
    ``belief_about`` makes a belief of those of its features; ``learner`` has the
    kernel; ``salt`` makes the order, or is None for the order in which rows are given.
    ``piece`` is which of how many pieces of the pass it is.
    """

    shard: Any
    common: Any
    belief_about: Any
    averaging: bool
    learner: Any
    n_classes: int
    salt: np.uint64 | None
    piece: tuple[int, int]


def learn_shard(task):
    """Make a pass over a shard, or a piece of one; return what it has moved."""
    header, arrays = task.shard.open()
    parts = {name: arrays.get(name) for name in ROW_ARRAYS}
    rows = Rows(**parts, bias=header["bias"])
    order = order_of_piece(arrays["keys"], task.salt, *task.piece)
    _, common = task.common.open()
    tables = common["mean"], common.get("variance")
    belief = task.belief_about(arrays["features"], *tables, task.averaging)
    rounds, wrong = task.learner._run_pass(
        belief, rows, order, n_classes=task.n_classes
    )
    before = tuple(None if table is None else table.reshape(-1) for table in tables)
    features, found = arrays["features"], (int(wrong), len(order))
    return moved_cells(before, features, features, _flat(belief), rounds, found)


class ShardedPasses(Passes):
    """Passes over the shards of the rows, each from the common belief.

    Which rows make a shard depends on their content, as their order does: copies of a
    row are in the same one, unless rows are learned in the order in which they come.
    Rows of weight 0 are in none.

    Parameters
    ----------
    rows : Rows
        The rows.
    plan : Plan
        What all passes have in common.
    """

    def __init__(self, rows, plan):
        super().__init__(plan)
        self.learner = bare_learner(plan.run_pass.func.__self__)
        self.n_classes = plan.run_pass.keywords["n_classes"]
        if rows.weight is not None:
            rows = take_rows(rows, np.flatnonzero(rows.weight > 0))
        self.folder = ShardFolder()
        self.workers = Workers(None, self.folder)
        self.shards = [self._shard(rows, part) for part in self._parts(rows)]

    def __exit__(self, *error):
        self.workers.__exit__(*error)
        self.folder.__exit__(*error)

    def _parts(self, rows):
        """Return the positions of the rows of each shard."""
        n_shards = self.plan.n_shards
        keys, copy_of = np.unique(rows.keys, return_inverse=True)
        if n_shards > len(keys):
            raise ValueError(
                f"n_shards is {n_shards}, but there are only {len(keys)} different "
                "rows to learn from, without those held out to learn how sure to be; "
                "each shard needs at least one"
            )
        salt = self.salt()
        if salt is None:
            shard_of = np.arange(len(rows)) % n_shards
        else:
            shard_of = np.empty(len(keys), dtype=np.int64)
            order = salted_order(keys, salt)
            shard_of[order] = np.arange(len(keys)) % n_shards
            shard_of = shard_of[copy_of]
        return [np.flatnonzero(shard_of == k) for k in range(n_shards)]

    def _shard(self, rows, positions):
        """Return the shard of some rows, with feature numbers of its own."""
        part = take_rows(rows, positions)
        # Rows may have no feature at all, but kernels point to the first.
        features = part.touched if len(part.touched) else np.zeros(1, dtype=np.int64)
        arrays = {name: getattr(part, name) for name in ROW_ARRAYS}
        own = np.searchsorted(features, part.indices).astype(np.int32)
        arrays |= {"indices": own, "keys": rows.keys[positions], "features": features}
        header = {"bias": -1 if part.bias < 0 else len(features) - 1}
        return self.folder.share(arrays, header)

    def run(self, belief):
        """Make a pass in place; return how many rows were wrong, and of how many."""
        belief.lay_apart()
        salt = self.next_salt()
        self.traffic.start()
        n_pieces = n_merges(self.number, len(self.shards))
        found = [self._run_piece(belief, salt, (k, n_pieces)) for k in range(n_pieces)]
        return np.sum(found, axis=0).tolist()

    def _run_piece(self, belief, salt, piece):
        """Let every shard learn from the common belief, then merge."""
        common = self.folder.share({"mean": belief.mean, "variance": belief.variance})
        self.traffic.sent += common.n_bytes
        tasks = [
            RowTask(
                shard,
                common,
                belief.about,
                belief.drift is not None,
                self.learner,
                self.n_classes,
                salt,
                piece,
            )
            for shard in self.shards
        ]
        mixture = Mixture(*_flat(belief), belief.rounds, self.number)
        found = np.zeros(2, dtype=np.int64)
        results = self.workers.run(learn_shard, tasks)
        for moves in results:
            mixture.add(moves)
            found += moves.found
            self.traffic.returned += moves.n_bytes
        common.remove()
        belief.rounds = mixture.finish()
        return found


def _flat(belief):
    """Return mean, variance and drift as flat views."""
    tables = (belief.mean, belief.variance, belief.drift)
    return tuple(None if table is None else table.reshape(-1) for table in tables)
