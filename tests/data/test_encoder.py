"""SequenceEncoder: from Python sequences to batches."""

import os
import subprocess
import sys
from collections import OrderedDict, UserDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pycrfsuite
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from skcw import CWSequenceTagger
from skcw.data import SequenceBatch, SequenceEncoder
from skcw.exceptions import ForeignBatchError

X = [[["w=a", "cap"], ["w=b"]], [], [["w=a"], []]]
Y = [["A", "B"], [], ["A", "B"]]


def encoded(tokens):
    """Return one sequence of tokens as the encoder reads it."""
    return SequenceEncoder().fit_transform([tokens]).to_lists()[0]


# As python-crfsuite reads them; numbers other than one make values.
DICTS = [
    {"w": "a"},
    {"w": "é ü"},
    {"w": ""},
    {"": "a"},
    {"w": 1},
    {"w": 2.5, "v": -1},
    {"w": True, "v": False},
    {"w": np.float32(0.5)},
    {"w": np.int64(3)},
    {"w": np.bool_(True), "v": np.str_("x")},
    {"w": {"a": "b"}},
    {"w": {"a": {"b": {"c": 2.0}}}},
    {"w": {"a": 1.5, "b": "x", "c": ["d", "e"]}},
    {"w": ["a", "b", "a"]},
    {"w": {"a"}},
    {"w": []},
    {"w": {}},
    {},
    {"a": "b", "a:b": 2.0},
    OrderedDict(w="a", v=2),
    defaultdict(float, w=0.25),
]


@pytest.mark.parametrize("token", DICTS, ids=str)
def test_dicts_are_read_as_python_crfsuite_reads_them(token):
    batch = SequenceEncoder().fit_transform([[token, {"other": 0.5}]])
    names = batch.vocabulary.names()
    found = {}
    for i in range(int(batch.indptr[0]), int(batch.indptr[1])):
        name = names[batch.indices[i]]
        found[name] = found.get(name, 0.0) + batch.values[i]
    # Their items are given back without repetitions, the last value of each.
    theirs = pycrfsuite.ItemSequence([token]).items()[0]
    assert set(found) == set(theirs)
    if len(found) == batch.indptr[1]:
        assert found == theirs


def test_repeated_features_count_as_often_as_they_come():
    batch = SequenceEncoder().fit_transform([[["a", "b", "a"]]])
    assert batch.indices.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "token",
    [
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        iter(["a", "b"]),
        {"a", "b"},
        frozenset(["b", "a"]),
        {"a": None, "b": None}.keys(),
    ],
    ids=lambda token: type(token).__name__,
)
def test_any_collection_of_strings_is_a_token(token):
    assert encoded([token]) == [["a", "b"]]


@pytest.mark.parametrize("kind", [UserDict, MappingProxyType])
def test_any_mapping_keeps_its_values(kind):
    assert encoded([kind({"a": 2.5})]) == [{"a": 2.5}]


@pytest.mark.parametrize("value", [Decimal("2.5"), Fraction(5, 2), np.float16(2.5)])
def test_any_number_is_a_value(value):
    assert encoded([{"a": value}]) == [{"a": 2.5}]


def test_values_of_one_take_no_room():
    assert SequenceEncoder().fit_transform([[{"a": 1, "b": True}]]).values is None


def test_features_of_a_set_come_in_the_same_order_in_every_process():
    code = (
        "from skcw.data import SequenceEncoder;"
        "x = [[set(map(str, range(50))), {'k': set(map(str, range(50)))}]];"
        "print(SequenceEncoder().fit_transform(x).vocabulary.names())"
    )
    seen = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(run.stdout)
    assert len(seen) == 1


def test_a_dict_that_holds_itself_is_refused():
    token = {}
    token["a"] = token
    with pytest.raises(ValueError, match=r"sequence 0, token 0.*nested"):
        encoded([token])


BAD_TOKENS = [
    (None, TypeError),
    (3, TypeError),
    (np.int64(3), TypeError),
    (b"a", TypeError),
    ([3], TypeError),
    ([None], TypeError),
    ([b"a"], TypeError),
    ([["a"]], TypeError),
    ({"a": None}, TypeError),
    ({"a": b"\xff"}, ValueError),
    ({b"\xff": 1.0}, ValueError),
    ({"a": bytearray(b"12")}, TypeError),
    ({"a": ...}, TypeError),
    ({"a": 1j}, TypeError),
    ({"a": [1]}, TypeError),
    ({"a": {1: 2}}, TypeError),
    ({1: "a"}, TypeError),
    ({"a": float("nan")}, ValueError),
    ({"a": float("inf")}, ValueError),
    ({"a": {"b": -np.inf}}, ValueError),
    ({"a": 10**400}, ValueError),
]


@pytest.mark.parametrize(("token", "error"), BAD_TOKENS, ids=str)
def test_bad_tokens_are_named(token, error):
    with pytest.raises(error, match="sequence 1, token 2"):
        SequenceEncoder().fit([X[0], [["a"], ["b"], token]])


@pytest.mark.parametrize("sequence", ["ab", b"ab", {"a": 1}, {"a", "b"}, 3, None])
def test_bad_sequences_are_named(sequence):
    with pytest.raises(TypeError, match="sequence 1 is"):
        SequenceEncoder().fit([[["a"]], sequence])


@pytest.mark.parametrize(
    "X", ["ab", b"ab", {"a": 1}, {"a"}, 3, None, np.ones((2, 2)), sparse.eye(2)]
)
def test_what_is_no_collection_of_sequences_is_refused(X):
    with pytest.raises(TypeError, match=r"^X is"):
        SequenceEncoder().fit(X)


def test_an_encoder_leaves_out_what_it_did_not_see_in_fit():
    encoder = SequenceEncoder().fit(X)
    batch = encoder.transform([[["w=b", "new"], ["new"]]])
    assert batch.to_lists() == [[["w=b"], []]]
    assert encoder.get_feature_names_out().tolist() == ["w=a", "cap", "w=b"]
    assert encoder.n_features_out_ == 3


def test_an_encoder_must_be_fitted():
    for call in (SequenceEncoder().transform, SequenceEncoder().get_feature_names_out):
        with pytest.raises(NotFittedError):
            call(X)


def test_rare_features_are_left_out():
    encoder = SequenceEncoder(min_count=2)
    assert encoder.fit_transform(X).to_lists() == [
        [["w=a"], []],
        [],
        [["w=a"], []],
    ]
    valued = [[{"a": 2.0, "b": 3.0}, {"a": 4.0}]]
    assert encoder.fit_transform(valued).to_lists() == [[{"a": 2.0}, {"a": 4.0}]]
    everything = SequenceEncoder(min_count=99).fit_transform(X)
    assert everything.to_lists() == [[[], []], [], [[], []]]


def test_rare_is_what_is_rare_in_the_slice():
    batch = SequenceEncoder().fit_transform([[["a"]], [["a"], ["b"], ["b"]]])
    kept = SequenceEncoder(min_count=2).fit_transform(batch[1:])
    assert kept.to_lists() == [[[], ["b"], ["b"]]]


@pytest.mark.parametrize("min_count", [0, -1, 1.5, "2", None])
def test_a_bad_min_count_is_refused(min_count):
    with pytest.raises(ValueError, match="min_count"):
        SequenceEncoder(min_count=min_count).fit(X)


def test_columns_have_no_rare_features():
    with pytest.raises(ValueError, match="named features"):
        SequenceEncoder(min_count=2).fit([np.ones((1, 1))])


def test_an_encoder_passes_its_own_batches_through_and_no_others():
    encoder = SequenceEncoder()
    batch = encoder.fit_transform(X)
    assert encoder.transform(batch[1:]).to_lists() == X[1:]
    other = SequenceEncoder().fit_transform([X[0][::-1]])
    with pytest.raises(ForeignBatchError, match="another encoder"):
        encoder.transform(other)
    assert SequenceEncoder().fit_transform(batch).to_lists() == X


def test_a_batch_of_another_encoder_is_refused_by_a_tagger():
    encoder = SequenceEncoder()
    tagger = CWSequenceTagger().fit(encoder.fit_transform(X), Y)
    other = SequenceEncoder().fit_transform([X[0][::-1]])
    columns = SequenceEncoder().fit_transform([np.ones((2, 3))])
    before = tagger.coef_
    for batch in (other, columns):
        with pytest.raises(ForeignBatchError, match=r"tagger\.encode"):
            tagger.predict(batch)
        with pytest.raises(ForeignBatchError):
            tagger.partial_fit(batch, [["A"] * n for n in batch.lengths])
    np.testing.assert_array_equal(tagger.coef_, before)


def test_a_batch_older_than_the_tagger_takes_nothing_away():
    encoder = SequenceEncoder()
    batch = encoder.fit_transform(X)
    tagger = CWSequenceTagger(random_state=0).fit(batch, Y)
    tagger.partial_fit([[["new"], ["newer"]]], [["A", "C"]])
    tagger.partial_fit(batch, Y)
    assert tagger.feature_names_.tolist() == ["w=a", "cap", "w=b", "new", "newer"]
    assert tagger.coef_.shape == (5, 3)
    tagger.partial_fit([[["newest"]]], [["C"]])
    assert tagger.feature_names_[-1] == "newest"
    assert tagger.predict(batch).shape == (3,)


def test_a_batch_younger_than_the_tagger_is_read_as_far_as_it_is_known():
    old = CWSequenceTagger(random_state=0).fit(X, Y)
    young = CWSequenceTagger(random_state=0).fit(X, Y)
    young.partial_fit([[["new"]]], [["A"]])
    batch = young.encode([[["w=a", "new"], ["w=b"]]])
    assert old.predict(batch)[0] == old.predict([[["w=a"], ["w=b"]]])[0]


def test_an_encoder_is_an_estimator():
    encoder = clone(SequenceEncoder(min_count=3))
    assert encoder.get_params() == {"min_count": 3}
    assert "SequenceEncoder(min_count=3)" in repr(encoder)


def test_frames_are_not_made_of_batches():
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(SequenceEncoder().fit_transform(X), SequenceBatch)
        pipeline = make_pipeline(SequenceEncoder(), CWSequenceTagger()).fit(X, Y)
        assert pipeline.predict(X).shape == (3,)


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.coo_array]
)
def test_rows_of_numbers_are_tokens(form):
    rows = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, -3.0]])
    batch = SequenceEncoder().fit_transform([form(rows), form(rows[:1])])
    assert batch.to_lists() == [[{"x1": 2.0}, {"x0": 1.0, "x2": -3.0}], [{"x1": 2.0}]]
    assert batch.fingerprint == "columns-3"


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32])
def test_columns_may_have_any_type_of_real_number(dtype):
    batch = SequenceEncoder().fit_transform([np.eye(2, dtype=dtype)])
    assert batch.values.tolist() == [1.0, 1.0]


def test_empty_sequences_have_no_columns_to_count():
    encoder = SequenceEncoder()
    rows = np.ones((2, 3))
    batch = encoder.fit_transform([[], np.empty((0, 3)), rows, []])
    assert batch.lengths.tolist() == [0, 0, 2, 0]
    assert encoder.transform([[], []]).lengths.tolist() == [0, 0]


def test_bad_numbers_are_named():
    rows = np.ones((3, 2))
    bad = rows.copy()
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="sequence 1, token 2, column 1 is nan"):
        SequenceEncoder().fit([rows, bad])
    with pytest.raises(ValueError, match="sequence 1 has 3 columns where 2"):
        SequenceEncoder().fit([rows, np.ones((1, 3))])
    with pytest.raises(TypeError, match="sequence 1 is a list"):
        SequenceEncoder().fit([rows, [["a"]]])
    with pytest.raises(TypeError, match="sequence 0, token 0"):
        SequenceEncoder().fit([rows * 1j])
    with pytest.raises(TypeError, match="vocabulary is one of feature strings"):
        SequenceEncoder().fit(X).transform([rows])


def test_a_matrix_given_is_neither_changed_nor_kept():
    data, indices = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1])
    matrix = sparse.csr_matrix((data, indices, np.array([0, 3])), shape=(1, 2))
    batch = SequenceEncoder().fit_transform([matrix])
    assert batch.to_lists() == [[{"x0": 2.0, "x1": 4.0}]]
    assert matrix.data.tolist() == [1.0, 2.0, 3.0]
    matrix.data[:] = 0.0
    assert batch.values.tolist() == [2.0, 4.0]
