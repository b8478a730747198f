"""The figures of docstrings, and of benchmarks/README.md, are the stored results'.

What was measured is written without a zero before the point (``.937``), or in per cent
with two digits behind it (``94.27``); parameters and bounds have the zero (``0.95``).
So figures of the first kind can be found, and every one of them must be tied.

To tie one, add it to the list in docstring_ties.py.
"""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

from tests.house.docstring_ties import RECORD, SUMS, TIES
from tests.house.test_readme_figures import figures, results, written

PACKAGE = Path(__file__).resolve().parents[2] / "skcw"
SHOWN = r"(-?[\d,]*\.?\d+)"
MEASURED = re.compile(r"(?<![\w.`*/=])-?(?:\.\d{2,}|\d\d\.\d\d)(?![\w.]*[\w`%])")

# What looks like one: the most that a wrong claim can cost, -ln of 2**-52.
COMPUTED = {"36.04"}


@cache
def stored(name):
    """Return a file of results, with the sums that docstrings make of it."""
    found = results(name)
    return found | {"sums": SUMS[name](found)} if name in SUMS else found


@cache
def words_of(file):
    """Return the docstrings and comments of a file on one line, without doctests."""
    source = (PACKAGE / file).read_text(encoding="utf-8")
    if file.endswith(".md"):
        # What stands above, and all tables, test_readme_figures ties.
        told = source[source.index("## Classifiers beside LinearSVC") :]
        return joined(["\n".join(x for x in told.splitlines() if x[:1] != "|")])
    texts = [
        ast.get_docstring(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (t.string.lstrip("#") for t in tokens if t.type == tokenize.COMMENT)
    return joined(["\n\n".join(filter(None, texts)), "\n", *comments])


def joined(texts):
    """Return texts on one line, without code samples and their output."""
    paragraphs = "\n".join(texts).split("\n\n")
    told = (text.partition(">>>")[0] for text in paragraphs)
    return " ".join(" ".join(told).split())


def pattern_of(text):
    """Return what finds a text whose figures may be any."""
    return re.compile(
        r"(?<!\S)" + re.escape(" ".join(text.split())).replace(r"\{\}", SHOWN)
    )


@pytest.mark.parametrize(
    ("file", "text", "name", "paths"),
    TIES,
    ids=[f"{file} {text[:30]}" for file, text, *_ in TIES],
)
def test_every_tied_figure_is_the_stored_one(file, text, name, paths):
    found = pattern_of(text).search(words_of(file))
    assert found, f"skcw/{file} does not say: {text}"
    values = [each for path in paths for each in figures(path, stored(name))]
    wanted = [written(v, like) for v, like in zip(values, found.groups(), strict=True)]
    assert list(found.groups()) == wanted, f"skcw/{file}, by {name}.json: {text}"


def untied(file):
    """Return the measured figures of a file that no tie covers, with their words."""
    words = words_of(file)
    for tied, text, *_ in TIES:
        if tied == file:
            words = pattern_of(text).sub(lambda found: "#" * len(found[0]), words)
    return [
        words[max(0, found.start() - 40) : found.end()]
        for found in MEASURED.finditer(words)
        if found[0] not in COMPUTED
    ]


def test_every_measured_figure_is_tied():
    files = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    files.append(RECORD)
    found = [
        f"skcw/{file}: ...{words}" for file in sorted(files) for words in untied(file)
    ]
    advice = "add these to docstring_ties.py, or write bounds as 0.01:"
    assert not found, "\n".join([advice, *found])


def test_what_counts_as_measured():
    text = "F1 .937, 94.27 % (-.0031) with C=0.01, `.5`, v1.25, 0.95, 3.14159, 75.00%"
    assert MEASURED.findall(text) == [".937", "94.27", "-.0031"]
    words = joined(["About .93.\n\n>>> 1 / 8\n.125\n\nAnd .94."])
    assert words == "About .93. And .94."
    assert MEASURED.findall(words) == [".93", ".94"]
