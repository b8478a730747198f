"""The model files of CRFsuite, read and written.

CRFsuite itself can only print a model, with six decimals and in lines that feature
names can break. The file is simple: a header with the offsets of its five parts. These
are the features as packed records; two tables of strings, for labels and attributes,
which can be looked up by number and by hash; and two tables that list the features of
each label and of each attribute.
"""

import struct
from typing import NamedTuple

import numpy as np

from skcw._model.gaussian import Belief, padded
from skcw._util.limits import LARGEST_LEARNED, MOST_CRFSUITE_LABELS
from skcw.exceptions import ModelFileError

# magic, size, type, version, numbers of features, labels and attributes, and offsets of
# features, labels, attributes and two tables of references.
_HEADER = struct.Struct("<4sI4s9I")
# magic, size, number of features
_FEATURES = struct.Struct("<4s2I")
_FEATURE = np.dtype(
    [("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")]
)
_STATE, _TRANSITION = 0, 1
# magic, size, flag, byte order, number of strings, offset of their offsets
_STRINGS = struct.Struct("<4s5I")
_BYTE_ORDER = 0x62445371
# id and size, before the bytes of a string and its NUL
_STRING = struct.Struct("<2I")
# Strings are spread over so many hash tables by the last byte of their hashes.
_N_TABLES = 256
# magic, size, number of lists of features
_REFERENCES = struct.Struct("<4s2I")
# Offsets in the file have 32 bits.
MAX_BYTES = 2**32 - 1


class Weights(NamedTuple):
    """The weights of a model: features are (source, label, weight) records.

    The source of a state feature is an attribute, that of a transition a label.
    """

    labels: list
    attributes: list
    states: np.ndarray
    transitions: np.ndarray

    def check(self):
        """Raise at a number that stands for no label or attribute, or for no weight."""
        for names in (self.labels, self.attributes):
            if len(set(names)) != len(names):
                raise ValueError("a label or an attribute is there twice")
        if not 0 < len(self.labels) <= MOST_CRFSUITE_LABELS:
            raise ValueError(f"there are {len(self.labels)} labels")
        parts = (self.states, self.attributes), (self.transitions, self.labels)
        for records, sources in parts:
            known = (records["source"] < len(sources)) & (
                records["label"] < len(self.labels)
            )
            fits = known & (np.abs(records["weight"]) <= LARGEST_LEARNED)
            if not fits.all():
                raise ValueError("a weight has no label or attribute, or is not finite")

    def belief(self, rows):
        """Return the weights as a belief.

        Parameters
        ----------
        rows : ndarray of int64, shape (n_features,)
            The attribute number of each feature, -1 if it is not an attribute.

        Returns
        -------
        belief : Belief
            In double precision, without variances.
        """
        n, width = len(self.labels), padded(len(self.labels))
        # The transitions and the blank row come first.
        weights = np.zeros((width + 1 + len(self.attributes), width))
        links, states = self.transitions, self.states
        weights[links["source"], links["label"]] = links["weight"]
        weights[width + 1 + states["source"].astype(np.int64), states["label"]] = (
            states["weight"]
        )
        row_of = np.where(rows < 0, width, width + 1 + rows).astype(np.int32)
        return Belief(n, row_of, weights.ravel(), None, None, 0.0)

    @classmethod
    def from_belief(cls, belief, labels, names):
        """Return the weights of a belief; those that are zero have no record.

        Parameters
        ----------
        belief : Belief
            The weights of a chain.
        labels : list of str
            Its labels.
        names : sequence of str
            The names of its features.

        Returns
        -------
        weights : Weights
            Attributes in the order of their rows.
        """
        first_row = belief.width + 1
        table = belief.weights.reshape(-1, belief.width)[:, : len(labels)]
        used = np.flatnonzero(table[first_row:].any(axis=1)) + first_row
        name_of = dict(zip(belief.row_of.tolist(), names, strict=True))
        return cls(
            labels=list(labels),
            attributes=[name_of[row] for row in used.tolist()],
            states=_records(_STATE, table[used]),
            transitions=_records(_TRANSITION, table[: len(labels)]),
        )

    def rows_of(self, names):
        """Return the attribute number of each name, -1 if it is not an attribute."""
        known = {name: row for row, name in enumerate(self.attributes)}
        rows = [known.get(name, -1) for name in names]
        return np.array(rows, dtype=np.int64)


def read_weights(data):
    """Return the weights of a model given as bytes."""
    if data[:4] != b"lCRF" or len(data) < _HEADER.size:
        raise ModelFileError("these bytes are not a CRFsuite model")
    header = _HEADER.unpack_from(data)
    if header[1] != len(data):
        raise ModelFileError(
            "the CRFsuite model is truncated or damaged: it should have "
            f"{header[1]} bytes and has {len(data)}"
        )
    try:
        weights = _unpacked(data, *header[7:10])
        weights.check()
    except (struct.error, ValueError) as error:
        raise ModelFileError(f"the CRFsuite model is damaged: {error}") from error
    return weights


def _unpacked(data, at_features, at_labels, at_attributes):
    """Return the weights that begin at these places."""
    count = _FEATURES.unpack_from(data, at_features)[2]
    features = np.frombuffer(data, _FEATURE, count, at_features + _FEATURES.size)
    return Weights(
        labels=_read_strings(data, at_labels),
        attributes=_read_strings(data, at_attributes),
        states=features[features["kind"] == _STATE],
        transitions=features[features["kind"] == _TRANSITION],
    )


def _read_strings(data, start):
    """Return the strings of a table in the order of their ids."""
    count, at_offsets = _STRINGS.unpack_from(data, start)[4:6]
    offsets = np.frombuffer(data, "<u4", count, start + at_offsets)
    strings = []
    for offset in (offsets + start).tolist():
        size = _STRING.unpack_from(data, offset)[1]
        first = offset + _STRING.size
        strings.append(data[first : first + size - 1].decode())
    return strings


def _records(kind, table):
    """Return a record for every weight of a table that is not zero."""
    source, label = np.nonzero(table)
    records = np.zeros(len(source), _FEATURE)
    records["kind"], records["source"], records["label"] = kind, source, label
    records["weight"] = table[source, label]
    return records


def write_weights(weights):
    """Return the bytes of a model that CRFsuite opens, byte for byte as it writes them.

    Parameters
    ----------
    weights : Weights
        The weights, with the records in the order of their sources.

    Returns
    -------
    data : bytes
        The content of a model file.
    """
    features = np.concatenate([weights.states, weights.transitions])
    n_labels, n_attributes = len(weights.labels), len(weights.attributes)
    size = _FEATURES.size + features.nbytes
    parts = [_FEATURES.pack(b"FEAT", size, len(features)) + features.tobytes()]
    parts += [_string_table(weights.labels), _string_table(weights.attributes)]
    # What comes next begins at a multiple of four bytes.
    offsets = _HEADER.size + np.cumsum([0, *map(len, parts)])
    parts[-1] += bytes(-offsets[-1] % 4)
    offsets[-1] += -offsets[-1] % 4
    # Two more labels stand for the ends of a sequence, which have no features.
    first = len(weights.states)
    by_label = np.bincount(weights.transitions["source"], minlength=n_labels)
    parts.append(_references(b"LFRF", offsets[-1], by_label, first, n_empty=2))
    at_last = offsets[-1] + len(parts[-1])
    by_attribute = np.bincount(weights.states["source"], minlength=n_attributes)
    parts.append(_references(b"AFRF", at_last, by_attribute))
    size = at_last + len(parts[-1])
    _check_size(size)
    # CRFsuite leaves the number of features to their own part.
    counts = (0, n_labels, n_attributes)
    header = _HEADER.pack(b"lCRF", size, b"FOMC", 100, *counts, *offsets, at_last)
    return b"".join([header, *parts])


def _check_size(size):
    """Raise at a file that offsets could not describe."""
    if size > MAX_BYTES:
        raise ValueError(
            f"the model would take more than {MAX_BYTES} bytes, the limit of a "
            "CRFsuite file; train it with a higher min_count or c1"
        )


def _references(magic, start, counts, first=0, n_empty=0):
    """Return the table that lists the features of each source.

    Parameters
    ----------
    magic : bytes
        Which table it is.
    start : int
        Its offset in the file.
    counts : ndarray of int, shape (n_sources,)
        How many features each source has. Features are numbered in this order.
    first : int, default=0
        The number of the first feature.
    n_empty : int, default=0
        How many sources without a list follow.

    Returns
    -------
    table : bytes
        Its header, the offsets of the lists, and the lists, each after its length.
    """
    n_sources = len(counts) + n_empty
    before = _REFERENCES.size + 4 * n_sources
    ends = np.cumsum(counts)
    places = np.arange(len(counts)) + ends - counts
    # The number of a feature, or the length of a list where one begins.
    entries = np.zeros(len(counts) + int(counts.sum()), dtype="<u4")
    is_length = np.zeros(len(entries), dtype=bool)
    is_length[places] = True
    entries[is_length] = counts
    entries[~is_length] = first + np.arange(int(counts.sum()))
    offsets = np.zeros(n_sources, dtype=np.int64)
    offsets[: len(counts)] = start + before + 4 * places
    header = _REFERENCES.pack(magic, before + entries.nbytes, n_sources)
    return header + offsets.astype("<u4").tobytes() + entries.tobytes()


def _string_table(strings):
    """Return a table in which strings are found by number and by hash (a CQDB)."""
    keys = [string.encode() + b"\0" for string in strings]
    records = [_STRING.pack(i, len(key)) + key for i, key in enumerate(keys)]
    before = _STRINGS.size + 8 * _N_TABLES
    starts = before + np.cumsum([0, *map(len, records)])
    offsets = starts[:-1].astype("<u4")
    directory, buckets = _hash_tables(_hashes(keys), offsets, int(starts[-1]))
    at_offsets = int(starts[-1]) + buckets.nbytes
    size = at_offsets + offsets.nbytes
    _check_size(size)
    # A table without strings has no place for their offsets.
    numbers = (size, 0, _BYTE_ORDER, len(keys), at_offsets if keys else 0)
    header = _STRINGS.pack(b"CQDB", *numbers)
    parts = [header, directory, *records, buckets, offsets]
    return b"".join(bytes(part) for part in parts)


def _hash_tables(hashes, offsets, start):
    """Return the places and sizes of the hash tables, and their (hash, offset) buckets.

    Parameters
    ----------
    hashes : ndarray of uint32
        The hashes of the strings.
    offsets : ndarray of uint32
        Where the strings are.
    start : int
        Where the buckets will be.

    Returns
    -------
    directory, buckets : ndarray of uint32
        In the order of the file.
    """
    table = hashes % _N_TABLES
    # Half of the buckets stay empty.
    sizes = 2 * np.bincount(table, minlength=_N_TABLES)
    firsts = np.cumsum(sizes) - sizes
    buckets = np.zeros((int(sizes.sum()), 2), dtype="<u4")
    wanted = (hashes // _N_TABLES) % np.maximum(sizes[table], 1)
    taken = bytearray(len(buckets))
    places = []
    rows = (firsts[table].tolist(), sizes[table].tolist(), wanted.tolist())
    for first, size, place in zip(*rows, strict=True):
        while taken[first + place]:
            place = (place + 1) % size
        taken[first + place] = 1
        places.append(first + place)
    buckets[places, 0], buckets[places, 1] = hashes, offsets
    used = sizes > 0
    directory = np.zeros((_N_TABLES, 2), dtype="<u4")
    directory[used, 0], directory[:, 1] = (start + 8 * firsts)[used], sizes
    return directory, buckets


def _hashes(keys):
    """Return the hash of each key: `hashlittle` of B. Jenkins' lookup3, from 0."""
    lengths = np.array([len(key) for key in keys], dtype=np.int64)
    hashes = np.zeros(len(keys), dtype=np.uint32)
    n_blocks = -(-lengths // 12)
    for n in np.unique(n_blocks).tolist():
        own = np.flatnonzero(n_blocks == n)
        text = b"".join(keys[i].ljust(12 * n, b"\0") for i in own.tolist())
        blocks = np.frombuffer(text, "<u4").reshape(len(own), n, 3)
        hashes[own] = _hash_blocks(blocks, lengths[own])
    return hashes


def _hash_blocks(blocks, lengths):
    """Return the hashes of keys that take the same number of blocks of three words."""
    start = (0xDEADBEEF + lengths).astype(np.uint32)
    a, b, c = start, start.copy(), start.copy()
    for i in range(blocks.shape[1]):
        a, b, c = (word + blocks[:, i, j] for j, word in enumerate((a, b, c)))
        if i + 1 < blocks.shape[1]:
            a, b, c = _mix(a, b, c)
    return _last_mix(a, b, c)


def _turned(word, n_bits):
    """Return words whose bits are turned to the left."""
    return (word << np.uint32(n_bits)) | (word >> np.uint32(32 - n_bits))


def _mix(a, b, c):
    """Return three words in which each bit of a block has changed many."""
    for n_bits in (4, 6, 8, 16, 19, 4):
        a, b, c = b, c + b, (a - c) ^ _turned(c, n_bits)
    return a, b, c


def _last_mix(a, b, c):
    """Return one word that depends on every bit of the three."""
    for n_bits in (14, 11, 25, 16, 4, 14, 24):
        a, b, c = b, (c ^ b) - _turned(b, n_bits), a
    return b
