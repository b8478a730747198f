"""The page on evaluation: its code runs."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evaluation.md"


def test_the_code_of_the_page_runs(capsys):
    text = PAGE.read_text(encoding="utf-8")
    [block] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = {}
    exec(compile(block, PAGE.name, "exec"), found)
    assert "micro avg" in capsys.readouterr().out
    assert found["scorer"].sign == -1
