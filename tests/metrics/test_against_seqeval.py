"""Span scores equal seqeval's on random labels, but for four written exceptions."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from seqeval import scheme as seqeval_schemes
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.metrics.sequence_labeling import (
    precision_recall_fscore_support as seqeval_lenient,
)
from seqeval.metrics.v1 import precision_recall_fscore_support as seqeval_strict

from skcw.data import extract_spans
from skcw.data.schemes import Span
from skcw.metrics import (
    span_classification_report,
    span_f1_score,
)
from skcw.metrics.label_scores import span_precision_recall_fscore_support

# One example makes many scikit-learn calls; a busy machine must not fail it.
no_deadline = settings(deadline=None)

TYPES = ("X", "Y", "a-b")
ZERO_DIVISION = st.sampled_from([0, 1])


def alphabet(prefixes, bare=""):
    return ["O", *bare, *(f"{p}-{kind}" for p in prefixes for kind in TYPES)]


LENIENT = alphabet("BIES", bare="BIES")
STRICT = {
    "IOB1": alphabet("BI", bare="BI"),
    "IOB2": alphabet("BI", bare="BI"),
    "IOBES": alphabet("BIES", bare="BIES"),
    "BILOU": alphabet("BILU"),
}


def corpora(labels):
    """Draw a few sequences of (true, predicted) labels that often agree."""
    one = st.sampled_from(labels)
    token = st.one_of(one.map(lambda label: (label, label)), st.tuples(one, one))
    return st.lists(st.lists(token, max_size=12), min_size=1, max_size=4)


def sides(corpus):
    return tuple([[token[side] for token in row] for row in corpus] for side in (0, 1))


def follow_iob1(row):
    """Mend the one pattern read differently: B-x right before B-y."""
    mended = list(row)
    for i, (before, here) in enumerate(pairwise(row), start=1):
        if mended[i - 1][0] == "B" == here[0] and before[1:] != here[1:]:
            mended[i] = "I" + here[1:]
    return mended


def assert_same_scores(y_true, y_pred, zero_division, theirs, **ours):
    how = {"zero_division": zero_division}
    for average in (None, "micro", "macro", "weighted"):
        got = span_precision_recall_fscore_support(
            y_true, y_pred, average=average, **how, **ours
        )
        want = theirs(y_true, y_pred, average=average, **how)
        for score, reference in zip(got, want, strict=True):
            assert_allclose(score, reference, rtol=1e-12, atol=0)


@no_deadline
@given(corpus=corpora(LENIENT), nothing=ZERO_DIVISION)
@example(corpus=[[("B", "B"), ("I", "I"), ("O", "O")]], nothing=0)
def test_lenient_scores_equal_those_of_seqeval(corpus, nothing):
    y_true, y_pred = sides(corpus)
    assume(any(extract_spans(row) for row in y_true + y_pred))
    assert_same_scores(y_true, y_pred, nothing, seqeval_lenient)


@no_deadline
@given(row=st.lists(st.sampled_from(LENIENT), max_size=20))
def test_lenient_spans_equal_the_entities_of_seqeval(row):
    # seqeval's end is inclusive
    want = [(kind, start, end + 1) for kind, start, end in get_entities(row)]
    assert extract_spans(row) == want


@pytest.mark.parametrize("scheme", ["IOB2", "IOBES", "BILOU"])
@no_deadline
@given(data=st.data(), nothing=ZERO_DIVISION)
def test_strict_scores_equal_those_of_seqeval(scheme, data, nothing):
    y_true, y_pred = sides(data.draw(corpora(STRICT[scheme])))
    read = {"scheme": scheme, "strict": True}
    assume(any(extract_spans(row, **read) for row in y_true + y_pred))

    def theirs(*args, **options):
        return seqeval_strict(*args, scheme=getattr(seqeval_schemes, scheme), **options)

    assert_same_scores(y_true, y_pred, nothing, theirs, **read)


@no_deadline
@given(corpus=corpora(STRICT["IOB1"]), nothing=ZERO_DIVISION)
def test_strict_iob1_scores_equal_those_of_seqeval_but_for_adjacent_b(corpus, nothing):
    y_true, y_pred = ([follow_iob1(row) for row in side] for side in sides(corpus))
    read = {"scheme": "IOB1", "strict": True}
    assume(any(extract_spans(row, **read) for row in y_true + y_pred))

    def theirs(*args, **options):
        return seqeval_strict(*args, scheme=seqeval_schemes.IOB1, **options)

    assert_same_scores(y_true, y_pred, nothing, theirs, **read)


@no_deadline
@given(corpus=corpora(STRICT["IOB2"]))
def test_public_score_and_report_are_those_of_seqeval(corpus):
    y_true, y_pred = sides(corpus)
    strict = {"mode": "strict", "scheme": seqeval_schemes.IOB2}
    # Precision and recall are among the scores compared above.
    assert_allclose(
        span_f1_score(y_true, y_pred),
        f1_score(y_true, y_pred, zero_division=0),
        rtol=1e-12,
    )
    assert_allclose(
        span_f1_score(y_true, y_pred, scheme="IOB2", strict=True),
        f1_score(y_true, y_pred, zero_division=0, **strict),
        rtol=1e-12,
    )
    report = span_classification_report(y_true, y_pred, output_dict=True)
    averages = [f"{name} avg" for name in ("micro", "macro", "weighted")]
    kinds = [name for name in report if name not in averages]
    if kinds:
        want = seqeval_lenient(y_true, y_pred, zero_division=0)
        got = [list(report[kind].values()) for kind in kinds]
        assert_allclose(got, np.transpose(want), rtol=1e-12)


# The four points in which the readings differ; the docstring of extract_spans
# names them.


def test_a_correct_iob1_span_survives_the_incorrect_one_after_it():
    labels = ["I-X", "B-X", "B-Y"]
    theirs = seqeval_schemes.Tokens(labels, seqeval_schemes.IOB1).entities
    assert [(e.tag, e.start, e.end) for e in theirs] == [("X", 0, 1)]
    ours = extract_spans(labels, scheme="IOB1", strict=True)
    assert ours == [("X", 0, 1), ("X", 1, 2)]


def test_labels_without_prefix_are_types_not_letters_to_split():
    labels = ["Street", "Street", "City"]
    with pytest.warns(UserWarning, match="seems not to be NE tag"):
        theirs = get_entities(labels)
    assert [kind for kind, _, _ in theirs] != ["Street", "City"]
    assert extract_spans(labels) == [Span("Street", 0, 2), Span("City", 2, 3)]


def test_bilou_labels_need_no_strict_reading():
    labels = ["U-X", "U-X", "B-X", "L-X", "I-X"]
    with pytest.warns(UserWarning, match="seems not to be NE tag"):
        assert len(get_entities(labels)) < 4
    assert extract_spans(labels) == [
        ("X", 0, 1),
        ("X", 1, 2),
        ("X", 2, 4),
        ("X", 4, 5),
    ]


def test_strict_reading_keeps_the_hyphens_of_a_type():
    theirs = seqeval_schemes.Tokens(["B--x-"], seqeval_schemes.IOB2).entities
    assert [entity.tag for entity in theirs] == ["x"]
    assert extract_spans(["B--x-"], scheme="IOB2", strict=True) == [("-x-", 0, 1)]
    assert extract_spans(["B--x-"]) == [("-x-", 0, 1)]
