"""Sequences, features and labels in compiled form; column files."""

from skcw.data.batch import SequenceBatch
from skcw.data.column_files import iter_blocks, iter_columns, read_columns
from skcw.data.column_writing import write_columns
from skcw.data.columns import TokenColumns
from skcw.data.encoder import SequenceEncoder
from skcw.data.schemes import convert_labels
from skcw.data.vocabulary import Vocabulary

__all__ = [
    "SequenceBatch",
    "SequenceEncoder",
    "TokenColumns",
    "Vocabulary",
    "convert_labels",
    "iter_blocks",
    "iter_columns",
    "read_columns",
    "write_columns",
]
