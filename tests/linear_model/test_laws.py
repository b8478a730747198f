"""What holds for every classifier of rows, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from skcw import MultiClassAROW, MultiClassCW
from tests.linear_model.classifiers import copy_of, data, every_update

seeds = st.integers(0, 1000)
few = settings(max_examples=5)


def random_data(seed, n_classes):
    """Return sparse rows and labels that a linear model gives them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.7)
    y = (X @ rng.normal(size=(8, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


@few
@given(seeds, st.floats(0.51, 0.999), st.sampled_from([2, 3, 6]))
def test_the_inner_bound_is_the_outer_one_at_a_higher_eta(seed, eta, n_classes):
    X, y = random_data(seed, n_classes)
    given = {"update": "sequential", "random_state": 0, "dtype": "float64"}
    inner = MultiClassCW(norm.ppf(eta), bound="inner", **given).fit(X, y)
    eta_r = 1 - (1 - eta) / (n_classes - 1)
    outer = MultiClassCW(norm.ppf(eta_r), bound="outer", **given).fit(X, y)
    assert_allclose(inner.coef_, outer.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("diagonal", ["precision", "covariance", "optimal"])
@few
@given(seeds, st.sampled_from([1e-4, 0.3, 50.0]), st.sampled_from([2, 3]))
def test_stdev_predictions_do_not_depend_on_the_initial_variance(
    diagonal, seed, variance, n_classes
):
    X, y = random_data(seed, n_classes)
    # More passes over rows that contradict each other would amplify rounding.
    params = {"step": "stdev", "diagonal": diagonal, "max_iter": 1, "random_state": 0}
    # The search for a scale ends at a tolerance of its own: the scale is given.
    params |= {"dtype": "float64", "variance_scale": 1.0}
    one = MultiClassCW(**params).fit(X, y)
    other = MultiClassCW(initial_variance=variance, **params)
    other.fit(X, y)
    assert_allclose(other.coef_ / np.sqrt(variance), one.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-5)
    assert_array_equal(other.predict(X), one.predict(X))


@pytest.mark.parametrize("diagonal", ["precision", "covariance", "optimal"])
@few
@given(seeds, st.sampled_from([0.125, 8.0]), st.sampled_from([2, 3]))
def test_stdev_predictions_do_not_depend_on_the_scale_of_the_features(
    diagonal, seed, scale, n_classes
):
    X, y = random_data(seed, n_classes)
    params = {"step": "stdev", "diagonal": diagonal, "max_iter": 1, "shuffle": False}
    # Which rows are held out depends on their values: the scale is given.
    given = {"fit_intercept": False, "dtype": "float64", "variance_scale": 1.0}
    one = MultiClassCW(**given, **params).fit(X, y)
    other = MultiClassCW(**given, **params).fit(scale * X, y)
    assert_array_equal(other.predict(scale * X), one.predict(X))
    assert_allclose(other.predict_proba(scale * X), one.predict_proba(X), atol=1e-5)


@few
@given(seeds, st.sampled_from([0.01, 30.0]), st.sampled_from([2, 3]))
def test_arow_knows_only_the_ratio_of_r_and_the_initial_variance(
    seed, factor, n_classes
):
    X, y = random_data(seed, n_classes)
    given = {"random_state": 0, "dtype": "float64"}
    one = MultiClassAROW(2.0, initial_variance=1.0, **given).fit(X, y)
    other = MultiClassAROW(2.0 * factor, initial_variance=factor, **given).fit(X, y)
    assert_allclose(other.coef_, one.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(other.coef_variance_, factor * one.coef_variance_, rtol=1e-7)


@every_update
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_same_seed_gives_the_same_model(classifier, n_classes):
    X, y = data(n_classes)
    one, other = copy_of(classifier).fit(X, y), copy_of(classifier).fit(X, y)
    assert_array_equal(one.coef_, other.coef_)
    state = np.random.RandomState(0)
    given = copy_of(classifier, random_state=state).fit(X, y)
    assert_array_equal(given.coef_, one.coef_)


@pytest.mark.parametrize("update", ["sequential", "parallel", "exact"])
def test_two_classes_have_one_rival_in_every_update(update):
    X, y = data(n_classes=2)
    diagonal = "optimal" if update == "exact" else "precision"
    single = MultiClassCW(diagonal=diagonal, random_state=0, dtype="float64").fit(X, y)
    several = MultiClassCW(update=update, random_state=0, dtype="float64").fit(X, y)
    assert_allclose(several.coef_, single.coef_, rtol=1e-9)
    assert_allclose(several.coef_variance_, single.coef_variance_, rtol=1e-9)
