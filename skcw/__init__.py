"""Confidence-weighted learners for sequences and text."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from skcw._util.lazy import lazy_names
from skcw._util.version import __version__

if find_spec("skcw._kernels.lattice") is None:
    raise ImportError(
        f"{__path__[0]} holds the sources of skcw, which are not compiled. Run Python "
        "from another folder to use the installed package, or build it here: "
        "pip install -e ."
    )

if TYPE_CHECKING:
    from skcw._model.checkpoint import Checkpoint
    from skcw._model.merge import merge
    from skcw.calibration import CalibratedTagger, SelectiveClassifier, SelectiveTagger
    from skcw.confidence.inference_model import InferenceModel
    from skcw.io.loading import load
    from skcw.linear_model import (
        MultiClassAROW,
        MultiClassCW,
        MultiClassPA,
        MultiClassPerceptron,
    )
    from skcw.pipeline import TaggingPipeline, make_tagging_pipeline
    from skcw.reranking import RerankedTagger
    from skcw.tagging import (
        AROWSequenceTagger,
        CRFSequenceTagger,
        CWSequenceTagger,
        HMMSequenceTagger,
        MaxEntSequenceTagger,
        PASequenceTagger,
        PerceptronSequenceTagger,
    )

__all__ = [
    "AROWSequenceTagger",
    "CRFSequenceTagger",
    "CWSequenceTagger",
    "CalibratedTagger",
    "Checkpoint",
    "HMMSequenceTagger",
    "InferenceModel",
    "MaxEntSequenceTagger",
    "MultiClassAROW",
    "MultiClassCW",
    "MultiClassPA",
    "MultiClassPerceptron",
    "PASequenceTagger",
    "PerceptronSequenceTagger",
    "RerankedTagger",
    "SelectiveClassifier",
    "SelectiveTagger",
    "TaggingPipeline",
    "__version__",
    "load",
    "make_tagging_pipeline",
    "merge",
]

_HOMES = {
    "skcw._model.checkpoint": ["Checkpoint"],
    "skcw.confidence.inference_model": ["InferenceModel"],
    "skcw.calibration": ["CalibratedTagger", "SelectiveClassifier", "SelectiveTagger"],
    "skcw.linear_model": [name for name in __all__ if name.startswith("MultiClass")],
    "skcw.io.loading": ["load"],
    "skcw._model.merge": ["merge"],
    "skcw.pipeline": ["TaggingPipeline", "make_tagging_pipeline"],
    "skcw.reranking": ["RerankedTagger"],
    "skcw.tagging": [name for name in __all__ if name.endswith("SequenceTagger")],
}

# Whoever tags with a saved model has no use for scikit-learn.
__getattr__, __dir__ = lazy_names(
    __name__, {name: home for home, names in _HOMES.items() for name in names}
)
