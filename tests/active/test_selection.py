"""Selection: the tie rule, budgets in words, diversity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skcw.active import select_batch
from skcw.active.pool import draw_candidates

ITEMS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 0.9]), st.integers(1, 9)), min_size=1
)


@given(ITEMS, st.data())
def test_items_are_sorted_by_utility_then_length_then_position(items, data):
    utilities, lengths = zip(*items, strict=True)
    n = data.draw(st.integers(1, len(items)))
    expected = sorted(range(len(items)), key=lambda i: (-utilities[i], lengths[i], i))
    assert select_batch(utilities, n, lengths=lengths).tolist() == expected[:n]


@given(ITEMS, st.data())
def test_a_budget_of_words_is_never_exceeded_and_no_room_is_wasted(items, data):
    utilities, lengths = zip(*items, strict=True)
    words = data.draw(st.integers(min(lengths), sum(lengths)))
    chosen = select_batch(utilities, words=words, lengths=lengths).tolist()
    left = words - sum(lengths[i] for i in chosen)
    others = [n for i, n in enumerate(lengths) if i not in chosen]
    assert left >= 0
    assert len(chosen) == len(set(chosen))
    assert not others or min(others) > left


def test_both_budgets_hold_at_once():
    chosen = select_batch([3, 2, 1], 1, words=5, lengths=[9, 4, 1])
    assert chosen.tolist() == [1]


def test_an_item_that_repeats_a_better_one_is_passed_over():
    features = sparse.csr_matrix([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    diverse = select_batch([3, 2, 1], 2, features=features, max_overlap=0.5)
    assert diverse.tolist() == [0, 2]
    assert select_batch([3, 2, 1], 2, features=features, max_overlap=1.0).tolist() == [
        0,
        1,
    ]


def test_items_passed_over_fill_the_batch():
    features = sparse.csr_matrix(np.ones((3, 2)) * [[1, 0], [1, 0], [0, 1]])
    found = select_batch([3, 2, 1], 3, features=features, max_overlap=0.0)
    assert found.tolist() == [0, 2, 1]


def test_features_that_all_items_have_do_not_make_them_alike():
    features = sparse.csr_matrix([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])
    found = select_batch([3, 2, 1], 3, features=features, max_overlap=0.1)
    assert found.tolist() == [0, 1, 2]


def test_an_item_of_minus_infinity_is_never_chosen():
    with pytest.raises(ValueError, match="only 1 can be asked about"):
        select_batch([-np.inf, 1.0], 2)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0, np.nan], 1), {}, "item 1 is not a number"),
        (([1.0],), {}, "how many items"),
        (([1.0], 0), {}, "n must be a whole number"),
        (([1.0], 2), {}, "2 items are asked for, but only 1"),
        (([1.0], True), {}, "n must be a whole number"),
        (([], 1), {}, "no item is left"),
        (([[1.0]], 1), {}, "shape"),
        (([1.0],), {"words": 3, "lengths": [4]}, "shortest one has 4"),
        (([1.0],), {"words": 9, "lengths": [4]}, "more than the 4 words"),
        (([1.0], 1), {"lengths": [4, 5]}, "lengths has the shape"),
        (([1.0], 1), {"max_overlap": 0.5}, "give them as a sparse matrix"),
        (([1.0], 1), {"max_overlap": 2, "features": [[1]]}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_selected_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        select_batch(*arguments, **options)


def test_candidates_are_a_subset_in_order():
    positions = np.array([3, 5, 8, 9])
    drawn = draw_candidates(positions, 2, np.random.default_rng(0))
    assert len(drawn) == 2 and set(drawn) <= set(positions) and drawn[0] < drawn[1]
    assert draw_candidates(positions, 9, None) is positions
