"""Searches that choose how sure a tagger says it is, by scorers of calibration."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.calibration import CalibratedTagger
from skcw.display import ConfidenceCalibrationDisplay
from skcw.evaluation import get_scorer, make_confidence_scorer
from skcw.metrics import root_calibration_mse
from tests.integration.corpora import features, news


def cw():
    return CWSequenceTagger(random_state=0, max_iter=3)


def test_a_search_chooses_the_method_and_its_scale():
    X, y = features()
    grid = [
        {"confidence_method": ["marginal"], "temperature": [0.1, 0.8, 10.0]},
        {
            "confidence_method": ["kd-pc"],
            "variance_scale": [0.01, 1.0],
            "n_draws": [20],
        },
    ]
    search = GridSearchCV(
        CalibratedTagger(cw(), method="identity", cv=2),
        grid,
        scoring=get_scorer("neg_calibration_mse"),
        cv=2,
        error_score="raise",
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(np.unique(scores)) == 5
    # Scores that are divided by ten say nearly nothing.
    worst = {"confidence_method": "marginal", "temperature": 10.0}
    assert search.best_params_ != worst
    assert search.best_score_ == scores.max()


def test_a_search_chooses_the_map_in_a_pipeline_from_words():
    X, y = news()
    search = GridSearchCV(
        CalibratedTagger(make_tagging_pipeline("ner", cw()), cv=2),
        {"method": ["identity", "sigmoid", "beta"]},
        scoring=get_scorer("neg_brier_loss"),
        cv=2,
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_["method"] != "identity"


@pytest.mark.parametrize("query", [None, "not O", "span:*"])
def test_every_question_can_be_scored_and_drawn(query):
    X, y = features()
    tagger = CalibratedTagger(cw(), method="beta", cv=2).fit(X[:60], y[:60])
    scorer = make_confidence_scorer(
        root_calibration_mse, greater_is_better=False, query=query
    )
    drawn = ConfidenceCalibrationDisplay.from_estimator(
        tagger, X[60:], y[60:], query=query, band=None, interval=None
    )
    assert scorer(tagger, X[60:], y[60:]) == -drawn.score


def test_the_calibrator_of_scikit_learn_serves_classifiers():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        CalibratedClassifierCV(Perceptron(random_state=0), cv=3),
        {"method": ["sigmoid", "isotonic"]},
        scoring=get_scorer("neg_expected_calibration_error"),
        cv=3,
        error_score="raise",
    ).fit(X, y)
    drawn = ConfidenceCalibrationDisplay.from_estimator(
        search, X, y, band=None, interval=None
    )
    assert drawn.name == "CalibratedClassifierCV"
