"""Candidate lists: encoding, order, odd input, the closest candidate, oracles."""

import numpy as np
import pytest

from skcw.reranking import CandidateLists, oracle_scores
from skcw.reranking.candidates import (
    LEAST_LOG,
    candidate_errors,
    check_errors,
    closest_candidates,
)

ROWS = [[([2, 0], -0.1), ([1], -2.0), ([], -3.0)], [([3, 3, 1], -0.5)]]


def test_features_are_sorted_and_counted_once():
    lists = CandidateLists.from_rows(ROWS)
    assert lists.indices.tolist() == [0, 2, 1, 1, 3]
    assert lists.indptr.tolist() == [0, 2, 3, 3, 5]
    assert (len(lists), lists.n_candidates, lists.n_features) == (2, 4, 4)


def test_an_index_gives_some_of_the_lists():
    lists = CandidateLists.from_rows(ROWS)
    assert lists[1].indices.tolist() == [1, 3]
    assert lists[[1, 0]].scores.tolist() == [-0.5, -0.1, -2.0, -3.0]
    assert lists[np.array([False, True])].n_candidates == 1
    assert len(lists[:0]) == 0


def test_candidates_are_brought_into_another_order():
    lists = CandidateLists.from_rows(ROWS)
    turned = lists.reordered([np.array([2, 0, 1]), np.array([0])])
    assert turned.scores.tolist() == [-3.0, -0.1, -2.0, -0.5]
    assert turned.indices.tolist() == [0, 2, 1, 1, 3]
    assert turned.indptr.tolist() == [0, 0, 2, 3, 5]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[([0], 0.0)], []], "list 1 has no candidate"),
        ([[([0], np.nan)]], "list 0, candidate 0 has the score nan"),
        ([[([0], 0.0), ([0], np.inf)]], "list 0, candidate 1 has the score inf"),
        ([[([-1], 0.0)]], "feature -1"),
        ([[([4], 0.0)]], "feature 4"),
        ([[([2**32 + 1], 0.0)]], "feature 4294967297"),
        ([[([2**31], 0.0)]], "feature 2147483648"),
        ([[([0], 1e200)]], "has the score 1e"),
        ([[([0], None)]], "has the score nan"),
    ],
)
def test_what_cannot_be_ranked_is_named(rows, message):
    with pytest.raises(ValueError, match=message):
        CandidateLists.from_rows(rows, n_features=3)


@pytest.mark.parametrize(
    "features",
    [[0.7], [1.0], ["a"], [True], [None], [2**64], np.array([2**63], dtype=np.uint64)],
    ids=str,
)
def test_features_are_whole_numbers(features):
    with pytest.raises(TypeError, match="whole numbers"):
        CandidateLists.from_rows([[(features, 0.0)]])


@pytest.mark.parametrize("n_features", [-1, 2.5, "3"])
def test_the_number_of_features_is_an_integer(n_features):
    with pytest.raises(ValueError, match="n_features must be an integer from 0 on"):
        CandidateLists.from_rows([[([], 0.0)]], n_features=n_features)


def test_arrays_are_not_rounded():
    with pytest.raises(TypeError, match="indices must be whole numbers"):
        CandidateLists([0, 1], [0.0], [0, 1], [0.7], 3)
    with pytest.raises(TypeError, match="offsets must be whole numbers"):
        CandidateLists([0.0, 1.0], [0.0], [0, 1], [0], 3)
    with pytest.raises(ValueError, match=r"features, more than 1073741824"):
        CandidateLists([0, 1], [0.0], [0, 1], [0], 2**31)
    with pytest.raises(ValueError, match="labelings"):
        CandidateLists([0, 1], [0.0], [0, 1], [0], 3, np.empty(2, dtype=object))


def test_a_candidate_is_a_pair():
    with pytest.raises(TypeError, match="pair"):
        CandidateLists.from_rows([[[0, 1]]])


def test_a_probability_of_zero_is_as_small_as_numbers_go():
    rows = [[([0], -2.0), ([1], -np.inf)], [([0], -np.inf), ([1], -np.inf)]]
    lists = CandidateLists.from_rows(rows)
    assert lists.scores.tolist() == [-2.0, -2.0 + LEAST_LOG, 0.0, 0.0]


def test_the_closest_candidate_has_the_fewest_errors_then_the_highest_score():
    lists = CandidateLists.from_rows([[([], -3.0), ([], -1.0), ([], -1.0), ([], 0.0)]])
    assert closest_candidates(lists, np.array([0.0, 0, 0, 1])).tolist() == [1]
    assert closest_candidates(lists, np.array([2.0, 1, 2, 2])).tolist() == [1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is None"),
        ([[0, 1, 2]], "2 .*1"),
        ([[0, 1], [0]], "list 0 has 3 candidates, but y has 2"),
        ([[0, 1, np.nan], [0]], "y of list 0"),
        ([[0, 1, -1], [0]], "y of list 0"),
    ],
)
def test_errors_that_do_not_fit_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        check_errors(y, CandidateLists.from_rows(ROWS))


def test_errors_are_counted_by_labels_or_by_entities():
    candidates, y = [[["B-A", "I-A", "O"], ["B-A", "O", "B-B"]]], [["B-A", "O", "O"]]
    assert candidate_errors(candidates, y)[0].tolist() == [1, 1]
    assert candidate_errors(candidates, y, "entities")[0].tolist() == [2, 1]
    with pytest.raises(ValueError, match="loss is 'spans'"):
        candidate_errors(candidates, y, "spans")


def test_an_oracle_chooses_the_best_of_the_first_n():
    y = [["B-A", "O"], ["O", "O"]]
    nbest = [
        [(["O", "O"], -1.0), (["B-A", "I-A"], -2.0), (["B-A", "O"], -3.0)],
        [(["O", "B-A"], -1.0), (["O", "O"], -2.0)],
    ]
    found = oracle_scores(y, nbest, n=(1, 2, 3, 50))
    assert found[1] == (0.0, 0.0, 0.0)
    assert found[3] == found[50] == (1.0, 1.0, 1.0)
    assert list(found) == [1, 2, 3, 50]


def test_an_oracle_needs_candidates_and_positive_numbers():
    with pytest.raises(ValueError, match="sentence 1 has no candidate"):
        oracle_scores([["O"], ["O"]], [[(["O"], 0.0)], []])
    with pytest.raises(ValueError, match="n must be a positive integer"):
        oracle_scores([["O"]], [[(["O"], 0.0)]], n=[0])
    with pytest.raises(ValueError, match="n must be a positive integer"):
        oracle_scores([["O"]], [[(["O"], 0.0)]], n=[1.5])
    assert list(oracle_scores([["O"]], [[(["O"], 0.0)]], n=3)) == [3]


@pytest.mark.parametrize("labels", [["O", "O"], ["B-PER", "O"], ["OO", "BB"]])
def test_an_oracle_notices_swapped_arguments(labels):
    with pytest.raises(TypeError, match="y comes first, then nbest"):
        oracle_scores([[(labels, -0.5)]], [labels])


def test_candidates_have_as_many_labels_as_the_truth():
    for loss in ("labels", "entities"):
        with pytest.raises(ValueError, match="sentence 1 has 2 true labels"):
            candidate_errors([[["O"]], [["O"]]], [["O"], ["O", "O"]], loss)


def test_lists_tell_their_memory():
    lists = CandidateLists.from_rows(ROWS)
    # Offsets and indptr take 8 bytes, scores 8, features 4.
    assert lists.nbytes == 8 * 3 + 8 * 4 + 8 * 5 + 4 * 5
