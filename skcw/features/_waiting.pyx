"""Names that wait to be looked up.

Looking up one name means waiting for memory. The new names of a sentence are therefore
composed first, while the places where they may be are fetched, and looked up together.
"""

import numpy as np

from skcw.data._names cimport NameTable, hash_of
from skcw.data._numbers cimport Numbers
from skcw.features._templates cimport Template

cdef int UNKNOWN = -2


cdef class WaitingNames:
    """New names, in order, with the template and the value they belong to.

    Names not in `table` are added if it may grow, and else unknown; with `n_hashed`
    the numbers are hashes instead.
    """

    def __cinit__(self, NameTable table, bint grow, n_hashed):
        self.table = table
        self.grow = grow
        self.n_hashed = n_hashed
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
        if self.n_hashed:
            return <int>(key % self.n_hashed)
        number = self.table.find(text, size, key)
        if number < 0 and self.grow:
            return self.table.add(text, size, key)
        return number if number >= 0 else UNKNOWN
