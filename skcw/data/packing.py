"""The arrays of a model in less room: what can be told from the rest is left out.

Of tables the cells that training has touched are stored, of names their letters and
sizes, and bytes that repeat others are packed. All of it comes back bit for bit.
"""

from math import prod

import numpy as np

from skcw._kernels.packing import most_packed, packed_bytes, unpack_bytes
from skcw._util.limits import LARGEST_EXPANSION, MOST_CELLS_FOR_ONE
from skcw.data.saved import (
    SAVED_AS,
    padded,
    saved_array,
    saved_kind,
    saved_number,
    saved_texts,
    shortened,
    table_names,
)
from skcw.data.vocabulary import Vocabulary

# The entries of the header for tables stored by their cells, for copies of others, for
# names stored by their sizes, and for packed bytes.
CELLS, SAME, NAMES, PACKED = "cells", "same", "names", "packed"
COUNTS, COLUMNS = "cells.counts", "cells.columns"
# A file is made of cells where they take at most this share of the tables' bytes:
# whole tables can be mapped, and read into memory as they are.
LARGEST_SHARE = 0.5
# How many numbers are compared at a time.
PIECE = 1 << 16
# The types of counts and columns, with the widest rows they have room for.
_KINDS = {"u1": 2**8 - 1, "u2": 2**16 - 1}
# The types of sizes of names: any can be stored.
_SIZES = {**_KINDS, "u8": 2**63 - 1}
# The types of arrays that are packed, where that leaves less than this share of them.
_PACKED_KINDS = ("f2", "f4", "f8", "i4", "i8", "u1", "u2", "u8")
LARGEST_PACKED = 0.9
# More bytes than this are left as they are: a block counts them by 31 bits.
MOST_PACKED = 2**31 - 1


def compacted(arrays, by_cells=True):
    """Return the arrays of a model without what can be told from the rest.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays.
    by_cells : bool, default=True
        Whether tables may be reduced to the cells that were touched, and names to
        their letters and sizes. Whole arrays can be mapped into memory.

    Returns
    -------
    arrays : dict of str to ndarray
        Those to store, no table twice.
    recipes : dict
        How `completed` brings the rest back, for the header.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data.packing import compacted
    >>> compacted({"scale": np.ones(1)})
    ({'scale': array([1.])}, {})
    """
    arrays, same = without_repeats(arrays, _tables(arrays))
    recipes = {SAME: same}
    if by_cells:
        names = _tables(arrays)
        width = padded(arrays[f"{SAVED_AS}edge_rows"].shape[1]) if names else 0
        arrays, recipes[CELLS] = thinned(arrays, names, width)
        arrays, recipes[NAMES] = without_slots(arrays)
    return arrays, {name: value for name, value in recipes.items() if value}


def _tables(arrays):
    return [name for name in table_names(arrays) if name.startswith(SAVED_AS)]


def without_repeats(arrays, names):
    """Return arrays without copies of others, and which are copies.

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
    >>> from skcw.data.packing import without_repeats
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
    # Most arrays that differ do so in the first piece.
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
    >>> from skcw.data.packing import thinned
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
    >>> from skcw.data.packing import filled, thinned
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
    """Take out counts and columns; return the counts and the cells they stand for."""
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


def completed(arrays, header):
    """Return what `compacted` was given, and take its recipes out of a header.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays as they are in the file.
    header : dict
        The header of the file, with the recipes or without.

    Returns
    -------
    arrays : dict of str to ndarray
        The arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data.packing import compacted, completed
    >>> completed(*compacted({"scale": np.ones(1)}))
    {'scale': array([1.])}
    """
    arrays = filled(arrays, header.pop(CELLS, None), header.pop(SAME, {}))
    return with_names(arrays, header.pop(NAMES, []))


def without_slots(arrays):
    """Return arrays whose names have sizes instead of ends and hash tables.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of a model.

    Returns
    -------
    arrays : dict of str to ndarray
        Those to store.
    prefixes : list of str
        The prefixes of the arrays of all names.

    Examples
    --------
    >>> from skcw.data.packing import without_slots
    >>> from skcw.data.vocabulary import Vocabulary
    >>> found, prefixes = without_slots(Vocabulary.from_names(["the", "a"]).arrays())
    >>> found["vocabulary.sizes"], prefixes
    (array([3, 1], dtype=uint8), ['vocabulary'])
    """
    prefixes = [n.removesuffix(".slots") for n in arrays if n.endswith(".slots")]
    found = dict(arrays)
    for prefix in prefixes:
        del found[f"{prefix}.slots"]
        sizes = np.diff(found.pop(f"{prefix}.ends"))
        longest = sizes.max(initial=0)
        kind = next(kind for kind, most in _SIZES.items() if longest <= most)
        found[f"{prefix}.sizes"] = sizes.astype(kind)
    return found, prefixes


def with_names(arrays, prefixes):
    """Return arrays with the names whose sizes are stored; raise if they do not fit.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays as they are in the file.
    prefixes : list of str
        The prefixes of the arrays of all names.

    Returns
    -------
    arrays : dict of str to ndarray and Vocabulary
        The other arrays, and each vocabulary under its prefix, made once for all who
        need it.

    Examples
    --------
    >>> from skcw.data.packing import with_names, without_slots
    >>> from skcw.data.vocabulary import Vocabulary
    >>> arrays = Vocabulary.from_names(["the", "a"]).arrays()
    >>> with_names(*without_slots(arrays))
    {'vocabulary': Vocabulary(2 names)}
    """
    found = dict(arrays)
    for prefix in saved_texts(prefixes, NAMES):
        blob = saved_array(found, f"{prefix}.blob", ("u1",), (None,))
        sizes = saved_array(found, f"{prefix}.sizes", tuple(_SIZES), (None,))
        del found[f"{prefix}.blob"], found[f"{prefix}.sizes"]
        found[prefix] = Vocabulary.from_sizes(blob, sizes)
    return found


def packed(arrays):
    """Return arrays whose bytes are packed where that makes them smaller.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of a model.

    Returns
    -------
    arrays : dict of str to ndarray
        Those to store, bytes in place of some.
    origins : dict of str to list
        The type and the shape of each array that is packed.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data.packing import packed
    >>> found, origins = packed({"zeros": np.zeros(1000)})
    >>> len(found["zeros"]), origins
    (42, {'zeros': ['f8', [1000]]})
    """
    found, origins = dict(arrays), {}
    for name, array in arrays.items():
        block = _block(array)
        if len(block) < LARGEST_PACKED * array.nbytes:
            found[name] = block
            origins[name] = [array.dtype.str[1:], list(array.shape)]
    return found, origins


def _block(array):
    """Return the bytes of an array as a block of LZ4, or as they are."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if array.dtype.kind == "i":
        # Numbers that grow repeat their upper bytes, not all four.
        data = data.reshape(-1, array.itemsize).T.reshape(-1)
    if not 0 < len(data) <= MOST_PACKED:
        return data
    block = np.empty(most_packed(len(data)), np.uint8)
    return block[: packed_bytes(data, block)].copy()


def unpacked(arrays, origins):
    """Return what `packed` was given; raise if the arrays do not fit.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays as they are in the file.
    origins : dict of str to list
        The type and the shape of each array that is packed.

    Returns
    -------
    arrays : dict of str to ndarray
        The arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data.packing import packed, unpacked
    >>> unpacked(*packed({"ones": np.ones(1000)}))["ones"].sum()
    np.float64(1000.0)
    """
    if not saved_kind(origins, PACKED, dict):
        return arrays
    # What is not packed is little: a copy sets free what was read.
    found = {n: a if n in origins else a.copy() for n, a in arrays.items()}
    for name, (kind, shape) in origins.items():
        block = saved_array(arrays, name, ("u1",), (None,))
        if kind not in _PACKED_KINDS:
            raise ValueError(f"the array {name} was of the type {shortened(kind)}")
        sizes = saved_kind(shape, f"the shape of {name}", list)
        if not all(type(n) is int and n >= 0 for n in sizes):
            raise ValueError(f"the array {name} has no shape")
        n_bytes = prod(sizes) * np.dtype(kind).itemsize
        if n_bytes > LARGEST_EXPANSION * len(block):
            raise ValueError(f"the array {name} has fewer bytes than it says")
        data = np.empty(n_bytes, np.uint8)
        if not unpack_bytes(block, data):
            raise ValueError(f"the array {name} cannot be unpacked")
        if kind[0] == "i":
            data = np.ascontiguousarray(data.reshape(int(kind[1]), -1).T).reshape(-1)
        found[name] = data.view(kind).reshape(sizes)
    return found
