"""One row per sequence in the form that taggers return: a 1-D object array."""

import numpy as np


def object_rows(rows):
    """Return rows, which may have equal lengths, as a 1-D object array."""
    rows = list(rows)
    found = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        found[i] = row
    return found
