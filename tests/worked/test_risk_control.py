"""Risk control of rows, by hand: how few rows guarantee a risk."""

import numpy as np
import pytest

from skcw.calibration import risk_threshold


@pytest.mark.parametrize(
    ("wrong_at", "fewest"),
    # (1 - .1)^n <= .05: n >= log .05 / log .9 = 28.4. With one error there must be
    # .9^n + n .1 .9^(n-1) <= .05: .05237 for n = 45 and .04800 for n = 46.
    [((), 29), ((0,), 46)],
)
def test_a_risk_of_a_tenth_needs_29_rows_and_46_if_one_is_wrong(wrong_at, fewest):
    for n, holds in ((fewest - 1, False), (fewest, True)):
        correct = np.ones(n, dtype=bool)
        correct[list(wrong_at)] = False
        (made,) = risk_threshold(correct, np.linspace(1, 0.5, n), 0.1)
        assert made.holds == holds and (not holds or made.accepted == 1.0)
