"""Numbers for pairs of numbers, in order of first appearance."""

from libc.stdlib cimport calloc, free, malloc


cdef unsigned long long MULTIPLIER = 0x9E3779B97F4A7C15ULL


cdef class PairTable:
    """A hash table from two non-negative numbers to one.

    Two words in a row are two numbers already: their pair gets a number without
    any text being joined.
    """

    def __cinit__(self):
        self.n_slots = 256
        self.keys = <unsigned long long*>malloc(self.n_slots * sizeof(long long))
        # Zero is an empty slot, so numbers are stored plus one.
        self.numbers = <int*>calloc(self.n_slots, sizeof(int))
        if self.keys == NULL or self.numbers == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.keys)
        free(self.numbers)

    def __len__(self):
        return self.n_pairs

    def find_or_add(self, int left, int right):
        """Return the number of a pair, added if it is new."""
        return self.number(left, right)

    cdef int number(self, int left, int right) except -1:
        cdef unsigned long long key = <unsigned long long>left << 32 | <unsigned>right
        cdef unsigned long long mixed = key * MULTIPLIER
        cdef Py_ssize_t at = (mixed ^ mixed >> 32) & (self.n_slots - 1)
        while self.numbers[at]:
            if self.keys[at] == key:
                return self.numbers[at] - 1
            at = (at + 1) & (self.n_slots - 1)
        if self.n_pairs >= 0x7FFFFFFE:
            raise OverflowError("more than two billion distinct pairs")
        self.keys[at] = key
        self.n_pairs += 1
        self.numbers[at] = <int>self.n_pairs
        if 2 * self.n_pairs > self.n_slots:
            self._rehash()
        return <int>(self.n_pairs - 1)

    cdef int _rehash(self) except -1:
        cdef unsigned long long mixed
        cdef unsigned long long* old_keys = self.keys
        cdef int* old_numbers = self.numbers
        cdef Py_ssize_t i, at, n_slots = 2 * self.n_slots
        cdef void* keys = malloc(n_slots * sizeof(long long))
        cdef void* numbers = calloc(n_slots, sizeof(int))
        if keys == NULL or numbers == NULL:
            free(keys)
            free(numbers)
            raise MemoryError()
        self.keys, self.numbers = <unsigned long long*>keys, <int*>numbers
        for i in range(self.n_slots):
            if not old_numbers[i]:
                continue
            mixed = old_keys[i] * MULTIPLIER
            at = (mixed ^ mixed >> 32) & (n_slots - 1)
            while self.numbers[at]:
                at = (at + 1) & (n_slots - 1)
            self.keys[at], self.numbers[at] = old_keys[i], old_numbers[i]
        self.n_slots = n_slots
        free(old_keys)
        free(old_numbers)
        return 0
