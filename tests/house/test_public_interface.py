"""The public interface: few names, each with a page, types, no side effects."""

import importlib.util
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from tests.house.public_names import public_methods, public_objects

PROJECT = Path(__file__).resolve().parents[2]
MOST_NAMES = 120
MOST_PARAMETERS = 20

OBJECTS = public_objects()
CLASSES = {name: cls for name, cls in OBJECTS.items() if inspect.isclass(cls)}
PAGES = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "examples").glob("*.py")),
]


def make_api():
    """Return the module that writes the page of all names."""
    path = PROJECT / "docs" / "make_api.py"
    spec = importlib.util.spec_from_file_location("make_api", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def exported():
    """Return the names that the rooms export, without errors."""
    rooms = make_api()
    errors = rooms.names_of("skcw.exceptions")
    return {name for room in rooms.ROOMS for name in rooms.names_of(room)} - set(errors)


def test_there_are_few_public_names():
    assert len(exported()) <= MOST_NAMES


def test_the_page_of_all_names_is_up_to_date():
    module = make_api()
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), (
        "run python docs/make_api.py"
    )


def test_every_public_name_is_on_a_page():
    pages = "\n".join(
        p.read_text(encoding="utf-8") for p in PAGES if p.name != "api.md"
    )
    assert not {name for name in exported() if not re.search(rf"\b{name}\b", pages)}


def test_constructors_have_few_parameters():
    sizes = {
        name: len(inspect.signature(cls).parameters)
        for name, cls in CLASSES.items()
        if hasattr(cls, "get_params")
    }
    assert not {name: n for name, n in sizes.items() if n > MOST_PARAMETERS}


def own_functions():
    """Return {name: function} of all public functions, methods and constructors."""
    found = {name: o for name, o in OBJECTS.items() if inspect.isroutine(o)}
    for name, cls in CLASSES.items():
        if issubclass(cls, BaseException):
            continue
        methods = public_methods(cls)
        if inspect.isfunction(vars(cls).get("__init__")):
            methods = {"__init__": vars(cls)["__init__"], **methods}
        found |= {f"{name}.{method}": f for method, f in methods.items()}
    return {name: inspect.unwrap(function) for name, function in found.items()}


FUNCTIONS = own_functions()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_public_signatures_are_annotated(name):
    function = FUNCTIONS[name]
    if not function.__module__.startswith("skcw"):
        return  # a field of a named tuple or a data class
    hints = typing.get_type_hints(function)
    parameters = set(inspect.signature(function).parameters) - {"self", "cls", "_cls"}
    assert parameters | {"return"} <= set(hints)


def test_importing_changes_nothing_outside_the_package():
    code = (
        "import joblib.parallel as p, sklearn, logging, warnings, numpy\n"
        "def state():\n"
        "    return (dict(p.BACKENDS), dict(p.EXTERNAL_BACKENDS),\n"
        "            sklearn.get_config(),\n"
        "            list(warnings.filters), list(logging.root.handlers),\n"
        "            str(numpy.random.get_state()), numpy.geterr())\n"
        "before = state()\n"
        "import skcw, skcw.tagging, skcw.linear_model, skcw.calibration\n"
        "import skcw.reranking, skcw.active, skcw.display, skcw.datasets, skcw.cli\n"
        "[getattr(skcw, name) for name in skcw.__all__]\n"
        "assert state() == before\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
