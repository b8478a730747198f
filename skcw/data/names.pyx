"""A hash table from UTF-8 names to numbers, in three flat arrays.

``blob`` holds the names one after the other, ``ends[i]`` where name i - 1 ends, and
``slots`` the table: the upper half of a slot is the upper half of the name's hash, by
which it finds its place, the lower half its number plus one. A million names take some
30 MB, all of which can be saved, mapped into memory and searched as it is.
"""

from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

from skcw.data.buffers cimport handed_over, trimmed

from skcw._util.limits import LONGEST_RUN

cdef enum:
    LEAST_SLOTS = 1024
    # So many names at a time fetch the slots they will take.
    FETCHED = 32


cdef Py_ssize_t _grown(Py_ssize_t n_slots) noexcept nogil:
    # Small tables grow faster: moving all the slots is what costs.
    return n_slots * (4 if n_slots < 0x40000 else 2)


cdef bint _is_crowded(Py_ssize_t n_names, Py_ssize_t n_slots) noexcept nogil:
    # Two thirds full is where probing begins to cost.
    return 3 * n_names > 2 * n_slots


cdef Py_ssize_t _take_slot(
    unsigned long long* slots, Py_ssize_t n_slots, unsigned long long key,
    Py_ssize_t number,
) noexcept nogil:
    """Write `number` (counted from one) into the first free slot of a key.

    Return how many taken ones came before it.
    """
    cdef Py_ssize_t n_taken = 0, at = (key >> 32) & (n_slots - 1)
    # There is a free one, unless a damaged table got here: it ends all the same.
    while slots[at] != 0 and n_taken < n_slots:
        at = (at + 1) & (n_slots - 1)
        n_taken += 1
    slots[at] = ((key >> 32) << 32) | <unsigned long long>number
    return n_taken


cdef Py_ssize_t _take_slots(
    unsigned long long* slots, Py_ssize_t n_slots, const char* blob,
    const long long* ends, Py_ssize_t n_names, Py_ssize_t most,
) noexcept nogil:
    """Write names into free slots, all unless one has to pass by more than `most`.

    Return by how many one has passed at most.
    """
    cdef unsigned long long keys[FETCHED]
    cdef Py_ssize_t i, first = 0, n, farthest = 0
    # Names of a file may have been chosen to meet in one place.
    while first < n_names and farthest <= most:
        n = min(<Py_ssize_t>FETCHED, n_names - first)
        for i in range(n):
            keys[i] = hash_of(
                blob + ends[first + i], ends[first + i + 1] - ends[first + i])
            SKCW_PREFETCH(&slots[(keys[i] >> 32) & (n_slots - 1)])
        for i in range(n):
            farthest = max(
                farthest, _take_slot(slots, n_slots, keys[i], first + i + 1))
        first += n
    return farthest


def slots_of(const unsigned char[::1] blob, const long long[::1] ends):
    """Return the hash table of names that are all different.

    Parameters
    ----------
    blob : ndarray of uint8
        The names, one after the other.
    ends : ndarray of int64, shape (n_names + 1,)
        Where each ends, within the blob; they never fall.

    Returns
    -------
    slots : ndarray of uint64
        The hash table, as large as if the names had been added one by one.
    """
    cdef Py_ssize_t n_names = ends.shape[0] - 1, n_slots = LEAST_SLOTS, farthest
    cdef Py_ssize_t most = LONGEST_RUN
    cdef const char* text = NULL
    cdef unsigned long long[::1] slots
    if blob.shape[0]:
        text = <const char*>&blob[0]
    while _is_crowded(n_names, n_slots):
        n_slots = _grown(n_slots)
    slots = np.zeros(n_slots, dtype=np.uint64)
    with nogil:
        farthest = _take_slots(&slots[0], n_slots, text, &ends[0], n_names, most)
    if farthest > most:
        raise ValueError("the table of feature names cannot be searched")
    return np.asarray(slots)


cdef class NameTable:
    """Names and their numbers, in order of first appearance.

    Built on the arrays of a frozen vocabulary, it only reads them; with
    ``grow=True`` it works on a copy to which names can be added.
    """

    def __cinit__(
        self, const unsigned char[::1] blob, const long long[::1] ends,
        const unsigned long long[::1] slots, bint grow,
    ):
        cdef Py_ssize_t blob_size = blob.shape[0], n_ends = ends.shape[0]
        self.n_names = n_ends - 1
        self.n_slots = slots.shape[0]
        self.owned = grow
        if n_ends < 1 or self.n_slots < 1 or self.n_slots & (self.n_slots - 1):
            raise ValueError("the arrays of names do not fit together")
        if not grow:
            self.keep_alive = (blob, ends, slots)
            self.blob = <char*>&blob[0] if blob_size else NULL
            self.ends = <long long*>&ends[0]
            self.slots = <unsigned long long*>&slots[0]
            return
        self.names_capacity = max(2 * self.n_names, <Py_ssize_t>1024)
        self.blob_capacity = max(2 * blob_size, <Py_ssize_t>16384)
        self.blob = <char*>malloc(self.blob_capacity)
        self.ends = <long long*>malloc((self.names_capacity + 1) * sizeof(long long))
        self.slots = <unsigned long long*>malloc(
            self.n_slots * sizeof(unsigned long long))
        if self.blob == NULL or self.ends == NULL or self.slots == NULL:
            raise MemoryError()
        if blob_size:
            memcpy(self.blob, &blob[0], blob_size)
        memcpy(self.ends, &ends[0], n_ends * sizeof(long long))
        memcpy(self.slots, &slots[0], self.n_slots * sizeof(unsigned long long))
        if self._n_free() <= 0:
            raise ValueError("the table of names has no empty slot")

    def __dealloc__(self):
        if self.owned:
            free(self.blob)
            free(self.ends)
            free(self.slots)

    def __len__(self):
        return self.n_names

    def freeze(self):
        """Return blob, ends and slots as arrays; the table can be read but not grow.

        The arrays take over the memory of a table that could grow.
        """
        cdef Py_ssize_t size = self.ends[self.n_names]
        cdef Py_ssize_t n_ends = self.n_names + 1
        if not self.owned:
            return tuple(np.asarray(part) for part in self.keep_alive)
        self.owned = False
        self.blob = <char*>trimmed(self.blob, size)
        self.ends = <long long*>trimmed(self.ends, n_ends * sizeof(long long))
        self.keep_alive = (
            handed_over(self.blob, size, np.uint8),
            handed_over(self.ends, n_ends * sizeof(long long), np.int64),
            handed_over(self.slots, self.n_slots * sizeof(long long), np.uint64),
        )
        return self.keep_alive

    def find_or_add(self, bytes name):
        """Return the number of a name, added if it is new."""
        cdef const char* text = name
        cdef unsigned long long key = hash_of(text, len(name))
        cdef int number = find(self, text, len(name), key)
        return number if number >= 0 else self.add(text, len(name), key)

    def add_all(self, const unsigned char[::1] blob, const long long[::1] ends):
        """Add names that lie as in a vocabulary; known ones are not added again."""
        cdef Py_ssize_t i, size
        cdef unsigned long long key
        cdef const char* empty = ""
        cdef const char* text
        for i in range(ends.shape[0] - 1):
            size = ends[i + 1] - ends[i]
            text = <const char*>&blob[ends[i]] if size else empty
            key = hash_of(text, size)
            if find(self, text, size, key) < 0:
                self.add(text, size, key)

    def find_name(self, bytes name):
        """Return the number of a name, or -1."""
        cdef const char* text = name
        return find(self, text, len(name), hash_of(text, len(name)))

    cdef int add(
        self, const char* text, Py_ssize_t size, unsigned long long key
    ) except -1:
        """Append a name that is not there yet and return its number."""
        cdef Py_ssize_t used = self.ends[self.n_names]
        if not self.owned:
            raise ValueError("this table of names is frozen")
        if self.n_names >= 0x7FFFFFFE:
            raise OverflowError("more than two billion feature names")
        self._make_room(used + size)
        if size:
            # Of nothing there may be no pointer, which C does not allow.
            memcpy(self.blob + used, text, size)
        self.ends[self.n_names + 1] = used + size
        self.n_names += 1
        self._occupy(key, self.n_names)
        if _is_crowded(self.n_names, self.n_slots):
            self._rehash()
        return <int>(self.n_names - 1)

    cdef int _make_room(self, Py_ssize_t blob_size) except -1:
        cdef void* moved
        # Texts may be copied in words of eight bytes: some room behind the last one.
        if blob_size + 8 > self.blob_capacity:
            self.blob_capacity = 2 * blob_size + 8
            moved = realloc(self.blob, self.blob_capacity)
            if moved == NULL:
                raise MemoryError()
            self.blob = <char*>moved
        if self.n_names + 1 > self.names_capacity:
            self.names_capacity = 2 * (self.n_names + 1)
            moved = realloc(self.ends, (self.names_capacity + 1) * sizeof(long long))
            if moved == NULL:
                raise MemoryError()
            self.ends = <long long*>moved
        return 0

    cdef Py_ssize_t _n_free(self) noexcept:
        """Return how many slots are empty."""
        cdef Py_ssize_t i, n_free = 0
        for i in range(self.n_slots):
            n_free += self.slots[i] == 0
        return n_free

    cdef void _occupy(self, unsigned long long key, Py_ssize_t number) noexcept:
        _take_slot(self.slots, self.n_slots, key, number)

    cdef int _rehash(self) except -1:
        """Make the table larger; a slot shows by itself where it belongs."""
        cdef unsigned long long* old = self.slots
        cdef Py_ssize_t i, n_old = self.n_slots
        cdef Py_ssize_t n_slots = _grown(n_old)
        cdef void* slots = calloc(n_slots, sizeof(unsigned long long))
        if slots == NULL:
            raise MemoryError()
        self.slots, self.n_slots = <unsigned long long*>slots, n_slots
        for i in range(n_old):
            if old[i] != 0:
                self._occupy(old[i], <Py_ssize_t>(old[i] & 0xFFFFFFFFULL))
        free(old)
        return 0
