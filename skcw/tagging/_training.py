"""Passes over a corpus: order, stopping, progress, several models at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw._callbacks import PassTasks
from skcw._decoding import n_workers
from skcw._monitor import Monitor
from skcw.tagging._belief_mean import BeliefMean
from skcw.tagging._unknown import views_of, with_fitting_row


class Corpus(NamedTuple):
    """Encoded sequences with their labels, as the kernels read them.

    ``norm`` has the length of every token's feature vector where costs count in that
    unit, or is None. ``edges`` are ``indptr``, ``indices`` and ``values`` of the
    features that look at the label before, or None.
    """

    offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    gold: np.ndarray
    weight: np.ndarray | None
    norm: np.ndarray | None = None
    edges: tuple | None = None


class PassOptions(NamedTuple):
    """How one pass is made: order of the sequences, costs, legal labelings.

    ``cost_unit`` is what a cost of one adds to the score of a wrong label when the
    rival is looked for; 0 for plain decoding. ``counting`` asks for the words that
    the model gets wrong instead of those that its rival, favoured by the costs, does:
    a second decoding of each sequence whose rival is wrong.
    """

    order: np.ndarray
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    width: int
    counting: bool = True


@dataclass
class Plan:
    """What all passes of a fit have in common.

    ``run_pass(mean, variance, drift, progress, corpus, options)`` is the kernel of a
    learner, ``dev_score(belief)`` the score to maximise, or None, ``dev_metric`` its
    name; ``label_score(gold, guess, offsets)`` is the same for codes of labels;
    ``tasks`` informs scikit-learn's callbacks, and ``hiding`` tells whether to learn
    about unknown tokens by hiding some.
    """

    run_pass: Any
    tasks: PassTasks
    max_iter: int
    shuffle: bool
    cost: np.ndarray
    forbidden: np.ndarray | None
    cost_unit: float
    label_score: Any
    dev_score: Any = None
    dev_metric: str = "accuracy"
    n_iter_no_change: int = 3
    tol: float = 0.0
    verbose: int = 0
    hiding: bool = False

    @property
    def counting(self):
        """Whether to count mislabelled words, which takes more time."""
        return self.verbose > 0 or self.cost_unit == 0

    def quiet(self):
        """Return the plan of a model that only judges: nobody watches it."""
        return replace(self, verbose=0, dev_score=None)

    def found(self, sequences, tokens):
        """Return the counts of a pass under the names that history has for them."""
        whose = "wrong" if self.counting else "rival"
        return {f"{whose}_sequences": sequences, f"{whose}_tokens": tokens}


def monitor_of(plan, model):
    """Return the monitor of one of several models, or of the only one (None)."""
    return Monitor(
        plan.max_iter,
        plan.n_iter_no_change,
        plan.tol,
        plan.verbose,
        common={"model": model or 0},
        title="" if model is None else f"model {model + 1}, ",
        metric=plan.dev_metric,
    )


def judge_of(plan, expanded, n_rows):
    """Return what judges a pass: a compact belief and its score; or None."""
    if plan.dev_score is None:
        return None

    def judge():
        belief = expanded.compacted(n_rows)
        return belief, plan.dev_score(belief)

    return judge


def train(belief, corpus, plan, seed, model=None, positions=None, tasks=None):
    """Train a copy of a compact belief; return it compact again, with its history.

    With `positions` only the sequences there are learnt from.
    """
    views = views_of(corpus, belief, positions, plan.hiding)
    expanded, n_rows = belief.expanded_for_training()
    expanded.unseen = views.unseen
    rng = np.random.RandomState(seed)
    monitor = monitor_of(plan, model)
    if positions is None:
        positions = np.arange(len(corpus.offsets) - 1)
    for number in range(plan.max_iter):
        order = rng.permutation(positions) if plan.shuffle else positions
        options = PassOptions(
            order.astype(np.int64),
            plan.cost,
            plan.forbidden,
            plan.cost_unit,
            expanded.width,
            plan.counting,
        )
        if tasks is not None:
            tasks.begin(f"pass {len(monitor.history) + 1}")
        n_rows, expanded.rounds, sequences, tokens = plan.run_pass(
            expanded.mean,
            expanded.variance,
            expanded.average,
            (expanded.row_of, n_rows, expanded.rounds),
            views.of_pass(number, plan.max_iter),
            options,
        )
        stop = monitor.end_pass(
            plan.found(int(sequences), int(tokens)),
            f"{tokens} wrong words in {sequences} sequences",
            judge_of(plan, expanded, n_rows),
        )
        if tasks is not None:
            stop |= tasks.end(partial(expanded.compacted, n_rows))
        if stop:
            break
    trained = monitor.best or expanded.compacted(n_rows)
    trained.check_finite()
    if views.trial is not None:
        trained = with_fitting_row(
            trained, views.trial, plan.forbidden, plan.label_score
        )
    return trained, monitor.history


def train_several(belief, corpus, plan, seeds, judges, n_jobs=None):
    """Train one model per seed, each on its own shuffle, and average the Gaussians.

    Models are added up in the order of their seeds: the number of workers changes
    no bit of the result. Return the mean, the history, and the beliefs of the judges.
    """
    if len(seeds) == 1:
        return _train_one(belief, corpus, plan, seeds[0], judges, n_jobs)
    total, history, kept = BeliefMean(), [], []
    jobs = [
        (plan, seed, model, judges.learnt[model]) for model, seed in enumerate(seeds)
    ]
    if judges.source == "shadow":
        jobs.append((plan.quiet(), seeds[0], None, judges.learnt[-1]))
    workers = Parallel(
        n_jobs=n_workers(n_jobs, len(jobs)), require="sharedmem", return_as="generator"
    )
    for trained, records in workers(
        delayed(train)(belief, corpus, *job) for job in jobs
    ):
        if total.n == len(seeds):
            kept = [trained]
            break
        if judges.source == "members" and total.n < len(judges.unseen):
            kept.append(trained)
        # Several models train at once: for callbacks a whole model is one task.
        plan.tasks.begin(f"model {total.n + 1}")
        total.add(trained)
        plan.tasks.end(total.result)
        history += records
    return total.result(), history, kept or [total.result()]


def _train_one(belief, corpus, plan, seed, judges, n_jobs):
    """Train one model, and the shadow that judges it beside or after it."""
    one = partial(train, belief, corpus, plan, seed, tasks=plan.tasks)
    if judges.source != "shadow":
        trained, history = one()
        return trained, history, [trained]
    shadow = partial(train, belief, corpus, plan.quiet(), seed, None, judges.learnt[-1])
    if effective_n_jobs(n_jobs) == 1:
        (trained, history), (judge, _) = one(), shadow()
    else:
        # Callbacks belong to the thread that called fit, so the shadow takes another.
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(shadow)
            trained, history = one()
            judge, _ = other.result()
    return trained, history, [judge]
