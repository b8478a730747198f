"""What watches a training: history, early stopping, scikit-learn's callbacks."""

import sys
import time
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np


class Stopping(NamedTuple):
    """When a training ends early; the parameter ``early_stopping`` sets its fields.

    Parameters
    ----------
    validation_fraction : float
        The share of the data that is held out.
    n_iter_no_change : int
        Passes without gain after which to stop.
    tol : float
        The smallest gain that counts as an improvement.
    """

    validation_fraction: float = 0.1
    n_iter_no_change: int = 3
    tol: float = 1e-4

    @classmethod
    def of(cls, early_stopping):
        """Return what the parameter sets; raise if a key or its value is not possible.

        Examples
        --------
        >>> from skcw._model.monitor import Stopping
        >>> Stopping.of({"n_iter_no_change": 5}).n_iter_no_change
        5
        """
        if not isinstance(early_stopping, dict):
            return cls()
        for key, value in early_stopping.items():
            kind, fits, rule = RULES_OF_STOPPING.get(key, (None, None, None))
            if kind is None:
                raise ValueError(
                    f"early_stopping has the key {key!r}; it may have "
                    f"{', '.join(cls._fields)}"
                )
            if not isinstance(value, kind) or not fits(value):
                raise ValueError(
                    f"early_stopping[{key!r}] must be {rule}, got {value!r}"
                )
        return cls(**early_stopping)


RULES_OF_STOPPING = {
    "validation_fraction": (Real, lambda x: 0 < x < 1, "a number between 0 and 1"),
    "n_iter_no_change": (Integral, lambda x: x >= 1, "an integer of at least 1"),
    "tol": (Real, lambda x: x >= 0, "a number of at least 0"),
}


class Monitor:
    """Keep the history, show progress, and remember the best pass.

    Parameters
    ----------
    max_iter : int
        The maximum number of passes.
    stopping : Stopping
        When to stop.
    verbose : int
        Above 0, one line per pass is printed to standard error.
    common : dict
        What every record of the history begins with.
    title : str, default=""
        What every line begins with.
    metric : str, default="accuracy"
        What the score on held-out data is.

    Examples
    --------
    >>> from skcw._model.monitor import Monitor, Stopping
    >>> monitor = Monitor(5, Stopping(n_iter_no_change=2, tol=0.0))
    >>> scores = iter([0.5, 0.7, 0.6, 0.7])
    >>> while not monitor.end_pass({}, "", lambda: ("model", next(scores))):
    ...     pass
    >>> [record["dev_score"] for record in monitor.history]
    [0.5, 0.7, 0.6, 0.7]
    """

    def __init__(
        self,
        max_iter,
        stopping,
        verbose=0,
        common=None,
        title="",
        metric="accuracy",
    ):
        self.max_iter = max_iter
        self.stopping = stopping
        self.verbose = verbose
        self.common = common or {}
        self.title = title
        self.metric = metric
        self.history = []
        self.best = None
        self.best_score = -np.inf
        self.idle = 0
        self.clock = time.perf_counter()

    def end_pass(self, found, words, judge=None):
        """Record a pass; return whether to stop.

        Parameters
        ----------
        found : dict
            What the pass found, for the history.
        words : str
            The same in words, for the progress line.
        judge : callable, default=None
            Gives (a copy of the model, its score on held-out data).

        Returns
        -------
        stop : bool
            Whether the score has not risen for long enough.
        """
        record = {**self.common, "epoch": len(self.history) + 1, **found}
        if judge is not None:
            record["dev_score"] = self._remember(*judge())
            record["dev_metric"] = self.metric
        record["seconds"] = time.perf_counter() - self.clock
        self.history.append(record)
        if self.verbose:
            self._report(record, words)
        self.clock = time.perf_counter()
        return self.idle >= self.stopping.n_iter_no_change

    def _remember(self, model, score):
        score = float(score)
        # Small gains keep the better pass but do not buy more passes.
        self.idle = 0 if score > self.best_score + self.stopping.tol else self.idle + 1
        if score > self.best_score:
            self.best, self.best_score = model, score
        return score

    def _report(self, record, words):
        line = f"{self.title}pass {record['epoch']}/{self.max_iter}: {words}"
        if "dev_score" in record:
            line += f", dev {self.metric} {record['dev_score']:.2%}"
        # In one piece: print() writes the line break by itself, and Ctrl-C may come
        # between the two.
        sys.stderr.write(f"{line}, {record['seconds']:.2f} s\n")
        sys.stderr.flush()


def without_seconds(history):
    """Return a history without times, so that equal trainings make equal files.

    Parameters
    ----------
    history : list of dict
        A record for each pass.

    Returns
    -------
    history : list of dict
        The same without "seconds".

    Examples
    --------
    >>> from skcw._model.monitor import without_seconds
    >>> without_seconds([{"epoch": 1, "seconds": 0.3}])
    [{'epoch': 1}]
    """
    return [{k: v for k, v in record.items() if k != "seconds"} for record in history]


class PassTasks:
    """Tell the callbacks of an estimator when a pass begins and ends.

    ``ProgressBar`` then shows the passes, ``ScoringMonitor`` scores each of them, and
    a callback may stop the training.

    Parameters
    ----------
    estimator : object
        The estimator in ``fit``.
    X, y : sequences
        The training data.
    n_tasks : int
        The maximum number of passes.
    fitted : callable
        Turns a belief into the attributes of a fitted estimator.
    """

    def __init__(self, estimator, X, y, n_tasks, fitted):
        self.root = None
        self.fitted = fitted
        self.about = {"estimator": estimator, "X": X, "y": y}
        if hasattr(estimator, "_init_callback_context"):
            self.root = estimator._init_callback_context(max_subtasks=n_tasks)
            self.root.call_on_fit_task_begin(**self.about)

    def begin(self, name):
        """Begin a pass."""
        if self.root is not None:
            self.task = self.root.subcontext(task_name=name)
            self.task.call_on_fit_task_begin(**self.about)

    def end(self, belief):
        """End a pass; ``belief()`` gives its result. Return whether to stop."""
        return self.root is not None and self.task.call_on_fit_task_end(
            **self.about, reconstruction_attributes=lambda: self.fitted(belief())
        )

    def finish(self, belief):
        """End the training."""
        if self.root is not None:
            self.root.call_on_fit_task_end(
                **self.about, reconstruction_attributes=lambda: self.fitted(belief)
            )
