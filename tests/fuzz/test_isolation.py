"""The runner of fuzz cases notices everything that it is there to notice."""

import ctypes
import os
import signal
import time

import numpy as np
import pytest

from skcw import CWSequenceTagger
from skcw.exceptions import ModelFileError
from tests.fuzz.isolation import (
    CRASH,
    DOCUMENTED_ERROR,
    HANG,
    NAN,
    OK,
    OTHER,
    nan_within,
    run_cases,
)


def behave(how):
    """Be a case that ends in the way that its seed says."""
    if how == "refuse":
        raise ModelFileError("no model")
    if how == "stumble":
        raise AttributeError("no attribute")
    if how == "crash":
        ctypes.string_at(0)
    if how == "leave":
        os._exit(3)
    if how == "hang":
        signal.pause()
    while how == "compute":
        pass
    if how == "take memory":
        return np.ones(10**9)
    return np.nan if how == "nan" else 1.0


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("work", OK),
        ("refuse", DOCUMENTED_ERROR),
        ("stumble", OTHER),
        ("nan", NAN),
        ("crash", CRASH),
        ("leave", CRASH),
        ("hang", HANG),
        ("compute", HANG),
        ("take memory", OTHER),
    ],
)
def test_every_ending_is_counted_and_the_next_case_runs(how, kind):
    seeds = ["work", how, "refuse"]
    wall_seconds = 0.5 if how == "hang" else 60.0
    limits = {"cpu_seconds": 0.2, "wall_seconds": wall_seconds, "memory": 2**30}
    report = run_cases(behave, seeds, **limits)
    assert report.counts.total() == 3
    assert report.counts[kind] >= 1
    assert report.counts[DOCUMENTED_ERROR] == 1 + (how == "refuse")
    assert [finding.seed for finding in report.findings] == (
        [] if kind in (OK, DOCUMENTED_ERROR) else [how]
    )


def test_every_case_has_the_time_to_itself():
    def compute(seed):
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass

    assert run_cases(compute, range(3), cpu_seconds=0.5).counts[OK] == 3


def test_a_finding_tells_what_and_where():
    [found] = run_cases(behave, ["stumble"]).findings
    assert "AttributeError: no attribute (test_isolation.py:" in str(found)
    [found] = run_cases(behave, ["crash"]).findings
    assert "SIGSEGV" in str(found)


def test_reports_can_be_added():
    total = run_cases(behave, ["work"]) + run_cases(behave, ["stumble", "refuse"])
    assert total.counts == {OK: 1, OTHER: 1, DOCUMENTED_ERROR: 1}
    assert total.messages == {"ModelFileError": 1}
    assert len(total.findings) == 1


def test_a_nan_is_found_within_a_fitted_tagger():
    tagger = CWSequenceTagger().fit([["a", "b"]], [["x", "y"]])
    assert not nan_within(vars(tagger))
    tagger.belief_.mean[3] = np.nan
    assert nan_within(tagger, "tagger") == "tagger.belief_.mean"
    assert nan_within({"a": [np.array([1, "x", float("nan")], object)]})
