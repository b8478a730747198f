"""What lies in the repository: small files, short functions, no machine's paths."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.house.code_lines import code_lines, functions

PROJECT = Path(__file__).resolve().parents[2]

LARGEST_FILE = 500_000
# In lines of code: documentation is never a reason to split what belongs together.
LONGEST_MODULE = 400
LONGEST_SCRIPT = 600  # tests and benchmarks are lists of cases
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
CODE = [name for name in FILES if name.endswith((".py", ".pyx", ".pxd", ".pxi"))]
PACKAGE_CODE = [name for name in CODE if name.startswith("skcw/")]


def text_of(name):
    """Return a file's text, or nothing where it is no text."""
    try:
        return (PROJECT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


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
    assert len(code_lines(text_of(name))) <= longest


@pytest.mark.parametrize("name", PACKAGE_CODE)
def test_functions_fit_on_a_screen(name):
    found = functions(text_of(name))
    assert not [function for function in found if function.n_lines > LONGEST_BODY]


@pytest.mark.parametrize("folder", ["work", "root", "home", "tmp"])
def test_a_machine_path_is_told_from_an_address(folder):
    assert MACHINE_PATH.search(f"DATA = '/{folder}/corpora'")
    assert not MACHINE_PATH.search(f"https://example.net/{folder}/page")
    assert not MACHINE_PATH.search(f"build/{folder}/lib")


SAMPLE = '''"""A module.

Its docstring has three lines.
"""

cdef class Table:  # a comment does not unmake code
    """A class."""

    cdef int _wide(self, const int[::1] rows,
                   int n) except? -1:
        """A function."""
        # Why.
        cdef int t = n

        return (
            t
        )


def plain(x):
    text = """two
    lines"""

    def inner():
        return x
    return inner


cdef struct Pair:
    int (*first)(int)
'''


def test_code_is_neither_blank_nor_comment_nor_docstring():
    lines = SAMPLE.splitlines()
    found = [lines[number - 1].strip() for number in sorted(code_lines(SAMPLE))]
    assert found == [
        "cdef class Table:  # a comment does not unmake code",
        "cdef int _wide(self, const int[::1] rows,",
        "int n) except? -1:",
        "cdef int t = n",
        "return (",
        "t",
        ")",
        "def plain(x):",
        'text = """two',
        'lines"""',
        "def inner():",
        "return x",
        "return inner",
        "cdef struct Pair:",
        "int (*first)(int)",
    ]


def test_bodies_are_measured_in_both_languages():
    bodies = {function.name: function.n_lines for function in functions(SAMPLE)}
    assert bodies == {"_wide": 4, "plain": 5, "inner": 1}
