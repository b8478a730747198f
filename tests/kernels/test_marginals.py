"""Forward-backward against enumeration and logarithms, and its laws."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.marginals import Factors, marginals
from skcw._model.gaussian import padded
from tests.kernels.problems import (
    EXACT,
    LABEL_COUNTS,
    pad,
    random_lattice,
    small_lattices,
)
from tests.reference import lattice as twin

LENGTHS = (0, 1, 6, 2, 0, 11)
# A probability below this is as good as none.
NOTHING = 1e-12


def marginals_of(scores, trans, n_labels, offsets, *how):
    out = np.full((len(scores), n_labels), np.nan)
    log_z = np.full(len(offsets) - 1, np.nan)
    marginals(scores, Factors(trans, n_labels), n_labels, offsets, out, log_z, *how)
    return out, log_z


def of_one(scores, trans, *how):
    n_tokens, n_labels = scores.shape
    out, log_z = marginals_of(
        pad(scores, n_tokens), pad(trans, 8), n_labels, np.array([0, n_tokens]), *how
    )
    return out, log_z[0]


@given(small_lattices(st.floats(-8, 8, width=16)))
def test_marginals_are_the_shares_of_all_labelings(problem):
    out, log_z = of_one(*problem)
    expected, expected_z = twin.marginals_by_enumeration(*problem)
    assert_allclose(out, expected, rtol=EXACT, atol=NOTHING)
    assert_allclose(log_z, expected_z, rtol=EXACT, atol=1e-9)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_marginals_equal_their_twin(n_labels, scale):
    problem = random_lattice(
        np.random.default_rng(n_labels), n_labels, LENGTHS, scale=scale
    )
    out, log_z = marginals_of(*problem[:2], n_labels, problem[2])
    for s, (a, b) in enumerate(pairwise(problem[2])):
        if a == b:
            assert log_z[s] == 0.0
            continue
        expected, expected_z = twin.marginals(
            problem[0][a:b, :n_labels], problem[1][:n_labels, :n_labels]
        )
        assert_allclose(out[a:b], expected, rtol=EXACT, atol=NOTHING)
        assert_allclose(log_z[s], expected_z, rtol=EXACT)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_the_marginals_of_a_token_sum_to_one(n_labels, scale):
    problem = random_lattice(
        np.random.default_rng(n_labels), n_labels, [40, 1, 3], scale=scale
    )
    out, _ = marginals_of(*problem[:2], n_labels, problem[2])
    assert (out >= 0).all()
    assert_allclose(out.sum(axis=1), 1.0, rtol=EXACT)


# Logarithms of size 1e4 have an absolute error of 1e-12, and so has a probability.
HUGE = 1e-8


@given(
    small_lattices(
        st.one_of(st.floats(-1e4, 1e4), st.sampled_from([-750.0, -500.0, 0.0]))
    )
)
def test_scores_of_any_size_give_the_right_marginals(problem):
    out, log_z = of_one(*problem)
    expected, expected_z = twin.marginals(*problem)
    assert_allclose(out, expected, rtol=HUGE, atol=HUGE)
    assert_allclose(log_z, expected_z, rtol=EXACT, atol=1e-9)


def test_a_labeling_that_starts_and_ends_badly_may_still_be_the_best():
    # Label 1 is 750 worse at both ends, label 0 is 500 worse at each of 4 steps: in
    # either direction the numbers of label 1 underflow before label 0 has paid.
    scores, trans = np.zeros((5, 2)), np.array([[-500.0, -5e3], [-5e3, 0.0]])
    scores[[0, -1], 1] = -750.0
    out, log_z = of_one(scores, trans)
    assert_allclose(out, np.tile([0.0, 1.0], (5, 1)), atol=NOTHING)
    assert_allclose(log_z, -1500.0, rtol=EXACT)


@given(small_lattices(st.sampled_from([-np.inf, -900.0, -1.0, 0.0, 2.0])))
def test_what_is_forbidden_has_probability_zero(problem):
    out, log_z = of_one(*problem)
    expected, expected_z = (
        twin.marginals_by_enumeration(*problem)
        if np.isfinite(twin.viterbi(*problem)[1])
        else (np.zeros_like(out), -np.inf)
    )
    assert_allclose(out, expected, rtol=EXACT, atol=NOTHING)
    assert_allclose(log_z, expected_z, rtol=EXACT, atol=1e-9)
    assert (out[np.isneginf(problem[0])] == 0).all()


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_long_sequences_do_not_underflow(n_labels):
    problem = random_lattice(np.random.default_rng(0), n_labels, [2000], scale=3.0)
    out, log_z = marginals_of(*problem[:2], n_labels, problem[2])
    expected, expected_z = twin.marginals(
        problem[0][:, :n_labels], problem[1][:n_labels, :n_labels]
    )
    assert_allclose(out, expected, rtol=HUGE, atol=NOTHING)
    assert_allclose(log_z[0], expected_z, rtol=EXACT)


def test_without_transitions_marginals_are_a_softmax():
    scores, _, offsets = random_lattice(np.random.default_rng(1), 9, LENGTHS)
    out, _ = marginals_of(scores, np.zeros((padded(9), padded(9))), 9, offsets)
    weight = np.exp(scores[:, :9])
    assert_allclose(out, weight / weight.sum(axis=1, keepdims=True), rtol=EXACT)


def test_adding_a_constant_to_a_token_or_to_all_transitions_changes_only_log_z():
    scores, trans, offsets = random_lattice(np.random.default_rng(2), 7, [6])
    out, log_z = marginals_of(scores, trans, 7, offsets)
    moved = scores.copy()
    moved[2] += 40.0
    out_moved, log_z_moved = marginals_of(moved, trans - 3.0, 7, offsets)
    assert_allclose(out_moved, out, rtol=EXACT)
    assert_allclose(log_z_moved, log_z + 40.0 - 5 * 3.0, rtol=EXACT)


def test_a_batch_is_its_sequences():
    scores, trans, offsets = random_lattice(np.random.default_rng(3), 8, LENGTHS)
    out, log_z = marginals_of(scores, trans, 8, offsets)
    for s, (a, b) in enumerate(pairwise(offsets)):
        alone, alone_z = marginals_of(scores[a:b], trans, 8, np.array([0, b - a]))
        assert_array_equal(out[a:b], alone)
        assert log_z[s] == alone_z[0]


@pytest.mark.parametrize("noise", [0.0, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_noisy_marginals_equal_their_twin(n_labels, scale, noise):
    # The largest scores take some sequences to the pass by logarithms.
    scores, trans, offsets = random_lattice(
        np.random.default_rng(n_labels), n_labels, LENGTHS, scale=scale
    )
    out, log_z = marginals_of(scores, trans, n_labels, offsets, 1.0, noise)
    assert not np.isneginf(log_z).any()
    for a, b in pairwise(offsets):
        if a < b:
            one = scores[a:b, :n_labels], trans[:n_labels, :n_labels]
            expected = twin.noisy_marginals(*one, noise)
            assert_allclose(out[a:b], expected, rtol=1e-9, atol=NOTHING)


@given(
    small_lattices(st.sampled_from([-np.inf, -900.0, -750.0, -1.0, 0.0, 2.0])),
    st.sampled_from([0.5, 1.0]),
)
def test_noise_allows_nothing_that_is_forbidden(problem, noise):
    out, log_z = of_one(*problem, 1.0, noise)
    plain, plain_z = of_one(*problem)
    assert np.isneginf(log_z) == np.isneginf(plain_z)
    assert (out[plain == 0] < NOTHING).all()
    assert (out[np.isneginf(problem[0])] == 0).all()
    total = out.sum(axis=1)
    assert_allclose(total, 0.0 if np.isneginf(log_z) else 1.0, rtol=EXACT)


def test_noise_leaves_losing_labels_the_mean_of_their_odds():
    # One word; the odds of each other label are a lognormal number's mean.
    scores = np.array([[20.0, 0.0, -2.0]])
    out, _ = of_one(scores, np.zeros((3, 3)), 1.0, 0.7)
    drawn = np.random.default_rng(0).normal(scores, np.sqrt(0.7), (400_000, 3))
    odds = np.exp(drawn - drawn[:, :1]).mean(axis=0)
    assert_allclose(out[0] / out[0, 0], odds, rtol=0.05)


def test_noise_adds_up_along_a_path():
    # Two labelings, all A and all B, of which B loses by 20 at each word.
    trans = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    for length in (1, 2, 5):
        scores = np.tile([20.0, 0.0], (length, 1))
        out, _ = of_one(scores, trans, 1.0, 0.7)
        assert_allclose(np.log(out[:, 0] / out[:, 1]), length * (20.0 - 0.7), rtol=1e-6)


@pytest.mark.parametrize("temperature", [0.3, 5.0])
def test_scores_in_single_precision_are_divided_by_the_temperature(temperature):
    scores, trans, offsets = random_lattice(np.random.default_rng(4), 7, LENGTHS)
    single = scores.astype(np.float32)
    found = marginals_of(single, trans, 7, offsets, temperature, 0.0)
    double = single.astype(np.float64) / temperature
    for one, other in zip(found, marginals_of(double, trans, 7, offsets), strict=True):
        assert_allclose(one, other, rtol=EXACT, atol=NOTHING)
