"""Blocks of LZ4 hold all bytes, and damaged ones are noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw._kernels.packing import most_packed, packed_bytes, unpack_bytes
from tests.reference import packing as twin

# A few letters, so that much is repeated, in pieces of all sizes.
pieces = st.binary(max_size=40) | st.text("ab", max_size=400).map(str.encode)
texts = st.lists(
    st.tuples(pieces, st.integers(1, 40)).map(lambda pair: pair[0] * pair[1]),
    max_size=8,
).map(b"".join)


def block_of(data):
    target = np.empty(most_packed(len(data)), np.uint8)
    return bytes(target[: packed_bytes(data, target)])


def unpacked(block, size):
    # What lies behind belongs to somebody else.
    target = np.full(size + 32, 7, np.uint8)
    complete = unpack_bytes(block, target[:size])
    assert (target[size:] == 7).all()
    return bytes(target[:size]) if complete else None


@given(texts)
def test_bytes_come_back(data):
    block = block_of(data)
    assert unpacked(block, len(data)) == data
    assert twin.unpacked(block) == data


@given(texts)
def test_the_ends_of_blocks_are_as_lz4_asks(data):
    # No other decoder reads beyond its input if the last five bytes are literals.
    block = block_of(data)
    assert len(data) < 5 or block.endswith(data[-5:])


@given(st.binary(max_size=60), st.integers(0, 300))
def test_any_bytes_are_read_as_the_twin_reads_them(block, size):
    expected = twin.unpacked(block)
    fits = expected is not None and len(expected) == size
    assert unpacked(block, size) == (expected if fits else None)


@given(texts.filter(bool), st.data())
def test_damaged_blocks_are_read_as_the_twin_reads_them(data, draw):
    block = bytearray(block_of(data))
    at = draw.draw(st.integers(0, len(block) - 1))
    block[at] = draw.draw(st.integers(0, 255))
    expected = twin.unpacked(bytes(block))
    fits = expected is not None and len(expected) == len(data)
    assert unpacked(bytes(block), len(data)) == (expected if fits else None)


@pytest.mark.parametrize("change", [-1, 1])
def test_another_size_is_noticed(change):
    data = b"a name, a name, a name, and the end"
    assert unpacked(block_of(data), len(data) + change) is None


def test_a_block_by_hand():
    # Two literals, a copy of 4 + 6 bytes from two back, five literals.
    block = bytes([2 << 4 | 6]) + b"ab" + bytes([2, 0, 5 << 4]) + b"12345"
    assert unpacked(block, 17) == b"ab" * 6 + b"12345"
    assert block_of(b"ab" * 6 + b"12345") == block


def test_repeats_take_little_room():
    assert len(block_of(b"suffix(3)[0]=ing" * 1000)) < 100
    noise = np.random.default_rng(0).bytes(10_000)
    assert len(block_of(noise)) <= most_packed(len(noise))


def test_a_target_without_room_is_refused():
    with pytest.raises(ValueError, match="no room"):
        packed_bytes(bytes(100), np.empty(100, np.uint8))
