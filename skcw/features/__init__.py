"""Features of tokens: from columns in compiled code, by functions, and vectors."""

from typing import TYPE_CHECKING

from skcw._lazy import lazy_names
from skcw.features._basic import basic_features
from skcw.features._clusters import WordClusters, read_clusters
from skcw.features._crfpp import read_template
from skcw.features._word_vectors import WordVectors, read_vectors

if TYPE_CHECKING:
    from skcw.features._joined_features import (
        FunctionFeatures,
        JoinedFeatures,
        VectorFeatures,
        join_features,
    )
    from skcw.features._learning import learn_clusters, learn_vectors
    from skcw.features._window_features import WindowFeatures

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
    "skcw.features._joined_features": [
        "FunctionFeatures",
        "JoinedFeatures",
        "VectorFeatures",
        "join_features",
    ],
    "skcw.features._learning": ["learn_clusters", "learn_vectors"],
    "skcw.features._window_features": ["WindowFeatures"],
}

__getattr__, __dir__ = lazy_names(
    __name__, {name: home for home, names in _HOMES.items() for name in names}
)
