"""The page about data keeps its word: its code runs and its commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from skcw.cli.main import parse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language):
    """Return what stands in the fences of a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def test_the_code_runs_one_block_after_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = {}
    exec(compile("\n".join(blocks("python")), PAGE.name, "exec"), found)
    (table,) = blocks("")
    labels = "['B-PER', 'I-PER', 'O', 'B-LOC', 'O']\n"
    assert capsys.readouterr().out == table + labels
    assert list(found["words"].columns)[-2:] == ["predicted", "confidence"]
    assert len(found["sentences"]) == 300


@pytest.mark.parametrize("line", "".join(blocks("bash")).splitlines())
def test_the_commands_are_command_lines(line):
    program, *words = shlex.split(line, comments=True)
    assert program == "skcw"
    assert parse(words).command == words[0]
