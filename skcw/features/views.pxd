"""Views of a column, and the streams and templates that read them."""

from skcw.data.buffers cimport Numbers
from skcw.data.names cimport NameTable


cdef class View:
    cdef readonly Py_ssize_t column
    cdef readonly bint several, padded
    cdef int kind
    cdef Py_ssize_t size
    cdef object payload
    cdef NameTable values
    cdef Numbers value_of, starts
    cdef char* scratch
    cdef Py_ssize_t scratch_size

    cdef int learn(self, const char* text, Py_ssize_t size) except -1
    cdef int value_number(self, const char* text, Py_ssize_t size) except -1
    cdef int _single(self, const char* text, Py_ssize_t size) except -2
    cdef int _lower(self, const char* text, Py_ssize_t size) except -2
    cdef int _shape(self, const char* text, Py_ssize_t size, bint short) except -2
    cdef int _called(self, const char* text, Py_ssize_t size) except -2
    cdef int _ngrams(self, const char* text, Py_ssize_t size) except -1
    cdef int _room(self, Py_ssize_t size) except -1


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
