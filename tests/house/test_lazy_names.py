"""Packages that import late offer the same names as others, to programs and editors."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(importlib.import_module("skcw").__file__).parent
LATE = sorted(
    ".".join(["skcw", *path.relative_to(PACKAGE).parts[:-1]])
    for path in PACKAGE.rglob("__init__.py")
    if "lazy_names(" in path.read_text(encoding="utf-8")
)


def shown_to_editors(module):
    """Return the names that a package imports for type checkers only."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    for block in blocks:
        if isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            return {a.asname or a.name: n.module for n in block.body for a in n.names}
    return {}


def test_packages_that_import_late_are_listed():
    assert LATE == ["skcw", "skcw.data", "skcw.features", "skcw.io", "skcw.pipeline"]


@pytest.mark.parametrize("name", LATE)
def test_every_public_name_is_there_and_listed(name):
    module = importlib.import_module(name)
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, public) for public in module.__all__)


@pytest.mark.parametrize("name", LATE)
def test_editors_see_the_objects_that_programs_get(name):
    module = importlib.import_module(name)
    shown = shown_to_editors(module)
    assert shown
    assert set(shown) <= set(module.__all__)
    for public, home in shown.items():
        assert getattr(module, public) is getattr(importlib.import_module(home), public)


@pytest.mark.parametrize("name", LATE)
def test_late_names_are_those_shown_to_editors(name):
    program = (
        f"import {name} as m\n"
        "print(*[public for public in m.__all__ if public not in vars(m)])"
    )
    found = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    late = set(found.stdout.split())
    assert late == set(shown_to_editors(importlib.import_module(name)))


@pytest.mark.parametrize("name", LATE)
def test_a_name_that_is_not_there_is_missed_as_usual(name):
    module = importlib.import_module(name)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'no'"):
        module.no  # noqa: B018
    with pytest.raises(ImportError):
        exec(f"from {name} import no")
