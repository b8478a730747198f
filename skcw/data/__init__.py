"""Sequences, features and labels in compiled form; column files."""

from typing import TYPE_CHECKING

from skcw._lazy import lazy_names
from skcw.data.batch import SequenceBatch
from skcw.data.column_files import iter_blocks, iter_columns, read_columns
from skcw.data.column_writing import write_columns
from skcw.data.columns import TokenColumns
from skcw.data.constraints import forbidden_matrix
from skcw.data.schemes import Span, convert_labels, detect_scheme, extract_spans
from skcw.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    from skcw.data._sequence_encoder import SequenceEncoder

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

__getattr__, __dir__ = lazy_names(
    __name__, {"SequenceEncoder": "skcw.data._sequence_encoder"}
)
