"""Passes over a corpus: order, stopping, progress, several models at once."""

import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from skcw.belief import Belief, BeliefMean
from skcw.tagging._callbacks import PassTasks


class Corpus(NamedTuple):
    """Encoded sequences with their labels, as the kernels read them."""

    offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    gold: np.ndarray
    weight: np.ndarray | None


class Lesson(NamedTuple):
    """How one pass is made: order of the sequences, costs, legal labelings.

    ``cost_unit`` is what a cost of one adds to the score of a wrong label when the
    rival is looked for; 0 for plain decoding.
    """

    order: np.ndarray
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    width: int


@dataclass
class Plan:
    """What all passes of a fit have in common.

    ``run_pass(mean, variance, drift, state, corpus, lesson)`` is a learner's kernel,
    ``dev_score(belief)`` the score to maximise, or None, and ``tasks`` tells
    scikit-learn's callbacks.
    """

    run_pass: Any
    tasks: PassTasks
    max_iter: int
    shuffle: bool
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    dev_score: Any = None
    n_iter_no_change: int = 3
    tol: float = 0.0
    verbose: int = 0


class Monitor:
    """Keep the history, show progress, and remember the best epoch."""

    def __init__(self, plan, model):
        self.plan = plan
        self.several = model is not None
        self.model = model or 0
        self.history = []
        self.best = None
        self.best_score = -np.inf
        self.idle = 0
        self.clock = time.perf_counter()

    def end_epoch(self, belief, n_rows, wrong_sequences, wrong_tokens):
        """Record an epoch; return whether to stop."""
        record = {
            "model": self.model,
            "epoch": len(self.history) + 1,
            "wrong_sequences": int(wrong_sequences),
            "wrong_tokens": int(wrong_tokens),
        }
        if self.plan.dev_score is not None:
            record["dev_score"] = self._judge(belief.closed(n_rows))
        record["seconds"] = time.perf_counter() - self.clock
        self.history.append(record)
        if self.plan.verbose:
            self._report(record)
        self.clock = time.perf_counter()
        return self.idle >= self.plan.n_iter_no_change

    def _judge(self, belief):
        score = float(self.plan.dev_score(belief))
        # Small gains keep the better epoch but do not buy more epochs.
        self.idle = 0 if score > self.best_score + self.plan.tol else self.idle + 1
        if score > self.best_score:
            self.best, self.best_score = belief, score
        return score

    def _report(self, record):
        line = (
            f"pass {record['epoch']}/{self.plan.max_iter}: "
            f"{record['wrong_tokens']} wrong words in "
            f"{record['wrong_sequences']} sequences"
        )
        if self.several:
            line = f"model {self.model + 1}, {line}"
        if "dev_score" in record:
            line += f", dev accuracy {record['dev_score']:.2%}"
        print(f"{line}, {record['seconds']:.2f} s", file=sys.stderr, flush=True)


def train(belief, corpus, plan, seed, model=None, tasks=None):
    """Train a copy of a closed belief; return it closed again, with its history."""
    opened, n_rows = belief.opened()
    rng = np.random.RandomState(seed)
    monitor = Monitor(plan, model)
    n_sequences = len(corpus.offsets) - 1
    for _ in range(plan.max_iter):
        order = rng.permutation(n_sequences) if plan.shuffle else np.arange(n_sequences)
        lesson = Lesson(
            order.astype(np.int64),
            plan.cost,
            plan.forbidden,
            plan.cost_unit,
            opened.width,
        )
        if tasks is not None:
            tasks.begin(f"pass {len(monitor.history) + 1}")
        n_rows, opened.rounds, *wrong = plan.run_pass(
            opened.mean,
            opened.variance,
            opened.average,
            (opened.row_of, n_rows, opened.rounds),
            corpus,
            lesson,
        )
        stop = monitor.end_epoch(opened, n_rows, *wrong)
        if tasks is not None:
            stop |= tasks.end(partial(opened.closed, n_rows))
        if stop:
            break
    trained = monitor.best or opened.closed(n_rows)
    _check_finite(trained)
    return trained, monitor.history


def train_several(belief, corpus, plan, seeds, n_jobs=None):
    """Train one model per seed, each on its own shuffle, and average the Gaussians.

    Models are added up in the order of their seeds: the number of workers changes
    no bit of the result.
    """
    if len(seeds) == 1:
        return train(belief, corpus, plan, seeds[0], tasks=plan.tasks)
    total, history = BeliefMean(), []
    jobs = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    for trained, records in jobs(
        delayed(train)(belief, corpus, plan, seed, model)
        for model, seed in enumerate(seeds)
    ):
        # Several models train at once: for callbacks a whole model is one task.
        plan.tasks.begin(f"model {total.n + 1}")
        total.add(trained)
        plan.tasks.end(total.result)
        history += records
    return total.result(), history


def _check_finite(belief: Belief):
    arrays = belief.arrays().values()
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(
            "the weights grew without bound; scale the feature values (about -1 to 1 "
            "works best) or use dtype='float64'"
        )
