"""Conversion of schemes changes how spans are written, never the spans."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data import convert_labels, extract_spans
from skcw.data.schemes import SCHEMES, odd_outside, parse_label

schemes = st.sampled_from(sorted(SCHEMES))
# Types with hyphens, and bare prefixes without a type.
kinds = st.sampled_from(["-PER", "-LOC", "-a-b", ""])


@st.composite
def iob2_labels(draw):
    labels = []
    for length, kind in draw(st.lists(st.tuples(st.integers(0, 3), kinds), max_size=6)):
        labels += ["B" + kind] + ["I" + kind] * (length - 1) if length else ["O"]
    return labels


any_labels = st.lists(
    st.builds("{}{}".format, st.sampled_from("BIES"), kinds) | st.just("O")
)


@given(st.lists(iob2_labels()), schemes, schemes)
def test_conversions_can_be_undone(y, first, second):
    one = convert_labels(y, first, source="IOB2")
    other = convert_labels(one, second, source=first)
    assert convert_labels(other, first, source=second).tolist() == one.tolist()
    assert convert_labels(other, "IOB2", source=second).tolist() == y


# Which labels are repaired is told, and tested below.
repairing = pytest.mark.filterwarnings("ignore:labels repaired:UserWarning")


@repairing
@given(any_labels, schemes)
def test_faulty_labels_keep_the_spans_that_metrics_see_in_them(labels, target):
    [converted] = convert_labels([labels], target)
    if target == "BILOU":
        # A lone L or U is no prefix for metrics.
        converted = [{"L": "E", "U": "S"}.get(label, label) for label in converted]
    assert extract_spans(converted) == extract_spans(labels)


@repairing
@given(any_labels, schemes)
def test_what_was_converted_has_no_faults(labels, target):
    converted = convert_labels([labels], target)
    again = convert_labels(converted, target, source=target)
    assert again.tolist() == converted.tolist()


SENTENCE = {
    "IOB1": ["I-A", "I-A", "B-A", "I-B", "O", "I-A", "I-A", "I-A"],
    "IOB2": ["B-A", "I-A", "B-A", "B-B", "O", "B-A", "I-A", "I-A"],
    "IOBES": ["B-A", "E-A", "S-A", "S-B", "O", "B-A", "I-A", "E-A"],
    "BILOU": ["B-A", "L-A", "U-A", "U-B", "O", "B-A", "I-A", "L-A"],
}


def test_repairs_are_counted_in_the_scheme_that_has_the_fewest():
    faulty = [["I-A", "O"], ["O", "I-B", "I-B", "I-A"]]
    told = "labels repaired: 3, sentences: 2; first: sentence 4, token 0, I-A at the"
    with pytest.warns(UserWarning, match=f"{told} beginning, read as B-A") as found:
        convert_labels([SENTENCE["IOB2"]] * 4 + faulty, "IOBES")
    assert [(w.filename, len(found)) for w in found] == [(__file__, 1)]
    with pytest.warns(UserWarning, match="1; first: .* 3, E-A after O, read as S-A"):
        convert_labels([["S-A", "B-A", "E-A", "O", "E-A"][1:]], "IOB1")


@pytest.mark.parametrize("source", SENTENCE)
def test_a_correct_corpus_is_not_repaired(source):
    # A warning would be an error.
    convert_labels([SENTENCE[source], ["O"]], "IOB2")


@pytest.mark.parametrize("source", SENTENCE)
@pytest.mark.parametrize("target", SENTENCE)
def test_schemes_look_like_this(source, target):
    for named in (source, "auto"):
        converted = convert_labels([SENTENCE[source]], target, named)
        assert converted.tolist() == [SENTENCE[target]]


def test_aliases_are_other_names():
    assert convert_labels([["I-A"]], "BIO").tolist() == [["B-A"]]
    assert convert_labels([["B-A"]], "BIOES", "BIO").tolist() == [["S-A"]]


def test_a_row_comes_out_for_each_that_goes_in():
    rows = np.empty(2, dtype=object)
    rows[:] = [["B-A"], np.array(["O"])]
    converted = convert_labels(rows, "IOB1")
    assert converted.shape == (2,)
    assert converted.tolist() == [["I-A"], ["O"]]
    assert convert_labels([], "IOB1").shape == (0,)
    assert convert_labels([[]], "IOB1").tolist() == [[]]


@pytest.mark.parametrize(
    ("labels", "source", "token"),
    [
        (["O", "I-A"], "IOB2", 1),
        (["B-A", "I-B"], "IOB2", 1),
        (["B-A", "E-A"], "IOB2", 1),
        (["I-A", "O", "B-A"], "IOB1", 2),
        (["B-A", "I-A", "O"], "IOBES", 1),
        (["S-A", "U-A"], "IOBES", 1),
        (["U-A", "S-A"], "BILOU", 1),
    ],
)
def test_a_fault_of_the_named_scheme_is_named(labels, source, token):
    message = (
        f"sentence 1, token {token} has the label '{labels[token]}' where {source}"
    )
    with pytest.raises(ValueError, match=message):
        convert_labels([["O"], labels], "IOB2", source=source)


@pytest.mark.parametrize("label", ["NN", "", "X-A", "-A", "BI", "L", "b-A", 3, None])
def test_labels_without_a_prefix_are_refused(label):
    with pytest.raises(
        ValueError, match=f"sentence 0, token 1 has the label {label!r}"
    ):
        convert_labels([["O", label]], "IOBES")


@pytest.mark.parametrize(
    "options", [("IOB3",), ("auto",), ("IOB2", "no"), ("IOB2", None)]
)
def test_unknown_schemes_are_refused(options):
    with pytest.raises(ValueError, match="must be one of 'IOB1'"):
        convert_labels([["O"]], *options)


def test_a_single_sequence_is_no_list_of_sequences():
    with pytest.raises(TypeError, match=r"y\[0\] is 'B-A'"):
        convert_labels(["B-A", "O"], "IOB1")


@pytest.mark.parametrize(
    ("label", "prefix", "kind"),
    [
        ("B-PER", "B", "PER"),
        ("L-a-b", "L", "a-b"),
        ("O", "O", ""),
        ("O-x", "O", "x"),
        ("I", "I", ""),
        ("L", None, "L"),
        ("X-A", None, "X-A"),
        ("", None, ""),
    ],
)
def test_a_label_is_a_prefix_and_a_type(label, prefix, kind):
    assert parse_label(label) == (prefix, kind)


def test_lone_letters_of_bilou_are_prefixes_where_the_scheme_is_named():
    assert parse_label("U", bare=SCHEMES["BILOU"]) == ("U", "")
    assert convert_labels([["U", "O"]], "IOBES", "BILOU").tolist() == [["S", "O"]]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["B-PER", "NONE"], "NONE"),
        (["NONE", "B-PER", "I-LOC"], "NONE"),
        (["NONE"], None),
        (["B-PER", "NONE", "OTHER"], None),
        (["B-PER", "O"], None),
        (["B-PER"], None),
    ],
)
def test_the_only_label_without_a_prefix_stands_for_no_span(labels, found):
    assert odd_outside(labels) == found


def test_the_error_about_a_label_comes_back_from_a_worker():
    with pytest.raises(ValueError, match="sentence 1, token 0 has the label") as caught:
        convert_labels([["O"], ["NN"]], "IOBES")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and (again.sentence, again.token) == (1, 0)
