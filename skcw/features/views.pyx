"""Views of a text: the text itself, its prefixes, its shape, a flag.

A view is worked out once for each distinct text of a column, not for each token: a
corpus of a million words has some fifty thousand distinct ones. Texts are UTF-8, and
everything goes by characters as Python's own string methods do.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcmp

from skcw.data.vocabulary import Vocabulary

from skcw.data.names cimport hash_of
from skcw.data.buffers cimport Numbers
from skcw.features.characters cimport (
    character_at, character_size, first_characters, last_characters,
)

import numpy as np

cdef enum:
    TEXT
    LOWER
    SHAPE
    SHORT_SHAPE
    ASKED
    INSIDE
    PREFIX
    SUFFIX
    NGRAMS
    HAS_DIGIT
    ALL_DIGITS
    HAS_HYPHEN
    FIRST_CAPITAL
    HAS_CAPITAL
    ALL_CAPITALS
    LEXICON
    CALLED

# "inside" is the text without marks beyond the ends of the sentence, "called" what a
# function says of it likewise, and "asked" the same with marks.
KINDS = (
    "text", "lower", "shape", "short_shape", "asked", "inside", "prefix", "suffix",
    "ngrams", "has_digit", "all_digits", "has_hyphen", "first_capital", "has_capital",
    "all_capitals", "lexicon", "called",
)

# The value of a text that a view has nothing to say about.
cdef int ABSENT = -1


cdef class View:
    """The values of one view, for each text of a column in order of appearance."""

    def __cinit__(self, Py_ssize_t column, str kind, Py_ssize_t size, payload):
        self.column = column
        self.kind = KINDS.index(kind)
        self.size = size
        self.payload = payload
        self.several = self.kind == NGRAMS
        # Views of a whole text also see the marks beyond the ends of a sentence.
        self.padded = self.kind <= ASKED
        self.values = Vocabulary.empty().table(grow=True)
        self.value_of = Numbers(np.int32)
        self.starts = Numbers(np.int32)
        self.starts.push_int(0)

    def __dealloc__(self):
        free(self.scratch)

    cdef int learn(self, const char* text, Py_ssize_t size) except -1:
        """Work out the value, or values, of the next text."""
        if self.several:
            self._ngrams(text, size)
            self.starts.push_int(<int>self.value_of.n)
        else:
            self.value_of.push_int(self._single(text, size))
        return 0

    cdef int value_number(self, const char* text, Py_ssize_t size) except -1:
        cdef unsigned long long key = hash_of(text, size)
        cdef int number = self.values.find(text, size, key)
        return number if number >= 0 else self.values.add(text, size, key)

    cdef int _single(self, const char* text, Py_ssize_t size) except -2:
        cdef Py_ssize_t at
        if self.kind == TEXT or self.kind == INSIDE:
            return self.value_number(text, size)
        if self.kind == LOWER:
            return self._lower(text, size)
        if self.kind == SHAPE or self.kind == SHORT_SHAPE:
            return self._shape(text, size, self.kind == SHORT_SHAPE)
        if self.kind == PREFIX:
            at = first_characters(text, size, self.size)
            return ABSENT if at < 0 else self.value_number(text, at)
        if self.kind == SUFFIX:
            at = last_characters(text, size, self.size)
            return ABSENT if at < 0 else self.value_number(text + at, size - at)
        if self.kind == LEXICON:
            return self._flag(text[:size] in self.payload)
        if self.kind == CALLED or self.kind == ASKED:
            return self._called(text, size)
        return self._flag(has_flag(self.kind, text, size))

    def _flag(self, bint holds):
        return self.value_number(b"", 0) if holds else ABSENT

    cdef int _lower(self, const char* text, Py_ssize_t size) except -2:
        cdef Py_ssize_t i
        cdef unsigned char c
        cdef bytes lowered
        self._room(size)
        for i in range(size):
            c = <unsigned char>text[i]
            if c >= 0x80:
                # Some characters grow when lowered: only Python knows them all.
                lowered = text[:size].decode("utf-8", "surrogatepass").lower().encode(
                    "utf-8", "surrogatepass")
                return self.value_number(lowered, len(lowered))
            self.scratch[i] = <char>(c + 32 if 65 <= c <= 90 else c)
        return self.value_number(self.scratch, size)

    cdef int _shape(self, const char* text, Py_ssize_t size, bint short) except -2:
        """Write A for capitals, a for other letters, 0 for digits, the rest as it is.

        The short form writes a run of the same characters as one.
        """
        cdef Py_ssize_t i, width, at = 0, used = 0, last = 0, last_width = 0
        cdef Py_UCS4 c
        cdef char kind
        self._room(size)
        while at < size:
            width = character_size(text[at])
            c = character_at(text + at)
            kind = kind_of(c)
            if kind:
                self.scratch[used] = kind
            else:
                for i in range(width):
                    self.scratch[used + i] = text[at + i]
            at += width
            width = 1 if kind else width
            if short and width == last_width and memcmp(
                    self.scratch + last, self.scratch + used, width) == 0:
                continue
            last, last_width = used, width
            used += width
        return self.value_number(self.scratch, used)

    cdef int _called(self, const char* text, Py_ssize_t size) except -2:
        """Ask a Python function for the value; None stands for no value."""
        cdef bytes raw
        value = self.payload(text[:size].decode("utf-8", "surrogatepass"))
        if value is None:
            return ABSENT
        raw = value.encode("utf-8", "surrogatepass")
        return self.value_number(raw, len(raw))

    cdef int _ngrams(self, const char* text, Py_ssize_t size) except -1:
        """Note the distinct runs of `size` characters, in order of appearance."""
        cdef Py_ssize_t at = 0, width, first = self.value_of.n, i
        cdef int number
        cdef const int* known
        while at < size:
            width = first_characters(text + at, size - at, self.size)
            if width < 0:
                return 0
            number = self.value_number(text + at, width)
            known = <const int*>self.value_of.data
            for i in range(first, self.value_of.n):
                if known[i] == number:
                    break
            else:
                self.value_of.push_int(number)
            at += character_size(text[at])
        return 0

    cdef int _room(self, Py_ssize_t size) except -1:
        cdef void* moved
        if size > self.scratch_size or self.scratch == NULL:
            moved = realloc(self.scratch, 2 * size + 64)
            if moved == NULL:
                raise MemoryError()
            self.scratch = <char*>moved
            self.scratch_size = 2 * size + 64
        return 0


cdef char kind_of(Py_UCS4 c) noexcept:
    """Return the letter that stands for a character in a shape; 0 for itself."""
    if c.isdigit():
        return b"0"
    if c.isupper():
        return b"A"
    return b"a" if c.isalpha() else 0


cdef bint has_flag(int flag, const char* text, Py_ssize_t size) noexcept:
    """Tell whether a flag holds for a text; none does for the empty one."""
    cdef Py_ssize_t at = 0
    cdef Py_UCS4 c
    cdef bint digit = False, capital = False, hyphen = False
    cdef bint only_digits = size > 0, only_capitals = True
    if flag == FIRST_CAPITAL:
        return size > 0 and character_at(text).isupper()
    while at < size:
        c = character_at(text + at)
        at += character_size(text[at])
        if c.isdigit():
            digit = True
        else:
            only_digits = False
        if c.isupper():
            capital = True
        elif c.isalpha():
            only_capitals = False
        if c == c"-":
            hyphen = True
    if flag == HAS_DIGIT:
        return digit
    if flag == ALL_DIGITS:
        return only_digits
    if flag == HAS_HYPHEN:
        return hyphen
    return capital and (only_capitals or flag == HAS_CAPITAL)
