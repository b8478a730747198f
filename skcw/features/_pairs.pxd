"""Pairs of numbers, for the compiled extractor."""


cdef class PairTable:
    cdef unsigned long long* keys
    cdef int* numbers
    cdef Py_ssize_t n_slots, n_pairs

    cdef int number(self, int left, int right) except -1
    cdef int _rehash(self) except -1
