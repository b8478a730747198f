"""Training passes of k-best PA against its twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.sequence_passes import pa_pass
from skcw._model.gaussian import Belief
from tests.kernels.problems import (
    FLOAT32,
    as_vector,
    bytes_of,
    pass_options,
    random_belief,
    random_corpus,
    run_passes,
)
from tests.reference import lattice
from tests.reference import passes as twin

N_FEATURES = 10
LENGTHS = (3, 0, 1, 4, 2, 1, 4)
# Hildreth's sweeps stop at 1e-12; small eigenvalues of the Gram matrix magnify it.
HILDRETH = 1e-8


def both(corpus, n_labels, rng, budget, k, dtype=np.float64, n_passes=1, **options):
    """Train the kernel and the twin from the same random belief."""
    n_features = max(N_FEATURES, corpus.indices.max() + 1)
    start = random_belief(rng, n_features, n_labels, with_variance=False)
    options = pass_options(corpus, n_labels, **options)
    expected = twin.learn(
        as_vector(start, "mean"),
        None,
        corpus.sentences(n_features) * n_passes,
        options,
        twin.pa_rule(budget),
        k,
    )
    start.mean, start.average = start.mean.astype(dtype), start.average.astype(dtype)
    belief, _ = run_passes(
        pa_pass, start, corpus, options, budget, k, n_passes=n_passes
    )
    return belief, expected


def assert_same(belief, expected, rtol=HILDRETH, atol=HILDRETH):
    mean, _, average = expected
    assert_allclose(as_vector(belief, "mean"), mean, rtol=rtol, atol=atol)
    assert_allclose(as_vector(belief, "average"), average, rtol=rtol, atol=atol)


@pytest.mark.parametrize("budget", [0.02, 0.2, 100.0])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("n_labels", [1, 2, 3, 9])
def test_a_pass_equals_its_twin(n_labels, k, budget):
    rng = np.random.default_rng(n_labels)
    corpus = random_corpus(rng, n_labels, LENGTHS, N_FEATURES, real_values=True)
    assert_same(*both(corpus, n_labels, rng, budget, k))


def test_a_pass_over_plain_features_equals_its_twin():
    rng = np.random.default_rng(0)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES)
    assert_same(*both(corpus, 3, rng, 0.1, 5, n_passes=2))


def test_many_features_and_many_rivals_equal_their_twin():
    rng = np.random.default_rng(9)
    corpus = random_corpus(rng, 3, [5, 4, 5], 200, real_values=True, most=40)
    assert_same(*both(corpus, 3, rng, 0.01, 8))


@pytest.mark.parametrize("cost_unit", [0.0, 0.7])
def test_costs_weights_and_constraints_equal_their_twin(cost_unit):
    rng = np.random.default_rng(1)
    corpus = random_corpus(rng, 4, LENGTHS, N_FEATURES, real_values=True)
    weight = np.array([1.0, 2.5, 0.0, 0.3, 3.0, 1.7, 0.6])
    forbidden = np.where(rng.random((6, 4)) < 0.2, -np.inf, 0.0)
    forbidden[:, 0] = 0.0
    belief, expected = both(
        corpus._replace(weight=weight),
        4,
        rng,
        0.2,
        3,
        cost=[0.5, 2.0, 1.0, 3.0],
        forbidden=forbidden,
        cost_unit=cost_unit,
    )
    assert_same(belief, expected)


def test_from_nothing_with_all_labelings_as_rivals_a_pass_equals_its_twin():
    # All scores are tied, but when every labeling is a rival no tie matters.
    rng = np.random.default_rng(2)
    corpus = random_corpus(rng, 2, [2, 1, 2, 2], N_FEATURES, real_values=True)
    options = pass_options(corpus, 2)
    start = Belief.start(N_FEATURES, 2, dtype="float64")
    belief, _ = run_passes(pa_pass, start, corpus, options, 0.3, 4)
    assert_same(
        belief,
        twin.learn(
            as_vector(start, "mean"),
            None,
            corpus.sentences(N_FEATURES),
            options,
            twin.pa_rule(0.3),
            4,
        ),
    )


def test_after_a_step_without_budget_limit_gold_leads_by_its_distance():
    rng = np.random.default_rng(3)
    corpus = random_corpus(rng, 3, [4], N_FEATURES, real_values=True)
    start = random_belief(rng, N_FEATURES, 3, with_variance=False)
    options = pass_options(corpus, 3)
    (X, y, _) = corpus.sentences(N_FEATURES)[0]
    asked = twin.rivals(as_vector(start, "mean"), X, y, options, 5)
    belief, _ = run_passes(pa_pass, start, corpus, options, 1e9, 5)
    lead = [delta @ as_vector(belief, "mean") for delta, _ in asked]
    assert (np.array(lead) >= [len(costs) - 1e-6 for _, costs in asked]).all()


def test_a_step_is_no_longer_than_its_budget_allows():
    rng = np.random.default_rng(4)
    corpus = random_corpus(rng, 3, [4], N_FEATURES, real_values=True)
    start = random_belief(rng, N_FEATURES, 3, with_variance=False)
    options = pass_options(corpus, 3)
    (X, y, _) = corpus.sentences(N_FEATURES)[0]
    rivals = twin.rivals(as_vector(start, "mean"), X, y, options, 5)
    longest = max(np.linalg.norm(delta) for delta, _ in rivals)
    belief, _ = run_passes(pa_pass, start, corpus, options, 0.01, 5)
    step = as_vector(belief, "mean") - as_vector(start, "mean")
    assert 0 < np.linalg.norm(step) <= 0.01 * longest * (1 + 1e-9)


def test_when_gold_leads_its_rivals_by_their_distance_nothing_moves():
    rng = np.random.default_rng(5)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES, real_values=True)
    start = random_belief(rng, N_FEATURES, 3, with_variance=False)
    start.mean *= 1e4  # wide margins
    start.average = start.mean.copy()
    mean, options = as_vector(start, "mean"), pass_options(corpus, 3)
    gold = [
        lattice.viterbi(*twin.scored(mean, X, 3, None))[0]
        for X, _, _ in corpus.sentences(N_FEATURES)
    ]
    corpus = corpus._replace(gold=np.concatenate(gold).astype(np.int32))
    belief, report = run_passes(pa_pass, start, corpus, options, 1e3, 5)
    assert report == (0, 0)
    assert belief.rounds == len(LENGTHS)
    for kind in ("mean", "average"):
        assert_array_equal(as_vector(belief, kind), mean)


@pytest.mark.parametrize("k", [1, 4])
def test_whole_weights_are_copies_and_zero_leaves_out(k):
    rng = np.random.default_rng(6)
    corpus = random_corpus(rng, 3, [3, 2, 4], N_FEATURES, real_values=True)
    start = random_belief(rng, N_FEATURES, 3, with_variance=False)
    weighted, _ = run_passes(
        pa_pass,
        start,
        corpus._replace(weight=np.array([3.0, 0.0, 1.0])),
        pass_options(corpus, 3),
        0.05,
        k,
    )
    copied, _ = run_passes(
        pa_pass, start, corpus, pass_options(corpus, 3, order=[0, 0, 0, 2]), 0.05, k
    )
    assert bytes_of(weighted) == bytes_of(copied)


def test_a_pass_reports_what_was_wrong_when_first_presented():
    rng = np.random.default_rng(10)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES, real_values=True)
    corpus = corpus._replace(weight=np.array([3.0, 1.0, 2.0, 0.0, 1.0, 3.0, 2.0]))
    start = random_belief(rng, N_FEATURES, 3, with_variance=False)
    # A budget of next to nothing: every sentence meets the first model.
    _, report = run_passes(pa_pass, start, corpus, pass_options(corpus, 3), 1e-12, 5)
    mean = as_vector(start, "mean")
    wrong = [
        np.count_nonzero(lattice.viterbi(*twin.scored(mean, X, 3, None))[0] != y)
        for X, y, weight in corpus.sentences(N_FEATURES)
        if weight
    ]
    assert report == (np.count_nonzero(wrong), sum(wrong))


def test_float32_agrees_with_float64():
    rng = np.random.default_rng(7)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES, real_values=True)
    belief, expected = both(corpus, 3, rng, 0.1, 5, dtype=np.float32)
    assert belief.mean.dtype == np.float32
    assert_same(belief, expected, rtol=FLOAT32, atol=FLOAT32)


def test_rows_of_features_stay_unique_and_the_padding_zero():
    rng = np.random.default_rng(8)
    corpus = random_corpus(rng, 3, LENGTHS, N_FEATURES)
    start = Belief.start(N_FEATURES, 3, dtype="float64")
    belief, _ = run_passes(
        pa_pass, start, corpus, pass_options(corpus, 3), 0.1, 5, n_passes=3
    )
    rows = belief.row_of[belief.row_of != belief.width]
    assert len(set(rows)) == len(rows)
    assert_array_equal(np.sort(rows), np.arange(belief.width + 1, belief.n_rows))
    assert_array_equal(belief.mean.reshape(-1, 8)[:, 3:], 0.0)
    assert_array_equal(belief.mean.reshape(-1, 8)[8], 0.0)


def test_costs_do_not_count_as_mistakes_unless_rivals_are_asked_for():
    rng = np.random.default_rng(5)
    for _ in range(20):
        corpus = random_corpus(rng, 3, [4], N_FEATURES)
        start = random_belief(rng, N_FEATURES, 3, False, np.float64)
        options = pass_options(corpus, 3, cost_unit=0.8)
        ((X, y, _),) = corpus.sentences(N_FEATURES)
        wrong = twin.mistakes(as_vector(start, "mean"), X, y, options)
        _, report = run_passes(pa_pass, start, corpus, options, 1.0, 5)
        assert report == (wrong > 0, wrong)
        free = options._replace(counting=False)
        _, rivals = run_passes(pa_pass, start, corpus, free, 1.0, 5)
        assert rivals >= report
