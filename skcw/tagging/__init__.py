"""Sequence taggers under one contract."""

from skcw.tagging._arow import AROWSequenceTagger
from skcw.tagging._base import BaseSequenceTagger
from skcw.tagging._crf import CRFSequenceTagger
from skcw.tagging._cw import CWSequenceTagger
from skcw.tagging._explanation import (
    Contribution,
    Explanations,
    TokenExplanation,
)
from skcw.tagging._hmm import HMMSequenceTagger
from skcw.tagging._maxent import MaxEntSequenceTagger
from skcw.tagging._pa import PASequenceTagger
from skcw.tagging._perceptron import PerceptronSequenceTagger

__all__ = [
    "AROWSequenceTagger",
    "BaseSequenceTagger",
    "CRFSequenceTagger",
    "CWSequenceTagger",
    "Contribution",
    "Explanations",
    "HMMSequenceTagger",
    "MaxEntSequenceTagger",
    "PASequenceTagger",
    "PerceptronSequenceTagger",
    "TokenExplanation",
]
