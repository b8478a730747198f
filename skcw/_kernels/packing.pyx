"""Bytes in less room, fast to bring back: the block format of LZ4.

A block is a list of sequences: a byte with two sizes of four bits each, literals, and
how far back (two bytes) a copy begins. A size of 15 goes on in the next bytes, until
one is below 255; a copy has four bytes more than its size says. The last sequence has
literals only. Names of features, which repeat what came before, take a third of their
room, and come back at more than a gigabyte a second.
"""

from libc.string cimport memcpy, memset

cdef enum:
    HASH_BITS = 14
    LEAST = 4  # bytes of a copy
    FARTHEST = 65535
    # The format: so many bytes at the end are literals, and no copy begins so near it.
    LAST_LITERALS = 5
    LAST_COPY = 12
    # Where nothing repeats the search takes longer steps.
    SKIP_BITS = 6


def most_packed(Py_ssize_t size):
    """Return how many bytes so many may take when they are packed.

    Parameters
    ----------
    size : int
        The number of bytes.

    Returns
    -------
    most : int
        At most so many.
    """
    return size + size // 255 + 16


cdef inline unsigned int _four(const unsigned char* at) noexcept nogil:
    cdef unsigned int found
    memcpy(&found, at, 4)
    return found


cdef Py_ssize_t _write_size(
    unsigned char* target, Py_ssize_t at, Py_ssize_t rest
) noexcept nogil:
    """Write what a size has beyond 15; return where the next byte goes."""
    while rest >= 255:
        target[at] = 255
        rest -= 255
        at += 1
    target[at] = <unsigned char>rest
    return at + 1


cdef Py_ssize_t _write_sequence(
    unsigned char* target, Py_ssize_t at, const unsigned char* literals,
    Py_ssize_t n_literals, Py_ssize_t back, Py_ssize_t n_copied,
) noexcept nogil:
    """Write literals and a copy (none if `back` is 0); return where the next goes."""
    cdef Py_ssize_t size = n_copied - LEAST if back else 0
    target[at] = <unsigned char>(min(n_literals, 15) << 4 | min(size, 15))
    at += 1
    if n_literals >= 15:
        at = _write_size(target, at, n_literals - 15)
    if n_literals:
        memcpy(target + at, literals, n_literals)
        at += n_literals
    if back:
        target[at] = <unsigned char>(back & 255)
        target[at + 1] = <unsigned char>(back >> 8)
        at += 2
        if size >= 15:
            at = _write_size(target, at, size - 15)
    return at


def packed_bytes(const unsigned char[::1] data, unsigned char[::1] target):
    """Write some bytes as a block.

    Parameters
    ----------
    data : buffer of bytes
        The bytes, at most 2**31 - 1.
    target : buffer of bytes
        Where to write: room for `most_packed` bytes.

    Returns
    -------
    size : int
        How many bytes the block has.
    """
    cdef Py_ssize_t n = data.shape[0], at = 0, first = 0, written = 0, size, before
    cdef Py_ssize_t n_missed = 0
    cdef int last_seen[1 << HASH_BITS]
    cdef unsigned int key
    cdef const unsigned char* source = &data[0] if n else NULL
    if n > 0x7FFFFFFF or target.shape[0] < most_packed(n):
        raise ValueError("there is no room for what is packed")
    with nogil:
        memset(last_seen, 0xFF, sizeof(last_seen))
        while at + LAST_COPY < n:
            key = (_four(source + at) * <unsigned int>2654435761U) >> (32 - HASH_BITS)
            before = last_seen[key]
            last_seen[key] = <int>at
            if (before < 0 or at - before > FARTHEST
                    or _four(source + before) != _four(source + at)):
                at += 1 + (n_missed >> SKIP_BITS)
                n_missed += 1
                continue
            size = LEAST
            while (at + size < n - LAST_LITERALS
                    and source[before + size] == source[at + size]):
                size += 1
            written = _write_sequence(
                &target[0], written, source + first, at - first, at - before, size)
            at += size
            first = at
            n_missed = 0
        written = _write_sequence(
            &target[0], written, source + first, n - first, 0, 0)
    return written


cdef Py_ssize_t _read_size(
    const unsigned char* data, Py_ssize_t end, Py_ssize_t* at, Py_ssize_t size
) noexcept nogil:
    """Return a size that began with 15, or one that is too large for the data."""
    cdef unsigned char more = 255
    while more == 255 and at[0] < end:
        more = data[at[0]]
        size += more
        at[0] += 1
    return size


cdef inline void _copy(
    unsigned char* target, Py_ssize_t back, Py_ssize_t size, Py_ssize_t room
) noexcept nogil:
    """Repeat what lies `back` bytes before; eight at a time may go beyond the end."""
    cdef Py_ssize_t k = 0
    cdef unsigned long long word
    if back >= 8 and room >= size + 8:
        while k < size:
            memcpy(&word, target + k - back, 8)
            memcpy(target + k, &word, 8)
            k += 8
        return
    for k in range(size):
        target[k] = target[k - back]


def unpack_bytes(const unsigned char[::1] data, unsigned char[::1] target):
    """Bring back what `packed_bytes` was given.

    Parameters
    ----------
    data : buffer of bytes
        The block.
    target : buffer of bytes
        Where to write: as many bytes as there were.

    Returns
    -------
    complete : bool
        Whether the block was sound, and had as many bytes.
    """
    cdef Py_ssize_t end = data.shape[0], n = target.shape[0]
    cdef Py_ssize_t at = 0, written = 0, size, back
    cdef const unsigned char* source = &data[0] if end else NULL
    cdef unsigned char* out = &target[0] if n else NULL
    cdef unsigned char sizes
    cdef bint complete = False
    with nogil:
        while at < end:
            sizes = source[at]
            at += 1
            size = sizes >> 4
            if size == 15:
                size = _read_size(source, end, &at, size)
            if size > end - at or size > n - written:
                break
            if size <= 16 and end - at >= 16 and n - written >= 16:
                # Of a fixed size, two registers; what is too much is written over.
                memcpy(out + written, source + at, 16)
            elif size:
                memcpy(out + written, source + at, size)
            at += size
            written += size
            if at == end:
                complete = written == n
                break
            if end - at < 2:
                break
            back = source[at] | <Py_ssize_t>source[at + 1] << 8
            at += 2
            size = sizes & 15
            if size == 15:
                size = _read_size(source, end, &at, size)
            size += LEAST
            if back == 0 or back > written or size > n - written:
                break
            _copy(out + written, back, size, n - written)
            written += size
    return complete
