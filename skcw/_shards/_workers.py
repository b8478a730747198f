"""Give shards to workers, wherever joblib has them, and collect in a fixed order.

What a worker returns depends on its task alone, so a task may run twice: workers that
are lost are replaced by others, and nobody can tell from the result.
"""

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw.exceptions import ShardError

# A task may cost so many workers; then it is the task.
MOST_LOST = 3


class Lost(NamedTuple):
    """Why the engine has not run a task to its end."""

    error: Exception


class Failure(NamedTuple):
    """The error of a task itself, which would fail anywhere."""

    error: Exception


def guarded(function, task):
    """Return what a function returns for a task, or why it fails."""
    try:
        return function(task)
    except Exception as error:
        return Failure(error)


def run_tasks(function, tasks, n_jobs, folder=None, noun="shard"):
    """Yield ``function(task)`` for every task, in their order.

    joblib's backend is what ``joblib.parallel_config`` says, threads by default. If a
    worker is lost, its task and those after it are run again; if that is so once more,
    they are run one by one, which tells whose fault it is.

    Parameters
    ----------
    function : callable
        A function of one task that other processes can import.
    tasks : sequence
        The tasks; each is made when it is asked for.
    n_jobs : int or None
        How many workers, as joblib counts them.
    folder : ShardFolder, default=None
        The folder of the files that are sent along. If one cannot be written, that is
        the error.
    noun : str, default="shard"
        What a task is called in errors.

    Yields
    ------
    result : object
        What the function has returned.

    Examples
    --------
    >>> from skcw._shards._workers import run_tasks
    >>> list(run_tasks(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    n_tasks = len(tasks)
    if effective_n_jobs(n_jobs) == 1:
        for number in range(n_tasks):
            yield function(tasks[number])
        return
    done = lost = 0
    while done < n_tasks:
        # In the end one by one.
        last = n_tasks if lost + 1 < MOST_LOST else done + 1
        for result in _until_lost(function, tasks, range(done, last), n_jobs):
            if isinstance(result, Lost):
                lost += 1
                _check_lost(result.error, lost, folder, f"{noun} {done + 1}")
                break
            if isinstance(result, Failure):
                raise result.error
            yield result
            done += 1


def _check_lost(error, lost, folder, name):
    """Raise if it was no fault of the engine, or happens too often."""
    if folder is not None and folder.error is not None:
        raise folder.error
    if lost == MOST_LOST:
        raise ShardError(
            f"no worker can learn {name}: {lost} were lost in this pass, the last one "
            f"with this {name.split()[0]} alone ({type(error).__name__}: {error}). Its "
            "memory may be short: more shards are smaller"
        ) from error


def _until_lost(function, tasks, numbers, n_jobs):
    """Yield the results in order, and as the last one that a worker was lost."""
    jobs = (delayed(guarded)(function, tasks[number]) for number in numbers)
    try:
        # Errors of tasks come back as results: whatever is raised is the engine's.
        yield from _parallel(n_jobs)(jobs)
    except Exception as error:
        yield Lost(error)


def _parallel(n_jobs):
    """Return joblib's workers, which give results one by one where they can."""
    try:
        return Parallel(n_jobs, prefer="threads", return_as="generator")
    except ValueError:
        # Some engines return everything at once.
        return Parallel(n_jobs, prefer="threads")


class TasksOfAPass:
    """Tasks that are made when they are asked for, and how large they were.

    A task may be made more than once, if a worker is lost; it counts once.

    Parameters
    ----------
    make : callable
        ``make(number)`` returns a task, and the bytes of its arrays.
    n_tasks : int
        How many there are.
    """

    def __init__(self, make, n_tasks):
        self.make = make
        self.sizes = [0] * n_tasks

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, number):
        task, self.sizes[number] = self.make(number)
        return task

    def sent(self):
        """Return the bytes of all tasks."""
        return sum(self.sizes)


def bare_learner(estimator):
    """Return an estimator with nothing but its settings, to be sent to workers.

    Parameters
    ----------
    estimator : object
        The estimator in ``fit``.

    Returns
    -------
    learner : object
        One of the same class with those of its attributes that are numbers, texts or
        None.
    """
    learner = object.__new__(type(estimator))
    learner.__dict__ = {
        name: value
        for name, value in vars(estimator).items()
        if value is None or isinstance(value, (bool, int, float, str, np.generic))
    }
    return learner


def traffic_words(n_shards, sent, returned):
    """Return for the progress line how many bytes have travelled in a pass."""
    return f", {sent / 1e6:.1f} MB to {n_shards} shards, {returned / 1e6:.1f} MB back"
