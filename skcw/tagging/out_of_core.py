"""Training out of core, and what a checkpoint is of."""

import re
from contextlib import contextmanager
from numbers import Integral
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.utils import check_random_state

from skcw._model.blocks import BlockCorpus, Summary, violations
from skcw._model.checkpoint import described_learner, digest_of, keeping
from skcw._model.examples import (
    rules_of,
    token_costs,
    warn_of_faults,
    warn_of_outside,
)
from skcw._model.sequence_training import train_models
from skcw._model.spilling import Budget, Spiller
from skcw._model.training import PassTasks
from skcw.confidence.fitting import words_to_judge
from skcw.data.batch import SequenceBatch
from skcw.tagging.judges import FEWEST_WORDS, Judges


def described_training(tagger, plan, data, start, labels, rules, apart=None):
    """Return what a training is about, in few words and short hashes.

    Parameters
    ----------
    tagger : OnlineTagger
        The tagger.
    plan : Plan
        What all passes have in common.
    data : Examples
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
    return {
        **described_learner(tagger),
        "n_shards": plan.n_shards,
        "the number of sequences": len(data.batch),
        "the number of words": data.batch.n_tokens,
        "the number of features": data.batch.n_features,
        "the hash of the features": data.batch.fingerprint,
        "the labels": " ".join(labels),
        "the hash of the sequences": digest_of_examples(data),
        "the hash of the sequences to judge by": digest_of_examples(apart),
        "the hash of the constraints": digest_of(rules.forbidden),
        "the hash of where it starts": digest_of(*start.arrays().values()),
    }


def digest_of_examples(data=None):
    """Return a short hash of sequences, labels and weights; None if there are none."""
    if data is None:
        return None
    batch = data.batch._compact()
    arrays = (batch.offsets, batch.indptr, batch.indices, batch.values)
    return digest_of(*arrays, data.codes, data.weight)


_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
LEAST_MEMORY = 1 << 20


def bytes_of(memory):
    """Return the number of bytes that a size such as "2G" stands for.

    Parameters
    ----------
    memory : int or str
        A number of bytes, or a number and K, M, G or T.

    Returns
    -------
    n_bytes : int
        The bytes.

    Examples
    --------
    >>> from skcw.tagging.out_of_core import bytes_of
    >>> bytes_of("1.5M")
    1572864
    """
    found = re.fullmatch(
        r"(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?", str(memory).strip().upper()
    )
    if isinstance(memory, bool) or found is None:
        raise ValueError(
            f"memory is {memory!r}; it must be a number of bytes, or a size such as "
            "'500M' or '2G'"
        )
    n_bytes = int(float(found[1]) * _UNITS.get(found[2], 1))
    if n_bytes < LEAST_MEMORY:
        raise ValueError(f"memory is {memory!r}; at least 1M is needed")
    return n_bytes


@contextmanager
def spilled(source, tagger, learn, memory, max_features, min_count, folder):
    """Give a corpus in encoded blocks on disk, which are removed in the end.

    Parameters
    ----------
    source : callable or iterable
        Pairs of sequences and labels, or what returns them.
    tagger : OnlineTagger
        Who is going to learn.
    learn : callable
        ``learn(X, vocabulary)`` encodes sequences.
    memory : int or str
        How much memory may be used.
    max_features : int or None
        The most features to keep.
    min_count : int
        How often a feature must occur.
    folder : str, path-like or None
        Where to make a folder for the blocks; None is that of temporary files.

    Yields
    ------
    spilled : Spilled
        The corpus.
    """
    if max_features is not None and (
        not isinstance(max_features, Integral) or max_features < 1
    ):
        raise ValueError(f"max_features is {max_features!r}; it must be 1 or more")
    budget = Budget(bytes_of(memory), max_features, min_count)
    parts = source() if callable(source) else source
    if isinstance(parts, (str, bytes, dict)) or not hasattr(parts, "__iter__"):
        raise TypeError(
            f"the source gives a {type(parts).__name__}; it must be a function that "
            "returns an iterator of pairs (X, y): some sequences and their labels"
        )
    with TemporaryDirectory(prefix="skcw-", dir=folder) as place:
        spiller = Spiller(place, budget, learn, tagger.dtype)
        for number, part in enumerate(parts):
            if not isinstance(part, (tuple, list)) or len(part) != 2:
                raise TypeError(
                    f"part {number} of the source is a {type(part).__name__}; it must "
                    "be a pair (X, y): some sequences and their labels"
                )
            try:
                spiller.add(*part)
            except (TypeError, ValueError) as error:
                error.add_note(f"This is about part {number} of the source.")
                raise
        yield spiller.finish()._replace(folder=folder)


def check_streamable(tagger, dev=None):
    """Raise if a tagger asks for what needs all sequences at once."""
    if tagger.early_stopping is not False and dev is None:
        raise ValueError(
            "early_stopping would hold out a share of a corpus that is not in memory; "
            "give X_dev and y_dev instead"
        )
    if tagger.warm_start:
        raise ValueError("fit_stream starts anew; set warm_start to False")


def learn_spilled(tagger, spilled, dev=None, n_shards=1, checkpoint=None):
    """Fit a tagger to a corpus in blocks.

    Parameters
    ----------
    tagger : OnlineTagger
        The tagger, which is changed.
    spilled : Spilled
        The corpus.
    dev : tuple, default=None
        Sequences and labels to judge each pass by.
    n_shards : int, default=1
        How many shards to learn side by side.
    checkpoint : Checkpoint, default=None
        Where to save the training.
    """
    labels, vocabulary = spilled.labels, spilled.vocabulary
    summary = Summary.of(spilled)
    rules = rules_of(tagger, labels, summary.faults, tagger.dtype)
    warn_of_outside(labels, 6)
    if tagger.constraints != "auto":
        warn_of_faults(*violations(spilled, rules.forbidden), 6)
    rng = check_random_state(tagger.random_state)
    seeds = rng.randint(np.iinfo(np.int32).max, size=tagger.n_models)
    # Knows the features, and holds no sequence.
    nothing = SequenceBatch([0], [0], [], None, spilled.n_features, vocabulary)

    def fitted(belief):
        return tagger._fitted(belief, vocabulary, labels, rules.forbidden)

    n_tasks = tagger.max_iter if tagger.n_models == 1 else tagger.n_models
    tasks = PassTasks(tagger, nothing, [], n_tasks, fitted)
    costs = token_costs(tagger.class_weight, labels, summary.label_counts, False)
    plan = tagger._plan(tagger.max_iter, costs, rules, labels, n_shards)
    new = () if dev is None else tagger._dev_set(*dev, nothing, labels)
    if new:
        plan.dev_score = tagger._dev_scorer(plan, *new)
    start = tagger._starting_belief(nothing, len(labels), True)
    corpus = BlockCorpus(spilled, start, tagger._cost_grows_with_features)
    judges, asked = _judges(tagger, corpus, summary, seeds, new)
    with keeping(
        checkpoint,
        tagger,
        lambda: _described(tagger, plan, spilled, summary, rules, new),
    ) as keeper_of:
        belief, history, judging = train_models(
            start, corpus, plan, seeds, judges, tasks, keeper_of
        )
    belief = belief.with_average_restarted()
    known = {"token_norm_": summary.token_norm}
    sure = tagger._confidence_settings(judges, judging, belief, asked, rules, known)
    tagger._keep(fitted(belief) | rules.attributes() | sure)
    tagger.history_ = history
    tagger.n_iter_ = max(record["epoch"] for record in history)
    tagger.training_hashes_ = summary.hashes
    tasks.finish(belief)


def _judges(tagger, corpus, summary, seeds, new):
    """Return who judges confidence, and the sequences that they are asked about."""
    everything = [None] * len(seeds)
    if not tagger.calibrate_confidence:
        return Judges("off", everything, []), None
    n_words = words_to_judge(summary.n_words)
    if new and new[0].batch.n_tokens >= FEWEST_WORDS:
        return Judges("dev", everything, [], n_words), new[0]
    shadow = corpus.without_share(seeds[0])
    asked = shadow.unseen_examples(n_words)
    if asked.batch.n_tokens < FEWEST_WORDS:
        return Judges("rule", everything, []), None
    return Judges("shadow", [*everything, shadow], [], n_words), asked


def _described(tagger, plan, spilled, summary, rules, new):
    """Return what the training is about; checkpoints of another one are refused."""
    return {
        **described_learner(tagger),
        "n_shards": plan.n_shards,
        "the number of sequences": sum(b.n_sequences for b in spilled.blocks),
        "the number of words": summary.n_words,
        "the number of features": spilled.n_features,
        "the number of blocks": len(spilled.blocks),
        "the labels": " ".join(spilled.labels),
        "the hash of the sequences": digest_of(
            np.frombuffer(summary.digests.encode(), dtype=np.uint8)
        ),
        "the hash of the sequences to judge by": digest_of_examples(*new[:1]),
        "the hash of the constraints": digest_of(rules.forbidden),
    }
