"""Scores, intervals and comparisons of fixed words, digit by digit.

What is here was computed before the scores got their methods; it must not move.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcw.metrics import compare_scores, score_interval

NUMBER = np.arange(600)
CONFIDENCE = ((NUMBER * 37 + 11) % 101) / 101 * 0.6 + 0.4
CORRECT = ((NUMBER * 61 + 7) % 97) / 97 < CONFIDENCE**1.4
SETTINGS = {"groups": NUMBER // 8, "n_resamples": 100}
# Draws are in single precision, and quantiles of them are interpolated.
DIGITS = {"rtol": 1e-7, "atol": 1e-12}

# The score, and the ends of its interval.
INTERVALS = {
    "calibration_mse": (0.008114604808, 0, 0.006466986241),
    "root_calibration_mse": (0.09008110128, 0, 0.08431607802),
    "expected_calibration_error": (0.0797029703, 0.04093844021, 0.1217152873),
    "brier_loss": (0.1999910466, 0.1907076141, 0.2096093408),
    "log_loss": (0.5780540663, 0.5541520342, 0.6029695398),
    "error_average_precision": (0.6079480683, 0.5416662584, 0.6704758122),
    "area_under_risk_coverage": (0.1973064289, 0.1773010965, 0.218968227),
    "brier_miscalibration": (0.009869008866, 0.0009268541219, 0.01340149665),
    "brier_discrimination": (0.04587518446, 0.02935334078, 0.0533188249),
    "brier_uncertainty": (0.2359972222, 0.2312320241, 0.2401366401),
    "log_loss_miscalibration": (0.02549804414, 0.001565468149, 0.0280173383),
    "log_loss_discrimination": (0.1123181263, 0.07260250609, 0.1240019983),
    "log_loss_uncertainty": (0.6648741485, 0.6551268815, 0.6732886549),
}
WITH_OPTIONS = [
    (
        "root_calibration_mse",
        {"strategy": "uniform", "claim": "center"},
        (0.09297173676, 0.03121895044, 0.1103422531),
    ),
    (
        "expected_calibration_error",
        {"strategy": "quantile"},
        (0.08175577558, 0.04195174371, 0.1193299446),
    ),
    (
        "expected_calibration_error",
        {"norm": "max"},
        (0.1525052505, 0, 0.1835660405),
    ),
]
# The difference to the roots of the confidences, its ends, and the p-value.
COMPARISONS = {
    "calibration_mse": (
        -0.04731236436,
        -0.05432303553,
        -0.04029144324,
        1.542508382e-21,
    ),
    "root_calibration_mse": (
        -0.1453482282,
        -0.2613987374,
        -0.1002945242,
        1.542508382e-21,
    ),
    "expected_calibration_error": (-0.1301781523, -0.1644390224, -0.105680696, 0.01),
    "brier_loss": (-0.0474056891, -0.05446076125, -0.04035061695, 1.855394846e-21),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_keep_their_digits(name):
    found = score_interval(name, CORRECT, CONFIDENCE, **SETTINGS)
    assert_allclose(found, INTERVALS[name], **DIGITS)


@pytest.mark.parametrize(("name", "options", "expected"), WITH_OPTIONS)
def test_intervals_with_options_keep_their_digits(name, options, expected):
    found = score_interval(name, CORRECT, CONFIDENCE, **options, **SETTINGS)
    assert_allclose(found, expected, **DIGITS)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_keep_their_digits(name):
    rival = np.sqrt(CONFIDENCE)
    found = compare_scores(name, CORRECT, CONFIDENCE, CORRECT, rival, **SETTINGS)
    assert_allclose(found, COMPARISONS[name], **DIGITS)
