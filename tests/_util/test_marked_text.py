"""Texts with marks, and short texts for objects."""

import re
from html import unescape
from itertools import chain

import pytest

from skcw import (
    CalibratedTagger,
    CWSequenceTagger,
    InferenceModel,
    SelectiveTagger,
    make_tagging_pipeline,
)
from skcw._util.marked_text import Mark, joined_words, marked_html
from skcw.data import TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.io import text_answers

TAGS = re.compile(r"<small.*?</small>|<[^>]*>")


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(120, random_state=0)


@pytest.fixture(scope="module")
def words(corpus):
    return TokenColumns.from_sequences(corpus.tokens).select(["word"])


@pytest.fixture(scope="module")
def tagger(corpus, words):
    return make_tagging_pipeline("ner").fit(words, corpus.labels)


def test_a_page_shows_the_text_and_nothing_that_runs():
    text = '<script>alert("x")</script> & Ann'
    marks = [Mark(0, 8, '"><b', 0.5), Mark(9, 14, None, 0.2), Mark(30, 33, None, 0.99)]
    html = marked_html(text, marks)
    assert unescape(TAGS.sub("", html)) == text
    assert {*re.findall(r"<(\w+)", html)} == {"div", "mark", "small", "span"}
    assert "Ann</div>" in html  # what is sure is not shaded
    surer = marked_html("Ann", [Mark(0, 3, "PER", 7.0)])
    assert "PER 1.00" in surer and "0.50)" in surer


def test_words_have_places_in_their_text():
    rows = [["Ann", "left"], [], ["Bob", ""], ["x"]]
    text, places = joined_words(rows)
    assert [[text[a:b] for a, b in row] for row in places] == rows


def test_predictions_show_their_words_and_entities(tagger, corpus, words, tmp_path):
    answers = tagger.predict_all(words[:60])
    assert repr(answers).startswith("Predictions(60 sequences, ")
    html = answers._repr_html_()
    first = " ".join(words.words()[0])
    assert unescape(TAGS.sub("", html)).startswith(first)
    shown = sum(map(len, answers.entities()[:50]))
    assert html.count("<mark") == shown > 10 and "10 more sentences" in html
    tagger.save(tmp_path / "model")
    model = InferenceModel.open(tmp_path / "model")
    assert model.predict_all(words[:60])._repr_html_() == html
    assert "labels" in repr(model) and "noisy-marginal" in model._repr_html_()
    assert repr(tagger.confidence_methods_).startswith("<methods: delta")
    calibrated = CalibratedTagger(tagger, cv="prefit", allow_training_data=True)
    calibrated.fit(words, corpus.labels)
    assert repr(calibrated.confidence_methods_) == "<methods: noisy-marginal>"
    tags = make_tagging_pipeline(["word"]).fit([["a", "b"]] * 3, [["X", "Y"]] * 3)
    assert tags.predict_all([["a", "b", "b"]])._repr_html_().count("<mark") == 3
    # Features have no text.
    plain = CWSequenceTagger().fit([[["a"], ["b"]]], [["X", "Y"]])
    assert plain.predict_all([[["a"]]])._repr_html_() is None


def test_a_text_is_shown_as_it_is_written(tagger, words, monkeypatch):
    names = " ".join(words.words()[0])
    text = f"  {names}\n\n\n<b>{names}</b>\t{names}  "
    found = tagger.predict_text(text)
    html = found._repr_html_()
    assert unescape(TAGS.sub("", html)) == text
    assert html.count("<mark") == len(found.entities()) > 0
    monkeypatch.setattr(text_answers, "SHOWN", 1)
    short = unescape(TAGS.sub("", tagger.predict_text(text)._repr_html_()))
    assert text.startswith(short.partition("\n… and ")[0]) and "more sentences" in short


def test_thresholds_are_told_in_a_sentence(tagger, corpus, words, tmp_path):
    selective = SelectiveTagger(
        tagger, risk=0.3, cv="prefit", allow_training_data=True
    ).fit(words, corpus.labels)
    (threshold,) = selective.thresholds_
    assert repr(threshold).startswith("<RiskThreshold 0.")
    assert str(threshold) in repr(threshold) and "<td>" in threshold._repr_html_()
    selective.save(tmp_path / "model")
    page = InferenceModel.open(tmp_path / "model")._repr_html_()
    assert "accepts at a risk of" in page and "0.3" in page
    # The words come from the tagger inside.
    frame = selective.predict_all(words[:3]).to_frame()
    assert frame["word"].tolist() == [*chain.from_iterable(words[:3].words())]
