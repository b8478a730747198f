"""Training: passes over the data until there are enough, for sequences and for rows."""

import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

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
        >>> from skcw._model.training import Stopping
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
    "tol": (Real, lambda x: 0 <= x < 1e300, "a number of at least 0"),
}


@dataclass
class Plan:
    """What all passes of a training have in common.

    Parameters
    ----------
    kernel : callable
        The compiled pass, bound to the learner's own parameters.
    options : PassOptions or None
        What passes over sequences are given besides, their order excepted.
    max_iter : int
        The maximum number of passes.
    shuffle : bool
        Whether each pass has an order of its own.
    stopping : Stopping
        When to end early.
    verbose : int, default=0
        Above 0, one line per pass is printed to standard error.
    dev_score, dev_metric : callable or None, str
        The score of a model to maximize, and its name.
    n_shards, n_jobs : int
        How many shards are learned side by side, and by how many workers.
    hiding : bool
        Whether to learn about unknown tokens by hiding some.
    label_score : callable or None
        ``label_score(gold, guess, offsets)`` judges codes of labels.
    linear_average : bool
        Whether pass k counts k times in the average of the weights.
    """

    kernel: Any
    options: Any
    max_iter: int
    shuffle: bool
    stopping: Stopping
    verbose: int = 0
    dev_score: Any = None
    dev_metric: str = "accuracy"
    n_shards: int = 1
    n_jobs: int | None = None
    hiding: bool = False
    label_score: Any = None
    linear_average: bool = False

    def options_of(self, number):
        """Return the options of a pass; the first has the number 0."""
        weight = number + 1.0 if self.linear_average else 1.0
        return self.options._replace(round_weight=weight)


# To judge confidence by more rows or words than these would make it slower, not better.
FEWEST_TO_JUDGE, MOST_TO_JUDGE = 600, 6000


def size_to_judge(size):
    """Return by how many of so many rows or words to judge a training."""
    return min(max(size // 16, FEWEST_TO_JUDGE), MOST_TO_JUDGE)


class Phase(NamedTuple):
    """Passes over one part of the data: all of it, or what is held out, or the rest.

    ``name`` is what its checkpoints are called; ``first`` and ``last`` are the passes
    between which it lies. ``counts`` is False for what only catches up with others.
    """

    name: str
    first: int
    last: int
    counts: bool = True


def phases(training):
    """Yield the phases of a training that is judged by data that it has not yet seen.

    It first makes some passes over the rest. Then it is judged by what was held out,
    and learns that as many times, before the other passes learn everything. So there is
    no second model, and everything is presented as often as without a judgment.
    """
    last = training.plan.max_iter
    if training.held_out is None:
        yield Phase("model", 0, last)
        return
    first = max(1, int(training.SHARE_BEFORE_JUDGED * last))
    training.take_up("rest")
    yield Phase("rest", 0, first)
    training.judge = training.judged()
    training.take_up("held_out")
    yield Phase("held", 0, first, counts=False)
    training.take_up("all")
    yield Phase("model", first, last)


def train(training, tasks=None, keeper_of=None):
    """Make the passes of a training; return the best model (or the last) and history.

    Parameters
    ----------
    training : SequenceTraining or RowTraining
        Draws the ``order()`` of each pass, gives it to the kernel in ``pieces``, takes
        what the kernel has done, and gives the ``model()`` so far.
    tasks : PassTasks, default=None
        Informs scikit-learn's callbacks.
    keeper_of : callable, default=None
        ``keeper_of(name)`` gives what saves a phase now and then.

    Returns
    -------
    model : Belief or TableBelief
        What was learned.
    history : list of dict
        A record for each pass.
    """
    plan, history, stopped = training.plan, [], False
    for phase in phases(training):
        if stopped and phase.counts:
            break
        monitor = Monitor(plan, phase, training.number)
        keeper = keeper_of and keeper_of(phase.name)
        watched = tasks if phase.counts else None
        # What only catches up is little.
        alone = plan.n_shards == 1 or not phase.counts
        with nullcontext(training) if alone else training.sharded() as learner:
            n_words = None if keeper is None else keeper.resume(learner, monitor)
            while not monitor.is_over:
                number = phase.first + len(monitor.history)
                if watched is not None:
                    watched.begin(f"pass {number + 1}")
                order = learner.order()
                given = number, order, monitor.presented, n_words
                for size, arguments in learner.pieces(*given):
                    found = learner.take(size, *learner.kernel(*arguments))
                    monitor.end_piece(size, found)
                    if keeper is not None:
                        keeper.end_piece(learner, monitor)
                monitor.end_pass(*learner.report(monitor.found), learner.model)
                if watched is not None:
                    stopped = bool(watched.end(learner.model))
                    monitor.is_over |= stopped
                if keeper is not None:
                    keeper.end_pass(learner, monitor)
        if phase.counts:
            history += monitor.history
    return training.result(monitor.best), history


class Monitor:
    """Keep the history, show progress, and remember the best pass.

    Parameters
    ----------
    plan : Plan
        What all passes have in common.
    phase : Phase
        Which passes to make.
    number : int, default=None
        Which of several models is trained.

    Examples
    --------
    >>> from skcw._model.training import Monitor, Phase, Plan, Stopping
    >>> scores = [0.5, 0.7, 0.6, 0.7]
    >>> plan = Plan(None, None, 5, False, Stopping(n_iter_no_change=2, tol=0.0))
    >>> plan.dev_score = lambda model: scores[model]
    >>> monitor = Monitor(plan, Phase("model", 0, 5))
    >>> while not monitor.is_over:
    ...     monitor.end_pass({}, "", lambda: len(monitor.history))
    >>> [record["dev_score"] for record in monitor.history]
    [0.5, 0.7, 0.6, 0.7]
    """

    def __init__(self, plan, phase, number=None):
        self.plan, self.phase = plan, phase
        self.title = "" if number is None else f"model {number + 1}, "
        self.history = []
        self.best = None
        self.best_score = -np.inf
        # Passes since the last gain.
        self.idle = 0
        self.is_over = phase.first == phase.last
        # Of the pass at hand: what was presented, and what was wrong in it.
        self.presented, self.found = 0, 0
        self.clock = time.perf_counter()

    def end_piece(self, size, found):
        """Count what a piece of a pass has presented, and what it has found."""
        self.presented += size
        self.found = self.found + found

    def end_pass(self, found, words, model):
        """Record a pass, and tell whether it was the last one by ``is_over``.

        Parameters
        ----------
        found : dict
            What the pass found, for the history.
        words : str
            The same in words, for the progress line.
        model : callable
            Gives a copy of the model.
        """
        plan = self.plan
        epoch = self.phase.first + len(self.history) + 1
        record = {"epoch": epoch, **found}
        if plan.dev_score is not None and self.phase.name == "model":
            # A pass that leaves something out can neither be the best nor the last.
            record["dev_score"] = self._remember(model())
            record["dev_metric"] = plan.dev_metric
        record["seconds"] = time.perf_counter() - self.clock
        self.history.append(record)
        if plan.verbose and self.phase.counts:
            self._report(record, words)
        self.presented, self.found = 0, 0
        self.clock = time.perf_counter()
        idle = self.idle >= plan.stopping.n_iter_no_change
        self.is_over = idle or epoch == self.phase.last

    def _remember(self, model):
        score = float(self.plan.dev_score(model))
        # Small gains keep the better pass but do not buy more passes.
        gain = score > self.best_score + self.plan.stopping.tol
        self.idle = 0 if gain else self.idle + 1
        if score > self.best_score:
            self.best, self.best_score = model, score
        return score

    def _report(self, record, words):
        line = f"{self.title}pass {record['epoch']}/{self.plan.max_iter}: {words}"
        if "dev_score" in record:
            line += f", dev {self.plan.dev_metric} {record['dev_score']:.2%}"
        # In one piece: print() writes the line break by itself, and Ctrl-C may come
        # between the two.
        sys.stderr.write(f"{line}, {record['seconds']:.2f} s\n")
        sys.stderr.flush()


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
