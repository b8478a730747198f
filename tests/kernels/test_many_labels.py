"""Viterbi with many labels: what cannot be on a best path is left out, exactly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.kernels.problems import EXACT, random_lattice
from tests.kernels.test_lattice import decode, each_sequence, forced_scores
from tests.reference import lattice as twin

# Below and above the number from which labels are left out.
N_LABELS = (63, 64, 65, 130)
LENGTHS = (3, 0, 1, 2, 12)


def lattice(kind, n_labels, dtype):
    """Return scores, transitions and offsets of sequences of a kind."""
    rng = np.random.default_rng(n_labels)
    scores, trans, offsets = random_lattice(rng, n_labels, LENGTHS)
    links = trans[:n_labels, :n_labels]
    tokens = scores[:, :n_labels]
    if kind == "nearly all matter":
        links *= 10.0
    if kind == "few matter":
        links *= 0.1
        tokens *= 10.0
    if kind == "ties":
        links[:] = rng.integers(-1, 2, links.shape)
        tokens[:] = rng.integers(-2, 3, tokens.shape)
    if kind == "zeros":
        links[:] = tokens[:] = 0.0
    if kind == "forbidden steps":
        links[rng.random(links.shape) < 0.1] = -np.inf
    if kind == "forbidden labels":
        tokens[rng.random(tokens.shape) < 0.5] = -np.inf
    if kind == "one way":
        # The best label before leads nowhere but to one other.
        links[0] = -np.inf
        links[0, 1] = 0.0
        tokens[:, 0] = 5.0
    return scores.astype(dtype), trans.astype(dtype), offsets


KINDS = ["as it comes", "nearly all matter", "few matter", "ties", "zeros"]
KINDS += ["forbidden steps", "forbidden labels", "one way"]


def plain_best(scores, trans):
    """Return the best labeling and its score, by all steps in the same precision."""
    best = [scores[0]]
    for row in scores[1:]:
        best.append((best[-1][:, None] + trans).max(axis=0) + row)
    labels = [int(np.argmax(best[-1]))]
    for before in best[-2::-1]:
        labels.append(int(np.argmax(before + trans[:, labels[-1]])))
    return labels[::-1], best[-1].max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_labels", N_LABELS)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_scores_are_those_of_all_steps_bit_for_bit(kind, n_labels, dtype):
    scores, trans, offsets = lattice(kind, n_labels, dtype)
    labels, total = decode(scores, trans, n_labels, offsets)
    for s, (tokens, *one) in enumerate(each_sequence(scores, trans, n_labels, offsets)):
        if tokens.start == tokens.stop:
            continue
        expected, score = plain_best(*one)
        assert_array_equal(labels[tokens], expected)
        assert total[s] == float(score)


@pytest.mark.parametrize("n_labels", N_LABELS)
@pytest.mark.parametrize("kind", ["as it comes", "few matter", "forbidden steps"])
def test_max_marginals_of_many_labels_equal_their_twin(kind, n_labels):
    scores, trans, offsets = lattice(kind, n_labels, "float64")
    forced = forced_scores(scores, trans, n_labels, offsets)
    for tokens, *one in each_sequence(scores, trans, n_labels, offsets):
        assert_allclose(forced[tokens], twin.max_marginals(*one), rtol=EXACT)
