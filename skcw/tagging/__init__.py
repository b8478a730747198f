"""Sequence taggers under one contract."""

from skcw.tagging.arow import AROWSequenceTagger
from skcw.tagging.base import BaseSequenceTagger
from skcw.tagging.crf import CRFSequenceTagger
from skcw.tagging.cw import CWSequenceTagger
from skcw.tagging.hmm import HMMSequenceTagger
from skcw.tagging.maxent import MaxEntSequenceTagger
from skcw.tagging.pa import PASequenceTagger
from skcw.tagging.perceptron import PerceptronSequenceTagger

__all__ = [
    "AROWSequenceTagger",
    "BaseSequenceTagger",
    "CRFSequenceTagger",
    "CWSequenceTagger",
    "HMMSequenceTagger",
    "MaxEntSequenceTagger",
    "PASequenceTagger",
    "PerceptronSequenceTagger",
]
