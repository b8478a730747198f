"""What lies in the repository: small files, short functions, no machine's paths."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

LARGEST_FILE = 500_000
LONGEST_MODULE = 400
LONGEST_SCRIPT = 700  # tests and benchmarks are lists of cases
LONGEST_BODY = 50

MACHINE_PATH = re.compile(r"(?<![\w.~}:])/(?:work|root|home|Users|tmp)/\w")
REGISTRY_HOST = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.")

GENERATED = re.compile(
    r"(^|/)(\.git|\.venv[^/]*|\.?build|dist|__pycache__|\.[a-z_]+_cache|\.hypothesis"
    r"|[^/]*\.egg-info)(/|$)|\.(so|pyd|pyc|c)$"
)


def files_in_git():
    """Return what git tracks; without it, or in an sdist, what no tool generated."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=False
        ).stdout
    except FileNotFoundError:
        listed = b""
    if listed:
        names = listed.decode().rstrip("\0").split("\0")
    else:
        paths = (path for path in PROJECT.rglob("*") if path.is_file())
        names = [path.relative_to(PROJECT).as_posix() for path in paths]
        names = [name for name in names if not GENERATED.search(name)]
    return sorted(name for name in names if (PROJECT / name).is_file())


FILES = files_in_git()
CODE = [name for name in FILES if name.endswith((".py", ".pyx", ".pxd"))]
PACKAGE_CODE = [n for n in CODE if n.startswith("skcw/") and n.endswith(".py")]


def text_of(name):
    """Return a file's text, or nothing where it is no text."""
    try:
        return (PROJECT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def body_length(function):
    """Return the lines of a function without its signature and docstring."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_the_repository_is_seen():
    assert {"pyproject.toml", "README.md", "skcw/__init__.py"} <= set(FILES)


def test_no_file_is_large():
    sizes = {name: (PROJECT / name).stat().st_size for name in FILES}
    assert not {name: size for name, size in sizes.items() if size > LARGEST_FILE}


def test_no_generated_file_is_tracked():
    assert not [name for name in FILES if GENERATED.search(name)]


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY_HOST])
def test_no_text_names_a_machine(pattern):
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in FILES
        for number, line in enumerate(text_of(name).splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found


@pytest.mark.parametrize("name", CODE)
def test_no_source_file_is_long(name):
    longest = LONGEST_MODULE if name.startswith("skcw/") else LONGEST_SCRIPT
    assert len(text_of(name).splitlines()) <= longest


@pytest.mark.parametrize("name", PACKAGE_CODE)
def test_functions_fit_on_a_screen(name):
    functions = [
        node
        for node in ast.walk(ast.parse(text_of(name)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    bodies = {f"{name}:{f.lineno} {f.name}": body_length(f) for f in functions}
    assert not {where: n for where, n in bodies.items() if n > LONGEST_BODY}


@pytest.mark.parametrize("folder", ["work", "root", "home", "tmp"])
def test_a_machine_path_is_told_from_an_address(folder):
    assert MACHINE_PATH.search(f"DATA = '/{folder}/corpora'")
    assert not MACHINE_PATH.search(f"https://example.net/{folder}/page")
    assert not MACHINE_PATH.search(f"build/{folder}/lib")
