"""The change of one label: its gap and its deviation, by brute force."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from skcw._model.decoding import Decoder
from skcw._model.gaussian import Belief
from skcw.confidence.methods import (
    delta,
    delta_deviation,
    delta_max,
    delta_probit,
    normalized_delta,
)
from skcw.data.batch import SequenceBatch
from skcw.data.schemes import transition_constraints
from tests.kernels.problems import (
    EXACT,
    LABEL_COUNTS,
    as_vector,
    draw_votes,
    random_belief,
    random_corpus,
)
from tests.reference import draws as twin

N_FEATURES = 6
LENGTHS = (3, 0, 1, 6, 2)
FORBIDDEN = transition_constraints("BIO", ["O", "B-x", "I-x"])


def problem(n_labels=3, real_values=True, lengths=LENGTHS):
    rng = np.random.default_rng(n_labels)
    belief = random_belief(rng, N_FEATURES, n_labels)
    belief.average = belief.mean.copy()
    corpus = random_corpus(rng, n_labels, lengths, N_FEATURES, real_values)
    batch = SequenceBatch(*corpus[:4], N_FEATURES)
    return belief, batch, corpus


def is_legal(labels, forbidden):
    if forbidden is None:
        return True
    steps = forbidden[labels[:-1], labels[1:]].sum()
    return np.isfinite(steps + forbidden[-2, labels[0]] + forbidden[-1, labels[-1]])


def changes(belief, corpus, codes, forbidden, fixed):
    """Yield, for every token, the gaps and deviations of all legal changes."""
    mean = as_vector(belief, "weights")
    variance = np.ones_like(mean) if fixed else as_vector(belief, "variance")
    for (X, _, _), (a, b) in zip(
        corpus.sentences(N_FEATURES), pairwise(corpus.offsets), strict=True
    ):
        for t in range(b - a):
            found = []
            for label in set(range(belief.n_labels)) - {codes[a + t]}:
                change = twin.change_of_one_label(
                    X, codes[a:b], t, label, belief.n_labels
                )
                changed = codes[a:b].copy()
                changed[t] = label
                if is_legal(changed, forbidden):
                    deviation = np.sqrt(change**2 @ variance)
                    found.append((mean @ change, deviation))
            yield found or [(np.inf, 1.0)]


@pytest.mark.parametrize("forbidden", [None, FORBIDDEN], ids=["free", "BIO"])
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("real_values", [False, True])
def test_gaps_and_deviations_are_those_of_the_change(real_values, fixed, forbidden):
    belief, batch, corpus = problem(real_values=real_values)
    decoder = Decoder(belief, forbidden)
    codes, _ = decoder.open(batch).viterbi()
    gap, deviation = delta_deviation(decoder.open(batch), codes, unit_variance=fixed)
    expected = list(changes(belief, corpus, codes, forbidden, fixed))
    nearest = [
        min(found, key=lambda change: change[0] / change[1]) for found in expected
    ]
    assert_allclose(np.stack([gap, deviation], axis=1), nearest, rtol=EXACT)
    smallest = [min(found)[0] for found in expected]
    assert_allclose(delta(decoder.open(batch), codes), smallest, rtol=EXACT)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_any_labeling_can_be_asked_about(n_labels):
    # Also labelings in which transitions repeat or cancel.
    belief, batch, corpus = problem(n_labels, lengths=(30, 9))
    rng = np.random.default_rng(0)
    codes = rng.integers(min(n_labels, 2), size=batch.n_tokens).astype(np.int32)
    gap, deviation = delta_deviation(Decoder(belief).open(batch), codes)
    expected = [
        min(found, key=lambda change: change[0] / change[1])
        for found in changes(belief, corpus, codes, None, False)
    ]
    assert_allclose(np.stack([gap, deviation], axis=1), expected, rtol=EXACT)


def test_the_best_labeling_loses_by_any_change():
    belief, batch, _ = problem(lengths=(40,) * 20)
    decoder = Decoder(belief)
    codes, _ = decoder.open(batch).viterbi()
    gap = delta(decoder.open(batch), codes)
    assert (gap > -EXACT).all()
    assert (gap >= delta_max(decoder.open(batch), codes) - EXACT).all()


def test_threads_change_no_bit(monkeypatch):
    belief, batch, _ = problem()
    codes, _ = Decoder(belief).open(batch).viterbi()
    alone = delta_deviation(Decoder(belief).open(batch), codes)
    monkeypatch.setattr("skcw._model.decoding.TOKENS_PER_PIECE", 2)
    assert_array_equal(
        delta_deviation(Decoder(belief, n_jobs=2).open(batch), codes), alone
    )


def test_with_two_labels_the_probit_is_the_share_of_draws():
    belief = random_belief(np.random.default_rng(1), 2, 2, dtype=np.float32)
    belief.average = belief.mean.copy()
    batch = SequenceBatch([0, 1, 2], [0, 2, 3], [0, 1, 1], None, 2)
    decoder, n_draws = Decoder(belief), 4000
    codes, _ = decoder.open(batch).viterbi()
    expected = delta_probit(decoder.open(batch), codes, 0.5)
    ratio = normalized_delta(decoder.open(batch), codes)
    assert_allclose(expected, norm.cdf(ratio / np.sqrt(0.5)))
    votes = draw_votes(decoder.open(batch), n_draws, 0.5, seed=0)
    shares = votes[np.arange(2), codes] / n_draws
    assert_allclose(shares, expected, atol=4.5 * np.sqrt(0.25 / n_draws))


def test_a_change_that_no_weight_speaks_of_is_a_tie():
    batch = SequenceBatch([0, 1], [0, 0], [], None, 1)
    decoder = Decoder(Belief.start(1, 2, initial_variance=1.0))
    codes = np.zeros(1, dtype=np.int32)
    assert_array_equal(normalized_delta(decoder.open(batch), codes), [0.0])
    assert_array_equal(delta_probit(decoder.open(batch), codes, 1.0), [0.5])


def test_without_another_label_a_word_is_certain():
    belief, batch, _ = problem(n_labels=1)
    decoder = Decoder(belief)
    codes = np.zeros(batch.n_tokens, dtype=np.int32)
    assert np.isposinf(delta(decoder.open(batch), codes)).all()
    assert np.isposinf(normalized_delta(decoder.open(batch), codes)).all()
    assert (delta_probit(decoder.open(batch), codes, 1.0) == 1.0).all()


def test_without_variances_only_fixed_deviations_are_given():
    belief, batch, _ = problem()
    belief.variance = None
    codes, _ = Decoder(belief).open(batch).viterbi()
    assert delta_deviation(Decoder(belief).open(batch), codes, unit_variance=True)[
        1
    ].all()
    with pytest.raises(ValueError, match="unit_variance=True"):
        delta_deviation(Decoder(belief).open(batch), codes)
