"""Sequences, features and labels in compiled form; column files."""

from typing import TYPE_CHECKING

from skcw._lazy import lazy_names
from skcw.data._batch import SequenceBatch
from skcw.data._column_files import iter_blocks, iter_columns, read_columns
from skcw.data._column_writing import write_columns
from skcw.data._constraints import forbidden_matrix
from skcw.data._json_lines import read_json_lines, write_json_lines
from skcw.data._schemes import Span, convert_labels, detect_scheme, extract_spans
from skcw.data._token_columns import TokenColumns
from skcw.data._vocabulary import Vocabulary

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
    "read_json_lines",
    "write_columns",
    "write_json_lines",
]

__getattr__, __dir__ = lazy_names(
    __name__, {"SequenceEncoder": "skcw.data._sequence_encoder"}
)
