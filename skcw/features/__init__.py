"""Features of tokens: from columns in compiled code, by functions, and vectors."""

from typing import TYPE_CHECKING

from skcw._util.lazy import lazy_names
from skcw.features.basic import basic_features
from skcw.features.lines import read_template
from skcw.features.resources import (
    WordClusters,
    WordVectors,
    read_clusters,
    read_vectors,
)

if TYPE_CHECKING:
    from skcw.features.joined_features import (
        FunctionFeatures,
        JoinedFeatures,
        VectorFeatures,
        join_features,
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
    "basic_features",
    "join_features",
    "learn_clusters",
    "learn_vectors",
    "read_clusters",
    "read_template",
    "read_vectors",
]

# What needs scikit-learn or SciPy is imported on first use.
_HOMES = {
    "skcw.features.joined_features": [
        "FunctionFeatures",
        "JoinedFeatures",
        "VectorFeatures",
        "join_features",
    ],
    "skcw.features.learning": ["learn_clusters", "learn_vectors"],
    "skcw.features.window_features": ["WindowFeatures"],
}

__getattr__, __dir__ = lazy_names(
    __name__, {name: home for home, names in _HOMES.items() for name in names}
)
