"""Sequences, features and labels in compiled form; column files."""

from skcw.data.batch import SequenceBatch
from skcw.data.column_files import iter_blocks, iter_columns, read_columns
from skcw.data.column_writing import write_columns
from skcw.data.columns import TokenColumns
from skcw.data.constraints import forbidden_matrix
from skcw.data.encoder import SequenceEncoder
from skcw.data.schemes import Span, convert_labels, detect_scheme, extract_spans
from skcw.data.vocabulary import Vocabulary

__all__ = [
    "SequenceBatch",
    "SequenceEncoder",
    "Span",
    "TokenColumns",
    "Vocabulary",
    "convert_labels",
    "detect_scheme",
    "extract_spans",
    "forbidden_matrix",
    "iter_blocks",
    "iter_columns",
    "read_columns",
    "write_columns",
]
