"""From columns of tokens to features, natively."""

from skcw.features.basic import basic_features
from skcw.features.crfpp import read_template
from skcw.features.window import WindowFeatures

__all__ = ["WindowFeatures", "basic_features", "read_template"]
