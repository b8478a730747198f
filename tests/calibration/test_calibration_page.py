"""The page on calibration keeps its word: its code runs."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "calibration.md"


def test_the_code_runs_one_block_after_another(capsys):
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = {}
    exec(compile("\n".join(blocks), PAGE.name, "exec"), found)
    bound, sets = capsys.readouterr().out.splitlines()
    assert bound.startswith("accepted ") and sets.startswith("[['")
    assert (found["probability"] >= 0).all() and (found["probability"] <= 1).all()
    assert len(found["accepted"]) == len(found["sets"]) == 200
