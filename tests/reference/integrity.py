"""The checksum of model files, word by word with Python's own integers."""

LANES = 8
FACTOR = 0x9E3779B97F4A7C15
MOST = 2**64 - 1


def stirred(lane, word):
    lane = (lane ^ word) * FACTOR & MOST
    return lane ^ lane >> 32


def checksum(data, before):
    """Return the checksum of bytes that follow others with the checksum `before`."""
    if not data:
        return before
    lanes = [stirred(before, k) for k in range(LANES)]
    padded = data + bytes(-len(data) % (8 * LANES))
    for at in range(0, len(padded), 8):
        k = at // 8 % LANES
        lanes[k] = stirred(lanes[k], int.from_bytes(padded[at : at + 8], "little"))
    found = stirred(before, len(data))
    for lane in lanes:
        found = stirred(found, lane)
    return found
