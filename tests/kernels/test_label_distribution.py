"""The distribution over labels: against its twin, against draws, and its laws."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr, softmax
from scipy.stats import binom

from skcw._kernels.label_distribution import (
    drawn_distribution,
    exact_distribution,
    softmax_loss,
)
from tests.reference import label_distribution as twin

GUMBEL = np.pi**2 / 6
# What the kernel promises.
ACCURACY = 1e-8
SUM = 1e-12
# How often a right kernel fails a test by draws, over all seeds.
FALSE_ALARMS = 1e-6


def labels_of(deviations, min_size=1, max_size=7):
    """Draw a row: means within some deviations of a label, deviations, a place."""
    label = st.tuples(st.floats(-12, 12), deviations)
    rows = st.lists(label, min_size=min_size, max_size=max_size)
    return st.builds(row_of, rows, st.integers(0, 6), st.sampled_from([0.0, 1.0, 1e3]))


def row_of(labels, unit, place):
    """Measure the means in deviations of one of the labels."""
    ahead, deviation = np.array(labels).T
    mean = place + ahead * deviation[unit % len(labels)]
    return mean[None], deviation[None] ** 2


alike = st.floats(0.2, 1.0)
any_ratio = st.floats(-6, 6).map(lambda exponent: 10**exponent)
some_fixed = st.one_of(st.just(0.0), any_ratio)


def random_rows(seed, n_rows, n_labels, ratio=5.0):
    rng = np.random.default_rng(seed)
    deviation = ratio ** rng.uniform(-0.5, 0.5, size=(n_rows, n_labels))
    return 2 * rng.normal(size=(n_rows, n_labels)), deviation**2


@settings(max_examples=150)
@given(st.one_of(labels_of(alike), labels_of(any_ratio), labels_of(some_fixed)))
def test_shares_are_those_of_the_twin(row):
    expected = twin.exact_distribution(row[0][0], row[1][0])
    assert_allclose(expected.sum(), 1, rtol=ACCURACY)
    assert_allclose(exact_distribution(*row)[0], expected, atol=ACCURACY)


@pytest.mark.parametrize("n_labels", [20, 70])
@pytest.mark.parametrize("ratio", [1.0, 5.0, 1e3, 1e12])
def test_many_labels_are_those_of_the_twin(n_labels, ratio):
    rows = random_rows(n_labels, 2, n_labels, ratio)
    expected = [twin.exact_distribution(*row) for row in zip(*rows, strict=True)]
    assert_allclose(exact_distribution(*rows), expected, atol=ACCURACY)


@given(st.one_of(labels_of(any_ratio), labels_of(some_fixed)))
def test_shares_are_a_distribution(row):
    shares = exact_distribution(*row)
    assert (shares >= 0).all()
    assert_allclose(shares.sum(), 1, rtol=SUM)


@given(labels_of(some_fixed), st.randoms())
def test_the_order_of_the_labels_does_not_matter(row, random):
    order = list(range(row[0].shape[1]))
    random.shuffle(order)
    turned = exact_distribution(*(np.ascontiguousarray(part[:, order]) for part in row))
    assert_allclose(turned, exact_distribution(*row)[:, order], atol=2 * ACCURACY)


@given(labels_of(some_fixed), st.integers(-200, 200))
def test_the_scale_of_the_scores_does_not_matter(row, exponent):
    scaled = row[0] * 2.0**exponent, row[1] * 4.0**exponent
    assert_allclose(exact_distribution(*scaled), exact_distribution(*row), rtol=1e-9)


@given(st.lists(st.integers(-99, 99), min_size=1), st.integers(-(2**40), 2**40))
def test_a_number_added_to_all_scores_does_not_matter(scores, shift):
    scores = np.array([scores], dtype=float)
    spreads = 1.0 + np.arange(scores.size).reshape(scores.shape)
    moved = exact_distribution(scores + shift, spreads)
    assert_array_equal(moved, exact_distribution(scores, spreads))


@given(labels_of(any_ratio, min_size=2), st.integers(0, 6), st.floats(0, 3))
def test_a_higher_mean_takes_from_all_others(row, raised, by):
    raised %= row[0].shape[1]
    higher = row[0].copy()
    higher[0, raised] += by * np.sqrt(row[1][0, raised])
    gain = exact_distribution(higher, row[1])[0] - exact_distribution(*row)[0]
    assert gain[raised] >= -2 * ACCURACY
    assert (np.delete(gain, raised) <= 2 * ACCURACY).all()


@given(labels_of(alike, min_size=2))
def test_of_equal_variances_the_higher_mean_has_more(row):
    shares = exact_distribution(row[0], np.ones_like(row[1]))[0]
    ranked = shares[np.argsort(row[0][0])]
    assert (np.diff(ranked) >= -2 * ACCURACY).all()


@given(st.floats(-35, 35), any_ratio, some_fixed)
@example(35.0, 1e-6, 1e6)
def test_two_labels_have_the_closed_form_far_into_the_tails(z, one, two):
    scores = np.array([[z * np.hypot(one, two), 0.0]])
    shares = exact_distribution(scores, np.array([[one**2, two**2]]))
    assert_allclose(shares, [[ndtr(z), ndtr(-z)]], rtol=1e-10)


@given(labels_of(any_ratio), st.integers(1, 3), st.floats(-3, 3))
def test_fixed_scores_win_when_all_others_are_below_and_share(row, n_fixed, ahead):
    place = row[0][0, 0] + ahead * np.sqrt(row[1][0, 0])
    scores = np.append(row[0], [[place] * n_fixed + [place - 1]], axis=1)
    spreads = np.append(row[1], np.zeros((1, n_fixed + 1)), axis=1)
    shares = exact_distribution(scores, spreads)[0, row[0].size :]
    expected = ndtr((place - row[0]) / np.sqrt(row[1])).prod() / n_fixed
    assert_allclose(shares, [expected] * n_fixed + [0], atol=ACCURACY)


def test_rows_do_not_depend_on_each_other():
    scores, spreads = random_rows(0, 40, 6, 1e4)
    together = exact_distribution(scores, spreads)
    for i in range(len(scores)):
        alone = exact_distribution(scores[i : i + 1], spreads[i : i + 1])
        assert_array_equal(alone, together[i : i + 1])


@pytest.mark.parametrize("scale", [1e-150, 1e-90, 1e90, 1e150])
def test_huge_and_tiny_scores_are_no_trouble(scale):
    scores, spreads = random_rows(1, 20, 5)
    found = exact_distribution(scores * scale, spreads * scale * scale)
    assert_allclose(found, exact_distribution(scores, spreads), atol=ACCURACY)


def test_the_greatest_numbers_are_no_trouble():
    most = np.finfo(float).max
    scores = np.array([[-most, most, 0.0], [most, most, most], [-most, -most, -most]])
    for spreads in (np.zeros((3, 3)), np.ones((3, 3)), np.full((3, 3), most)):
        shares = exact_distribution(scores, spreads)
        assert_allclose(shares, [[0, 1, 0], [1 / 3] * 3, [1 / 3] * 3], atol=ACCURACY)


def test_hopeless_labels_keep_a_trace_for_logarithms():
    scores, spreads = np.array([[0.0, 12.0, 30.0, 0.0]]), np.ones((1, 4))
    shares = exact_distribution(scores, spreads)[0]
    assert_allclose(shares[1], ndtr(-18 / np.sqrt(2)), rtol=1e-6)
    assert_allclose(shares[0], ndtr(-30 / np.sqrt(2)), rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_or_variance_spoils_its_own_row_only(bad):
    scores, spreads = random_rows(2, 5, 3)
    noise = np.random.default_rng(2).normal(size=(50, 3))
    for distribution, more in ((exact_distribution, []), (drawn_distribution, [noise])):
        right = distribution(scores, spreads, *more)
        wrong = scores.copy(), spreads.copy()
        wrong[0][1, 2], wrong[1][2, 0], wrong[1][3, 1] = bad, bad, -1.0
        found = distribution(*wrong, *more)
        assert np.isnan(found[1:4]).all()
        assert_array_equal(found[[0, 4]], right[[0, 4]])


def test_shapes_that_do_not_fit_are_refused():
    rows, more, none = np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, 0))
    for scores, spreads in ((rows, more), (none, none)):
        with pytest.raises(ValueError, match="same shape"):
            exact_distribution(scores, spreads)
        with pytest.raises(ValueError, match="same shape"):
            drawn_distribution(scores, spreads, more)
    for noise in (more, rows[:0], rows[0]):
        with pytest.raises(ValueError, match="noise must have"):
            drawn_distribution(rows, rows, noise)


def test_no_rows_give_no_rows():
    none = np.zeros((0, 3))
    assert exact_distribution(none, none).shape == (0, 3)
    assert drawn_distribution(none, none, np.zeros((5, 3))).shape == (0, 3)


@given(labels_of(some_fixed), st.integers(1, 30), st.integers(0, 99))
def test_draws_are_counted_as_by_the_twin(row, n_draws, seed):
    noise = np.random.default_rng(seed).normal(size=(n_draws, row[0].shape[1]))
    expected = twin.drawn_distribution(row[0][0], row[1][0], noise)
    assert_allclose(drawn_distribution(*row, noise)[0], expected, atol=SUM)


def test_draws_of_a_row_do_not_depend_on_the_others():
    scores, spreads = random_rows(3, 30, 5)
    noise = np.random.default_rng(3).normal(size=(101, 5))
    together = drawn_distribution(scores, spreads, noise)
    for i in range(len(scores)):
        alone = drawn_distribution(scores[i : i + 1], spreads[i : i + 1], noise)
        assert_array_equal(alone, together[i : i + 1])


@pytest.fixture(scope="module")
def drawn_models():
    """Return the shares and the counts of labels in thousands of random models."""
    rng = np.random.default_rng(7)
    n_draws, shares, counts = 2000, [], []
    for _ in range(3000):
        n_labels = rng.integers(2, 9)
        deviation = 10.0 ** (rng.uniform(-1, 1, n_labels) * rng.integers(0, 4))
        mean = rng.normal(size=n_labels) * rng.choice(deviation)
        row = mean[None], deviation[None] ** 2
        noise = rng.normal(size=(n_draws, n_labels))
        shares.append(exact_distribution(*row)[0])
        counts.append(drawn_distribution(*row, noise)[0] * n_draws)
    return n_draws, shares, counts


def test_no_label_of_any_model_is_drawn_too_often_or_too_seldom(drawn_models):
    n_draws, shares, counts = drawn_models
    share, count = np.concatenate(shares), np.round(np.concatenate(counts))
    share = np.clip(share, 0, 1)
    below = binom.cdf(count, n_draws, share)
    above = binom.sf(count - 1, n_draws, share)
    # Bonferroni: each of the tests on both sides has its part of the false alarms.
    assert np.minimum(below, above).min() > FALSE_ALARMS / (2 * len(share))


def test_the_likeliest_labels_are_not_drawn_too_often_or_too_seldom_in_sum(
    drawn_models,
):
    n_draws, shares, counts = drawn_models
    best = [share.argmax() for share in shares]
    share = np.array([s[b] for s, b in zip(shares, best, strict=True)])
    count = np.array([c[b] for c, b in zip(counts, best, strict=True)])
    deviation = np.sqrt((n_draws * share * (1 - share)).sum())
    # With so many draws the sum is normal, and is wrong by a thousandth if this fails.
    surprise = 2 * ndtr(-abs((count - n_draws * share).sum()) / deviation)
    assert surprise > FALSE_ALARMS


POINT = np.array([0.4, 0.6, 0.7])


def some_rows(smooth=0.1, right=False):
    """Return what the loss takes besides the point; labels are as likely if right."""
    rng = np.random.default_rng(0)
    scores, spread = rng.normal(size=(9, 4)), rng.uniform(0.2, 2.0, size=(9, 4))
    shares, gold = spread.mean(axis=1), rng.integers(4, size=9, dtype=np.int32)
    weight = rng.dirichlet(np.ones(9))
    tables = scores, np.sqrt(spread), shares
    if right:
        # Every row comes with every label.
        rate = np.sqrt(GUMBEL / (POINT[0] + POINT[1] * shares))[:, np.newaxis]
        likely = softmax(rate * (scores - POINT[2] * tables[1]), axis=1)
        weight = (weight[:, np.newaxis] * likely).ravel()
        tables = [np.repeat(table, 4, axis=0) for table in tables]
        gold = np.tile(np.arange(4, dtype=np.int32), 9)
    return *tables, gold, weight, smooth


def slopes(loss, *given):
    """Return how a result changes with each of the three parameters."""
    above, below = (
        [loss(POINT + step, *given) for step in sign * 1e-6 * np.eye(3)]
        for sign in (1, -1)
    )
    return (np.array(above) - np.array(below)) / 2e-6


def test_the_loss_and_its_gradient_are_those_of_the_twin():
    given = some_rows()
    value, gradient, _ = softmax_loss(POINT, *given)
    assert_allclose(value, twin.softmax_loss(POINT, *given), rtol=1e-12)
    assert_allclose(gradient, slopes(twin.softmax_loss, *given), rtol=1e-6)


def test_the_curvature_is_that_of_the_loss_where_the_model_is_right():
    given = some_rows(smooth=0.0, right=True)
    _, gradient, curvature = softmax_loss(POINT, *given)
    assert_allclose(gradient, 0.0, atol=1e-15)
    found = slopes(lambda *given: softmax_loss(*given)[1], *given)
    assert_allclose(curvature, found, rtol=1e-6)
