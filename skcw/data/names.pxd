"""Tables of names, for other compiled modules."""

from libc.string cimport memcpy

cdef extern from "vectors.h":
    void SKCW_PREFETCH(const void*) noexcept nogil


cdef inline unsigned long long mixed(
    unsigned long long key, unsigned long long word
) noexcept nogil:
    key = (key ^ word) * 0x9E3779B97F4A7C15ULL
    return key ^ (key >> 32)


cdef inline unsigned long long hash_of(
    const char* text, Py_ssize_t size
) noexcept nogil:
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

    cdef int add(
        self, const char* text, Py_ssize_t size, unsigned long long key) except -1
    cdef int _make_room(self, Py_ssize_t blob_size) except -1
    cdef Py_ssize_t _n_free(self) noexcept
    cdef void _occupy(self, unsigned long long key, Py_ssize_t number) noexcept
    cdef int _rehash(self) except -1


# A look-up reads a slot, then an end, then a text, each of which tells where the next
# one is. With many names to look up, each of the three is fetched for all. The caller
# fetches: a function that does nothing else has no effect and would be left out.
cdef inline const void* slot_of(NameTable table, unsigned long long key) noexcept:
    return &table.slots[(key >> 32) & (table.n_slots - 1)]


cdef inline long long guess_of(NameTable table, unsigned long long key) noexcept:
    """Return the number in the first slot of a key if it may be right, or else 0."""
    cdef unsigned long long slot = table.slots[(key >> 32) & (table.n_slots - 1)]
    # Without ULL this would be a Python integer, and ten times as slow.
    cdef long long number = <long long>(slot & 0xFFFFFFFFULL) - 1
    return number if slot >> 32 == key >> 32 and 0 <= number < table.n_names else 0


cdef inline bint _same(const char* text, const char* other, Py_ssize_t size) noexcept:
    """Return whether two texts are equal; short ones are not worth a call."""
    cdef unsigned long long word = 0, other_word = 0
    cdef Py_ssize_t at = 0
    if size < 8:
        while at < size and text[at] == other[at]:
            at += 1
        return at == size
    # The last bytes are read together with some before them, as in `hash_of`.
    while at + 8 < size:
        memcpy(&word, text + at, 8)
        memcpy(&other_word, other + at, 8)
        if word != other_word:
            return False
        at += 8
    memcpy(&word, text + size - 8, 8)
    memcpy(&other_word, other + size - 8, 8)
    return word == other_word


cdef inline int find(
    NameTable table, const char* text, Py_ssize_t size, unsigned long long key
) noexcept:
    """Return the number of a name, or -1."""
    cdef Py_ssize_t _probe, at = (key >> 32) & (table.n_slots - 1)
    cdef unsigned long long slot, part = key >> 32
    cdef long long number, begin, end = table.ends[table.n_names]
    # There is an empty slot to end at, unless a file was damaged.
    for _probe in range(table.n_slots):
        slot = table.slots[at]
        if slot == 0:
            return -1
        if slot >> 32 == part:
            number = <long long>(slot & 0xFFFFFFFFULL) - 1
            # A damaged file must not lead beyond the arrays.
            if number < 0 or number >= table.n_names:
                return -1
            begin = table.ends[number]
            if (table.ends[number + 1] - begin == size
                    and begin >= 0 and begin + size <= end
                    and _same(table.blob + begin, text, size)):
                return <int>number
        at = (at + 1) & (table.n_slots - 1)
    return -1
