"""Sums over tables of weights against matrix products."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.row_passes import table_sums
from tests.kernels.row_problems import compressed, random_rows

# One column; one, seven and eight blocks of four; eight blocks and some more.
WIDTHS = (1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 68)
# Float32 sums of a few dozen products.
SINGLE = 1e-5


def sums(table, rows, squared=False):
    return table_sums(table, rows.indptr, rows.indices, rows.values, rows.bias, squared)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("squared", [True, False])
def test_sums_equal_a_matrix_product(width, intercept, squared):
    rng = np.random.default_rng(width)
    X, gold = random_rows(rng, 9, 7)
    table = rng.normal(size=(8, width))
    found = sums(table, compressed(X, gold, intercept=intercept), squared)
    dense = np.column_stack([X, np.full(9, float(intercept))])
    expected = (dense**2 if squared else dense) @ table
    assert found.dtype == np.float64
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
def test_float32_tables_agree_with_a_matrix_product(width):
    rng = np.random.default_rng(width)
    X, gold = random_rows(rng, 9, 30)
    rows = compressed(X, gold).as_type(np.float32)
    table = rng.normal(size=(31, width)).astype(np.float32)
    expected = np.column_stack([X, np.ones(9)]) @ table
    assert_allclose(sums(table, rows), expected, rtol=SINGLE, atol=10 * SINGLE)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(WIDTHS), st.integers(1, 5))
def test_a_row_has_the_same_bits_whatever_stands_beside_it(seed, width, n_rows):
    rng = np.random.default_rng(seed)
    X, gold = random_rows(rng, n_rows, 7)
    table = rng.normal(size=(8, width)).astype(np.float32)
    together = sums(table, compressed(X, gold).as_type(np.float32))
    for i in range(n_rows):
        alone = sums(table, compressed(X[[i]], gold[[i]]).as_type(np.float32))
        assert_array_equal(together[i], alone[0])


def test_a_label_has_the_same_bits_whatever_the_width():
    rng = np.random.default_rng(0)
    X, gold = random_rows(rng, 9, 7)
    rows = compressed(X, gold).as_type(np.float32)
    table = rng.normal(size=(8, 68)).astype(np.float32)
    wide = sums(table, rows)
    for width in WIDTHS[1:]:
        narrow = sums(np.ascontiguousarray(table[:, :width]), rows)
        assert_array_equal(narrow, wide[:, :width])


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_without_entries_score_the_intercept(intercept):
    table = np.arange(12.0).reshape(3, 4)
    rows = compressed(np.zeros((2, 2)), [0, 1], intercept=intercept)
    expected = table[-1] if intercept else np.zeros(4)
    assert_array_equal(sums(table, rows), [expected, expected])


def test_no_rows_have_no_sums():
    rows = compressed(np.zeros((0, 2)), [])
    assert sums(np.ones((3, 4)), rows).shape == (0, 4)
