"""Drawn outcomes against their twins, which go word by word."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcw._kernels.score_loops import draw_classes, draw_right
from tests.reference import resampling as twin

CLOSE = 1e-12


def problem(seed, n_words, n_draws=3, n_groups=4, n_places=2):
    """Return normal numbers, sentences, their parts in a word's number, and weights."""
    rng = np.random.default_rng(seed)
    latent = (
        rng.standard_normal((n_draws, n_words), dtype=np.float32),
        rng.standard_normal((n_draws, n_groups), dtype=np.float32),
        rng.integers(n_groups, size=n_words),
        0.8,
        0.6,
    )
    return rng, latent, rng.integers(3, size=n_words).astype(float)


def right_words(latent, limits, weight, starts):
    right = np.empty((len(limits), len(latent[0]), len(starts) - 1))
    room = np.empty(len(weight), dtype=np.float32)
    draw_right(*latent, limits, weight, starts, room, right)
    return right


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**31), n_words=st.integers(1, 23), n_cells=st.integers(1, 5)
)
def test_right_words_are_summed_as_by_the_twin(seed, n_words, n_cells):
    rng, latent, weight = problem(seed, n_words)
    limits = rng.standard_normal((2, n_words)).astype(np.float32)
    cuts = np.sort(rng.integers(n_words + 1, size=n_cells - 1))
    starts = np.concatenate(([0], cuts, [n_words])).astype(np.intp)
    found = right_words(latent, limits, weight, starts)
    want = twin.draw_right(*latent, limits, weight, starts)
    assert_allclose(found, want, rtol=CLOSE)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**31),
    n_words=st.sampled_from([1, 7, 300]),
    n_tries=st.integers(2, 4),
)
def test_drawn_classes_are_summed_as_by_the_twin(seed, n_words, n_tries):
    rng, latent, weight = problem(seed, n_words, n_draws=2)
    limits = np.sort(rng.standard_normal((2, n_words, n_tries)), axis=2)
    limits = limits.astype(np.float32)
    cells = rng.integers(-1, 6, size=(n_words, n_tries)).astype(np.intc)
    found = np.full((2, 2, 6), np.nan)
    room = np.empty_like(latent[0])
    draw_classes(*latent, limits, cells, weight, room, found)
    want = twin.draw_classes(*latent, limits, cells, weight, 6)
    assert_allclose(found, want, rtol=CLOSE, atol=CLOSE)


def test_higher_limits_never_make_fewer_words_right():
    rng, latent, weight = problem(0, 50)
    low = rng.standard_normal(50).astype(np.float32)
    limits = np.stack([low, low + 0.5, low + 9]).astype(np.float32)
    right = right_words(latent, limits, weight, np.array([0, 20, 50]))
    assert (np.diff(right, axis=0) >= 0).all()
    assert_allclose(right[2].sum(axis=1), weight.sum(), rtol=CLOSE)


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_words_of_a_sentence_share_what_they_are_told_to(shared):
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((400, 2), dtype=np.float32)
    common = rng.standard_normal((400, 1), dtype=np.float32)
    latent = normal, common, np.zeros(2, dtype=np.intp), 1 - shared, shared
    limits = np.zeros((1, 2), dtype=np.float32)
    first, second = right_words(latent, limits, np.ones(2), np.arange(3))[0].T
    together = (first == second).mean()
    assert together == 1.0 if shared else 0.4 < together < 0.6
