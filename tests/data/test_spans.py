"""Reading spans off labels: worked examples and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data import detect_scheme, extract_spans
from skcw.data.schemes import SCHEMES as PREFIXES
from skcw.data.schemes import Span, parse_label, span_ends

SCHEMES = ("IOB1", "IOB2", "IOBES", "BILOU")
ANY_LABEL = st.sampled_from(
    ["O", "B", "I", "E", "S", "City", ""]
    + [f"{prefix}-{kind}" for prefix in "BIESLUO" for kind in ("X", "Y", "")]
)


def write_labels(spans, length, scheme):
    """Write the labels of the spans, the inverse of reading them."""
    single, last = {"IOBES": "SE", "BILOU": "UL"}.get(scheme, "BI")
    labels = ["O"] * length
    for kind, start, end in spans:
        inside = ["I"] * (end - start - 2)
        roles = [single] if end == start + 1 else ["B", *inside, last]
        if scheme == "IOB1" and not (start and labels[start - 1][2:] == kind):
            roles[0] = "I"
        labels[start:end] = [f"{role}-{kind}" for role in roles]
    return labels


@st.composite
def spans_in_a_sequence(draw):
    """Draw spans that do not overlap, side by side or with gaps, and the length."""
    spans, position = [], 0
    for _ in range(draw(st.integers(0, 5))):
        start = position + draw(st.integers(0, 2))
        position = start + draw(st.integers(1, 3))
        spans.append(Span(draw(st.sampled_from(["X", "Y", "a-b"])), start, position))
    return spans, position + draw(st.integers(0, 2))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=spans_in_a_sequence())
def test_correctly_written_spans_are_read_back(scheme, strict, case):
    spans, length = case
    labels = write_labels(spans, length, scheme)
    assert extract_spans(labels, scheme=scheme, strict=strict) == spans


@given(labels=st.lists(ANY_LABEL, max_size=20))
def test_lenient_spans_cover_every_label_but_o_once(labels):
    covered = [i for span in extract_spans(labels) for i in range(span.start, span.end)]
    outside = [i for i, label in enumerate(labels) if label[:1] == "O"]
    assert sorted(covered + outside) == list(range(len(labels)))


@pytest.mark.parametrize("scheme", ["IOB2", "IOBES"])
@given(data=st.data())
def test_strict_spans_are_written_legally_in_the_labels(scheme, data):
    # Writing what was read gives the same labels there, and is read the same.
    roles = "BI" if scheme == "IOB2" else "BIES"
    alphabet = ["O", *(f"{role}-{kind}" for role in roles for kind in "XY")]
    labels = data.draw(st.lists(st.sampled_from(alphabet), max_size=20))
    spans = extract_spans(labels, scheme=scheme, strict=True)
    rewritten = write_labels(spans, len(labels), scheme)
    assert extract_spans(rewritten, scheme=scheme, strict=True) == spans
    kept = [i for span in spans for i in range(span.start, span.end)]
    assert all(rewritten[i] == labels[i] for i in kept)


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ([], []),
        (["O", "O"], []),
        (["B-X"], [("X", 0, 1)]),
        (["O", "I-X"], [("X", 1, 2)]),
        (["B-X", "I-Y"], [("X", 0, 1), ("Y", 1, 2)]),
        (["I-X", "B-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["B-X", "E-X", "I-X"], [("X", 0, 2), ("X", 2, 3)]),
        (["S-X", "I-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["E-X", "E-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["B-X", "S-X", "B-X"], [("X", 0, 1), ("X", 1, 2), ("X", 2, 3)]),
        (["B-a-b", "I-a-b", "I-a"], [("a-b", 0, 2), ("a", 2, 3)]),
    ],
)
def test_faulty_labels_are_read_as_conlleval_reads_them(labels, spans):
    assert extract_spans(labels) == spans


def test_bare_tags_mark_spans_without_a_type():
    assert extract_spans(["B", "I", "O", "I", "B"]) == [
        ("_", 0, 2),
        ("_", 3, 4),
        ("_", 4, 5),
    ]
    assert extract_spans(["B", "E", "S"], strict=True) == [("_", 0, 2), ("_", 2, 3)]


@pytest.mark.parametrize(
    ("scheme", "labels", "spans"),
    [
        ("IOB2", ["O", "I-X", "B-X", "I-X", "I-Y"], [("X", 2, 4)]),
        ("IOB2", ["B-X", "B-X"], [("X", 0, 1), ("X", 1, 2)]),
        ("IOBES", ["B-X", "I-X", "O"], []),
        ("IOBES", ["B-X", "B-X", "E-X"], [("X", 1, 3)]),
        ("IOBES", ["B-X", "E-Y"], []),
        ("IOBES", ["I-X", "E-X", "S-Y"], [("Y", 2, 3)]),
        ("IOBES", ["B-X", "E-X", "E-X"], [("X", 0, 2)]),
        ("BILOU", ["B-X", "I-X", "L-X", "U-X"], [("X", 0, 3), ("X", 3, 4)]),
        ("IOB1", ["I-X", "I-X", "B-X", "I-X"], [("X", 0, 2), ("X", 2, 4)]),
        ("IOB1", ["B-X", "O"], []),
        ("IOB1", ["B-X", "I-X"], [("X", 1, 2)]),
        ("IOB1", ["I-X", "B-Y"], [("X", 0, 1)]),
    ],
)
def test_strict_reading_drops_what_breaks_the_scheme(scheme, labels, spans):
    assert extract_spans(labels, scheme=scheme, strict=True) == spans


def test_schemes_have_second_names():
    labels = ["I-X", "B-X", "I-X"]
    assert extract_spans(labels, scheme="BIO", strict=True) == [("X", 1, 3)]
    assert extract_spans(["S-X"], scheme="BIOES", strict=True) == [("X", 0, 1)]


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ([], "IOB2"),
        (["O", "I-X"], "IOB2"),
        (["O", "Street"], "IOB2"),
        (["B-X", "E-X"], "IOBES"),
        (["S"], "IOBES"),
        (["B-X", "L-X"], "BILOU"),
        (["U-X"], "BILOU"),
    ],
)
def test_the_scheme_is_detected_from_the_prefixes(labels, scheme):
    assert detect_scheme(labels) == scheme


def test_arrays_tuples_and_numpy_strings_are_read_like_lists():
    labels = ["B-X", "I-X", "City"]
    spans = extract_spans(labels)
    assert extract_spans(tuple(labels)) == spans
    assert extract_spans(np.array(labels)) == spans
    assert extract_spans(np.array(labels, dtype=object)) == spans
    assert extract_spans(list(np.array(labels))) == spans
    assert extract_spans(iter(labels)) == spans
    assert all(type(s.label) is str for s in extract_spans(list(np.array(labels))))


@pytest.mark.parametrize("label", [3, None, b"B-X", ["B-X"], float("nan")])
def test_a_label_that_is_no_string_is_refused_with_its_place(label):
    with pytest.raises(TypeError, match=r"labels\[1\] is .*must be strings"):
        extract_spans(["O", label])


def test_a_string_is_not_a_sequence_of_labels():
    with pytest.raises(TypeError, match="single string, 'B-PER'"):
        extract_spans("B-PER")
    with pytest.raises(TypeError, match="type int"):
        extract_spans(7)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("scheme", ["IOE2", None, 3])
def test_an_unknown_scheme_is_refused(scheme, strict):
    with pytest.raises(ValueError, match=r"scheme is .* must be one of 'auto', 'IOB1'"):
        extract_spans(["O"], scheme=scheme, strict=strict)


@pytest.mark.parametrize(
    ("scheme", "label"), [("IOB2", "E-X"), ("IOB1", "S"), ("IOBES", "City")]
)
def test_strict_reading_refuses_labels_the_scheme_cannot_hold(scheme, label):
    with pytest.raises(ValueError, match=f"'{label}' at token 1 .* scheme {scheme}"):
        extract_spans(["O", label], scheme=scheme, strict=True)


@given(data=st.data(), strict=st.sampled_from([None, *PREFIXES]))
def test_codes_are_read_as_labels_are(data, strict):
    label = ANY_LABEL
    if strict is not None:
        label = label.filter(lambda x: (parse_label(x)[0] or "?") in PREFIXES[strict])
    rows = data.draw(st.lists(st.lists(label, max_size=6), max_size=4))
    names = sorted(set().union(*rows))
    read = (strict or "auto", strict is not None)
    codes = np.array([names.index(label) for row in rows for label in row], dtype=int)
    offsets = np.cumsum([0, *map(len, rows)])
    ends, kinds = span_ends(names, codes, offsets, strict)
    expected = [
        (span.label, start + span.start, start + span.end)
        for row, start in zip(rows, offsets[:-1].tolist(), strict=True)
        for span in extract_spans(row, *read)
    ]
    found = np.flatnonzero(ends)
    assert list(zip(found, ends[found], strict=True)) == [e[1:] for e in expected]
    labels = [label for label, _, _ in expected]
    for label, kind in zip(labels, kinds[found], strict=True):
        same = [other == label for other in labels]
        assert (kinds[found] == kind).tolist() == same
