"""``Vocabulary``: millions of feature names in three arrays."""

from codecs import getincrementaldecoder
from itertools import pairwise

import numpy as np

from skcw._kernels.integrity import longest_run
from skcw._util.limits import LONGEST_RUN
from skcw._util.ragged import joined_ranges, offsets_of
from skcw.data.names import NameTable, slots_of
from skcw.data.saved import saved_array

_PARTS = {"blob": "u1", "ends": "i8", "slots": "u8"}
_DECODED_BYTES = 1 << 20


class Vocabulary:
    """Names numbered in order of first appearance; frozen once made.

    The names lie in one UTF-8 blob with a compact hash table beside it: about
    30 bytes per name besides its letters, where a dict of strings takes 150. All
    of it is arrays, so it pickles, and a saved one is searched where it lies.

    Parameters
    ----------
    blob : ndarray of uint8
        The names, one after the other.
    ends : ndarray of int64, shape (n_names + 1,)
        Name i is ``blob[ends[i]:ends[i + 1]]``.
    slots : ndarray of uint64
        The hash table.

    Examples
    --------
    >>> from skcw.data.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary.from_names(["the", "cat"])
    >>> len(vocabulary), vocabulary.find("cat"), vocabulary.find("dog")
    (2, 1, -1)
    >>> vocabulary[0]
    'the'
    """

    def __init__(self, blob, ends, slots):
        self.blob = blob
        self.ends = ends
        self.slots = slots
        self._is_checked = False

    @classmethod
    def empty(cls):
        """Return a vocabulary without names."""
        return cls(
            np.empty(0, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
            np.zeros(1024, dtype=np.uint64),
        )

    @classmethod
    def from_names(cls, names):
        """Number the names in the order given; a repeated name counts once."""
        table = cls.empty().table(grow=True)
        for name in names:
            table.find_or_add(name.encode("utf-8", "surrogatepass"))
        return cls(*table.freeze())

    @classmethod
    def from_sizes(cls, blob, sizes):
        """Return the names of a blob, given the size of each; raise if they do not fit.

        The names are taken to be different: of two that are not the first is found.
        """
        ends = offsets_of(sizes.astype(np.int64))
        _check_ends(blob, ends)
        found = cls(blob, ends, slots_of(blob, ends))
        found._check_text()
        found._is_checked = True
        return found

    @classmethod
    def from_arrays(cls, arrays, prefix="vocabulary"):
        """Return the vocabulary among the arrays of a model, or None if it has none.

        A file without its hash table was opened with the vocabulary itself.
        """
        if prefix in arrays:
            return arrays[prefix]
        if f"{prefix}.blob" not in arrays:
            return None
        return cls(
            *(
                saved_array(arrays, f"{prefix}.{part}", (kind,), (None,))
                for part, kind in _PARTS.items()
            )
        )

    @classmethod
    def restored(cls, arrays, n_features):
        """Return the same, checked, for a model with so many features."""
        vocabulary = cls.from_arrays(arrays)
        if vocabulary is not None:
            vocabulary.check(n_features)
        return vocabulary

    def arrays(self, prefix="vocabulary"):
        """Return the arrays by the names that they have in the file of a model."""
        return {f"{prefix}.{part}": getattr(self, part) for part in _PARTS}

    def check(self, n_names):
        """Raise unless the arrays fit together and hold so many names."""
        n_slots = len(self.slots)
        if len(self) != n_names or n_slots <= n_names or n_slots & (n_slots - 1):
            raise ValueError("the arrays of feature names do not fit together")
        if self._is_checked:
            return
        _check_ends(self.blob, self.ends)
        self._check_slots()
        self._check_text()
        self._is_checked = True

    def _check_slots(self):
        """Raise unless the hash table has a slot for each name, and searches end."""
        seen = np.zeros(len(self), dtype=np.uint8)
        run = longest_run(self.slots, seen)
        if run < 0 or not seen.all():
            raise ValueError("the table of feature names does not hold each of them")
        if run > LONGEST_RUN:
            raise ValueError("the table of feature names cannot be searched")

    def _check_text(self):
        """Raise unless the names are texts."""
        decoder = getincrementaldecoder("utf-8")("surrogatepass")
        for first in range(0, len(self.blob), _DECODED_BYTES):
            decoder.decode(self.blob[first : first + _DECODED_BYTES].tobytes())
        decoder.decode(b"", final=True)
        starts = self.ends[:-1][np.diff(self.ends) > 0]
        if (self.blob[starts] & 0xC0 == 0x80).any():
            raise ValueError("a feature name begins within a letter")

    def table(self, grow=False):
        """Return a compiled table on these arrays, or on a copy that can grow."""
        return NameTable(self.blob, self.ends, self.slots, grow)

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, number):
        if not 0 <= number < len(self):
            raise IndexError(f"no name has the number {number}; there are {len(self)}")
        raw = self.blob[self.ends[number] : self.ends[number + 1]].tobytes()
        return raw.decode("utf-8", "surrogatepass")

    def find(self, name):
        """Return the number of a name, or -1."""
        return int(self.find_all([name])[0])

    def find_all(self, names):
        """Return the numbers of many names as an array, -1 where one is not known."""
        find = self.table().find_name
        return np.array(
            [find(name.encode("utf-8", "surrogatepass")) for name in names],
            dtype=np.int64,
        )

    def names(self):
        """Return all names as a list of strings."""
        raw = self.blob.tobytes()
        ends = self.ends.tolist()
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]

    def select(self, keep):
        """Return the vocabulary of the names where the mask `keep` is true."""
        chosen = np.flatnonzero(keep)
        lengths = np.diff(self.ends)[chosen]
        table = Vocabulary.empty().table(grow=True)
        blob = self.blob[joined_ranges(self.ends[chosen], lengths)]
        table.add_all(blob, offsets_of(lengths))
        return Vocabulary(*table.freeze())

    def fingerprint(self, n_names=None):
        """Return a short hash of the first `n_names` names (of all by default)."""
        # Tagging needs no fingerprint, and hashlib loads a large library.
        from hashlib import blake2b

        n_names = len(self) if n_names is None else n_names
        digest = blake2b(digest_size=12)
        digest.update(self.ends[: n_names + 1].tobytes())
        digest.update(self.blob[: self.ends[n_names]].tobytes())
        return digest.hexdigest()

    def agrees_with(self, other):
        """Return whether one of two vocabularies continues the other."""
        if self is other:
            return True
        common = min(len(self), len(other))
        return self.fingerprint(common) == other.fingerprint(common)

    def __repr__(self):
        return f"Vocabulary({len(self)} names)"


def _check_ends(blob, ends):
    if ends[0] != 0 or ends[-1] != len(blob) or (ends[1:] < ends[:-1]).any():
        raise ValueError("the feature names are not complete")
