"""Docstrings say what a parameter does; measured figures live in benchmarks/.

A measured figure is written without a zero before the point (``.937``) or in percent
with two digits (``94.27``); parameters and bounds have the zero (``0.95``).
"""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "skcw"
MEASURED = re.compile(r"(?<![\w.`*/=])-?(?:\.\d{2,}|\d\d\.\d\d)(?![\w.]*[\w`%])")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def measured(source):
    """Return the measured figures of the docstrings of a module, without doctests."""
    nodes = (n for n in ast.walk(ast.parse(source)) if isinstance(n, DOCUMENTED))
    docs = "\n\n".join(filter(None, map(ast.get_docstring, nodes)))
    told = (part.partition(">>>")[0] for part in docs.split("\n\n"))
    return MEASURED.findall("\n\n".join(told))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_no_docstring_holds_a_measured_figure(path):
    assert measured(path.read_text(encoding="utf-8")) == []


def test_what_counts_as_measured():
    text = "F1 .937, 94.27 (-.0031) with C=0.01, `.5`, v1.25, 0.95, 3.14159, 75.00%"
    assert MEASURED.findall(text) == [".937", "94.27", "-.0031"]
    assert measured('"""About .93.\n\n>>> 1 / 8\n.125\n\nAnd .94.\n"""') == [
        ".93",
        ".94",
    ]
