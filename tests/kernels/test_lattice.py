"""Viterbi, path scores and max-marginals against their twins, and their laws."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.lattice import max_marginals, path_scores, score_tokens, viterbi
from skcw._model.gaussian import padded
from tests.kernels.problems import (
    EXACT,
    FLOAT32,
    LABEL_COUNTS,
    pad,
    random_belief,
    random_corpus,
    random_lattice,
    small_lattices,
)
from tests.reference import lattice as twin

LENGTHS = (0, 1, 5, 0, 2, 9)


def decode(scores, trans, n_labels, offsets):
    labels = np.full(len(scores), -1, dtype=np.int32)
    total = np.empty(len(offsets) - 1)
    viterbi(scores, trans, n_labels, offsets, labels, total)
    return labels, total


def forced_scores(scores, trans, n_labels, offsets):
    forced = np.empty((len(scores), n_labels), scores.dtype)
    max_marginals(scores, trans, n_labels, offsets, forced)
    return forced


def each_sequence(scores, trans, n_labels, offsets):
    """Yield the tokens, scores and transitions of each sequence, unpadded."""
    for a, b in pairwise(offsets):
        yield slice(a, b), scores[a:b, :n_labels], trans[:n_labels, :n_labels]


@pytest.mark.parametrize("real_values", [False, True])
@pytest.mark.parametrize("n_labels", [*LABEL_COUNTS, 17, 33, 64])
def test_token_scores_are_the_sums_of_weight_rows(n_labels, real_values):
    rng = np.random.default_rng(n_labels)
    belief = random_belief(rng, 20, n_labels)
    corpus = random_corpus(rng, n_labels, [40, 0, 3], 20, real_values)
    scores = np.empty((43, belief.width))
    score_tokens(
        belief.mean,
        belief.width,
        belief.row_of,
        corpus.indptr,
        corpus.indices,
        corpus.values,
        scores,
    )
    tokens = np.concatenate([X for X, _, _ in corpus.sentences(20)])
    expected = twin.token_scores(belief.feature_weights("mean"), tokens)
    assert_allclose(scores[:, :n_labels], expected, rtol=EXACT, atol=1e-12)
    assert_array_equal(scores[:, n_labels:], 0.0)


def test_tokens_without_features_score_zero():
    belief = random_belief(np.random.default_rng(0), 3, 2)
    indices = np.array([1], dtype=np.int32)
    for indptr in ([0, 0, 0], [0, 0, 1, 1]):
        scores = np.full((len(indptr) - 1, 8), np.nan)
        indptr = np.array(indptr, dtype=np.int64)
        score_tokens(belief.mean, 8, belief.row_of, indptr, indices, None, scores)
        assert_array_equal(scores[np.diff(indptr) == 0], 0.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_viterbi_equals_its_twin(n_labels, seed):
    rng = np.random.default_rng(seed)
    problem = random_lattice(rng, n_labels, LENGTHS)
    labels, total = decode(*problem[:2], n_labels, problem[2])
    for s, (tokens, *one) in enumerate(
        each_sequence(*problem[:2], n_labels, problem[2])
    ):
        expected, score = twin.viterbi(*one)
        assert_array_equal(labels[tokens], expected)
        assert_allclose(total[s], score, rtol=EXACT)


@given(small_lattices(st.integers(-3, 3)))
def test_the_best_labeling_has_the_best_score_of_all(problem):
    scores, trans = problem
    n_tokens, n_labels = scores.shape
    labels, total = decode(
        pad(scores, n_tokens), pad(trans, 8), n_labels, np.array([0, n_tokens])
    )
    every = twin.path_scores(scores, trans, twin.all_labelings(n_tokens, n_labels))
    assert total[0] == every.max()
    assert twin.path_scores(scores, trans, labels[None, :].astype(int))[0] == total[0]


@given(small_lattices(st.integers(0, 1)))
def test_the_first_label_wins_a_tie_from_the_last_token_backwards(problem):
    scores, trans = problem
    n_tokens, n_labels = scores.shape
    labels, _ = decode(
        pad(scores, n_tokens), pad(trans, 8), n_labels, np.array([0, n_tokens])
    )
    rows = twin.all_labelings(n_tokens, n_labels)
    every = twin.path_scores(scores, trans, rows)
    tied = rows[every == every.max()]
    assert tuple(labels[::-1]) == min(tuple(row[::-1]) for row in tied)


def test_viterbi_avoids_what_is_forbidden():
    rng = np.random.default_rng(4)
    scores, trans, offsets = random_lattice(rng, 5, [30])
    trans[0, :5] = scores[3, :4] = -np.inf
    trans[0, 2] = 0.0
    labels, total = decode(scores, trans, 5, offsets)
    assert np.isfinite(total[0])
    assert labels[3] == 4
    assert set(labels[1:][labels[:-1] == 0]) <= {2}


def test_without_a_legal_labeling_the_best_score_is_minus_infinity():
    scores, trans, offsets = random_lattice(np.random.default_rng(0), 3, [2, 2])
    scores[1, :3] = -np.inf
    labels, total = decode(scores, trans, 3, offsets)
    assert total[0] == -np.inf
    assert np.isfinite(total[1])
    assert ((labels >= 0) & (labels < 3)).all()


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_path_scores_add_up_tokens_and_transitions(n_labels):
    rng = np.random.default_rng(n_labels)
    scores, trans, offsets = random_lattice(rng, n_labels, LENGTHS)
    labels = rng.integers(n_labels, size=len(scores)).astype(np.int32)
    total = np.empty(len(LENGTHS))
    path_scores(scores, trans, offsets, labels, total)
    for s, (tokens, *one) in enumerate(each_sequence(scores, trans, n_labels, offsets)):
        expected = twin.path_scores(*one, labels[None, tokens].astype(int))[0]
        assert_allclose(total[s], expected, rtol=EXACT, atol=1e-12)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_the_score_of_the_best_path_is_its_path_score(n_labels):
    rng = np.random.default_rng(n_labels)
    scores, trans, offsets = random_lattice(rng, n_labels, LENGTHS)
    labels, best = decode(scores, trans, n_labels, offsets)
    total = np.empty(len(LENGTHS))
    path_scores(scores, trans, offsets, labels, total)
    assert_allclose(total, best, rtol=EXACT)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_max_marginals_equal_their_twin(n_labels):
    rng = np.random.default_rng(n_labels)
    problem = random_lattice(rng, n_labels, [0, 1, 4, 7])
    forced = forced_scores(*problem[:2], n_labels, problem[2])
    for tokens, *one in each_sequence(*problem[:2], n_labels, problem[2]):
        assert_allclose(forced[tokens], twin.max_marginals(*one), rtol=EXACT)


@given(small_lattices(st.sampled_from([-np.inf, -2.0, 0.0, 1.0, 2.5])))
def test_max_marginals_are_the_best_of_all_labelings(problem):
    scores, trans = problem
    n_tokens, n_labels = scores.shape
    forced = forced_scores(
        pad(scores, n_tokens), pad(trans, 8), n_labels, np.array([0, n_tokens])
    )
    rows = twin.all_labelings(n_tokens, n_labels)
    every = twin.path_scores(scores, trans, rows)
    expected = [
        [every[rows[:, t] == j].max() for j in range(n_labels)] for t in range(n_tokens)
    ]
    assert_allclose(forced, expected, rtol=EXACT)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_the_largest_max_marginal_of_a_token_is_the_viterbi_score(n_labels):
    rng = np.random.default_rng(n_labels)
    problem = random_lattice(rng, n_labels, LENGTHS)
    labels, total = decode(*problem[:2], n_labels, problem[2])
    forced = forced_scores(*problem[:2], n_labels, problem[2])
    assert_allclose(forced.max(axis=1), np.repeat(total, LENGTHS), rtol=EXACT)
    assert_array_equal(forced.argmax(axis=1), labels)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_without_transitions_every_token_is_decided_on_its_own(n_labels):
    scores, _, offsets = random_lattice(np.random.default_rng(1), n_labels, LENGTHS)
    trans = np.zeros((padded(n_labels), padded(n_labels)))
    labels, _ = decode(scores, trans, n_labels, offsets)
    assert_array_equal(labels, scores[:, :n_labels].argmax(axis=1))


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_a_sequence_of_one_token_is_the_multi_class_decision(n_labels):
    scores, trans, offsets = random_lattice(
        np.random.default_rng(2), n_labels, [1] * 20
    )
    labels, total = decode(scores, trans, n_labels, offsets)
    assert_array_equal(labels, scores[:, :n_labels].argmax(axis=1))
    assert_array_equal(total, scores[:, :n_labels].max(axis=1))


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_float32_agrees_with_float64(n_labels):
    problem = random_lattice(np.random.default_rng(3), n_labels, LENGTHS)
    single = [array.astype(np.float32) for array in problem[:2]]
    labels, total = decode(*problem[:2], n_labels, problem[2])
    labels32, total32 = decode(*single, n_labels, problem[2])
    assert_array_equal(labels32, labels)
    assert_allclose(total32, total, rtol=FLOAT32)
    assert_allclose(
        forced_scores(*single, n_labels, problem[2]),
        forced_scores(*problem[:2], n_labels, problem[2]),
        rtol=FLOAT32,
        atol=FLOAT32,
    )


def test_renaming_labels_renames_the_labeling():
    rng = np.random.default_rng(5)
    scores, trans, offsets = random_lattice(rng, 9, LENGTHS)
    new = rng.permutation(9)
    renamed, moved = scores.copy(), trans.copy()
    renamed[:, new] = scores[:, :9]
    moved[np.ix_(new, new)] = trans[:9, :9]
    labels, total = decode(scores, trans, 9, offsets)
    labels_new, total_new = decode(renamed, moved, 9, offsets)
    assert_array_equal(labels_new, new[labels])
    assert_array_equal(total_new, total)
