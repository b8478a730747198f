"""Word shapes: one function in Python, and the compiled views that must agree."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skcw.features import WindowFeatures
from skcw.features.basic import (
    cased_kind,
    collapsed_shape,
    printable_kind,
    word_shape,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("word", "shape", "short"),
    [
        ("McLeod-1973", "AaAaaa-0000", "AaAa-0"),
        ("é7", "a0", "a0"),
        ("", "", ""),
        ("G.M.", "A.A.", "A.A."),
        ("wow!!!", "aaa!!!", "a!"),
    ],
)
def test_shape_keeps_the_kind_of_every_character(word, shape, short):
    assert word_shape(word) == shape
    assert collapsed_shape(word) == short


@given(WORDS)
@example("ⅧⒶ²½")
@example("\n\n\0")
def test_the_compiled_shapes_are_the_same(word):
    batch = WindowFeatures(["shape", "short_shape"]).fit_transform([[word]])
    shape, short = word_shape(word), collapsed_shape(word)
    assert batch.to_lists() == [[[f"shape[0]={shape}", f"short_shape[0]={short}"]]]


@pytest.mark.parametrize(
    ("word", "kind", "shape"),
    [
        ("x\x1f\x1fy", printable_kind, "a?a"),
        ("1,024th", printable_kind, "0,0a"),
        ("G.M.", cased_kind, "A.A."),
        ("日本7", cased_kind, "日本0"),
        ("日本7", printable_kind, "a0"),
    ],
)
def test_a_shape_is_made_of_the_kinds_that_are_asked_for(word, kind, shape):
    assert collapsed_shape(word, kind) == shape
