"""Integers that no float can hold are refused in words, wherever they come in."""

import numpy as np
import pytest

from skcw import (
    CWSequenceTagger,
    MultiClassCW,
    PASequenceTagger,
    SelectiveClassifier,
)
from skcw.calibration import (
    IsotonicCalibrator,
    conformal_sets,
    conformal_threshold,
    recall_threshold,
    risk_threshold,
)
from skcw.features import WindowFeatures
from skcw.metrics import (
    brier_loss,
    classwise_calibration_error,
    error_average_precision,
)

HUGE = 10**400
X, Y = np.arange(8.0).reshape(8, 1), np.arange(8) % 2
S, L = [["a", "b"]] * 2, [["A", "B"]] * 2
MAP = IsotonicCalibrator().fit([True, False] * 3, np.linspace(0, 1, 6))
CALLS = {
    "rows": lambda: MultiClassCW().fit([[HUGE], [0]], [0, 1]),
    "asked rows": lambda: MultiClassCW().fit(X, Y).predict([[HUGE]]),
    "weights": lambda: MultiClassCW().fit(X, Y, [HUGE] * 8),
    "one weight": lambda: MultiClassCW().fit(X, Y, HUGE),
    "class weight": lambda: MultiClassCW(class_weight={0: HUGE}).fit(X, Y),
    "scale": lambda: MultiClassCW(variance_scale=HUGE).fit(X, Y),
    "weights of sequences": lambda: CWSequenceTagger().fit(S, L, [HUGE] * 2),
    "C of CW": lambda: CWSequenceTagger(C=HUGE).fit(S, L),
    "C of PA": lambda: PASequenceTagger(C=HUGE).fit(S, L),
    "tol": lambda: CWSequenceTagger(early_stopping={"tol": HUGE}).fit(S, L),
    "set risk": lambda: SelectiveClassifier(MultiClassCW(), set_risk=HUGE).fit(X, Y),
    "map": lambda: MAP([HUGE]),
    "map fit": lambda: IsotonicCalibrator().fit([True, False], [HUGE, 0.5]),
    "confidence": lambda: brier_loss([True, False], [HUGE, 0.5]),
    "outcomes": lambda: brier_loss([HUGE, 0], [0.5, 0.5]),
    "weights of a score": lambda: brier_loss([True], [0.5], sample_weight=[HUGE]),
    "tables": lambda: classwise_calibration_error([[True]], [[HUGE]]),
    "zero_division": lambda: error_average_precision([True], [0.5], zero_division=HUGE),
    "errors": lambda: risk_threshold([True], [0.5], max_errors_per_group=HUGE),
    "true entities": lambda: recall_threshold([[True]], [[0.5]], [HUGE]),
    "missing": lambda: conformal_threshold([0.5], n_missing=HUGE),
    "scores": lambda: conformal_sets([[HUGE]], 0.5, ["a"]),
    "threshold": lambda: conformal_sets([[0.5]], HUGE, ["a"]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_huge_integers_are_refused_in_words(call):
    with pytest.raises((ValueError, TypeError)):
        call()


def test_values_of_no_kind_and_half_characters_are_refused_in_words():
    with pytest.raises(TypeError, match="correct holds no datetime64"):
        brier_loss(np.array([], dtype="M8[s]"), [])
    with pytest.raises(ValueError, match="half of a character"):
        WindowFeatures(['matches(word, "\ud800")']).fit([["a"]])
