"""Bytes brought back from a block of LZ4, one after the other."""

from itertools import islice


def unpacked(block):
    """Return what a block stands for, or None if it is none."""
    rest, found = iter(block), bytearray()
    try:
        for sizes in rest:
            size = _size(rest, sizes >> 4)
            literals = bytes(islice(rest, size))
            if len(literals) < size:
                return None
            found += literals
            low = next(rest, None)
            if low is None:
                return bytes(found)
            back = low + 256 * next(rest)
            size = 4 + _size(rest, sizes & 15)
            if not 0 < back <= len(found):
                return None
            for _ in range(size):
                found.append(found[-back])
    except StopIteration:
        pass
    return None


def _size(rest, size):
    more = 255 if size == 15 else 0
    while more == 255:
        more = next(rest)
        size += more
    return size
