"""Utilities of rows, each against its formula."""

from math import log

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from skcw import MultiClassCW, MultiClassPA
from skcw.active.utilities import (
    disagreement,
    entropy,
    least_confident,
    margin,
    normalized_margin,
    random_utility,
)
from tests.active.problems import fitted_classifier, rows

# Tables of weights are in single precision.
RTOL = 1e-5


def mean_and_variance(model, X):
    """Return M and V of every row and class by the definition."""
    X = X.toarray()
    M = X @ model.coef_.T.astype(float) + model.intercept_
    V = X**2 @ model.coef_variance_.T.astype(float) + model.intercept_variance_
    return M, V


def test_the_margin_of_two_classes_is_that_of_the_paper():
    model, (X, _) = fitted_classifier(), rows()
    M, _ = mean_and_variance(model, X)
    np.testing.assert_allclose(margin(model, X), -np.abs(M[:, 0]), rtol=RTOL)


def test_acl_divides_the_margin_by_its_deviation():
    model, (X, _) = fitted_classifier(), rows()
    M, V = mean_and_variance(model, X)
    expected = -np.abs(M[:, 0]) / np.sqrt(V[:, 0])
    np.testing.assert_allclose(normalized_margin(model, X), expected, rtol=RTOL)


def test_acl_divides_by_what_the_model_knows_without_learned_noise():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 60)) < rng.random(60) ** 2) * 1.0
    y = np.where(X @ rng.standard_normal(60) + rng.standard_normal(400) > 0, "a", "b")
    model = MultiClassCW(random_state=0).fit(X, y)
    M, V = mean_and_variance(model, sparse.csr_matrix(X))
    assert model.noise_ > 0
    expected = -np.abs(M[:, 0]) / np.sqrt(V[:, 0])
    np.testing.assert_allclose(normalized_margin(model, X), expected, rtol=RTOL)


def test_acl_picks_the_row_closest_to_one_half_of_the_paper():
    # Section 3: argmin |Pr[sign(w·z) = 1] - 1/2|.
    model, (X, _) = fitted_classifier(), rows()
    M, V = mean_and_variance(model, X)
    distance = np.abs(ndtr(M[:, 0] / np.sqrt(V[:, 0])) - 0.5)
    assert normalized_margin(model, X).argmax() == distance.argmin()


def test_of_two_equal_margins_the_less_known_one_is_asked_first():
    X = [[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    y = [1, 0, 1, 0, 1, 0]
    model = MultiClassCW(1.0, fit_intercept=False, variance_scale=1.0).fit(X, y)
    model.weights_[:2] = 0.5
    first = normalized_margin(model, [[1.0, 0.0], [0.0, 1.0]])
    seen_more = model.coef_variance_[0].argmin()
    assert first.argmin() == seen_more
    assert np.ptp(margin(model, [[1.0, 0.0], [0.0, 1.0]])) == 0


def test_the_margin_of_several_classes_is_the_lead_of_the_best():
    model, (X, _) = fitted_classifier(n_classes=4), rows(n_classes=4)
    M, V = mean_and_variance(model, X)
    best, second = np.argsort(-M, axis=1)[:, :2].T
    each = np.arange(len(M))
    lead = M[each, best] - M[each, second]
    np.testing.assert_allclose(margin(model, X), -lead, rtol=1e-4, atol=1e-6)
    deviation = np.sqrt(V[each, best] + V[each, second])
    np.testing.assert_allclose(
        normalized_margin(model, X), -lead / deviation, rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_margins_of_other_classifiers_come_from_their_scores(n_classes):
    X, y = rows(n_classes=n_classes)
    for model in (MultiClassPA(random_state=0), LogisticRegression()):
        scores = model.fit(X, y).decision_function(X)
        if n_classes == 2:
            expected = np.abs(scores)
        else:
            ordered = np.sort(scores, axis=1)
            expected = ordered[:, -1] - ordered[:, -2]
        np.testing.assert_array_equal(margin(model, X), -expected)


def test_least_confident_and_entropy_are_functions_of_the_probabilities():
    X, y = rows(n_classes=3)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(least_confident(model, X), 1 - p.max(axis=1))
    expected = [-sum(q * log(q) for q in row) for row in p.tolist()]
    np.testing.assert_allclose(entropy(model, X), expected, rtol=1e-12)


def test_many_draws_disagree_as_the_exact_distribution_says():
    model, (X, _) = fitted_classifier(n_classes=3), rows(n_classes=3)
    exact = 1 - (model.predict_distribution(X) ** 2).sum(axis=1)
    np.testing.assert_allclose(disagreement(model, X, n_draws=20000), exact, atol=0.02)


def test_a_pipeline_is_asked_like_what_it_ends_in():
    X, y = rows()
    pipeline = make_pipeline(MaxAbsScaler(), MultiClassCW(random_state=0)).fit(X, y)
    inner = pipeline[-1]
    np.testing.assert_array_equal(
        normalized_margin(pipeline, X),
        normalized_margin(inner, pipeline[0].transform(X)),
    )


@pytest.mark.parametrize("utility", [normalized_margin, disagreement])
def test_what_needs_variances_says_so(utility):
    X, y = rows()
    with pytest.raises(TypeError, match=r"MultiClassPA .*MultiClassCW"):
        utility(MultiClassPA().fit(X, y), X)


def test_what_needs_probabilities_says_so():
    X, y = rows()
    with pytest.raises(TypeError, match="MultiClassPA has no predict_proba"):
        entropy(MultiClassPA().fit(X, y), X)


def test_random_utilities_depend_on_the_seed_alone():
    X = sparse.csr_matrix(np.eye(4))
    one, same = (random_utility(MultiClassCW(), X, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one, same)
    assert (one != random_utility(MultiClassCW(), X, random_state=4)).any()
