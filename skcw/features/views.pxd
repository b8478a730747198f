"""Views of a column, for the compiled extractor."""

from skcw.data.names cimport NameTable
from skcw.data.buffers cimport Numbers


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
