"""Private and recent scikit-learn names that skcw relies on, all in one place."""

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


__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "StrOptions",
    "_BaseComposition",
    "_check_partial_fit_first_call",
    "_fit_context",
    "_safe_indexing",
]
