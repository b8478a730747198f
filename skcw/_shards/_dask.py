"""joblib's backend of Dask, which also tells joblib of tasks that Dask gives up.

Errors of a task come back as results. But a task that has cost too many workers, or
that no worker can open, Dask itself gives up. joblib's backend notes that in the future
of the task and calls nobody back; `joblib.Parallel`, which waits to be called back,
then waits for ever.
"""

from functools import partial
from typing import NamedTuple

from joblib._dask import DaskDistributedBackend


class GivenUp(NamedTuple):
    """Stands for the result of a task that has none."""

    error: BaseException


class WatchedDask(DaskDistributedBackend):
    """Dask as joblib uses it, with a word to joblib about every task that failed.

    Workers get joblib's own backend, so they need not know of this one.
    """

    def submit(self, func, callback=None):
        """Start a task; the callback hears of its end, whatever that is."""
        return _watched(super().submit(func, callback), callback)

    def apply_async(self, func, callback=None):
        """Do the same under the name that joblib had for it before 1.5."""
        return _watched(super().apply_async(func, callback), callback)

    def retrieve_result_callback(self, out):
        """Return the result of a task, or raise why there is none."""
        if isinstance(out, GivenUp):
            raise out.error
        return super().retrieve_result_callback(out)


def _watched(future, callback):
    """Return the future of a task; if it fails, the callback is called as well."""
    if callback is not None:
        future.add_done_callback(partial(_report, callback))
    return future


def _report(callback, future):
    error = future.exception()
    if error is not None:
        callback(GivenUp(error))
