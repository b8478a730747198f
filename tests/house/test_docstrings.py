"""Docstrings of the public surface: present, true to the signature, with an example."""

import ast
import importlib
import inspect
import re
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from tests.house.public_names import (
    exported,
    is_public,
    module_names,
    public_methods,
    public_objects,
)

OBJECTS = public_objects()
CLASSES = {name: cls for name, cls in OBJECTS.items() if inspect.isclass(cls)}
# An error's parameters are its message, and an example of one teaches nothing.
TEACHING = {n: c for n, c in CLASSES.items() if not issubclass(c, BaseException)}
METHODS = {
    f"{name}.{method}": function
    for name, cls in TEACHING.items()
    for method, function in public_methods(cls).items()
}
CALLABLES = {n: o for n, o in OBJECTS.items() if n not in CLASSES} | TEACHING | METHODS

# A line such as `alpha, beta : float, default=1` or `**kwargs : dict`.
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: *:.*)?$")
TITLE = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)


def sections(doc):
    """Return {title: text} of a numpydoc docstring."""
    pieces = TITLE.split(inspect.cleandoc(doc))
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def documented(text):
    """Return the entries of a Parameters section, each a list of names."""
    lines = [line for line in text.splitlines() if line and not line.startswith(" ")]
    matches = [ENTRY.match(line) for line in lines]
    assert all(matches), f"not an entry of a Parameters section: {lines}"
    return [match[1].split(", ") for match in matches]


def said_defaults(text):
    """Return {name: what a Parameters section says its default is}."""
    lines = [line for line in text.splitlines() if re.match(r"\w.*default=", line)]
    return {
        name: line.partition("default=")[2]
        for line in lines
        for name in ENTRY.match(line)[1].split(", ")
    }


def value_of(said, thing):
    """Return what a default means: a literal, or a name of its module or of NumPy."""
    try:
        return ast.literal_eval(said)
    except (SyntaxError, ValueError):
        module = sys.modules[thing.__module__]
        return getattr(module, said, getattr(np, said, said))


def same_default(said, default):
    """Tell whether two are one; a float may be said with two digits."""
    if isinstance(default, float) and not isinstance(said, str):
        return said in (default, float(f"{default:.1e}"))
    return type(said) is type(default) and said == default


def parameter_text(thing, doc):
    """Return what is said on parameters; tuples may call their fields attributes."""
    found = sections(doc)
    if inspect.isclass(thing) and issubclass(thing, tuple):
        return found.get("Parameters", found.get("Attributes", ""))
    return found.get("Parameters", "")


def accepted(thing):
    """Return the names a class or function takes, stars included."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(thing).parameters.values()
    names = [stars.get(p.kind, "") + p.name for p in parameters]
    return [name for name in names if name not in {"self", "cls", "_cls"}]


def description(thing, name):
    """Return a docstring; a method without one speaks through its base class."""
    owner = OBJECTS.get(name.rpartition(".")[0])
    method = getattr(owner, name.rpartition(".")[2], None)
    return inspect.getdoc(thing) or inspect.getdoc(method)


def is_brief(name, doc):
    """Tell whether a docstring may leave its parameters out: a helper's method's."""
    owner = TEACHING.get(name.rpartition(".")[0])
    helper = name in METHODS and not issubclass(owner, BaseEstimator)
    return helper and "Parameters" not in sections(doc)


def test_the_surface_is_seen():
    seen = {name.rpartition(".")[2] for name in OBJECTS}
    assert {"CWSequenceTagger", "SequenceBatch", "span_f1_score", "load"} <= seen


def test_every_public_name_has_one_home():
    homes = {}
    # The facade only repeats what rooms export.
    for room in filter(is_public, set(module_names()) - {"skcw"}):
        for name in exported(importlib.import_module(room)):
            homes.setdefault(name, []).append(room)
    assert {name: rooms for name, rooms in homes.items() if len(rooms) > 1} == {}


@pytest.mark.parametrize("name", [n for n in module_names() if n.count(".") == 1])
def test_every_public_room_says_what_it_exports(name):
    room = importlib.import_module(name)
    if is_public(name) and hasattr(room, "__path__"):
        own = [thing for thing in vars(room).values() if callable(thing)]
        assert hasattr(room, "__all__") or not own


@pytest.mark.parametrize("name", OBJECTS)
def test_every_public_name_has_a_docstring(name):
    assert (inspect.getdoc(OBJECTS[name]) or "").strip()


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_are_documented_exactly_as_they_are_taken(name):
    thing = CALLABLES[name]
    doc = description(thing, name)
    assert doc, f"{name} has no docstring"
    if is_brief(name, doc):
        return
    entries = documented(parameter_text(thing, doc))
    names = [name for entry in entries for name in entry]
    if any(len(entry) > 1 for entry in entries):
        # What is told in one breath need not stand together in the signature.
        assert sorted(names) == sorted(accepted(thing))
    else:
        assert names == accepted(thing)


@pytest.mark.parametrize("name", CALLABLES)
def test_defaults_are_those_that_the_docstring_says(name):
    thing = CALLABLES[name]
    said = said_defaults(parameter_text(thing, description(thing, name)))
    taken = inspect.signature(thing).parameters
    found = {each: taken[each].default for each in said}
    wrong = {
        each: default
        for each, default in found.items()
        if not same_default(value_of(said[each], thing), default)
    }
    assert wrong == {}


@pytest.mark.parametrize("name", TEACHING)
def test_every_public_class_shows_an_example(name):
    assert ">>> " in sections(inspect.getdoc(TEACHING[name])).get("Examples", "")


def test_a_grouped_and_a_starred_entry_are_read():
    text = "\nx, y : array\n    Points.\n\n*rest : int\n    More.\n**options\n    All."
    assert documented(text) == [["x", "y"], ["*rest"], ["**options"]]


def test_a_default_is_read_as_python_reads_it():
    text = "x, y : int, default=3\n    default=4 is not meant.\nz : str, default=None"
    assert said_defaults(text) == {"x": "3", "y": "3", "z": "None"}
    assert value_of("1e-4", same_default) == 0.0001
    assert value_of('("O",)', same_default) == ("O",)
    assert value_of("float64", same_default) is np.float64
    assert same_default(2.2e-16, 2.220446049250313e-16)
    assert not same_default(1, True) and not same_default(0.1, 1.0)


def test_sections_are_told_apart():
    doc = """Do a thing.

    Parameters
    ----------
    x : int
        It.

    See Also
    --------
    other : That.
    """
    assert list(sections(doc)) == ["Parameters", "See Also"]
