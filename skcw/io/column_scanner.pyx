"""The loop that reads column files: bytes in, numbers of values out."""

from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp

import numpy as np

from skcw.data.names cimport NameTable, find, hash_of

from skcw.data.vocabulary import Vocabulary

cdef const char* DOCSTART = "-DOCSTART-"
cdef Py_ssize_t DOCSTART_SIZE = 10


cdef class ColumnParser:
    """Reads lines of columns into blocks of whole sentences.

    `layout` says how lines are to be read, and makes the errors of those that cannot
    be. Each block has vocabularies of its own, so that endless input takes no more
    memory than a block.
    """

    cdef object layout
    cdef list tables
    cdef bytes comment
    cdef char separator
    cdef bint runs_of_blanks, comments_have_no_tab, skip_docstart, numbered
    cdef Py_ssize_t n_columns, n_kept
    # For each column of the file its place among those kept, or -1.
    cdef Py_ssize_t* slots
    # Growing arrays with room for `capacity` tokens.
    cdef int* codes
    cdef long long* lines
    cdef long long* ends
    cdef Py_ssize_t capacity, n_sentences, n_closed
    cdef readonly Py_ssize_t n_tokens
    cdef long long line

    def __cinit__(self, layout):
        cdef Py_ssize_t slot
        self.layout = layout
        self.separator = ord(layout.separator)
        self.runs_of_blanks = layout.separator == " "
        self.comment = layout.comment
        self.comments_have_no_tab = layout.comments_have_no_tab
        self.skip_docstart = layout.skip_docstart
        self.numbered = layout.conllu
        self.n_columns = layout.n_columns
        self.n_kept = len(layout.kept)
        self.slots = <Py_ssize_t*>malloc((self.n_columns + 1) * sizeof(Py_ssize_t))
        if self.slots == NULL:
            raise MemoryError()
        for slot in range(self.n_columns):
            self.slots[slot] = -1
        for slot in range(self.n_kept):
            self.slots[layout.kept[slot]] = slot
        self._begin_block()

    def __dealloc__(self):
        free(self.slots)
        free(self.codes)
        free(self.lines)
        free(self.ends)

    def parse(self, bytes text, Py_ssize_t begin, Py_ssize_t block_tokens):
        """Read whole lines, up to the end of the sentence that fills the block.

        Return the position after the last line read.
        """
        cdef const char* first = text
        cdef const char* at = first + begin
        cdef const char* end = first + len(text)
        cdef const char* stop
        while at < end:
            stop = <const char*>memchr(at, c"\n", end - at)
            if stop == NULL:
                stop = end
            self._read_line(at, stop)
            at = stop + 1 if stop < end else end
            if self.n_tokens >= block_tokens and self.between_sentences():
                break
        return at - first

    cpdef bint between_sentences(self):
        """Return whether no sentence is open."""
        return self.n_closed == self.n_tokens

    def finish(self):
        """Return offsets, codes, vocabularies and lines of the block; begin anew."""
        cdef Py_ssize_t s, t, c
        self._end_sentence()
        offsets = np.zeros(self.n_sentences + 1, dtype=np.int64)
        codes = np.empty((self.n_kept, self.n_tokens), dtype=np.int32)
        lines = np.empty(self.n_tokens, dtype=np.int64)
        cdef long long[::1] offset_view = offsets, line_view = lines
        cdef int[:, ::1] code_view = codes
        for s in range(self.n_sentences):
            offset_view[s + 1] = self.ends[s]
        for t in range(self.n_tokens):
            line_view[t] = self.lines[t]
            for c in range(self.n_kept):
                code_view[c, t] = self.codes[t * self.n_kept + c]
        values = [Vocabulary(*table.freeze()) for table in self.tables]
        self._begin_block()
        return offsets, codes, values, lines

    cdef int _begin_block(self) except -1:
        self.n_tokens = self.n_sentences = self.n_closed = 0
        self.tables = [Vocabulary.empty().table(grow=True) for _ in range(self.n_kept)]
        return 0

    cdef void _end_sentence(self) noexcept:
        if self.n_closed < self.n_tokens:
            self.ends[self.n_sentences] = self.n_tokens
            self.n_sentences += 1
            self.n_closed = self.n_tokens

    cdef int _read_line(self, const char* begin, const char* end) except -1:
        self.line += 1
        while end > begin and (end - 1)[0] == c"\r":
            end -= 1
        if _is_blank(begin, end) or self._starts_document(begin, end):
            self._end_sentence()
        elif not self._is_comment(begin, end) and not (
                self.numbered and self._is_no_word(begin, end)):
            self._add_token(begin, end)
        return 0

    cdef bint _starts_document(self, const char* begin, const char* end) noexcept:
        cdef const char* after = begin + DOCSTART_SIZE
        return (self.skip_docstart and end - begin >= DOCSTART_SIZE
                and memcmp(begin, DOCSTART, DOCSTART_SIZE) == 0
                and (after == end or _is_space(after[0])
                     or after[0] == self.separator))

    cdef bint _is_comment(self, const char* begin, const char* end) noexcept:
        if self.comment is None:
            return False
        cdef const char* prefix = self.comment
        cdef Py_ssize_t size = len(self.comment)
        if end - begin < size or memcmp(begin, prefix, size) != 0:
            return False
        return not (self.comments_have_no_tab
                    and memchr(begin, c"\t", end - begin) != NULL)

    cdef bint _is_no_word(self, const char* begin, const char* end) except -1:
        """Return whether a CoNLL-U line is a range of words (1-2) or empty (1.1)."""
        cdef const char* at = begin
        while at < end and c"0" <= at[0] <= c"9":
            at += 1
        if at > begin and (at == end or at[0] == c"\t"):
            return False
        if at > begin and (at[0] == c"-" or at[0] == c"."):
            return True
        raise self.layout.number_error(self.line, begin[:end - begin])

    cdef int _add_token(self, const char* begin, const char* end) except -1:
        cdef Py_ssize_t column = 0
        cdef const char* at = begin
        cdef const char* stop
        self._make_room()
        while True:
            if self.runs_of_blanks:
                while at < end and _is_space(at[0]):
                    at += 1
                if at == end:
                    break
            stop = at
            while stop < end and not self._separates(stop[0]):
                stop += 1
            if column < self.n_columns and self.slots[column] >= 0:
                if at == stop:
                    raise self.layout.empty_error(
                        self.line, column, begin[:end - begin])
                self._write(self.slots[column], at, stop - at)
            column += 1
            if stop == end:
                break
            at = stop + 1
        if column != self.n_columns:
            raise self.layout.count_error(self.line, column, begin[:end - begin])
        self.lines[self.n_tokens] = self.line
        self.n_tokens += 1
        return 0

    cdef inline bint _separates(self, char byte) noexcept:
        return byte == self.separator or (self.runs_of_blanks and byte == c"\t")

    cdef int _write(
        self, Py_ssize_t slot, const char* text, Py_ssize_t size
    ) except -1:
        cdef NameTable table = <NameTable>self.tables[slot]
        cdef unsigned long long key = hash_of(text, size)
        cdef int number = find(table, text, size, key)
        if number < 0:
            number = table.add(text, size, key)
        self.codes[self.n_tokens * self.n_kept + slot] = number
        return 0

    cdef int _make_room(self) except -1:
        """See that one more token, and the end of its sentence, can be written."""
        if self.n_tokens < self.capacity:
            return 0
        cdef Py_ssize_t room = max(2 * self.capacity, <Py_ssize_t>1024)
        cdef void* codes = realloc(self.codes, room * (self.n_kept + 1) * sizeof(int))
        if codes == NULL:
            raise MemoryError()
        self.codes = <int*>codes
        cdef void* lines = realloc(self.lines, room * sizeof(long long))
        if lines == NULL:
            raise MemoryError()
        self.lines = <long long*>lines
        cdef void* ends = realloc(self.ends, room * sizeof(long long))
        if ends == NULL:
            raise MemoryError()
        self.ends = <long long*>ends
        self.capacity = room
        return 0


cdef inline bint _is_space(char byte) noexcept:
    return byte == c" " or byte == c"\t"


cdef bint _is_blank(const char* begin, const char* end) noexcept:
    while begin < end and _is_space(begin[0]):
        begin += 1
    return begin == end
