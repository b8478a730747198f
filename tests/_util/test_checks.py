"""Lengths that must agree and weights that must be usable."""

import numpy as np
import pytest

from skcw._util.checks import (
    check_same_length,
    check_same_lengths,
    check_sample_weight,
    check_weight_values,
)


def test_equal_lengths_pass():
    check_same_length(3, 3)
    check_same_lengths([1, 2], [1, 2])
    check_same_lengths([], [])


def test_the_names_and_numbers_are_told():
    with pytest.raises(ValueError, match="y_true has 2 words but y_pred has 3"):
        check_same_length(2, 3, ("y_true", "y_pred"), "words")
    with pytest.raises(ValueError, match="X has 2 sequences but y has 1"):
        check_same_lengths([4, 4], [4])


def test_the_first_sequence_that_differs_is_told():
    with pytest.raises(ValueError, match=r"sequence 1 has 2 tokens but 3 labels$"):
        check_same_lengths([1, 2], [1, 3])
    with pytest.raises(ValueError, match=r"but 3 labels \(2 sequences differ\)"):
        check_same_lengths([1, 2, 5], [1, 3, 6])


def test_no_weights_stay_none_and_whole_numbers_become_floats():
    assert check_sample_weight(None, 3) is None
    weight = check_sample_weight([0, 1, 2], 3)
    assert weight.dtype == np.float64
    assert weight.tolist() == [0.0, 1.0, 2.0]
    assert check_sample_weight([], 0).tolist() == []


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"shape \(1,\); it must hold one weight for each of the 2 sequences"),
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        ([1.0, np.nan], r"sample_weight\[1\] is nan; weights must be finite"),
        ([-1.0, 1.0], r"sample_weight\[0\] is -1.0"),
        ([0.0, 0.0], "zero for all 2 sequences"),
        (["a", "b"], "must hold one number for each of the 2 sequences"),
        ([1.0, 2e6], r"sample_weight\[1\] is 2e\+06; weights must be at most 1e\+06"),
    ],
)
def test_unusable_weights_are_named(weight, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, 2, at_most=1e6)


def test_a_place_may_have_its_own_name():
    with pytest.raises(ValueError, match=r"row 1 is -1\.0"):
        check_weight_values(np.array([1.0, -1.0]), "rows", place="row {}".format)
