"""Files, frames and plain text: reading and writing corpora and models."""

from typing import TYPE_CHECKING

from skcw._util.lazy import lazy_names

if TYPE_CHECKING:
    from skcw.io.columns import iter_columns, read_columns, write_columns
    from skcw.io.json_lines import read_json_lines, write_json_lines
    from skcw.io.tokenizer import Tokenizer

__all__ = [
    "Tokenizer",
    "iter_columns",
    "read_columns",
    "read_json_lines",
    "write_columns",
    "write_json_lines",
]

# The command line reads the table of formats before NumPy is imported.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Tokenizer": "skcw.io.tokenizer",
        "iter_columns": "skcw.io.columns",
        "read_columns": "skcw.io.columns",
        "read_json_lines": "skcw.io.json_lines",
        "write_columns": "skcw.io.columns",
        "write_json_lines": "skcw.io.json_lines",
    },
)
