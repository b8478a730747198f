"""Model files: named arrays and a JSON header, without pickle, with a checksum.

The format is that of the safetensors library: eight bytes with the size of a JSON text,
the text, which says where each array lies, and the arrays. A model is opened in one
pass and validated as a whole: whatever does not fit is a ``ModelFileError``.
"""

import json
import mmap
import os
import re
import stat
from contextlib import contextmanager, nullcontext
from errno import EISDIR
from math import isfinite, prod

import numpy as np

from skcw._kernels.integrity import checksum
from skcw._util.files import replacing
from skcw._util.limits import MOST_DIGITS_IN_A_FILE
from skcw._util.version import __version__
from skcw.data.packing import PACKED, completed, packed, unpacked
from skcw.data.saved import half_precision, halved_array, whole_arrays
from skcw.exceptions import ModelFileError

# 8: names without their hash tables, and packed bytes; 7: what is inside of a model is
# described as a model of its own is.
FORMAT = 8
OLDEST_READ = 7
# How the files of CRFsuite begin.
CRFSUITE = b"lCRF"
HEADER, CHECKSUM = "skcw", "skcw.checksum"
# The entry of the header by which arrays in half precision are restored.
HALVES = "halves"
# Where the checksum itself stands it is taken for zeros.
_NO_DIGITS = "0" * 16
_DIGITS = re.compile(rb'"skcw\.checksum":"([0-9a-f]{16})"')
# The checksum continues from block to block, so that each is still in the cache.
BLOCK_BYTES = 1 << 20
_TYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
_TYPES |= {"U8": "u1", "U16": "<u2", "U64": "<u8", "F16": "<f2"}
_NAMES = {dtype.lstrip("<"): name for name, dtype in _TYPES.items()}


def write_model(path, header, arrays, *, dtype=None, pack=False, scratch=False):
    """Write a header and named arrays; an older file is replaced only at the end.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    header : dict
        Strings, numbers, lists and dicts.
    arrays : dict of str to ndarray
        The arrays.
    dtype : {"float16"} or None, default=None
        Whether to store tables of weights in half precision.
    pack : bool, default=False
        Whether to pack the bytes of arrays: a smaller file, of which nothing can be
        mapped into memory as it is.
    scratch : bool, default=False
        Whether the file is temporary. Then it is written in place, without waiting for
        the disk; the checksum shows whether it is complete.
    """
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    if dtype is not None:
        halves = {n: halved_array(arrays[n]) for n in half_precision(arrays, dtype)}
        header = {**header, HALVES: {n: origin for n, (_, origin) in halves.items()}}
        arrays |= {name: half for name, (half, _) in halves.items()}
    if pack:
        arrays, header = _packed(arrays, header)
    text = _header_text(header)
    with nullcontext(path) if scratch else replacing(path) as draft:
        _write(draft, text, arrays)
        seal(draft)


def _packed(arrays, header):
    arrays, origins = packed(arrays)
    return arrays, {**header, PACKED: origins}


def _header_text(header):
    written = {"format": FORMAT, "version": __version__}
    return json.dumps({**written, **header}, default=_plain)


def _write(path, text, arrays):
    """Write a file of safetensors: sizes in descending order, so that all is aligned.

    The library itself would write to a temporary file of its own, and leave it behind
    if it is killed.
    """
    entries, end = {"__metadata__": {HEADER: text, CHECKSUM: _NO_DIGITS}}, 0
    arrays = dict(sorted(arrays.items(), key=lambda item: -item[1].itemsize))
    for name, array in arrays.items():
        entries[name] = {
            "dtype": _NAMES[array.dtype.newbyteorder("<").str[1:]],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    head = json.dumps(entries, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for array in arrays.values():
            file.write(array.data.cast("B") if array.size else b"")


def seal(path):
    """Write the checksum of a complete file into it.

    Parameters
    ----------
    path : str or path-like
        A file whose checksum is not set yet, or not any more.
    """
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        head = _read_head(file, size)
        found = _DIGITS.search(head)
        total = checksum(_without_digits(head, found), 0)
        for block in iter(lambda: file.read(BLOCK_BYTES), b""):
            total = checksum(block, total)
        file.seek(found.start(1))
        file.write(b"%016x" % total)


def stored_checksum(path):
    """Return the checksum that a file says it has, without reading all of it.

    Parameters
    ----------
    path : str or path-like
        A file that `write_model` wrote.

    Returns
    -------
    digits : str
        Sixteen hexadecimal digits.
    """
    with naming(path), open(path, "rb") as file:
        head, _, metadata = _read_table(file, path, os.fstat(file.fileno()).st_size)
        if _DIGITS.search(head) is None:
            raise _incomplete(path, "it has no checksum")
        return metadata[CHECKSUM]


def _without_digits(head, found):
    first, last = found.span(1)
    return head[:first] + _NO_DIGITS.encode() + head[last:]


def read_model(path, *, mapped=False):
    """Return the header and the arrays of a file that `write_model` wrote.

    Parameters
    ----------
    path : str or path-like
        The file to read.
    mapped : bool, default=False
        Whether to map the arrays into memory instead of reading them. Processes then
        share them, and none may change the file in place.

    Returns
    -------
    header : dict
        The header.
    arrays : dict of str to ndarray
        The arrays. Writing to one does not change the file.
    """
    with naming(path):
        kind = os.stat(path).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise ModelFileError(f"{path} is not a file")
        with open(path, "rb") as file:
            n_bytes = os.fstat(file.fileno()).st_size
            head, entries, metadata = _read_table(file, path, n_bytes)
            header = _checked_header(path, metadata[HEADER])
            places = _places(path, entries, n_bytes - len(head))
            data, total = _read_data(file, path, head, n_bytes, mapped)
        _check_sum(metadata, head, total)
        arrays = {
            name: np.asarray(data[first:last].view(dtype)).reshape(shape)
            for name, (first, last, dtype, shape) in places.items()
        }
        arrays = unpacked(arrays, header.pop(PACKED, {}))
        arrays = whole_arrays(arrays, header.pop(HALVES, {}))
        return header, completed(arrays, header)


@contextmanager
def naming(path):
    """Turn whatever goes wrong while a model is opened into a `ModelFileError`.

    Parameters
    ----------
    path : str or path-like
        The file, which the error names.
    """
    try:
        yield
    except MemoryError:
        raise
    except OSError as error:
        # Of a file that cannot be opened the system says why, and names it.
        if error.filename is None:
            raise ModelFileError(f"{path} cannot be read: {error}") from error
        raise
    except ModelFileError as error:
        if str(path) in str(error):
            raise
        raise ModelFileError(f"{path}: {error}") from error
    except Exception as error:
        # A part that a file describes fails in ways of its own: names that are missing,
        # numbers beyond all bounds, too many brackets.
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ModelFileError(f"{path} is damaged: {reason}") from error


def _read_data(file, path, head, n_bytes, mapped):
    """Return the arrays of a file as bytes, and the checksum of all of it."""
    found = _DIGITS.search(head)
    total = checksum(_without_digits(head, found) if found else head, 0)
    if mapped and n_bytes > len(head):
        data = np.memmap(file, dtype=np.uint8, mode="c")[len(head) : n_bytes]
    else:
        data = _room(n_bytes - len(head))
    for first in range(0, len(data), BLOCK_BYTES):
        block = data[first : first + BLOCK_BYTES]
        if not mapped and file.readinto(block) != len(block):
            raise _incomplete(path, "it became shorter while it was read")
        total = checksum(block, total)
    return data, total


def _room(n_bytes):
    """Return writable memory as an array of bytes.

    NumPy asks for large pages, and to fill those with zeros first can take longer than
    to read the file.
    """
    if not n_bytes or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(n_bytes, dtype=np.uint8)
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return np.frombuffer(mmap.mmap(-1, n_bytes, flags=kind), dtype=np.uint8)


def _read_head(file, size):
    """Return the size of the JSON text and the text, as bytes."""
    first = file.read(8)
    n_bytes = int.from_bytes(first, "little")
    if len(first) < 8 or n_bytes > size - 8:
        raise ValueError("it is shorter than its first bytes say")
    return first + file.read(n_bytes)


def _incomplete(path, error):
    return ModelFileError(
        f"{path} is not a complete skcw model: {error}. It may be truncated, or "
        "another kind of file"
    )


def _read_table(file, path, n_bytes):
    """Return the first bytes of a file, the entries of its arrays and its metadata."""
    first = file.read(9)
    if first.startswith(CRFSUITE):
        raise ModelFileError(
            f"{path} is a model of CRFsuite; open it with "
            "skcw.CRFSequenceTagger.from_crfsuite"
        )
    # The zeros of a length in eight bytes, and JSON.
    if first[6:] not in b"\0\0{":
        raise ModelFileError(f"{path} is not a skcw model")
    file.seek(0)
    try:
        head = _read_head(file, n_bytes)
        entries = _parsed(head[8:])
        metadata = entries.pop("__metadata__", {})
        if HEADER in metadata and isinstance(metadata[HEADER], str):
            return head, entries, metadata
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _incomplete(path, error) from error
    raise ModelFileError(f"{path} is a safetensors file, but not a skcw model")


def _checked_header(path, text):
    try:
        header = _parsed(text)
        written, version = header["format"], header.get("version")
        newer, older = written > FORMAT, written < OLDEST_READ
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise ModelFileError(f"{path} has a damaged header: {error!r}") from error
    if newer:
        raise ModelFileError(
            f"{path} has format {written}, written by skcw {version}; this version "
            f"reads up to {FORMAT}. Update skcw"
        )
    if older:
        raise ModelFileError(
            f"{path} has format {written}, which this version of skcw cannot read any "
            "more. Train the model again"
        )
    return header


def _parsed(text):
    """Return what a JSON text says, with no number that a model cannot hold."""
    return json.loads(
        text, parse_int=_small, parse_float=_finite, parse_constant=_finite
    )


def _small(digits):
    if len(digits) > MOST_DIGITS_IN_A_FILE:
        raise ValueError(f"the number {digits[:20]}... has {len(digits)} digits")
    return int(digits)


def _finite(text):
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"the number {text} is not finite")
    return value


def _check_sum(metadata, head, total):
    # The digits that were left out are those of this entry, or of none.
    found = _DIGITS.search(head)
    stored = metadata.get(CHECKSUM)
    if found is None or stored != found[1].decode() or int(stored, 16) != total:
        raise ValueError(
            "its content does not have the checksum that was written with it. Copy the "
            "file again, or save the model again"
        )


def _places(path, entries, n_bytes):
    """Return begin, end, type and shape of each array; all bytes belong to one."""
    places, end = {}, 0
    for name, entry in sorted(entries.items(), key=_place):
        first, last = entry["data_offsets"]
        kind, shape = entry["dtype"], entry["shape"]
        if kind not in _TYPES:
            raise ModelFileError(
                f"{path} holds an array of type {kind}, which is not of skcw"
            )
        dtype = np.dtype(_TYPES[kind])
        sizes_fit = all(type(n) is int and n >= 0 for n in shape)
        if not sizes_fit or prod(shape) * dtype.itemsize != last - first:
            raise ValueError(f"{name} has not the size it says")
        if first != end or first % dtype.itemsize:
            raise ValueError(f"{name} is not in its place")
        places[name] = first, last, dtype, shape
        end = last
    if end != n_bytes:
        raise _incomplete(path, f"its arrays have {n_bytes} bytes instead of {end}")
    return places


def _place(item):
    """Return where an array of the table begins and ends."""
    first, last = item[1]["data_offsets"]
    if type(first) is not int or type(last) is not int or not 0 <= first <= last:
        raise ValueError(f"the array {item[0]!r} has no place")
    return first, last


def _plain(value):
    """Turn a NumPy number into a Python one for JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be saved")


def model_size(header, arrays):
    """Return the number of bytes of a packed file, but for the names of its arrays.

    Parameters
    ----------
    header : dict
        Strings, numbers, lists and dicts.
    arrays : dict of str to ndarray
        The arrays.

    Returns
    -------
    size : int
        The number of bytes.
    """
    arrays, header = _packed(arrays, header)
    size = sum(array.nbytes for array in arrays.values())
    return len(_header_text(header).encode()) + size
