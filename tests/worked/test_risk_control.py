"""Risk control of rows, by hand: how few rows guarantee a risk."""

import numpy as np
import pytest

from skcw.calibration import risk_threshold
from skcw.calibration.risk_control import first_count


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


def test_tests_begin_where_two_errors_pass_or_at_a_quarter():
    # With two, .9^n + n .1 .9^(n-1) + n (n-1) / 2 .01 .9^(n-2) is .0530 for n = 60 and
    # .0491 for n = 61.
    counts = {28: 28, 29: 29, 45: 29, 46: 46, 60: 46, 61: 61, 244: 61, 245: 62}
    assert {n: first_count(n, 0.1, 0.05) for n in counts} == counts
