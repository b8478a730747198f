"""Training of a tagger: passes over sequences, several models at once."""

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

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
    held_out : ndarray of int, default=None
        The sequences to judge by, before they are learned; None for none.
    """

    # A checkpoint may be saved within a pass.
    divisible = True
    SHARE_BEFORE_JUDGED = 0.5

    def __init__(self, belief, corpus, plan, seed, number=None, held_out=None):
        whole, rest, own = corpus.parts(held_out)
        self.views = Views(whole, belief, plan.hiding)
        self.parts = {"all": self.views}
        if held_out is not None:
            self.parts["rest"] = self.views.part(rest)
            self.parts["held_out"] = self.views.part(own, hiding=False)
        self.held_out, self.judge = held_out, None
        self.plan, self.kernel, self.number = plan, plan.kernel, number
        self.expanded, self.n_rows = belief.expanded_for_training()
        self.expanded.unseen = self.views.unseen
        self.rng = np.random.RandomState(seed)

    def take_up(self, part):
        """Go on with a part of the sequences: "all", "rest" or "held_out"."""
        self.views = self.parts[part]

    def judged(self):
        """Return the belief so far, which lacks what was held out."""
        # It is kept until all has been learned, and predicts alone: one table less.
        belief = self.model().with_average_restarted()
        unseen = self.views.unseen_without(self.parts["held_out"])
        return belief.replaced(unseen=unseen)

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
            options = self.plan.options_of(number)
            options = options._replace(order=piece.astype(np.int64))
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
    """One of several models to train, see `SequenceTraining`."""

    plan: Plan
    seed: int
    number: int | None
    held_out: np.ndarray | None
    keeper_of: Any = None


def train_one(belief, corpus, job):
    """Train one of several models; return it, its history, and the belief to judge."""
    training = SequenceTraining(belief, corpus, *job[:-1])
    return *train(training, keeper_of=job.keeper_of), training.judge


def train_models(belief, corpus, plan, seeds, held_out, tasks, keeper_of):
    """Train one model per seed, each on its own shuffle, and average the Gaussians.

    Models are added up in the order of their seeds, so that the result is bit-identical
    for any number of workers. Each is judged by the sequences that `held_out` names for
    it, if any. `keeper_of` gives what saves a phase of a model by its name, such as
    "model-1". Return the mean, the history, and the beliefs that are judged.
    """
    if len(seeds) == 1:
        training = SequenceTraining(belief, corpus, plan, seeds[0], None, held_out[0])
        trained, history = train(training, tasks, _keeper_of(keeper_of, 0))
        return trained, history, [training.judge or trained]
    total, history, judges = BeliefMean(), [], []
    jobs = [
        Job(plan, seed, k, held_out[k], _keeper_of(keeper_of, k))
        for k, seed in enumerate(seeds)
    ]
    for trained, records, judge in _trained(belief, corpus, jobs):
        # Several models train at once: for callbacks a whole model is one task.
        tasks.begin(f"model {total.n + 1}")
        total.add(trained)
        tasks.end(total.result)
        history += records
        judges += [] if judge is None else [judge]
    mean = total.result()
    return mean, history, judges or [mean]


def _keeper_of(keeper_of, k):
    """Return what gives the keepers of one model, by the names of its phases."""
    return keeper_of and (lambda phase: keeper_of(f"{phase}-{k + 1}"))


def _trained(belief, corpus, jobs):
    """Return the models in the order of their jobs."""
    plan = jobs[0].plan
    if plan.n_shards > 1:
        # The shards of one model occupy all workers.
        return (train_one(belief, corpus, job) for job in jobs)
    if not isinstance(corpus, Corpus) or jobs[0].keeper_of is not None:
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
    """Train one of several models of a shared corpus, see `train_one`."""
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
