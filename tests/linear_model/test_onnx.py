"""Classifiers exported by skl2onnx and run by onnxruntime."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from skcw.linear_model import (
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    to_onnx,
)
from skcw.linear_model.onnx import CLASSIFIERS, register_onnx_converters

# onnxruntime adds up in single precision.
SINGLE = 1e-5


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600].astype(np.float32), y[:600]


def run(model, X):
    """Export a model; return what onnxruntime computes with it."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    exported = to_onnx(model, X[:1]).SerializeToString()
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    outputs = session.run(None, {session.get_inputs()[0].name: X})
    return dict(zip(names, outputs, strict=True))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y,
        lambda y: np.array([f"digit {d}" for d in y]),
        lambda y: y % 2,
        lambda y: np.where(y > 4, "high", "low"),
    ],
    ids=["integers", "strings", "two integers", "two strings"],
)
def test_exported_labels_and_scores_are_those_of_the_classifier(
    classifier, labels, digits
):
    X, y = digits
    model = classifier(random_state=0).fit(X, labels(y))
    out = run(model, X)
    scores = X.astype(np.float64) @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([-scores, scores])
    rounding = SINGLE * np.abs(scores).max()
    assert_allclose(out["scores"], scores, rtol=0, atol=rounding)
    # Where two scores are as good as equal, rounding may choose the other label.
    clear = np.ptp(np.partition(scores, -2, axis=1)[:, -2:], axis=1) > rounding
    assert clear.mean() > 0.9
    assert_array_equal(out["label"][clear], model.predict(X)[clear])


def test_a_pipeline_can_be_exported(digits):
    X, y = digits
    model = make_pipeline(MaxAbsScaler(), MultiClassCW(random_state=0)).fit(X, y)
    out = run(model, X)
    assert np.mean(out["label"] == model.predict(X)) > 0.99


def test_labels_that_onnx_lacks_are_refused(digits):
    X, y = digits
    model = MultiClassCW(random_state=0).fit(X, y > 4)
    with pytest.raises(TypeError, match="integers or strings"):
        run(model, X)


@pytest.mark.parametrize("classifier", [MultiClassCW, MultiClassAROW])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(
    "params", [{}, {"fit_intercept": False}, {"averaging": True}], ids=str
)
def test_exported_probabilities_are_those_of_predict_proba(
    classifier, n_classes, params, digits
):
    X, y = digits
    model = classifier(random_state=0, **params).fit(X, y % n_classes)
    # A row without any feature has the least variance there can be.
    X = np.concatenate([X, np.zeros_like(X[:1])])
    out = run(model, X)["probabilities"]
    assert_allclose(out, model.predict_proba(X), rtol=0, atol=SINGLE)
    assert_allclose(out.sum(axis=1), 1.0, rtol=SINGLE)


def test_probabilities_of_two_gaussians_are_exported(digits):
    X, y = digits
    model = MultiClassCW(random_state=0, variance_scale=2.0).fit(X, y % 2)
    out = run(model, X)["probabilities"]
    assert_allclose(out, model.predict_proba(X), rtol=0, atol=SINGLE)


def test_where_there_are_no_probabilities_none_are_exported(digits):
    X, y = digits
    assert "probabilities" not in run(MultiClassPA(random_state=0).fit(X, y), X)
    integrals = MultiClassCW(random_state=0, variance_scale=1.0).fit(X, y)
    assert list(run(integrals, X)) == ["label", "scores"]


def test_one_that_another_label_leads_in_probability_is_still_first(digits):
    X, y = digits
    model = MultiClassCW(random_state=0).fit(X, y)
    # Much caution makes labels with small variances likelier than the predicted one.
    model.shrinkage_ = 50.0
    predicted = model.predict(X)
    out = run(model, X)["probabilities"]
    assert_allclose(out, model.predict_proba(X), rtol=0, atol=SINGLE)
    assert (out.argmax(axis=1) == predicted).mean() > 0.99


def test_skl2onnx_itself_knows_the_classifiers_after_one_call(digits):
    skl2onnx = pytest.importorskip("skl2onnx")
    X, y = digits
    register_onnx_converters()
    exported = skl2onnx.to_onnx(MultiClassCW(random_state=0).fit(X, y), X[:1])
    names = [output.name for output in exported.graph.output]
    assert names == ["label", "scores", "probabilities"]


def test_the_extra_that_is_missing_is_named(digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match="pip install skl2onnx"):
        to_onnx(MultiClassCW())
