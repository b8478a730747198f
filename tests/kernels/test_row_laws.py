"""What holds for every pass over flat rows, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.steps import solve_variance
from tests.kernels.row_problems import (
    GAUSSIAN,
    LEARNERS,
    PLAIN,
    Learner,
    arow,
    compressed,
    cw,
    random_rows,
    random_tables,
    soft_cw,
    start,
)
from tests.reference import steps

N_FEATURES = 6
seeds = st.integers(0, 10**6)
phis = st.floats(0.05, 4)
label_counts = st.sampled_from([2, 3, 5])
every_learner = pytest.mark.parametrize("name", LEARNERS)
every_gaussian = pytest.mark.parametrize("name", GAUSSIAN)
each_form = pytest.mark.parametrize("step", ["variance", "stdev"])
few = settings(max_examples=8)
some = settings(max_examples=30)


def problem(seed, n_labels, n_rows=10):
    """Return a random model, dense rows and their labels."""
    rng = np.random.default_rng(seed)
    X, gold = random_rows(rng, n_rows, N_FEATURES, n_labels)
    return random_tables(rng, N_FEATURES, n_labels), X, gold


def asked(step, phi, spread):
    return phi * (spread if step == "variance" else np.sqrt(spread))


@given(st.floats(-20, 20), st.floats(1e-3, 1e3), phis)
def test_the_variance_step_solves_equation_7(margin, spread, phi):
    alpha, beta = solve_variance(margin, spread, phi)
    # The paper's form cancels where alpha is small.
    border = 1e-9 * (1 + abs(margin)) / (phi * spread)
    expected = steps.variance_step(margin, spread, phi)
    assert_allclose(alpha, expected[0], rtol=1e-9, atol=border)
    assert_allclose(beta, expected[1], rtol=1e-9, atol=2 * phi * border)


@given(st.floats(-1e4, 1e4), st.floats(1e-8, 1e8), st.floats(1e-3, 50))
def test_the_variance_step_keeps_its_law_at_any_scale(margin, spread, phi):
    alpha, beta = solve_variance(margin, spread, phi)
    assert alpha >= 0 and beta >= 0
    if margin >= phi * spread:
        assert alpha == beta == 0
        return
    # After the step v+ = v / (1 + beta v), by Sherman and Morrison, and m+ = phi v+.
    reached = margin + alpha * spread
    scale = max(abs(margin), phi * spread)
    wanted = phi * spread / (1 + beta * spread)
    assert_allclose(reached, wanted, rtol=1e-8, atol=1e-9 * scale)


@each_form
@pytest.mark.parametrize("diagonal", ["precision", "covariance", "optimal"])
@some
@given(seeds, phis, st.floats(-3, 3).filter(lambda x: abs(x) > 0.01))
def test_after_a_row_of_one_feature_the_margin_is_as_asked(
    step, diagonal, seed, phi, value
):
    tables = random_tables(np.random.default_rng(seed), 1, 2)
    rows = compressed([[value]], [1], intercept=False)
    before = value * tables.mean[0, 0]
    after, _ = cw("sequential", step, diagonal, phi).run(tables, rows, 1)
    margin, spread = value * after.mean[0, 0], value**2 * after.variance[0, 0]
    if before < asked(step, phi, value**2 * tables.variance[0, 0]):
        assert_allclose(margin, asked(step, phi, spread), rtol=1e-7)
    else:
        assert_array_equal(after.mean, tables.mean)


@each_form
@some
@given(seeds, phis, label_counts)
def test_after_the_best_diagonal_update_the_margin_is_as_asked(
    step, seed, phi, n_labels
):
    tables, X, gold = problem(seed, n_labels, n_rows=1)
    row, label = np.append(X[0], 1.0), gold[0]
    learner = cw("sequential", step, "optimal", phi)

    def lead(tables, rival):
        scores, spreads = row @ tables.mean, row**2 @ tables.variance
        if n_labels == 2:
            return (scores[0] if label else -scores[0]), spreads[0]
        return scores[label] - scores[rival], spreads[label] + spreads[rival]

    scores = row @ tables.mean[:, : tables.n_columns]
    others = [c for c in range(n_labels) if c != label]
    rival = max(others, key=lambda c: scores[c]) if n_labels > 2 else None
    margin, spread = lead(tables, rival)
    after, _ = learner.run(tables, compressed(X, gold), 1)
    if margin < asked(step, phi, spread):
        margin, spread = lead(after, rival)
        assert_allclose(margin, asked(step, phi, spread), rtol=1e-7)
    else:
        assert_array_equal(after.mean, tables.mean)


@each_form
@some
@given(seeds, phis, label_counts, st.floats(0.01, 100))
def test_a_soft_update_is_the_hard_one_or_shorter(step, seed, phi, n_labels, budget):
    tables, X, gold = problem(seed, n_labels, n_rows=1)
    rows = compressed(X, gold)
    hard, _ = cw("sequential", step, "precision", phi).run(tables, rows, 1)
    soft, _ = soft_cw("sequential", step, "precision", phi, budget).run(tables, rows, 1)
    moved, longest = soft.mean - tables.mean, hard.mean - tables.mean
    assert (moved * longest >= 0).all()
    assert (np.abs(moved) <= np.abs(longest) * (1 + 1e-9)).all()
    assert (soft.variance >= hard.variance * (1 - 1e-9)).all()
    assert (moved != 0).any() == (longest != 0).any()


@every_gaussian
@few
@given(seeds, label_counts, st.sampled_from([0.01, 1.0, 100.0]))
def test_variance_stays_positive_and_never_grows(name, seed, n_labels, scale):
    tables, X, gold = problem(seed, n_labels)
    for _ in range(3):
        after, _ = GAUSSIAN[name].run(tables, compressed(scale * X, gold), 3)
        assert (after.variance > 0).all()
        assert (after.variance <= tables.variance).all()
        assert np.isfinite(after.mean).all()
        tables = after


@every_gaussian
@pytest.mark.parametrize("n_labels", [2, 4])
def test_variance_stays_positive_in_float32_over_many_passes(name, n_labels):
    rng = np.random.default_rng(0)
    X, gold = random_rows(rng, 12, N_FEATURES, n_labels)
    tables = start(N_FEATURES, n_labels, dtype=np.float32)
    for _ in range(30 if "exact" in name else 200):
        tables, _ = GAUSSIAN[name].run(tables, compressed(X, gold), 3)
    assert (tables.variance > 0).all()
    assert (tables.variance <= 1).all()
    assert np.isfinite(tables.mean).all()


@every_learner
def test_features_that_no_row_has_keep_their_prior(name):
    tables, X, gold = problem(1, 3)
    X[:, 2] = 0.0
    after, _ = LEARNERS[name].run(tables, compressed(X, gold), 2)
    assert_array_equal(after.mean[2], tables.mean[2])
    assert_array_equal(after.variance[2], tables.variance[2])


@every_learner
@few
@given(seeds, label_counts)
def test_rows_that_are_satisfied_move_nothing(name, seed, n_labels):
    tables, X, gold = problem(seed, n_labels)
    X[:, 0] = 1 + np.abs(X[:, 0])
    gold[:] = 1
    # The label leads by 1000 on the first feature: any constraint is content.
    tables.mean[0, 1 if n_labels > 2 else 0] += 1000.0
    after, wrong = LEARNERS[name].run(tables, compressed(X, gold), 3)
    assert wrong == 0
    assert after.rounds == len(X)
    for before, now in zip(tables[:3], after[:3], strict=True):
        assert_array_equal(before, now)


@every_learner
@few
@given(seeds, st.sampled_from([3, 5]))
def test_labels_in_another_order_give_the_same_weights(name, seed, n_labels):
    tables, X, gold = problem(seed, n_labels)
    order = np.random.default_rng(seed + 1).permutation(n_labels)
    place = np.argsort(order)
    columns = np.append(order, np.arange(n_labels, tables.mean.shape[1]))
    moved = tables._replace(
        **{
            part: getattr(tables, part)[:, columns].copy()
            for part in ("mean", "variance", "drift")
        }
    )
    here, wrong = LEARNERS[name].run(tables, compressed(X, gold), 2)
    there, as_wrong = LEARNERS[name].run(moved, compressed(X, place[gold]), 2)
    assert wrong == as_wrong
    for part in ("mean", "variance", "drift"):
        now = getattr(there, part)
        assert_allclose(now, getattr(here, part)[:, columns], rtol=1e-9, atol=1e-12)


@every_learner
@few
@given(seeds)
def test_two_classes_in_another_order_give_the_opposite_weights(name, seed):
    tables, X, gold = problem(seed, 2)
    opposite = tables._replace(mean=-tables.mean)
    here, _ = LEARNERS[name].run(tables, compressed(X, gold), 1)
    there, _ = LEARNERS[name].run(opposite, compressed(X, 1 - gold), 1)
    assert_array_equal(here.mean, -there.mean)
    assert_array_equal(here.variance, there.variance)


@pytest.mark.parametrize(
    ("learner", "manner"), [(cw, "parallel"), (cw, "joint"), (arow, "parallel")]
)
@pytest.mark.parametrize("diagonal", ["precision", "covariance"])
@few
@given(seeds, label_counts)
def test_with_one_rival_all_manners_agree(learner, manner, diagonal, seed, n_labels):
    tables, X, gold = problem(seed, n_labels)
    in_turn = learner("sequential", diagonal=diagonal)
    at_once = learner(manner, diagonal=diagonal)
    one, _ = in_turn.run(tables, compressed(X, gold), 1)
    other, _ = at_once.run(tables, compressed(X, gold), 1)
    assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)
    assert_allclose(one.variance, other.variance, rtol=1e-9)


@few
@given(seeds, label_counts)
def test_exact_arow_with_one_rival_is_the_single_update(seed, n_labels):
    tables, X, gold = problem(seed, n_labels)
    single, _ = arow().run(tables, compressed(X, gold), 1)
    exact, _ = arow("exact").run(tables, compressed(X, gold), 1)
    assert_allclose(single.mean, exact.mean, rtol=1e-9, atol=1e-12)
    assert_allclose(single.variance, exact.variance, rtol=1e-9)


STDEV = {name: learner for name, learner in GAUSSIAN.items() if "stdev" in name}


def from_prior(learner, variance):
    """Return the learner for tables that start with this variance."""
    if len(learner.parameters) < 6:
        return learner
    return learner._replace(parameters=(*learner.parameters[:-1], variance))


@pytest.mark.parametrize("name", STDEV)
@few
@given(seeds, label_counts, st.sampled_from([1e-6, 0.01, 4.0, 1e6]))
def test_stdev_weights_are_in_units_of_the_initial_deviation(
    name, seed, n_labels, variance
):
    _, X, gold = problem(seed, n_labels)
    rows = compressed(X, gold)
    one, other = (
        from_prior(STDEV[name], prior).run(start(N_FEATURES, n_labels, prior), rows, 2)[
            0
        ]
        for prior in (1.0, variance)
    )
    rtol = 1e-4 if "exact" in name else 1e-8
    scaled = other.mean / np.sqrt(variance)
    assert_allclose(scaled, one.mean, rtol=rtol, atol=rtol)
    assert_allclose(other.variance / variance, one.variance, rtol=rtol)


@pytest.mark.parametrize("name", [name for name in GAUSSIAN if "AROW" in name])
@few
@given(seeds, label_counts, st.sampled_from([1e-3, 0.2, 50.0]))
def test_arow_knows_only_the_ratio_of_r_and_the_initial_variance(
    name, seed, n_labels, factor
):
    _, X, gold = problem(seed, n_labels)
    rows, learner = compressed(X, gold), GAUSSIAN[name]
    one, _ = learner.run(start(N_FEATURES, n_labels), rows, 2)
    r, *rest = learner.parameters
    learner = learner._replace(parameters=(factor * r, *rest))
    other, _ = learner.run(start(N_FEATURES, n_labels, factor), rows, 2)
    assert_allclose(other.mean, one.mean, rtol=1e-8, atol=1e-9)
    assert_allclose(other.variance / factor, one.variance, rtol=1e-8)


@pytest.mark.parametrize("name", STDEV)
@pytest.mark.parametrize("scale", [1e-3, 7.0, 1e4])
def test_stdev_weights_do_not_depend_on_the_scale_of_the_features(name, scale):
    _, X, gold = problem(3, 3)
    one, _ = STDEV[name].run(
        start(N_FEATURES, 3), compressed(X, gold, intercept=False), 2
    )
    other, _ = STDEV[name].run(
        start(N_FEATURES, 3), compressed(scale * X, gold, intercept=False), 2
    )
    rtol = 1e-4 if "exact" in name else 1e-8
    assert_allclose(other.mean, one.mean, rtol=rtol, atol=rtol)


@every_learner
@few
@given(seeds, label_counts)
def test_a_weight_of_two_is_two_copies_and_zero_is_absence(name, seed, n_labels):
    tables, X, gold = problem(seed, n_labels)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(X)).astype(float)
    copies = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted, _ = LEARNERS[name].run(tables, compressed(X, gold, weight=weight), 2)
    copied, _ = LEARNERS[name].run(tables, compressed(X[copies], gold[copies]), 2)
    assert weighted.rounds == copied.rounds
    for one, other in zip(weighted[:3], copied[:3], strict=True):
        assert_array_equal(one, other)


@every_learner
@few
@given(seeds, label_counts, st.integers(1, 9))
def test_a_pass_in_pieces_is_a_pass(name, seed, n_labels, cut):
    tables, X, gold = problem(seed, n_labels)
    whole, _ = LEARNERS[name].run(tables, compressed(X, gold), 2)
    piece, _ = LEARNERS[name].run(tables, compressed(X[:cut], gold[:cut]), 2)
    pieces, _ = LEARNERS[name].run(piece, compressed(X[cut:], gold[cut:]), 2)
    for one, other in zip(whole[:4], pieces[:4], strict=True):
        assert_array_equal(one, other)


@few
@given(seeds, label_counts, st.integers(1, 4))
def test_pa_never_moves_more_than_its_budget(seed, n_labels, k):
    tables, X, gold = problem(seed, n_labels, n_rows=1)
    budget = 0.05
    learner = Learner("pa", None, budget, (budget,))
    after, _ = learner.run(tables, compressed(X, gold), k)
    column = gold[0] if n_labels > 2 else 0
    moved = np.abs(after.mean - tables.mean)[:, column]
    assert (moved <= budget * np.abs(np.append(X[0], 1.0)) + 1e-12).all()


@few
@given(seeds, label_counts)
def test_pa_with_enough_budget_gets_its_margin_from_every_rival(seed, n_labels):
    tables, X, gold = problem(seed, n_labels, n_rows=1)
    learner = Learner("pa", None, 1e6, (1e6,))
    after, _ = learner.run(tables, compressed(X, gold), n_labels)
    scores = np.append(X[0], 1.0) @ after.mean[:, : after.n_columns]
    if n_labels == 2:
        assert (scores[0] if gold[0] else -scores[0]) >= 1 - 1e-9
    else:
        others = np.arange(n_labels) != gold[0]
        assert (scores[gold[0]] - scores[others] >= 1 - 1e-9).all()


def test_the_perceptron_learns_the_same_from_rows_of_any_length():
    # Without an intercept all rows of one length only scale the weights.
    tables, X, gold = start(N_FEATURES, 3), *problem(5, 3)[1:]
    one, _ = PLAIN["perceptron"].run(tables, compressed(X, gold, intercept=False), 1)
    other, _ = PLAIN["perceptron"].run(
        tables, compressed(8 * X, gold, intercept=False), 1
    )
    assert_array_equal(other.mean, 8 * one.mean)
