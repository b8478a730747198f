"""``Table``: rows that a terminal shows aligned and a notebook as HTML."""

from html import escape

# A longer cell is cut, so that a line of the table stays a line.
WIDEST_CELL = 60


class Table:
    """Rows under headers, shown as text or, in a notebook, as HTML.

    Parameters
    ----------
    headers : sequence of str
        The titles of the columns.
    rows : list of sequences
        The rows; None is shown as a dash.
    formats : sequence of str or None, default=None
        A format for each column, such as ".4f".

    Examples
    --------
    >>> from skcw._util.text_table import Table
    >>> Table(["word", "confidence"], [("Ann", 0.91234)], [None, ".2f"])
    word      confidence
    ------  ------------
    Ann             0.91
    """

    def __init__(self, headers, rows, formats=None):
        self.headers = list(headers)
        self.rows = list(rows)
        self.formats = formats

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        return aligned(self._cut(), self.headers, self.formats)

    def _repr_html_(self):
        head = "".join(f"<th>{escape(title)}</th>" for title in self.headers)
        body = "".join(self._html_row(row) for row in self._cut())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _html_row(self, row):
        cells = []
        for c, value in enumerate(row):
            style = ' style="text-align: right"' if is_number(value) else ""
            spec = self.formats[c] if self.formats else None
            cells.append(f"<td{style}>{escape(written(value, spec))}</td>")
        return f"<tr>{''.join(cells)}</tr>"

    def _cut(self):
        return [
            [cut(value) if isinstance(value, str) else value for value in row]
            for row in self.rows
        ]


def aligned(rows, headers, formats=None):
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
        [written(value, formats[c] if formats else None) for c, value in enumerate(row)]
        for row in rows
    ]
    align = [
        "right" if all(is_number(row[c]) for row in rows) else "left"
        for c in range(len(rows[0]) if rows else 0)
    ]
    # Words stay as they are: "1e5" and " " are words, too.
    return tabulate(
        cells, headers, tablefmt="simple", disable_numparse=True, colalign=align or None
    )


def is_number(value):
    """Return whether a value belongs to the right of its column."""
    return value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool)
    )


def written(value, spec):
    """Return a value as the text of a cell."""
    if value is None:
        return "-"
    return str(value) if spec is None or isinstance(value, str) else f"{value:{spec}}"


def cut(text, widest=WIDEST_CELL):
    """Return a text, or as much of it as a width allows.

    >>> cut("Donaudampfschifffahrtsgesellschaft", 12)
    'Donaudampfs…'
    """
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


def shown_token(token):
    """Return a short text for a token: its word, or else its first feature.

    >>> shown_token(("Ann", "NNP")), shown_token({"w": "Ann", "cap": True})
    ('Ann', 'w:Ann')
    """
    if isinstance(token, str):
        return token
    if hasattr(token, "items"):
        name, value = next(iter(token.items()), ("", True))
        return f"{name}:{value}" if isinstance(value, str) else str(name)
    if isinstance(token, (list, tuple)) and token and isinstance(token[0], str):
        return token[0]
    return ""
