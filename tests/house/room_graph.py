"""The rooms of the package: who imports whom, how large they are, who inherits whom.

``python tests/house/room_graph.py`` prints all of it.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "skcw"
SUFFIXES = {".py", ".pyx", ".pxd", ".pxi"}

if __name__ == "__main__":
    # Behind all else, so that the sources do not hide an installed package.
    sys.path.append(str(PROJECT))

from tests.house.code_lines import code_lines  # noqa: E402

# `from a.b cimport c`, `cimport a.b`, `import a.b`: all that kernels ever write.
CYTHON_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+c?import\s+(.*)$")
CYTHON_IMPORT = re.compile(r"^\s*c?import\s+([\w., ]+)")


def modules(package=PACKAGE):
    """Return the paths of all sources of the package."""
    return sorted(path for path in package.rglob("*") if path.suffix in SUFFIXES)


def room_of(path, package=PACKAGE):
    """Return the room a module belongs to: the first part below the package."""
    return path.relative_to(package).with_suffix("").parts[0]


def python_imports(path):
    """Yield (line, at top, relative level, module, imported names) of a .py file."""
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
    """Yield the same as `python_imports` for a file of Cython."""
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
    """Yield the imports of a source of either language."""
    return python_imports(path) if path.suffix == ".py" else cython_imports(path)


def rooms_imported(path, rooms, package=PACKAGE):
    """Yield (line, room) of every import that stays inside the package.

    ``from skcw import name`` is an import of the room of that name if there is one, and
    of the facade ``__init__`` otherwise.
    """
    for line, _, level, module, names in imports(path):
        parts = _absolute(path, level, module, package).split(".")
        if parts[0] != "skcw":
            continue
        if len(parts) > 1:
            yield line, parts[1]
        else:
            for name in names or ["__init__"]:
                yield line, name if name in rooms else "__init__"


def _absolute(path, level, module, package):
    """Return the dotted name a relative import points to."""
    if not level:
        return module
    parents = ("skcw", *path.relative_to(package).parts[:-1])
    base = parents[: len(parents) - level + 1]
    return ".".join([*base, *([module] if module else [])])


def import_counts():
    """Return {room: Counter of the rooms that it imports}, the room itself left out."""
    paths = modules()
    rooms = {room_of(path) for path in paths}
    counts = defaultdict(Counter)
    for path in paths:
        here = room_of(path)
        found = (room for _, room in rooms_imported(path, rooms) if room != here)
        counts[here].update(found)
    return dict(counts)


def room_sizes():
    """Return {room: (Python files, Cython files, code lines)}."""
    sizes = defaultdict(lambda: [0, 0, 0])
    for path in modules():
        size = sizes[room_of(path)]
        size[0] += path.suffix == ".py"
        size[1] += path.suffix != ".py"
        size[2] += len(code_lines(path.read_text(encoding="utf-8")))
    return {room: tuple(size) for room, size in sizes.items()}


def module_graph(package=PACKAGE):
    """Return {module: modules that it imports}, late imports too."""
    names = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): path
        for path in package.rglob("*.py")
        if path.name != "__init__.py"
    }
    graph = {}
    for name, path in names.items():
        found = set()
        for _, _, level, module, imported in imports(path):
            if not level:
                found |= {module, *(f"{module}.{part}" for part in imported)}
        graph[name] = found & set(names)
    return graph


def cycles(graph):
    """Return the modules that can be reached from themselves."""

    def reached(start):
        seen, left = set(), [start]
        while left:
            new = graph[left.pop()] - seen
            seen |= new
            left += new
        return seen

    return sorted(name for name in graph if name in reached(name))


def ancestors():
    """Return {public estimator: names of its ancestors}, the nearest first."""
    from sklearn.base import BaseEstimator

    from tests.house.public_names import public_objects

    found = {}
    for thing in public_objects().values():
        if isinstance(thing, type) and issubclass(thing, BaseEstimator):
            line = thing.__mro__[1 : thing.__mro__.index(BaseEstimator) + 1]
            found[thing.__name__] = [cls.__name__ for cls in line]
    return found


def report():
    """Return imports, sizes and ancestors as text."""
    sizes, counts = room_sizes(), import_counts()
    # A room without imports comes first; names break ties.
    order = sorted(sizes, key=lambda room: (len(counts[room]), room))
    lines = ["room: imports of other rooms"]
    for room in order:
        found = ", ".join(f"{name} {n}" for name, n in counts[room].most_common())
        lines.append(f"  {room}: {found or '-'}")
    lines.append("room: Python files, Cython files, code lines")
    for room in order:
        lines.append(f"  {room}: {', '.join(map(str, sizes[room]))}")
    total = [sum(size[part] for size in sizes.values()) for part in range(3)]
    lines.append(f"  all: {', '.join(map(str, total))}")
    lines.append("estimator: ancestors")
    for name, line in sorted(ancestors().items()):
        lines.append(f"  {name}: {' > '.join(line)}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
