"""Average precision of retrieving errors, errors found and errors left."""

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score

from skcw.metrics import error_average_precision, errors_at_k, residual_errors_at_k
from tests.reference.error_ranking import average_precision, tied_orders

WORD = st.tuples(st.integers(0, 3), st.booleans())
MOST_WORDS = 40
WORDS = st.lists(WORD, min_size=1, max_size=MOST_WORDS)
FEW_WORDS = st.lists(WORD, min_size=1, max_size=5)


def columns(words):
    confidence, correct = zip(*words, strict=True)
    return np.array(correct), np.array(confidence, dtype=float)


def figures(correct, confidence):
    n = np.arange(MOST_WORDS + 2)
    return (
        error_average_precision(correct, confidence),
        errors_at_k(correct, confidence, n).tolist(),
        residual_errors_at_k(correct, confidence, n).tolist(),
    )


def test_figures_are_those_computed_by_hand():
    confidence = [0.9, 0.1, 0.4, 0.2, 0.3]
    correct = [False, False, True, True, False]
    # Wrong words have ranks 1, 3 and 5.
    want = (1 / 1 + 2 / 3 + 3 / 5) / 3
    assert_allclose(error_average_precision(correct, confidence), want, rtol=1e-15)
    assert errors_at_k(correct, confidence, range(7)).tolist() == [
        0, 1, 1, 2, 2, 3, 3,
    ]  # fmt: skip
    assert residual_errors_at_k(correct, confidence, 3) == 1.0


@given(words=FEW_WORDS)
def test_ties_count_at_the_mean_over_all_their_orders(words):
    correct, confidence = columns(words)
    orders = tied_orders(correct, confidence)
    if not correct.all():
        want = np.mean([average_precision(wrong) for wrong in orders])
        got = error_average_precision(correct, confidence)
        assert_allclose(got, want, rtol=1e-12)
    for n in range(len(words) + 2):
        want = np.mean([sum(wrong[:n]) for wrong in orders])
        assert_allclose(errors_at_k(correct, confidence, n), want, rtol=1e-12)
        want = np.mean([sum(wrong[n:]) for wrong in orders])
        got = residual_errors_at_k(correct, confidence, n)
        assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@given(words=WORDS, data=st.data())
def test_neither_order_nor_scale_nor_rows_change_a_bit(words, data):
    correct, confidence = columns(words)
    want = figures(correct, confidence)
    assert figures(*columns(data.draw(st.permutations(words)))) == want

    value = st.floats(allow_nan=False)  # infinite ones are legal ends of a ranking
    table = data.draw(st.lists(value, min_size=4, max_size=4, unique=True))
    mapped = np.sort(table)[confidence.astype(int)]
    assert figures(correct, mapped) == want

    cuts = data.draw(st.lists(st.integers(0, len(words)), max_size=4).map(sorted))
    ends = list(pairwise([0, *cuts, len(words)]))
    as_arrays = np.empty(len(ends), dtype=object)
    as_arrays[:] = [confidence[a:b] for a, b in ends]
    as_lists = [correct[a:b].tolist() for a, b in ends]
    assert figures(as_lists, as_arrays) == want


@given(n_wrong=st.integers(1, 30), n_right=st.integers(0, 30), tied=st.booleans())
def test_average_precision_is_one_if_all_errors_come_first(n_wrong, n_right, tied):
    correct = np.repeat([False, True], [n_wrong, n_right])
    confidence = correct * 1.0 if tied else np.arange(n_wrong + n_right)
    assert error_average_precision(correct, confidence) == 1.0
    assert errors_at_k(correct, confidence, n_wrong) == n_wrong
    assert residual_errors_at_k(correct, confidence, n_wrong) == 0.0


@given(n_wrong=st.integers(1, 30), n_right=st.integers(0, 30))
def test_equal_confidences_give_what_chance_gives(n_wrong, n_right):
    size = n_wrong + n_right
    correct = np.arange(size) >= n_wrong
    confidence = np.full(size, 0.5)
    n = np.arange(size + 1)
    got = errors_at_k(correct, confidence, n)
    assert_allclose(got, n * n_wrong / size, rtol=1e-12)
    # Summed up over the places of one single group, by harmonic numbers.
    harmonic = sum(1 / k for k in range(1, size + 1))
    others = (n_wrong - 1) / max(1, size - 1)
    want = others + (1 - others) * harmonic / size
    assert_allclose(error_average_precision(correct, confidence), want, rtol=1e-12)


def test_average_precision_of_chance_tends_to_the_error_rate():
    correct = np.arange(100_000) % 20 > 0
    got = error_average_precision(correct, np.zeros(100_000))
    assert_allclose(got, 0.05, rtol=0.01)


@given(
    data=st.data(),
    correct=st.lists(st.booleans(), min_size=1, max_size=30).filter(
        lambda row: not all(row)
    ),
)
def test_average_precision_without_ties_is_that_of_scikit_learn(data, correct):
    confidence = np.array(data.draw(st.permutations(range(len(correct)))))
    want = average_precision_score(~np.array(correct), -confidence)
    assert_allclose(error_average_precision(correct, confidence), want, rtol=1e-12)


@given(words=WORDS, n=st.integers(0, 50))
def test_errors_found_never_get_fewer_and_with_those_left_are_all(words, n):
    correct, confidence = columns(words)
    found = errors_at_k(correct, confidence, n)
    left = residual_errors_at_k(correct, confidence, n)
    assert_allclose(found + left, (~correct).sum(), rtol=1e-12)
    assert 0 <= found <= n and left >= 0
    found = errors_at_k(correct, confidence, np.arange(len(words) + 3))
    assert (np.diff(found) >= -1e-12).all()
    assert found[0] == 0 and found[-1] == (~correct).sum()


def test_the_result_is_an_array_with_a_number_for_each_size():
    correct, confidence = [False, True, False], [0.1, 0.2, 0.3]
    for function in (errors_at_k, residual_errors_at_k):
        assert function(correct, confidence, 2).shape == (1,)
        assert function(correct, confidence, np.int8(2)).shape == (1,)
        assert function(correct, confidence, [[1, 2], [3, 4]]).shape == (2, 2)
        assert function(correct, confidence, []).shape == (0,)
    many = np.arange(300) > 0
    small = np.array([100, 127], dtype=np.int8)
    assert_array_equal(errors_at_k(many, np.arange(300), small), [1, 1])


def test_counts_add_up_over_models_that_err_differently():
    # The second model makes fewer errors: less to find, and less is left.
    confidence = [0.1, 0.2, 0.3, 0.4]
    poor, good = [False, False, False, True], [False, True, True, True]
    found = [errors_at_k(correct, confidence, 2) for correct in (poor, good)]
    left = [residual_errors_at_k(correct, confidence, 2) for correct in (poor, good)]
    assert found[0] > found[1] and left[0] > left[1]


@pytest.mark.parametrize("empty", [[], [[]], [[], []], np.empty(0, dtype=object)])
def test_without_words_there_is_nothing_to_find(empty):
    assert error_average_precision(empty, empty) == 0.0
    assert np.isnan(error_average_precision(empty, empty, zero_division=np.nan))
    assert errors_at_k(empty, empty, 5) == 0.0
    assert residual_errors_at_k(empty, empty, [0, 5]).tolist() == [0.0, 0.0]


def test_without_errors_average_precision_is_zero_division():
    assert error_average_precision([True, True], [0.1, 0.2]) == 0.0
    assert error_average_precision([True], [0.1], zero_division=1.0) == 1.0


@pytest.mark.parametrize("function", [errors_at_k, residual_errors_at_k])
def test_a_number_of_words_is_whole_and_not_negative(function):
    for n in (0.05, [1.0], True, "5"):
        with pytest.raises(TypeError, match=r"k is .*whole number of tokens"):
            function([0.5], [True], n)
    with pytest.raises(ValueError, match="k holds -1"):
        function([0.5], [True], [3, -1])


def test_group_sums_of_a_long_ranking_keep_their_precision():
    # A million words in groups of very different sizes, against plain sums.
    sizes = [1, 999, 1, 499_000, 499_999]
    ends = list(accumulate(sizes))
    confidence = np.repeat(np.arange(5), sizes)
    correct = np.ones(ends[-1], dtype=bool)
    correct[[ends[0] - 1, ends[1] - 1, ends[3] - 1, ends[3] - 2]] = False
    first = 1.0
    second = np.mean(2 / np.arange(2, 1001))
    place = np.arange(499_000)
    both = 2 * np.mean((3 + place / (499_000 - 1)) / (1002 + place))
    want = (first + second + both) / 4
    assert_allclose(error_average_precision(correct, confidence), want, rtol=1e-12)


@pytest.mark.parametrize("count", [errors_at_k, residual_errors_at_k])
def test_a_weight_is_a_number_of_words_to_review(count):
    rng = np.random.default_rng(0)
    confidence, correct = rng.integers(0, 9, 60) / 8, rng.uniform(size=60) < 0.7
    weight = rng.integers(0, 4, 60)
    confidence[0], weight[0] = 2.0, 0
    n = np.arange(weight.sum() + 3)
    want = count(np.repeat(correct, weight), np.repeat(confidence, weight), n)
    got = count(correct, confidence, n, sample_weight=weight)
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="weights must be whole numbers"):
        count(correct, confidence, n, sample_weight=weight + 0.5)
