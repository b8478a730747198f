cdef class NameTable:
    cdef unsigned long long* slots
    cdef long long* ends
    cdef char* blob
    cdef Py_ssize_t n_slots, n_names, names_capacity, blob_capacity
    cdef bint owned
    cdef object keep_alive

    cdef unsigned long long hash_of(self, const char* text, Py_ssize_t size) noexcept
    cdef void prefetch(self, unsigned long long key) noexcept
    cdef int find(
        self, const char* text, Py_ssize_t size, unsigned long long key) noexcept
    cdef int add(
        self, const char* text, Py_ssize_t size, unsigned long long key) except -1
    cdef int _make_room(self, Py_ssize_t blob_size) except -1
    cdef void _occupy(self, unsigned long long key, Py_ssize_t number) noexcept
    cdef int _rehash(self) except -1
