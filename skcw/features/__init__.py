"""From columns of tokens to features, natively."""

from skcw.features.crfpp import read_template
from skcw.features.window import WindowFeatures

__all__ = ["WindowFeatures", "read_template"]
