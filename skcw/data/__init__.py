"""Sequences, features and labels in compiled form."""

from skcw.data.batch import SequenceBatch
from skcw.data.encoder import SequenceEncoder
from skcw.data.vocabulary import Vocabulary

__all__ = ["SequenceBatch", "SequenceEncoder", "Vocabulary"]
