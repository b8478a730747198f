"""The page about large corpora keeps its word: its code runs, its commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from skcw.cli.main import parse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "large-corpora.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language):
    """Return what stands in the fences of a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def test_the_code_runs_one_block_after_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = {}
    exec(compile("\n".join(blocks("python")), PAGE.name, "exec"), found)
    assert len(eval(capsys.readouterr().out)) == 2
    # The checkpoints are gone once the model is saved.
    assert sorted(p.name for p in tmp_path.iterdir()) == ["huge.conll", "names.skcw"]


@pytest.mark.parametrize("line", "".join(blocks("bash")).splitlines())
def test_the_commands_are_command_lines(line):
    program, *words = shlex.split(line.rpartition(" | ")[2], comments=True)
    assert program == "skcw"
    assert parse(words).command == words[0]
