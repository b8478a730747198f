"""What is counted over labelings, against the spans of every single one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skcw.confidence.tallies import (
    Agreement,
    BoundaryAgreement,
    SpanAgreement,
    continues_matrix,
)
from skcw.data.schemes import extract_spans
from tests.confidence.lattices import agrees, spans_of

# Every kind of label that spans are read from.
LABELS = ["O", "B-x", "I-x", "E-x", "S-x", "I-y", "L-y", "U-y", "B", "I", "E", "S"]
LABELS += ["street", "city", "O-x", "B-x-y", "I-x-y", "", "I-"]

codes_of_labels = st.lists(st.integers(0, len(LABELS) - 1), max_size=8)


def spans_by_matrix(codes):
    """Return (start, end, kind) of the spans, as the matrix reads the labels."""
    continues, kinds = continues_matrix(LABELS)
    spans = []
    for t, code in enumerate(codes):
        if t and continues[codes[t - 1], code]:
            spans[-1][1] = t + 1
        elif kinds[code] >= 0:
            spans.append([t, t + 1, kinds[code]])
    return spans


@given(codes_of_labels)
def test_labels_go_on_where_the_metrics_read_one_span(codes):
    expected = extract_spans([LABELS[code] for code in codes])
    found = spans_by_matrix(codes)
    assert [(a, b) for a, b, _ in found] == [(e.start, e.end) for e in expected]
    # Spans of one label have one kind, and others another.
    names = {
        (kind, span.label) for (*_, kind), span in zip(found, expected, strict=True)
    }
    assert len({kind for kind, _ in names}) == len({name for _, name in names})
    assert len(names) == len({kind for kind, _ in names})


def test_an_outside_label_goes_on_with_nothing():
    continues, kinds = continues_matrix(["O", "O-x", "I-x"])
    assert_array_equal(kinds < 0, [True, True, False])
    assert_array_equal(continues, [[0, 0, 0], [0, 0, 0], [0, 0, 1]])


LENGTHS = (3, 0, 4, 1, 5, 0)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
# Two pieces: the sequences 0 to 2, and the others.
PIECES = [(slice(0, 7), slice(0, 3)), (slice(7, 13), slice(3, 6))]


def labelings(seed, n_labelings=60):
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 6, size=(n_labelings, OFFSETS[-1]), dtype=np.int32)
    # Labelings that differ little from the first agree with some of its spans.
    return np.where(rng.random(few.shape) < 0.3, few, few[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("definition", ["all-words", "boundary", "exact"])
def test_spans_agree_where_the_spans_of_a_labeling_do(seed, definition):
    rows = labelings(seed)
    codes = rows[0]
    names, starts, stops = spans_of(codes, OFFSETS, LABELS)
    continues, kinds = continues_matrix(LABELS)
    if definition == "all-words":
        tally = SpanAgreement(codes, starts, stops)
    else:
        outside = kinds < 0
        if definition == "exact":
            outside = kinds[codes[starts]][:, None] != kinds
        tally = BoundaryAgreement(starts, stops, OFFSETS, continues, outside)
    for tokens, sequences in reversed(PIECES):
        tally(rows[:40, tokens], tokens, sequences)
        tally(rows[40:, tokens], tokens, sequences)
    for i, name in enumerate(names):
        s = np.searchsorted(OFFSETS, starts[i], side="right") - 1
        here = slice(OFFSETS[s], OFFSETS[s + 1])
        span = starts[i] - here.start, stops[i] - here.start
        expected = [
            agrees(row[here], codes[here], name, *span, definition, LABELS)
            for row in rows
        ]
        assert tally.spans[i] == sum(expected) > 0


def test_labelings_that_do_not_exist_agree_with_nothing():
    # The last label would go on with itself.
    continues, kinds = continues_matrix(["O", "I-x"])
    rows = np.array([[1, 1, 0], [-1, -1, -1]], dtype=np.int32)
    starts, stops, offsets = [0], [2], np.array([0, 3])
    tallies = [
        Agreement(rows[0], offsets),
        SpanAgreement(rows[0], starts, stops),
        BoundaryAgreement(starts, stops, offsets, continues, kinds < 0),
    ]
    for tally in tallies:
        tally(rows, slice(0, 3), slice(0, 1))
    assert tallies[0].sequences == tallies[1].spans == tallies[2].spans == [1]


def test_an_empty_sequence_agrees_with_every_labeling():
    rows = labelings(0)
    agreement = Agreement(rows[0], OFFSETS)
    for tokens, sequences in PIECES:
        agreement(rows[:, tokens], tokens, sequences)
    assert_array_equal(agreement.sequences[[1, 5]], [60, 60])
    assert agreement.sequences[4] < 60
