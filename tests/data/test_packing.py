"""Arrays take less room in a file, and come back bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data.names import slots_of
from skcw.data.packing import packed, unpacked, with_names, without_slots
from skcw.data.vocabulary import Vocabulary

KINDS = ("f2", "f4", "f8", "i4", "i8", "u1", "u2", "u8")
EMPTY = np.empty(0, np.uint8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(0,), (3,), (5000,), (70, 90)])
def test_arrays_of_all_kinds_come_back(kind, shape):
    array = (np.arange(np.prod(shape)) // 7 % 100).astype(kind).reshape(shape)
    found, origins = packed({"a": array, "b": array.T})
    assert origins or array.size < 100
    for name, given_array in (("a", array), ("b", array.T)):
        again = unpacked(found, origins)[name]
        assert (again.dtype, again.shape) == (array.dtype, given_array.shape)
        assert np.array_equal(again, given_array)


def test_what_would_not_become_smaller_stays():
    noise = np.random.default_rng(0).random(1000)
    found, origins = packed({"noise": noise})
    assert found["noise"] is noise
    assert not origins


@pytest.mark.parametrize(
    "origin",
    [
        ["f4", [999]],
        ["f4", [10**18, 10**18]],
        ["f4", [-1000]],
        ["f4", [1000.0]],
        ["f4", 1000],
        ["O", [1000]],
        [["f4"], [1000]],
        ["f4"],
    ],
)
def test_origins_that_do_not_fit_are_refused(origin):
    found, _ = packed({"a": np.zeros(1000, np.float32)})
    with pytest.raises((ValueError, TypeError)):
        unpacked(found, {"a": origin})


def test_packed_arrays_that_are_missing_or_of_another_type_are_refused():
    _, origins = packed({"a": np.zeros(1000)})
    for found in ({}, {"a": np.zeros(9)}):
        with pytest.raises(ValueError, match="the array a"):
            unpacked(found, origins)


@given(st.lists(st.text(max_size=20), unique=True, max_size=60))
def test_names_come_back_without_their_table(names):
    vocabulary = Vocabulary.from_names(names)
    found, prefixes = without_slots(vocabulary.arrays())
    assert set(found) == {"vocabulary.blob", "vocabulary.sizes"}
    again = Vocabulary.from_arrays(with_names(found, prefixes))
    again.check(len(names))
    assert again.names() == names
    assert again.find_all([*names, "?" * 21]).tolist() == [*range(len(names)), -1]


@pytest.mark.parametrize("longest", [255, 256, 65_535, 65_536])
def test_names_of_any_size_come_back(longest):
    names = ["a", "b" * longest]
    found = with_names(*without_slots(Vocabulary.from_names(names).arrays()))
    assert found["vocabulary"].names() == names


def test_many_names_have_as_many_slots_as_if_they_were_added_one_by_one():
    for n in (0, 1, 682, 683, 3000, 50_000):
        names = Vocabulary.from_names(map(str, range(n)))
        slots = slots_of(names.blob, names.ends)
        assert len(slots) == len(names.slots)
        assert np.array_equal(np.sort(slots), np.sort(names.slots))


@pytest.mark.parametrize(
    "change",
    [
        {"vocabulary.sizes": np.array([3, 9], np.uint8)},
        {"vocabulary.sizes": np.array([3, 0], np.uint8)},
        {"vocabulary.sizes": np.array([2**64 - 1, 5], np.uint64)},
        {"vocabulary.sizes": np.array([3, 1], np.int64)},
        {"vocabulary.blob": np.frombuffer(b"the\xff", np.uint8)},
        {"vocabulary.blob": EMPTY},
    ],
)
def test_names_that_do_not_fit_are_refused(change):
    found, prefixes = without_slots(Vocabulary.from_names(["the", "a"]).arrays())
    with pytest.raises(ValueError, match=r"names|sizes|decode"):
        with_names(found | change, prefixes)


def test_names_that_meet_in_one_place_are_refused():
    # One name again and again is what no training writes.
    blob, ends = np.full(20_000, 97, np.uint8), np.arange(20_001)
    with pytest.raises(ValueError, match="cannot be searched"):
        slots_of(blob, ends)
