"""Figures of ranked words with ties, against all orders of the ties."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcw._kernels.score_loops import average_precision, mean_risk
from tests.reference import error_ranking as twin

GROUP = st.integers(0, 4).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m)))
GROUPS = st.lists(GROUP, min_size=1, max_size=4).filter(
    lambda groups: 1 <= sum(m for m, _ in groups) <= 5
)


def orders(groups):
    """Return the wrong flags of every order of the ties, the least confident first."""
    words = [
        (k >= wrong, level)
        for level, (size, wrong) in enumerate(groups)
        for k in range(size)
    ]
    return twin.tied_orders(*zip(*words, strict=True))


@given(groups=GROUPS)
def test_average_precision_is_the_mean_over_all_orders_of_ties(groups):
    words, wrong = np.array(groups, dtype=float).T.copy()
    if wrong.any():
        want = np.mean([twin.average_precision(flags) for flags in orders(groups)])
        assert_allclose(average_precision(words, wrong), want, rtol=1e-12)
    else:
        assert average_precision(words, wrong) == 0.0


@given(groups=GROUPS)
def test_the_risk_is_the_mean_over_all_orders_of_ties(groups):
    words, wrong = np.array(groups, dtype=float).T.copy()
    want = np.mean([twin.risks(flags) for flags in orders(groups)])
    assert_allclose(mean_risk(words, wrong), want, rtol=1e-12, atol=1e-15)


def test_without_words_both_are_zero():
    for empty in (np.empty(0), np.zeros(3)):
        assert average_precision(empty, empty) == 0.0
        assert mean_risk(empty, empty) == 0.0
