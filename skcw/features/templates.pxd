"""Templates and the streams they read, for the compiled extractor."""

from skcw.data.buffers cimport Numbers
from skcw.data.names cimport NameTable
from skcw.features.views cimport View


cdef class PairTable:
    cdef unsigned long long* keys
    cdef int* numbers
    cdef Py_ssize_t n_slots, n_pairs

    cdef int number(self, int left, int right) except -1
    cdef int _rehash(self) except -1


cdef class Stream:
    cdef Numbers ids
    cdef readonly Py_ssize_t margin
    cdef Py_ssize_t n_tokens

    cdef int* at(self, Py_ssize_t position) noexcept
    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1
    cdef Py_ssize_t n_values(self) except -1
    cdef int _spread(self, Py_ssize_t n_tokens, int value) except -1


cdef class ViewStream(Stream):
    cdef View view
    cdef Py_ssize_t slot
    cdef Numbers before, after


cdef class EdgeStream(Stream):
    cdef bint first, everywhere


cdef class PairStream(Stream):
    cdef Stream left, right
    cdef Py_ssize_t shift
    cdef PairTable table


cdef class Atom:
    cdef readonly View view
    cdef readonly Stream stream
    cdef readonly Py_ssize_t offset, slot
    # The value that stands for the atom where it has several.
    cdef int chosen


cdef class Template:
    cdef readonly list literals, atoms
    cdef Stream stream
    cdef Numbers numbers
    cdef readonly bint several
    cdef list links

    cdef int compose(self, Numbers name, Py_ssize_t i) except -1


cdef class NameLookup:
    cdef NameTable table
    cdef bint grow
    cdef unsigned long long n_features
    cdef Py_ssize_t n
    cdef Numbers blob, ends, keys, values, numbers
    cdef list templates

    cdef int close(self, Template template, int value) except -1
    cdef const int* resolved(self) except NULL
    cdef int _number(
        self, const char* text, Py_ssize_t size, unsigned long long key) except -3
