"""Tables most of whose cells hold one number: only the others are stored in files.

A table has rows of equal width, and in row ``width`` the *blank* cell, the first one,
tells what the others hold that nothing has touched. Of each row the number of touched
cells is stored and their columns, once for all tables of a model, and of each table the
numbers in these cells. The blank cell always counts as touched.
"""

import numpy as np

from skcw._limits import MOST_CELLS_FOR_ONE
from skcw.data._saved import saved_array, saved_kind, saved_number, saved_texts

# Under these names the header tells which tables are stored by their cells, and which
# are another one.
CELLS, SAME = "cells", "same"
COUNTS, COLUMNS = "cells.counts", "cells.columns"
# A file is made of cells where they take at most this share of the tables' bytes:
# whole tables can be mapped, and read into memory as they are.
LARGEST_SHARE = 0.5
# How many numbers are compared at a time.
PIECE = 1 << 16
# The types of counts and columns, with the widest rows they have room for.
_KINDS = {"u1": 2**8 - 1, "u2": 2**16 - 1}


def without_repeats(arrays, names):
    """Return arrays without those that have the bits of another, and which those are.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of a model.
    names : list of str
        The names of those to compare with the first of them.

    Returns
    -------
    arrays : dict of str to ndarray
        Those to store.
    same : dict of str to str
        The names of the others, each with the name of the one that it is.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data._cells import without_repeats
    >>> a, b = np.zeros(2), np.zeros(2)
    >>> without_repeats({"a": a, "b": b}, ["a", "b"])
    ({'a': array([0., 0.])}, {'b': 'a'})
    """
    same = {
        name: names[0] for name in names[1:] if _is_same(arrays[name], arrays[names[0]])
    }
    return {name: a for name, a in arrays.items() if name not in same}, same


def _is_same(one, other):
    if one is other or one.dtype != other.dtype or one.shape != other.shape:
        return one is other
    one, other = _bits(one.ravel()), _bits(other.ravel())
    # Most that differ do so at once.
    return all(
        np.array_equal(one[first : first + PIECE], other[first : first + PIECE])
        for first in range(0, len(one), PIECE)
    )


def _bits(array):
    """Return floats as integers, for which zero and minus zero are not the same."""
    return array.view(f"u{array.itemsize}")


def thinned(arrays, names, width):
    """Return arrays whose tables are reduced to the cells that were touched.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of a model.
    names : list of str
        The names of its tables: flat arrays of the same length.
    width : int
        The length of their rows.

    Returns
    -------
    arrays : dict of str to ndarray
        The arrays to store; those given where that would not be much smaller.
    recipe : dict or None
        How to bring the tables back; None if they are as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data._cells import thinned
    >>> table = np.zeros(100)
    >>> table[50] = 7.0
    >>> found, recipe = thinned({"table": table}, ["table"], 2)
    >>> found["table"], recipe
    (array([0., 7.]), {'width': 2, 'tables': ['table']})
    """
    tables = [arrays[name] for name in names]
    kinds = [kind for kind, most in _KINDS.items() if width <= most]
    if not tables or not kinds:
        return arrays, None
    cells = _touched(tables, width * width)
    n_rows, itemsize = len(tables[0]) // width, np.dtype(kinds[0]).itemsize
    size = (len(cells) + n_rows) * itemsize + len(cells) * _bytes_of_a_cell(tables)
    whole = len(tables[0]) * _bytes_of_a_cell(tables)
    if size > LARGEST_SHARE * whole or _is_too_thin(n_rows * width, len(cells)):
        return arrays, None
    found = {**arrays, **{name: arrays[name][cells] for name in names}}
    row, column = np.divmod(cells, width)
    found[COUNTS] = np.bincount(row, minlength=n_rows).astype(kinds[0])
    found[COLUMNS] = column.astype(kinds[0])
    return found, {"width": width, "tables": list(names)}


def _touched(tables, blank):
    """Return the blank cell and those with other bits in any table, ascending."""
    touched = np.zeros(len(tables[0]), dtype=bool)
    touched[blank] = True
    for table in tables:
        bits = _bits(table)
        touched |= bits != bits[blank]
    return np.flatnonzero(touched)


def _bytes_of_a_cell(tables):
    return sum(table.itemsize for table in tables)


def _is_too_thin(n_cells, n_stored):
    return n_cells > MOST_CELLS_FOR_ONE * n_stored


def filled(arrays, recipe, same):
    """Return the arrays of a model with whole tables again; raise if they do not fit.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays as they are in the file.
    recipe : dict or None
        How to bring the tables back, as `thinned` returns it.
    same : dict of str to str
        Which arrays are another one, as `without_repeats` returns it.

    Returns
    -------
    arrays : dict of str to ndarray
        The arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data._cells import filled, thinned
    >>> table = np.zeros(100)
    >>> table[50] = 7.0
    >>> found = filled(*thinned({"table": table}, ["table"], 2), {})
    >>> np.array_equal(found["table"], table)
    True
    """
    found = dict(arrays)
    if recipe is not None:
        width = saved_kind(recipe, CELLS, dict)["width"]
        saved_number(width, "width", 1, max(_KINDS.values()), whole=True)
        counts, cells = _saved_cells(found, width)
        names = saved_texts(recipe["tables"], "tables")
        shape = (len(cells),)
        for name in names:
            values = saved_array(arrays, name, ("f4", "f8"), shape, largest=np.inf)
            found[name] = _whole(values, cells, len(counts) * width, width * width)
    for name, other in saved_kind(same, SAME, dict).items():
        if name in arrays or other not in arrays:
            raise ValueError(f"the array {name} cannot be the same as another one")
        found[name] = found[other]
    return found


def _saved_cells(arrays, width):
    """Take the counts and columns out; return the counts and the cells they tell."""
    counts = saved_array(arrays, COUNTS, tuple(_KINDS), (None,))
    columns = saved_array(arrays, COLUMNS, (counts.dtype.str[1:],), (None,))
    del arrays[COUNTS], arrays[COLUMNS]
    if int(counts.sum(dtype=np.int64)) != len(columns):
        raise ValueError("there are not as many cells as the rows say")
    if _is_too_thin(len(counts) * width, len(columns)):
        raise ValueError("there are too few cells for tables of this size")
    first = np.arange(0, len(counts) * width, width, dtype=np.int64)
    cells = np.repeat(first, counts) + columns
    if (columns >= width).any() or (np.diff(cells) <= 0).any():
        raise ValueError("the cells of a row are not in order, or outside of it")
    blank = np.searchsorted(cells, width * width)
    if blank == len(cells) or cells[blank] != width * width:
        raise ValueError("the blank cell is missing")
    return counts, cells


def _whole(values, cells, size, blank):
    """Return a table: some values in their cells, that of the blank one elsewhere."""
    rest = values[np.searchsorted(cells, blank)]
    # Memory that is zero costs nothing until something else is written to it.
    zeros = not _bits(rest[None]).any()
    table = np.zeros(size, values.dtype) if zeros else np.full(size, rest)
    table[cells] = values
    return table
