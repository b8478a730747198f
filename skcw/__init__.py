"""Confidence-weighted learners for sequences and text."""

__version__ = "0.1.0"

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
    "load",
]
