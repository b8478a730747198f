"""Short runs of malformed input with fixed seeds; long ones are started by hand."""

import pytest

from tests.fuzz import column_files, feature_lines, functions, inputs, text_files
from tests.fuzz.isolation import FINDINGS, OK, run_cases

# Enough of them that some are accepted, few enough for a few seconds altogether.
N_CASES = 25

every_input = pytest.mark.parametrize("group", inputs.groups())


@every_input
def test_malformed_input_of_estimators_is_refused_or_used(group):
    report = run_cases(inputs.groups()[group], range(N_CASES))
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.parametrize("group", functions.groups())
def test_malformed_input_of_functions_is_refused_or_used(group):
    report = run_cases(functions.groups()[group], range(N_CASES))
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.parametrize("group", feature_lines.groups())
def test_malformed_feature_lines_are_refused_or_used(group):
    report = run_cases(feature_lines.groups()[group], range(8 * N_CASES))
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.parametrize("group", column_files.groups())
def test_malformed_column_files_are_refused_or_read(group):
    case, expected = column_files.groups()[group], column_files.EXPECTED
    report = run_cases(case, range(8 * N_CASES), documented=expected)
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.parametrize("group", text_files.groups())
def test_malformed_text_files_are_refused_or_read(group):
    report = run_cases(text_files.groups()[group], range(8 * N_CASES))
    assert not report.findings, "\n".join(map(str, report.findings))
    assert report.counts[OK] > N_CASES


def test_some_of_the_changed_input_is_accepted():
    # A generator whose every case ends at the first check would test nothing else.
    report = run_cases(inputs.groups()["fit CWSequenceTagger"], range(60))
    assert report.counts[OK] > 3
    assert not any(report.counts[kind] for kind in FINDINGS)
