"""Private and recent names of other packages that skcw relies on, all in one place."""

from functools import cache, partial

from joblib.parallel import get_active_backend
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import _check_partial_fit_first_call

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:
        """Stands in where scikit-learn has no callbacks."""


def watched_dask(backend):
    """Return joblib's Dask backend such that it tells joblib of every task that failed.

    Workers get joblib's own backend, so they need not know of this one.
    """
    watched = object.__new__(_watched_dask_class())
    watched.__dict__ = vars(backend)
    return watched


class _GivenUp:
    """Stands for the result of a task that has none."""

    def __init__(self, error):
        self.error = error


@cache
def _watched_dask_class():
    # Only here, for few have Dask.
    from joblib._dask import DaskDistributedBackend

    class WatchedDask(DaskDistributedBackend):
        def submit(self, func, callback=None):
            return _watched(super().submit(func, callback), callback)

        # The name that joblib had for it before 1.5.
        def apply_async(self, func, callback=None):
            return _watched(super().apply_async(func, callback), callback)

        def retrieve_result_callback(self, out):
            if isinstance(out, _GivenUp):
                raise out.error
            return super().retrieve_result_callback(out)

    return WatchedDask


def _watched(future, callback):
    """Return the future of a task; if it fails, the callback is called as well."""
    if callback is not None:
        future.add_done_callback(partial(_report, callback))
    return future


def _report(callback, future):
    error = future.exception()
    if error is not None:
        callback(_GivenUp(error))


__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "StrOptions",
    "_BaseComposition",
    "_check_partial_fit_first_call",
    "_fit_context",
    "_safe_indexing",
    "get_active_backend",
    "watched_dask",
]
