"""How rows are dealt out to shards, and what is learned of each."""

from typing import Any, NamedTuple

import numpy as np

from skcw._model.mixing import FIRST_MERGES, Mixture, moved_cells
from skcw._model.rows import Rows, salted_order, take_rows

# The arrays of rows that are written to the file of a shard.
ROW_ARRAYS = ("indptr", "indices", "values", "gold", "weight", "class_factor")


def order_of_piece(keys, salt, piece, n_pieces):
    """Return the order in one of several pieces of a pass.

    A piece has whole groups of equal rows, unless rows are learned in the order in
    which they are given (no salt).
    """
    if salt is None:
        return np.arange(piece, len(keys), n_pieces)
    order = salted_order(keys, salt)
    return order[keys[order] % np.uint64(n_pieces) == piece]


class RowTask(NamedTuple):
    """What a worker needs for one pass over one shard.

    ``shard`` opens its rows, ``common`` the tables that all shards start from;
    ``belief_about`` makes a belief of those of its features; ``kernel`` learns them;
    ``salt`` makes the order, or is None for the order in which rows are given.
    ``piece`` is which of how many pieces of the pass it is.
    """

    shard: Any
    common: Any
    belief_about: Any
    averaging: bool
    kernel: Any
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
    given = belief.mean, belief.variance, belief.drift, belief.rounds
    rounds, wrong = task.kernel(*given, rows, order)
    before = tuple(None if table is None else table.reshape(-1) for table in tables)
    features, found = arrays["features"], (int(wrong), len(order))
    return moved_cells(before, features, features, _flat(belief), rounds, found)


class RowShards:
    """How rows are dealt out to shards, and what is learned of each.

    Which rows make a shard depends on their content, as their order does: copies of a
    row are in the same one, unless rows are learned in the order they are given.
    Rows of weight 0 are in none.

    Parameters
    ----------
    training : RowTraining
        The belief in training, and the rows.
    """

    learn = staticmethod(learn_shard)
    folder, n_smallest, few = None, FIRST_MERGES, 1

    def __init__(self, training):
        self.training, self.rows = training, training.rows
        if training.seen is not None:
            self.rows = take_rows(self.rows, training.seen)
        if self.rows.weight is not None:
            self.rows = take_rows(self.rows, np.flatnonzero(self.rows.weight > 0))
        self.dealt = self._dealt()
        training.belief.lay_apart()

    def shards(self, folder):
        """Return what opens each shard."""
        return [self._shard(positions, folder) for positions in self.dealt]

    def _dealt(self):
        """Return the positions of the rows of each shard."""
        n_shards = self.training.plan.n_shards
        first, copy_of = self.rows.distinct
        if n_shards > len(first):
            raise ValueError(
                f"n_shards is {n_shards}, but there are only {len(first)} different "
                "rows to learn from, without those held out to calibrate confidence; "
                "each shard needs at least one"
            )
        salt = self.training.order()
        if salt is None:
            shard_of = np.arange(len(self.rows)) % n_shards
        else:
            shard_of = np.empty(len(first), dtype=np.int64)
            order = salted_order(self.rows.keys[first], salt)
            shard_of[order] = np.arange(len(first)) % n_shards
            shard_of = shard_of[copy_of]
        return [np.flatnonzero(shard_of == k) for k in range(n_shards)]

    def _shard(self, positions, folder):
        """Return the shard of some rows, with feature numbers of its own."""
        part = take_rows(self.rows, positions)
        # Rows may have no feature at all, but kernels point to the first.
        features = part.touched if len(part.touched) else np.zeros(1, dtype=np.int64)
        arrays = {name: getattr(part, name) for name in ROW_ARRAYS}
        own = np.searchsorted(features, part.indices).astype(np.int32)
        arrays |= {
            "indices": own,
            "keys": self.rows.keys[positions],
            "features": features,
        }
        header = {"bias": -1 if part.bias < 0 else len(features) - 1}
        return folder.share(arrays, header)

    def order(self):
        """Return the random number of the next pass."""
        return self.training.order()

    def common(self):
        """Return what all shards start from, as arrays."""
        belief = self.training.belief
        return {"mean": belief.mean, "variance": belief.variance}

    def tasks(self, shards, common, number, salt, piece):
        """Return what a worker needs to know of each shard."""
        belief, kernel = self.training.belief, self.training.plan.kernel
        given = common, belief.about, belief.drift is not None, kernel, salt, piece
        return [RowTask(shard, *given) for shard in shards]

    def mixture(self):
        """Return what adds up the moves of all shards."""
        belief = self.training.belief
        return Mixture(*_flat(belief), belief.rounds)

    def add(self, mixture, shard, moves):
        """Add the moves of a shard."""
        mixture.add(moves)

    def finish(self, mixture, number):
        """Move the common belief."""
        self.training.belief.rounds = mixture.finish(number)


def _flat(belief):
    """Return mean, variance and drift as flat views; None for those it lacks."""
    tables = belief.tables()
    flat = {name: table.reshape(-1) for name, table in tables.items()}
    return tuple(flat.get(name) for name in belief.table_names)
