"""The Gaussian over weights: growing, opening and closing, averaging."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.sequence_passes import cw_pass
from skcw._model.gaussian import Belief, padded
from skcw._model.mixing import BeliefMean
from tests.kernels.problems import (
    as_vector,
    bytes_of,
    pass_options,
    random_belief,
    random_corpus,
    run_passes,
)
from tests.reference.beliefs import mean_belief

KINDS = ("mean", "variance", "average")
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])
ROUNDING = {"float32": 1e-5, "float64": 1e-12}


def trained(seed, n_labels=3, n_features=9, dtype="float64", rounds=6.0):
    """Return a belief with an average of its own and some untouched features."""
    rng = np.random.default_rng(seed)
    belief = random_belief(rng, n_features, n_labels, dtype=dtype)
    rows = belief.mean.reshape(-1, belief.width).copy()
    rows[: belief.width] *= 0.7
    rows[belief.width + 1 :] *= rng.uniform(size=(len(rows) - belief.width - 1, 1))
    belief.average, belief.rounds = rows.ravel(), rounds
    return belief


@given(st.integers(1, 200))
def test_rows_are_padded_to_the_next_multiple_of_eight(n_labels):
    assert padded(n_labels) % 8 == 0
    assert 0 <= padded(n_labels) - n_labels < 8


@DTYPES
@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 25])
def test_the_prior_has_no_weights_and_one_variance(n_labels, dtype):
    belief = Belief.start(5, n_labels, 0.25, dtype=dtype)
    for kind, value in (("mean", 0.0), ("average", 0.0), ("variance", 0.25)):
        for weights in (belief.feature_weights(kind), belief.transition_weights(kind)):
            assert weights.dtype == dtype
            assert_array_equal(weights, value)
    assert belief.feature_weights().shape == (5, n_labels)
    assert belief.transition_weights().shape == (n_labels, n_labels)
    assert belief.rounds == 0


def test_without_averaging_the_mean_predicts():
    belief = Belief.start(2, 2, averaging=False)
    assert belief.weights is belief.mean
    belief = Belief.start(2, 2)
    assert belief.weights is belief.average


@DTYPES
@pytest.mark.parametrize(
    ("old", "new"),
    [(1, 2), (3, 3), (7, 8), (8, 9), (8, 16), (9, 25), (3, 40), (16, 17)],
)
@pytest.mark.parametrize("more_features", [0, 4])
def test_growing_keeps_weights_and_gives_the_prior_to_what_is_new(
    old, new, more_features, dtype
):
    belief = trained(0, n_labels=old, dtype=dtype)
    grown = belief.extended(9 + more_features, new)
    assert grown.n_labels == new
    assert grown.rounds == belief.rounds
    for kind, prior in (("mean", 0.0), ("average", 0.0), ("variance", 1.5)):
        features, transitions = (
            grown.feature_weights(kind),
            grown.transition_weights(kind),
        )
        assert features.dtype == dtype
        assert features.shape == (9 + more_features, new)
        assert_array_equal(features[:9, :old], belief.feature_weights(kind))
        assert_array_equal(transitions[:old, :old], belief.transition_weights(kind))
        assert_array_equal(features[9:], prior)
        assert_array_equal(features[:, old:], prior)
        assert_array_equal(transitions[old:], prior)
        assert_array_equal(transitions[:, old:], prior)


@pytest.mark.parametrize(("old", "new"), [(3, 3), (3, 5), (7, 9), (8, 17)])
def test_a_grown_belief_learns_as_if_it_had_always_been_so_large(old, new):
    rng = np.random.default_rng(1)
    early = random_corpus(rng, old, [3, 5, 2], 6, real_values=True)
    late = random_corpus(rng, new, [4, 1, 6], 9, real_values=True)
    beliefs = []
    for n_features, n_labels in ((6, old), (9, old)):
        belief = Belief.start(n_features, n_labels, 1.0, dtype="float64")
        options = pass_options(early, n_labels)
        belief, _ = run_passes(cw_pass, belief, early, options, 0.5, "covariance")
        belief = belief.extended(9, new)
        options = pass_options(late, new)
        belief, _ = run_passes(cw_pass, belief, late, options, 0.5, "covariance")
        beliefs.append(belief)
    for kind in KINDS:
        assert_array_equal(as_vector(beliefs[0], kind), as_vector(beliefs[1], kind))


@DTYPES
@pytest.mark.parametrize("rounds", [0.3, 1.0, 7.0, 1e6])
def test_opening_and_closing_preserves_a_belief(dtype, rounds):
    belief = trained(2, dtype=dtype, rounds=rounds)
    opened, n_rows = belief.expanded_for_training()
    closed = opened.compacted(n_rows)
    assert closed.rounds == belief.rounds
    assert_array_equal(closed.row_of, belief.row_of)
    assert_array_equal(closed.mean, belief.mean)
    assert_array_equal(closed.variance, belief.variance)
    rounding = ROUNDING[dtype]
    assert_allclose(closed.average, belief.average, rtol=rounding, atol=rounding)
    assert closed.average.dtype == dtype


def test_a_belief_that_saw_nothing_opens_and_closes_unchanged():
    belief = Belief.start(4, 3, 1.0)
    opened, n_rows = belief.expanded_for_training()
    assert bytes_of(opened.compacted(n_rows)) == bytes_of(belief)


def test_an_open_belief_has_room_for_every_feature():
    belief = trained(3)
    opened, n_rows = belief.expanded_for_training()
    untouched = np.count_nonzero(belief.row_of == belief.width)
    assert untouched > 0
    assert n_rows == belief.n_rows
    assert len(opened.mean) == (n_rows + untouched) * belief.width
    assert_array_equal(opened.mean[len(belief.mean) :], 0.0)


def test_training_an_opened_belief_leaves_the_closed_one_alone():
    rng = np.random.default_rng(4)
    belief, corpus = trained(4), random_corpus(rng, 3, [4, 5], 9)
    before = bytes_of(belief)
    run_passes(cw_pass, belief, corpus, pass_options(corpus, 3), 0.5, "covariance")
    assert bytes_of(belief) == before


def test_weights_that_sum_to_less_than_one_round_are_averaged_too():
    rng = np.random.default_rng(5)
    corpus = random_corpus(rng, 3, [4, 5, 3], 9, real_values=True)
    start = Belief.start(9, 3, 1.0, dtype="float64")
    options = pass_options(corpus, 3)
    light = corpus._replace(weight=np.array([0.2, 0.3, 0.1]))
    belief, _ = run_passes(cw_pass, start, light, options, 0.5, "covariance")
    first, _ = run_passes(
        cw_pass, start, light, pass_options(corpus, 3, order=[0]), 0.5, "covariance"
    )
    second, _ = run_passes(
        cw_pass, start, light, pass_options(corpus, 3, order=[0, 1]), 0.5, "covariance"
    )
    shares = ((0.2, first), (0.3, second), (0.1, belief))
    expected = sum(share * as_vector(b, "mean") for share, b in shares) / 0.6
    assert_allclose(as_vector(belief, "average"), expected, rtol=1e-9, atol=1e-12)


@DTYPES
def test_a_recast_belief_has_the_same_weights_in_another_precision(dtype):
    belief = trained(8)
    recast = belief.as_dtype(dtype, averaging=True)
    for kind in KINDS:
        assert getattr(recast, kind).dtype == dtype
        assert_array_equal(getattr(recast, kind), getattr(belief, kind).astype(dtype))


def test_a_belief_recast_to_average_counts_its_mean_as_the_average_so_far():
    belief = trained(9)
    without = belief.as_dtype("float64", averaging=False)
    assert without.average is None
    again = without.as_dtype("float64", averaging=True)
    assert_array_equal(again.average, belief.mean)
    assert again.rounds == belief.rounds


def test_a_sound_belief_passes_its_check():
    for belief in (trained(10), Belief.start(0, 1), Belief.start(3, 9, 1.0)):
        belief.check()


@pytest.mark.parametrize("name", KINDS)
def test_arrays_that_do_not_fit_together_are_refused(name):
    belief = trained(11)
    setattr(belief, name, getattr(belief, name)[: -belief.width])
    with pytest.raises(ValueError, match="do not have the same rows"):
        belief.check()


@pytest.mark.parametrize("row", [-1, 0, 7, 10**6])
def test_a_feature_with_a_row_that_is_not_there_is_refused(row):
    belief = trained(12)
    belief.row_of[3] = row
    with pytest.raises(ValueError, match="a row that does not exist"):
        belief.check()


@DTYPES
@pytest.mark.parametrize("n_labels", [3, 8, 9])
def test_the_mean_of_beliefs_averages_means_and_precisions(n_labels, dtype):
    # Each seed touches other features.
    beliefs = [trained(seed, n_labels=n_labels, dtype=dtype) for seed in range(4)]
    assert len({tuple(b.row_of == b.width) for b in beliefs}) > 1
    total = BeliefMean()
    for belief in beliefs:
        total.add(belief)
    result = total.result()
    dense = {kind: [as_vector(b, kind) for b in beliefs] for kind in KINDS}
    mean, variance = mean_belief(dense["mean"], dense["variance"])
    average, _ = mean_belief(dense["average"], dense["variance"])
    rounding = {"rtol": 1e-6 if dtype == "float32" else 1e-12, "atol": 1e-7}
    assert_allclose(as_vector(result, "mean"), mean, **rounding)
    assert_allclose(as_vector(result, "average"), average, **rounding)
    assert_allclose(as_vector(result, "variance"), variance, **rounding)
    assert result.mean.dtype == dtype
    assert result.rounds == beliefs[0].rounds


def test_the_mean_of_beliefs_has_unique_rows_and_keeps_the_blank_one():
    total = BeliefMean()
    for seed in range(3):
        total.add(trained(seed, n_features=30))
    result = total.result()
    rows = result.row_of[result.row_of != result.width]
    assert_array_equal(np.sort(rows), np.arange(result.width + 1, result.n_rows))
    assert_array_equal(result.mean.reshape(-1, result.width)[result.width], 0.0)
    assert_allclose(
        result.variance.reshape(-1, result.width)[result.width], 1.5, rtol=1e-12
    )


def test_the_mean_of_one_belief_is_itself():
    belief, total = trained(6), BeliefMean()
    total.add(belief)
    for kind in KINDS:
        assert_allclose(
            as_vector(total.result(), kind), as_vector(belief, kind), rtol=1e-12
        )


def test_averaging_does_not_change_what_was_averaged():
    beliefs, total = [trained(seed) for seed in range(3)], BeliefMean()
    before = [bytes_of(belief) for belief in beliefs]
    for belief in beliefs:
        total.add(belief)
    total.result()
    assert [bytes_of(belief) for belief in beliefs] == before


def test_the_order_of_beliefs_changes_only_the_rounding():
    beliefs = [trained(seed) for seed in range(3)]
    results = []
    for order in ([0, 1, 2], [2, 0, 1]):
        total = BeliefMean()
        for i in order:
            total.add(beliefs[i])
        results.append(total.result())
    for kind in KINDS:
        assert_allclose(
            as_vector(results[0], kind),
            as_vector(results[1], kind),
            rtol=1e-12,
            atol=1e-15,
        )


def test_beliefs_without_variance_or_average_are_averaged_too():
    total = BeliefMean()
    for value in (1.0, 3.0):
        belief = Belief.start(2, 2, averaging=False, dtype="float64")
        belief.mean[:2] = value
        total.add(belief)
    result = total.result()
    assert result.variance is None
    assert result.average is None
    assert_array_equal(result.transition_weights()[0], 2.0)


def test_the_mean_of_equal_beliefs_continues_training_as_one_of_them():
    rng = np.random.default_rng(7)
    corpus, belief = random_corpus(rng, 3, [4, 5, 2], 9), trained(7)
    total = BeliefMean()
    for _ in range(2):
        total.add(belief)
    one, other = (
        run_passes(cw_pass, b, corpus, pass_options(corpus, 3), 0.5, "covariance")[0]
        for b in (belief, total.result())
    )
    for kind in KINDS:
        assert_allclose(
            as_vector(one, kind), as_vector(other, kind), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.1e24, -1.1e24])
def test_weights_that_could_not_be_saved_are_told_after_a_training(bad):
    belief = Belief.start(2, 2, initial_variance=1.0)
    belief.check_finite()
    belief.mean[-1] = bad
    with pytest.raises(ValueError, match="weights grew without bound"):
        belief.check_finite()
