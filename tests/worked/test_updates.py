"""Updates done by hand on sentences of two words; equations of Mejer & Crammer (2010).

The labels are A and B. Sentence 1 is "u v" with the labels B A, sentence 2 is "u"
with the label A. Without weights all labelings are tied and A A is predicted, so
sentence 1 gives Delta = (u/B) - (u/A) + (B to A) - (A to A): v = 4 a, m = 0, d = 1.
"""

from math import sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcw._kernels.sequence_passes import arow_pass, cw_pass, pa_pass, perceptron_pass
from skcw._model.gaussian import Belief
from tests.kernels.problems import Corpus, offsets_of, pass_options, run_passes

A, B, C = range(3)
U, V = range(2)
BY_HAND = 1e-12


def corpus_of(*sentences, weight=None):
    """Return sentences of (word, label) pairs; each word is its only feature."""
    pairs = [pair for sentence in sentences for pair in sentence]
    words, labels = np.array(pairs, dtype=np.int32).T.copy()
    return Corpus(
        offsets_of([len(sentence) for sentence in sentences]),
        np.arange(len(pairs) + 1),
        words,
        None,
        labels,
        weight,
    )


FIRST = [(U, B), (V, A)]
SECOND = [(U, A)]


def learn(kernel, parameters, corpus, variance=None, n_labels=2, **options):
    start = Belief.start(2, n_labels, variance, dtype="float64")
    options = pass_options(corpus, n_labels, **options)
    return run_passes(kernel, start, corpus, options, *parameters)[0]


def assert_weights(belief, kind, u, v, transitions):
    rtol, atol = BY_HAND, 1e-15
    assert_allclose(belief.feature_weights(kind), [u, v], rtol=rtol, atol=atol)
    got = belief.transition_weights(kind)
    assert_allclose(got, transitions, rtol=rtol, atol=atol)


def test_equation_3_on_one_sentence():
    # phi = 1: phi' = 3/2, phi'' = 2, alpha = sqrt(4 * 2) / 8 = sqrt(2) / 4,
    # v+ = (-sqrt(2) + sqrt(2 + 16))^2 / 4 = 2, beta = alpha / sqrt(2) = 1/4.
    step = sqrt(2) / 4
    belief = learn(cw_pass, (1.0, "covariance"), corpus_of(FIRST), variance=1.0)
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])
    # 1 - beta / (1 + beta v) = 1 - (1/4) / 2
    shrunk = 7 / 8
    assert_weights(
        belief, "variance", [shrunk, shrunk], [1, 1], [[shrunk, 1], [shrunk, 1]]
    )


def test_equation_3_with_the_diagonal_of_the_precision():
    belief = learn(cw_pass, (1.0, "precision"), corpus_of(FIRST), variance=1.0)
    step, shrunk = sqrt(2) / 4, 1 / (1 + 1 / 4)
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])
    assert_weights(
        belief, "variance", [shrunk, shrunk], [1, 1], [[shrunk, 1], [shrunk, 1]]
    )


def test_the_best_diagonal_cw_step():
    # With v+ = 4 / (1 + beta) and m = 0: 4 alpha = sqrt(v+) and beta = alpha /
    # sqrt(v+) = 1/4, so sqrt(v+) = 4 / sqrt(5) and alpha = 1 / sqrt(5).
    belief = learn(cw_pass, (1.0, "optimal"), corpus_of(FIRST), variance=1.0)
    step, shrunk = 1 / sqrt(5), 4 / 5
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])
    assert_weights(
        belief, "variance", [shrunk, shrunk], [1, 1], [[shrunk, 1], [shrunk, 1]]
    )


def test_equation_3_on_a_second_sentence_with_a_margin():
    # Sentence 2 is taken for B: Delta = (u/A) - (u/B), m = -sqrt(2) / 2, v = 7/4.
    # alpha = (3 sqrt(2) / 4 + sqrt(1/8 + 7/2)) / (7/2); after the step the margin is
    # sqrt(v+) = m + alpha v, and beta = alpha / sqrt(v+).
    alpha = (3 * sqrt(2) / 4 + sqrt(29 / 8)) * 2 / 7
    beta = alpha / (-sqrt(2) / 2 + alpha * 7 / 4)
    u = -sqrt(2) / 4 + alpha * 7 / 8
    shrunk = 7 / 8 - beta * (7 / 8) ** 2 / (1 + beta * 7 / 4)
    belief = learn(cw_pass, (1.0, "covariance"), corpus_of(FIRST, SECOND), 1.0)
    step = sqrt(2) / 4
    assert_weights(belief, "mean", [u, -u], [0, 0], [[-step, 0], [step, 0]])
    assert_allclose(belief.feature_weights("variance")[U], shrunk, rtol=BY_HAND)
    assert_allclose(belief.transition_weights("variance")[:, A], 7 / 8, rtol=BY_HAND)


def test_a_soft_step_goes_part_of_the_way():
    # The first step would be alpha = sqrt(2) / 4; C = 1/2 leaves alpha = sqrt(2) / 8
    # (SCW-I). alpha v = sqrt(2) / 2, so sqrt(v+) = (sqrt(33/2) - sqrt(1/2)) / 2.
    step = sqrt(2) / 8
    beta = step / ((sqrt(33 / 2) - sqrt(1 / 2)) / 2)
    belief = learn(cw_pass, (1.0, "precision", 0.5), corpus_of(FIRST), variance=1.0)
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])
    shrunk = 1 / (1 + beta)
    assert_weights(
        belief, "variance", [shrunk, shrunk], [1, 1], [[shrunk, 1], [shrunk, 1]]
    )


def test_a_costly_token_asks_for_more_standard_deviations():
    # A cost of 2 makes phi 2: phi'' = 5, alpha = sqrt(4 * 4 * 5) / 20 = 1 / sqrt(5).
    belief = learn(cw_pass, (1.0, "covariance"), corpus_of(FIRST), 1.0, cost=[1, 2])
    step = 1 / sqrt(5)
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])


def test_equation_4_on_two_sentences():
    # Sentence 1, r = 1: alpha = 1 / (1 + 4), beta = 1, variances 1 - 1/5.
    # Sentence 2: m = -2/5, v = 8/5, alpha = (7/5) / (13/5) = 7/13, so u/A becomes
    # -1/5 + 7/13 * 4/5 = 3/13 and its variance 4/5 - (16/25) / (13/5) = 36/65.
    corpus = corpus_of(FIRST, SECOND)
    belief = learn(arow_pass, (1.0, "covariance"), corpus, variance=1.0)
    kept = [[-1 / 5, 0], [1 / 5, 0]]
    assert_weights(belief, "mean", [3 / 13, -3 / 13], [0, 0], kept)
    shrunk = [36 / 65, 36 / 65]
    assert_weights(belief, "variance", shrunk, [1, 1], [[4 / 5, 1], [4 / 5, 1]])
    # The average of -1/5 and 3/13 is 1/65; the transitions were the same twice.
    assert_weights(belief, "average", [1 / 65, -1 / 65], [0, 0], kept)
    assert belief.rounds == 2


def test_equation_4_with_the_diagonal_of_the_precision():
    # r = 2 and variance 1/2: alpha = 1 / (2 + 2), and 1 / (2 + 1/2) = 2/5.
    for diagonal in ("precision", "optimal"):
        belief = learn(arow_pass, (2.0, diagonal), corpus_of(FIRST), variance=0.5)
        step, shrunk = 1 / 8, 2 / 5
        assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])
        assert_weights(
            belief,
            "variance",
            [shrunk, shrunk],
            [0.5, 0.5],
            [[shrunk, 0.5], [shrunk, 0.5]],
        )


def test_a_word_that_occurs_twice_counts_twice():
    # "u u" with B B: Delta = 2 (u/B) - 2 (u/A) + (B to B) - (A to A), v = 10, d = 2,
    # alpha = 2/11; the variance of u/B is 1 - 4/11, of the transitions 1 - 1/11.
    corpus = corpus_of([(U, B), (U, B)])
    belief = learn(arow_pass, (1.0, "covariance"), corpus, variance=1.0)
    assert_weights(
        belief, "mean", [-4 / 11, 4 / 11], [0, 0], [[-2 / 11, 0], [0, 2 / 11]]
    )
    shrunk = [[10 / 11, 1], [1, 10 / 11]]
    assert_weights(belief, "variance", [7 / 11, 7 / 11], [1, 1], shrunk)


def test_half_a_copy_makes_half_a_step():
    # alpha = 1/5 and beta = 1, both halved: 1 - (1/2) / (1 + 4/2) = 5/6.
    corpus = corpus_of(FIRST, weight=np.array([0.5]))
    belief = learn(arow_pass, (1.0, "covariance"), corpus, variance=1.0)
    step, shrunk = 1 / 10, 5 / 6
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])
    assert_weights(
        belief, "variance", [shrunk, shrunk], [1, 1], [[shrunk, 1], [shrunk, 1]]
    )
    assert belief.rounds == 0.5


def test_cost_augmented_decoding_asks_for_a_margin():
    # Sentence 2 is right without weights. With its mistake made 3 better it is not:
    # d = 3, v = 2, alpha = 3 / (1 + 2).
    options = {"cost": [3, 1], "cost_unit": 1.0}
    corpus = corpus_of(SECOND)
    belief = learn(arow_pass, (1.0, "covariance"), corpus, 1.0, **options)
    assert_weights(belief, "mean", [1, -1], [0, 0], np.zeros((2, 2)))
    belief = learn(arow_pass, (1.0, "covariance"), corpus, 1.0, cost=[3, 1])
    assert_weights(belief, "mean", [0, 0], [0, 0], np.zeros((2, 2)))


def test_constraints_change_who_the_rival_is():
    # B may not follow A nor begin: sentence "u v" with B B is taken for A A, and with
    # A forbidden at the end for nothing but what is left, B B itself.
    corpus = corpus_of([(U, B), (V, B)])
    forbidden = np.zeros((4, 2))
    forbidden[A, B] = -np.inf
    belief = learn(perceptron_pass, (), corpus, forbidden=forbidden)
    assert_weights(belief, "mean", [-1, 1], [-1, 1], [[-1, 0], [0, 1]])
    forbidden[-1, A] = -np.inf
    belief = learn(perceptron_pass, (), corpus, forbidden=forbidden)
    assert_weights(belief, "mean", [0, 0], [0, 0], np.zeros((2, 2)))


def test_the_averaged_perceptron_on_two_sentences():
    belief = learn(perceptron_pass, (), corpus_of(FIRST, SECOND))
    assert_weights(belief, "mean", [0, 0], [0, 0], [[-1, 0], [1, 0]])
    assert_weights(belief, "average", [-0.5, 0.5], [0, 0], [[-1, 0], [1, 0]])


@pytest.mark.parametrize(("budget", "step"), [(0.1, 0.1), (0.25, 0.25), (9.0, 0.25)])
def test_pa_with_one_rival(budget, step):
    # The loss is 1 and the squared length of Delta is 4.
    belief = learn(pa_pass, (budget, 1), corpus_of(FIRST))
    assert_weights(belief, "mean", [-step, step], [0, 0], [[-step, 0], [step, 0]])


@pytest.mark.parametrize(("budget", "alpha"), [(0.4, 0.2), (5.0, 1 / 3)])
def test_pa_with_two_rivals(budget, alpha):
    # "u" with the label C against A and B: Gram matrix [[2, 1], [1, 2]], losses 1.
    belief = learn(pa_pass, (budget, 3), corpus_of([(U, C)]), n_labels=3)
    expected = [-alpha, -alpha, 2 * alpha]
    assert_allclose(belief.feature_weights("mean")[U], expected, rtol=1e-9)
