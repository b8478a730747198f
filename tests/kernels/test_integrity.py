"""Checksums notice every small change; the largest number of an array is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skcw._kernels.integrity import checksum, longest_run
from skcw.data.saved import largest_size
from tests.reference import integrity as twin

words = st.integers(0, 2**64 - 1)


@given(st.binary(max_size=300), words)
def test_the_checksum_is_that_of_the_twin(data, before):
    assert checksum(data, before) == twin.checksum(data, before)


def test_the_checksum_of_nothing_is_what_came_before():
    assert checksum(b"", 7) == 7


@pytest.mark.parametrize(
    ("slots", "n_names", "run"),
    [
        ([0, 0], 0, 0),
        ([1, 0], 1, 1),
        ([1, 0, 2, 3], 3, 3),
        ([0, 2, 1, 0], 2, 2),
        ([1 | 5 << 32, 0], 1, 1),
        ([1, 2], 2, -1),
        ([1, 1, 0, 0], 2, -1),
        ([3, 0], 2, -1),
        ([1 << 32, 0], 1, -1),
    ],
)
def test_runs_of_a_ring_are_counted_and_odd_numbers_noticed(slots, n_names, run):
    seen = np.zeros(n_names, dtype=np.uint8)
    assert longest_run(np.array(slots, dtype=np.uint64), seen) == run
    assert run < 0 or seen.all()


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_change_within_one_word_is_always_noticed(data, draw):
    at = draw.draw(st.integers(0, len(data) - 1))
    other = bytearray(data)
    first = at - at % 8
    for place in range(first, min(first + 8, len(data))):
        other[place] = draw.draw(st.integers(0, 255))
    assert (checksum(bytes(other), 5) == checksum(data, 5)) == (bytes(other) == data)


@given(st.binary(max_size=200), st.integers(1, 100))
def test_zeros_at_the_end_and_lengths_are_noticed(data, n):
    assert checksum(data + bytes(n), 0) != checksum(data, 0)
    assert data[:-n] == data or checksum(data[:-n], 0) != checksum(data, 0)


@given(st.binary(min_size=1, max_size=50), words, words)
def test_what_came_before_counts(data, one, other):
    assert (checksum(data, one) == checksum(data, other)) == (one == other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.data())
def test_the_largest_size_is_found(dtype, data):
    width = 8 * np.dtype(dtype).itemsize
    array = data.draw(
        arrays(dtype, st.integers(0, 40), elements=st.floats(width=width))
    )
    sizes = np.abs(array)
    expected = np.inf if np.isnan(sizes).any() else sizes.max(initial=0)
    assert largest_size(array) == expected
