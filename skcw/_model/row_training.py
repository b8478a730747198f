"""Training of a classifier: passes over its rows until there are enough."""

from dataclasses import dataclass
from typing import Any

from skcw._model.checkpoint import no_keeper
from skcw._model.monitor import Monitor, PassTasks, Stopping
from skcw._model.row_passes import row_passes
from skcw._model.row_progress import RowProgress
from skcw._util.limits import LARGEST_LEARNT, LARGEST_SAVED
from skcw.data.saved import largest_size


@dataclass
class Plan:
    """What all passes of a fit have in common.

    ``run_pass(belief, rows, order)`` is a learner's kernel; it returns the number of
    rounds so far and of wrong rows. ``dev_score(table)`` is the score to maximize, or
    None. Workers of joblib train ``n_shards`` shards. ``keeper_of(name)`` gives what
    saves a model, or None.
    """

    run_pass: Any
    tasks: PassTasks
    max_iter: int
    shuffle: bool
    seed: int
    dev_score: Any = None
    stopping: Stopping = Stopping()
    verbose: int = 0
    n_shards: int = 1
    keeper_of: Any = no_keeper


def train(belief, rows, plan):
    """Train a belief in place; return the best one (or the last) and the history.

    Passes that a checkpoint knows are not made again.
    """
    monitor = Monitor(plan.max_iter, plan.stopping, plan.verbose)
    progress = RowProgress(belief, monitor, plan.keeper_of("model-1"))

    def scored_copy():
        return belief.copy(), plan.dev_score(belief.weights())

    with row_passes(rows, plan) as passes:
        for number in progress.left(passes, plan.max_iter):
            plan.tasks.begin(f"pass {number}")
            wrong, n_rows = passes.run(belief)
            stop = monitor.end_pass(
                {"wrong_rows": int(wrong)} | passes.traffic.record(),
                f"{wrong} wrong rows of {n_rows}{passes.traffic.words()}",
                None if plan.dev_score is None else scored_copy,
            )
            stop |= plan.tasks.end(belief.copy)
            progress.keep(stop or number == plan.max_iter)
            if stop:
                break
    trained = monitor.best or belief
    trained.lay_apart()
    for name, table in trained.tables().items():
        if table is not None:
            most = LARGEST_LEARNT if name == "mean" else LARGEST_SAVED
            check_finite(table, rows, most)
    return trained, monitor.history


def check_finite(table, rows, most):
    """Raise if a table has a number that cannot be used and saved.

    Others than those of the features of these rows have not changed.
    """
    touched = rows.touched
    changed = table[touched] if 2 * len(touched) < len(table) else table
    if not largest_size(changed) <= most:
        raise ValueError(
            "the weights grew without bound; scale the features (about -1 to 1 works "
            "best) or use dtype='float64'"
        )
