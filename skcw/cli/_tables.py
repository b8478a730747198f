"""Tables and JSON on standard output."""

import codecs
import json
import sys

from skcw.cli._files import written
from skcw.cli._messages import visible


def show(text):
    """Print a text; what the terminal lacks, or would obey, becomes escapes.

    Parameters
    ----------
    text : str
        The text.
    """
    encoding = sys.stdout.encoding or "utf-8"
    if sys.stdout.isatty():
        text = visible(text)
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def table(rows, headers, formats=None):
    """Return rows as aligned text: numbers to the right, words to the left.

    Parameters
    ----------
    rows : list of sequences
        The rows; None is shown as a dash.
    headers : sequence of str
        The titles of the columns; empty for none.
    formats : sequence of str or None, default=None
        A format for each column, such as ".4f".

    Returns
    -------
    text : str
        The table.
    """
    from tabulate import tabulate

    cells = [
        [_cell(value, formats[c] if formats else None) for c, value in enumerate(row)]
        for row in rows
    ]
    align = [
        "right" if all(_is_number(row[c]) for row in rows) else "left"
        for c in range(len(rows[0]) if rows else 0)
    ]
    # Words stay as they are: "1e5" and " " are words, too.
    return tabulate(
        cells, headers, tablefmt="simple", disable_numparse=True, colalign=align or None
    )


def _is_number(value):
    return value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool)
    )


def _cell(value, spec):
    if value is None:
        return "-"
    return str(value) if spec is None or isinstance(value, str) else f"{value:{spec}}"


def report(options, result, text):
    """Print a result as a table, or as JSON if that was asked for.

    Parameters
    ----------
    options : argparse.Namespace
        With ``json``: None, "-" for standard output, or a file.
    result : dict or list
        The figures.
    text : str
        The same as a table.
    """
    if options.json is None or options.json != "-":
        show(text)
    if options.json is None:
        return
    # Python's escapes are not valid in JSON; UTF-8 needs them for half characters only,
    # and there the two agree.
    plain = options.json == "-" and not _is_utf8(sys.stdout.encoding)
    document = json.dumps(result, indent=2, ensure_ascii=plain, default=_plain)
    if options.json == "-":
        show(document)
        return
    with written(options.json) as file:
        file.write(document.encode("utf-8", "backslashreplace") + b"\n")


def _is_utf8(encoding):
    return codecs.lookup(encoding or "utf-8").name == "utf-8"


def _plain(value):
    """Turn what NumPy and pathlib make into what JSON has."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
