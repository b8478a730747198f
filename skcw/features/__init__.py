"""Features of tokens: from columns in compiled code, by functions, and vectors."""

from typing import TYPE_CHECKING

from skcw._util.lazy import lazy_names
from skcw.features.lines import read_template
from skcw.features.resources import WordClusters, WordVectors

if TYPE_CHECKING:
    from skcw.features.joined_features import (
        FunctionFeatures,
        JoinedFeatures,
        VectorFeatures,
    )
    from skcw.features.learning import learn_clusters, learn_vectors
    from skcw.features.window_features import WindowFeatures

__all__ = [
    "FunctionFeatures",
    "JoinedFeatures",
    "VectorFeatures",
    "WindowFeatures",
    "WordClusters",
    "WordVectors",
    "learn_clusters",
    "learn_vectors",
    "read_template",
]

# Modules that need scikit-learn or SciPy are imported on first use.
_HOMES = {
    "FunctionFeatures": "skcw.features.joined_features",
    "JoinedFeatures": "skcw.features.joined_features",
    "VectorFeatures": "skcw.features.joined_features",
    "WindowFeatures": "skcw.features.window_features",
    "learn_clusters": "skcw.features.learning",
    "learn_vectors": "skcw.features.learning",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
