"""Passes over rows: order, stopping, progress."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skcw._callbacks import PassTasks
from skcw._monitor import Monitor
from skcw.linear_model._belief import TableBelief


@dataclass
class Plan:
    """What all passes of a fit have in common.

    ``run_pass(belief, rows, order)`` is a learner's kernel; it returns the rounds so
    far and the wrong rows. ``dev_score(table)`` is the score to maximise, or None.
    """

    run_pass: Any
    tasks: PassTasks
    max_iter: int
    shuffle: bool
    seed: int
    dev_score: Any = None
    n_iter_no_change: int = 3
    tol: float = 0.0
    verbose: int = 0


class Shuffler:
    """Orders of the rows that depend on what the rows are, not on where they stand.

    Every pass sorts the rows by a hash of their content, their label and a random
    number. So the model does not depend on the order in which rows are given, equal
    rows stand beside each other, and a weight of two is the same as two copies.
    """

    def __init__(self, rows, seed):
        self.keys = rows.keys
        self.rng = np.random.RandomState(seed)

    def order(self):
        """Return the order of the next pass."""
        salt = self.rng.randint(0, 2**63 - 1, dtype=np.int64).astype(np.uint64)
        mixed = (self.keys ^ salt) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        return np.argsort(mixed ^ (mixed >> np.uint64(32)), kind="stable")


def orders(rows, plan):
    """Yield the order of every pass."""
    shuffler = Shuffler(rows, plan.seed) if plan.shuffle else None
    order = np.arange(len(rows))
    if rows.weight is not None:
        order = order[rows.weight > 0]
    while True:
        if shuffler is not None:
            order = shuffler.order()
        yield order.astype(np.int64)


def train(belief, rows, plan):
    """Train a belief in place; return the best one (or the last) and the history."""
    monitor = Monitor(plan.max_iter, plan.n_iter_no_change, plan.tol, plan.verbose)

    def judge():
        return belief.copied(), plan.dev_score(belief.weights())

    numbers = range(1, plan.max_iter + 1)
    for number, order in zip(numbers, orders(rows, plan), strict=False):
        plan.tasks.begin(f"pass {number}")
        belief.rounds, wrong = plan.run_pass(belief, rows, order)
        stop = monitor.end_pass(
            {"wrong_rows": int(wrong)},
            f"{wrong} wrong rows of {len(order)}",
            None if plan.dev_score is None else judge,
        )
        stop |= plan.tasks.end(belief.copied)
        if stop:
            break
    trained = monitor.best or belief
    _check_finite(trained)
    return trained, monitor.history


def _check_finite(belief: TableBelief):
    tables = belief.tables().values()
    # A sum is finite only if all its summands are, and costs no array of its own.
    if not all(t is None or np.isfinite(t.sum(dtype=np.float64)) for t in tables):
        raise ValueError(
            "the weights grew without bound; scale the features (about -1 to 1 works "
            "best) or use dtype='float64'"
        )
