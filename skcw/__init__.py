"""Confidence-weighted learners for sequences and text."""

from skcw._version import __version__
from skcw.tagging import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    load,
)

__all__ = [
    "AROWSequenceTagger",
    "CRFSequenceTagger",
    "CWSequenceTagger",
    "PASequenceTagger",
    "PerceptronSequenceTagger",
    "__version__",
    "load",
]
