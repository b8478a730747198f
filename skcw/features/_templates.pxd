"""Templates, for the compiled extractor."""

from skcw.data._numbers cimport Numbers
from skcw.features._streams cimport Stream
from skcw.features._views cimport View


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
