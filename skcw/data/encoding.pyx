"""Encode Python tokens as rows of feature numbers.

The only compiled code that reads Python objects: it walks the sequences once,
looks every feature name up in a `NameTable`, and writes flat arrays. Dicts are
read as python-crfsuite reads them; besides, a value may be a 1-D array.
"""

from cython cimport final
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, realloc

from collections.abc import Mapping

import numpy as np

from skcw.data.names cimport (
    SKCW_PREFETCH, NameTable, find, guess_of, hash_of, slot_of)
from skcw.data.buffers cimport Numbers


cdef extern from "Python.h":
    ctypedef struct PyObject
    PyObject* PyList_GET_ITEM(list, Py_ssize_t) noexcept
    bint PyUnicode_CheckExact(object) noexcept
    bint PyUnicode_IS_COMPACT_ASCII(object) noexcept
    const char* PyUnicode_DATA(object) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object) noexcept
    object PyUnicode_AsEncodedString(object, const char*, const char*)


# Dicts nested deeper than this must be a mistake, such as one that holds itself.
cdef Py_ssize_t DEEPEST = 100
# So many names ahead texts are fetched: they lie scattered in memory.
cdef Py_ssize_t AHEAD = 8
# About so many names are looked up together: memory answers many questions at once.
cdef Py_ssize_t TOGETHER = 256


@final
cdef class TokenEncoder:
    """Write tokens as rows of feature numbers, adding new names if asked to."""

    cdef NameTable table
    cdef bint grow
    cdef Numbers indptr, indices, values, offsets
    cdef bint plain
    cdef Py_ssize_t sequence, token
    # Names of some tokens, hashed together so that memory is fetched in parallel.
    cdef const char** text
    cdef Py_ssize_t* size
    cdef unsigned long long* key
    cdef Py_ssize_t batch_capacity
    cdef list alive
    # The path of keys inside nested dicts.
    cdef bytearray path

    def __cinit__(self, NameTable table, bint grow):
        self.table = table
        self.grow = grow
        self.indptr = Numbers(np.int64)
        self.indices = Numbers(np.int32)
        self.values = Numbers(np.float64)
        self.offsets = Numbers(np.int64)
        self.indptr.push_long(0)
        self.offsets.push_long(0)
        self.plain = True
        self.alive = []
        self.path = bytearray()
        self._make_batch(64)

    def __dealloc__(self):
        free(self.text)
        free(self.size)
        free(self.key)

    cdef int _make_batch(self, Py_ssize_t capacity) except -1:
        self.text = <const char**>_resized(self.text, capacity * sizeof(char*))
        self.size = <Py_ssize_t*>_resized(self.size, capacity * sizeof(Py_ssize_t))
        self.key = <unsigned long long*>_resized(
            self.key, capacity * sizeof(long long))
        self.batch_capacity = capacity
        return 0

    def add_sequence(self, sequence):
        """Encode one sequence of tokens."""
        self.token = 0
        if isinstance(sequence, (str, bytes, dict, set)) or not hasattr(
                sequence, "__iter__"):
            raise TypeError(
                f"sequence {self.sequence} is {_describe(sequence)}, not a list of "
                "tokens")
        if type(sequence) is list:
            self._add_tokens(<list>sequence)
        else:
            # What makes its tokens one by one may change those that it has given.
            for item in sequence:
                self._add_tokens([item])
        self.offsets.push_long(self.indptr.n - 1)
        self.sequence += 1

    def finish(self):
        """Return offsets, indptr, indices and values (None if all are one)."""
        return (self.offsets.freeze(), self.indptr.freeze(), self.indices.freeze(),
                None if self.plain else self.values.freeze())

    cdef int _add_tokens(self, list tokens) except -1:
        cdef Py_ssize_t t = 0
        while t < len(tokens):
            if type(tokens[t]) is list:
                t = self._add_lists(tokens, t)
            else:
                self._add_token(tokens[t])
                t += 1

    cdef int _add_token(self, item) except -1:
        """Encode a token that is no list of names."""
        if isinstance(item, str):
            self._add_lists([[item]], 0)
            return 0
        if not isinstance(item, (dict, tuple)) and isinstance(item, Mapping):
            item = dict(item)
        if isinstance(item, dict):
            self._add_dict(<dict>item, 0)
            self.indptr.push_long(self.indices.n)
            self.token += 1
            return 0
        if isinstance(item, (bytes, int, float, complex)) or not hasattr(
                item, "__iter__"):
            raise TypeError(
                f"{self._where()} is {_describe(item)}; a token is a list of feature "
                "strings, a dict, or a string")
        self._add_lists([_in_order(item)], 0)
        return 0

    cdef Py_ssize_t _add_lists(self, list tokens, Py_ssize_t first) except -1:
        """Encode some lists of names; return the number of the token behind them."""
        cdef Py_ssize_t i, t, start, end, n = 0, last = first
        cdef NameTable table = self.table
        while n < TOGETHER and last < len(tokens) and type(tokens[last]) is list:
            n = self._hash_names(<list>tokens[last], n)
            last += 1
            self.token += 1
        for i in range(n):
            SKCW_PREFETCH(&table.ends[guess_of(table, self.key[i])])
        for i in range(n):
            SKCW_PREFETCH(table.blob + table.ends[guess_of(table, self.key[i])])
        end = 0
        for t in range(first, last):
            start, end = end, end + len(<list>tokens[t])
            for i in range(start, end):
                self._write(self.text[i], self.size[i], self.key[i], 1.0)
            self.indptr.push_long(self.indices.n)
        if self.alive:
            self.alive.clear()
        return last

    cdef Py_ssize_t _hash_names(self, list names, Py_ssize_t at) except -1:
        """Hash the names of a token, behind `at` others; return how many there are."""
        cdef Py_ssize_t i, n = len(names)
        if at + n > self.batch_capacity:
            self._make_batch(2 * (at + n))
        for i in range(n):
            if i + AHEAD < n:
                SKCW_PREFETCH(PyList_GET_ITEM(names, i + AHEAD))
            self._utf8(names[i], &self.text[at + i], &self.size[at + i])
            self.key[at + i] = hash_of(self.text[at + i], self.size[at + i])
            SKCW_PREFETCH(slot_of(self.table, self.key[at + i]))
        return at + n

    cdef inline int _utf8(
        self, name, const char** text, Py_ssize_t* size
    ) except -1:
        if PyUnicode_CheckExact(name) and PyUnicode_IS_COMPACT_ASCII(name):
            text[0], size[0] = PyUnicode_DATA(name), PyUnicode_GET_LENGTH(name)
            return 0
        return self._encode(name, text, size)

    cdef int _encode(self, name, const char** text, Py_ssize_t* size) except -1:
        if not isinstance(name, str):
            raise TypeError(
                f"{self._where()} has the feature {_describe(name)}; features are "
                "strings (for numbers use a dict, or a 2-D array per sequence)")
        # A direct pointer would leave a second copy inside the user's string.
        name = PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass")
        self.alive.append(name)
        text[0], size[0] = <const char*><bytes>name, len(<bytes>name)
        return 0

    cdef inline int _write(
        self, const char* text, Py_ssize_t size, unsigned long long key, double value
    ) except -1:
        cdef int number = find(self.table, text, size, key)
        cdef Py_ssize_t i
        if number < 0:
            if not self.grow:
                return 0
            number = self.table.add(text, size, key)
        if value != 1.0 and self.plain:
            # The first real value: the ones so far are written out.
            self.plain = False
            self.values.reserve(self.indices.n)
            for i in range(self.indices.n):
                (<double*>self.values.data)[i] = 1.0
            self.values.n = self.indices.n
        self.indices.reserve(1)
        (<int*>self.indices.data)[self.indices.n] = number
        self.indices.n += 1
        if not self.plain:
            self.values.reserve(1)
            (<double*>self.values.data)[self.values.n] = value
            self.values.n += 1
        return 0

    cdef int _add_dict(self, dict item, Py_ssize_t level) except -1:
        """Read {name: value}; a string value becomes part of the name."""
        cdef Py_ssize_t depth = len(self.path)
        if level > DEEPEST:
            raise ValueError(
                f"{self._where()}: dicts are nested more than {DEEPEST} levels deep")
        for name, value in item.items():
            self._append(name)
            if isinstance(value, (str, bytes)):
                self.path += b":"
                self._append(value)
                self._write_path(1.0)
            elif isinstance(value, (dict, list, set, frozenset, tuple)):
                self.path += b":"
                if isinstance(value, dict):
                    self._add_dict(<dict>value, level + 1)
                else:
                    self._add_nested(_in_order(value))
            elif isinstance(value, np.ndarray) and value.ndim:
                self._add_array(name, value)
            else:
                self._write_path(self._number(name, value))
            del self.path[depth:]
        return 0

    cdef int _add_nested(self, values) except -1:
        cdef Py_ssize_t depth = len(self.path)
        for value in values:
            self._append(value)
            self._write_path(1.0)
            del self.path[depth:]
        return 0

    cdef int _add_array(self, name, array) except -1:
        """Read a vector: its entries are features called name:0, name:1, ..."""
        cdef Py_ssize_t i, depth = len(self.path)
        if array.ndim != 1 or array.dtype.kind not in "biuf":
            raise TypeError(
                f"{self._where()}: the value of feature {name!r} is an array of shape "
                f"{array.shape} and type {array.dtype}; a token has a 1-D array of "
                "numbers")
        for i, value in enumerate(array.tolist()):
            self.path += b":%d" % i
            self._write_path(self._number(f"{name}:{i}", value))
            del self.path[depth:]
        return 0

    cdef int _append(self, name) except -1:
        if isinstance(name, bytes):
            name = self._decoded(<bytes>name)
        if not isinstance(name, str):
            raise TypeError(
                f"{self._where()} has the feature name {_describe(name)}; feature "
                "names are strings")
        self.path += PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass")
        return 0

    cdef str _decoded(self, bytes name):
        """Return a value as a string; dicts for sklearn-crfsuite may hold bytes."""
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self._where()} has the feature {_describe(name)}, which is not "
                f"UTF-8: {error.reason}") from None

    cdef int _write_path(self, double value) except -1:
        cdef const char* text = self.path
        cdef Py_ssize_t size = len(self.path)
        return self._write(text, size, hash_of(text, size), value)

    cdef double _number(self, name, value) except? -1.0:
        cdef double number
        try:
            # float() would read numbers in bytes, where strings are names.
            if isinstance(value, (bytearray, memoryview)):
                raise TypeError
            number = float(value)
        except OverflowError:
            number = INFINITY
        except (TypeError, ValueError):
            raise TypeError(
                f"{self._where()}: the value of feature {name!r} is "
                f"{_describe(value)}; it must be a string, a number, a bool, a "
                "1-D array, or a dict, list or set of those") from None
        if not isfinite(number):
            raise ValueError(
                f"{self._where()}: the value of feature {name!r} is {number}; values "
                "must be finite")
        return number

    cdef str _where(self):
        return f"sequence {self.sequence}, token {self.token}"


cdef void* _resized(void* data, Py_ssize_t size) except NULL:
    cdef void* moved = realloc(data, size)
    if moved == NULL:
        raise MemoryError()
    return moved


def _in_order(names):
    """Return the names as a list; those of a set do not depend on the process."""
    if isinstance(names, (set, frozenset)):
        return sorted(names, key=str)
    return list(names)


def _describe(thing):
    text = repr(thing)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{text} ({type(thing).__name__})"
