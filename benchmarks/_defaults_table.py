"""What all parts of the defaults have in common: groups of rows, judged on sets."""

from _tables import format_table


def render_groups(title, note, found):
    """Return a table for each group: a row for each setting, a column for each set."""
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    tables = [_table(name, rows) for name, rows in found["groups"].items()]
    return "\n\n".join([title, *tables, note])


def _table(name, rows):
    sets = list(dict.fromkeys(one for row in rows.values() for one in row))
    cells = [
        [setting, *(_cell(row.get(one)) for one in sets)]
        for setting, row in rows.items()
    ]
    return format_table([name, *sets], cells)


def _cell(value):
    """Return one figure, or several that belong to one cell."""
    if value is None:
        return "-"
    return ", ".join(f"{each:.4f}" for each in ([value] if _is_one(value) else value))


def _is_one(value):
    return isinstance(value, float)
