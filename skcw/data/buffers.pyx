"""Growing arrays of numbers for code that does not know how many will come."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdlib cimport free, malloc, realloc

import numpy as np


cdef class Numbers:
    """A growing C array of int64, int32, double or bytes."""

    def __cinit__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.item = self.dtype.itemsize
        self.n = 0
        self.capacity = 1024
        self.data = <char*>malloc(self.capacity * self.item)
        if self.data == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.data)

    cdef int reserve(self, Py_ssize_t more) except -1:
        cdef void* moved
        if self.n + more > self.capacity:
            self.capacity = 2 * (self.n + more)
            moved = realloc(self.data, self.capacity * self.item)
            if moved == NULL:
                raise MemoryError()
            self.data = <char*>moved
        return 0

    cdef int push_long(self, long long value) except -1:
        self.reserve(1)
        (<long long*>self.data)[self.n] = value
        self.n += 1
        return 0

    cdef int push_int(self, int value) except -1:
        self.reserve(1)
        (<int*>self.data)[self.n] = value
        self.n += 1
        return 0

    cdef int fill_ints(self, Py_ssize_t n, int value) except -1:
        """Lengthen an array of int32 to `n` numbers."""
        cdef Py_ssize_t i
        if n <= self.n:
            return 0
        self.reserve(n - self.n)
        for i in range(self.n, n):
            (<int*>self.data)[i] = value
        self.n = n
        return 0

    def freeze(self):
        """Return the numbers as an array on the same memory; nothing can follow."""
        cdef char* data = <char*>trimmed(self.data, self.n * self.item)
        self.data = NULL
        self.capacity = 0
        size, self.n = self.n * self.item, 0
        return handed_over(data, size, self.dtype)


cdef class Memory:
    """A piece of memory that an array has taken over."""

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.size, False, flags)


cdef handed_over(void* data, Py_ssize_t size, dtype):
    """Return an array that owns `size` bytes which malloc gave."""
    cdef Memory memory
    if size == 0:
        free(data)
        return np.empty(0, dtype=dtype)
    memory = Memory()
    memory.data = data
    memory.size = size
    return np.frombuffer(memory, dtype=dtype)


cdef void* trimmed(void* data, Py_ssize_t size) noexcept:
    """Return the memory cut to `size` bytes, or as it is if that cannot be done."""
    cdef void* moved = realloc(data, size) if size else NULL
    return data if moved == NULL else moved
