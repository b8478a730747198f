"""Every private or young scikit-learn name that skcw relies on, in one place."""

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:
        """Stands in where scikit-learn has no callbacks."""


__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "_fit_context",
]
