"""Model files: named arrays and a JSON header, without pickle.

The format is that of the safetensors library, which checks a file when it is opened.
The arrays are then mapped into memory, so that even a large model opens at once.
"""

import json

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from skcw.data._files import replacing
from skcw.exceptions import ModelFileError

# 2: names are hashed in another way than in 1. 3: parameters have other names.
FORMAT = 3
HEADER = "skcw"


def write_model(path, header, arrays):
    """Write a header and named arrays; an older file is replaced only at the end.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    header : dict
        Strings, numbers, lists and dicts.
    arrays : dict of str to ndarray
        The arrays.
    """
    text = json.dumps({"format": FORMAT, **header}, default=_plain)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with replacing(path) as draft:
        _save(arrays, draft, text, path)


def _save(arrays, draft, text, path):
    try:
        save_file(arrays, draft, metadata={HEADER: text})
    except SafetensorError as error:
        # A full disk, for example: callers expect an error of files.
        raise OSError(f"{path} cannot be written: {error}") from error


def read_model(path):
    """Return the header and the arrays of a file that `write_model` wrote.

    Parameters
    ----------
    path : str or path-like
        The file to read.

    Returns
    -------
    header : dict
        The header.
    arrays : dict of str to ndarray
        The arrays, mapped: pages are read when they are used, and writing to an
        array does not change the file.
    """
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
    except (FileNotFoundError, PermissionError):
        raise
    except (SafetensorError, OSError) as error:
        raise ModelFileError(
            f"{path} is not a complete skcw model: {error}. It may be truncated, or "
            "another kind of file"
        ) from error
    if HEADER not in metadata:
        raise ModelFileError(f"{path} is a safetensors file, but not a skcw model")
    return _checked_header(path, metadata[HEADER]), _mapped_arrays(path)


def _checked_header(path, text):
    try:
        header = json.loads(text)
        written, version = header["format"], header.get("version")
        newer, older = written > FORMAT, written < FORMAT
    except (ValueError, TypeError, KeyError) as error:
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


def _mapped_arrays(path):
    """Map the arrays of a safetensors file, whose layout is checked already."""
    types = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
    types |= {"U8": "u1", "U64": "<u8"}
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        entries = json.loads(file.read(size))
    entries.pop("__metadata__", None)
    whole = np.memmap(path, dtype=np.uint8, mode="c")[8 + size :]
    arrays = {}
    for name, entry in entries.items():
        first, last = entry["data_offsets"]
        if entry["dtype"] not in types:
            raise ModelFileError(
                f"{path} holds an array of type {entry['dtype']}, which is not of skcw"
            )
        array = whole[first:last].view(types[entry["dtype"]])
        arrays[name] = np.asarray(array).reshape(entry["shape"])
    return arrays


def _plain(value):
    """Turn a NumPy number into a Python one for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be saved")


def model_size(header, arrays):
    """Return the number of bytes of a file, but for the names of its arrays.

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
    text = json.dumps({"format": FORMAT, **header}, default=_plain)
    return len(text.encode()) + sum(array.nbytes for array in arrays.values())
