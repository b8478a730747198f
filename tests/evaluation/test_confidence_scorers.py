"""Scorers of confidences inside scikit-learn's model selection."""

import pickle
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from skcw import CRFSequenceTagger, CWSequenceTagger, make_tagging_pipeline
from skcw.evaluation import (
    confidence_pairs,
    get_scorer,
    get_scorer_names,
    make_confidence_scorer,
)
from skcw.evaluation.scorers import ConfidenceScorer
from skcw.metrics import (
    area_under_risk_coverage,
    brier_loss,
    error_average_precision,
    expected_calibration_error,
    log_loss,
    root_calibration_mse,
)
from skcw.metrics.calibration_errors import calibration_mse
from tests.integration.corpora import features, news

NAMES = [
    name
    for name in get_scorer_names()
    if isinstance(get_scorer(name), ConfidenceScorer)
]
CENTERED = {"strategy": "uniform", "claim": "center"}
ESTIMATORS = {
    "cw": (CWSequenceTagger(random_state=0, max_iter=2), features),
    "crf": (CRFSequenceTagger(max_iter=10), features),
    "pipeline": (make_tagging_pipeline("ner"), news),
}


def mean_weighted(correct, confidence, sample_weight=None):
    """Return the share of right answers, by weight: a score that takes weights."""
    return float(np.average(correct, weights=sample_weight))


def test_the_scorers_have_names():
    assert {"neg_root_calibration_mse", "error_average_precision"} <= set(NAMES)
    assert "span_f1" not in NAMES


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_scorers_work_in_cross_validation_of_taggers(kind):
    tagger, corpus = ESTIMATORS[kind]
    X, y = corpus(n_sequences=30)
    scoring = {name: get_scorer(name) for name in NAMES}
    found = cross_validate(tagger, X, y, cv=2, scoring=scoring, error_score="raise")
    for name in NAMES:
        scores = found[f"test_{name}"]
        assert (scores < 0).all() if name.startswith("neg_") else (scores > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_scorers_work_in_a_search_over_a_classifier(name):
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        LogisticRegression(max_iter=1000),
        {"C": [1e-3, 1.0]},
        scoring=get_scorer(name),
        cv=3,
        error_score="raise",
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max()
    assert scores[0] != scores[1]


@pytest.mark.parametrize(
    ("name", "score", "sign"),
    [
        ("neg_root_calibration_mse", root_calibration_mse, -1),
        ("error_average_precision", error_average_precision, 1),
        ("neg_area_under_risk_coverage", area_under_risk_coverage, -1),
        ("neg_calibration_mse", calibration_mse, -1),
        ("neg_expected_calibration_error", expected_calibration_error, -1),
        ("neg_brier_loss", brier_loss, -1),
        ("neg_log_loss", log_loss, -1),
    ],
)
def test_a_scorer_gives_its_score_with_the_sign_of_its_name(name, score, sign):
    X, y = features(n_sequences=30)
    tagger = CWSequenceTagger(random_state=0, max_iter=2).fit(X[:15], y[:15])
    answers = confidence_pairs(tagger, X[15:], y[15:])
    expected = sign * score(answers.correct, answers.confidence)
    assert get_scorer(name)(tagger, X[15:], y[15:]) == expected


def test_a_scorer_asks_its_own_question_by_its_own_method():
    X, y = features(n_sequences=30)
    tagger = CWSequenceTagger(random_state=0, max_iter=2).fit(X[:15], y[:15])
    scorer = make_confidence_scorer(
        root_calibration_mse,
        greater_is_better=False,
        query="not O",
        method="kd-pc",
        confidence_options={"n_draws": 20},
        n_bins=5,
        **CENTERED,
    )
    answers = confidence_pairs(
        tagger,
        X[15:],
        y[15:],
        "not O",
        method="kd-pc",
        confidence_options={"n_draws": 20},
    )
    expected = root_calibration_mse(
        answers.correct, answers.confidence, n_bins=5, **CENTERED
    )
    assert scorer(tagger, X[15:], y[15:]) == -expected
    assert repr(scorer) == (
        "make_confidence_scorer(root_calibration_mse, greater_is_better=False, "
        "query='not O', method='kd-pc', confidence_options={'n_draws': 20}, n_bins=5, "
        "strategy='uniform', claim='center')"
    )
    ranking = make_confidence_scorer(error_average_precision, greater_is_better=True)
    assert repr(ranking) == (
        "make_confidence_scorer(error_average_precision, greater_is_better=True)"
    )


def test_a_search_inside_a_cross_validation_is_scored_too():
    X, y = features(n_sequences=30)
    tagger = CWSequenceTagger(random_state=0, max_iter=2)
    search = GridSearchCV(
        tagger,
        {"phi": [0.1, 1.0]},
        cv=2,
        scoring=get_scorer("neg_root_calibration_mse"),
    )
    scorer = get_scorer("neg_root_calibration_mse")
    scores = cross_val_score(search, X, y, cv=2, scoring=scorer, error_score="raise")
    assert (scores < 0).all()


def test_a_weight_counts_for_every_word_of_its_sequence():
    X, y = features(n_sequences=30)
    tagger = CWSequenceTagger(random_state=0, max_iter=2).fit(X[:15], y[:15])
    scorer = make_confidence_scorer(mean_weighted, greater_is_better=True)
    weight = np.arange(15.0)
    assert_allclose(
        scorer(tagger, X[15:], y[15:], sample_weight=weight),
        tagger.score(X[15:], y[15:], sample_weight=weight),
        rtol=1e-12,
    )
    with pytest.raises(ValueError, match="one weight for each of the 15 sequences"):
        scorer(tagger, X[15:], y[15:], sample_weight=weight[1:])


def test_weights_are_routed_to_scorers_that_request_them():
    X, y = features(n_sequences=30)
    weight = np.arange(30) % 2.0
    tagger = CWSequenceTagger(random_state=0, max_iter=2)
    scorer = make_confidence_scorer(mean_weighted, greater_is_better=True)
    plain = cross_val_score(tagger, X, y, cv=2, scoring=scorer)
    with config_context(enable_metadata_routing=True):
        tagger.set_fit_request(sample_weight=False)
        options = {"cv": 2, "params": {"sample_weight": weight}}
        with pytest.raises(UnsetMetadataPassedError):
            cross_val_score(tagger, X, y, scoring=scorer, **options)
        asking = deepcopy(scorer).set_score_request(sample_weight=True)
        weighted = cross_val_score(tagger, X, y, scoring=asking, **options)
        several = cross_validate(tagger, X, y, scoring={"mean": asking}, **options)
    assert (weighted != plain).all()
    assert_allclose(several["test_mean"], weighted, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_scorers_survive_pickle_and_clone(name):
    X, y = features(n_sequences=30)
    tagger = CWSequenceTagger(random_state=0, max_iter=2).fit(X[:15], y[:15])
    scorer = get_scorer(name)
    search = clone(GridSearchCV(tagger, {}, scoring=scorer))
    for copy in (pickle.loads(pickle.dumps(scorer)), search.scoring):
        assert copy(tagger, X, y) == scorer(tagger, X, y)
        assert repr(copy) == repr(scorer)


def test_what_cannot_be_scored_is_refused_when_the_scorer_is_made():
    with pytest.raises(TypeError, match=r"get_scorer\('neg_brier_loss'\)"):
        make_confidence_scorer("brier_loss", greater_is_better=False)
    with pytest.raises(ValueError, match="names no label"):
        make_confidence_scorer(root_calibration_mse, greater_is_better=False, query=[])


def test_a_method_without_probabilities_is_refused_by_scores_of_probabilities():
    X, y = features(n_sequences=30)
    tagger = CWSequenceTagger(random_state=0, max_iter=2).fit(X, y)
    scorer = make_confidence_scorer(
        root_calibration_mse, greater_is_better=False, method="delta"
    )
    with pytest.raises(ValueError, match="not a probability"):
        scorer(tagger, X, y)


def test_a_scorer_of_a_partial_function_can_be_written():
    score = partial(calibration_mse, bin_size=5)
    text = repr(make_confidence_scorer(score, greater_is_better=False))
    assert text.startswith("make_confidence_scorer(functools.partial(<function calib")


@pytest.mark.parametrize("options", [3, ["n_draws"], "n_draws"])
def test_options_of_the_confidence_are_a_dict(options):
    with pytest.raises(TypeError, match=r"confidence_options is .* must be a dict of"):
        make_confidence_scorer(
            brier_loss, greater_is_better=False, confidence_options=options
        )
