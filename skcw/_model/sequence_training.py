"""Training of a tagger: passes over sequences, several models at once."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw._model.corpus import Corpus
from skcw._model.decoding import n_workers
from skcw._model.gaussian import Belief
from skcw._model.mixing import BeliefMean
from skcw._model.sequence_shards import SequenceShards
from skcw._model.shards import ShardedTraining, ShardFolder, Workers
from skcw._model.training import Plan, train
from skcw._model.unknown import views_of, with_fitting_row
from skcw.data.saved import FLOATS, saved_array, saved_number

# How the arrays of the belief in training are called in a checkpoint; the best belief
# so far has the names of one in a model.
PREFIX = "training."


class SequenceTraining:
    """A belief in training, and passes over the sequences that train it.

    Parameters
    ----------
    belief : Belief
        Where the training starts, compact.
    views : Views
        The corpus, as it is presented in turn.
    plan : Plan
        What all passes have in common.
    seed : int
        The seed of the order of sequences.
    number : int, default=0
        Which of several models it is.
    """

    def __init__(self, belief, views, plan, seed, number=0):
        self.views, self.plan, self.number = views, plan, number
        self.expanded, self.n_rows = belief.expanded_for_training()
        self.expanded.unseen = views.unseen
        self.rng = np.random.RandomState(seed)

    def order(self):
        """Return the order of the next pass."""
        return self.views.order(self.rng, self.plan.shuffle)

    def run(self, number, order):
        """Make a pass; return how many sequences and tokens were wrong."""
        return self.present(self.views.of_pass(number, self.plan.max_iter), order)

    def pieces(self, number, order, presented, n_words):
        """Yield what to present in a pass, some sequences at a time."""
        given = order, presented, n_words
        return self.views.pieces(number, self.plan.max_iter, *given)

    def present(self, corpus, order):
        """Learn from some sequences; return how many were wrong, and their tokens."""
        expanded = self.expanded
        self.n_rows, expanded.rounds, *wrong = self.plan.learner._run_pass(
            expanded.mean,
            expanded.variance,
            expanded.average,
            (expanded.row_of, self.n_rows, expanded.rounds),
            corpus,
            self.plan.options._replace(order=order.astype(np.int64)),
        )
        return np.array(wrong)

    def report(self, found):
        """Return what a pass has found, for the history and for the progress line."""
        sequences, tokens = found.tolist()
        whose = "wrong" if self.plan.options.counting else "rival"
        record = {
            "model": self.number,
            f"{whose}_sequences": sequences,
            f"{whose}_tokens": tokens,
        }
        return record, f"{tokens} wrong words in {sequences} sequences"

    def model(self):
        """Return a compact copy of the belief."""
        return self.expanded.compacted(self.n_rows)

    def result(self, best):
        """Return the belief that was learned: the best one, or the last."""
        trained = best or self.model()
        trained.check_finite()
        if self.views.trial is None:
            return trained
        plan = self.plan
        return with_fitting_row(
            trained, self.views.trial, plan.options.forbidden, plan.label_score
        )

    def state(self):
        """Return where the training is, for a checkpoint: a header and arrays."""
        expanded = self.expanded
        size = self.n_rows * expanded.width
        tables = expanded.tables().items()
        arrays = {PREFIX + name: table[:size] for name, table in tables}
        arrays[f"{PREFIX}row_of"] = expanded.row_of
        return {"n_rows": self.n_rows, "rounds": expanded.rounds}, arrays

    def restore(self, header, arrays):
        """Continue from what a checkpoint has saved."""
        expanded = self.expanded
        self.n_rows = saved_number(header["n_rows"], "n_rows", 1, whole=True)
        size = self.n_rows * expanded.width
        for name, table in expanded.tables().items():
            table[:size] = saved_array(arrays, PREFIX + name, FLOATS, (size,))
        rows = saved_array(arrays, f"{PREFIX}row_of", ("i4",), expanded.row_of.shape)
        if len(rows) and not expanded.width <= rows.min() <= rows.max() < self.n_rows:
            raise ValueError("a feature refers to a row that does not exist")
        expanded.row_of[:] = rows
        expanded.rounds = saved_number(header["rounds"], "rounds", 0.0)

    def best_of(self, arrays, rounds):
        """Return the best belief so far among the arrays of a checkpoint."""
        return Belief.from_arrays(self.expanded.n_labels, arrays, rounds)


class BlockTraining(SequenceTraining):
    """The same for a corpus in blocks, one of which is in memory at a time."""

    def run(self, number, order):
        """Make a pass, block by block."""
        return sum(
            self.present(*piece) for piece in self.pieces(number, order, 0, None)
        )


def train_model(
    belief, corpus, plan, seed, model=None, positions=None, tasks=None, keeper=None
):
    """Train a copy of a compact belief; return it compact again, with its history.

    With `positions` only the sequences there are learned from; the corpus of a shadow
    in blocks stands in their place, and knows which to leave out.
    """
    if isinstance(corpus, Corpus):
        kind, views = SequenceTraining, views_of(corpus, belief, positions, plan.hiding)
    else:
        kind, views = BlockTraining, (positions or corpus).views(plan.hiding)
    training = kind(belief, views, plan, seed, model or 0)
    if plan.n_shards == 1:
        return train(training, plan, model, tasks, keeper)
    with ShardedTraining(SequenceShards(training)) as sharded:
        return train(sharded, plan, model, tasks, keeper)


def train_several(belief, corpus, plan, seeds, judges, tasks, keeper_of=None):
    """Train one model per seed, each on its own shuffle, and average the Gaussians.

    Models are added up in the order of their seeds: the result is bit-identical for
    any number of workers. Return the mean, the history, and the beliefs of the judges.
    `keeper_of`, if it is there, gives what saves a model by its name: "model-1" or
    "shadow".
    """
    keeper_of = keeper_of or (lambda name: None)
    if len(seeds) == 1:
        return _train_one(belief, corpus, plan, seeds[0], judges, tasks, keeper_of)
    total, history, kept = BeliefMean(), [], []
    jobs = [
        (plan, seed, k, judges.learned[k], None, keeper_of(f"model-{k + 1}"))
        for k, seed in enumerate(seeds)
    ]
    if judges.source == "shadow":
        shadow = plan.quiet(), seeds[0], None, judges.learned[-1]
        jobs.append((*shadow, None, keeper_of("shadow")))
    for trained, records in _trained(belief, corpus, jobs, plan.n_jobs):
        if total.n == len(seeds):
            kept = [trained]
            break
        if judges.source == "members" and total.n < len(judges.unseen):
            kept.append(trained)
        # Several models train at once: for callbacks a whole model is one task.
        tasks.begin(f"model {total.n + 1}")
        total.add(trained)
        tasks.end(total.result)
        history += records
    return total.result(), history, kept or [total.result()]


def _trained(belief, corpus, jobs, n_jobs):
    """Return the models in the order of their jobs."""
    if jobs[0][0].n_shards > 1:
        # The shards of one model occupy all workers.
        return (train_model(belief, corpus, *job) for job in jobs)
    if not isinstance(corpus, Corpus) or jobs[0][-1] is not None:
        # Blocks of a corpus and checkpoints belong to this process.
        threads = Parallel(
            n_workers(n_jobs, len(jobs)), require="sharedmem", return_as="generator"
        )
        return threads(delayed(train_model)(belief, corpus, *job) for job in jobs)
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
    """What a worker needs to train one of several models; see `train_model`."""

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
    return train_model(
        task.belief, corpus, task.plan, int(task.seed), task.model, task.positions
    )


def _train_one(belief, corpus, plan, seed, judges, tasks, keeper_of):
    """Train one model, and the shadow that judges it beside or after it."""
    options = {"tasks": tasks, "keeper": keeper_of("model-1")}
    one = partial(train_model, belief, corpus, plan, seed, **options)
    if judges.source != "shadow":
        trained, history = one()
        return trained, history, [trained]
    options = {"positions": judges.learned[-1], "keeper": keeper_of("shadow")}
    shadow = partial(train_model, belief, corpus, plan.quiet(), seed, **options)
    if plan.n_shards > 1 or effective_n_jobs(plan.n_jobs) == 1:
        (trained, history), (judge, _) = one(), shadow()
    else:
        # Callbacks belong to the thread that called fit, so the shadow takes another.
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(shadow)
            trained, history = one()
            judge, _ = other.result()
    return trained, history, [judge]
