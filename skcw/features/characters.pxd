"""Characters of UTF-8 text, for loops that never build a Python string."""


cdef inline Py_ssize_t character_size(unsigned char lead) noexcept:
    """Return how many bytes the character with this first byte has."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


cdef inline Py_UCS4 character_at(const char* text) noexcept:
    cdef const unsigned char* byte = <const unsigned char*>text
    if byte[0] < 0x80:
        return <Py_UCS4>byte[0]
    if byte[0] < 0xE0:
        return <Py_UCS4>((byte[0] & 0x1F) << 6 | (byte[1] & 0x3F))
    if byte[0] < 0xF0:
        return <Py_UCS4>(
            (byte[0] & 0x0F) << 12 | (byte[1] & 0x3F) << 6 | (byte[2] & 0x3F))
    return <Py_UCS4>(
        (byte[0] & 0x07) << 18 | (byte[1] & 0x3F) << 12
        | (byte[2] & 0x3F) << 6 | (byte[3] & 0x3F))


cdef inline Py_ssize_t first_characters(
    const char* text, Py_ssize_t size, Py_ssize_t n
) noexcept:
    """Return how many bytes the first n characters take, or -1 if there are fewer."""
    cdef Py_ssize_t at = 0
    while n > 0:
        if at >= size:
            return -1
        at += character_size(text[at])
        n -= 1
    return at


cdef inline Py_ssize_t last_characters(
    const char* text, Py_ssize_t size, Py_ssize_t n
) noexcept:
    """Return where the last n characters begin, or -1 if there are fewer."""
    cdef Py_ssize_t at = size
    while n > 0:
        if at <= 0:
            return -1
        at -= 1
        # Continuation bytes are 10xxxxxx.
        while at > 0 and (<unsigned char>text[at] & 0xC0) == 0x80:
            at -= 1
        n -= 1
    return at
