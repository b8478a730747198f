"""The mention-ranking model of the benchmarks against sums over all its choices."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from skcw.evaluation import sampled_pairs
from skcw.evaluation.pairs import same_cluster
from tests.benchmarks.modules import benchmark_module

model = benchmark_module("_coreference_model")
documents = benchmark_module("_coreference_documents")
scores = benchmark_module("_coreference_scores")

EXACT = 1e-12
# Differences of a millionth lose half of the digits.
BY_DIFFERENCES = 1e-5
SIZES = [3, 4]
CONLL = """\
#begin document (a); part 0
a\t0\t0\tAnn\t_\t(0
a\t0\t1\tLee\t_\t(1)|0)
a\t0\t2\tmet\t_\t_

a\t0\t0\ther\t_\t(2(0)
a\t0\t1\tson\t_\t2)
#end document
#begin document (b); part 0
b\t0\t0\tit\t_\t(7)
#end document
"""


def random_codes(rng, n_mentions):
    n_arcs = n_mentions * (n_mentions + 1) // 2
    return np.stack([rng.integers(size, size=n_arcs) for size in SIZES], axis=1)


def random_table(seed, n_mentions):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=sum(SIZES))
    return model.antecedents(weights, random_codes(rng, n_mentions), SIZES)


def clusters_of(choices):
    """Return the clusters of mentions, each of which has chosen one of those so far."""
    clusters = []
    for i, choice in enumerate(choices):
        clusters.append(i if choice == i else clusters[choice])
    return tuple(clusters)


def all_clusterings(table):
    """Return the probability of every clustering, from all choices of all mentions."""
    found = {}
    for choices in product(*(range(i + 1) for i in range(len(table)))):
        share = np.prod([table[i, choice] for i, choice in enumerate(choices)])
        clusters = clusters_of(choices)
        found[clusters] = found.get(clusters, 0.0) + share
    return found


@given(st.integers(0, 1000), st.integers(1, 5))
def test_the_probabilities_of_all_clusterings_sum_to_one(seed, n_mentions):
    table = random_table(seed, n_mentions)
    assert_allclose(table.sum(axis=1), 1.0, rtol=EXACT)
    assert_array_equal(np.triu(table, 1), 0.0)
    assert_allclose(sum(all_clusterings(table).values()), 1.0, rtol=EXACT)


@given(st.integers(0, 1000), st.integers(1, 5))
def test_two_are_together_as_often_as_in_all_clusterings(seed, n_mentions):
    table = random_table(seed, n_mentions)
    expected = np.zeros((n_mentions, n_mentions))
    for clusters, share in all_clusterings(table).items():
        expected += share * np.equal.outer(clusters, clusters)
    assert_allclose(model.together(table), expected, rtol=1e-9)


def test_drawn_clusterings_come_as_often_as_they_are_probable():
    table, n = random_table(3, 4), 20_000
    drawn = model.drawn_clusters(table, n, np.random.default_rng(0))
    rows, count = np.unique(drawn, axis=0, return_counts=True)
    expected = all_clusterings(table)
    assert {tuple(row) for row in rows.tolist()} <= set(expected)
    for row, times in zip(rows.tolist(), count, strict=True):
        share = expected[tuple(row)]
        # Five standard errors: less than one false alarm in 100,000 over all of them.
        assert abs(times / n - share) < 5 * np.sqrt(share * (1 - share) / n)


def test_shares_of_samples_tend_to_the_exact_probability():
    table, n = random_table(5, 9), 20_000
    drawn = model.drawn_clusters(table, n, np.random.default_rng(1))
    found = sampled_pairs([drawn], [np.zeros(9)], same_cluster)
    exact = model.together(table)[np.triu_indices(9, 1)]
    error = np.sqrt(exact * (1 - exact) / n)
    assert (np.abs(found.confidence - exact) < 5 * error).all()


@pytest.mark.parametrize("costs", [(0.0, 0.0, 0.0), (0.1, 3.0, 1.0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_gradient_is_that_of_the_loss(seed, costs):
    rng = np.random.default_rng(seed)
    corpus = [(random_codes(rng, n), rng.integers(0, 3, n)) for n in (4, 1, 6)]
    problem = model.posed(corpus, SIZES, costs)
    weights = rng.normal(size=sum(SIZES))
    _, slope = model.loss_and_slope(weights, problem, 0.3)
    near = approx_fprime(
        weights, lambda w: model.loss_and_slope(w, problem, 0.3)[0], 1e-6
    )
    assert_allclose(slope, near, rtol=BY_DIFFERENCES, atol=BY_DIFFERENCES)


@given(st.integers(0, 1000), st.integers(1, 5))
def test_the_loss_is_the_likelihood_of_right_antecedents(seed, n_mentions):
    rng = np.random.default_rng(seed)
    codes, clusters = random_codes(rng, n_mentions), rng.integers(0, 2, n_mentions)
    weights = rng.normal(size=sum(SIZES))
    table = model.antecedents(weights, codes, SIZES)
    expected = 0.0
    for i in range(n_mentions):
        right = [j for j in range(i) if clusters[j] == clusters[i]] or [i]
        expected -= np.log(table[i, right].sum())
    problem = model.posed([(codes, clusters)], SIZES)
    loss, _ = model.loss_and_slope(weights, problem, 0.0)
    assert_allclose(loss, expected, rtol=1e-9, atol=1e-9)


def test_costs_are_those_of_the_errors():
    # Mention 0 begins a cluster; mention 1 another one; mention 2 belongs to the first.
    costs = model.arc_costs(np.array([5, 6, 5]), (0.1, 3.0, 1.0))
    assert costs.tolist() == [0.0, 0.1, 0.0, 0.0, 1.0, 3.0]


def test_training_finds_what_tells_antecedents():
    # One field: code 0 where both are of one cluster, 1 elsewhere, 2 for itself.
    rng, corpus = np.random.default_rng(0), []
    for _ in range(5):
        clusters = rng.integers(0, 3, 8)
        mention, other = np.tril_indices(8)
        code = np.where(clusters[mention] == clusters[other], 0, 1)
        corpus.append((np.where(mention == other, 2, code)[:, None], clusters))
    weights = model.fit_weights(corpus, [3], penalty=0.01)
    for codes, clusters in corpus:
        found = model.best_clusters(model.antecedents(weights, codes, [3]))
        assert_array_equal(
            np.equal.outer(found, found), np.equal.outer(clusters, clusters)
        )


def test_arcs_with_the_same_codes_share_a_pattern():
    codes = random_codes(np.random.default_rng(2), 12)
    problem = model.posed([(codes, np.zeros(12))], SIZES)
    assert problem.patterns.shape[0] == len(np.unique(codes, axis=0))
    offsets = np.array([0, SIZES[0]])
    dense = problem.patterns.toarray()[problem.pattern]
    assert_array_equal(np.nonzero(dense)[1].reshape(-1, 2), codes + offsets)


def test_documents_are_read_with_nested_mentions():
    first, second = documents.read_documents(CONLL.splitlines(keepends=True))
    assert [m.words for m in first.mentions] == [
        ("Ann", "Lee"),
        ("Lee",),
        ("her",),
        ("her", "son"),
    ]
    assert first.clusters.tolist() == [0, 1, 0, 2]
    assert [m.sentence for m in first.mentions] == [0, 0, 1, 1]
    assert second.clusters.tolist() == [7]


def test_a_mention_that_never_ends_is_an_error():
    with pytest.raises(ValueError, match="never closed"):
        documents.read_documents([*CONLL.splitlines()[:2], "#end document"])


def test_scores_of_clusters_by_hand():
    truth, found = [np.array([0, 0, 0, 1])], [np.array([5, 5, 6, 6])]
    # B-cubed: precision (1 + 1 + 1/2 + 1/2) / 4, recall (2/3 + 2/3 + 1/3 + 1) / 4.
    assert_allclose(scores.b_cubed(truth, found), 2 * 0.75 * (2 / 3) / (0.75 + 2 / 3))
    # One of two pairs found is right, one of three true ones is found.
    assert_allclose(scores.pairwise(truth, found), 2 / (2 + 3))
    assert scores.b_cubed(truth, truth) == scores.pairwise(truth, truth) == 1.0
    alone = [np.arange(4)]
    assert scores.pairwise(truth, alone) == 0.0
