"""Templates: literal texts around values that are read along a sentence.

A stream holds one number for each position of a sentence and of a margin on both of its
sides. A template reads a stream at its offset. Conjunctions are streams too: the pair
of a word and its right neighbor is computed once and used for every offset.

Looking up one name means waiting for memory. The new names of a sentence are therefore
composed first, while the places where they may be are fetched, and looked up together.
"""

from libc.stdlib cimport calloc, free, malloc

import numpy as np

from skcw.data.buffers cimport Numbers, push_words
from skcw.data.names cimport NameTable, hash_of
from skcw.features.views cimport View

cdef unsigned long long MULTIPLIER = 0x9E3779B97F4A7C15ULL
cdef int ABSENT = -1
cdef int UNKNOWN = -2


cdef class PairTable:
    """A hash table from two non-negative numbers to one.

    Two words in a row are two numbers already: their pair gets a number without
    any text being joined.
    """

    def __cinit__(self):
        self.n_slots = 256
        self.keys = <unsigned long long*>malloc(self.n_slots * sizeof(long long))
        # Zero is an empty slot, so numbers are stored plus one.
        self.numbers = <int*>calloc(self.n_slots, sizeof(int))
        if self.keys == NULL or self.numbers == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.keys)
        free(self.numbers)

    def __len__(self):
        return self.n_pairs

    def find_or_add(self, int left, int right):
        """Return the number of a pair, added if it is new."""
        return self.number(left, right)

    cdef int number(self, int left, int right) except -1:
        cdef unsigned long long key = <unsigned long long>left << 32 | <unsigned>right
        cdef unsigned long long mixed = key * MULTIPLIER
        cdef Py_ssize_t at = (mixed ^ mixed >> 32) & (self.n_slots - 1)
        while self.numbers[at]:
            if self.keys[at] == key:
                return self.numbers[at] - 1
            at = (at + 1) & (self.n_slots - 1)
        if self.n_pairs >= 0x7FFFFFFE:
            raise OverflowError("more than two billion distinct pairs")
        self.keys[at] = key
        self.n_pairs += 1
        self.numbers[at] = <int>self.n_pairs
        if 2 * self.n_pairs > self.n_slots:
            self._rehash()
        return <int>(self.n_pairs - 1)

    cdef int _rehash(self) except -1:
        cdef unsigned long long mixed
        cdef unsigned long long* old_keys = self.keys
        cdef int* old_numbers = self.numbers
        cdef Py_ssize_t i, at, n_slots = 2 * self.n_slots
        cdef void* keys = malloc(n_slots * sizeof(long long))
        cdef void* numbers = calloc(n_slots, sizeof(int))
        if keys == NULL or numbers == NULL:
            free(keys)
            free(numbers)
            raise MemoryError()
        self.keys, self.numbers = <unsigned long long*>keys, <int*>numbers
        for i in range(self.n_slots):
            if not old_numbers[i]:
                continue
            mixed = old_keys[i] * MULTIPLIER
            at = (mixed ^ mixed >> 32) & (n_slots - 1)
            while self.numbers[at]:
                at = (at + 1) & (n_slots - 1)
            self.keys[at], self.numbers[at] = old_keys[i], old_numbers[i]
        self.n_slots = n_slots
        free(old_keys)
        free(old_numbers)
        return 0


cdef class Stream:
    """The values along one sentence; -1 where there is none."""

    def __cinit__(self, *_args):
        self.ids = Numbers(np.int32)

    cdef int* at(self, Py_ssize_t position) noexcept:
        """Point to the value at a position, from -margin to n_tokens + margin - 1."""
        return <int*>self.ids.data + self.margin + position

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        """Write the values of a sentence, given the numbers of its texts by column."""
        raise NotImplementedError

    cdef Py_ssize_t n_values(self) except -1:
        """Return how many distinct values there have been."""
        return 1

    cdef int _spread(self, Py_ssize_t n_tokens, int value) except -1:
        self.n_tokens = n_tokens
        self.ids.n = 0
        self.ids.fill_ints(n_tokens + 2 * self.margin, value)
        return 0


cdef class ViewStream(Stream):
    """A view of a column; beyond the ends of the sentence the marks _B-1, _B+1..."""

    def __init__(self, View view, Py_ssize_t slot, Py_ssize_t margin):
        self.view = view
        self.slot = slot
        self.margin = margin
        self.before, self.after = Numbers(np.int32), Numbers(np.int32)
        for distance in range(1, margin + 1):
            self.before.push_int(self._mark(b"_B-%d" % distance))
            self.after.push_int(self._mark(b"_B+%d" % distance))

    def _mark(self, bytes mark):
        return self.view.value_number(mark, len(mark)) if self.view.padded else ABSENT

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        cdef const int* value_of = <const int*>self.view.value_of.data
        cdef const int* text = <const int*>(<Numbers>texts[self.slot]).data
        cdef Py_ssize_t i
        cdef int* values
        self._spread(n_tokens, ABSENT)
        values = self.at(0)
        for i in range(n_tokens):
            values[i] = value_of[text[i]]
        for i in range(self.margin):
            values[-1 - i] = (<int*>self.before.data)[i]
            values[n_tokens + i] = (<int*>self.after.data)[i]
        return 0

    cdef Py_ssize_t n_values(self) except -1:
        return self.view.values.n_names


cdef class EdgeStream(Stream):
    """A flag at the first or at the last token, or everywhere."""

    def __init__(self, str where, Py_ssize_t margin):
        self.first = where == "first"
        self.everywhere = where == "bias"
        self.margin = margin

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        self._spread(n_tokens, 0 if self.everywhere else ABSENT)
        if n_tokens:
            self.at(0 if self.first else n_tokens - 1)[0] = 0
        return 0


cdef class PairStream(Stream):
    """The values of one stream together with those of another, shifted."""

    def __init__(self, Stream left, Stream right, Py_ssize_t shift):
        self.left = left
        self.right = right
        self.shift = shift
        self.margin = left.margin
        self.table = PairTable()

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        cdef Py_ssize_t i, first, last
        cdef const int* left
        cdef const int* right
        cdef int* pairs
        self._spread(n_tokens, ABSENT)
        first = max(-self.margin, -self.margin - self.shift)
        last = min(n_tokens + self.margin, n_tokens + self.margin - self.shift)
        left, right, pairs = self.left.at(0), self.right.at(self.shift), self.at(0)
        for i in range(first, last):
            if left[i] >= 0 and right[i] >= 0:
                pairs[i] = self.table.number(left[i], right[i])
        return 0

    cdef Py_ssize_t n_values(self) except -1:
        return self.table.n_pairs


cdef class Atom:
    """A view at an offset from the token.

    `stream` carries its values, unless it has several at a token; `slot` tells which
    column it looks at.
    """

    def __cinit__(self, View view, Stream stream, Py_ssize_t slot, Py_ssize_t offset):
        self.view = view
        self.stream = stream
        self.slot = slot
        self.offset = offset


cdef class Template:
    """The features of one template, and the numbers of those met so far.

    A template reads one stream, at the offset of its first atom. Conjunctions are found
    in `shared`, where templates that differ in their offset alone meet.
    """

    def __cinit__(self, literals, atoms, dict shared):
        # Padded, as they are copied in words of eight bytes.
        self.literals = [literal + bytes(8) for literal in literals]
        self.atoms = list(atoms)
        self.numbers = Numbers(np.int32)
        self.several = any((<Atom>atom).stream is None for atom in atoms)
        # Where an atom has several values, pairs are made token by token.
        self.links = [PairTable() for _ in atoms[1:]]
        if not self.several:
            self.stream = self._joined(shared)

    def _joined(self, dict shared):
        cdef Atom first = self.atoms[0], atom
        cdef Stream stream = first.stream
        key = (id(stream),)
        for atom in self.atoms[1:]:
            shift = atom.offset - first.offset
            key = (*key, id(atom.stream), shift)
            if key not in shared:
                shared[key] = PairStream(stream, atom.stream, shift)
            stream = shared[key]
        return stream

    cdef int compose(self, Numbers name, Py_ssize_t i) except -1:
        """Append the name of the feature at token i."""
        cdef Py_ssize_t a
        cdef Atom atom
        cdef bytes literal = <bytes>self.literals[0]
        cdef long long begin, end
        cdef int value
        push_words(name, literal, len(literal) - 8)
        for a in range(len(self.atoms)):
            atom = <Atom>self.atoms[a]
            if atom.view is not None:
                value = atom.chosen if atom.stream is None else atom.stream.at(
                    i + atom.offset)[0]
                begin = atom.view.values.ends[value]
                end = atom.view.values.ends[value + 1]
                push_words(name, atom.view.values.blob + begin, end - begin)
            literal = <bytes>self.literals[a + 1]
            push_words(name, literal, len(literal) - 8)
        return 0


cdef class NameLookup:
    """New names, in order, with the template and the value they belong to.

    Names not in `table` are added if it may grow, and else unknown; with `n_features`
    the numbers are hashes instead.
    """

    def __cinit__(self, NameTable table, bint grow, n_features):
        self.table = table
        self.grow = grow
        self.n_features = n_features
        self.blob = Numbers(np.uint8)
        self.ends, self.keys = Numbers(np.int64), Numbers(np.int64)
        self.values, self.numbers = Numbers(np.int32), Numbers(np.int32)
        self.templates = []

    cdef int close(self, Template template, int value) except -1:
        """End the name that was written to `blob`."""
        cdef long long begin = 0
        cdef unsigned long long key
        if self.n:
            begin = (<long long*>self.ends.data)[self.n - 1]
        key = hash_of(self.blob.data + begin, self.blob.n - begin)
        self.table.prefetch(key)
        self.ends.push_long(self.blob.n)
        self.keys.push_long(<long long>key)
        self.values.push_int(value)
        self.templates.append(template)
        self.n += 1
        return 0

    cdef const int* resolved(self) except NULL:
        """Look all names up, tell the templates, and return the numbers."""
        cdef Py_ssize_t k
        cdef long long begin = 0, end
        cdef int number
        cdef Template template
        cdef const unsigned long long* keys = <unsigned long long*>self.keys.data
        self.numbers.n = 0
        for k in range(self.n):
            self.table.prefetch_end(keys[k])
        for k in range(self.n):
            self.table.prefetch_text(keys[k])
        for k in range(self.n):
            end = (<long long*>self.ends.data)[k]
            number = self._number(self.blob.data + begin, end - begin, keys[k])
            begin = end
            self.numbers.push_int(number)
            template = <Template>self.templates[k]
            (<int*>template.numbers.data)[(<int*>self.values.data)[k]] = number
        self.n = self.blob.n = self.ends.n = self.keys.n = self.values.n = 0
        self.templates.clear()
        return <const int*>self.numbers.data

    cdef int _number(
        self, const char* text, Py_ssize_t size, unsigned long long key
    ) except -3:
        cdef int number
        if self.n_features:
            return <int>(key % self.n_features)
        number = self.table.find(text, size, key)
        if number < 0 and self.grow:
            return self.table.add(text, size, key)
        return number if number >= 0 else UNKNOWN
