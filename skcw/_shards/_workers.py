"""Give shards to workers, wherever joblib has them, and collect in a fixed order.

What a worker returns depends on its task alone, so a task may run twice: workers that
are lost are replaced by others, and nobody can tell from the result.
"""

import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw._shards._engines import offer_engines
from skcw.exceptions import ShardError

offer_engines()

# A task may cost so many workers; then it is the task.
MOST_LOST = 3
# How often to look whether an engine has started others, and after how many seconds.
LOOKS, PAUSE = 40, 0.5


class Failure(NamedTuple):
    """The error of a task itself, which would fail anywhere."""

    error: Exception


def guarded(function, task):
    """Return what a function returns for a task, or why it fails."""
    try:
        return function(task)
    except Exception as error:
        return Failure(error)


class Workers:
    """Workers of joblib, wherever they are, for as long as a training lasts.

    joblib's backend is what ``joblib.parallel_config`` says, threads by default. If a
    worker is lost, its task and those after it are run again; if that is so once more,
    they are run one by one, which tells whose fault it is.

    Parameters
    ----------
    n_jobs : int or None
        How many workers, as joblib counts them.
    folder : ShardFolder, default=None
        The folder of the files that are sent along. If one cannot be written, that is
        the error.
    noun : str, default="shard"
        What a task is called in errors.

    Examples
    --------
    >>> from skcw._shards._workers import Workers
    >>> with Workers(n_jobs=2) as workers:
    ...     list(workers.run(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, n_jobs, folder=None, noun="shard"):
        self.n_jobs, self.folder, self.noun = n_jobs, folder, noun
        self.pool = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pool, self.pool = self.pool, None
        if pool is not None:
            # An engine that has lost workers may not even end in order.
            with suppress(Exception):
                pool.__exit__(*error)

    def run(self, function, tasks):
        """Yield ``function(task)`` for every task, in their order.

        Parameters
        ----------
        function : callable
            A function of one task that other processes can import.
        tasks : sequence
            The tasks.

        Yields
        ------
        result : object
            What the function has returned.
        """
        n_tasks = len(tasks)
        # How many workers were lost while the result of this task was waited for.
        done, lost, waiting_for = 0, 0, 0
        while done < n_tasks:
            if done != waiting_for:
                lost, waiting_for = 0, done
            # In the end alone.
            last = n_tasks if lost + 1 < MOST_LOST else done + 1
            results = self._started(function, tasks, range(done, last))
            while done < last:
                try:
                    # Errors of tasks come back as results: these are the engine's.
                    result = next(results)
                except Exception as error:
                    lost = lost + 1 if done == waiting_for else 1
                    waiting_for = done
                    self.__exit__(None, None, None)
                    self._check_lost(error, lost, done + 1)
                    self._wait(done + 1)
                    break
                if isinstance(result, Failure):
                    # Engines do not like to be left in the midst of their work.
                    with suppress(Exception):
                        list(results)
                    raise result.error
                yield result
                done += 1

    def _started(self, function, tasks, numbers):
        """Yield the results in order."""
        jobs = (delayed(guarded)(function, tasks[n]) for n in numbers)
        if self.pool is None:
            self.pool = _parallel(self.n_jobs).__enter__()
        yield from self.pool(jobs)

    def _wait(self, number):
        """Wait until there are workers again; joblib would do without any here."""
        for _ in range(LOOKS):
            time.sleep(PAUSE)
            if effective_n_jobs(self.n_jobs) > 1:
                return
        raise ShardError(
            f"the worker that learnt {self.noun} {number} was lost, and no others have "
            f"come within {LOOKS * PAUSE:g} seconds; see what ended it, and start the "
            "engine again"
        )

    def _check_lost(self, error, lost, number):
        """Raise if it was no fault of the engine, or happens too often."""
        if self.folder is not None and self.folder.error is not None:
            raise self.folder.error
        if lost == MOST_LOST:
            raise ShardError(
                f"no worker can learn {self.noun} {number}: {lost} attempts ended with "
                f"the loss of a worker, the last one with this {self.noun} alone "
                f"({type(error).__name__}: {error}). Its memory may be short: more "
                "shards are smaller"
            ) from error


def _parallel(n_jobs):
    """Return joblib's workers, which give results one by one where they can."""
    try:
        return Parallel(n_jobs, prefer="threads", return_as="generator")
    except ValueError:
        # Some engines return everything at once.
        return Parallel(n_jobs, prefer="threads")


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


class Traffic:
    """How many bytes have travelled in the last pass; nothing does with one shard.

    Parameters
    ----------
    n_shards : int
        The number of shards.
    """

    def __init__(self, n_shards):
        self.n_shards = n_shards
        self.sent = self.returned = 0

    def start(self):
        """Begin a pass."""
        self.sent = self.returned = 0

    def record(self):
        """Return the numbers of the last pass for the history."""
        if self.n_shards == 1:
            return {}
        return {"bytes_sent": self.sent, "bytes_returned": self.returned}

    def words(self):
        """Return the same for the progress line."""
        if self.n_shards == 1:
            return ""
        sent, returned = self.sent / 1e6, self.returned / 1e6
        return f", {sent:.1f} MB for {self.n_shards} shards, {returned:.1f} MB back"
