"""Draws of the weights: their normals, their labelings and their laws."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.draws import LANES, distinct_features, draw_keys, draw_rows
from skcw._model import decoding as decoding
from skcw._model.decoding import Decoder
from skcw._model.gaussian import Belief
from skcw.confidence import draws as _drawing
from skcw.confidence.draws import count_draws, draw_marginals
from skcw.confidence.tallies import Agreement, SpanAgreement
from skcw.data.batch import SequenceBatch
from skcw.data.schemes import first_violation, transition_constraints
from skcw.exceptions import NoLegalLabelingError
from tests.kernels.problems import (
    LABEL_COUNTS,
    draw_votes,
    random_belief,
    random_corpus,
)
from tests.reference import draws as twin
from tests.reference import lattice

N_FEATURES = 12
LENGTHS = (3, 0, 1, 5, 0, 4, 2, 0, 7, 1)
BIO = ["O", "B-x", "I-x", "B-y", "I-y"]
FORBIDDEN = transition_constraints("BIO", BIO, np.float32)

# Series and Newton's steps of the kernel are right to 5e-6 of a normal up to 6.7.
NORMAL = 5e-5
# Scores are added in single precision, at most 40 of them.
SINGLE = 1e-4
# How many standard errors a mean may be off.
ERRORS = 4.5

WAYS = {
    "exact": {},
    "fixed": {"unit_variance": True},
    "independent": {"independent": True},
    "independent-fixed": {"independent": True, "unit_variance": True},
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
each_border = pytest.mark.parametrize(
    "forbidden", [None, FORBIDDEN], ids=["free", "BIO"]
)


def problem(n_labels=5, lengths=LENGTHS, real_values=True, seed=0, dtype=np.float32):
    """Return a belief, a batch, and the batch as dense sentences."""
    rng = np.random.default_rng(seed)
    belief = random_belief(rng, N_FEATURES, n_labels, dtype=dtype)
    belief.average = belief.mean.copy()
    corpus = random_corpus(rng, n_labels, lengths, N_FEATURES, real_values)
    batch = SequenceBatch(
        corpus.offsets, corpus.indptr, corpus.indices, corpus.values, N_FEATURES
    )
    return belief, batch, [X for X, _, _ in corpus.sentences(N_FEATURES)]


def all_labelings(scored, n_draws, scale=0.3, seed=5, **options):
    """Return the labeling of every draw, in their order."""
    parts = {}

    def keep(labelings, tokens, sequences):
        parts.setdefault(sequences.start, []).append(labelings.copy())

    count_draws(scored, n_draws, scale, [keep], seed=seed, **options)
    return np.concatenate([np.concatenate(parts[s]) for s in sorted(parts)], axis=1)


def twin_lattices(belief, sentences, draw, scale, forbidden, fixed):
    """Return scores and transitions of the sentences with tokens, in one draw."""
    weights, trans = twin.drawn_model(belief, 5, draw, scale, fixed)
    trans = trans if forbidden is None else trans + forbidden[:-2]
    for X in sentences:
        scores = X @ weights
        if forbidden is not None and len(X):
            scores[0] += forbidden[-2]
            scores[-1] += forbidden[-1]
        yield scores, trans


def test_normals_equal_their_twin():
    numbers = np.array([0, 1, 17, 2**31 - 1, 2**32, 2**32 + 21, -(2**62)])
    out = np.empty((len(numbers), 8, LANES), np.float32)
    zero, one = np.zeros((len(numbers), 8), np.float32), np.ones((len(numbers), 8))
    draw_rows(zero, one.astype(np.float32), numbers, draw_keys(2**64 - 1, 16), 8, out)
    for g in range(LANES):
        expected = twin.normals(2**64 - 1, 16 + g, numbers.tolist(), 8)
        assert_allclose(out[:, :, g], expected, rtol=0, atol=NORMAL)


@pytest.fixture(scope="module")
def many_normals():
    shape = 20_000, 24
    out = np.empty((*shape, LANES), np.float32)
    zero, one = np.zeros(shape, np.float32), np.ones(shape, np.float32)
    draw_rows(zero, one, np.arange(shape[0]), draw_keys(0, 0), shape[1], out)
    return out.astype(np.float64)


@pytest.mark.parametrize(
    ("power", "moment", "variance"), [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]
)
def test_normals_have_the_moments_of_a_normal(many_normals, power, moment, variance):
    error = np.sqrt(variance / many_normals.size)
    assert abs((many_normals**power).mean() - moment) < ERRORS * error


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["features", "labels", "draws"])
@pytest.mark.parametrize("power", [1, 2])
def test_neighboring_normals_are_not_correlated(many_normals, axis, power):
    z = np.moveaxis(many_normals**power - (power == 2), axis, 0)
    products = z[1:] * z[:-1]
    error = power / np.sqrt(products.size)  # z**2 has the variance 2
    assert abs(products.mean()) < ERRORS * error


@pytest.mark.parametrize("indices", [[], [3], [5, 3, 5, 0, 3, 5, 2**31 - 1]])
def test_distinct_features_are_numbered_as_they_come(indices):
    indices = np.array(indices, dtype=np.int32)
    slots = np.empty(len(indices), dtype=np.int32)
    features = distinct_features(indices, slots)
    assert_array_equal(features, list(dict.fromkeys(indices.tolist())))
    assert_array_equal(features[slots], indices)


@each_border
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("real_values", [False, True])
def test_labelings_are_the_best_by_drawn_weights(real_values, fixed, forbidden):
    belief, batch, sentences = problem(real_values=real_values)
    found = all_labelings(
        Decoder(belief, forbidden).open(batch), 11, unit_variance=fixed
    )
    for draw, labels in enumerate(found):
        lattices = twin_lattices(belief, sentences, draw, 0.3, forbidden, fixed)
        expected = [lattice.viterbi(*one)[0] for one in lattices]
        assert_array_equal(labels, np.concatenate(expected))


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_any_number_of_labels_can_be_drawn(n_labels):
    belief, batch, sentences = problem(n_labels)
    found = all_labelings(Decoder(belief).open(batch), 3)
    for draw, labels in enumerate(found):
        lattices = twin_lattices(belief, sentences, draw, 0.3, None, False)
        assert_array_equal(
            labels, np.concatenate([lattice.viterbi(*one)[0] for one in lattices])
        )


@each_border
@pytest.mark.parametrize("temperature", [1.0, 0.2])
def test_averaged_marginals_are_the_mean_over_drawn_weights(temperature, forbidden):
    belief, batch, sentences = problem()
    found = draw_marginals(
        Decoder(belief, forbidden).open(batch), 10, 0.3, temperature=temperature, seed=5
    )
    expected = np.zeros_like(found)
    for draw in range(10):
        lattices = twin_lattices(belief, sentences, draw, 0.3, forbidden, False)
        parts = [
            lattice.marginals(scores / temperature, trans / temperature)[0]
            for scores, trans in lattices
            if len(scores)
        ]
        expected += np.concatenate(parts) / 10
    assert_allclose(found, expected, rtol=0, atol=SINGLE / temperature)


@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
@pytest.mark.parametrize("temperature", [1e-4, 0.01, 1.0, 100.0])
def test_without_spread_averaged_marginals_are_marginals(n_labels, temperature):
    # Temperatures this low take sequences to the pass by logarithms.
    belief, batch, _ = problem(n_labels)
    decoder = Decoder(belief)
    found = draw_marginals(decoder.open(batch), 9, 0.0, temperature=temperature, seed=0)
    expected, _ = decoder.open(batch).marginals(temperature)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-9)


def test_in_averaged_marginals_what_underflows_may_still_be_the_best():
    # Label 1 is 750 worse at both ends, label 0 is 500 worse at each of 4 steps.
    belief = Belief.start(1, 2, initial_variance=1.0)
    width = belief.width
    belief.average = np.zeros((width + 2, width), np.float32)
    belief.average[:2, :2] = [[-500.0, -5e3], [-5e3, 0.0]]
    belief.average[width + 1, 1] = -750.0
    belief.variance = np.ones_like(belief.average).ravel()
    belief.average, belief.row_of = belief.average.ravel(), belief.row_of + 1
    batch = SequenceBatch([0, 5], [0, 1, 1, 1, 1, 2], [0, 0], None, 1)
    found = draw_marginals(Decoder(belief).open(batch), 3, 0.0, seed=0)
    assert_allclose(found, np.tile([0.0, 1.0], (5, 1)), atol=1e-12)


@each_border
@each_way
def test_without_spread_every_draw_is_the_best_labeling(way, forbidden):
    belief, batch, _ = problem()
    decoder = Decoder(belief, forbidden)
    found = all_labelings(decoder.open(batch), 9, scale=0.0, **way)
    assert_array_equal(found, np.tile(decoder.open(batch).viterbi()[0], (9, 1)))


@pytest.mark.parametrize("independent", [False, True])
def test_with_variances_of_one_the_two_draws_are_the_same(independent):
    belief, batch, _ = problem()
    belief.variance = np.ones_like(belief.variance)
    votes = [
        draw_votes(
            Decoder(belief).open(batch),
            20,
            0.5,
            seed=1,
            unit_variance=f,
            independent=independent,
        )
        for f in (False, True)
    ]
    assert_array_equal(*votes)


@each_way
def test_the_order_of_sequences_changes_no_bit(way):
    belief, batch, _ = problem()
    decoder, order = Decoder(belief), np.random.default_rng(1).permutation(len(batch))
    whole = all_labelings(decoder.open(batch), 10, **way)
    moved = all_labelings(decoder.open(batch[order]), 10, **way)
    at = np.concatenate([np.arange(*batch.offsets[[s, s + 1]]) for s in order])
    assert_array_equal(moved, whole[:, at])


@each_way
def test_neither_pieces_nor_threads_change_a_bit(way, monkeypatch):
    belief, batch, _ = problem()
    whole = all_labelings(Decoder(belief).open(batch), 10, **way)
    shares = draw_marginals(Decoder(belief).open(batch), 10, 0.3, seed=5, **way)
    parts = [all_labelings(Decoder(belief).open(one), 10, **way) for one in batch]
    assert_array_equal(np.concatenate(parts, axis=1), whole)
    for name, n_jobs in (("MOST_ENTRIES", None), ("TOKENS_PER_PIECE", 2)):
        monkeypatch.setattr(_drawing if n_jobs is None else decoding, name, 4)
        decoder = Decoder(belief, n_jobs=n_jobs)
        assert_array_equal(all_labelings(decoder.open(batch), 10, **way), whole)
        assert_array_equal(
            draw_marginals(decoder.open(batch), 10, 0.3, seed=5, **way), shares
        )


@each_way
def test_more_draws_begin_with_the_same_ones(way):
    belief, batch, _ = problem()
    many = all_labelings(Decoder(belief).open(batch), 19, **way)
    assert_array_equal(all_labelings(Decoder(belief).open(batch), 11, **way), many[:11])
    assert len(np.unique(many, axis=0)) > 10


def test_memory_does_not_grow_with_the_draws():
    belief, batch, _ = problem(lengths=(20,) * 200)

    def peak(n_draws):
        tracemalloc.start()
        draw_votes(Decoder(belief).open(batch), n_draws, 0.3, seed=0)
        draw_marginals(Decoder(belief).open(batch), n_draws, 0.3, seed=0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(8)
    assert peak(80) < 1.1 * peak(8)


@each_way
def test_one_word_sequences_vote_like_independent_gaussians(way):
    # One feature twice in a token is one weight with the sum of its values.
    belief = random_belief(np.random.default_rng(3), 3, 4, dtype=np.float32)
    belief.average = belief.mean.copy()
    batch = SequenceBatch([0, 1], [0, 3], [0, 2, 0], [1.0, -0.5, 0.5], 3)
    x, scale, n_draws = np.array([1.5, 0.0, -0.5]), 0.4, 4000
    variance = belief.feature_weights("variance") ** (not way.get("unit_variance"))
    expected = twin.best_label_shares(
        x @ belief.feature_weights(), scale * (x**2 @ variance)
    )
    assert_allclose(expected.sum(), 1.0, rtol=1e-6)
    shares = draw_votes(Decoder(belief).open(batch), n_draws, scale, seed=0, **way)[0]
    error = np.sqrt(expected * (1 - expected) / n_draws)
    assert (np.abs(shares / n_draws - expected) < ERRORS * error).all()


def test_a_feature_that_occurs_twice_moves_together():
    belief = Belief.start(2, 4, initial_variance=1.0)
    belief.variance[: belief.width**2] = 0.0  # no transitions
    batch = SequenceBatch([0, 6, 7], np.arange(8), [0] * 6 + [0], None, 2)
    labels = all_labelings(Decoder(belief).open(batch), 50)
    assert (labels == labels[:, :1]).all()
    assert len(np.unique(labels)) == 4
    apart = all_labelings(Decoder(belief).open(batch), 50, independent=True)
    assert (apart != apart[:, :1]).any()


def test_untouched_features_move_each_on_their_own():
    belief = Belief.start(2, 2, initial_variance=1.0)
    batch = SequenceBatch([0, 1, 2], [0, 1, 2], [0, 1], None, 2)
    labels = all_labelings(Decoder(belief).open(batch), 2000)
    same = (labels[:, 0] == labels[:, 1]).mean()
    assert abs(same - 0.5) < ERRORS * np.sqrt(0.25 / 2000)


@each_way
def test_what_is_forbidden_is_never_drawn(way):
    belief, batch, _ = problem(lengths=(6,) * 10)
    found = all_labelings(Decoder(belief, FORBIDDEN).open(batch), 20, scale=5.0, **way)
    for labels in found:
        assert first_violation(FORBIDDEN, labels, batch.offsets)[0] == 0
    shares = draw_marginals(
        Decoder(belief, FORBIDDEN).open(batch), 20, 5.0, seed=0, **way
    )
    assert (shares[batch.offsets[:-1]][:, [2, 4]] == 0).all()


@pytest.mark.parametrize("draw", [draw_votes, draw_marginals])
def test_sequences_without_a_legal_labeling_are_named(draw):
    belief, batch, _ = problem(n_labels=2, lengths=(1, 0, 3))
    never = (["a", "b"], np.zeros((2, 2), dtype=bool))
    decoder = Decoder(belief, transition_constraints(never, ["a", "b"], np.float32))
    with pytest.raises(NoLegalLabelingError, match="sequence 2, which has 3 tokens"):
        draw(decoder.open(batch), 3, 0.1, seed=0)


@pytest.mark.parametrize("draw", [draw_votes, draw_marginals])
def test_tokens_without_features_are_drawn_by_transitions(draw):
    belief, _, _ = problem()
    batch = SequenceBatch([0, 2, 2], [0, 0, 0], [], None, N_FEATURES)
    for way in WAYS.values():
        total = draw(Decoder(belief).open(batch), 9, 1.0, seed=0, **way).sum(axis=1)
        assert_allclose(total, 9 if draw is draw_votes else 1)


def test_a_belief_in_double_precision_draws_the_same_labels():
    single, batch, _ = problem(real_values=False)
    double = single.as_dtype(np.float64, averaging=True)
    assert_array_equal(
        all_labelings(Decoder(single).open(batch), 12),
        all_labelings(Decoder(double).open(batch), 12),
    )


def test_without_variances_only_fixed_draws_are_made():
    belief, batch, _ = problem()
    belief.variance = None
    assert draw_votes(
        Decoder(belief).open(batch), 8, 0.1, seed=0, unit_variance=True
    ).any()
    with pytest.raises(ValueError, match="unit_variance=True"):
        draw_votes(Decoder(belief).open(batch), 8, 0.1, seed=0)


@pytest.mark.parametrize(("n_draws", "scale"), [(0, 1.0), (5, -1.0), (5, np.nan)])
def test_impossible_draws_are_refused(n_draws, scale):
    belief, batch, _ = problem()
    with pytest.raises(
        ValueError, match="n_draws must be at least 1 and variance_scale"
    ):
        draw_votes(Decoder(belief).open(batch), n_draws, scale, seed=0)


def test_tallies_count_what_the_labelings_say(monkeypatch):
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", 6)
    belief, batch, _ = problem()
    decoder = Decoder(belief)
    codes, _ = decoder.open(batch).viterbi()
    starts, stops = np.array([0, 3, 5, 9, 15]), np.array([2, 4, 9, 13, 22])
    agreement = Agreement(codes, batch.offsets)
    spans = SpanAgreement(codes, starts, stops)
    count_draws(decoder.open(batch), 20, 0.3, [agreement, spans], seed=5)
    found = all_labelings(decoder.open(batch), 20)
    votes = draw_votes(decoder.open(batch), 20, 0.3, seed=5)
    assert_array_equal(votes, [[sum(c == j) for j in range(5)] for c in found.T])
    assert_array_equal(agreement.tokens, (found == codes).sum(axis=0))
    borders = batch.offsets

    def agree(a, b):
        return (found[:, a:b] == codes[a:b]).all(axis=1)

    expected = [agree(*borders[[s, s + 1]]).sum() for s in range(len(batch))]
    assert_array_equal(agreement.sequences, expected)
    for s, (a, b) in enumerate(zip(starts, stops, strict=True)):
        assert spans.spans[s] == agree(a, b).sum()
