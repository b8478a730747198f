"""Training of a classifier: passes over its rows."""

from typing import NamedTuple

import numpy as np

from skcw._model.checkpoint import described_learner, digest_of
from skcw._model.row_gaussian import TableBelief
from skcw._model.row_shards import RowShards
from skcw._model.rows import Rows, salted_order
from skcw._model.shards import ShardedTraining
from skcw.data.saved import FLOATS, SAVED_AS, saved_array, saved_number

# How the tables in training are called in a checkpoint; the best ones so far have the
# names of those in a model.
PREFIX = "training."


class RowTraining:
    """A belief in training, which is changed in place, and passes over the rows.

    Parameters
    ----------
    belief : TableBelief
        Where the training starts.
    rows : Rows
        The rows.
    plan : Plan
        What all passes have in common.
    seed : int
        The seed of the orders of the rows.
    held_out : HeldOut, default=None
        The rows to judge by, before they are learned; None for none.
    """

    # Checkpoints are saved after passes, and there is one model.
    divisible, number = False, None
    SHARE_BEFORE_JUDGED = 0.8

    def __init__(self, belief, rows, plan, seed, held_out=None):
        self.belief, self.rows, self.plan = belief, rows, plan
        self.held_out = held_out
        # Where the rows to learn from are, None for all; how the others were predicted.
        self.seen = self.judge = None
        self.kernel = plan.kernel
        self.rng = np.random.RandomState(seed) if plan.shuffle else None

    def take_up(self, part):
        """Go on with a part of the rows: "all", "rest" or "held_out"."""
        mask = self.held_out.mask
        chosen = {"all": None, "rest": ~mask, "held_out": mask}[part]
        self.seen = None if chosen is None else np.flatnonzero(chosen)

    def judged(self):
        """Return what is predicted of the rows that are held out."""
        return predictions(self.belief, self.held_out.rows)

    def order(self):
        """Return the random number of the next pass; None if nothing is shuffled."""
        if self.rng is None:
            return None
        return self.rng.randint(0, 2**63 - 1, dtype=np.int64).astype(np.uint64)

    def sharded(self):
        """Return the training whose passes learn shards side by side."""
        return ShardedTraining(RowShards(self))

    def pieces(self, number, salt, presented, n_words):
        """Yield what the kernel is given in a pass, which is one piece."""
        order = pass_order(self.rows, salt, self.seen)
        belief = self.belief
        tables = belief.mean, belief.variance, belief.drift
        yield len(order), (*tables, belief.rounds, self.rows, order)

    def take(self, size, rounds, wrong):
        """Return how many rows of a piece were wrong, and of how many."""
        self.belief.rounds = rounds
        return np.array([wrong, size])

    def report(self, found):
        """Return what a pass has found, for the history and for the progress line."""
        wrong, n_rows = found.tolist()
        return {"wrong_rows": wrong}, f"{wrong} wrong rows of {n_rows}"

    def model(self):
        """Return a copy of the belief."""
        return self.belief.copy()

    def result(self, best):
        """Return the belief that was learned: the best one, or the last."""
        trained = best or self.belief
        trained.lay_apart()
        trained.check_finite(self.rows.changed)
        return trained

    def state(self):
        """Return where the training is, for a checkpoint: a header and arrays."""
        return {"rounds": self.belief.rounds}, self.belief.arrays(PREFIX)

    def restore(self, header, arrays):
        """Continue from what a checkpoint has saved."""
        for name, table in self.belief.arrays(PREFIX).items():
            table[:] = saved_array(arrays, name, FLOATS, table.shape)
        self.belief.rounds = saved_number(header["rounds"], "rounds", 0.0)

    def best_of(self, arrays, rounds):
        """Return the best belief so far among the arrays of a checkpoint."""
        shape = self.belief.mean.shape
        tables = {
            name: saved_array(arrays, SAVED_AS + name, FLOATS, shape).copy()
            for name in self.belief.tables()
        }
        return TableBelief(**tables, rounds=saved_number(rounds, "rounds", 0.0))


class RowPredictions(NamedTuple):
    """The scores of some rows under a belief, and their variances."""

    rows: Rows
    scores: np.ndarray
    spreads: np.ndarray


def predictions(belief, rows):
    """Return what a belief predicts of rows."""
    return RowPredictions(
        rows, rows.scores(belief.weights), rows.spreads(belief.variance)
    )


def pass_order(rows, salt, seen=None):
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
    seen : ndarray of int64, default=None
        The positions of those that are presented, ascending; None for all.

    Returns
    -------
    order : ndarray of int64
        The positions of the rows.
    """
    if salt is not None and seen is None:
        return salted_order(rows.keys, salt)
    order = np.arange(len(rows), dtype=np.int64) if seen is None else seen
    if salt is not None:
        return order[salted_order(rows.keys[order], salt)]
    return order if rows.weight is None else order[rows.weight[order] > 0]


def described_rows(classifier, plan, rows, classes, start):
    """Return what a training is about, in few words and short hashes.

    Parameters
    ----------
    classifier : RowClassifier
        The classifier.
    plan : Plan
        What all passes have in common.
    rows : Rows
        What it learns from.
    classes : ndarray
        The labels.
    start : TableBelief
        Where it starts.

    Returns
    -------
    about : dict of str to str or number
        What differs in another training.
    """
    arrays = (rows.indptr, rows.indices, rows.values, rows.gold)
    return {
        **described_learner(classifier),
        "n_shards": plan.n_shards,
        "the number of rows": len(rows),
        "the number of features": len(start.mean) - 1,
        "the labels": repr(classes.tolist()),
        "the hash of the rows": digest_of(*arrays, rows.weight, rows.class_factor),
        "the hash of where it starts": digest_of(*start.tables().values()),
    }
