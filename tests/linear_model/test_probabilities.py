"""How sure a classifier is: distributions, probabilities, confidence, their scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from skcw import MultiClassAROW, MultiClassCW
from skcw.linear_model.probabilities import with_predicted_first
from skcw.metrics import root_calibration_mse
from tests.linear_model.classifiers import (
    data,
    every_gaussian,
    overlapping,
    split_data,
)

# What predict_distribution promises.
QUADRATURE = 1e-6
every_count = pytest.mark.parametrize("n_classes", [2, 3, 6])


def fitted_on(n_classes, Classifier=MultiClassCW, **params):
    X, y, X_test, _ = split_data(n_classes)
    # A given scale: what fit learns, and the shape that goes with it, is below.
    given = {"random_state": 0, "max_iter": 2, "dtype": "float64"}
    params = given | {"variance_scale": 1.0} | params
    return Classifier(**params).fit(X, y), X_test


def moments(classifier, X):
    """Return the means and the variances of the scores, by matrix products."""
    X = np.column_stack([X, np.ones(len(X))])
    mean = np.column_stack([classifier.coef_, classifier.intercept_])
    variance = np.column_stack(
        [classifier.coef_variance_, classifier.intercept_variance_]
    )
    return X @ mean.T, X**2 @ variance.T * classifier.variance_scale_


@every_gaussian
@every_count
def test_a_distribution_has_no_negative_part_and_sums_to_one(Classifier, n_classes):
    classifier, X = fitted_on(n_classes, Classifier)
    for method in ("exact", "draws"):
        found = classifier.predict_distribution(X, method)
        assert found.shape == (len(X), n_classes)
        assert (found >= 0).all()
        assert_allclose(found.sum(axis=1), 1, rtol=QUADRATURE)


def test_two_classes_have_the_normal_distribution_of_the_margin():
    classifier, X = fitted_on(2)
    mean, variance = moments(classifier, X)
    second = ndtr(mean / np.sqrt(variance))
    expected = np.column_stack([1 - second, second])
    assert_allclose(classifier.predict_distribution(X), expected, atol=1e-12)
    margin = (mean / np.sqrt(variance)).ravel()
    assert_allclose(classifier.decision_function(X), margin, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [3, 6])
def test_more_classes_have_the_integral_of_the_algorithms_page(n_classes):
    classifier, X = fitted_on(n_classes)
    mean, variance = moments(classifier, X)
    deviation = np.sqrt(variance)
    found = classifier.predict_distribution(X)
    for row, m, s in zip(found[:4], mean, deviation, strict=False):
        for label in range(n_classes):
            others = np.arange(n_classes) != label

            def density(t, label=label, others=others, m=m, s=s):
                below = ndtr((t - m[others]) / s[others]).prod()
                return norm.pdf(t, m[label], s[label]) * below

            ends = m[label] + np.array([-9, 9]) * s[label]
            inside = [p for p in m if ends[0] < p < ends[1]]
            expected, _ = quad(density, *ends, points=inside, limit=200)
            assert_allclose(row[label], expected, atol=2 * QUADRATURE)


@every_gaussian
@every_count
def test_the_exact_distribution_is_that_of_many_draws(Classifier, n_classes):
    classifier, X = fitted_on(n_classes, Classifier)
    exact = classifier.predict_distribution(X)
    n_draws = 20_000
    drawn = classifier.predict_distribution(X, "draws", n_draws=n_draws)
    # All rows share the draws, so that five deviations are few for 300 of them.
    error = np.sqrt(exact * (1 - exact) / n_draws)
    assert (np.abs(exact - drawn) <= 5.5 * error + 1 / n_draws).all()


@every_count
def test_draws_depend_on_their_seed_and_exact_answers_on_nothing(n_classes):
    classifier, X = fitted_on(n_classes)

    def drawn(seed):
        return classifier.predict_distribution(X, "draws", random_state=seed)

    assert_array_equal(drawn(0), classifier.predict_distribution(X, "draws"))
    assert_array_equal(drawn(7), drawn(np.random.RandomState(7)))
    assert not np.array_equal(drawn(0), drawn(7))
    assert_array_equal(
        classifier.predict_distribution(X), classifier.predict_distribution(X)
    )


@every_count
@pytest.mark.parametrize("method", ["exact", "draws"])
def test_an_answer_for_a_row_does_not_depend_on_the_others(n_classes, method):
    classifier, X = fitted_on(n_classes, dtype="float32")
    together = classifier.predict_distribution(X, method)
    for i in (0, 17, 299):
        alone = classifier.predict_distribution(X[[i]], method)
        assert_array_equal(alone[0], together[i])


@every_gaussian
@every_count
def test_the_most_probable_label_is_the_predicted_one(Classifier, n_classes):
    classifier, X = fitted_on(n_classes, Classifier, variance_scale=30.0)
    guess = classifier.predict(X)
    proba = classifier.predict_proba(X)
    assert_array_equal(classifier.classes_[proba.argmax(axis=1)], guess)
    scores = classifier.decision_function(X)
    best = scores > 0 if n_classes == 2 else scores.argmax(axis=1)
    assert_array_equal(classifier.classes_[best.astype(int)], guess)


def test_a_sure_label_among_unsure_ones_exchanges_its_probability():
    # The first label leads by little and is sure of it: either of the others wins
    # more often, by chance. That is what the distribution says.
    classifier = MultiClassCW(random_state=0, dtype="float64", fit_intercept=False)
    classifier.fit(np.eye(3), [0, 1, 2])
    classifier.coef_[:, 0] = [0.1, 0.0, 0.0]
    classifier.coef_variance_[:, 0] = [1e-6, 100.0, 100.0]
    X = np.eye(3)[:1]
    first, second, third = classifier.predict_distribution(X)[0]
    assert_allclose(first, ndtr(0.01) ** 2, atol=1e-3)
    assert first < second
    assert classifier.predict(X) == [0]
    assert_array_equal(classifier.predict_proba(X), [[second, first, third]])
    assert_array_equal(classifier.predict_confidence(X), [second])


@every_gaussian
@every_count
def test_probabilities_differ_from_the_distribution_in_exchanged_rows_alone(
    Classifier, n_classes
):
    classifier, X = fitted_on(n_classes, Classifier, variance_scale=10.0)
    distribution = classifier.predict_distribution(X)
    proba = classifier.predict_proba(X)
    agree = distribution.argmax(axis=1) == proba.argmax(axis=1)
    assert agree.mean() > 0.5
    assert_array_equal(proba[agree], distribution[agree])
    assert_array_equal(np.sort(proba), np.sort(distribution))


@every_gaussian
@every_count
def test_log_probabilities_are_logarithms(Classifier, n_classes):
    classifier, X = fitted_on(n_classes, Classifier)
    with np.errstate(divide="ignore"):
        expected = np.log(classifier.predict_proba(X))
    assert_array_equal(classifier.predict_log_proba(X), expected)


@every_gaussian
@every_count
def test_confidence_is_the_probability_of_the_predicted_label(Classifier, n_classes):
    classifier, X = fitted_on(n_classes, Classifier)
    confidence = classifier.predict_confidence(X)
    assert_array_equal(confidence, classifier.predict_proba(X).max(axis=1))
    assert_array_equal(confidence, classifier.predict_confidence(X, "probability"))
    assert ((confidence >= 1 / n_classes - QUADRATURE) & (confidence <= 1)).all()


@every_gaussian
@every_count
def test_margins_are_those_of_the_two_best_labels(Classifier, n_classes):
    classifier, X = fitted_on(n_classes, Classifier)
    mean, variance = moments(classifier, X)
    if n_classes == 2:
        margin, spread = np.abs(mean[:, 0]), variance[:, 0]
    else:
        order = np.argsort(-mean, axis=1)[:, :2]
        (best, second), (v, w) = (
            np.take_along_axis(part, order, axis=1).T for part in (mean, variance)
        )
        margin, spread = best - second, v + w
    assert_allclose(classifier.predict_confidence(X, "margin"), margin, rtol=1e-9)
    normalized = classifier.predict_confidence(X, "normalized-margin")
    assert_allclose(normalized, margin / np.sqrt(spread), rtol=1e-9)


@every_gaussian
@every_count
def test_a_scale_multiplies_the_variances_of_predictions_alone(Classifier, n_classes):
    one, X = fitted_on(n_classes, Classifier)
    four, _ = fitted_on(n_classes, Classifier, variance_scale=4.0)
    assert four.variance_scale_ == 4.0
    assert_array_equal(one.coef_, four.coef_)
    assert_array_equal(one.coef_variance_, four.coef_variance_)
    assert_array_equal(one.predict(X), four.predict(X))
    one.coef_variance_[:] *= 4
    one.intercept_variance_[:] *= 4
    assert_allclose(one.predict_proba(X), four.predict_proba(X), atol=2 * QUADRATURE)
    vague, _ = fitted_on(n_classes, Classifier, variance_scale=1e12)
    # Without any knowledge of the means only the labels' variances tell.
    assert vague.predict_confidence(X).mean() < one.predict_confidence(X).mean()
    sure, _ = fitted_on(n_classes, Classifier, variance_scale=1e-12)
    assert_allclose(sure.predict_confidence(X), 1, atol=1e-3)


def rmse(classifier, X, y):
    right = classifier.predict(X) == y
    return binned_error(right, classifier.predict_confidence(X))


def binned_error(right, confidence):
    return root_calibration_mse(right, confidence, strategy="uniform", claim="center")


def loss(classifier, X, y):
    return log_loss(y, classifier.predict_proba(X))


@every_gaussian
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    ("criterion", "measure"), [("log_loss", loss), ("root_calibration_mse", rmse)]
)
def test_a_fitted_scale_serves_rows_that_were_not_seen(
    Classifier, n_classes, criterion, measure
):
    X, y = overlapping(n_classes, n_rows=1000)
    X, y, X_test, y_test = X[:500], y[:500], X[500:], y[500:]
    given = {"random_state": 0, "max_iter": 2}
    plain = Classifier(variance_scale=1.0, **given).fit(X, y)
    scaled = Classifier(variance_scale=criterion, **given).fit(X, y)
    assert_array_equal(plain.coef_, scaled.coef_)
    assert 0 < scaled.variance_scale_ != 1
    assert measure(scaled, X_test, y_test) < measure(plain, X_test, y_test)


@every_gaussian
@pytest.mark.parametrize("criterion", ["log_loss", "root_calibration_mse"])
def test_no_other_scale_does_better_on_the_folds(Classifier, criterion):
    X, y = overlapping(3)
    given = {"random_state": 0, "max_iter": 2}
    fitted = Classifier(variance_scale=criterion, scale_cv=3, **given).fit(X, y)

    def held_out(scale):
        scaled = Classifier(variance_scale=scale, **given)
        proba = cross_val_predict(scaled, X, y, cv=3, method="predict_proba")
        if criterion == "log_loss":
            return log_loss(y, proba)
        return binned_error(proba.argmax(axis=1) == y, proba.max(axis=1))

    best = held_out(fitted.variance_scale_)
    for factor in (1e-3, 0.1, 10.0, 1e3):
        assert held_out(factor * fitted.variance_scale_) >= best * (1 - 1e-6)
    if criterion == "log_loss":  # which has one valley
        for factor in (0.9, 1.1):
            assert held_out(factor * fitted.variance_scale_) >= best * (1 - 1e-6)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3), "splits"])
def test_the_folds_of_a_scale_may_be_given(cv):
    X, y = data()
    folds = StratifiedKFold(3)
    cv = list(folds.split(X, y)) if cv == "splits" else cv
    given = {"variance_scale": "log_loss", "random_state": 0}
    found = MultiClassAROW(scale_cv=cv, **given).fit(X, y)
    expected = MultiClassAROW(scale_cv=folds, **given).fit(X, y)
    assert found.variance_scale_ == expected.variance_scale_
    five = MultiClassAROW(**given).fit(X, y)
    same = MultiClassAROW(scale_cv=5, **given).fit(X, y)
    assert five.variance_scale_ == same.variance_scale_ != expected.variance_scale_


def test_a_scale_does_not_hear_rows_of_weight_zero():
    X, y = data()
    noise = np.random.default_rng(0).normal(size=X.shape)
    both, labels = np.concatenate([X, noise]), np.concatenate([y, y])
    folds = [
        (
            np.flatnonzero(np.arange(240) % 3 != i),
            np.flatnonzero(np.arange(240) % 3 == i),
        )
        for i in range(3)
    ]
    inside = [(seen[seen < 120], unseen[unseen < 120]) for seen, unseen in folds]
    given = {"variance_scale": "log_loss", "random_state": 0}
    weight = np.repeat([1.0, 0.0], 120)
    found = MultiClassCW(scale_cv=folds, **given).fit(both, labels, weight)
    expected = MultiClassCW(scale_cv=inside, **given).fit(X, y)
    assert_allclose(found.variance_scale_, expected.variance_scale_, rtol=1e-9)


def test_a_scale_is_chosen_for_labels_in_a_column_and_one_weight_for_all():
    X, y = data()
    for criterion in ("log_loss", "root_calibration_mse"):
        given = {"variance_scale": criterion, "random_state": 0}
        expected = MultiClassCW(**given).fit(X, y).variance_scale_
        with pytest.warns(match="column-vector y"):
            column = MultiClassCW(**given).fit(X, y[:, np.newaxis])
        assert column.variance_scale_ == expected
        weighted = MultiClassCW(**given).fit(X, y, sample_weight=1.0)
        assert weighted.variance_scale_ == expected


@every_gaussian
def test_partial_fit_keeps_a_scale_that_fit_has_chosen(Classifier):
    X, y, X_more, y_more = split_data()
    chosen = Classifier(variance_scale="log_loss", random_state=0).fit(X, y)
    scale = chosen.variance_scale_
    assert chosen.partial_fit(X_more, y_more).variance_scale_ == scale
    fresh = Classifier(variance_scale="log_loss", random_state=0)
    fresh.partial_fit(X, y, classes=[0, 1, 2])
    assert fresh.variance_scale_ == 1.0
    fresh.set_params(variance_scale=3).partial_fit(X, y)
    assert fresh.variance_scale_ == 3.0


@every_gaussian
def test_rows_like_those_learned_from_are_surer(Classifier):
    X, y = np.eye(6), np.arange(6) % 3
    fitted = Classifier(random_state=0).fit(X, y)
    seen = fitted.predict_confidence(X)
    strange = fitted.predict_confidence(np.eye(6)[:, ::-1] - 2 * np.eye(6))
    assert seen.mean() > strange.mean()


def test_the_predicted_label_is_the_most_probable_one_even_where_rounding_ties():
    scores = np.array([1e-300, -1e-300, 0.5])
    found = with_predicted_first(np.array([[0.5, 0.5], [0.5, 0.5], [0.4, 0.6]]), scores)
    assert_array_equal(found.argmax(axis=1), [1, 0, 1])
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
