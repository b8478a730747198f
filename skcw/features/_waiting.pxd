"""Names that wait to be looked up, for the compiled extractor."""

from skcw.data._names cimport NameTable
from skcw.data._numbers cimport Numbers
from skcw.features._templates cimport Template


cdef class WaitingNames:
    cdef NameTable table
    cdef bint grow
    cdef unsigned long long n_hashed
    cdef Py_ssize_t n
    cdef Numbers blob, ends, keys, values, numbers
    cdef list templates

    cdef int close(self, Template template, int value) except -1
    cdef const int* resolved(self) except NULL
    cdef int _number(
        self, const char* text, Py_ssize_t size, unsigned long long key) except -3
