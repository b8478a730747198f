"""Growing arrays, for other compiled modules."""

from libc.string cimport memcpy


cdef class Numbers:
    cdef char* data
    cdef Py_ssize_t n, capacity, item
    cdef object dtype

    cdef int reserve(self, Py_ssize_t more) except -1
    cdef int push_long(self, long long value) except -1
    cdef int push_int(self, int value) except -1
    cdef int fill_ints(self, Py_ssize_t n, int value) except -1


cdef inline int push_words(
    Numbers numbers, const char* text, Py_ssize_t size
) except -1:
    """Append a text to an array of bytes, in words of eight.

    Faster than memcpy for short texts; seven bytes behind the text must be readable.
    """
    cdef Py_ssize_t at
    if numbers.n + size + 8 > numbers.capacity:
        numbers.reserve(size + 8)
    for at in range(0, size, 8):
        memcpy(numbers.data + numbers.n + at, text + at, 8)
    numbers.n += size
    return 0


cdef class Memory:
    cdef void* data
    cdef Py_ssize_t size


cdef handed_over(void* data, Py_ssize_t size, dtype)
cdef void* trimmed(void* data, Py_ssize_t size) noexcept
