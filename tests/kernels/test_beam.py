"""Beam search and history marginals against lists and enumeration."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.beam import beam_search, history_marginals
from tests.kernels.problems import pad
from tests.reference import beam as twin

CLOSE = 1e-9
NUMBERS = st.floats(-4, 4, width=16)
TIED = st.integers(-1, 1).map(float)


@st.composite
def problems(draw, numbers=NUMBERS, most_tokens=3, most_labels=3):
    """Return scores of one sequence, and the weights of histories."""
    n_tokens = draw(st.integers(1, most_tokens))
    n_labels = draw(st.integers(1, most_labels))
    size = n_labels + 1
    rows = hnp.arrays(np.int32, (size, size), elements=st.integers(-1, 1))
    shapes = [(n_tokens, n_labels), (size, n_labels), (2, n_labels)]
    scores, previous, pairs = (
        draw(hnp.arrays(np.float64, shape, elements=numbers)) for shape in shapes
    )
    return scores, previous, draw(rows), pairs


def search(scores, previous, pair_row, pairs, beam, offsets=None):
    """Return the labelings that exist and their logarithms, for each sequence."""
    n_tokens = len(scores)
    offsets = np.array([0, n_tokens]) if offsets is None else offsets
    labels = np.full((beam, n_tokens), -1, dtype=np.int32)
    total = np.full((len(offsets) - 1, beam), np.nan)
    found = np.full(len(offsets) - 1, -1, dtype=np.int32)
    beam_search(
        pad(scores, n_tokens),
        *(previous, pair_row, pairs),
        offsets.astype(np.int64),
        *(labels, total, found),
    )
    return [
        (labels[:n, a:b], total[s, :n])
        for s, (n, (a, b)) in enumerate(zip(found, pairwise(offsets), strict=True))
    ]


def both_marginals(scores, previous, pair_row, pairs, beam, asked, offsets=None):
    """Return the marginals of labels, and of asked pairs (2, n_asked) of them."""
    out = np.full(scores.shape, np.nan)
    joint = np.full((len(scores), asked.shape[1]), np.nan)
    offsets = np.array([0, len(scores)]) if offsets is None else offsets
    history_marginals(
        pad(scores, len(scores)),
        *(previous, pair_row, pairs),
        *(offsets, beam, out, asked, joint),
    )
    return out, joint


def marginals(*problem):
    return both_marginals(*problem, np.empty((2, 0), dtype=np.intp))[0]


def all_pairs(n_labels):
    return np.stack(np.divmod(np.arange(n_labels**2), n_labels))


@given(problems())
def test_a_wide_beam_finds_all_labelings_best_first(problem):
    n_tokens, n_labels = problem[0].shape
    ((labels, total),) = search(*problem, 27)
    model = twin.local_model(*problem)
    expected = twin.every_labeling(model, n_tokens, n_labels)
    assert len(labels) == len(expected)
    assert len({tuple(row) for row in labels}) == len(labels)
    assert_allclose(total, [x for _, x in expected], rtol=CLOSE, atol=CLOSE)
    again = [twin.log_probability(model, row, n_labels) for row in labels]
    assert_allclose(total, again, rtol=CLOSE, atol=CLOSE)
    assert_allclose(np.exp(total).sum(), 1.0, rtol=CLOSE)


@given(problems(), st.integers(1, 12))
def test_a_narrow_beam_keeps_what_the_twin_keeps(problem, beam):
    ((_, total),) = search(*problem, beam)
    kept = twin.beam_search(twin.local_model(*problem), *problem[0].shape, beam)
    assert_allclose(total, [x for _, x in kept], rtol=CLOSE, atol=CLOSE)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 30))
def test_of_equal_labelings_the_first_ones_are_kept(n_tokens, n_labels, beam):
    size = n_labels + 1
    problem = (
        np.zeros((n_tokens, n_labels)),
        np.zeros((size, n_labels)),
        np.full((size, size), -1, dtype=np.int32),
        np.zeros((0, n_labels)),
    )
    ((labels, _),) = search(*problem, beam)
    kept = twin.beam_search(twin.local_model(*problem), n_tokens, n_labels, beam)
    assert labels.tolist() == [list(row) for row, _ in kept]


@given(problems(), st.integers(1, 12))
def test_scores_descend_and_fewer_are_found_only_where_fewer_exist(problem, beam):
    n_tokens, n_labels = problem[0].shape
    ((labels, total),) = search(*problem, beam)
    assert len(labels) == min(beam, n_labels**n_tokens)
    assert (np.diff(total) <= 0).all()


@given(problems(numbers=TIED))
def test_marginals_with_room_for_all_histories_are_exact(problem):
    expected = twin.marginals(twin.local_model(*problem), *problem[0].shape)
    assert_allclose(marginals(*problem, 16), expected, rtol=CLOSE, atol=CLOSE)


@given(problems(), st.integers(1, 5))
def test_marginals_sum_to_one_whatever_the_beam(problem, beam):
    assert_allclose(marginals(*problem, beam).sum(axis=1), 1.0, rtol=CLOSE)


@given(problems(numbers=TIED))
def test_pair_marginals_with_room_for_all_histories_are_exact(problem):
    n_tokens, n_labels = problem[0].shape
    _, joint = both_marginals(*problem, 16, all_pairs(n_labels))
    expected = twin.pair_marginals(twin.local_model(*problem), n_tokens, n_labels)
    assert_allclose(joint, expected.reshape(n_tokens, -1), rtol=CLOSE, atol=CLOSE)


@given(problems(), st.integers(1, 5))
def test_pairs_sum_to_the_labels_behind_them_whatever_the_beam(problem, beam):
    n_tokens, n_labels = problem[0].shape
    out, joint = both_marginals(*problem, beam, all_pairs(n_labels))
    table = joint.reshape(n_tokens, n_labels, n_labels)
    assert_array_equal(table[0], 0.0)
    assert_allclose(table[1:].sum(axis=1), out[1:], rtol=CLOSE, atol=CLOSE)


def test_some_pairs_are_columns_of_all_pairs_and_sequences_stay_apart():
    rng = np.random.default_rng(2)
    scores, rows = rng.normal(size=(6, 3)), rng.integers(-1, 2, (4, 4), dtype=np.int32)
    problem = scores, rng.normal(size=(4, 3)), rows, rng.normal(size=(2, 3))
    offsets, some = np.array([0, 2, 2, 6]), [5, 0]
    _, every = both_marginals(*problem, 9, all_pairs(3), offsets)
    asked = np.ascontiguousarray(all_pairs(3)[:, some])
    assert_array_equal(both_marginals(*problem, 9, asked, offsets)[1], every[:, some])
    assert_array_equal(every[[0, 2]], 0.0)
    alone = both_marginals(scores[2:], *problem[1:], 9, all_pairs(3))[1]
    assert_array_equal(every[2:], alone)


def test_an_impossible_label_is_never_found():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5, 3))
    scores[:, 1] = -np.inf
    rows = np.zeros((4, 4), dtype=np.int32)
    problem = scores, rng.normal(size=(4, 3)), rows, rng.normal(size=(1, 3))
    ((labels, total),) = search(*problem, 100)
    assert labels.shape == (2**5, 5)
    assert set(labels.ravel()) == {0, 2}
    assert_allclose(np.exp(total).sum(), 1.0, rtol=CLOSE)
    assert_array_equal(marginals(*problem, 100)[:, 1], 0.0)


def test_sequences_of_a_batch_do_not_touch_each_other():
    rng = np.random.default_rng(1)
    scores, rows = rng.normal(size=(9, 4)), rng.integers(-1, 3, (5, 5), dtype=np.int32)
    weights = rng.normal(size=(5, 4)), rows, rng.normal(size=(3, 4))
    offsets = np.array([0, 3, 3, 4, 9])
    together = search(scores, *weights, 6, offsets)
    for (a, b), (labels, total) in zip(pairwise(offsets), together, strict=True):
        if a == b:
            assert labels.shape == (1, 0)
            assert total.tolist() == [0.0]
            continue
        ((alone, again),) = search(scores[a:b], *weights, 6)
        assert_array_equal(labels, alone)
        assert_array_equal(total, again)
