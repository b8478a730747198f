"""Checks of files: a checksum, and the slots of a hash table.

The checksum is made against accidents, not against forgers. Eight lanes each take a
word of every 64 bytes; all steps can be undone, so that a change within one word always
changes the result, and other changes escape once in 2**64 times.
"""

from libc.string cimport memcpy, memset

cdef enum:
    LANES = 8
    STRIPE = 64  # bytes


cdef inline unsigned long long _stirred(
    unsigned long long lane, unsigned long long word
) noexcept nogil:
    lane = (lane ^ word) * 0x9E3779B97F4A7C15ULL
    return lane ^ (lane >> 32)


cdef void _take(unsigned long long* lane, const unsigned char* stripe) noexcept nogil:
    cdef unsigned long long word[LANES]
    cdef int k
    memcpy(word, stripe, STRIPE)
    for k in range(LANES):
        lane[k] = _stirred(lane[k], word[k])


def checksum(const unsigned char[::1] data, unsigned long long before):
    """Return the checksum of some bytes that follow those with the checksum `before`.

    Parameters
    ----------
    data : buffer of bytes
        The bytes.
    before : int
        The checksum of what comes before them, 0 if nothing does.

    Returns
    -------
    checksum : int
        Of 64 bits.
    """
    cdef Py_ssize_t at = 0, size = data.shape[0]
    cdef unsigned long long lane[LANES]
    cdef unsigned char rest[STRIPE]
    cdef unsigned long long found
    cdef int k
    if not size:
        return before
    with nogil:
        for k in range(LANES):
            lane[k] = _stirred(before, <unsigned long long>k)
        while at + STRIPE <= size:
            _take(lane, &data[at])
            at += STRIPE
        if at < size:
            memset(rest, 0, STRIPE)
            memcpy(rest, &data[at], size - at)
            _take(lane, rest)
        # The size tells zeros at the end apart.
        found = _stirred(before, <unsigned long long>size)
        for k in range(LANES):
            found = _stirred(found, lane[k])
    return found


def longest_run(const unsigned long long[::1] slots, unsigned char[::1] seen):
    """Return how many slots of a hash table are taken in a row, at most.

    The lower half of a slot that is taken holds a number from 1 on.

    Parameters
    ----------
    slots : buffer of uint64
        The table, which is a ring.
    seen : buffer of uint8
        Zeros, one for each number; becomes one where a slot has the number.

    Returns
    -------
    run : int
        The longest run; -1 if a number is not among those of `seen`, or there twice,
        or if no slot is free.
    """
    cdef Py_ssize_t i, run = 0, longest = 0, first = -1, n = slots.shape[0]
    cdef long long number
    with nogil:
        for i in range(n):
            if slots[i] == 0:
                first = run if first < 0 else first
                run = 0
                continue
            number = <long long>(slots[i] & 0xFFFFFFFFULL) - 1
            if number < 0 or number >= seen.shape[0] or seen[number]:
                first = -1
                break
            seen[number] = 1
            run += 1
            longest = run if run > longest else longest
    if first < 0:
        return -1
    # The last run goes on where the ring begins.
    return max(longest, first + run)
