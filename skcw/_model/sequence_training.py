"""Passes over a corpus: order, stopping, progress, several models at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw._model.belief_mean import BeliefMean
from skcw._model.checkpoint import no_keeper
from skcw._model.decoding import n_workers
from skcw._model.monitor import Monitor, PassTasks, Stopping
from skcw._model.sequence_passes import Corpus, PlainPasses
from skcw._model.sequence_progress import Progress
from skcw._model.sequence_shards import ShardedPasses
from skcw._model.shards import ShardFolder, Workers, bare_learner
from skcw._model.unknown import views_of, with_fitting_row


@dataclass
class Plan:
    """What all passes of a fit have in common.

    ``run_pass(mean, variance, drift, progress, corpus, options)`` is the kernel of a
    learner, ``dev_score(belief)`` the score to maximize, or None, ``dev_metric`` its
    name; ``label_score(gold, guess, offsets)`` is the same for codes of labels;
    ``tasks`` informs scikit-learn's callbacks, and ``hiding`` tells whether to learn
    about unknown tokens by hiding some. ``n_jobs`` workers train ``n_shards`` shards.
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
    stopping: Stopping = Stopping()
    verbose: int = 0
    hiding: bool = False
    n_shards: int = 1
    n_jobs: int | None = None

    @property
    def counting(self):
        """Whether to count mislabeled words, which takes more time."""
        return self.verbose > 0 or self.cost_unit == 0

    def sent(self):
        """Return the plan for a worker, without the tagger and its callbacks."""
        learner = bare_learner(self.run_pass.__self__)
        return replace(self, run_pass=learner._run_pass, tasks=None)

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
        plan.stopping,
        plan.verbose,
        common={"model": model or 0},
        title="" if model is None else f"model {model + 1}, ",
        metric=plan.dev_metric,
    )


def judge_of(plan, progress):
    """Return what judges a pass: a compact belief and its score; or None."""
    if plan.dev_score is None:
        return None

    def judge():
        belief = progress.compacted()
        return belief, plan.dev_score(belief)

    return judge


def train(
    belief, corpus, plan, seed, model=None, positions=None, tasks=None, keeper=None
):
    """Train a copy of a compact belief; return it compact again, with its history.

    With `positions` only the sequences there are learned from; the corpus of a shadow in
    blocks stands in their place, and knows which to leave out. With a `keeper` the
    training is saved now and then, and continues from what was saved.
    """
    if isinstance(corpus, Corpus):
        views = views_of(corpus, belief, positions, plan.hiding)
    else:
        views = (positions or corpus).views(plan.hiding)
    progress = Progress(belief, views.unseen, monitor_of(plan, model), keeper)
    kind = ShardedPasses if plan.n_shards > 1 else PlainPasses
    with kind(views, plan, seed, belief.all_rows()) as passes:
        for number in range(plan.max_iter):
            order = passes.order()
            if number < progress.n_passes or progress.is_over:
                continue
            if tasks is not None:
                tasks.begin(f"pass {number + 1}")
            passes.run(progress, number, order)
            found = passes.traffic.record(), passes.traffic.words()
            stop = progress.end_pass(plan, judge_of(plan, progress), *found)
            if tasks is not None:
                stop |= tasks.end(progress.compacted)
            progress.keep(stop or number + 1 == plan.max_iter)
    trained = progress.monitor.best or progress.compacted()
    trained.check_finite()
    if views.trial is not None:
        trained = with_fitting_row(
            trained, views.trial, plan.forbidden, plan.label_score
        )
    return trained, progress.monitor.history


def train_several(
    belief, corpus, plan, seeds, judges, n_jobs=None, keeper_of=no_keeper
):
    """Train one model per seed, each on its own shuffle, and average the Gaussians.

    Models are added up in the order of their seeds: the number of workers changes
    no bit of the result. Return the mean, the history, and the beliefs of the judges.
    `keeper_of` gives what saves a model by its name: "model-1" or "shadow".
    """
    if len(seeds) == 1:
        return _train_one(belief, corpus, plan, seeds[0], judges, n_jobs, keeper_of)
    total, history, kept = BeliefMean(), [], []
    jobs = [
        (
            plan,
            seed,
            model,
            judges.learned[model],
            None,
            keeper_of(f"model-{model + 1}"),
        )
        for model, seed in enumerate(seeds)
    ]
    if judges.source == "shadow":
        shadow = plan.quiet(), seeds[0], None, judges.learned[-1]
        jobs.append((*shadow, None, keeper_of("shadow")))
    for trained, records in _trained(belief, corpus, jobs, n_jobs):
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


def _trained(belief, corpus, jobs, n_jobs):
    """Return the models in the order of their jobs."""
    if jobs[0][0].n_shards > 1:
        # The shards of one model occupy all workers.
        return (train(belief, corpus, *job) for job in jobs)
    if not isinstance(corpus, Corpus) or jobs[0][-1] is not None:
        # Blocks of a corpus and checkpoints belong to this process.
        threads = Parallel(
            n_workers(n_jobs, len(jobs)), require="sharedmem", return_as="generator"
        )
        return threads(delayed(train)(belief, corpus, *job) for job in jobs)
    return _by_workers(belief, corpus, jobs, n_jobs)


def _by_workers(belief, corpus, jobs, n_jobs):
    """Yield the models that workers train; in other processes they map the corpus."""
    with ShardFolder() as folder:
        shared = folder.share(corpus.arrays())
        tasks = [
            ModelTask(shared, belief, plan.sent(), *job[:3]) for plan, *job in jobs
        ]
        with Workers(n_workers(n_jobs, len(jobs)), folder, "model") as workers:
            yield from workers.run(train_member, tasks)


class ModelTask(NamedTuple):
    """What a worker needs to train one of several models; see `train`."""

    shared: Any
    belief: Any
    plan: Plan
    seed: int
    model: int | None
    positions: np.ndarray | None


def train_member(task):
    """Train one of several models; return it with its history."""
    _, arrays = task.shared.open()
    corpus = Corpus.from_arrays(arrays)
    return train(
        task.belief, corpus, task.plan, int(task.seed), task.model, task.positions
    )


def _train_one(belief, corpus, plan, seed, judges, n_jobs, keeper_of):
    """Train one model, and the shadow that judges it beside or after it."""
    keeper = keeper_of("model-1")
    one = partial(train, belief, corpus, plan, seed, tasks=plan.tasks, keeper=keeper)
    if judges.source != "shadow":
        trained, history = one()
        return trained, history, [trained]
    shadow = partial(
        train,
        belief,
        corpus,
        plan.quiet(),
        seed,
        None,
        judges.learned[-1],
        keeper=keeper_of("shadow"),
    )
    if plan.n_shards > 1 or effective_n_jobs(n_jobs) == 1:
        (trained, history), (judge, _) = one(), shadow()
    else:
        # Callbacks belong to the thread that called fit, so the shadow takes another.
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(shadow)
            trained, history = one()
            judge, _ = other.result()
    return trained, history, [judge]
