"""Vowpal Wabbit as a tagger and as a classifier, from its lines of text.

It comes with ``pip install 'skcw[benchmark]'``; `installed` tells whether it is there.
Lines are written to a file, which counts as its encoding; learning reads that file, and
keeps it in a cache of its own from the second pass on.
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

# As many weights as the features and labels of our sets need without colliding much.
BITS = 24
# What a line uses as signs, and what stands for it in the name of a feature.
SIGNS = str.maketrans({":": "\N{RATIO}", "|": "\N{DIVIDES}", " ": "_", "\n": "_"})


def installed():
    """Return whether Vowpal Wabbit can be used."""
    return find_spec("vowpalwabbit") is not None


def token_line(features, label=None):
    """Return the line of a token: the number of its label, and its features."""
    # Joined first: one translation of a line is faster than one of each feature.
    names = "\t".join(features).translate(SIGNS).replace("\t", " ")
    return f"{'' if label is None else label} | {names}\n"


def row_line(names, values, label=None):
    """Return the line of a row: a value of one goes without saying."""
    if np.all(values == 1):
        shown = " ".join(names)
    else:
        pairs = zip(names, values.tolist(), strict=True)
        shown = " ".join(f"{name}:{value:.6g}" for name, value in pairs)
    return f"{'' if label is None else label} | {shown}\n"


class _Vowpal:
    """What both have in common: files, options, and the two halves of a fit."""

    def __init__(self, passes=1, rate=0.5, **options):
        self.options = {"passes": passes, "learning_rate": rate, **options}

    def write(self, X, y):
        """Write the lines to learn from: the encoding."""
        self._folder = tempfile.TemporaryDirectory(prefix="vowpal-")
        self.classes = np.unique(np.concatenate([np.ravel(labels) for labels in y]))
        numbers = {label: 1 + i for i, label in enumerate(self.classes.tolist())}
        self._write(self._file("train"), X, self._numbers(y, numbers))
        return self

    def train(self):
        """Learn from the lines that were written."""
        given = {"bit_precision": BITS, **self._task(), **self.options}
        options = [f"--{name}={value}" for name, value in given.items()]
        files = ["--data", self._file("train"), "--cache_file", self._file("cache")]
        _run([*options, "--holdout_off", *files, "--final_regressor", self._model])
        return self

    def fit(self, X, y):
        """Write and train."""
        return self.write(X, y).train()

    def predict(self, X):
        """Return the labels, writing lines and reading what comes back."""
        lines, answers = self._file("test"), self._file("answers")
        self._write(lines, X)
        files = ["--data", lines, "--predictions", answers]
        _run(["--testonly", *files, "--initial_regressor", self._model])
        told = Path(answers).read_text("utf-8").splitlines()
        return self._read(told)

    @property
    def _model(self):
        return self._file("model")

    def _file(self, name):
        return str(Path(self._folder.name) / name)


class VowpalTagger(_Vowpal):
    """Learning to search, one label after the other.

    The loss of a labeling is the sum of that of its labels, so that rolling out the
    rest of a sentence tells nothing that the label itself does not: left out, learning
    takes less time and finds the same labels.
    """

    def _task(self):
        n_labels = len(self.classes)
        task = {"search": n_labels, "search_task": "sequence"}
        return {**task, "search_rollout": "none"}

    @staticmethod
    def _numbers(y, numbers):
        return [[numbers[label] for label in labels] for labels in y]

    @staticmethod
    def _write(path, X, y=None):
        with Path(path).open("w", encoding="utf-8") as file:
            for i, sentence in enumerate(X):
                labels = [None] * len(sentence) if y is None else y[i]
                file.writelines(map(token_line, sentence, labels))
                file.write("\n")

    def _read(self, told):
        classes = [None, *self.classes.tolist()]
        return [[classes[int(float(k))] for k in line.split()] for line in told if line]


class VowpalClassifier(_Vowpal):
    """One scorer against all the rest for each class."""

    def _task(self):
        return {"oaa": len(self.classes)}

    @staticmethod
    def _numbers(y, numbers):
        return [numbers[label] for label in y.tolist()]

    @staticmethod
    def _write(path, X, y=None):
        # It learns in the order of the lines: rows sorted by class would mislead it.
        order = np.arange(X.shape[0])
        if y is not None:
            np.random.RandomState(0).shuffle(order)
        names = np.arange(X.shape[1]).astype(str).astype(object)
        with Path(path).open("w", encoding="utf-8") as file:
            for i in order:
                row = slice(X.indptr[i], X.indptr[i + 1])
                label = None if y is None else y[i]
                file.write(row_line(names[X.indices[row]], X.data[row], label))

    def _read(self, told):
        return self.classes[[int(float(line.split()[0])) - 1 for line in told]]


def _run(options):
    from vowpalwabbit import Workspace

    # What is asked for happens as it is made, reading the file to its end.
    Workspace(arg_list=["--quiet", *options]).finish()
