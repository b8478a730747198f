"""Places where labels are suspicious: worked by hand, and their laws."""

from hypothesis import given
from hypothesis import strategies as st

from skcw.data import extract_spans
from skcw.evaluation.suspects import suspicious_spans

LABEL = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])
TOKEN = st.tuples(LABEL, LABEL, st.floats(0, 1))
CORPUS = st.lists(st.lists(TOKEN, max_size=8), max_size=4)


def test_one_entry_holds_all_words_of_spans_that_overlap():
    given = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "B-PER", "I-PER", "I-PER"]
    expected = ["B-PER", "I-PER", "O", "O", "B-LOC", "B-LOC", "B-PER", "B-ORG", "I-ORG"]
    sure = [0.9, 0.9, 0.9, 0.3, 0.2, 0.1, 0.6, 0.05, 0.15]
    found = suspicious_spans([given], [expected], [sure])
    assert [(f.start, f.end, f.confusion, f.probability) for f in found] == [
        (5, 6, ("ORG", "LOC"), 0.1),
        (6, 9, ("PER", "PER+ORG"), 0.15),
        (4, 5, ("O", "LOC"), 0.2),
        (3, 4, ("LOC", "O"), 0.3),
    ]
    assert found[1].given == given[6:] and found[1].expected == expected[6:]


def test_labels_that_mark_no_spans_are_judged_word_by_word():
    found = suspicious_spans([["N", "N", "N"]], [["V", "V", "N"]], [[0.2, 0.1, 0.9]])
    assert [(f.start, f.end, f.confusion) for f in found] == [
        (1, 2, ("N", "V")),
        (0, 1, ("N", "V")),
    ]


@given(CORPUS)
def test_every_difference_is_in_one_entry_and_no_span_is_cut(corpus):
    y, expected, sure = ([[t[k] for t in row] for row in corpus] for k in range(3))
    found = suspicious_spans(y, expected, sure)
    assert [f.probability for f in found] == sorted(f.probability for f in found)
    places = [(f.sentence, t) for f in found for t in range(f.start, f.end)]
    assert len(places) == len(set(places))
    different = {
        (s, t)
        for s, row in enumerate(corpus)
        for t, (one, other, _) in enumerate(row)
        if one != other
    }
    assert different <= set(places)
    for f in found:
        here = {(f.sentence, t) for t in range(f.start, f.end)}
        assert here & different
        assert f.given == y[f.sentence][f.start : f.end]
        assert f.expected == expected[f.sentence][f.start : f.end]
        for labels in (y[f.sentence], expected[f.sentence]):
            for _, start, end in extract_spans(labels):
                shared = {(f.sentence, t) for t in range(start, end)}
                assert shared <= here or not shared & here
