"""A short run of the fuzzer of command lines, with fixed seeds."""

from tests.fuzz.command_lines import OPTIONS, case
from tests.fuzz.isolation import OK, run_cases


def test_no_command_line_ends_in_an_error_of_python():
    report = run_cases(case, range(120), **OPTIONS)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert report.counts[OK] == 120
