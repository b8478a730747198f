"""Extract rows of feature numbers from the columns of tokens.

Each distinct text is viewed once, each distinct conjunction is a pair of numbers, and a
feature's name is composed only when it is met for the first time: after that, a token
costs one look into an array for each template.

Looking up one name means waiting for memory. The new names of a sequence are therefore
composed first, while the places where they may be are fetched, and looked up together.
"""

from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp

from collections.abc import Mapping

import numpy as np

from skcw.data.vocabulary import Vocabulary

from skcw.data.buffers cimport Numbers, push_words
from skcw.data.names cimport (
    SKCW_PREFETCH, NameTable, find, guess_of, hash_of, slot_of)

include "views.pxi"


cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL
    bint PyUnicode_IS_COMPACT_ASCII(object) noexcept
    object PyUnicode_AsEncodedString(object, const char*, const char*)
    PyObject* PyList_GET_ITEM(object, Py_ssize_t) noexcept
    PyObject* PyTuple_GET_ITEM(object, Py_ssize_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(object) noexcept
    bint PyTuple_CheckExact(object) noexcept


# In `numbers` of a template, for values without the number of a feature;
# POSTPONED - k: it has the k-th of the names that wait to be looked up.
cdef int NOT_MET = -1
cdef int UNKNOWN = -2
cdef int POSTPONED = -3


class NoTextError(TypeError):
    """A token has no text in a column that is looked at."""

    def __init__(self, column, token, found):
        super().__init__(column, token, found)
        self.column, self.token, self.found = column, token, found


cdef inline void prefetch_ahead(list tokens, Py_ssize_t i, Py_ssize_t n) noexcept:
    """Fetch tokens that come soon: texts lie scattered in memory."""
    cdef PyObject* token
    cdef Py_ssize_t k
    if i + 8 < n:
        SKCW_PREFETCH(PyList_GET_ITEM(tokens, i + 8))
    if i + 4 < n:
        token = PyList_GET_ITEM(tokens, i + 4)
        if PyTuple_CheckExact(<object>token):
            for k in range(min(PyTuple_GET_SIZE(<object>token), <Py_ssize_t>4)):
                SKCW_PREFETCH(PyTuple_GET_ITEM(<object>token, k))


cdef class NameLookup:
    """New names, in order, with the template and the value they belong to.

    Names not in `table` are added if it may grow, and else unknown; with `n_features`
    the numbers are hashes instead.
    """

    cdef NameTable table
    cdef bint grow
    cdef unsigned long long n_features
    cdef Py_ssize_t n
    cdef Numbers blob, ends, keys, values, numbers
    cdef list templates

    def __cinit__(self, NameTable table, bint grow, n_features):
        self.table = table
        self.grow = grow
        self.n_features = n_features
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
        SKCW_PREFETCH(slot_of(self.table, key))
        self.ends.push_long(self.blob.n)
        self.keys.push_long(<long long>key)
        self.values.push_int(value)
        self.templates.append(template)
        self.n += 1
        return 0

    cdef const int* resolved(self) except NULL:
        """Look all names up, write the numbers to the templates, and return them."""
        cdef Py_ssize_t k
        cdef long long begin = 0, end
        cdef int number
        cdef Template template
        cdef NameTable table = self.table
        cdef const unsigned long long* keys = <unsigned long long*>self.keys.data
        self.numbers.n = 0
        for k in range(self.n):
            SKCW_PREFETCH(&table.ends[guess_of(table, keys[k])])
        for k in range(self.n):
            SKCW_PREFETCH(table.blob + table.ends[guess_of(table, keys[k])])
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
        if self.n_features:
            return <int>(key % self.n_features)
        number = find(self.table, text, size, key)
        if number < 0 and self.grow:
            return self.table.add(text, size, key)
        return number if number >= 0 else UNKNOWN


cdef class WindowExtractor:
    """Write the features of sequences as rows of numbers.

    `views` are (column, kind, size, payload); the kinds "first", "last" and "bias"
    look at no column. `templates` are (literals, atoms), an atom being the number of a
    view and an offset. `keys` name the columns where tokens are dicts. Features are
    looked up in `table` by name, and added if it may grow; with `n_features`, names are
    hashed to that many numbers instead.
    """

    cdef list streams, templates
    # One entry for each column that a view looks at.
    cdef list columns, tables, texts, views_of
    # The keys of all columns where a token is a dict.
    cdef list keys
    cdef Numbers offsets, indptr, indices
    cdef NameLookup lookup
    # How many tokens have been read in all.
    cdef readonly Py_ssize_t n_read
    cdef readonly NameTable table
    cdef Py_ssize_t n_templates
    cdef Py_ssize_t* column_of
    cdef const int** sources
    cdef int** numbers

    def __cinit__(
        self, views, templates, list keys, NameTable table, bint grow, n_features=None,
    ):
        self.keys = keys
        self.offsets, self.indptr = Numbers(np.int64), Numbers(np.int64)
        self.indices = Numbers(np.int32)
        self._begin()
        self.table = table
        self.lookup = NameLookup(table, grow, n_features or 0)
        self.n_templates = len(templates)
        self.sources = <const int**>malloc((self.n_templates + 1) * sizeof(int*))
        self.numbers = <int**>malloc((self.n_templates + 1) * sizeof(int*))
        self.columns = sorted({view[0] for view in views if view[0] is not None})
        self.column_of = <Py_ssize_t*>malloc((len(views) + 1) * sizeof(Py_ssize_t))
        if self.sources == NULL or self.numbers == NULL or self.column_of == NULL:
            raise MemoryError()
        for slot, column in enumerate(self.columns):
            self.column_of[slot] = column
        self.tables = [Vocabulary.empty().table(grow=True) for _ in self.columns]
        self.texts = [Numbers(np.int32) for _ in self.columns]
        self.views_of = [[] for _ in self.columns]
        self._prepare(views, templates)

    def __dealloc__(self):
        free(self.sources)
        free(self.numbers)
        free(self.column_of)

    def _prepare(self, views, templates):
        """Make the views, their streams, and the templates that read these."""
        margin = max(
            (abs(offset) for _, atoms in templates for _, offset in atoms), default=0)
        seen = [self._look(*view, margin) for view in views]
        self.streams = [stream for _, stream, _ in seen if stream is not None]
        shared = {}
        self.templates = [
            Template(literals, [Atom(*seen[view], offset) for view, offset in atoms],
                     shared)
            for literals, atoms in templates
        ]
        # After those they are made of.
        self.streams += shared.values()

    def _look(self, column, kind, size, payload, margin):
        """Return a view, its stream, and the slot of its column."""
        if column is None:
            return None, EdgeStream(kind, margin), 0
        slot = self.columns.index(column)
        view = View(column, kind, size, payload)
        self.views_of[slot].append(view)
        return view, None if view.several else ViewStream(view, slot, margin), slot

    def add_sequence(self, sequence):
        """Extract the features of a sequence of tuples, lists, dicts or words."""
        cdef list tokens = sequence if type(sequence) is list else list(sequence)
        cdef Py_ssize_t slot, i, n = len(tokens), n_slots = len(self.columns)
        for slot in range(n_slots):
            (<Numbers>self.texts[slot]).n = 0
            (<Numbers>self.texts[slot]).reserve(n)
        for i in range(n):
            prefetch_ahead(tokens, i, n)
            for slot in range(n_slots):
                self._read_text(slot, tokens[i])
        self._emit(n)

    cdef int _read_text(self, Py_ssize_t slot, token) except -1:
        """Note the number of a token's text in a column."""
        cdef Py_ssize_t column = self.column_of[slot], size
        cdef NameTable table = <NameTable>self.tables[slot]
        cdef const char* raw
        cdef int number
        if type(token) is tuple and column < len(<tuple>token):
            text = (<tuple>token)[column]
        else:
            text = self._text(token, column)
        if isinstance(text, str) and PyUnicode_IS_COMPACT_ASCII(text):
            raw = PyUnicode_AsUTF8AndSize(text, &size)
            number = find(table, raw, size, hash_of(raw, size))
            if number < 0:
                number = self._number_of(slot, raw, size)
        else:
            number = self._wide_text_number(slot, text)
        return (<Numbers>self.texts[slot]).push_int(number)

    cdef _text(self, token, Py_ssize_t column):
        """Return the text of a token in a column; None if it has none."""
        if isinstance(token, str):
            return token if column == 0 else None
        if isinstance(token, Mapping):
            return token.get(self.keys[column])
        try:
            return token[column] if column < len(token) else None
        except (TypeError, LookupError):
            return None

    def add_columns(
        self, const long long[::1] offsets, const int[:, ::1] codes, list tables,
    ):
        """Extract the features of sequences whose texts have numbers already.

        ``tables[c]`` holds the texts of column c of ``codes``; only the columns that
        are looked at are given, in their order.
        """
        cdef Py_ssize_t slot, s, t, n_columns = len(self.columns)
        cdef list known = [Numbers(np.int32) for _ in range(n_columns)]
        cdef Numbers numbers, texts
        cdef int code
        for slot in range(n_columns):
            numbers = known[slot]
            numbers.fill_ints(len(tables[slot]), NOT_MET)
        for s in range(offsets.shape[0] - 1):
            for slot in range(n_columns):
                texts, numbers = self.texts[slot], known[slot]
                texts.n = 0
                for t in range(offsets[s], offsets[s + 1]):
                    code = codes[slot, t]
                    if (<int*>numbers.data)[code] == NOT_MET:
                        (<int*>numbers.data)[code] = self._known_text(
                            slot, tables[slot], code)
                    texts.push_int((<int*>numbers.data)[code])
            self._emit(offsets[s + 1] - offsets[s])

    def finish(self):
        """Return offsets, indptr and indices; texts stay known to what comes next."""
        found = self.offsets.freeze(), self.indptr.freeze(), self.indices.freeze()
        self.n_read += len(found[1]) - 1
        self._begin()
        return found

    cdef int _begin(self) except -1:
        """Begin without rows."""
        self.offsets.push_long(0)
        self.indptr.push_long(0)
        return 0

    cdef int _wide_text_number(self, Py_ssize_t slot, text) except -1:
        """Return the number of a text that is not all ASCII."""
        cdef bytes encoded
        if not isinstance(text, str):
            raise NoTextError(self.columns[slot], (<Numbers>self.texts[slot]).n, text)
        # A direct pointer would leave a second copy inside the user's string.
        encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass")
        return self._number_of(slot, encoded, len(encoded))

    cdef int _known_text(self, Py_ssize_t slot, NameTable table, int code) except -1:
        cdef long long begin = table.ends[code]
        return self._number_of(
            slot, table.blob + begin, table.ends[code + 1] - begin)

    cdef int _number_of(
        self, Py_ssize_t slot, const char* text, Py_ssize_t size
    ) except -1:
        """Return the number of a text; a new one is viewed from all sides."""
        cdef NameTable table = <NameTable>self.tables[slot]
        cdef unsigned long long key = hash_of(text, size)
        cdef int number = find(table, text, size, key)
        if number >= 0:
            return number
        number = table.add(text, size, key)
        for view in self.views_of[slot]:
            (<View>view).learn(text, size)
        return number

    cdef int _emit(self, Py_ssize_t n_tokens) except -1:
        """Write the rows of one sequence, whose texts have been noted."""
        cdef Py_ssize_t t, i, filled, first_row = self.indptr.n
        cdef int value, number
        cdef int* row
        self._aim(n_tokens)
        for i in range(n_tokens):
            self.indices.reserve(self.n_templates)
            row, filled = <int*>self.indices.data + self.indices.n, 0
            for t in range(self.n_templates):
                if self.sources[t] == NULL:
                    self.indices.n += filled
                    self._emit_several(<Template>self.templates[t], i, 0, 0)
                    self.indices.reserve(self.n_templates - t)
                    row, filled = <int*>self.indices.data + self.indices.n, 0
                    continue
                value = self.sources[t][i]
                if value < 0:
                    continue
                number = self.numbers[t][value]
                if number == NOT_MET:
                    number = self._postpone(<Template>self.templates[t], i, value)
                row[filled] = number
                # One that is unknown is written over by the next.
                filled += number != UNKNOWN
            self.indices.n += filled
            self.indptr.push_long(self.indices.n)
        self.offsets.push_long(self.indptr.n - 1)
        if self.lookup.n:
            self._settle(first_row)
        return 0

    cdef int _aim(self, Py_ssize_t n_tokens) except -1:
        """Fill the streams and aim the pointers that the inner loop reads by."""
        cdef Template template
        cdef Stream stream
        cdef Py_ssize_t t
        for stream in self.streams:
            stream.fill(n_tokens, self.texts)
        for t in range(self.n_templates):
            template = <Template>self.templates[t]
            if template.several:
                self.sources[t] = NULL
                continue
            template.numbers.fill_ints(template.stream.n_values(), NOT_MET)
            self.sources[t] = template.stream.at((<Atom>template.atoms[0]).offset)
            self.numbers[t] = <int*>template.numbers.data
        return 0

    cdef int _emit_several(
        self, Template template, Py_ssize_t i, Py_ssize_t level, int pair
    ) except -1:
        """Write the features of all combinations of the values of the atoms."""
        cdef Py_ssize_t at
        cdef int k, text, linked, first = 0, last = 1
        cdef Atom atom
        cdef Numbers texts
        if level == len(template.atoms):
            return self._write_several(template, i, pair)
        atom = <Atom>template.atoms[level]
        at = i + atom.offset
        if atom.stream is None:
            texts = <Numbers>self.texts[atom.slot]
            if at < 0 or at >= texts.n:
                return 0
            text = (<const int*>texts.data)[at]
            first = (<const int*>atom.view.starts.data)[text]
            last = (<const int*>atom.view.starts.data)[text + 1]
        for k in range(first, last):
            atom.chosen = (<const int*>atom.view.value_of.data)[k] if (
                atom.stream is None) else atom.stream.at(at)[0]
            if atom.chosen < 0:
                continue
            linked = atom.chosen if level == 0 else (
                <PairTable>template.links[level - 1]).number(pair, atom.chosen)
            self._emit_several(template, i, level + 1, linked)
        return 0

    cdef int _write_several(self, Template template, Py_ssize_t i, int pair) except -1:
        cdef int number
        template.numbers.fill_ints(pair + 1, NOT_MET)
        number = (<int*>template.numbers.data)[pair]
        if number == NOT_MET:
            number = self._postpone(template, i, pair)
        if number != UNKNOWN:
            self.indices.push_int(number)
        return 0

    cdef int _postpone(self, Template template, Py_ssize_t i, int value) except? -1:
        """Note the name of a feature not met before; return its placeholder."""
        cdef int standing = POSTPONED - <int>self.lookup.n
        template.compose(self.lookup.blob, i)
        self.lookup.close(template, value)
        (<int*>template.numbers.data)[value] = standing
        return standing

    cdef int _settle(self, Py_ssize_t first_row) except -1:
        """Look up the names that wait, and put their numbers into the last rows."""
        cdef long long* indptr = <long long*>self.indptr.data
        cdef int* indices = <int*>self.indices.data
        cdef const int* found = self.lookup.resolved()
        cdef Py_ssize_t row, read = indptr[first_row - 1], write = read
        cdef int number
        for row in range(first_row, self.indptr.n):
            while read < indptr[row]:
                number = indices[read]
                if number <= POSTPONED:
                    number = found[POSTPONED - number]
                if number >= 0:
                    indices[write] = number
                    write += 1
                read += 1
            indptr[row] = write
        self.indices.n = write
        return 0
