"""Regular expressions: the ordinary ones work, the dangerous ones are refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw._util.limits import LONGEST_MATCHED, MOST_STEPS, SHORTEST_LIMIT
from skcw.features import WindowFeatures
from skcw.features.patterns import compiled_pattern

ORDINARY = [
    "^[A-Z]",
    "[0-9]$",
    r"^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$",
    r"^(?:Mr|Mrs|Dr|Prof)\.?$",
    r"^https?://.*\.[a-z]+$",
    r"^[+-]?\d+(?:[.,]\d+)?$",
    r"(ing|ed|ly)$",
    "(ab)+",
    r"\bvan\b",
    r"^\W+$",
    "[]a]+",
    r"[\]a]+",
    "x{2,}",
    "a{,3}b{2}",
    "{}",
    r"\(",
    "(?P<year>1[89][0-9]{2})",
    "(?i)mrs",
    "(a|b)*[.]",
]

DANGEROUS = {
    "^(a+)+$": "repetition or a choice",
    "(a|a)*b": "repetition or a choice",
    "(?:(?:x?){5})*": "repetition or a choice",
    "(x+x+)+y": "repetition or a choice",
    "((ab)*)*": "repetition or a choice",
    "(?:a{,}){,}$": "repetition or a choice",
    "((){100}){100}": "repetition or a choice",
    r"(.*)\1": "refers back",
    "(?=a+)b": "looks around",
    "(?<!a)b": "looks around",
    ".*.*.*.*.*x": "too many repetitions",
    "(ab|cd)(ab|cd)(ab|cd)" * 8: "too many repetitions",
    "(){3999999999}": "too many repetitions",
    "(){3999999999,}": "too many repetitions",
    "a{1,3999999999}" * 60: "too many repetitions",
    "a{99999999999}": "too large",
    "a{1,99999999999}": "too large",
    "(" * 900: "recursion",
    "a" * 2000: "characters",
}


@pytest.mark.parametrize("pattern", ORDINARY)
@pytest.mark.parametrize(
    "text", ["Mrs.", "192.168.0.1", "http://a.bc", "-3,5", "abab", "x]xx", "", "1984{}"]
)
def test_ordinary_patterns_match_as_those_of_python(pattern, text):
    found, expected = compiled_pattern(pattern).search(text), re.search(pattern, text)
    assert (found is None) == (expected is None)
    assert found is None or found.span() == expected.span()


@pytest.mark.parametrize("pattern", DANGEROUS, ids=lambda pattern: pattern[:20])
def test_dangerous_patterns_are_refused(pattern):
    with pytest.raises(ValueError, match=DANGEROUS[pattern]):
        compiled_pattern(pattern)


@pytest.mark.filterwarnings("ignore:Possible")
@given(st.text("ab(|)[]*+?{}2,^$.\\", max_size=12), st.text("ab]2", max_size=8))
def test_any_text_is_refused_or_matches_as_in_python(pattern, text):
    try:
        found = compiled_pattern(pattern).search(text)
    except ValueError:
        return
    expected = re.search(pattern, text)
    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.parametrize("pattern", ["[ab]+$", "a.*b.*c", ".*a.*b.*c"])
def test_very_long_texts_match_nothing(pattern):
    checked = compiled_pattern(pattern)
    assert SHORTEST_LIMIT <= checked.n_letters <= LONGEST_MATCHED
    text = "abc" * 400 + "ab"
    assert checked.search(text[-checked.n_letters :])
    assert checked.search(text) is None


@pytest.mark.parametrize(
    "line",
    [
        'matches("^(a+)+$")',
        'matches("a{99999999999}")',
        'U00:%t[0,0,"(a+)+$"]',
        'U00:%m[0,0,"a{99999999999}"]',
        "U00:%x[" + "9" * 400 + ",0]",
        "U00:%x[0," + "9" * 5000 + "]",
        "word[" + "9" * 400 + "]",
        "prefix(1.." + "9" * 5000 + ")",
        "bigram(" * 5000,
        "(" * 5000,
    ],
    ids=lambda line: line[:24],
)
def test_lines_that_would_take_forever_are_refused(line):
    with pytest.raises(ValueError, match=r"template|features"):
        WindowFeatures([line]).fit([["a"]])


def test_texts_up_to_the_limit_match_and_longer_ones_do_not():
    pattern = compiled_pattern("a.*b.*c")
    longest = "a" + "x" * (pattern.n_letters - 3) + "bc"
    assert pattern.search(longest) is not None
    assert pattern.search("x" + longest) is None


def test_a_pattern_may_have_just_so_many_ways_to_match():
    most = int(MOST_STEPS) // SHORTEST_LIMIT
    assert compiled_pattern(f"a{{0,{most}}}").n_letters == SHORTEST_LIMIT
    with pytest.raises(ValueError, match="too many repetitions"):
        compiled_pattern(f"a{{0,{int(MOST_STEPS) // (SHORTEST_LIMIT - 1)}}}")
