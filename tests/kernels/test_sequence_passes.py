"""Training passes of CW, AROW and the perceptron against Algorithm 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.sequence_passes import arow_pass, cw_pass, perceptron_pass
from skcw._model.gaussian import Belief
from tests.kernels.problems import (
    EXACT,
    FLOAT32,
    LABEL_COUNTS,
    as_vector,
    pass_options,
    random_belief,
    random_corpus,
    run_passes,
)
from tests.reference import passes as twin

N_FEATURES = 12
LENGTHS = (3, 0, 1, 5, 4, 1, 6, 2)
# name: (kernel, its parameters, the twin's rule, whether it keeps a variance)
LEARNERS = {
    "CW covariance": (
        cw_pass,
        (0.7, "covariance"),
        twin.cw_rule(0.7, "covariance"),
        True,
    ),
    "CW precision": (cw_pass, (0.7, "precision"), twin.cw_rule(0.7, "precision"), True),
    "CW optimal": (cw_pass, (0.7, "optimal"), twin.cw_rule(0.7, "optimal"), True),
    "soft CW covariance": (
        cw_pass,
        (0.7, "covariance", 0.6),
        twin.cw_rule(0.7, "covariance", 0.6),
        True,
    ),
    "soft CW precision": (
        cw_pass,
        (0.7, "precision", 0.6),
        twin.cw_rule(0.7, "precision", 0.6),
        True,
    ),
    "soft CW optimal": (
        cw_pass,
        (0.7, "optimal", 0.6),
        twin.cw_rule(0.7, "optimal", 0.6),
        True,
    ),
    "AROW covariance": (
        arow_pass,
        (0.3, "covariance"),
        twin.arow_rule(0.3, "covariance"),
        True,
    ),
    "AROW precision": (
        arow_pass,
        (0.3, "precision"),
        twin.arow_rule(0.3, "precision"),
        True,
    ),
    "perceptron": (perceptron_pass, (), twin.perceptron_rule, False),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def both(
    name,
    corpus,
    n_labels,
    rng,
    n_passes=1,
    dtype=np.float64,
    learning=None,
    **options,
):
    """Train the kernel and the twin from the same random belief."""
    kernel, parameters, rule, with_variance = LEARNERS[name]
    n_features = max(N_FEATURES, corpus.indices.max() + 1)
    start = random_belief(rng, n_features, n_labels, with_variance, np.float64)
    options = pass_options(corpus, n_labels, **options)
    sentences = corpus.sentences(n_features)
    expected = twin.learn(
        as_vector(start, "mean"),
        as_vector(start, "variance") if with_variance else None,
        [sentences[i] for i in options.order] * n_passes,
        options,
        rule,
        **(learning or {}),
    )
    start = Belief(
        n_labels,
        start.row_of,
        start.mean.astype(dtype),
        start.variance.astype(dtype) if with_variance else None,
        start.average.astype(dtype),
        0.0,
    )
    belief, _ = run_passes(
        kernel, start, corpus, options, *parameters, n_passes=n_passes
    )
    return belief, expected


def assert_same(belief, expected, rtol=EXACT, atol=1e-12):
    mean, variance, average = expected
    assert_allclose(as_vector(belief, "mean"), mean, rtol=rtol, atol=atol)
    assert_allclose(as_vector(belief, "average"), average, rtol=rtol, atol=atol)
    if variance is not None:
        got = as_vector(belief, "variance")
        assert_allclose(got, variance, rtol=rtol, atol=atol)


@every_learner
@pytest.mark.parametrize("real_values", [False, True])
@pytest.mark.parametrize("n_labels", LABEL_COUNTS)
def test_a_pass_equals_its_twin(name, n_labels, real_values):
    rng = np.random.default_rng(n_labels)
    corpus = random_corpus(rng, n_labels, LENGTHS, N_FEATURES, real_values)
    assert_same(*both(name, corpus, n_labels, rng))


@every_learner
def test_long_sentences_with_many_features_equal_their_twin(name):
    rng = np.random.default_rng(8)
    corpus = random_corpus(rng, 5, [70, 3, 40], 300, real_values=True, most=20)
    # Sums over hundreds of weights of either sign lose a digit or two.
    assert_same(*both(name, corpus, 5, rng), atol=1e-10)


@every_learner
def test_three_shuffled_passes_equal_their_twin(name):
    rng = np.random.default_rng(0)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    order = rng.permutation(len(LENGTHS))
    assert_same(*both(name, corpus, 4, rng, n_passes=3, order=order))


@every_learner
@pytest.mark.parametrize("cost_unit", [0.0, 0.7])
def test_costs_of_labels_equal_their_twin(name, cost_unit):
    rng = np.random.default_rng(1)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES, real_values=True)
    cost = [0.5, 2.0, 1.0]
    assert_same(*both(name, corpus, 3, rng, cost=cost, cost_unit=cost_unit))


@every_learner
@pytest.mark.parametrize("cost_unit", [0.2, 1.0])
def test_cost_augmented_decoding_equals_its_twin(name, cost_unit):
    rng = np.random.default_rng(2)
    corpus = random_corpus(rng, 9, LENGTHS, N_FEATURES, real_values=True)
    assert_same(*both(name, corpus, 9, rng, n_passes=2, cost_unit=cost_unit))


def token_lengths(X):
    """Return the length of every token's feature vector."""
    return np.linalg.norm(X, axis=1)


@every_learner
def test_costs_in_units_of_feature_vectors_equal_their_twin(name):
    rng = np.random.default_rng(5)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    tokens = np.concatenate([X for X, _, _ in corpus.sentences(N_FEATURES)])
    corpus = corpus._replace(norm=token_lengths(tokens))
    learning = {"norm_of": token_lengths}
    belief, expected = both(
        name, corpus, 4, rng, n_passes=2, cost_unit=0.5, learning=learning
    )
    assert_same(belief, expected)


@pytest.mark.parametrize("limit", [0.4, np.inf])
@pytest.mark.parametrize("diagonal", ["covariance", "precision", "optimal"])
def test_stretch_by_stretch_a_pass_equals_its_twin(diagonal, limit, monkeypatch):
    learner = (
        cw_pass,
        (0.7, diagonal, limit, True),
        twin.cw_rule(0.7, diagonal, limit),
        True,
    )
    monkeypatch.setitem(LEARNERS, "split", learner)
    rng = np.random.default_rng(6)
    corpus = random_corpus(rng, 5, (*LENGTHS, 30), N_FEATURES, real_values=True)
    weight = np.array([1.0, 2.5, 0.0, 0.3, 3.0, 1.7, 0.6, 1.0, 1.5])
    corpus = corpus._replace(weight=weight)
    learning = {"split": True}
    belief, expected = both(
        "split", corpus, 5, rng, n_passes=2, cost_unit=0.5, learning=learning
    )
    assert_same(belief, expected)


def test_the_features_of_stretches_add_up_to_those_of_the_whole_rival():
    rng = np.random.default_rng(7)
    for _ in range(200):
        y, guess = rng.integers(3, size=(2, rng.integers(1, 12)))
        X = rng.normal(size=(len(y), 4))
        parts = [
            twin.features(X, y, 3) - twin.features(X, part, 3)
            for part in twin.stretches(y, guess)
        ]
        whole = twin.features(X, y, 3) - twin.features(X, guess, 3)
        assert_allclose(sum(parts, np.zeros_like(whole)), whole, atol=1e-12)


@every_learner
def test_weights_of_sequences_equal_their_twin(name):
    rng = np.random.default_rng(3)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    weight = np.array([1.0, 2.5, 0.0, 0.3, 3.0, 1.7, 0.6, 1.0])
    assert_same(*both(name, corpus._replace(weight=weight), 4, rng, n_passes=2))


@every_learner
@pytest.mark.parametrize("cost_unit", [0.0, 0.7])
def test_constraints_equal_their_twin(name, cost_unit):
    rng = np.random.default_rng(4)
    corpus = random_corpus(rng, 5, LENGTHS, N_FEATURES, real_values=True)
    forbidden = np.where(rng.random((7, 5)) < 0.25, -np.inf, 0.0)
    forbidden[:, 0] = 0.0  # some labeling is always legal
    assert_same(
        *both(
            name, corpus, 5, rng, forbidden=forbidden, cost_unit=cost_unit, n_passes=2
        )
    )


@every_learner
def test_float32_agrees_with_float64(name):
    rng = np.random.default_rng(5)
    corpus = random_corpus(rng, 9, LENGTHS, N_FEATURES, real_values=True)
    belief, expected = both(name, corpus, 9, rng, dtype=np.float32)
    assert belief.mean.dtype == np.float32
    assert_same(belief, expected, rtol=FLOAT32, atol=FLOAT32)


def test_the_perceptron_from_nothing_equals_its_twin_also_in_ties():
    # Weights are whole numbers: both add them up without rounding.
    rng = np.random.default_rng(6)
    corpus = random_corpus(rng, 3, [4, 2, 5, 3] * 5, N_FEATURES)
    options = pass_options(corpus, 3)
    start = Belief.start(N_FEATURES, 3, dtype="float64")
    belief, _ = run_passes(perceptron_pass, start, corpus, options, n_passes=3)
    mean, _, average = twin.learn(
        as_vector(start, "mean"),
        None,
        corpus.sentences(N_FEATURES) * 3,
        options,
        twin.perceptron_rule,
    )
    assert_array_equal(as_vector(belief, "mean"), mean)
    assert_allclose(as_vector(belief, "average"), average, rtol=EXACT, atol=1e-12)


@every_learner
def test_a_pass_reports_what_was_wrong_when_first_presented(name):
    kernel, parameters, rule, with_variance = LEARNERS[name]
    rng = np.random.default_rng(7)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    # Three copies count once, what is left out not at all.
    corpus = corpus._replace(weight=np.array([3.0, 1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 2.0]))
    options = pass_options(corpus, 4)
    start = random_belief(rng, N_FEATURES, 4, with_variance)
    mean = as_vector(start, "mean")
    variance = as_vector(start, "variance") if with_variance else None
    wrong = []
    for X, y, weight in corpus.sentences(N_FEATURES):
        for copy in range(int(weight)):
            others = twin.rivals(mean, X, y, options, k=1)
            if others:
                mean, variance = rule(mean, variance, others, 1.0)
            if copy == 0:
                wrong.append(len(others[0][1]) if others else 0)
    _, report = run_passes(kernel, start, corpus, options, *parameters)
    assert report == (np.count_nonzero(wrong), sum(wrong))


@every_learner
def test_costs_do_not_count_as_mistakes_unless_rivals_are_asked_for(name):
    rng = np.random.default_rng(5)
    kernel, parameters, _, with_variance = LEARNERS[name]
    for _ in range(20):
        corpus = random_corpus(rng, 3, [4], N_FEATURES)
        start = random_belief(rng, N_FEATURES, 3, with_variance, np.float64)
        options = pass_options(corpus, 3, cost_unit=0.8)
        ((X, y, _),) = corpus.sentences(N_FEATURES)
        mean = as_vector(start, "mean")
        wrong = twin.mistakes(mean, X, y, options)
        rivals = sum(len(costs) for _, costs in twin.rivals(mean, X, y, options, 1))
        _, report = run_passes(kernel, start, corpus, options, *parameters)
        assert report == (wrong > 0, wrong)
        free = options._replace(counting=False)
        _, report = run_passes(kernel, start, corpus, free, *parameters)
        assert report == (rivals > 0, rivals)
