"""Words at the door of every score: what is refused, and what comes out flat."""

from functools import partial

import numpy as np
import pytest

from skcw import metrics
from skcw.metrics.bands import calibration_bands
from skcw.metrics.pairs import check_pairs

ON_PROBABILITIES = [
    metrics.calibration_bins,
    metrics.root_calibration_mse,
    metrics.expected_calibration_error,
    partial(metrics.expected_calibration_error, norm="max"),
    metrics.brier_loss,
    metrics.log_loss,
    partial(metrics.score_decomposition, "brier_loss"),
    partial(metrics.score_decomposition, "log_loss"),
    metrics.spiegelhalter_test,
]
ON_RANKS = [metrics.error_average_precision, metrics.area_under_risk_coverage]
ALL = [*ON_PROBABILITIES, *ON_RANKS]
WITH_GROUPS = [
    metrics.spiegelhalter_test,
    calibration_bands,
    partial(metrics.score_interval, "brier_loss"),
    partial(metrics.score_interval, "error_average_precision"),
]


@pytest.mark.parametrize("score", ON_PROBABILITIES)
def test_what_is_no_probability_is_refused_with_advice(score):
    advice = "not a probability.*delta.*error_average_precision.*marginal"
    for value in (-1e-9, 1.5, np.inf):
        with pytest.raises(ValueError, match=rf"confidence\[1\] is .*{advice}"):
            score([True, False], [0.5, value])
    with pytest.raises(ValueError, match=r"confidence\[1\]\[0\] is 7.0, which is no"):
        score([[True], [False]], [[0.5], [7.0]])


@pytest.mark.parametrize("score", ON_RANKS)
def test_rankings_take_any_number(score):
    assert 0 <= score([False, True, True], [-np.inf, 7.0, np.inf]) <= 1


@pytest.mark.parametrize("score", ALL)
def test_nan_is_refused(score):
    with pytest.raises(ValueError, match=r"confidence\[1\] is NaN"):
        score([True, False], [0.5, np.nan])
    with pytest.raises(ValueError, match=r"sample_weight\[1\] is nan; weights must be"):
        score([True, False], [0.5, 0.4], sample_weight=[1, np.nan])


@pytest.mark.parametrize("score", ALL)
def test_lengths_that_differ_are_refused(score):
    with pytest.raises(ValueError, match="confidence has 2 tokens but correct has 1"):
        score([True], [0.5, 0.4])
    with pytest.raises(ValueError, match="sequence 1 has 2 tokens in confidence but 1"):
        score([[True], [True]], [[0.5], [0.4, 0.3]])
    with pytest.raises(ValueError, match="2 tokens but sample_weight has 3"):
        score([True, False], [0.5, 0.4], sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="sample_weight is flat but confidence has a"):
        score([[True], [False]], [[0.5], [0.4]], sample_weight=[1, 2])


@pytest.mark.parametrize("score", ALL)
def test_weights_are_numbers_that_are_not_negative_nor_all_zero(score):
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1.0; weights must"):
        score([True, False], [0.5, 0.4], sample_weight=[-1, 1])
    with pytest.raises(ValueError, match="sample_weight is zero for all 2 tokens"):
        score([True, False], [0.5, 0.4], sample_weight=[0, 0])
    with pytest.raises(
        TypeError, match=r"sample_weight holds values such as .*numbers"
    ):
        score([True, False], [0.5, 0.4], sample_weight=["a", "b"])


@pytest.mark.parametrize("score", ON_PROBABILITIES)
def test_no_words_are_refused(score):
    for empty in ([], [[], []], np.empty(0, dtype=object)):
        with pytest.raises(ValueError, match="there are no tokens to judge"):
            score(empty, empty)


@pytest.mark.parametrize("score", ON_RANKS)
def test_no_words_have_the_value_that_was_asked_for_but_no_interval(score):
    assert score([], []) == 0.0
    assert score([[]], [[]], zero_division=0.5) == 0.5
    with pytest.raises(ValueError, match="there are no tokens to judge"):
        metrics.score_interval(score, [], [])


@pytest.mark.parametrize("score", ON_RANKS)
def test_rankings_are_weighted_by_whole_numbers(score):
    with pytest.raises(ValueError, match=r"holds 0\.5; a ranking counts tokens"):
        score([True, False], [0.5, 0.4], sample_weight=[1, 0.5])


@pytest.mark.parametrize("score", WITH_GROUPS)
def test_groups_are_one_per_word_or_one_per_row(score):
    with pytest.raises(ValueError, match=r"groups has 1 entries; .* the 2 tokens"):
        score([True, False], [0.5, 0.4], groups=["a"])
    rows = [[True, False], [False]], [[0.5, 0.3], [0.4]]
    with pytest.raises(ValueError, match="each of the 3 tokens, or of the 2 rows"):
        score(*rows, groups=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="sequence 0 has 2 tokens in confidence but 1"):
        score(*rows, groups=[[1], [1, 2]])


def test_rows_are_groups_unless_told():
    rows = [[True, False], [], [False]], [[0.5, 0.3], [], [0.4]]
    assert check_pairs(*rows).group.tolist() == [0, 0, 1]
    assert check_pairs([True, False], [0.5, 0.3]).group.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("groups", "want"),
    [
        (
            ["b", "z", "a", "b"],
            [1, 1, 0, 1, 1],
        ),  # one per row; the empty row is no group
        (np.array(["b", "z", None, "b"], dtype=object), [0, 0, 1, 0, 0]),
        ([[9, 2], [], [9], [5, 5]], [2, 0, 2, 1, 1]),
        (np.array([9, 2, 9, 5, 5]), [2, 0, 2, 1, 1]),  # one per word
    ],
)
def test_groups_are_numbered(groups, want):
    rows = [[1, 0], [], [0], [1, 0]], [[0.5, 0.3], [], [0.4], [0.2, 0.1]]
    assert check_pairs(*rows, groups=groups).group.tolist() == want


def test_groups_of_as_many_words_as_rows_must_say_which_they_are_of():
    rows = [[1, 0], [], [0]], [[0.5, 0.3], [], [0.4]]
    with pytest.raises(ValueError, match="3 entries for 3 rows and as many tokens"):
        check_pairs(*rows, groups=[1, 1, 2])
    assert check_pairs([[1], [0]], [[0.5], [0.4]], groups=[1, 1]).group.tolist() == [
        0,
        0,
    ]


def test_pairs_are_flat_floats():
    pairs = check_pairs([[1, 0], [True]], [[1, 0], [1]], [[1, 2], [3]])
    assert pairs.q.tolist() == [1.0, 0.0, 1.0] and pairs.q.dtype == np.float64
    assert pairs.y.tolist() == [1.0, 0.0, 1.0] and pairs.y.dtype == np.float64
    assert pairs.weight.tolist() == [1.0, 2.0, 3.0]
    assert check_pairs([True], np.float32([0.35])).dtype is np.float32
