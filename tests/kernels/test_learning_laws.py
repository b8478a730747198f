"""What holds for every training pass, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.sequence_passes import arow_pass, cw_pass, perceptron_pass
from skcw._model.gaussian import Belief
from tests.kernels.problems import (
    Corpus,
    as_vector,
    bytes_of,
    pass_options,
    random_belief,
    random_corpus,
    run_passes,
)
from tests.reference import lattice
from tests.reference import passes as twin

N_FEATURES = 12
LENGTHS = (3, 0, 1, 5, 4, 1, 6, 2)
GAUSSIAN = {
    f"{name} {diagonal}": (kernel, strength, diagonal)
    for name, kernel, strength in (("CW", cw_pass, 0.7), ("AROW", arow_pass, 0.3))
    for diagonal in ("covariance", "precision", "optimal")
}
LEARNERS = {**GAUSSIAN, "perceptron": (perceptron_pass,)}
every_gaussian = pytest.mark.parametrize("name", GAUSSIAN)
every_learner = pytest.mark.parametrize("name", LEARNERS)
every_diagonal = pytest.mark.parametrize(
    "diagonal", ["covariance", "precision", "optimal"]
)


def train(name, start, corpus, options, n_passes=1):
    kernel, *parameters = LEARNERS[name]
    return run_passes(kernel, start, corpus, options, *parameters, n_passes=n_passes)[0]


def start_for(name, n_labels, variance=1.0, dtype="float64"):
    variance = None if name == "perceptron" else variance
    return Belief.start(N_FEATURES, n_labels, variance, dtype=dtype)


def decode(belief, corpus, n_labels, kind="average", n_features=N_FEATURES):
    """Return the best labeling of every sequence, by the twin."""
    model = as_vector(belief, kind)
    return [
        lattice.viterbi(*twin.scored(model, X, n_labels, None))[0]
        for X, _, _ in corpus.sentences(n_features)
    ]


@every_gaussian
@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([0.0, 1.0]),
)
def test_variance_stays_positive_and_never_grows(name, seed, scale, cost_unit):
    rng = np.random.default_rng(seed)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    corpus = corpus._replace(values=scale * corpus.values)
    belief = random_belief(rng, N_FEATURES, 4)
    options = pass_options(corpus, 4, cost_unit=cost_unit)
    for _ in range(4):
        before = as_vector(belief, "variance")
        belief = train(name, belief, corpus, options)
        after = as_vector(belief, "variance")
        assert (after > 0).all()
        assert (after <= before).all()
        assert np.isfinite(as_vector(belief, "mean")).all()


@every_gaussian
def test_variance_stays_positive_in_float32_over_many_passes(name):
    rng = np.random.default_rng(0)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES)
    start = start_for(name, 4, dtype="float32")
    belief = train(name, start, corpus, pass_options(corpus, 4), n_passes=200)
    assert (belief.variance > 0).all()
    assert (belief.variance <= 1).all()
    assert np.isfinite(belief.mean).all()


@every_gaussian
def test_variance_shrinks_only_where_a_difference_was_seen(name):
    rng = np.random.default_rng(1)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES - 1)
    belief = train(
        name, start_for(name, 3), corpus, pass_options(corpus, 3), n_passes=2
    )
    moved = as_vector(belief, "mean") != 0
    shrunk = as_vector(belief, "variance") < 1
    assert (shrunk | ~moved).all()
    assert (belief.feature_weights("variance")[-1] == 1).all()


@every_diagonal
@pytest.mark.parametrize("variance", [0.001, 0.3, 7.0, 1e4])
@pytest.mark.parametrize("cost", [0.0, 0.5])
def test_initial_variance_does_not_change_what_cw_predicts(diagonal, variance, cost):
    # Costs that count standard deviations of the prior keep the law.
    rng = np.random.default_rng(2)
    corpus = random_corpus(rng, 4, LENGTHS * 3, N_FEATURES, real_values=True)
    one, other = (
        run_passes(
            cw_pass,
            start_for("CW", 4, a),
            corpus,
            pass_options(corpus, 4, cost_unit=cost * np.sqrt(a)),
            0.7,
            diagonal,
            n_passes=3,
        )[0]
        for a in (1.0, variance)
    )
    deviation = np.sqrt(variance)
    for kind, scale in (("average", deviation), ("variance", variance)):
        expected = scale * as_vector(one, kind)
        assert_allclose(as_vector(other, kind), expected, rtol=1e-6, atol=1e-9 * scale)
    for labels, same in zip(*(decode(b, corpus, 4) for b in (one, other)), strict=True):
        assert_array_equal(labels, same)


@every_diagonal
@pytest.mark.parametrize("factor", [0.01, 0.3, 50.0])
def test_scaling_variance_and_r_together_does_not_change_arow(diagonal, factor):
    rng = np.random.default_rng(3)
    corpus = random_corpus(rng, 4, LENGTHS * 3, N_FEATURES, real_values=True)
    for cost_unit in (0.0, 1.0):
        options = pass_options(corpus, 4, cost_unit=cost_unit)
        one, other = (
            run_passes(
                arow_pass,
                start_for("AROW", 4, c * 1.5),
                corpus,
                options,
                c * 0.4,
                diagonal,
                n_passes=3,
            )[0]
            for c in (1.0, factor)
        )
        for kind, scale in (("average", 1.0), ("mean", 1.0), ("variance", factor)):
            expected = scale * as_vector(one, kind)
            assert_allclose(as_vector(other, kind), expected, rtol=1e-6, atol=1e-9)


def test_the_optimal_diagonal_of_arow_is_that_of_the_precision():
    rng = np.random.default_rng(4)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    options = pass_options(corpus, 4)
    start = random_belief(rng, N_FEATURES, 4)
    one, other = (
        train(f"AROW {diagonal}", start, corpus, options, n_passes=3)
        for diagonal in ("precision", "optimal")
    )
    assert bytes_of(one) == bytes_of(other)


@every_learner
def test_without_a_mistake_nothing_moves(name):
    rng = np.random.default_rng(5)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    start = random_belief(rng, N_FEATURES, 4, name != "perceptron")
    start.average, start.rounds = start.mean.copy(), 3.0
    right = np.concatenate(decode(start, corpus, 4, "mean")).astype(np.int32)
    corpus = corpus._replace(gold=right)
    belief = train(name, start, corpus, pass_options(corpus, 4), n_passes=2)
    assert belief.rounds == 3.0 + 2 * len(LENGTHS)
    belief.rounds = start.rounds
    assert bytes_of(belief) == bytes_of(start)


@every_learner
def test_with_one_label_nothing_can_go_wrong(name):
    rng = np.random.default_rng(6)
    corpus = random_corpus(rng, 1, LENGTHS, N_FEATURES)
    start = start_for(name, 1)
    belief = train(name, start, corpus, pass_options(corpus, 1))
    belief.rounds = start.rounds
    assert bytes_of(belief) == bytes_of(start)


@every_learner
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_whole_weight_is_so_many_copies_in_a_row(name, dtype):
    rng = np.random.default_rng(7)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    weight = np.array([1.0, 3.0, 2.0, 0.0, 5.0, 1.0, 2.0, 1.0])
    copies = np.repeat(np.arange(len(LENGTHS)), weight.astype(int))
    start = start_for(name, 4, dtype=dtype)
    weighted = train(
        name, start, corpus._replace(weight=weight), pass_options(corpus, 4), n_passes=2
    )
    options = pass_options(corpus, 4, order=copies)
    copied = train(name, start, corpus, options, n_passes=2)
    assert bytes_of(weighted) == bytes_of(copied)


@every_learner
def test_a_weight_of_zero_leaves_a_sequence_out(name):
    rng = np.random.default_rng(8)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES)
    weight = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    start = start_for(name, 4)
    weighted = train(
        name, start, corpus._replace(weight=weight), pass_options(corpus, 4), n_passes=2
    )
    options = pass_options(corpus, 4, order=np.flatnonzero(weight))
    assert bytes_of(weighted) == bytes_of(
        train(name, start, corpus, options, n_passes=2)
    )


@every_learner
@pytest.mark.parametrize("n_labels", [3, 8, 9])
def test_the_blank_row_keeps_the_prior_and_the_padding_no_weight(name, n_labels):
    rng = np.random.default_rng(9)
    corpus = random_corpus(rng, n_labels, LENGTHS, N_FEATURES, real_values=True)
    options = pass_options(corpus, n_labels)
    belief = train(name, start_for(name, n_labels), corpus, options, n_passes=3)
    width = belief.width
    for kind, prior in (("mean", 0.0), ("average", 0.0), ("variance", 1.0)):
        if getattr(belief, kind) is None:
            continue
        rows = getattr(belief, kind).reshape(-1, width)
        assert_array_equal(rows[width], prior)
        assert_array_equal(rows[:, n_labels:], prior)
        assert_array_equal(rows[n_labels:width], prior)


@every_learner
def test_every_touched_feature_has_a_row_of_its_own(name):
    rng = np.random.default_rng(10)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES - 2)
    belief = train(name, start_for(name, 3), corpus, pass_options(corpus, 3))
    rows = belief.row_of[belief.row_of != belief.width]
    assert_array_equal(np.sort(rows), np.arange(belief.width + 1, belief.n_rows))
    assert (belief.row_of[-2:] == belief.width).all()


@every_learner
def test_features_get_a_row_only_when_their_token_is_wrong(name):
    rng = np.random.default_rng(11)
    corpus = random_corpus(rng, 3, [4], N_FEATURES)
    start = random_belief(rng, N_FEATURES, 3, name != "perceptron")
    start.row_of[:] = start.width  # only the transitions speak
    guess = decode(start, corpus, 3, "mean")[0]
    gold = guess.copy()
    gold[2] = (gold[2] + 1) % 3
    corpus = corpus._replace(gold=gold.astype(np.int32))
    belief = train(name, start, corpus, pass_options(corpus, 3))
    of_wrong_token = corpus.indices[corpus.indptr[2] : corpus.indptr[3]]
    touched = np.flatnonzero(belief.row_of != belief.width)
    assert set(touched) == set(of_wrong_token)


@every_learner
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_passes_in_pieces_are_one_pass(name, dtype):
    rng = np.random.default_rng(12)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    start = start_for(name, 4, dtype=dtype)
    whole = train(name, start, corpus, pass_options(corpus, 4))
    pieces = start
    for order in ([0, 1, 2], [3], [4, 5, 6, 7]):
        pieces = train(name, pieces, corpus, pass_options(corpus, 4, order=order))
    # Closing a belief turns the drift into an average, which rounds.
    assert_array_equal(pieces.mean, whole.mean)
    rounding = 1e-5 if dtype == "float32" else 1e-12
    assert_allclose(pieces.average, whole.average, rtol=rounding, atol=rounding)
    if whole.variance is not None:
        assert_array_equal(pieces.variance, whole.variance)


@every_learner
def test_renaming_labels_renames_the_weights(name):
    rng = np.random.default_rng(13)
    corpus = random_corpus(rng, 5, LENGTHS, N_FEATURES, real_values=True)
    start = random_belief(rng, N_FEATURES, 5, name != "perceptron")
    new = rng.permutation(5)
    renamed = start.extended(N_FEATURES, 5)
    rows = start.mean.reshape(-1, 8)
    mean = rows.copy()
    mean[:, new] = rows[:, :5]
    mean[new] = mean[:5].copy()
    renamed.mean = mean.ravel()
    if start.variance is not None:
        start.variance = np.full_like(start.variance, 1.0)
        renamed.variance = start.variance.copy()
    one = train(name, start, corpus, pass_options(corpus, 5))
    gold = new[corpus.gold].astype(np.int32)
    other = train(name, renamed, corpus._replace(gold=gold), pass_options(corpus, 5))
    for kind in ("mean", "average"):
        assert_allclose(
            other.feature_weights(kind)[:, new],
            one.feature_weights(kind),
            rtol=1e-9,
            atol=1e-12,
        )
        assert_allclose(
            other.transition_weights(kind)[np.ix_(new, new)],
            one.transition_weights(kind),
            rtol=1e-9,
            atol=1e-12,
        )


@every_learner
def test_a_feature_that_occurs_twice_is_summed_before_it_is_squared(name):
    rng = np.random.default_rng(14)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES, real_values=True)
    merged = corpus.sentences(N_FEATURES)
    tokens = np.concatenate([X for X, _, _ in merged])
    rows, columns = np.nonzero(tokens)
    dense = corpus._replace(
        indptr=np.searchsorted(rows, np.arange(len(tokens) + 1)).astype(np.int64),
        indices=columns.astype(np.int32),
        values=tokens[rows, columns],
    )
    start = random_belief(rng, N_FEATURES, 3, name != "perceptron")
    options = pass_options(corpus, 3)
    one = train(name, start, corpus, options, n_passes=2)
    other = train(name, start, dense, options, n_passes=2)
    for kind in ("mean", "average") + (
        ("variance",) if one.variance is not None else ()
    ):
        assert_allclose(
            as_vector(one, kind), as_vector(other, kind), rtol=1e-9, atol=1e-12
        )


@every_learner
def test_a_rival_with_the_features_of_gold_moves_nothing(name):
    # Equal tokens, and A A B A has the label pairs of A B A A.
    gold, guess = np.array([0, 0, 1, 0]), np.array([0, 1, 0, 0])
    tokens = np.ones((4, 1))
    assert_array_equal(twin.features(tokens, gold, 2), twin.features(tokens, guess, 2))
    corpus = Corpus(
        np.array([0, 4]),
        np.arange(5),
        np.zeros(4, dtype=np.int32),
        None,
        gold.astype(np.int32),
        None,
    )
    rows = np.zeros((10, 8))
    rows[:2, :2] = [[1.0, 2.0], [2.0, -9.0]]
    rows[9, 1] = -1.5
    variance = None if name == "perceptron" else np.ones(rows.size)
    row_of = np.array([9], dtype=np.int32)
    start = Belief(2, row_of, rows.ravel(), variance, rows.ravel().copy(), 0.0)
    assert_array_equal(decode(start, corpus, 2, n_features=1)[0], guess)
    belief = train(name, start, corpus, pass_options(corpus, 2))
    belief.rounds = start.rounds
    assert bytes_of(belief) == bytes_of(start)
