"""Growing arrays, for other compiled modules."""


cdef class Numbers:
    cdef char* data
    cdef Py_ssize_t n, capacity, item
    cdef object dtype

    cdef int reserve(self, Py_ssize_t more) except -1
    cdef int push_long(self, long long value) except -1
    cdef int push_int(self, int value) except -1
    cdef int push_bytes(self, const char* text, Py_ssize_t size) except -1
    cdef int fill_ints(self, Py_ssize_t n, int value) except -1


cdef class Memory:
    cdef void* data
    cdef Py_ssize_t size


cdef handed_over(void* data, Py_ssize_t size, dtype)
cdef void* trimmed(void* data, Py_ssize_t size) noexcept
