"""Sequences, features and labels in compiled form; label schemes."""

from typing import TYPE_CHECKING

from skcw._util.lazy import lazy_names
from skcw.data.batch import SequenceBatch
from skcw.data.columns import TokenColumns
from skcw.data.schemes import (
    convert_labels,
    detect_scheme,
    extract_spans,
    transition_constraints,
)

if TYPE_CHECKING:
    from skcw.data.sequence_encoder import SequenceEncoder

__all__ = [
    "SequenceBatch",
    "SequenceEncoder",
    "TokenColumns",
    "convert_labels",
    "detect_scheme",
    "extract_spans",
    "transition_constraints",
]

__getattr__, __dir__ = lazy_names(
    __name__, {"SequenceEncoder": "skcw.data.sequence_encoder"}
)
