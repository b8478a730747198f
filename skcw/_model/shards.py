"""Shards: files that workers map, and the workers of joblib that learn them."""

import os
import shutil
import tempfile
import time
from collections import OrderedDict
from contextlib import suppress
from functools import cached_property
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcw._model.mixing import n_merges
from skcw._util.compat import get_active_backend, watched_dask
from skcw.exceptions import ModelFileError, ShardError
from skcw.io.model_files import read_model, stored_checksum, write_model

# joblib's backends, by class, that workers use in another form: engine by engine.
ENGINES = {"DaskDistributedBackend": watched_dask}


def engine_in_force():
    """Return joblib's active backend in the form that `Workers` need, or None."""
    backend, _ = get_active_backend()
    stand_in = ENGINES.get(type(backend).__name__)
    return None if stand_in is None else stand_in(backend)


def checked_n_shards(n_shards):
    """Return a number of shards; raise at what is none."""
    if not isinstance(n_shards, Integral) or n_shards < 1:
        raise ValueError(f"n_shards must be a positive integer, got {n_shards!r}")
    return int(n_shards)


# A process keeps so many files open that it has used last.
MOST_OPEN = 64
SUFFIX = ".shard"

_opened = OrderedDict()
_lock = Lock()


class ShardFile(NamedTuple):
    """A file of named arrays: where it is, and what it holds.

    It is small, so it can be sent to workers, and equal to any other of the same
    content at the same place. `write_shard` makes one.

    Parameters
    ----------
    path : str
        The file.
    digest : str
        Sixteen hexadecimal digits that tell its content.
    n_bytes : int
        Its size.
    """

    path: str
    digest: str
    n_bytes: int

    def open(self):
        """Return the header and the arrays, mapped; once opened, without reading again.

        Returns
        -------
        header : dict
            What was given to `write_shard`.
        arrays : dict of str to ndarray
            The arrays. Writing to one changes neither the file nor other processes.
        """
        state = self._state()
        key = self.path, self.digest
        with _lock:
            known = _opened.get(key)
            if known is not None and known[0] == state:
                _opened.move_to_end(key)
                return known[1]
        content = self._read()
        with _lock:
            # A mapping keeps a file on the disk that its training has removed.
            for other in [k for k in _opened if not os.path.exists(k[0])]:
                del _opened[other]
            _opened[key] = state, content
            _opened.move_to_end(key)
            while len(_opened) > MOST_OPEN:
                _opened.popitem(last=False)
        return content

    def _state(self):
        """Return what is different once somebody has written to the file."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise ShardError(
                f"the shard {self.path} cannot be opened: {error.strerror}. All "
                "workers must see the folder of the shards, and nobody may clear it "
                "during the training"
            ) from error
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self):
        try:
            if stored_checksum(self.path) != self.digest:
                raise ModelFileError("another one was written in its place")
            header, arrays = read_model(self.path, mapped=True)
        except (OSError, ModelFileError) as error:
            raise ShardError(
                f"the shard {self.path} is not what was written there: {error}. Start "
                "the training again, with a folder that nobody else writes to"
            ) from error
        return header["shard"], arrays

    def close(self):
        """Forget the mapping that this process has, if there is any."""
        with _lock:
            _opened.pop((self.path, self.digest), None)


def forget_files(folder):
    """Forget the mappings that this process has of the files in a folder."""
    with _lock:
        for key in [k for k in _opened if Path(k[0]).parent == Path(folder).absolute()]:
            del _opened[key]


def write_shard(folder, name, arrays, header=None):
    """Write named arrays into a folder.

    Parameters
    ----------
    folder : str or path-like
        An existing folder that all workers see.
    name : str
        The name of the file, without its ending. An older one is replaced.
    arrays : dict of str to ndarray or None
        The arrays; what is None is left out.
    header : dict, default=None
        Strings, numbers, lists and dicts to keep with them.

    Returns
    -------
    shard : ShardFile
        What opens the file, here or in another process.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from skcw._model.shards import write_shard
    >>> with TemporaryDirectory() as folder:
    ...     shard = write_shard(folder, "first", {"gold": np.array([0, 1, 1])})
    ...     header, arrays = shard.open()
    ...     shard.close()
    >>> arrays["gold"]
    array([0, 1, 1])
    """
    path = Path(folder, f"{name}{SUFFIX}").absolute()
    given = {name: array for name, array in arrays.items() if array is not None}
    try:
        write_model(path, {"shard": header or {}}, given, scratch=True)
    except OSError as error:
        # A full disk names nothing.
        error.filename = error.filename or str(path)
        raise
    return ShardFile(str(path), stored_checksum(path), path.stat().st_size)


class ShardFolder:
    """A folder for the files of one training, made when the first one is written.

    It lies in the folder of the training, else where joblib keeps its files
    (``JOBLIB_TEMP_FOLDER``), else where the system does. It is cleared at the end.

    Parameters
    ----------
    parent : str, path-like or None, default=None
        The folder of the training's files, if one was given.

    Examples
    --------
    >>> import numpy as np
    >>> import pickle
    >>> from skcw._model.shards import ShardFolder
    >>> with ShardFolder() as folder:
    ...     shared = folder.share({"gold": np.array([0, 1])})
    ...     here = shared.open()[1]["gold"]
    ...     elsewhere = pickle.loads(pickle.dumps(shared)).open()[1]["gold"]
    >>> here, elsewhere
    (array([0, 1]), array([0, 1]))
    """

    def __init__(self, parent=None):
        self.parent = parent or os.environ.get("JOBLIB_TEMP_FOLDER")
        self.path = None
        self.n_files = 0
        # Of writing a file; what made that fail.
        self.error = None
        self.lock = Lock()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.path is not None:
            forget_files(self.path)
            shutil.rmtree(self.path, ignore_errors=True)

    def share(self, arrays, header=None):
        """Return an object with these arrays that can be sent to any worker."""
        return SharedArrays(self, arrays, header or {})

    def write(self, arrays, header):
        """Write a file of the arrays."""
        try:
            if self.path is None:
                self.path = tempfile.mkdtemp(prefix="skcw-shards-", dir=self.parent)
            self.n_files += 1
            return write_shard(self.path, f"{self.n_files}", arrays, header)
        except Exception as error:
            self.error = error
            raise


class SharedArrays:
    """Named arrays that are written to a file when they are first sent away.

    Who gets them there has a `ShardFile`, which opens them in the same way. Threads are
    sent nothing.

    Parameters
    ----------
    folder : ShardFolder
        Where the file would be.
    arrays : dict of str to ndarray or None
        The arrays; what is None is left out.
    header : dict
        Strings, numbers, lists and dicts to keep with them.
    """

    def __init__(self, folder, arrays, header):
        self.folder = folder
        self.content = header, {k: v for k, v in arrays.items() if v is not None}
        self.file = None

    def open(self):
        """Return the header and the arrays."""
        return self.content

    @property
    def n_bytes(self):
        """The size of the arrays, whether they have been sent or not."""
        return sum(array.nbytes for array in self.content[1].values())

    def remove(self):
        """Remove the file, if there is one: nobody is going to ask for it again."""
        if self.file is not None:
            # Where files that somebody has mapped cannot be removed, the folder waits.
            with suppress(OSError):
                os.unlink(self.file.path)

    def __reduce__(self):
        with self.folder.lock:
            if self.file is None:
                header, arrays = self.content
                self.file = self.folder.write(arrays, header)
        return ShardFile, tuple(self.file)


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
    >>> from skcw._model.shards import Workers
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
            f"the worker that learned {self.noun} {number} was lost, and no others "
            f"have come within {LOOKS * PAUSE:g} seconds; see what ended it, and start "
            "the engine again"
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
    options = {"prefer": "threads", "backend": engine_in_force()}
    try:
        return Parallel(n_jobs, return_as="generator", **options)
    except ValueError:
        # Some engines return everything at once.
        return Parallel(n_jobs, **options)


class ShardedTraining:
    """A training whose passes learn shards side by side, each from the common belief.

    Parameters
    ----------
    parts : SequenceShards or RowShards
        Deals out the data of a plain training to shards, tells a worker what to learn,
        and adds what it has moved.
    """

    # Within a pass there is nothing to save.
    divisible = False

    def __init__(self, parts):
        self.parts, self.training = parts, parts.training
        self.n_shards = self.training.plan.n_shards
        self.folder = ShardFolder(parts.folder)
        self.workers = Workers(self.training.plan.n_jobs, self.folder)
        # How many bytes have traveled in the last pass.
        self.sent = self.returned = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.workers.__exit__(*error)
        self.folder.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.training, name)

    @cached_property
    def shards(self):
        """What opens each shard, made when the first pass begins."""
        return self.parts.shards(self.folder)

    @cached_property
    def mixture(self):
        """What adds up the moves of shards, made when the first of them come."""
        return self.parts.mixture()

    def order(self):
        """Return what makes the orders in the shards in the next pass."""
        return self.parts.order()

    def pieces(self, number, order, presented, n_words):
        """Yield the pieces of a pass: one, or several, with a merge after each."""
        self.sent = self.returned = 0
        n_pieces = n_merges(number + 1, self.n_shards, self.parts.few)
        n_pieces = min(n_pieces, self.parts.n_smallest)
        for k in range(n_pieces):
            yield 1, (number, order, (k, n_pieces))

    def kernel(self, number, order, piece):
        """Let every shard learn from the common belief, then merge."""
        parts, found = self.parts, 0
        common = self.folder.share(parts.common())
        self.sent += common.n_bytes
        tasks = parts.tasks(self.shards, common, number, order, piece)
        results = self.workers.run(parts.learn, tasks)
        for shard, moves in zip(self.shards, results, strict=True):
            parts.add(self.mixture, shard, moves)
            self.returned += moves.n_bytes
            found = found + np.array(moves.found)
        common.remove()
        parts.finish(self.mixture, number + 1)
        return (found,)

    def take(self, size, found):
        """Return what was wrong in all shards."""
        return found

    def report(self, found):
        """Return what a pass has found, with the bytes that have traveled."""
        record, words = self.training.report(found)
        record |= {"bytes_sent": self.sent, "bytes_returned": self.returned}
        sent, returned = self.sent / 1e6, self.returned / 1e6
        words += f", {sent:.1f} MB for {self.n_shards} shards, {returned:.1f} MB back"
        return record, words
