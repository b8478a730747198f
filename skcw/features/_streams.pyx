"""One number for each position of a sentence and a margin on both of its sides.

A template reads a stream at its offset. Conjunctions are streams too: the pair of a
word and its right neighbour is worked out once and serves every offset.
"""

import numpy as np

from skcw.data._numbers cimport Numbers
from skcw.features._pairs cimport PairTable
from skcw.features._views cimport View

cdef int ABSENT = -1


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
