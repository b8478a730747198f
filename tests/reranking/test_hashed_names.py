"""Hashes of names: those of the strings, numbered and joined as their twins do."""

import tracemalloc
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.data.labels import encode_labels
from skcw.reranking import GlobalFeatures
from skcw.reranking.global_features import SentenceView, entity_strings, type_strings
from skcw.reranking.hashed_names import (
    EntityHashes,
    HashedTexts,
    HashedWords,
    NameNumbers,
)
from skcw.reranking.parts import Rows, union_rows
from skcw.reranking.spans import CodedNbest, LabelingSpans
from tests.reference.ranking import joined, numbered


def split(flat, indptr):
    """Return rows as lists."""
    ends = indptr.tolist()
    return [flat[a:b].tolist() for a, b in pairwise(ends)]


WORD = st.text(alphabet='aZ1"é\ud800😀', max_size=5)
NAME = st.text(alphabet="ab", max_size=3)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=4))
def test_hashes_of_entities_are_those_of_their_strings_in_their_order(rows):
    lexicon = {"a", "aa"}
    spans = [
        (s, start, stop)
        for s, row in enumerate(rows)
        for start in range(len(row))
        for stop in range(start + 1, len(row) + 1)
    ]
    label = HashedTexts.of(["P" * (k % 2) for k in range(len(spans))])
    hashes = EntityHashes(HashedWords(rows, lexicon), label, *np.array(spans).T)
    hashes.of_borders()
    hashes.of_types()
    indptr, found = hashes.rows()
    for k, (s, start, stop) in enumerate(spans):
        names = entity_strings(SentenceView(rows[s], lexicon), start, stop)
        names += type_strings(rows[s], start, stop)
        wanted = HashedTexts.of([f"{'P' * (k % 2)} {name}" for name in names]).value
        np.testing.assert_array_equal(found[indptr[k] : indptr[k + 1]], wanted)


def test_hashes_of_texts_differ_and_join():
    texts = ["", "a", "b", "ab", "ba", "aa", "\0", "\0\0"]
    hashes = HashedTexts.of(texts)
    # Nothing and the empty text are told apart by what follows.
    assert len(set(hashes.value.tolist())) == len(texts)
    whole = HashedTexts.of(["ab"]) + HashedTexts.of(["ba"])
    assert whole.value == HashedTexts.of(["abba"]).value


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_names_are_numbered_and_labelings_joined_as_by_the_twins(data):
    names = data.draw(st.lists(st.lists(NAME, max_size=6), min_size=1, max_size=8))
    sentence = sorted(data.draw(st.integers(0, 2)) for _ in names)
    of, labeling, row = [], [], []
    for s in range(3):
        mine = [r for r, place in enumerate(sentence) if place == s]
        for _ in range(data.draw(st.integers(1, 3))):
            chosen = (
                data.draw(st.lists(st.sampled_from(mine), unique=True)) if mine else []
            )
            labeling += [len(of)] * len(chosen)
            row += chosen
            of.append(s)
    rows = Rows.of_names(sentence, names, labeling, row)
    rows = Rows.joined([rows], np.array(of))
    number = NameNumbers()
    cut = data.draw(st.integers(0, len(names)))
    found = number(rows)
    wanted, counts = numbered(names, sentence)
    assert split(found, rows.indptr) == wanted
    assert number.count.tolist() == counts
    flat = [name for row in names for name in row]
    kept = [HashedTexts.of([flat[k]]).value[0] for k in number.first.tolist()]
    assert kept == number.known.tolist()
    some = NameNumbers(number.known[:cut])
    assert some(rows, grow=False).tolist() == [k if k < cut else -1 for k in found]
    parts = [
        [r for c, r in zip(labeling, row, strict=True) if c == k]
        for k, _ in enumerate(of)
    ]
    for telling in (False, True):
        indptr, indices = union_rows(rows, found, number.n, telling)
        assert split(indices, indptr) == joined(wanted, parts, of, telling)


def test_candidates_that_are_numbers_of_labels_are_those_of_labels():
    rng = np.random.RandomState(0)
    X = [[rng.choice(["Ann", "met", '"']) for _ in range(6)] for _ in range(30)]
    labels, nbest = ["O", "B-P", "I-P", "B-L"], []
    for row in X:
        every = {tuple(rng.choice(labels, len(row))): float(k) for k in range(5)}
        nbest.append([(list(y), score) for y, score in every.items()])
    coded = [CodedNbest.of(row, labels) for row in nbest]
    options = {"min_count": 3, "functions": [lambda tokens, y: [f"first={y[0]}"]]}
    whole, features = GlobalFeatures(**options), GlobalFeatures(**options)
    lists = whole.fit_transform(X, nbest)
    telling = features._learned_lists(X, X, coded, labels)
    names = features.vocabulary_.names()
    assert sorted(names) == sorted(whole.vocabulary_.names())
    np.testing.assert_array_equal(telling.scores, lists.scores)
    weight = dict(zip(names, rng.normal(size=len(names)), strict=True))
    totals = [
        one.rows(
            np.array(
                [
                    sum(weight[known[k]] for k in one.indices[a:b])
                    for a, b in zip(one.indptr[:-1], one.indptr[1:], strict=True)
                ]
            )
        )
        for one, known in ((lists, whole.vocabulary_.names()), (telling, names))
    ]
    # What all candidates have ranks none of them.
    assert len(telling.indices) < len(lists.indices)
    for mine, theirs in zip(*totals, strict=True):
        np.testing.assert_allclose(mine - mine[0], theirs - theirs[0], atol=1e-9)


def test_spans_are_read_at_once():
    spans = LabelingSpans(*encode_labels([["B-P", "I-P", "O"], [], ["I-L", "B-L"]]))
    assert spans.of_labeling(0) == {(0, 2): "P"}
    assert spans.of_labeling(1) == {}
    assert spans.of_labeling(2) == {(0, 1): "L", (1, 2): "L"}
    assert spans.offsets.tolist() == [0, 3, 3, 5]


def test_hashes_of_many_names_take_little_memory_beside_them():
    names = [f"a function of the user: {i}" for i in range(20_000)]
    tracemalloc.start()
    found = HashedTexts.of(names)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 300 * len(names)
    for i in (0, 4095, 4096, 19_999):
        one = HashedTexts.of(names[i : i + 1])
        assert (one.value, one.power) == (found.value[i], found.power[i])
