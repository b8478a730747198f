"""The example of CONTRIBUTING.md: a feature function is one line in a table."""

import re
from pathlib import Path

import pytest

from skcw.features import WindowFeatures
from skcw.features.language import FUNCTIONS, Function

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def own_functions():
    """Let a test add functions of its own."""
    known = dict(FUNCTIONS)
    yield
    FUNCTIONS.clear()
    FUNCTIONS.update(known)


def test_the_example_of_the_guide_runs(own_functions, capsys):
    section = GUIDE.read_text("utf-8").partition("## Add a feature function")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    exec(code, {})
    assert capsys.readouterr().out == (
        "[[['vowels(word)[0]=aa'], ['vowels(word)[-1]=aa', 'vowels(word)[0]=e']]]\n"
    )


def test_a_flag_of_ones_own_has_no_value(own_functions):
    FUNCTIONS["vowel"] = Function(
        lambda text: "" if text in {*"aeiou"} else None, "it is a vowel", flag=True
    )
    batch = WindowFeatures(["vowel & word"]).fit_transform([["a", "b"]])
    assert batch.to_lists() == [[["vowel[0]&word[0]=a"], []]]


def test_a_function_may_read_sizes(own_functions):
    FUNCTIONS["nth"] = Function(
        lambda text, n: text[n - 1 : n] or None, "a character", "sizes"
    )
    batch = WindowFeatures(["nth(1..2)"]).fit_transform([["ab", "c"]])
    assert batch.to_lists() == [[["nth(1)[0]=a", "nth(2)[0]=b"], ["nth(1)[0]=c"]]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_documentation_lists_every_function(name):
    known = FUNCTIONS[name]
    line = f"- ``{name}``: {'flag, ' * known.flag}{known.help}\n"
    assert line in WindowFeatures.__doc__
