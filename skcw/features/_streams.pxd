"""Streams of values along a sentence, for the compiled extractor."""

from skcw.data._numbers cimport Numbers
from skcw.features._pairs cimport PairTable
from skcw.features._views cimport View


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
