"""The shape of the package: rooms stand in layers and imports point downwards."""

import subprocess
import sys

import pytest

from tests.house.room_graph import (
    PACKAGE,
    PROJECT,
    ancestors,
    cycles,
    imports,
    module_graph,
    modules,
    room_of,
    rooms_imported,
)

# From the ground up. A room may be absent, but one that is not here has no place yet.
LAYERS = [
    {"_kernels", "_util", "exceptions"},
    {"data"},
    {"features", "io", "metrics"},
    {"_model"},
    {"confidence"},
    {"linear_model", "tagging"},
    {"active", "calibration", "evaluation", "pipeline", "reranking"},
    {"datasets", "display", "utils"},
    {"__init__", "cli"},
]
MOST_RANKS = 9
MOST_ENTRIES = 20
# Tests go through public doors where there is one; twins of kernels cannot.
MOST_PRIVATE_TESTS = 50
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}
# A room keeps its layer whether or not its name begins with an underscore.
RANK["__main__"] = len(LAYERS)  # `python -m skcw` calls the command line
RANK |= {room.lstrip("_"): RANK[room] for room in RANK if not room.startswith("__")}

MODULES = modules()

# Import names that come with the declared dependencies.
DECLARED = {
    "numpy", "scipy", "sklearn", "joblib", "threadpoolctl",
    "narwhals", "pycrfsuite", "sklearn_crfsuite", "tqdm", "tabulate",
}  # fmt: skip
# What only some users have; imported inside the function that needs it.
OPTIONAL = {"matplotlib", "onnx", "pytest", "pandas", "skl2onnx", "spacy", "tqdm"}
CYTHON_ONLY = {"cython", "libc", "cpython", "libcpp"}


def module_id(path):
    return path.relative_to(PACKAGE).as_posix()


def test_the_package_is_seen_at_a_glance():
    entries = {room_of(path) for path in MODULES} - {"__init__", "__main__"}
    assert len(LAYERS) <= MOST_RANKS
    assert len(entries) <= MOST_ENTRIES


def test_no_module_imports_itself_by_way_of_others():
    assert not cycles(module_graph())


def test_private_modules_are_imported_by_their_room_alone():
    found = [
        f"{module_id(path)}:{line} imports {module}"
        for path in MODULES
        for line, _, _, module, names in imports(path)
        for parts in [module.split(".")]
        if parts[0] == "skcw" and len(parts) > 1 and parts[1] != room_of(path)
        if any(part.startswith("_") for part in parts[2:])
    ]
    assert not found


def test_few_tests_import_private_modules_of_another_room():
    found = set()
    for path in sorted((PROJECT / "tests").rglob("*.py")):
        own = path.relative_to(PROJECT / "tests").parts[0].lstrip("_")
        for _, _, level, module, _ in imports(path):
            parts = [] if level else module.split(".")
            private = parts[:1] == ["skcw"] and any(p.startswith("_") for p in parts)
            if private and parts[1].lstrip("_") != own:
                found.add(path.relative_to(PROJECT).as_posix())
    assert len(found) <= MOST_PRIVATE_TESTS, sorted(found)


def test_every_room_of_the_package_has_a_layer():
    rooms = {room_of(path) for path in MODULES}
    assert rooms <= set(RANK), f"give {sorted(rooms - set(RANK))} a layer"


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_imports_point_downwards(path):
    here = room_of(path)
    upwards = [
        f"{module_id(path)}:{line} imports {room}"
        for line, room in rooms_imported(path, RANK)
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
def test_private_names_of_others_are_imported_by_compat_alone(path):
    if module_id(path) == "_util/compat.py":
        return
    private = [
        f"{module_id(path)}:{line}"
        for line, _, level, module, names in imports(path)
        if not level and module.split(".")[0] in DECLARED - {"numpy"}
        if any(part.startswith("_") for part in [*module.split("."), *names])
    ]
    assert not private, "import it from skcw._util.compat"


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
def test_an_upward_import_is_seen_however_it_is_written(tmp_path, source, room):
    path = tmp_path / "data" / "batch.py"
    path.parent.mkdir()
    path.write_text(source)
    assert [found for _, found in rooms_imported(path, RANK, tmp_path)] == [room]


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("from skcw.tagging cimport decode", "tagging"),
        ("cimport skcw.tagging", "tagging"),
        ("from ..tagging.fast cimport (\n    decode,\n)", "tagging"),
        ("from .. import tagging  # why", "tagging"),
    ],
)
def test_an_upward_cimport_is_seen_however_it_is_written(tmp_path, source, room):
    path = tmp_path / "_kernels" / "lattice.pyx"
    path.parent.mkdir()
    path.write_text(source)
    assert [found for _, found in rooms_imported(path, RANK, tmp_path)] == [room]


def test_the_room_graph_is_printed_by_a_script():
    script = PROJECT / "tests" / "house" / "room_graph.py"
    found = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True
    )
    for room in {room_of(path) for path in MODULES}:
        assert found.stdout.count(f"  {room}: ") == 2
    for name, above in ancestors().items():
        assert f"  {name}: {' > '.join(above)}\n" in found.stdout
