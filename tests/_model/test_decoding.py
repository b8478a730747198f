"""Decoding a batch: pieces, threads, constraints, temperature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._model import decoding as decoding
from skcw._model.decoding import Decoder
from skcw.data.batch import SequenceBatch
from skcw.data.schemes import transition_constraints
from skcw.exceptions import NoLegalLabelingError
from tests.kernels.problems import random_belief, random_corpus
from tests.reference import lattice as twin
from tests.reference import passes

EXACT = 1e-9
N_FEATURES = 12
LENGTHS = (3, 0, 1, 5, 0, 0, 4, 2, 0)
BIO = ["O", "B-x", "I-x", "B-y", "I-y"]
BIO_FORBIDDEN = transition_constraints("BIO", BIO)


def problem(seed=0, n_labels=5, lengths=LENGTHS, dtype=np.float64, real_values=True):
    """Return a belief, a batch, and the batch as dense sentences."""
    rng = np.random.default_rng(seed)
    belief = random_belief(rng, N_FEATURES, n_labels, dtype=dtype)
    belief.average = belief.mean.copy()
    corpus = random_corpus(rng, n_labels, lengths, N_FEATURES, real_values)
    batch = SequenceBatch(
        corpus.offsets, corpus.indptr, corpus.indices, corpus.values, N_FEATURES
    )
    return belief, batch, [X for X, _, _ in corpus.sentences(N_FEATURES)]


def lattices(belief, sentences, forbidden=None):
    """Return scores and transitions per sentence, by the twin."""
    model = np.concatenate(
        [belief.feature_weights().ravel(), belief.transition_weights().ravel()]
    )
    return [passes.scored(model, X, belief.n_labels, forbidden) for X in sentences]


def everything(scored, k=4):
    """Return every array that a scored batch computes."""
    labels, total = scored.viterbi()
    return (
        labels,
        total,
        *scored.k_best(k),
        scored.path_scores(labels),
        scored.max_marginals(),
        *scored.marginals(),
    )


@pytest.mark.parametrize("forbidden", [None, BIO_FORBIDDEN], ids=["free", "BIO"])
@pytest.mark.parametrize("real_values", [False, True])
def test_a_decoder_equals_the_twins(forbidden, real_values):
    belief, batch, sentences = problem(real_values=real_values)
    labels, total, best, scores, found, paths, forced, shares, log_z = everything(
        Decoder(belief, forbidden).open(batch)
    )
    for s, one in enumerate(lattices(belief, sentences, forbidden)):
        tokens = slice(*batch.offsets[s : s + 2])
        expected, top = twin.viterbi(*one)
        assert_array_equal(labels[tokens], expected)
        assert_allclose([total[s], paths[s]], top, rtol=EXACT, atol=1e-12)
        rows, ranked = twin.k_best(*one, 4)
        assert found[s] == len(rows)
        assert_array_equal(best[: found[s], tokens], rows)
        assert_allclose(scores[s, : found[s]], ranked, rtol=EXACT, atol=1e-12)
        if len(expected):
            assert_allclose(forced[tokens], twin.max_marginals(*one), rtol=EXACT)
            expected, expected_z = twin.marginals(*one)
            assert_allclose(shares[tokens], expected, rtol=EXACT, atol=1e-12)
            assert_allclose(log_z[s], expected_z, rtol=EXACT)


@pytest.mark.parametrize("tokens_a_piece", [1, 4, 7])
@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_pieces_and_threads_change_no_bit(monkeypatch, tokens_a_piece, n_jobs):
    belief, batch, _ = problem(1, dtype=np.float32)
    whole = everything(Decoder(belief, BIO_FORBIDDEN).open(batch))
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", tokens_a_piece)
    pieces = everything(Decoder(belief, BIO_FORBIDDEN, n_jobs).open(batch))
    for one, other in zip(whole, pieces, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("key", [slice(2, 7), slice(0, 0), [6, 0, 0, 4], [3]])
def test_a_part_of_a_batch_is_decoded_as_in_the_whole(key):
    belief, batch, _ = problem(2)
    labels, total = Decoder(belief).open(batch).viterbi()
    part_labels, part_total = Decoder(belief).open(batch[key]).viterbi()
    positions = np.arange(len(batch))[key]
    assert_array_equal(part_total, total[positions])
    expected = [labels[batch.offsets[s] : batch.offsets[s + 1]] for s in positions]
    assert_array_equal(part_labels, np.concatenate([[], *expected]))


@pytest.mark.parametrize("lengths", [(), (0,), (0, 0, 0)])
def test_nothing_decodes_to_nothing(lengths):
    belief, batch, _ = problem(3, lengths=lengths)
    labels, total, best, _, found, *_, shares, log_z = everything(
        Decoder(belief).open(batch)
    )
    assert labels.shape == (0,)
    assert best.shape == (4, 0)
    assert shares.shape == (0, 5)
    assert_array_equal(total, np.zeros(len(lengths)))
    assert_array_equal(log_z, np.zeros(len(lengths)))
    assert_array_equal(found, np.ones(len(lengths)))


def test_no_labeling_that_breaks_the_constraints_is_returned():
    belief, batch, _ = problem(4, lengths=[6] * 40)
    decoder = Decoder(belief, BIO_FORBIDDEN)
    for row in decoder.open(batch).k_best(5)[0]:
        path = row.reshape(40, 6)
        assert np.isfinite(BIO_FORBIDDEN[-2, path[:, 0]]).all()
        assert np.isfinite(BIO_FORBIDDEN[path[:, :-1], path[:, 1:]]).all()
    free, _ = Decoder(belief).open(batch).viterbi()
    assert not np.isfinite(BIO_FORBIDDEN[free[:-1], free[1:]]).all()


@pytest.mark.parametrize("method", ["viterbi", "marginals", "k_best"])
def test_a_sequence_without_legal_labeling_is_named(method):
    belief, batch, _ = problem(5, n_labels=2, lengths=[1, 0, 2, 3])
    # Label 1 must follow label 0, begins every sequence and ends none.
    legal = {(None, "b"), ("b", "a"), ("a", None), ("a", "b")}
    forbidden = transition_constraints(lambda *pair: pair in legal, ["a", "b"])
    arguments = (2,) if method == "k_best" else ()
    with pytest.raises(NoLegalLabelingError, match="sequence 2, which has 3 tokens"):
        getattr(Decoder(belief, forbidden).open(batch[1:]), method)(*arguments)


def test_the_best_labeling_has_its_path_score_and_the_largest_of_all():
    belief, batch, _ = problem(6)
    decoder = Decoder(belief)
    labels, total = decoder.open(batch).viterbi()
    assert_allclose(decoder.open(batch).path_scores(labels), total, rtol=EXACT)
    other = np.random.default_rng(0).integers(5, size=batch.n_tokens).astype(np.int32)
    assert (decoder.open(batch).path_scores(other) <= total + 1e-12).all()


def test_temperature_divides_all_scores():
    belief, batch, sentences = problem(7)
    shares, log_z = Decoder(belief).open(batch).marginals(temperature=2.5)
    for s, (scores, trans) in enumerate(lattices(belief, sentences)):
        if len(scores):
            expected, expected_z = twin.marginals(scores / 2.5, trans / 2.5)
            tokens = slice(*batch.offsets[s : s + 2])
            assert_allclose(shares[tokens], expected, rtol=EXACT)
            assert_allclose(log_z[s], expected_z, rtol=EXACT)


@pytest.mark.parametrize("forbidden", [None, BIO_FORBIDDEN], ids=["free", "BIO"])
def test_cold_marginals_become_certain_and_hot_ones_uniform(forbidden):
    belief, batch, _ = problem(8)
    decoder = Decoder(belief, forbidden)
    labels, _ = decoder.open(batch).viterbi()
    cold, _ = decoder.open(batch).marginals(temperature=1e-5)
    assert_allclose(cold[np.arange(len(labels)), labels], 1.0, rtol=1e-6)
    if forbidden is None:
        hot, _ = decoder.open(batch).marginals(temperature=1e9)
        assert_allclose(hot, 0.2, rtol=1e-6)


def test_float32_agrees_with_float64():
    belief, batch, _ = problem(9)
    single = problem(9, dtype=np.float32)[0]
    double = everything(Decoder(belief, BIO_FORBIDDEN).open(batch))
    for one, other in zip(
        everything(Decoder(single, BIO_FORBIDDEN).open(batch)), double, strict=True
    ):
        assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_decoding_changes_neither_belief_nor_batch():
    belief, batch, _ = problem(10)
    before = belief.weights.tobytes(), batch.values.tobytes()
    everything(Decoder(belief, BIO_FORBIDDEN).open(batch))
    assert (belief.weights.tobytes(), batch.values.tobytes()) == before


@pytest.mark.parametrize("kept", [0, 1 << 27])
@pytest.mark.parametrize("tokens_per_piece", [4, 8192])
def test_tokens_are_scored_once_if_there_is_room(monkeypatch, kept, tokens_per_piece):
    belief, batch, _ = problem(11)
    whole = everything(Decoder(belief).open(batch))
    monkeypatch.setattr(decoding, "KEPT_BYTES", kept)
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", tokens_per_piece)
    scored, n_tokens = [], []
    score = Decoder.scores

    def counting(self, piece, *rest):
        n_tokens.append(piece.n_tokens)
        return score(self, piece, *rest)

    monkeypatch.setattr(Decoder, "scores", counting)
    scored = Decoder(belief).open(batch)
    for one, other in zip(whole, everything(scored), strict=True):
        assert_array_equal(one, other)
    once = kept or tokens_per_piece > batch.n_tokens
    assert (sum(n_tokens) == batch.n_tokens) == bool(once)


def test_a_piece_names_the_sequence_of_the_whole(monkeypatch):
    belief, batch, _ = problem(5, n_labels=2, lengths=[2, 2, 2, 3])
    legal = {(None, "b"), ("b", "a"), ("a", None), ("a", "b")}
    forbidden = transition_constraints(lambda *pair: pair in legal, ["a", "b"])
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", 2)
    for n_jobs in (None, 2):
        scored = Decoder(belief, forbidden, n_jobs).open(batch)
        with pytest.raises(NoLegalLabelingError, match="sequence 3, which has 3"):
            scored.marginals(0.5)


@pytest.mark.parametrize(("n_jobs", "at_least"), [(None, 1), (1, 1), (3, 3), (-1, 1)])
def test_jobs_are_threads(n_jobs, at_least):
    assert decoding.n_threads(n_jobs) >= at_least
    assert decoding.n_threads(-1000) == 1


def test_a_temperature_is_not_mistaken_for_the_one_before():
    belief, batch, _ = problem()
    decoder = Decoder(belief, BIO_FORBIDDEN)
    for temperature in (1.0, 0.5, 0.5, 2.0, 1.0):
        alone = Decoder(belief, BIO_FORBIDDEN).open(batch).marginals(temperature)
        again = decoder.open(batch).marginals(temperature)
        assert_array_equal(again[0], alone[0])
        assert_array_equal(again[1], alone[1])
