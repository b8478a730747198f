"""The picture of risk control: bounds and true risks are drawn as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcw import (
    MultiClassCW,
    SelectiveClassifier,
    SelectiveTagger,
    make_tagging_pipeline,
)
from skcw.datasets import make_tagged_corpus
from skcw.display import RiskControlDisplay


def pairs(n, seed):
    rng = np.random.RandomState(seed)
    confidence = rng.beta(8, 1, size=(n, 10))
    return rng.uniform(size=confidence.shape) < confidence, confidence


def test_bound_and_true_risk_are_drawn_by_accepted_share():
    display = RiskControlDisplay.from_predictions(*pairs(800, 0), *pairs(3000, 1))
    assert (np.diff(display.accepted) >= 0).all()
    assert (display.true_risk <= display.bound).all()
    x, y = display.line_.get_data()
    assert_allclose(x, display.accepted)
    assert_allclose(y, display.true_risk)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["true risk", "bound on the risk"]


def test_a_selective_tagger_is_drawn_by_its_own_risks():
    X, y = make_tagged_corpus(900, random_state=0, return_X_y=True)
    new, truth = make_tagged_corpus(200, random_state=1, return_X_y=True)
    tagger = SelectiveTagger(make_tagging_pipeline("ner"), risk=[0.05, 0.1]).fit(X, y)
    display = RiskControlDisplay.from_estimator(tagger, new, truth)
    assert display.bound.tolist() == [0.05, 0.1]
    share = np.concatenate(tagger.accept(new, 0.05)).mean()
    assert_allclose(display.accepted[0], share)


def test_a_selective_classifier_is_drawn():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + rng.normal(scale=0.3, size=900) > 0).astype(int)
    model = SelectiveClassifier(MultiClassCW(random_state=0), risk=0.2)
    display = RiskControlDisplay.from_estimator(
        model.fit(X[:600], y[:600]), X[600:], y[600:]
    )
    assert display.unit == "rows" and display.bound.tolist() == [0.2]


def test_thresholds_that_accept_nothing_cannot_be_drawn():
    with pytest.raises(ValueError, match="no threshold accepts anything"):
        RiskControlDisplay.from_predictions(*pairs(5, 0), *pairs(5, 1), risk=[0.001])
