"""Confidence-weighted learners for sequences and text."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from skcw._version import __version__

if find_spec("skcw._kernels.lattice") is None:
    raise ImportError(
        f"{__path__[0]} holds the sources of skcw, which are not compiled. Run Python "
        "from another folder to use the installed package, or build it here: "
        "pip install -e ."
    )

if TYPE_CHECKING:
    from skcw._loading import load
    from skcw.calibration import CalibratedTagger
    from skcw.linear_model import (
        MultiClassAROW,
        MultiClassCW,
        MultiClassPA,
        MultiClassPerceptron,
    )
    from skcw.pipeline import TaggingPipeline, make_tagging_pipeline
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
    "HMMSequenceTagger",
    "MaxEntSequenceTagger",
    "MultiClassAROW",
    "MultiClassCW",
    "MultiClassPA",
    "MultiClassPerceptron",
    "PASequenceTagger",
    "PerceptronSequenceTagger",
    "TaggingPipeline",
    "__version__",
    "load",
    "make_tagging_pipeline",
]

_HOMES = {
    "skcw.calibration": {"CalibratedTagger"},
    "skcw.linear_model": {
        "MultiClassAROW",
        "MultiClassCW",
        "MultiClassPA",
        "MultiClassPerceptron",
    },
    "skcw._loading": {"load"},
    "skcw.pipeline": {"TaggingPipeline", "make_tagging_pipeline"},
}


def __getattr__(name):
    """Import what is asked for: `skcw --help` has no use for scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module 'skcw' has no attribute {name!r}")
    homes = (home for home, names in _HOMES.items() if name in names)
    home = next(homes, "skcw.tagging")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__():
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
