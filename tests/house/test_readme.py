"""The README keeps its word: its commands are one line each and its code runs."""

import re
import tomllib
from pathlib import Path

import pytest

from skcw.cli.main import parse

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
SCRIPTS = METADATA["project"]["scripts"]
# Every block of Python, and what is shown below it as its output, if anything.
SAMPLES = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", README, re.MULTILINE | re.DOTALL
)


def command(name):
    """Return the shell block that follows a marker, as .ci/run reads it."""
    pattern = rf"^<!-- command: {name} -->\n```\w*\n(.*?)^```$"
    return re.search(pattern, README, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("name", ["main-job", "tests"])
def test_each_command_does_everything_in_one_line(name):
    line = command(name)
    assert line.count("\n") == 1
    assert "venv" in line and "pip install" in line


def test_the_test_command_cannot_import_the_sources():
    # `python -m pytest` would put the uncompiled source folder on the path.
    assert re.search(r"&& \S+/bin/pytest( -n auto)?$", command("tests").rstrip())


def test_the_main_job_runs_a_command_that_is_installed():
    *_, program, subcommand = command("main-job").split()
    assert Path(program).name in SCRIPTS
    assert parse([subcommand]).command == subcommand


def test_the_code_samples_print_what_is_shown_below_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert SAMPLES
    names = {}
    for code, shown in SAMPLES:
        exec(compile(code, "README.md", "exec"), names)
        assert capsys.readouterr().out == shown, code
    # The code writes what the commands read; one writes its own.
    commands = "\n".join(re.findall("^skcw .*", README, re.MULTILINE))
    read = set(re.findall(r"[\w-]+\.conll", commands)) - {"corrected.conll"}
    assert read == {path.name for path in tmp_path.glob("*.conll")}


def test_most_code_samples_show_what_they_print():
    shown = [bool(output) for _, output in SAMPLES]
    assert sum(shown) >= len(shown) / 2


def test_the_code_of_the_page_on_sklearn_crfsuite_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (PROJECT / "docs/from-sklearn-crfsuite.md").read_text(encoding="utf-8")
    samples = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(samples) == 6
    exec(compile("\n".join(samples), "from-sklearn-crfsuite.md", "exec"), {})


def test_the_code_of_the_page_on_scale_runs():
    page = (PROJECT / "docs/scale.md").read_text(encoding="utf-8")
    [sample] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names = {}
    exec(compile(sample, "scale.md", "exec"), names)
    assert names["tagger"].history_[0]["bytes_sent"] > 0


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_to_files_lead_somewhere(target):
    assert (PROJECT / target).exists()


def test_every_picture_of_the_docs_can_be_drawn_again():
    script = (PROJECT / "docs/draw_pictures.py").read_text(encoding="utf-8")
    drawn = {f"{name}.png" for name in re.findall(r'"([a-z-]+)"', script)}
    pictures = {path.name for path in (PROJECT / "docs").glob("*.png")}
    assert pictures
    assert pictures <= drawn
