"""Training of a tagger: passes over sequences, several models at once."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw._model.checkpoint import described_learner, digest_of
from skcw._model.corpus import Corpus
from skcw._model.decoding import n_workers
from skcw._model.gaussian import Belief
from skcw._model.mixing import BeliefMean
from skcw._model.sequence_shards import SequenceShards
from skcw._model.shards import ShardedTraining, ShardFolder, Workers
from skcw._model.training import Plan, train
from skcw._model.unknown import Views, with_fitting_row
from skcw.data.saved import FLOATS, saved_array, saved_number

# How the arrays of the belief in training are called in a checkpoint; the best belief
# so far has the names of one in a model.
PREFIX = "training."


class SequenceTraining:
    """A belief in training, and the sequences that train it.

    Parameters
    ----------
    belief : Belief
        Where the training starts, compact; it stays as it is.
    corpus : Corpus or BlockCorpus
        The sequences.
    plan : Plan
        What all passes have in common.
    seed : int
        The seed of the order of sequences.
    number : int, default=None
        Which of several models it is.
    positions : ndarray or BlockCorpus, default=None
        The sequences to learn from; of a corpus in blocks what a shadow sees of it, and
        None for all.
    """

    # A checkpoint may be saved within a pass.
    divisible = True

    def __init__(self, belief, corpus, plan, seed, number=None, positions=None):
        self.views = Views(corpus.blocks(positions), belief, plan.hiding)
        self.plan, self.kernel, self.number = plan, plan.kernel, number
        self.expanded, self.n_rows = belief.expanded_for_training()
        self.expanded.unseen = self.views.unseen
        self.rng = np.random.RandomState(seed)

    def sharded(self):
        """Return the training whose passes learn shards side by side."""
        return ShardedTraining(SequenceShards(self))

    def order(self):
        """Return the order of the next pass."""
        return self.views.corpus.order(self.rng, self.plan.shuffle)

    def pieces(self, number, order, presented, n_words):
        """Yield what the kernel is given in a pass, about so many words at a time."""
        given = self.plan.max_iter, order, presented, n_words
        for corpus, piece in self.views.pieces(number, *given):
            belief = self.expanded
            tables = belief.mean, belief.variance, belief.average
            progress = belief.row_of, self.n_rows, belief.rounds
            options = self.plan.options._replace(order=piece.astype(np.int64))
            yield len(piece), (*tables, progress, corpus, options)

    def take(self, size, n_rows, rounds, *wrong):
        """Return how many sequences of a piece were wrong, and their tokens."""
        self.n_rows, self.expanded.rounds = n_rows, rounds
        return np.array(wrong)

    def report(self, found):
        """Return what a pass has found, for the history and for the progress line."""
        sequences, tokens = found.tolist()
        whose = "wrong" if self.plan.options.counting else "rival"
        record = {
            "model": self.number or 0,
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


class Job(NamedTuple):
    """One of several models to train: ``positions`` are what it learns from."""

    plan: Plan
    seed: int
    number: int | None
    positions: Any
    keeper: Any = None


def train_one(belief, corpus, job):
    """Train one of several models; return it with its history."""
    plan, seed, number, positions, keeper = job
    training = SequenceTraining(belief, corpus, plan, seed, number, positions)
    return train(training, keeper=keeper)


def train_models(belief, corpus, plan, seeds, judges, tasks, keeper_of):
    """Train one model per seed, each on its own shuffle, and average the Gaussians.

    Return the mean, the history, and the beliefs of the judges. `keeper_of` gives what
    saves a model by its name, "model-1" or "shadow", if anything does.
    """
    shadow = None
    if judges.source == "shadow":
        saved = judges.learned[-1], keeper_of("shadow")
        shadow = Job(plan.quiet(), seeds[0], None, *saved)
    if len(seeds) > 1:
        given = seeds, judges, tasks, keeper_of, shadow
        return _train_ensemble(belief, corpus, plan, *given)
    beside = plan.n_shards == 1 and effective_n_jobs(plan.n_jobs) > 1
    with ThreadPoolExecutor(1) as pool:
        # Callbacks belong to the thread that called fit, so the shadow takes another.
        given = train_one, belief, corpus, shadow
        judge = pool.submit(*given).result if shadow and beside else partial(*given)
        training = SequenceTraining(belief, corpus, plan, seeds[0])
        trained, history = train(training, tasks, keeper_of("model-1"))
        # The shadow needs as much memory.
        del training
        kept = trained if shadow is None else judge()[0]
    return trained, history, [kept]


def _train_ensemble(belief, corpus, plan, seeds, judges, tasks, keeper_of, shadow):
    """Train several models, and add them up in the order of their seeds.

    So the result is bit-identical for any number of workers.
    """
    total, history, kept = BeliefMean(), [], []
    jobs = [
        Job(plan, seed, k, judges.learned[k], keeper_of(f"model-{k + 1}"))
        for k, seed in enumerate(seeds)
    ]
    if shadow is not None:
        jobs.append(shadow)
    for trained, records in _trained(belief, corpus, jobs):
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


def _trained(belief, corpus, jobs):
    """Return the models in the order of their jobs."""
    plan = jobs[0].plan
    if plan.n_shards > 1:
        # The shards of one model occupy all workers.
        return (train_one(belief, corpus, job) for job in jobs)
    if not isinstance(corpus, Corpus) or jobs[0].keeper is not None:
        # Blocks of a corpus and checkpoints belong to this process.
        workers = n_workers(plan.n_jobs, len(jobs))
        threads = Parallel(workers, require="sharedmem", return_as="generator")
        return threads(delayed(train_one)(belief, corpus, job) for job in jobs)
    return _by_workers(belief, corpus, jobs)


def _by_workers(belief, corpus, jobs):
    """Yield the models that workers train; in other processes they map the corpus."""
    with ShardFolder() as folder:
        shared = folder.share(corpus.arrays())
        tasks = [(shared, belief, job) for job in jobs]
        workers = n_workers(jobs[0].plan.n_jobs, len(jobs))
        with Workers(workers, folder, "model") as pool:
            yield from pool.run(train_member, tasks)


def train_member(task):
    """Train one of several models of a shared corpus; return it with its history."""
    shared, belief, job = task
    return train_one(belief, Corpus.from_arrays(shared.open()[1]), job)


def described_training(tagger, plan, data, start, labels, rules, apart=None):
    """Return what a training is about, in few words and short hashes.

    Parameters
    ----------
    tagger : OnlineTagger
        The tagger.
    plan : Plan
        What all passes have in common.
    data : Examples or BlockExamples
        What it learns from.
    start : Belief
        Where it starts.
    labels : list of str
        The labels.
    rules : Rules
        Which of them may follow each other.
    apart : Examples, default=None
        What passes are judged by.

    Returns
    -------
    about : dict of str to str or number
        What differs in another training.
    """
    judging = None if apart is None else apart.digest()
    return {
        **described_learner(tagger),
        "n_shards": plan.n_shards,
        **data.described(),
        "the labels": " ".join(labels),
        "the hash of the sequences to judge by": judging,
        "the hash of the constraints": digest_of(rules.forbidden),
        "the hash of where it starts": digest_of(*start.arrays().values()),
    }
