"""Model files that are damaged by accident or made by someone with bad intent.

``python -m tests.fuzz.model_files`` opens a hundred thousand of them.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import skcw
from skcw.confidence.inference_model import can_serve
from skcw.exceptions import ModelFileError, SkcwError
from skcw.io.model_files import CHECKSUM, HEADER, read_model, seal
from tests.fuzz.isolation import long_run
from tests.fuzz.saved_models import NAMES as MODELS
from tests.fuzz.saved_models import ask, ask_runtime, saved_model

NAMES = {"f4": "F32", "f8": "F64", "i4": "I32", "i8": "I64", "u1": "U8", "u8": "U64"}
NAMES |= {"u2": "U16", "f2": "F16", "b1": "BOOL", "i2": "I16"}

# A token that no JSON writer would make, put in place of a text.
RAW = "\x01raw\x01"
NUMBERS = (
    [-1, 0, 1, 2, 7, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 10**19, 10**400]
    + [0.5, -0.5, 1e-320, 1e-30, 1e30, 1e300, -1e308, float("nan"), float("inf")]
    + [float("-inf"), -0.0]
)
TEXTS = ["", "O", "B-", "\0", "\ud800", "\x1b[2J", "a" * 5000, "marginal", "delta"]
TEXTS += ["nan", "CWSequenceTagger", "IOBES", "^(a+)+$", "word[-2..2]", "float64"]
TEXTS += ['matches("(x+x+)+y")', "a{99999999999}", RAW + "[" * 100_000, RAW + "1e999"]
OTHERS = [None, True, False, [], {}, [[]], [None], [0], {"a": 1}, [["O", "O"]]]
OTHERS += [["a"] * 1000, list(range(1000))]


class Pieces:
    """A model file taken apart: its header, and its arrays by name."""

    def __init__(self, whole):
        size = int.from_bytes(whole[:8], "little")
        entries = json.loads(whole[8 : 8 + size])
        self.header = json.loads(entries.pop("__metadata__")[HEADER])
        data = whole[8 + size :]
        kinds = {name: kind for kind, name in NAMES.items()}
        self.arrays = {
            name: np.frombuffer(
                data[slice(*entry["data_offsets"])], kinds[entry["dtype"]]
            )
            .reshape(entry["shape"])
            .copy()
            for name, entry in entries.items()
        }
        # What of the table is to be other than it should be.
        self.table = {}
        self.text = None

    def write(self, path):
        """Write the file, with a checksum that fits."""
        metadata = {HEADER: self.header_text(), CHECKSUM: "0" * 16}
        entries, parts, end = {"__metadata__": metadata}, [], 0
        arrays = sorted(self.arrays.items(), key=lambda item: -item[1].itemsize)
        for name, array in arrays:
            kind = array.dtype.str[1:]
            entries[name] = {"dtype": NAMES[kind], "shape": list(array.shape)}
            entries[name]["data_offsets"] = [end, end + array.nbytes]
            parts.append(array.tobytes())
            end += array.nbytes
        for name, change in self.table.items():
            entries.setdefault(name, {}).update(change)
        head = json.dumps(entries, separators=(",", ":")).encode()
        head += b" " * (-len(head) % 8)
        path.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(parts))
        seal(path)

    def header_text(self):
        """Return the header as JSON, or as the text that stands for it."""
        if self.text is not None:
            return self.text
        text = json.dumps(self.header)
        while (at := text.find('"\\u0001raw\\u0001')) >= 0:
            end = text.index('"', at + 1)
            text = text[:at] + text[at + 16 : end] + text[end + 1 :]
        return text


# -- accidents: the checksum must notice every one of them ---------------------------


def _flip(whole, rng):
    found = bytearray(whole)
    for at in rng.integers(len(whole), size=rng.integers(1, 9)):
        found[at] ^= int(rng.integers(1, 256))
    return bytes(found)


def _cut(whole, rng):
    return whole[: rng.integers(len(whole))]


def _lengthen(whole, rng):
    return whole + rng.bytes(rng.integers(1, 100))


def _range(whole, rng):
    first = int(rng.integers(len(whole)))
    return first, min(len(whole), first + int(rng.integers(1, 4096)))


def _blank(whole, rng):
    first, last = _range(whole, rng)
    filling = bytes(last - first) if rng.random() < 0.5 else rng.bytes(last - first)
    return whole[:first] + filling + whole[last:]


def _remove(whole, rng):
    first, last = _range(whole, rng)
    return whole[:first] + whole[last:]


def _repeat(whole, rng):
    first, last = _range(whole, rng)
    return whole[:last] + whole[first:]


ACCIDENTS = [_flip, _flip, _cut, _lengthen, _blank, _remove, _repeat]


# -- intent: the checksum is right, the content is not -------------------------------


def _places(value, found, holder=None, key=None):
    """List every (holder, key) within JSON values."""
    if holder is not None:
        found.append((holder, key))
    if isinstance(value, dict):
        for name in value:
            _places(value[name], found, value, name)
    elif isinstance(value, list):
        for number in range(min(len(value), 30)):
            _places(value[number], found, value, number)
    return found


def _place(pieces, rng):
    found = _places(pieces.header, [])
    return found[rng.integers(len(found))]


def _odd(rng):
    kind = (NUMBERS, TEXTS, OTHERS)[rng.integers(3)]
    return kind[rng.integers(len(kind))]


def _replace_value(pieces, rng):
    holder, key = _place(pieces, rng)
    holder[key] = _odd(rng)


def _nudge_value(pieces, rng):
    places = [
        (holder, key)
        for holder, key in _places(pieces.header, [])
        if type(holder[key]) in (int, float)
    ]
    holder, key = places[rng.integers(len(places))]
    holder[key] *= [-1, 0, 10, 1e30, 1e-30, 1.5][rng.integers(6)]


def _drop_value(pieces, rng):
    holder, key = _place(pieces, rng)
    del holder[key]


def _swap_values(pieces, rng):
    (a, i), (b, j) = _place(pieces, rng), _place(pieces, rng)
    first, second = json.dumps(a[i]), json.dumps(b[j])
    a[i] = json.loads(second)
    if j in b if isinstance(b, dict) else j < len(b):
        b[j] = json.loads(first)


def _add_value(pieces, rng):
    holder, key = _place(pieces, rng)
    if isinstance(holder, dict):
        holder[f"{key}x"] = _odd(rng)
    else:
        holder.insert(key, _odd(rng))


def _bury(pieces, rng):
    holder, key = _place(pieces, rng)
    depth = int(rng.integers(50, 3000))
    holder[key] = RAW + "[" * depth + "]" * depth


def _edit_text(pieces, rng):
    text = pieces.header_text()
    at = int(rng.integers(len(text)))
    pieces.text = text[:at] + '"{}[],:0\\-.e'[rng.integers(12)] + text[at + 1 :]


def _array(pieces, rng):
    names = sorted(pieces.arrays)
    name = names[rng.integers(len(names))]
    return name, pieces.arrays[name]


def _spoil_numbers(pieces, rng):
    name, array = _array(pieces, rng)
    if not array.size:
        return
    flat = array.flatten()
    where = rng.integers(len(flat), size=rng.integers(1, 5))
    if array.dtype.kind == "f":
        odd = [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e29, -1.0, 0.0, 1e-40]
    else:
        most = 1 if array.dtype.kind == "b" else int(np.iinfo(array.dtype).max)
        odd = [0, 1, most, most - 1, most // 2, min(len(flat), most)]
        odd += [-1, -most] if array.dtype.kind == "i" else []
    if array.dtype.kind != "b":
        flat[where] = [odd[i] for i in rng.integers(len(odd), size=len(where))]
    pieces.arrays[name] = flat.reshape(array.shape)


def _spoil_bits(pieces, rng):
    name, array = _array(pieces, rng)
    if array.size:
        raw = bytearray(array.tobytes())
        for at in rng.integers(len(raw), size=rng.integers(1, 9)):
            raw[at] ^= int(rng.integers(1, 256))
        pieces.arrays[name] = np.frombuffer(bytes(raw), array.dtype).reshape(
            array.shape
        )


def _change_type(pieces, rng):
    name, array = _array(pieces, rng)
    kinds = list(NAMES)
    with np.errstate(all="ignore"):
        pieces.arrays[name] = array.astype(kinds[rng.integers(len(kinds))])


def _change_shape(pieces, rng):
    name, array = _array(pieces, rng)
    flat = array.ravel()
    changed = [
        flat[:-1],
        flat[: len(flat) // 2],
        flat[:0],
        flat[:1],
        np.append(flat, flat[:1]),
        np.tile(flat, 2),
        array[None],
        array[..., None],
        array.T,
        flat,
        flat[:1].reshape(()) if array.size else flat,
    ]
    pieces.arrays[name] = np.ascontiguousarray(changed[rng.integers(len(changed))])


def _drop_array(pieces, rng):
    del pieces.arrays[_array(pieces, rng)[0]]


def _swap_arrays(pieces, rng):
    (a, first), (b, second) = _array(pieces, rng), _array(pieces, rng)
    pieces.arrays[a], pieces.arrays[b] = second, first


def _shuffle_array(pieces, rng):
    name, array = _array(pieces, rng)
    pieces.arrays[name] = rng.permutation(array.ravel()).reshape(array.shape)


def _fill_tables(pieces, rng):
    """Leave no empty slot in a hash table, so that no search would ever end."""
    for name, array in pieces.arrays.items():
        if name.endswith("slots"):
            any_number = rng.integers(1, 100, size=array.shape).astype(array.dtype)
            pieces.arrays[name] = np.where(array == 0, any_number, array)


def _spoil_table(pieces, rng):
    name, _ = _array(pieces, rng)
    key = ["dtype", "shape", "data_offsets", "other"][rng.integers(4)]
    value = [_odd(rng), [0, 2**40], [-8, 8], [2**62, 2**62], "F128"][rng.integers(5)]
    pieces.table[name] = {key: value}


INTENT = [
    _replace_value,
    _replace_value,
    _nudge_value,
    _drop_value,
    _swap_values,
    _add_value,
    _bury,
    _edit_text,
    _spoil_numbers,
    _spoil_numbers,
    _spoil_bits,
    _change_type,
    _change_shape,
    _change_shape,
    _drop_array,
    _swap_arrays,
    _shuffle_array,
    _fill_tables,
    _spoil_table,
]


class LaterError(Exception):
    """A model that could be opened could not be used."""


class UnnoticedError(Exception):
    """A damaged file was opened."""


def write_mutated(whole, seed, path):
    """Write a mutated model; return whether nobody could have meant it.

    Parameters
    ----------
    whole : bytes
        The model as it was saved.
    seed : int
        Chooses the mutation.
    path : pathlib.Path
        Where to write it.

    Returns
    -------
    accident : bool
        Whether the checksum is wrong.
    """
    rng = np.random.default_rng([seed, len(whole)])
    if rng.random() < 0.25:
        changed = ACCIDENTS[rng.integers(len(ACCIDENTS))](whole, rng)
        path.write_bytes(changed)
        return changed != whole
    pieces = Pieces(whole)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        # A file of one array may have lost it.
        if pieces.arrays:
            INTENT[rng.integers(len(INTENT))](pieces, rng)
    pieces.write(path)
    return False


def case_of(name):
    """Return the case that opens a mutated model of a kind and asks it everything."""
    whole = saved_model(name)
    folder = tempfile.mkdtemp(prefix="fuzz-")

    def case(seed):
        path = Path(folder, f"model-{os.getpid()}")
        accident = write_mutated(whole, seed, path)
        # The one error that may come of it.
        model = skcw.load(path)
        if accident:
            raise UnnoticedError(f"{type(model).__name__} opened")
        light = can_serve(read_model(path)[0])
        try:
            return ask(path, model, learn=seed % 3 == 0), light and ask_runtime(path)
        except ModelFileError:
            raise
        except SkcwError:
            # For example: the constraints in the file allow no labeling.
            return None
        except Exception as error:
            raise LaterError(repr(error)) from error

    return case


def cases():
    """Return the cases of all kinds of models."""
    return {name: case_of(name) for name in MODELS}


OPTIONS = {"documented": (ModelFileError,), "memory": 2**31}

if __name__ == "__main__":
    sys.exit(long_run(__doc__, cases, 100_000, **OPTIONS))
