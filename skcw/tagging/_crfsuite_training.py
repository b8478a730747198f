"""Training with CRFsuite, from parameters and sequences to the bytes of a model."""

import ctypes
import os
import sys
import tempfile
import threading
from numbers import Real

import numpy as np
import pycrfsuite
from pycrfsuite._logparser import TrainLogParser

from skcw.tagging._crfsuite_items import located, read_pairs
from skcw.tagging._inputs import check_sample_weight
from skcw.tagging._memory import items_hash, remembered

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")

# CRFsuite draws from the one generator of the C library: trainings must not mix.
_GENERATOR_LOCK = threading.Lock()


# Our name of each number in the log of an iteration.
_RECORD = {
    "num": "epoch",
    "loss": "loss",
    "feature_norm": "feature_norm",
    "active_features": "active_features",
    "item_accuracy_float": "dev_score",
    "time": "seconds",
}


class QuietTrainer(pycrfsuite.Trainer):
    """A trainer that keeps its log and shows one line an iteration if `verbose`."""

    def message(self, message):
        """Take in one piece of CRFsuite's log."""
        if self.logparser.feed(message) == "iteration" and self.verbose:
            line = _progress(record(self.logparser.last_iteration))
            print(line, file=sys.stderr, flush=True)


def _progress(numbers):
    """Return the numbers of an iteration as the other learners tell theirs."""
    line = [f"pass {numbers.pop('epoch')}"]
    seconds, score = numbers.pop("seconds", None), numbers.pop("dev_score", None)
    line += [f"{name.replace('_', ' ')} {value:g}" for name, value in numbers.items()]
    if score is not None:
        line.append(f"dev accuracy {score:.2%}")
    if seconds is not None:
        line.append(f"{seconds:.2f} s")
    return ", ".join(line)


def record(iteration):
    """Return the numbers of one iteration of the log under our names."""
    return {name: iteration[key] for key, name in _RECORD.items() if key in iteration}


def parse_log(messages):
    """Return python-crfsuite's view of the pieces of a log."""
    parser = TrainLogParser()
    for message in messages:
        parser.feed(message)
    return parser


def make_trainer(algorithm, params, verbose):
    """Return a trainer with the given parameters, under CRFsuite's own names.

    CRFsuite itself takes a number that it cannot read for zero, so the values are
    checked here.
    """
    trainer = QuietTrainer(algorithm=algorithm, verbose=verbose)
    known = trainer.params()
    for name, value in params.items():
        if name not in known:
            raise ValueError(
                f"algorithm={algorithm!r} has no parameter {name!r}; it has "
                f"{', '.join(known)}"
            )
        is_number = isinstance(value, Real) and np.isfinite(float(value))
        if not is_number and name != "linesearch":
            raise ValueError(f"{name} must be a finite number, got {value!r}")
        trainer.set(name, bool(value) if isinstance(value, np.bool_) else value)
    return trainer


def minimum_frequency(min_freq):
    """Return CRFsuite's threshold, at which 0 keeps every feature.

    CRFsuite compares the sum of a feature's values, which may be negative: its own 0
    would drop those features without a word.
    """
    return min_freq if min_freq > 0 else -sys.float_info.max


def train(trainer, *, holdout, seed):
    """Run the training and return the model as bytes; no file is left.

    Parameters
    ----------
    trainer : QuietTrainer
    holdout : bool
        Whether group 1 of the appended sequences is held out.
    seed : int or None
        Seed of the C library's generator; None leaves it as it is.
    """
    with tempfile.TemporaryDirectory(prefix="skcw-") as folder, _GENERATOR_LOCK:
        path = os.path.join(folder, "model")
        if seed is not None:
            _seed_c_library(seed)
        trainer.train(path, holdout=1 if holdout else -1)
        with open(path, "rb") as file:
            return file.read()


def _seed_c_library(seed):
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    library.srand(ctypes.c_uint(seed))


def copies(sample_weight):
    """Return sample weights as numbers of copies; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    weight = check_sample_weight(weight, weight.size)
    if weight is None:
        return [1] * len(sample_weight)
    whole = weight == np.floor(weight)
    if not whole.all():
        at = np.flatnonzero(~whole)[0]
        raise ValueError(
            f"sample_weight of sequence {at} is {weight[at]}; CRFsuite knows no "
            "weights, so they are numbers of copies: whole and not negative"
        )
    return weight.astype(np.int64).tolist()


def append_training(trainer, reader, X, y, counts):
    """Give the training data to CRFsuite; return the labels and what to remember.

    Parameters
    ----------
    counts : list of int or None
        How many copies of each sequence to give; None stands for one.
    """
    classes, hashes, n_sequences = set(), [], 0
    for index, tokens, labels in read_pairs(X, y, reader):
        n_sequences += 1
        count = 1 if counts is None else counts[index] if index < len(counts) else 0
        # An empty sequence teaches nothing, and CRFsuite is not made for it.
        if tokens and count:
            classes.update(labels)
            hashes.append(items_hash(tokens))
            with located(index):
                for _ in range(count):
                    trainer.append(tokens, labels)
    if counts is not None and len(counts) != n_sequences:
        raise ValueError(
            f"sample_weight has the shape ({len(counts)},); one weight for each of the "
            f"{n_sequences} sequences is needed"
        )
    if not classes:
        raise ValueError("there is nothing to learn from: X has no token")
    return classes, remembered(hashes)


def append_held_out(trainer, reader, X, y, classes):
    """Give CRFsuite the held-out sequences whose labels are all among `classes`.

    A new label would become part of the model and change its probabilities.
    """
    for index, tokens, labels in read_pairs(X, y, reader):
        if tokens and classes.issuperset(labels):
            with located(index):
                trainer.append(tokens, labels, 1)
