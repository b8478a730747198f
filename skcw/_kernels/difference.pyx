"""The sparse difference between the features of two labelings.

A feature that occurs in several tokens must be summed before it is squared, so
the pairs are collected in a small hash table. One table serves several rivals
of the same gold labeling: they share most of their cells.
"""

from skcw._kernels.types cimport real

import numpy as np


cdef class Difference:
    """Phi(x, gold) - Phi(x, rival), as pairs of a weight cell and a value.

    A cell is the position of a weight in the flat belief. ``value[i, r]`` is the
    value of ``cell[i]`` for rival r and ``sigma[i]`` the variance of that weight.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_rivals=1):
        cdef Py_ssize_t size = 16
        self.shift = 60
        while size < 2 * capacity:
            size *= 2
            self.shift -= 1
        self.n = 0
        self.n_rivals = n_rivals
        self.cell = np.empty(max(capacity, 1), dtype=np.int64)
        self.value = np.empty((max(capacity, 1), n_rivals))
        self.sigma = np.empty(max(capacity, 1))
        self.slot = np.full(size, -1, dtype=np.int32)
        self.home = np.empty(max(capacity, 1), dtype=np.int32)

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            self.slot[self.home[i]] = -1
        self.n = 0

    cdef void add(self, long long cell, Py_ssize_t rival, double value) noexcept nogil:
        """Add `value` to the cell's entry of one rival (Fibonacci hashing)."""
        cdef Py_ssize_t mask = self.slot.shape[0] - 1
        cdef Py_ssize_t at = <Py_ssize_t>(
            (<unsigned long long>cell * <unsigned long long>0x9E3779B97F4A7C15)
            >> self.shift
        )
        cdef Py_ssize_t i, r
        while self.slot[at] >= 0:
            i = self.slot[at]
            if self.cell[i] == cell:
                self.value[i, rival] += value
                return
            at = (at + 1) & mask
        i = self.n
        self.n += 1
        self.slot[at] = <int>i
        self.home[i] = <int>at
        self.cell[i] = cell
        for r in range(self.n_rivals):
            self.value[i, r] = 0.0
        self.value[i, rival] = value


cdef void add_labelings(
    Difference delta, Py_ssize_t rival, const int[::1] gold, const int[::1] other,
    Py_ssize_t start, Py_ssize_t length, Py_ssize_t width, const int[::1] row_of,
    const long long[::1] indptr, const int[::1] indices, const real[::1] values,
) noexcept nogil:
    """Add the features of gold[start:] minus those of other[:length]."""
    cdef Py_ssize_t p
    cdef long long k, row
    cdef double x
    cdef int right, wrong
    for p in range(length):
        right, wrong = gold[start + p], other[p]
        if right != wrong:
            for k in range(indptr[start + p], indptr[start + p + 1]):
                x = 1.0 if values is None else values[k]
                row = <long long>row_of[indices[k]] * width
                delta.add(row + right, rival, x)
                delta.add(row + wrong, rival, -x)
        if p > 0 and (right != wrong or gold[start + p - 1] != other[p - 1]):
            delta.add(<long long>gold[start + p - 1] * width + right, rival, 1.0)
            delta.add(<long long>other[p - 1] * width + wrong, rival, -1.0)


cdef void read_belief(
    Difference delta, real[::1] mean, real[::1] variance, double[::1] margin
) noexcept nogil:
    """Fetch the variances of the cells and the margin mean . delta of each rival."""
    cdef Py_ssize_t i, r
    cdef long long cell
    for r in range(delta.n_rivals):
        margin[r] = 0.0
    for i in range(delta.n):
        cell = delta.cell[i]
        delta.sigma[i] = 1.0 if variance is None else variance[cell]
        for r in range(delta.n_rivals):
            margin[r] += mean[cell] * delta.value[i, r]


cdef double spread_of(Difference delta, Py_ssize_t rival) noexcept nogil:
    """Return delta' Sigma delta for one rival."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(delta.n):
        total += delta.sigma[i] * delta.value[i, rival] * delta.value[i, rival]
    return total
