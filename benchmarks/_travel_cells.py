"""Means over seeds or subsets: a cell of the grid, as one short line of text."""

from collections import defaultdict
from itertools import groupby

import numpy as np
from _travel_corpora import ALL
from _travel_measures import MEASURES

KEYS = ("corpus", "features", "size", "learner")
# The lead over the CRF is a mean over the subsets that both have learned from.
COLUMNS = (*KEYS, "n", *MEASURES, "spread", "lead", "lead_spread", "lead_n")


def as_lines(records, crf):
    """Return the means of the records, one line of values a cell and learner.

    JSON would name every value of every cell: five times the length.
    """
    crfs = defaultdict(dict)
    for record in _measured(crf):
        crfs[_place(record)][record["seed"]] = record["score"]
    cells = groupby(sorted(_measured(records), key=_order), key=_cell)
    lines = [",".join(COLUMNS)]
    for cell, group in cells:
        group = list(group)
        means = [np.mean([record[name] for record in group]) for name in MEASURES]
        *lead, n_leads = _leads(group, crfs[cell[:-1]])
        values = [*means, _spread([record["score"] for record in group]), *lead]
        values = map(_short, values)
        lines.append(
            ",".join([*map(str, cell), str(len(group)), *values, str(n_leads)])
        )
    return lines


def _leads(group, crfs):
    """Return mean, spread and number of the differences from the CRF's scores."""
    if crfs and group[0]["size"] == ALL:
        # Only our learners depend on a seed.
        leads = [record["score"] - crfs[0] for record in group]
    else:
        shared = [record for record in group if record["seed"] in crfs]
        leads = [record["score"] - crfs[record["seed"]] for record in shared]
    if not leads:
        return None, None, 0
    return np.mean(leads), _spread(leads), len(leads)


def _spread(values):
    return np.std(values, ddof=1) if len(values) > 1 else None


def _short(value):
    return "" if value is None else f"{value:.4g}"


def _measured(records):
    return [record for record in records if "left_out" not in record]


def _place(record):
    return record["corpus"], record["features"], record["size"]


def _cell(record):
    return *_place(record), record["learner"]


def _order(record):
    return *map(str, _cell(record)), record["seed"]


def left_out(records):
    """Return the cells that took too long, and how long they would have taken."""
    return [
        ", ".join([*map(str, _place(record)), record["left_out"]])
        for record in records
        if "left_out" in record
    ]


def from_lines(lines):
    """Return ``{(corpus, features, size): {learner: figures}}`` of such lines."""
    cells = defaultdict(dict)
    for line in lines[1:]:
        row = dict(zip(COLUMNS, line.split(","), strict=True))
        place = row["corpus"], row["features"], row["size"]
        cells[place][row["learner"]] = {
            name: float(value) if value else None
            for name, value in row.items()
            if name not in KEYS
        }
    return dict(cells)
