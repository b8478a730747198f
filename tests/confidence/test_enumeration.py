"""Confidence against sums over all labelings of short sequences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._model import decoding as decoding
from skcw.confidence import marginals as _marginals
from skcw.confidence.marginals import marginal_sequences
from skcw.confidence.methods import METHODS, k_best_shares
from skcw.confidence.settings import Settings
from tests.confidence.lattices import (
    BIO,
    IOBES,
    PLAIN,
    agrees,
    enumerated,
    sequence_confidence,
    small_problem,
    span_confidence,
    spans_of,
)

# Scores are kept in single precision.
SINGLE = 1e-5
# More than the labelings of any sequence here.
EXHAUSTIVE = 5000

CASES = {
    "free": (BIO, None),
    "BIO": (BIO, "BIO"),
    "iobes-labels": (IOBES, None),
    "IOBES": (IOBES, "IOBES"),
    "plain-labels": (PLAIN, None),
    "one-label": (["B-x"], None),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def expected_spans(scored, codes, labels, definition, weigh):
    """Return the sum of what the labelings weigh that agree with each span."""
    kinds, starts, stops = spans_of(codes, scored.offsets, labels)
    expected = np.zeros(len(kinds))
    for place, rows, total, share in enumerated(scored, 0.7):
        weight = weigh(total, share)
        for i in np.flatnonzero((starts >= place.start) & (starts < place.stop)):
            expected[i] = sum(
                w
                for row, w in zip(rows, weight, strict=True)
                if agrees(
                    row,
                    codes[place],
                    kinds[i],
                    starts[i] - place.start,
                    stops[i] - place.start,
                    definition,
                    labels,
                )
            )
    return expected, (starts, stops)


@each_case
@pytest.mark.parametrize("temperature", [0.3, 1.0])
def test_a_marginal_is_the_summed_probability_of_labelings(case, temperature):
    decoder, batch, codes = small_problem(*case)
    settings = Settings(1.0, temperature)
    found = METHODS["marginal"].compute(decoder.open(batch), codes, settings)
    for place, rows, _, share in enumerated(decoder.open(batch), temperature):
        expected = share @ (rows == codes[place])
        assert_allclose(found[place], expected, atol=SINGLE / temperature)


@each_case
@pytest.mark.parametrize("temperature", [0.3, 1.0])
def test_a_pair_marginal_is_the_summed_probability_of_labelings(case, temperature):
    decoder, batch, _ = small_problem(*case)
    n = len(case[0])
    left, right = np.divmod(np.arange(n * n), n)
    settings = Settings(1.0, temperature)
    found = METHODS["marginal"].pairs(decoder.open(batch), left, right, settings)
    for place, rows, _, share in enumerated(decoder.open(batch), temperature):
        expected = [
            share @ ((rows[:, :-1] == i) & (rows[:, 1:] == j))
            for i, j in zip(left, right, strict=True)
        ]
        here = found[place]
        assert_allclose(here[:-1], np.transpose(expected), atol=SINGLE / temperature)
        assert_array_equal(here[-1], 0.0)


def test_pieces_and_threads_change_no_pair(monkeypatch):
    asked = np.array([0, 1, 4]), np.array([1, 2, 0]), Settings(1.0, 0.7)
    decoder, batch, _ = small_problem(seed=4)
    whole = METHODS["marginal"].pairs(decoder.open(batch), *asked)
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", 3)
    decoder, *_ = small_problem(seed=4, n_jobs=2)
    assert_array_equal(METHODS["marginal"].pairs(decoder.open(batch), *asked), whole)


@each_case
def test_the_probability_of_a_labeling_is_its_share(case):
    decoder, batch, codes = small_problem(*case)
    found = marginal_sequences(decoder.open(batch), codes, Settings(0.0, 0.7))
    assert (found[batch.lengths == 0] == 1.0).all()
    expected = [share[0] for *_, share in enumerated(decoder.open(batch), 0.7)]
    assert_allclose(found[batch.lengths > 0], expected, atol=SINGLE)


@each_case
@pytest.mark.parametrize("definition", ["all-words", "boundary", "exact"])
def test_the_probability_of_a_span_is_that_of_labelings_that_mark_it(case, definition):
    decoder, batch, codes = small_problem(*case, seed=1)
    expected, spans = expected_spans(
        decoder.open(batch), codes, case[0], definition, lambda total, share: share
    )
    found = span_confidence(
        decoder.open(batch),
        codes,
        spans,
        definition,
        "marginal",
        Settings(1, 0.7),
        case[0],
    )
    assert len(found)
    assert_allclose(found, expected, atol=SINGLE)


@each_case
@pytest.mark.parametrize("k", [1, 2, 7, EXHAUSTIVE])
@pytest.mark.parametrize("weighted", [False, True])
def test_k_best_votes_are_those_of_the_enumerated_best(case, k, weighted):
    decoder, batch, codes = small_problem(*case, seed=2)
    method = METHODS["wkbv" if weighted else "kbv"]
    found = method.compute(decoder.open(batch), codes, Settings(1.0, 1.0, n_best=k))
    for place, rows, total, _ in enumerated(decoder.open(batch)):
        votes = np.maximum(total[:k], 0) if weighted else np.ones(len(total[:k]))
        votes = votes if votes.any() else np.ones_like(votes)
        expected = votes @ (rows[:k] == codes[place]) / votes.sum()
        assert_allclose(found[place], expected, atol=SINGLE)


def test_some_sequences_have_no_labeling_with_a_positive_score():
    # Otherwise the law above says nothing of them.
    decoder, batch, _ = small_problem(["B-x"], seed=2)
    best = [total[0] for _, _, total, _ in enumerated(decoder.open(batch))]
    assert min(best) < 0 < max(best)


def test_several_k_are_counted_at_once():
    decoder, batch, codes = small_problem()
    ks = [2, 5, 30, EXHAUSTIVE]
    found = k_best_shares(decoder.open(batch), codes, ks)
    for k, row in zip(ks, found, strict=True):
        assert_array_equal(row, k_best_shares(decoder.open(batch), codes, [k])[0])


@each_case
@pytest.mark.parametrize("k", [3, EXHAUSTIVE])
@pytest.mark.parametrize("definition", ["all-words", "boundary", "exact"])
def test_k_best_spans_are_those_of_the_enumerated_best(case, k, definition):
    decoder, batch, codes = small_problem(*case, seed=3)
    expected, spans = expected_spans(
        decoder.open(batch),
        codes,
        case[0],
        definition,
        lambda total, share: (np.arange(len(total)) < k) / min(k, len(total)),
    )
    found = span_confidence(
        decoder.open(batch),
        codes,
        spans,
        definition,
        "kbv",
        Settings(1, 1, n_best=k),
        case[0],
    )
    assert_allclose(found, expected, atol=1e-12)


def test_a_labeling_is_one_of_the_k_best():
    decoder, batch, codes = small_problem()
    found = sequence_confidence(
        decoder.open(batch), codes, "kbv", Settings(1, 1, n_best=30)
    )
    assert_allclose(1 / found, [30, 1, 5, 30, 25, 1, 30, 5, 30])


def test_k_may_be_larger_than_memory():
    decoder, batch, codes = small_problem()
    every = Settings(1.0, 1.0, n_best=10**15)
    shares = METHODS["kbv"].compute(decoder.open(batch), codes, every)
    # Of all labelings each label has the same share.
    assert_allclose(shares, 1 / len(BIO))
    assert sequence_confidence(decoder.open(batch), codes, "kbv", every)[0] == 5**-3


@pytest.mark.parametrize("definition", ["all-words", "boundary", "exact"])
def test_pieces_and_threads_change_no_span(definition, monkeypatch):
    decoder, batch, codes = small_problem(seed=4)
    _, *spans = spans_of(codes, batch.offsets, BIO)
    asked = (definition, "marginal", Settings(1, 0.7), BIO)
    whole = span_confidence(decoder.open(batch), codes, spans, *asked)
    assert len(whole) > 3
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", 3)
    monkeypatch.setattr(_marginals, "ROOM", 30)  # one step at a time
    decoder, *_ = small_problem(seed=4, n_jobs=2)
    assert_array_equal(
        span_confidence(decoder.open(batch), codes, spans, *asked), whole
    )


@pytest.mark.parametrize("method", ["marginal", "kbv", "kd-pc"])
@pytest.mark.parametrize("definition", ["all-words", "boundary", "exact"])
def test_without_spans_there_is_nothing_to_be_sure_of(method, definition):
    decoder, batch, codes = small_problem()
    none = np.empty(0, dtype=np.int64)
    found = span_confidence(
        decoder.open(batch),
        codes,
        (none, none),
        definition,
        method,
        Settings(1, 1),
        BIO,
    )
    assert found.shape == (0,)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_probabilities_of_spans_survive_extreme_scores(scale):
    decoder, batch, codes = small_problem(constraints="BIO", seed=1)
    _, *spans = spans_of(codes, batch.offsets, BIO)
    for definition in ("all-words", "boundary", "exact"):
        found = span_confidence(
            decoder.open(batch),
            codes,
            spans,
            definition,
            "marginal",
            Settings(1, scale),
            BIO,
        )
        assert np.isfinite(found).all()
        assert (found > 0).all() and (found <= 1).all()
