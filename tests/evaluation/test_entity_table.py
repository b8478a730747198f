"""Tables to look at: entities and explanations, on a terminal and in a notebook."""

import numpy as np
import pytest

import skcw
from skcw.evaluation import entity_table
from skcw.evaluation.tables import Table
from skcw.tagging.explanation import Explanations

X = [["Ann", "Lee", "met", "Bob"], ["Bob", "left"], []]
Y = [["B-PER", "I-PER", "O", "B-PER"], ["B-PER", "O"], []]


@pytest.fixture(scope="module")
def pipeline():
    return skcw.make_tagging_pipeline(["word"]).fit(X, Y)


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X,
        lambda X: [[(word, "x") for word in row] for row in X],
        lambda X: iter(X),
        lambda X: np.fromiter(X, dtype=object),
    ],
    ids=["words", "tuples", "iterator", "object array"],
)
def test_entities_come_with_their_words(pipeline, form):
    table = entity_table(pipeline, form(X), entity_confidence="exact")
    entities = pipeline.predict_entities(X, "exact")
    expected = [(s, *entity) for s, row in enumerate(entities) for entity in row]
    assert [(row[0], *row[2:]) for row in table.rows] == expected
    assert [row[1] for row in table.rows] == ["Ann Lee", "Bob", "Bob"]
    assert len(table) == 3


def test_features_stand_for_words_where_there_are_none():
    tokens = [[["w=Ann", "cap"], {"w": "Lee", "n": 2.0}, {"low": 1.0}, ["w=Bob"]]]
    tagger = skcw.CWSequenceTagger(random_state=0).fit(tokens, Y[:1])
    words = [row[1] for row in entity_table(tagger, tokens).rows]
    assert words == ["w=Ann w:Lee", "w=Bob"]
    batch = tagger.encode(tokens)
    assert [row[1] for row in entity_table(tagger, batch).rows] == ["", ""]


def test_the_table_of_entities_is_text_and_html(pipeline):
    table = entity_table(pipeline, X)
    head, _, first, *_ = repr(table).splitlines()
    assert head.split() == ["sentence", "words", "label", "start", "end", "confidence"]
    assert first.split()[:4] == ["0", "Ann", "Lee", "PER"]
    html = table._repr_html_()
    assert html.count("<tr>") == 4 and "<td>Ann Lee</td>" in html
    assert repr(entity_table(pipeline, [["left"]])).splitlines()[0].startswith("sent")


def test_html_is_escaped_and_long_cells_are_cut():
    table = Table(["a<b"], [["<b>&"], ["x" * 100], [None]])
    html = table._repr_html_()
    assert "a&lt;b" in html and "<td>&lt;b&gt;&amp;</td>" in html and "<b>" not in html
    assert f"{'x' * 59}…" in html and "x" * 60 not in html
    assert repr(table).splitlines()[-1].strip() == "-"
    assert table.rows[1] == ["x" * 100]


def test_explanations_are_a_list_that_is_shown_as_a_table(pipeline):
    explained = pipeline.explain(["Ann", "left"])
    assert isinstance(explained, Explanations) and isinstance(explained, list)
    assert [one.label for one in explained] == ["B-PER", "O"]
    assert explained == list(explained)
    lines = repr(explained).splitlines()
    assert lines[0].split()[:3] == ["at", "word", "label"]
    assert lines[2].split()[:3] == ["0", "Ann", "B-PER"]
    assert explained[0].contributions[0].feature in lines[2]
    assert "<td>Ann</td>" in explained._repr_html_()


def test_explanations_of_a_tagger_show_what_they_have():
    tokens = [["w=Ann", "cap"], ["w=left"]]
    tagger = skcw.CWSequenceTagger(random_state=0).fit([tokens], [["P", "O"]])
    assert tagger.explain(tokens).tokens == ["w=Ann", "w=left"]
    alone = tagger.explain(tagger.encode([tokens]))
    assert alone.tokens == [] and len(repr(alone).splitlines()) == 4
