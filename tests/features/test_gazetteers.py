"""Lexicons with entries of several words: longest match, from left to right."""

from hypothesis import given
from hypothesis import strategies as st

from skcw.data import TokenColumns
from skcw.features import WindowFeatures
from skcw.features.resources import Gazetteer

TOWNS = ["New York", "New York City", "York", "Rio de Janeiro"]
SENTENCES = [
    ["in", "New", "York", "City", "Hall"],
    ["York", "and", "New", "York"],
    ["New", "Rio", "de", "Janeiro"],
    [],
]


def rows(lines, sentences=SENTENCES, **options):
    window = WindowFeatures(lines, lexicons={"towns": TOWNS}, **options)
    return window.fit_transform(sentences).to_lists()


def test_the_longest_entry_counts():
    assert Gazetteer(TOWNS).marks(SENTENCES[0]) == ["", "B", "I", "I", ""]


def test_an_entry_that_begins_earlier_counts():
    # "b c" is longer to come, but "a b" has taken the b.
    assert Gazetteer(["a b", "b c d"]).marks(list("abcd")) == ["B", "I", "", ""]


def test_entries_side_by_side_are_two():
    assert Gazetteer(["York"]).marks(["York", "York"]) == ["B", "B"]


def test_a_span_has_its_position():
    found = rows(["span(towns)"])
    assert found[0] == [[], *([f"span(towns)[0]={m}"] for m in "BII"), []]
    assert found[2] == [[], *([f"span(towns)[0]={m}"] for m in "BII")]
    assert found[3] == []


def test_a_flag_tells_words_that_belong_to_an_entry():
    found = rows(["in(towns)[-1..0]"])[1]
    here, before = "in(towns)[0]", "in(towns)[-1]"
    assert found == [[here], [before], [here], [before, here]]


def test_one_word_alone_is_not_in_an_entry_of_two():
    window = WindowFeatures(["in(towns)"], lexicons={"towns": ["New York"]})
    assert window.fit_transform([["New", "hats"]]).to_lists() == [[[], []]]


def test_spans_join_other_views():
    found = rows(["span(towns) & lower"])[1]
    assert found[0] == ["span(towns)[0]&lower[0]=B&york"]
    assert found[1] == []


def test_tokens_of_all_forms_have_the_same_spans():
    lines = ["word", "span(towns)", "in(towns)[1]"]
    expected = rows(lines)
    tuples = [[(word,) for word in s] for s in SENTENCES]
    dicts = [[{"word": word, "other": 1} for word in s] for s in SENTENCES]
    columns = TokenColumns.from_sequences(tuples, names=["word"])
    assert rows(lines, tuples) == expected
    assert rows(lines, dicts) == expected
    assert rows(lines, columns) == expected


def test_spans_of_another_column_are_found_there():
    sentences = [[("a", "New"), ("b", "York")], [("New", "x"), ("York", "y")]]
    expected = [[["span(x1,towns)[0]=B"], ["span(x1,towns)[0]=I"]], [[], []]]
    lines = ["span(x1, towns)"]
    assert rows(lines, sentences, columns=["word", "x1"]) == expected
    columns = TokenColumns.from_sequences(sentences, names=["word", "x1"])
    assert rows(lines, columns) == expected


def test_a_token_without_the_text_is_named():
    window = WindowFeatures(["span(towns)"], lexicons={"towns": TOWNS})
    window.fit(SENTENCES)
    try:
        window.transform([["a"], ["b", 7]])
    except TypeError as error:
        assert "sequence 1, token 1" in str(error)
    else:
        raise AssertionError("a number was taken for a word")


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1),
    st.lists(st.sampled_from("abc"), max_size=8),
)
def test_marks_are_those_of_a_plain_search(entries, words):
    known = {tuple(entry) for entry in entries}
    expected, at = [], 0
    while at < len(words):
        lengths = [n for n in (3, 2, 1) if tuple(words[at : at + n]) in known]
        # A slice at the end is shorter than asked for.
        n = min(lengths[0], len(words) - at) if lengths else 0
        expected += ["B"] + ["I"] * (n - 1) if n else [""]
        at += max(n, 1)
    assert Gazetteer(map(" ".join, entries)).marks(words) == expected
