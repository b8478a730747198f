"""Tables of names, for other compiled modules."""

from libc.string cimport memcpy

cdef extern from "vectors.h":
    void SKCW_PREFETCH(const void*) noexcept nogil


cdef inline unsigned long long mixed(
    unsigned long long key, unsigned long long word
) noexcept:
    key = (key ^ word) * 0x9E3779B97F4A7C15ULL
    return key ^ (key >> 32)


cdef inline unsigned long long hash_of(const char* text, Py_ssize_t size) noexcept:
    """Mix eight bytes at a time; good enough for names, and portable.

    The last bytes are read together with some before them: never beyond the text.
    """
    cdef unsigned long long word = 0
    cdef unsigned long long key = <unsigned long long>size
    cdef unsigned int half = 0
    cdef Py_ssize_t at = 0
    if size >= 8:
        while at + 8 < size:
            memcpy(&word, text + at, 8)
            key = mixed(key, word)
            at += 8
        memcpy(&word, text + size - 8, 8)
    elif size >= 4:
        memcpy(&half, text, 4)
        word = half
        memcpy(&half, text + size - 4, 4)
        word = word << 32 | half
    elif size > 0:
        word = (
            <unsigned long long><unsigned char>text[0]
            | <unsigned long long><unsigned char>text[size >> 1] << 8
            | <unsigned long long><unsigned char>text[size - 1] << 16)
    return mixed(mixed(key, word), 0)


cdef class NameTable:
    cdef unsigned long long* slots
    cdef long long* ends
    cdef char* blob
    cdef Py_ssize_t n_slots, n_names, names_capacity, blob_capacity
    cdef bint owned
    cdef object keep_alive

    cdef void prefetch(self, unsigned long long key) noexcept
    cdef void prefetch_end(self, unsigned long long key) noexcept
    cdef void prefetch_text(self, unsigned long long key) noexcept
    cdef long long _guess(self, unsigned long long key) noexcept
    cdef int find(
        self, const char* text, Py_ssize_t size, unsigned long long key) noexcept
    cdef int add(
        self, const char* text, Py_ssize_t size, unsigned long long key) except -1
    cdef int _make_room(self, Py_ssize_t blob_size) except -1
    cdef Py_ssize_t _n_free(self) noexcept
    cdef void _occupy(self, unsigned long long key, Py_ssize_t number) noexcept
    cdef int _rehash(self) except -1
