"""Classifiers of rows in scikit-learn's pipelines, searches and displays."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA
from tests.linear_model.classifiers import (
    data,
    every_classifier,
    every_gaussian,
    split_data,
)

TOPICS = {
    "cooking": "boil the rice with salt and serve it hot with butter bread soup",
    "sailing": "the boat left port with wind in its sail and anchor rope mast",
    "chess": "the knight takes the bishop and the king moves to a rook pawn",
}


def texts(n_texts=90, seed=0):
    """Return short texts on three topics that share some words."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(sorted(TOPICS), size=n_texts)
    return [
        " ".join(rng.choice(TOPICS[label].split(), size=6)) for label in labels
    ], labels


@every_classifier
@pytest.mark.parametrize("Vectorizer", [TfidfVectorizer, CountVectorizer])
def test_texts_are_learned_in_a_pipeline(Classifier, Vectorizer):
    pipeline = make_pipeline(Vectorizer(), Classifier(random_state=0))
    pipeline.fit(*texts())
    assert pipeline.score(*texts(seed=1)) > 0.9
    words = pipeline[0].get_feature_names_out()
    assert pipeline[-1].coef_.shape == (3, len(words))
    chess = pipeline.classes_.tolist().index("chess")
    assert pipeline[-1].coef_[:, words.tolist().index("king")].argmax() == chess


@every_classifier
def test_a_grid_is_searched(Classifier):
    X, y = texts()
    pipeline = make_pipeline(CountVectorizer(), Classifier(random_state=0))
    name = Classifier.__name__.lower()
    grid = {f"{name}__averaging": [True, False], f"{name}__max_iter": [1, 3]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(*texts(seed=1)) > 0.9


@every_gaussian
def test_probabilistic_scorings_are_searched(Classifier):
    X, y = data()
    grid = {"initial_variance": [0.1, 1.0], "variance_scale": [1.0, 10.0]}
    search = GridSearchCV(
        Classifier(random_state=0),
        grid,
        cv=3,
        scoring=["neg_log_loss", "roc_auc_ovr", "accuracy"],
        refit="neg_log_loss",
    ).fit(X, y)
    for name in ("neg_log_loss", "roc_auc_ovr", "accuracy"):
        assert np.isfinite(search.cv_results_[f"mean_test_{name}"]).all()
    assert_allclose(search.predict_proba(X).sum(axis=1), 1, rtol=1e-6)


@every_classifier
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_are_calibrated(Classifier, method, n_classes):
    X, y, X_test, y_test = split_data(n_classes)
    calibrated = CalibratedClassifierCV(Classifier(random_state=0), method=method, cv=3)
    proba = calibrated.fit(X, y).predict_proba(X_test)
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-9)
    error = ((proba - np.eye(n_classes)[y_test]) ** 2).sum(axis=1).mean()
    assert error < 1 - 1 / n_classes  # that of knowing nothing


@every_classifier
@pytest.mark.parametrize("Meta", [OneVsRestClassifier, OneVsOneClassifier])
def test_one_against_the_rest_or_one(Classifier, Meta):
    X, y, X_test, y_test = split_data(3)
    meta = Meta(Classifier(random_state=0)).fit(X, y)
    assert meta.score(X_test, y_test) > 0.5
    if hasattr(meta, "predict_proba"):
        assert meta.predict_proba(X_test).shape == (len(X_test), 3)


@every_classifier
def test_scores_are_cross_validated(Classifier):
    X, y = data()
    scores = cross_val_score(Classifier(random_state=0), X, y, cv=3)
    assert (scores > 0.4).all()


@every_gaussian
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_cross_validated(Classifier, n_classes):
    X, y = data(n_classes)
    found = cross_val_predict(
        Classifier(random_state=0), X, y, cv=3, method="predict_proba"
    )
    assert found.shape == (len(X), n_classes)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    labels = cross_val_predict(Classifier(random_state=0), X, y, cv=3)
    assert_array_equal(found.argmax(axis=1), labels)


@every_classifier
def test_decisions_are_cross_validated(Classifier):
    X, y = data()
    found = cross_val_predict(
        Classifier(random_state=0), X, y, cv=3, method="decision_function"
    )
    assert found.shape == (len(X), 3)


@every_gaussian
def test_a_calibration_curve_is_drawn(Classifier):
    X, y, X_test, y_test = split_data(2)
    fitted = Classifier(random_state=0).fit(X, y)
    display = CalibrationDisplay.from_estimator(fitted, X_test, y_test, n_bins=5)
    assert_array_equal(display.y_prob, fitted.predict_proba(X_test)[:, 1])
    assert brier_score_loss(y_test, display.y_prob) < 0.25


@every_classifier
def test_features_have_a_permutation_importance(Classifier):
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = (X[:, 1] > 0).astype(int)
    fitted = Classifier(random_state=0).fit(X, y)
    found = permutation_importance(fitted, X, y, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() == 1
    assert found.importances_mean[1] > 0.3


@every_classifier
def test_features_are_selected_by_their_weights(Classifier):
    X, y = data()
    X = np.column_stack([X, np.zeros((len(X), 3))])
    selector = SelectFromModel(Classifier(random_state=0), threshold=1e-12).fit(X, y)
    assert selector.get_support().tolist() == [True] * 8 + [False] * 3


@every_classifier
def test_sample_weight_reaches_the_classifier_in_a_pipeline(Classifier):
    X, y = data()
    weight = np.arange(len(X)) % 3
    pipeline = make_pipeline(StandardScaler(), Classifier(random_state=0))
    name = Classifier.__name__.lower()
    pipeline.fit(X, y, **{f"{name}__sample_weight": weight})
    scaled = StandardScaler().fit_transform(X)
    expected = Classifier(random_state=0).fit(scaled, y, sample_weight=weight)
    assert_array_equal(pipeline[-1].coef_, expected.coef_)


@every_classifier
def test_metadata_routing_brings_weights_to_fit_and_score(Classifier):
    X, y = data()
    weight = (np.arange(len(X)) % 2).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = Classifier(random_state=0)
        classifier.set_fit_request(sample_weight=True)
        classifier.set_score_request(sample_weight=True)
        classifier.set_partial_fit_request(sample_weight=True, classes=True)
        search = GridSearchCV(classifier, {"max_iter": [2]}, cv=2)
        search.fit(X, y, sample_weight=weight)
        with pytest.raises(ValueError, match="sample_weight"):
            GridSearchCV(Classifier(), {"max_iter": [2]}).fit(
                X, y, sample_weight=weight
            )
    expected = Classifier(random_state=0, max_iter=2).fit(X, y, sample_weight=weight)
    assert_array_equal(search.best_estimator_.coef_, expected.coef_)


@every_classifier
def test_a_frozen_classifier_stays(Classifier):
    X, y, X_more, y_more = split_data(3)
    fitted = Classifier(random_state=0).fit(X, y)
    frozen = FrozenEstimator(fitted)
    before = fitted.coef_.copy()
    frozen.fit(X_more, y_more)
    assert_array_equal(frozen.coef_, before)
    assert_array_equal(clone(frozen).predict(X_more), fitted.predict(X_more))
    calibrated = CalibratedClassifierCV(frozen, cv=2).fit(X_more, y_more)
    assert calibrated.predict_proba(X_more).shape == (len(X_more), 3)
    assert_array_equal(fitted.coef_, before)


def test_names_of_features_are_remembered():
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=[f"f{i}" for i in range(8)])
    labels = pandas.Series(np.array(["a", "b", "c"])[y])
    fitted = MultiClassCW(random_state=0).fit(frame, labels)
    assert fitted.feature_names_in_.tolist() == frame.columns.tolist()
    assert_array_equal(
        fitted.coef_, MultiClassCW(random_state=0).fit(X, labels.to_numpy()).coef_
    )
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)
    scaled = MultiClassCW(random_state=0, variance_scale="log_loss").fit(frame, labels)
    assert scaled.variance_scale_ > 0
    fitted.partial_fit(frame, labels)


def test_classifiers_stand_side_by_side_in_a_comparison():
    X, y, X_test, y_test = split_data(3)
    for classifier in (MultiClassCW(), MultiClassAROW(), MultiClassPA()):
        assert sklearn.base.is_classifier(classifier)
        assert sklearn.utils.get_tags(classifier).input_tags.sparse
        assert clone(classifier).fit(X, y).score(X_test, y_test) > 0.5
    with sklearn.config_context(transform_output="pandas"):
        labels = MultiClassCW(random_state=0).fit(X, y).predict(X_test)
    assert type(labels) is np.ndarray
