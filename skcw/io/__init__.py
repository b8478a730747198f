"""Files, frames and plain text: what is read, and what is written."""

from skcw.io.columns import iter_blocks, iter_columns, read_columns, write_columns
from skcw.io.json_lines import read_json_lines, write_json_lines
from skcw.io.text_answers import TextEntity, TextPredictions
from skcw.io.tokenizer import TextToken, Tokenizer

__all__ = [
    "TextEntity",
    "TextPredictions",
    "TextToken",
    "Tokenizer",
    "iter_blocks",
    "iter_columns",
    "read_columns",
    "read_json_lines",
    "write_columns",
    "write_json_lines",
]
