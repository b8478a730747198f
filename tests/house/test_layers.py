"""The shape of the package: rooms stand in layers and imports point downwards."""

import ast
import re
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "skcw"

LAYERS = [
    {"_kernels", "_compat", "_version", "exceptions"},
    {"data", "metrics"},
    {"features"},
    {"_belief", "_callbacks", "constraints", "_decoding", "_monitor", "persistence"},
    {"confidence"},
    {"tagging", "linear_model"},
    {"pipeline"},
    {"calibration"},
    {"_loading"},
    {"display", "datasets", "utils"},
    {"__init__"},  # the facade `skcw` itself, which re-exports what lies below
    {"cli"},
    {"__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}

MODULES = sorted(
    path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".pyx", ".pxd"}
)

# Import names that come with the declared dependencies.
DECLARED = {
    "numpy", "scipy", "sklearn", "joblib", "threadpoolctl",
    "pycrfsuite", "safetensors", "tqdm", "tabulate",
}  # fmt: skip
# What only some users have; imported inside the function that needs it.
OPTIONAL = {"matplotlib", "pytest", "pandas", "skl2onnx", "tqdm"}
CYTHON_ONLY = {"cython", "libc", "cpython", "libcpp"}

# `from a.b cimport c`, `cimport a.b`, `import a.b`: all that kernels ever write.
CYTHON_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+c?import\s+(.*)$")
CYTHON_IMPORT = re.compile(r"^\s*c?import\s+([\w., ]+)")


def room_of(path):
    """Return the room a module belongs to: the first part below the package."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def python_imports(path):
    """Yield (line, depth, relative level, module, imported names) of a .py file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        top = id(node) in at_top
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, top, 0, alias.name, []
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            yield node.lineno, top, node.level, node.module or "", names


def cython_imports(path):
    """Yield the same as `python_imports` for a .pyx or .pxd file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        code = line.split("#")[0]
        if match := CYTHON_FROM.match(code):
            dotted = match[1].lstrip(".")
            level = len(match[1]) - len(dotted)
            yield number, True, level, dotted, re.findall(r"\w+", match[2])
        elif match := CYTHON_IMPORT.match(code):
            for name in match[1].split(","):
                yield number, True, 0, name.split(" as ")[0].strip(), []


def imports(path):
    return python_imports(path) if path.suffix == ".py" else cython_imports(path)


def absolute(path, level, module):
    """Return the dotted name a relative import points to."""
    if not level:
        return module
    package = ("skcw", *path.relative_to(PACKAGE).parts[:-1])
    base = package[: len(package) - level + 1]
    return ".".join([*base, *([module] if module else [])])


def rooms_imported(path):
    """Yield (line, room) of every import that stays inside the package."""
    for line, _, level, module, names in imports(path):
        parts = absolute(path, level, module).split(".")
        if parts[0] != "skcw":
            continue
        if len(parts) > 1:
            yield line, parts[1]
        else:
            for name in names or ["__init__"]:
                yield line, name if name in RANK else "__init__"


def module_id(path):
    return path.relative_to(PACKAGE).as_posix()


def test_every_room_of_the_package_has_a_layer():
    rooms = {room_of(path) for path in MODULES}
    assert rooms <= set(RANK), f"give {sorted(rooms - set(RANK))} a layer"


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_imports_point_downwards(path):
    here = room_of(path)
    upwards = [
        f"{module_id(path)}:{line} imports {room}"
        for line, room in rooms_imported(path)
        if room != here and RANK.get(room, len(LAYERS)) >= RANK[here]
    ]
    assert not upwards


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_only_declared_dependencies_are_imported(path):
    known = DECLARED | CYTHON_ONLY | set(sys.stdlib_module_names) | {"skcw"}
    strangers = [
        f"{module_id(path)}:{line} imports {module}"
        for line, top, level, module, _ in imports(path)
        if not level and (root := module.split(".")[0]) not in known
        if top or root not in OPTIONAL
    ]
    assert not strangers


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_private_scikit_learn_names_are_imported_by_compat_alone(path):
    if room_of(path) == "_compat":
        return
    private = [
        f"{module_id(path)}:{line}"
        for line, _, level, module, names in imports(path)
        if not level and module.split(".")[0] == "sklearn"
        if any(part.startswith("_") for part in [*module.split("."), *names])
    ]
    assert not private, "import it from skcw._compat"


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("from skcw.tagging import CWSequenceTagger", "tagging"),
        ("from skcw import tagging", "tagging"),
        ("from skcw import CWSequenceTagger", "__init__"),
        ("import skcw.tagging", "tagging"),
        ("import skcw", "__init__"),
        ("def f():\n    from ..tagging import x", "tagging"),
        ("from .. import tagging", "tagging"),
    ],
)
def test_an_upward_import_is_seen_however_it_is_written(
    tmp_path, monkeypatch, source, room
):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    path = tmp_path / "data" / "batch.py"
    path.parent.mkdir()
    path.write_text(source)
    assert [found for _, found in rooms_imported(path)] == [room]


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("from skcw.tagging cimport decode", "tagging"),
        ("cimport skcw.tagging", "tagging"),
        ("from ..tagging.fast cimport (\n    decode,\n)", "tagging"),
        ("from .. import tagging  # why", "tagging"),
    ],
)
def test_an_upward_cimport_is_seen_however_it_is_written(
    tmp_path, monkeypatch, source, room
):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    path = tmp_path / "_kernels" / "lattice.pyx"
    path.parent.mkdir()
    path.write_text(source)
    assert [found for _, found in rooms_imported(path)] == [room]
