"""SequenceBatch: an array of sequences in compiled form."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import _safe_indexing

from skcw.data import SequenceBatch, SequenceEncoder

WORDS = [["a", "b"], [], ["c"], ["a", "c", "d"], ["b"]]
TOKENS = [[[word] for word in sequence] for sequence in WORDS]
VALUED = [[{word: ord(word) / 10} for word in sequence] for sequence in WORDS]


@pytest.fixture(params=["plain", "valued"])
def lists(request):
    return TOKENS if request.param == "plain" else VALUED


@pytest.fixture
def batch(lists):
    return SequenceEncoder().fit_transform(lists)


def test_a_batch_tells_its_size(batch):
    assert len(batch) == 5
    assert batch.shape == (5,)
    assert batch.n_tokens == 7
    assert batch.lengths.tolist() == [2, 0, 1, 3, 1]
    assert repr(batch) == "SequenceBatch(5 sequences, 7 tokens, 4 features)"


def test_a_batch_gives_back_the_tokens_it_was_made_from(batch, lists):
    assert batch.to_lists() == lists


SLICES = [
    slice(None),
    slice(1, 4),
    slice(-2, None),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(4, 1, -2),
    slice(3, 3),
    slice(4, 2),
    slice(10, 20),
    slice(-100, 100),
]


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slices_are_those_of_a_list(batch, lists, key):
    assert batch[key].to_lists() == lists[key]
    assert batch[key, ...].to_lists() == lists[key]


@pytest.mark.parametrize("i", [0, 1, 4, -1, -5, np.int64(3), np.uint8(2)])
def test_an_index_gives_a_batch_of_one_sequence(batch, lists, i):
    assert batch[i].to_lists() == [lists[i]]


@pytest.mark.parametrize("i", [5, -6, 10**9])
def test_an_index_out_of_range_is_refused(batch, i):
    with pytest.raises(IndexError, match=str(i)):
        batch[i]


@pytest.mark.parametrize(
    "key",
    [[3, 0], [0, 0, 0], [-1, 1], [], np.array([4, 2]), (np.array([1]), ...), range(3)],
    ids=str,
)
def test_positions_are_taken_in_their_order_and_as_often_as_given(batch, lists, key):
    positions = key[0] if isinstance(key, tuple) else key
    assert batch[key].to_lists() == [lists[i] for i in positions]


def test_a_mask_keeps_what_it_marks(batch, lists):
    mask = np.array([True, False, True, True, False])
    assert batch[mask].to_lists() == [lists[0], lists[2], lists[3]]
    assert batch[mask.tolist()].to_lists() == [lists[0], lists[2], lists[3]]


@pytest.mark.parametrize(
    "key",
    [
        [5],
        [-6],
        [0.5],
        ["a"],
        [[0, 1]],
        [True, False],
        (0, 1),
        (0, ..., ...),
        None,
        "ab",
        2.5,
    ],
    ids=str,
)
def test_other_keys_are_refused(batch, key):
    with pytest.raises(IndexError):
        batch[key]


def test_slices_of_slices_are_slices(batch, lists):
    assert batch[1:][1:][[2, 0]].to_lists() == [lists[4], lists[2]]
    assert batch[[4, 3, 2]][1:][-1].to_lists() == [lists[2]]


def test_a_slice_copies_no_entry(batch):
    assert np.shares_memory(batch[1:4].indices, batch.indices)


@pytest.mark.parametrize("name", ["offsets", "indptr", "indices", "values"])
def test_a_batch_is_frozen(name):
    batch = SequenceEncoder().fit_transform(VALUED)
    for each in (batch, batch[1:], batch[[3]], pickle.loads(pickle.dumps(batch[1:]))):
        with pytest.raises(ValueError, match="read-only"):
            getattr(each, name)[:] = 0


def test_a_pickled_slice_leaves_the_rest_at_home(batch, lists):
    long = SequenceEncoder().fit_transform(lists * 1000)
    piece = pickle.loads(pickle.dumps(long[-3:]))
    assert piece.to_lists() == lists[-3:]
    assert len(piece.indices) == 5
    assert len(pickle.dumps(long[-3:])) < len(pickle.dumps(long)) / 2


def test_scikit_learn_indexes_a_batch_without_unpacking_it(batch, lists):
    for train, test in KFold(3).split(batch):
        part = _safe_indexing(batch, train)
        assert isinstance(part, SequenceBatch)
        assert part.to_lists() == [lists[i] for i in train]
        assert _safe_indexing(batch, test).to_lists() == [lists[i] for i in test]
    train, test = train_test_split(batch, test_size=2, random_state=0)
    assert isinstance(train, SequenceBatch)
    assert (len(train), len(test)) == (3, 2)


def test_the_same_names_have_the_same_fingerprint(batch, lists):
    again = SequenceEncoder().fit_transform(lists)
    other = SequenceEncoder().fit_transform(lists[::-1])
    assert batch.fingerprint == again.fingerprint == batch[2:].fingerprint
    assert batch.fingerprint != other.fingerprint


def made_by_hand(**changes):
    arrays = {
        "offsets": [0, 2, 2],
        "indptr": [0, 1, 3],
        "indices": [0, 1, 0],
        "values": [1.0, 2.0, 3.0],
        "n_features": 2,
    }
    return SequenceBatch(**(arrays | changes))


def test_a_batch_made_by_hand_is_a_batch():
    batch = made_by_hand()
    assert batch.to_lists() == [[{"x0": 1.0}, {"x1": 2.0, "x0": 3.0}], []]
    assert made_by_hand(values=None).to_lists() == [[["x0"], ["x1", "x0"]], []]


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": []},
        {"offsets": [1, 2]},
        {"offsets": [0, 3]},
        {"offsets": [0, 2, 1, 2]},
        {"indptr": [0, 1]},
        {"indptr": [0, 2, 1]},
        {"indptr": [0, 1, 4]},
        {"indptr": [0, 1, 2]},
        {"indices": [0, 2, 0]},
        {"indices": [0, -1, 0]},
        {"indices": [0, 1]},
        {"values": [1.0, 2.0]},
        {"values": [1.0, np.nan, 1.0]},
        {"n_features": 1},
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_together_are_refused(changes):
    with pytest.raises(ValueError, match=r"must|ends"):
        made_by_hand(**changes)


def test_making_a_batch_leaves_the_callers_arrays_writable():
    indices = np.array([0, 1, 0], dtype=np.int32)
    made_by_hand(indices=indices)
    assert indices.flags.writeable
    indices[0] = 1


def test_values_too_large_to_be_squared_are_named():
    batch = made_by_hand(values=[1.0, 1e30, 1.0])
    assert batch.with_precision("float64").values.tolist() == [1.0, 1e30, 1.0]
    with pytest.raises(ValueError, match=r"sequence 0, token 1 .*1e\+30.*float32"):
        batch.with_precision("float32")
    three = batch[[1, 0, 0]]
    with pytest.raises(ValueError, match=r"sequence 1, token 1 "):
        three.with_precision("float32")


def test_precision_is_changed_in_the_part_that_is_used():
    batch = SequenceEncoder().fit_transform(VALUED * 10)
    part = batch[3:5].with_precision("float32")
    assert part.values.dtype == np.float32
    assert len(part.values) == 4
    assert [len(tokens) for tokens in part.to_lists()] == [3, 1]


def test_a_batch_does_not_mind_what_becomes_of_the_arrays_it_was_made_of():
    offsets, indptr = np.array([0, 2]), np.array([0, 1, 2])
    indices, values = np.array([0, 1], dtype=np.int32), np.array([1.0, 2.0])
    batch = SequenceBatch(offsets, indptr, indices, values, 2)
    for array in (offsets, indptr, indices, values):
        array[:] = 10**6
    assert batch.to_lists() == [[{"x0": 1.0}, {"x1": 2.0}]]
    for array in (batch.offsets, batch.indptr, batch.indices, batch.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 10**6
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("indices", np.array([0, 2**32 + 1])),
        ("indices", [0.5, 1]),
        ("indices", [[0, 1]]),
        ("indices", ["a", "b"]),
        ("indptr", [0, 1.5, 2]),
        ("offsets", [[0, 2]]),
        ("values", ["a", "b"]),
        ("n_features", 2.0),
        ("n_features", 2**31),
        ("vocabulary", ["a", "b"]),
    ],
)
def test_a_batch_of_anything_else_is_refused(name, value):
    given = {
        "offsets": [0, 2],
        "indptr": [0, 1, 2],
        "indices": [0, 1],
        "values": None,
        "n_features": 2,
    }
    assert len(SequenceBatch(**given)) == 1
    with pytest.raises((TypeError, ValueError), match=name):
        SequenceBatch(**given | {name: value})
