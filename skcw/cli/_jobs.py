"""Tag blocks of a file in several processes, each of which opens the model once.

Most of the time goes into features, in compiled code that holds Python's lock, so
threads would wait for each other. The file is read and written by one process.
"""

import os
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread

# How many blocks each worker may have waiting: enough to keep it busy, few enough that
# memory does not grow with the file.
AHEAD = 2

# What this process works with, if it is a worker.
_worker = {}


def in_order(blocks, n_jobs, open_worker, arguments):
    """Yield what workers make of blocks, in the order of the blocks.

    Parameters
    ----------
    blocks : iterable
        The blocks; no more are read than the workers have room for.
    n_jobs : int
        The number of processes.
    open_worker : callable
        ``open_worker(*arguments)`` gives the function of a block that a worker calls;
        it runs once in each of them.
    arguments : tuple
        Its arguments.

    Yields
    ------
    block, result : object
        A block, and what the function returned.

    Examples
    --------
    >>> from operator import itemgetter
    >>> from skcw.cli._jobs import in_order
    >>> list(in_order([(5, 6), (7, 8)], 1, itemgetter, (1,)))
    [((5, 6), 6), ((7, 8), 8)]
    """
    if n_jobs == 1:
        work = open_worker(*arguments)
        for block in blocks:
            yield block, work(block)
        return
    pool = ProcessPoolExecutor(
        n_jobs, get_context("spawn"), _start, (open_worker, arguments)
    )
    waiting = deque()
    try:
        for block in blocks:
            waiting.append((block, pool.submit(_work, block)))
            while waiting and (len(waiting) >= AHEAD * n_jobs or waiting[0][1].done()):
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    except BrokenProcessPool as error:
        raise ValueError(
            f"one of {n_jobs} worker processes ended before its time, perhaps for lack "
            "of memory; try fewer --jobs"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _first(waiting):
    block, future = waiting.popleft()
    return block, future.result()


def _start(open_worker, arguments):
    """Begin a worker. Ctrl-C is for the process that started it, and ends it too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        _worker["work"] = open_worker(*arguments)
    except (ValueError, OSError) as error:
        # What is raised here would be lost.
        _worker["error"] = error


def _end_with_parent():
    """Leave no worker behind, however the process ends that started it."""
    wait([parent_process().sentinel])
    os._exit(1)


def _work(block):
    if "error" in _worker:
        raise _worker["error"]
    return _worker["work"](block)
