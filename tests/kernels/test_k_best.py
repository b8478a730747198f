"""The k best labelings against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.lattice import k_best, viterbi
from tests.kernels.problems import (
    EXACT,
    FLOAT32,
    LABEL_COUNTS,
    pad,
    random_lattice,
    small_lattices,
)
from tests.reference import lattice as twin

NUMBERS = st.floats(-4, 4, width=16)
TIED = st.integers(-1, 1).map(float)
FORBIDDING = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 2.0])


def best_labelings(scores, trans, n_labels, offsets, k):
    labels = np.full((k, len(scores)), -1, dtype=np.int32)
    total = np.full((len(offsets) - 1, k), np.nan)
    found = np.full(len(offsets) - 1, -1, dtype=np.int32)
    k_best(scores, trans, n_labels, offsets, labels, total, found)
    return labels, total, found


def of_one(scores, trans, k):
    """Return the labelings and scores that exist, for one unpadded sequence."""
    n_tokens, n_labels = scores.shape
    labels, total, found = best_labelings(
        pad(scores, n_tokens), pad(trans, 8), n_labels, np.array([0, n_tokens]), k
    )
    return labels[: found[0]], total[0, : found[0]]


@given(small_lattices(st.one_of(NUMBERS, TIED)), st.integers(1, 300))
def test_k_best_are_the_best_of_all_labelings(problem, k):
    labels, total = of_one(*problem, k)
    _, expected = twin.k_best(*problem, k)
    assert_allclose(total, expected, rtol=EXACT, atol=1e-12)
    again = twin.path_scores(*problem, labels.astype(int))
    assert_allclose(again, total, rtol=EXACT, atol=1e-12)


@given(small_lattices(st.one_of(NUMBERS, TIED)), st.integers(1, 300))
def test_scores_descend_and_labelings_are_distinct(problem, k):
    labels, total = of_one(*problem, k)
    assert (np.diff(total) <= 0).all()
    assert len({tuple(row) for row in labels}) == len(labels)


@given(small_lattices(NUMBERS), st.integers(1, 300))
def test_there_are_k_labelings_or_all_there_are(problem, k):
    n_tokens, n_labels = problem[0].shape
    assert len(of_one(*problem, k)[0]) == min(k, n_labels**n_tokens)


@given(small_lattices(FORBIDDING), st.integers(1, 60))
def test_forbidden_labelings_are_never_among_them(problem, k):
    labels, total = of_one(*problem, k)
    rows, expected = twin.k_best(*problem, k)
    assert len(labels) == len(rows)
    assert_allclose(total, expected, rtol=EXACT, atol=1e-12)
    assert np.isfinite(twin.path_scores(*problem, labels.astype(int))).all()


@given(small_lattices(TIED), st.integers(1, 10))
def test_fewer_are_the_first_of_more(problem, k):
    few, _ = of_one(*problem, k)
    more, _ = of_one(*problem, k + 7)
    assert_array_equal(few, more[: len(few)])


@given(small_lattices(TIED))
def test_the_first_of_them_is_the_viterbi_labeling_also_in_ties(problem):
    for k in (1, 4):
        labels, total = of_one(*problem, k)
        expected, score = twin.viterbi(*problem)
        assert_array_equal(labels[0], expected)
        assert total[0] == score


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_one_best_equals_viterbi_on_long_sequences(n_labels):
    lengths = (0, 1, 12, 0, 3)
    scores, trans, offsets = random_lattice(
        np.random.default_rng(n_labels), n_labels, lengths
    )
    labels, total, found = best_labelings(scores, trans, n_labels, offsets, 1)
    expected = np.empty(len(scores), dtype=np.int32)
    best = np.empty(len(lengths))
    viterbi(scores, trans, n_labels, offsets, expected, best)
    assert_array_equal(labels[0], expected)
    assert_array_equal(total[:, 0], best)
    assert_array_equal(found, 1)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_sequences_of_a_batch_do_not_touch_each_other(n_labels):
    lengths = (2, 0, 3, 1)
    scores, trans, offsets = random_lattice(
        np.random.default_rng(n_labels), n_labels, lengths
    )
    labels, total, found = best_labelings(scores, trans, n_labels, offsets, 7)
    for s, (a, b) in enumerate(pairwise(offsets)):
        rows, expected = twin.k_best(
            scores[a:b, :n_labels], trans[:n_labels, :n_labels], 7
        )
        assert found[s] == len(rows)
        assert_allclose(total[s, : found[s]], expected, rtol=EXACT, atol=1e-12)
        assert_array_equal(labels[: found[s], a:b], rows)


def test_an_empty_sequence_has_one_labeling_of_score_zero():
    scores, trans, offsets = random_lattice(np.random.default_rng(0), 3, [0])
    _, total, found = best_labelings(scores, trans, 3, offsets, 4)
    assert found[0] == 1
    assert total[0, 0] == 0.0


def test_a_sequence_without_legal_labeling_has_none():
    scores, trans, offsets = random_lattice(np.random.default_rng(0), 3, [2, 2])
    scores[0, :3] = -np.inf
    _, _, found = best_labelings(scores, trans, 3, offsets, 4)
    assert_array_equal(found, [0, 4])


def test_float32_agrees_with_float64():
    scores, trans, offsets = random_lattice(np.random.default_rng(1), 9, [8, 3])
    labels, total, _ = best_labelings(scores, trans, 9, offsets, 20)
    labels32, total32, _ = best_labelings(
        scores.astype(np.float32), trans.astype(np.float32), 9, offsets, 20
    )
    assert_array_equal(labels32, labels)
    assert_allclose(total32, total, rtol=FLOAT32)
