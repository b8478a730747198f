"""Training with CRFsuite."""

import ctypes
import os
import sys
import tempfile
import threading
from contextlib import contextmanager
from itertools import pairwise
from numbers import Real

import numpy as np
import pycrfsuite

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
    """A trainer that keeps its log and shows a line per iteration if `verbose`."""

    def message(self, message):
        """Take in one piece of CRFsuite's log."""
        if self.logparser.feed(message) == "iteration" and self.verbose:
            line = _progress(record(self.logparser.last_iteration))
            print(line, file=sys.stderr, flush=True)

    def history(self):
        """Return the numbers of every iteration under our names."""
        return [record(iteration) for iteration in self.logparser.iterations]


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


def minimum_frequency(min_count):
    """Return CRFsuite's threshold, at which 0 keeps every feature.

    CRFsuite compares the sum of a feature's values, which may be negative: its own 0
    would silently drop those features.
    """
    return min_count if min_count > 0 else -sys.float_info.max


def append(trainer, batch, rows, copies=None, group=0):
    """Give sequences to CRFsuite.

    Parameters
    ----------
    trainer : QuietTrainer
        The trainer.
    batch : SequenceBatch
        The sequences.
    rows : list of list of str
        Their labels; None leaves a sequence out.
    copies : ndarray of int64, default=None
        How often to give each sequence; None stands for once.
    group : int, default=0
        1 for sequences that are held out.
    """
    for s, (tokens, labels) in enumerate(zip(_items(batch), rows, strict=True)):
        # CRFsuite cannot take empty sequences, which teach nothing.
        if labels and tokens:
            with _located(s):
                for _ in range(1 if copies is None else copies[s]):
                    trainer.append(tokens, labels, group)


def _items(batch):
    """Yield the tokens of each sequence as lists of names, or as dicts of values."""
    batch = batch._compact()
    names = batch._names()
    ends = batch.indptr
    for first, last in pairwise(batch.offsets.tolist()):
        low, high = int(ends[first]), int(ends[last])
        entries = [names[i] for i in batch.indices[low:high].tolist()]
        cuts = (ends[first : last + 1] - low).tolist()
        if batch.values is None:
            yield [entries[a:b] for a, b in pairwise(cuts)]
        else:
            values = batch.values[low:high].tolist()
            yield [_summed(entries[a:b], values[a:b]) for a, b in pairwise(cuts)]


def _summed(names, values):
    """Return the value of each name; one that occurs twice counts twice."""
    total = {}
    for name, value in zip(names, values, strict=True):
        total[name] = total.get(name, 0.0) + value
    return total


@contextmanager
def _located(s):
    """Name the sequence in errors that come out of CRFsuite's own reading."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise ValueError(f"sequence {s} cannot be read by CRFsuite: {error}") from error


def check_names(names, what):
    """Raise at a label or a feature that CRFsuite would cut or could not read.

    Parameters
    ----------
    names : iterable of str
        The names.
    what : str
        What they are called.
    """
    for name in names:
        if "\0" in name:
            raise ValueError(
                f"there is a {what} {name!r}; CRFsuite cannot store a NUL character"
            )
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"there is a {what} {name!r}, which is no text: half of a surrogate "
                "pair cannot be written as UTF-8"
            ) from None


def numbers_of_copies(weight):
    """Return sample weights as numbers of copies; None stays None."""
    if weight is None:
        return None
    parts = np.flatnonzero(weight != np.floor(weight))
    if len(parts):
        raise ValueError(
            f"sample_weight[{parts[0]}] is {weight[parts[0]]}; for CRFsuite a weight "
            "is a number of copies, so it must be whole"
        )
    return weight.astype(np.int64)


def train(trainer, *, holdout, seed):
    """Run the training and return the model as bytes; no file is left.

    Parameters
    ----------
    trainer : QuietTrainer
        With all sequences appended.
    holdout : bool
        Whether group 1 of the appended sequences is held out.
    seed : int or None
        Seed of the C library's generator; None leaves it as it is.

    Returns
    -------
    model : bytes
        What CRFsuite writes into a file.
    """
    with tempfile.TemporaryDirectory(prefix="skcw-") as folder, _GENERATOR_LOCK:
        path = os.path.join(folder, "model")
        if seed is not None:
            library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
            library.srand(ctypes.c_uint(seed))
        trainer.train(path, holdout=1 if holdout else -1)
        with open(path, "rb") as file:
            return file.read()


class OpenedTagger(pycrfsuite.Tagger):
    """CRFsuite's own tagger with the bytes of a model, which it keeps alive.

    CRFsuite reads them where they are whenever it tags.
    """

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.open_inmemory(model)
