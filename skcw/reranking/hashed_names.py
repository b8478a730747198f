"""Names of global features as numbers, made for many entities at once."""

from functools import lru_cache
from itertools import product

import numpy as np

from skcw._kernels.ranking import number_hashes
from skcw._util.ragged import offsets_of
from skcw.features.basic import cased_kind, collapsed_shape
from skcw.reranking.words import NULL

# How many letters of a word, and how many words around an entity, show its type.
LETTERS, AROUND = (2, 3, 4), (1, 2, 3)
MOST_WORDS = 5
# Odd, so that no power of it is zero.
BASE = 0x9E3779B97F4A7C15
# So many texts are hashed at a time: the numbers of their letters take much memory.
AT_ONCE = 1 << 12


class HashedTexts:
    """Texts as polynomials of their characters modulo 2**64, which can be joined.

    Parameters
    ----------
    value, power : ndarray of uint64
        The value of each text, and the power of the base that its length makes.
    """

    def __init__(self, value, power):
        self.value, self.power = value, power

    @classmethod
    def of(cls, texts):
        """Return the hashes of strings."""
        value, power = np.empty((2, len(texts)), dtype=np.uint64)
        for first in range(0, len(texts), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            value[part], power[part] = _hashed(texts[part])
        return cls(value, power)

    def __add__(self, other):
        return HashedTexts(
            self.value * other.power + other.value, self.power * other.power
        )

    def __getitem__(self, key):
        return HashedTexts(self.value[key], self.power[key])

    def __setitem__(self, key, texts):
        self.value[key], self.power[key] = texts.value, texts.power


def _hashed(texts):
    """Return the values and powers of strings."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(joined, dtype="<u4").astype(np.uint64) + np.uint64(1)
    powers = np.full(int(lengths.max(initial=0)) + 1, BASE, dtype=np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers, dtype=np.uint64)
    offsets = offsets_of(lengths)
    behind = np.repeat(offsets[1:], lengths) - np.arange(len(points)) - 1
    sums = np.zeros(len(points) + 1, dtype=np.uint64)
    np.cumsum(points * powers[behind], out=sums[1:])
    return sums[offsets[1:]] - sums[offsets[:-1]], powers[lengths]


def text(string):
    """Return the hash of one string, to be joined with those of many."""
    return HashedTexts.of([string])


SPACE = text(" ")


@lru_cache(maxsize=1 << 16)
def word_parts(word):
    """Return a word, its shape, its small letters, and their beginnings and ends."""
    lower = word.lower()
    return (
        word,
        collapsed_shape(word, cased_kind),
        lower,
        *(lower[:n] for n in LETTERS),
        *(lower[-n:] for n in LETTERS),
    )


class HashedWords:
    """The words of sentences as the templates see them, two NULL around each sentence.

    Parameters
    ----------
    rows : list of sequences of str
        The words.
    lexicon : set of str
        Words that are mostly written with a small letter.

    Attributes
    ----------
    begins : ndarray of int64, shape (n_sentences,)
        The position of the first word of each sentence.
    lengths : ndarray of int64
        The number of words of each.
    word, shape, flagged, lower, is_small : HashedTexts
        By position; `starts` and `stops` hold beginnings and ends of words.
    """

    def __init__(self, rows, lexicon):
        number, ids = {}, []
        for row in rows:
            ids += [0, 0, *(number.setdefault(w, len(number) + 1) for w in row), 0, 0]
        ids = np.array(ids, dtype=np.int64)
        parts = [(NULL,) * (3 + 2 * len(LETTERS)), *map(word_parts, number)]
        flags = [f"{part[1]}{int(part[2] in lexicon)}" for part in parts]
        flags[0] = NULL
        columns = [HashedTexts.of(column)[ids] for column in zip(*parts, strict=True)]
        self.word, self.shape, self.lower = columns[:3]
        self.flagged = HashedTexts.of(flags)[ids]
        cut = 3 + len(LETTERS)
        self.starts, self.stops = columns[3:cut], columns[cut:]
        small = [str(int(part[0][:1].islower())) for part in parts]
        self.is_small = HashedTexts.of(small)[ids]
        self.lengths = np.array([len(row) for row in rows], dtype=np.int64)
        self.begins = offsets_of(self.lengths + 4)[:-1] + 2


class EntityHashes:
    """Hashes of the features of entities, template by template.

    It makes what ``entity_strings`` and ``type_strings`` make, in the same order.

    Parameters
    ----------
    words : HashedWords
        The sentences.
    label : HashedTexts
        The label of each entity.
    sentence, start, stop : ndarray of int64
        Where each is.
    """

    def __init__(self, words, label, sentence, start, stop):
        self.words, self.label = words, label + SPACE
        self.first = words.begins[sentence] + start
        self.size = stop - start
        self.before, self.after = start, words.lengths[sentence] - stop
        self.last = self.first + self.size - 1
        # Pairs of rows (None for all) and hashes, each row once at most.
        self.found = []

    def _add(self, name, texts, rows=None):
        label = self.label if rows is None else self.label[rows]
        self.found.append((rows, (label + (text(f"{name}=") + texts)).value))

    def _runs(self, texts, first, step):
        """Yield rows and the first n texts of each entity, for n from 1 on."""
        rows, joined = np.arange(len(self.size)), texts[first]
        n = 1
        while len(rows):
            yield rows, joined
            longer = self.size[rows] > n
            rows = rows[longer]
            joined = joined[longer] + SPACE + texts[first[rows] + n * step]
            n += 1

    def _ngrams(self, name, n, first):
        sides = [
            (self.words.word[first + k], self.words.flagged[first + k])
            for k in range(n)
        ]
        for bits in product((0, 1), repeat=n):
            joined = sides[0][bits[0]]
            for k in range(1, n):
                joined = joined + SPACE + sides[k][bits[k]]
            self._add(f"{name}{''.join(map(str, bits))}", joined)

    def of_borders(self):
        """Add the features of Collins (2002), figure 1."""
        words, first, last = self.words, self.first, self.last
        whole = words.word[first]
        for rows, joined in self._runs(words.word, first, 1):
            whole[rows] = joined
        self._add("WE", whole)
        for names, texts in (
            (("PF", "SF", "FF"), words.shape),
            (("PF2", "SF2", "GF"), words.flagged),
        ):
            whole = texts[first]
            for rows, joined in self._runs(texts, first, 1):
                self._add(names[0], joined, rows)
                whole[rows] = joined
            self._add(names[2], whole)
            for rows, joined in self._runs(texts, last, -1):
                self._add(names[1], joined, rows)
        self._add("LW", words.word[last])
        self._add("LWLC", words.is_small[last])
        for name, n, place in (
            ("BO", 2, first - 1),
            ("BE", 2, last),
            ("TO", 3, first - 2),
            ("TO2", 3, first - 1),
            ("TE", 3, last - 1),
            ("TE2", 3, last - 2),
        ):
            self._ngrams(name, n, place)

    def of_types(self):
        """Add the features that show the type of an entity."""
        words, first, last = self.words, self.first, self.last
        sizes = HashedTexts.of([str(n) for n in range(MOST_WORDS + 1)])
        self._add("FW", words.word[first])
        self._add("N", sizes[np.minimum(self.size, MOST_WORDS)])
        for n in range(int(self.size.max(initial=0))):
            rows = np.flatnonzero(self.size > n)
            self._add("IW", words.word[first[rows] + n], rows)
        for name, place in (("F", first), ("L", last)):
            for n, starts, stops in zip(
                LETTERS, words.starts, words.stops, strict=True
            ):
                self._add(f"{name}P{n}", starts[place])
                self._add(f"{name}S{n}", stops[place])
        for distance in AROUND:
            before = np.flatnonzero(self.before >= distance)
            after = np.flatnonzero(self.after >= distance)
            sides = words.lower[first[before] - distance], before
            self._add(f"B{distance}", *sides)
            self._add("B", *sides)
            sides = words.lower[last[after] + distance], after
            self._add(f"A{distance}", *sides)
            self._add("A", *sides)

    def rows(self):
        """Return where the hashes of each entity begin, and all hashes."""
        counts = np.zeros(len(self.size), dtype=np.int64)
        for rows, _ in self.found:
            counts[slice(None) if rows is None else rows] += 1
        indptr = offsets_of(counts)
        free, out = indptr[:-1].copy(), np.empty(indptr[-1], dtype=np.uint64)
        for rows, hashes in self.found:
            rows = slice(None) if rows is None else rows
            out[free[rows]] = hashes
            free[rows] += 1
        return indptr, out


class NameNumbers:
    """Numbers of names by their hashes, in how many sentences each is, and where first.

    Parameters
    ----------
    hashes : ndarray of uint64, default=()
        Hashes that have the numbers 0, 1, ...

    Attributes
    ----------
    n : int
        How many names there are.
    known : ndarray of uint64
        Their hashes.
    count, first : ndarray of int64
        In how many sentences each was found, and the first place of all hashes of rows
        that has it.
    """

    def __init__(self, hashes=()):
        self.n = len(hashes)
        self.known = np.array(hashes, dtype=np.uint64)
        self.slots = np.empty(0, dtype=np.int32)
        self.count, self.first, self.last = np.full((3, self.n), -1, dtype=np.int64)
        # Filled now, so that looking names up changes nothing.
        self._number(np.empty(0, np.uint64), np.zeros(1, np.int64), self.last[:0])

    def __call__(self, rows, n_before=0, grow=True):
        """Return the numbers of the features of rows, which come by sentence.

        Parameters
        ----------
        rows : Rows
            The rows; sentences may not fall from call to call.
        n_before : int, default=0
            How many hashes came before.
        grow : bool, default=True
            Whether new names get a number and all are counted, or have -1.
        """
        place = rows.hashes, rows.indptr, rows.sentence
        return self._number(*place, n_before, grow)

    def _number(self, hashes, indptr, sentence, n_before=0, grow=True):
        most = self.n + grow * len(hashes)
        names = "known", "count", "first", "last"
        arrays = [np.resize(getattr(self, name), most) for name in names]
        slots, n_in_slots = self.slots, self.n
        if len(slots) <= 2 * most:
            size = 1 << (2 * most + 1).bit_length()
            slots, n_in_slots = np.full(size, -1, dtype=np.int32), 0
        numbers = np.empty(len(hashes), dtype=np.int32)
        n = number_hashes(
            hashes,
            indptr,
            sentence,
            n_before,
            slots,
            *arrays,
            self.n,
            n_in_slots,
            numbers,
            grow,
        )
        if grow:
            self.slots, self.n = slots, n
            for name, array in zip(names, arrays, strict=True):
                setattr(self, name, array[:n])
        return numbers
