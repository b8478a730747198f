"""Classes that come later: ``partial_fit(..., classes=...)`` of a fitted classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._model.row_gaussian import TableBelief
from tests.linear_model.classifiers import data, every_classifier

# Halves of a difference in single precision, added again.
SINGLE = 1e-6


def scores_of(classifier, X):
    """Return one score per class; two classes have half of their difference each."""
    scores = X @ classifier.coef_.T + classifier.intercept_
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[1] == 1 else scores


@every_classifier
@pytest.mark.parametrize("known", [[1, 2], [0, 1, 2]])
@pytest.mark.parametrize("more", [[3], [-1, 7, 9]])
def test_scores_of_known_classes_stay_when_others_come(Classifier, known, more):
    X, y = data()
    own = np.isin(y, known)
    classifier = Classifier(random_state=0).fit(X[own], y[own])
    before = scores_of(classifier, X)
    everything = np.union1d(known, more)
    classifier._make_room(everything)
    after = scores_of(classifier, X)
    assert_array_equal(classifier.classes_, everything)
    places = np.searchsorted(everything, known)
    assert_allclose(after[:, places], before, rtol=SINGLE, atol=SINGLE)
    new = np.setdiff1d(np.arange(len(everything)), places)
    assert not after[:, new].any()
    if hasattr(classifier, "coef_variance_"):
        prior = classifier.initial_variance
        assert (classifier.coef_variance_[new] == np.float32(prior)).all()


@every_classifier
@pytest.mark.parametrize("n_first", [2, 3])
def test_a_class_that_comes_later_is_learned(Classifier, n_first):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c", "d"], 60)
    X = rng.normal(size=(240, 6)) + 6.0 * np.eye(6)[np.repeat([0, 1, 2, 3], 60)]
    first = np.isin(y, ["d", "b", "c"][:n_first])
    classifier = Classifier(random_state=0).fit(X[first], y[first])
    order = rng.permutation(240)
    for _ in range(3):
        classifier.partial_fit(X[order], y[order], classes=["a", "b", "c", "d"])
    assert classifier.classes_.tolist() == ["a", "b", "c", "d"]
    assert np.mean(classifier.predict(X) == y) > 0.95
    if hasattr(classifier, "predict_proba"):
        assert classifier.predict_proba(X).shape == (240, 4)


@every_classifier
def test_known_classes_need_not_be_named_again(Classifier):
    X, y = data()
    classifier = Classifier(random_state=0).fit(X, y)
    classifier.partial_fit(X[:5], y[:5], classes=[5])
    assert classifier.classes_.tolist() == [0, 1, 2, 5]
    classifier.partial_fit(X[:5], np.full(5, 5))
    assert classifier.classes_.tolist() == [0, 1, 2, 5]


@every_classifier
def test_a_call_that_fails_adds_no_class(Classifier):
    X, y = data()
    classifier = Classifier(random_state=0).fit(X, y)
    before = classifier.coef_.copy()
    with pytest.raises(ValueError, match=r"not among the classes: \[8\]; name those"):
        classifier.partial_fit(X[:2], [8, 0], classes=[5])
    with pytest.raises(ValueError, match="sample_weight"):
        classifier.partial_fit(X[:2], y[:2], classes=[5], sample_weight=[1.0])
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert_array_equal(classifier.coef_, before)


def test_two_classes_that_shared_a_column_share_its_difference():
    # Mean 3 and variance 4 of the second less the first: -1.5 and 1.5, 2 and 2.
    mean, variance = np.array([[3.0]]), np.array([[4.0]])
    belief = TableBelief(mean, variance, np.array([[1.0]]), rounds=2.0)
    wider = belief.extended([2, 0], 3, initial_variance=9.0)
    assert wider.mean.tolist() == [[1.5, 0.0, -1.5, 0.0]]
    assert wider.variance.tolist() == [[2.0, 9.0, 2.0, 9.0]]
    assert wider.drift.tolist() == [[0.5, 0.0, -0.5, 0.0]]
    assert wider.rounds == 2.0
