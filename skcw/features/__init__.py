"""Extract features from columns of tokens, in compiled code."""

from typing import TYPE_CHECKING

from skcw._lazy import lazy_names
from skcw.features._basic import basic_features
from skcw.features._crfpp import read_template

if TYPE_CHECKING:
    from skcw.features._window_features import WindowFeatures

__all__ = ["WindowFeatures", "basic_features", "read_template"]

__getattr__, __dir__ = lazy_names(
    __name__, {"WindowFeatures": "skcw.features._window_features"}
)
