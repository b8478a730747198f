"""Evidence: equal to its twin, and as rarely wrong as it says."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from skcw.calibration.risk_control import binomial, capital
from tests.reference.risk_control import capital_of

RTOL = 1e-9


@st.composite
def events(draw):
    n_groups = draw(st.integers(1, 5))
    words = st.tuples(st.integers(0, n_groups - 1), st.booleans())
    found = draw(st.lists(words, min_size=1, max_size=30))
    group, wrong = zip(*found, strict=True)
    return np.array(group), np.array(wrong, dtype=float), n_groups


@settings(max_examples=60)
@given(events(), st.sampled_from([0.01, 0.2, 0.7]), st.sampled_from([1.0, 2.0, 5.0]))
def test_capital_equals_its_twin_after_every_event(found, alpha, most):
    group, wrong, n_groups = found
    start = np.linspace(-0.5, 0.5, n_groups)
    evidence = capital(wrong - alpha, group, start, alpha, most)
    excess = start.copy()
    expected = [capital_of(excess, alpha, most)]
    for number, change in zip(group, wrong - alpha, strict=True):
        excess[number] += change
        expected.append(capital_of(excess, alpha, most))
    np.testing.assert_allclose(evidence, expected, rtol=RTOL, atol=1e-9)


@settings(max_examples=40)
@given(events(), st.integers(2, 4))
def test_copies_of_all_sentences_never_lower_a_capital_above_one(found, times):
    group, wrong, n_groups = found
    copies = np.concatenate([group + k * n_groups for k in range(times)])
    once = capital(wrong - 0.3, group, np.zeros(n_groups), 0.3, 3.0)[-1]
    change = np.tile(wrong - 0.3, times)
    often = capital(change, copies, np.zeros(times * n_groups), 0.3, 3.0)[-1]
    assert once < 0 or often >= once - 1e-9


@pytest.mark.parametrize("most", [1, 2])
def test_at_the_bound_much_evidence_is_as_rare_as_promised(most):
    # All outcomes of six sentences with two accepted words each, whose risk is exactly
    # alpha: errors alone, or (most=2) two at a time, the worst that is allowed.
    alpha, delta = 0.4, 0.2
    n_words = 1 if most == 1 else 2
    total = 0.0
    for bad in product([0, 1], repeat=6):
        probability = np.prod([alpha if b else 1 - alpha for b in bad])
        group = np.repeat(np.arange(6), n_words)
        wrong = np.repeat(bad, n_words).astype(float)
        evidence = capital(wrong - alpha, group, np.zeros(6), alpha, most)[-1]
        total += probability * (evidence >= -np.log(delta))
    assert total <= delta


def test_evidence_of_single_things_is_the_exact_binomial_tail():
    loss = np.array([0.0, 0, 1, 0, 1])
    expected = [binom.cdf(w, n, 0.3) for n, w in enumerate([0, 0, 0, 1, 1, 2])]
    np.testing.assert_allclose(np.exp(-binomial(loss, 0.3)), expected, rtol=RTOL)


def test_more_wrong_words_than_any_sentence_has_count_as_several_sentences():
    alpha, most = 0.1, 2.0
    group, wrong = np.zeros(8, dtype=int), np.ones(8)
    one = capital(wrong - alpha, group, np.zeros(1), alpha, most)[-1]
    four = capital(wrong - alpha, np.repeat(np.arange(4), 2), np.zeros(4), alpha, most)
    assert one == pytest.approx(four[-1], rel=RTOL)
