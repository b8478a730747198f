"""The CRF of sklearn-crfsuite stands wherever a tagger to compare with is asked for."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn_crfsuite import CRF

import skcw
from skcw.calibration import CalibratedTagger, SelectiveTagger
from skcw.cli import main
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import (
    confidence_pairs,
    cross_val_confidence,
    entity_table,
    get_scorer,
)
from skcw.features.basic import basic_features
from skcw.metrics import token_correct
from skcw.tagging import CRFSequenceTagger

PARAMS = {"c1": 0.05, "c2": 0.05, "max_iterations": 15}
# What CRFsuite and our decoder differ by.
ROUNDING = 1e-9


def corpus(n, seed):
    tokens, y = make_tagged_corpus(n, random_state=seed, return_X_y=True)
    return [basic_features(row) for row in tokens], list(y)


X, y = corpus(60, 0)
X_NEW, Y_NEW = corpus(80, 1)
CRF_FITTED = CRF(**PARAMS).fit(X, y)


def marginals_of(crf, X):
    """Return the marginal of each predicted label, as sklearn-crfsuite gives it."""
    pairs = zip(crf.predict_marginals(X), crf.predict(X), strict=True)
    return [[w[label] for w, label in zip(*pair, strict=True)] for pair in pairs]


@pytest.fixture
def train():
    return clone(CRF_FITTED)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_fitted_crf_is_calibrated(frozen, tmp_path):
    given = FrozenEstimator(CRF_FITTED) if frozen else CRF_FITTED
    cv = None if frozen else "prefit"
    tagger = CalibratedTagger(given, cv=cv).fit(X_NEW[:50], Y_NEW[:50])
    labels = tagger.predict(X_NEW[50:]).tolist()
    assert labels == [list(row) for row in CRF_FITTED.predict(X_NEW[50:])]
    expected = [
        tagger.calibrators_[0].common(row) for row in marginals_of(CRF_FITTED, X_NEW)
    ]
    found = tagger.predict_confidence(X_NEW)
    assert_allclose(np.concatenate(found), np.concatenate(expected), atol=1e-6)
    # It is saved as a tagger of this package.
    tagger.save(tmp_path / "m")
    again = skcw.load(tmp_path / "m")
    assert isinstance(again.estimator_, CRFSequenceTagger)
    assert again.predict(X_NEW[50:]).tolist() == labels


def test_an_unfitted_crf_is_fitted_and_calibrated_by_folds(train):
    tagger = CalibratedTagger(train, cv=2).fit(X, y)
    assert tagger.predict(X_NEW).tolist() == CRF_FITTED.predict(X_NEW).tolist()
    assert len(tagger.calibrators_) == 2 and train.tagger_ is None
    # It may be cloned and searched.
    assert clone(tagger).fit(X, y).predict(X_NEW[:3]).tolist()


@pytest.mark.parametrize(("unit", "risk"), [("word", 0.3), ("entity", 0.8)])
def test_risk_is_controlled(train, unit, risk):
    fitted = SelectiveTagger(CRF_FITTED, risk=risk, unit=unit, cv="prefit")
    fitted.fit(X_NEW[:50], Y_NEW[:50])
    (found,) = fitted.thresholds_
    assert 0 < found.threshold < 1
    accepted = fitted.accept(X_NEW[50:])
    sure = fitted.predict_confidence(X_NEW[50:])
    if unit == "word":
        assert all(
            ((c >= found.threshold) == a).all()
            for c, a in zip(sure, accepted, strict=True)
        )
    whole = SelectiveTagger(train, risk=0.9, unit=unit, calibration_size=0.7).fit(
        X_NEW, Y_NEW
    )
    assert len(whole.predict(X)) == len(X) and len(whole.predict_sets(X[:2])) == 2


def test_pairs_and_scorers_ask_it():
    found = confidence_pairs(CRF_FITTED, X_NEW, Y_NEW)
    expected = np.concatenate(marginals_of(CRF_FITTED, X_NEW))
    assert_allclose(found.confidence, expected, rtol=ROUNDING)
    right = token_correct(Y_NEW, [list(row) for row in CRF_FITTED.predict(X_NEW)])
    assert found.correct.tolist() == np.concatenate(list(right)).tolist()
    same = CRFSequenceTagger.from_crfsuite(CRF_FITTED.modelfile.name)
    for name in ("neg_brier_loss", "error_average_precision", "token_accuracy"):
        scores = [get_scorer(name)(model, X_NEW, Y_NEW) for model in (CRF_FITTED, same)]
        assert scores[0] == pytest.approx(scores[1], rel=ROUNDING)
    assert len(entity_table(CRF_FITTED, X_NEW))


def test_searches_and_folds_fit_it(train):
    scorer = get_scorer("neg_brier_loss")
    found = cross_validate(train, X, y, cv=2, scoring=scorer, error_score="raise")
    assert np.isfinite(found["test_score"]).all()
    grid = GridSearchCV(train, {"c2": [0.01, 0.1]}, scoring=scorer, cv=2).fit(X, y)
    assert len(confidence_pairs(grid, X_NEW, Y_NEW).correct) == sum(map(len, Y_NEW))
    folds = cross_val_confidence(train, X, y, cv=KFold(2))
    first = clone(train).fit(X[30:], y[30:])
    labels = [list(row) for row in first.predict(X[:30])]
    assert folds.labels[:30].tolist() == labels
    found = np.concatenate(list(folds.confidence[:30]))
    assert_allclose(found, np.concatenate(marginals_of(first, X[:30])), rtol=ROUNDING)


def test_one_that_is_not_fitted_says_so(train):
    with pytest.raises(NotFittedError, match="CRF of sklearn-crfsuite is not fitted"):
        confidence_pairs(train, X, y)


def test_it_is_the_crf_that_compare_trains(monkeypatch, capfd):
    fitted = []
    fit = CRF.fit

    def noted(self, *args):
        fitted.append(self.get_params())
        return fit(self, *args)

    monkeypatch.setattr(CRF, "fit", noted)
    assert main(["compare", "--sentences", "60", "--learners", "crf", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["learners"]
    assert row["learner"] == "crf" and 0.3 < row["span_f1"] <= 1
    (params,) = fitted
    assert (params["c1"], params["c2"], params["max_iterations"]) == (0.05, 0.05, 150)
