"""Plain text in, entities with places out: pipelines, models, the command line."""

import json
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import skcw
from skcw import (
    CalibratedTagger,
    InferenceModel,
    SelectiveTagger,
    make_tagging_pipeline,
)
from skcw.data import TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.io import Tokenizer, read_columns, write_columns
from skcw.io.text_answers import TextEntity

TEXT = "Dear all,\n\nAnn met Bob in Rome. “Carla,” he said, didn't."


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(150, random_state=0)


@pytest.fixture(scope="module")
def words(corpus):
    return [[word for word, _ in s] for s in corpus.tokens]


@pytest.fixture(scope="module")
def pipeline(corpus, words):
    return make_tagging_pipeline("ner").fit(words, corpus.labels)


def test_entities_know_where_they_stand(pipeline):
    found = pipeline.predict_text(TEXT)
    entities = found.entities()
    assert entities and all(isinstance(entity, TextEntity) for entity in entities)
    for entity in entities:
        assert TEXT[entity.start : entity.end] == entity.text
        assert 0 <= entity.confidence <= 1
    assert [e.start for e in entities] == sorted(e.start for e in entities)


def test_entities_are_those_of_the_words(pipeline):
    found = pipeline.predict_text(TEXT)
    sentences = [[token.word for token in s] for s in found.sentences]
    expected = [
        (e.label, " ".join(s[e.start : e.end]))
        for s, row in zip(sentences, pipeline.predict_entities(sentences), strict=True)
        for e in row
    ]
    assert [(e.label, e.text) for e in found.entities()] == expected


def test_a_dict_can_be_written_as_json(pipeline):
    found = json.loads(json.dumps(pipeline.predict_text(TEXT).to_dict()))
    assert found["text"] == TEXT
    for token in found["tokens"]:
        assert TEXT[token["start"] : token["end"]] == token["text"]
    for span in found["spans"]:
        first, last = (found["tokens"][span[k]] for k in ("token_start", "token_end"))
        assert (first["start"], last["end"]) == (span["start"], span["end"])


def test_a_dict_judges_words_and_entities_by_one_method(pipeline):
    found = pipeline.predict_text(TEXT)
    for method in ("marginal", "delta"):
        expected = [c for row in found.tokens(method=method) for _, _, c in row]
        as_dict = found.to_dict(method=method)
        assert [token["confidence"] for token in as_dict["tokens"]] == expected
        for span in as_dict["spans"]:
            within = expected[span["token_start"] : span["token_end"] + 1]
            assert span["confidence"] == min(within)
    whole = found.to_dict("exact", method="marginal")["spans"]
    sure = found.entities(entity_confidence="exact", method="marginal")
    assert [span["confidence"] for span in whole] == [e.confidence for e in sure]


def test_threads_that_ask_one_model_get_its_answers(pipeline, words, tmp_path):
    pipeline.save(tmp_path / "model")
    model = InferenceModel.open(tmp_path / "model")
    known = [" ".join(sentence) for sentence in words[:60]]
    texts = [*known, *(f"{text} Unheard of: {i}" for i, text in enumerate(known))] * 2
    expected = [model.predict_text(text).to_dict() for text in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: model.predict_text(text).to_dict(), texts))
    assert found == expected


def test_an_empty_text_has_no_entities(pipeline):
    for text in ("", " \n\n "):
        found = pipeline.predict_text(text)
        assert found.entities() == [] and found.to_dict()["tokens"] == []


def test_the_tokenizer_is_learned_and_saved(corpus, words, tmp_path):
    X = [*words, ["do", "n't"], ["did", "n't"]]
    y = [*corpus.labels, ["O", "O"], ["O", "O"]]
    pipeline = make_tagging_pipeline("ner").fit(X, y)
    assert pipeline.tokenizer_ == Tokenizer.from_corpus(X) != Tokenizer()
    pipeline.save(tmp_path / "model")
    again, model = (
        skcw.load(tmp_path / "model"),
        InferenceModel.open(tmp_path / "model"),
    )
    assert again.tokenizer_ == model.tokenizer == pipeline.tokenizer_
    expected = pipeline.predict_text(TEXT).entities()
    assert again.predict_text(TEXT).entities() == expected
    assert model.predict_text(TEXT).entities() == expected


def test_a_tokenizer_can_be_given(corpus, words):
    mine = Tokenizer(split_hyphens=True)
    pipeline = make_tagging_pipeline("ner").set_params(tokenizer=mine)
    assert pipeline.fit(words, corpus.labels).tokenizer_ == mine
    (sentence,) = pipeline.predict_text("x-y").sentences
    assert len(sentence) == 3


def test_the_first_sentences_of_partial_fit_teach_the_tokenizer(words, corpus):
    pipeline = make_tagging_pipeline("ner")
    pipeline.partial_fit(
        [*words[:50], ["do", "n't", "n't"]], [*corpus.labels[:50], ["O"] * 3]
    )
    learned = pipeline.tokenizer_
    assert "n't" in learned.contractions
    assert pipeline.partial_fit(words[50:], corpus.labels[50:]).tokenizer_ is learned


@pytest.mark.parametrize("kind", [CalibratedTagger, SelectiveTagger])
def test_the_tokenizer_stays_with_a_wrapped_pipeline(
    kind, pipeline, words, corpus, tmp_path
):
    options = {"risk": 0.5} if kind is SelectiveTagger else {}
    wrapped = kind(pipeline, cv="prefit", allow_training_data=True, **options).fit(
        words, corpus.labels
    )
    wrapped.save(tmp_path / "model")
    again = skcw.load(tmp_path / "model")
    assert again.estimator_.tokenizer_ == pipeline.tokenizer_


def test_a_model_that_reads_other_columns_is_refused(corpus, tmp_path):
    write_columns(tmp_path / "corpus", corpus.tokens, corpus.labels)
    X, y = read_columns(tmp_path / "corpus").split_label()
    for features in ("ner", ["pos"]):
        pipeline = make_tagging_pipeline(features).fit(X, y)
        pipeline.save(tmp_path / "model")
        for model in (pipeline, InferenceModel.open(tmp_path / "model")):
            with pytest.raises(ValueError, match="looks at the columns pos"):
                model.predict_text(TEXT)
    # A function may look at any of them.
    reads = make_tagging_pipeline(["word", lambda tokens, i: tokens[i][1]]).fit(X, y)
    with pytest.raises(ValueError, match="looks at the columns pos") as error:
        reads.predict_text(TEXT)
    assert "TokenColumns.from_sequences(X).select(['word'])" in str(error.value)
    words = TokenColumns.from_sequences(X).select(["word"])
    assert make_tagging_pipeline("ner").fit(words, y).predict_text(TEXT).sentences


def test_many_texts_are_asked_about_at_once(pipeline, words, tmp_path, monkeypatch):
    pipeline.save(tmp_path / "model")
    model = InferenceModel.open(tmp_path / "model")
    texts = [" ".join(sentence) for sentence in words[:7]]
    texts += ["", f"{texts[0]}\n\n{texts[1]}"]
    monkeypatch.setattr("skcw.io.text_answers.BATCH_WORDS", 30)
    expected = [pipeline.predict_text(text) for text in texts]
    series = pd.Series(texts)
    for found in (pipeline.predict_text(texts), model.predict_text(series)):
        assert [one.to_dict() for one in found] == [one.to_dict() for one in expected]
        options = {"entity_confidence": "exact", "method": "marginal"}
        for one, other in zip(found, expected, strict=True):
            assert one.entities(**options) == other.entities(**options)
            labels = one.predictions.labels().tolist()
            assert labels == other.predictions.labels().tolist()


def test_texts_are_read_as_they_come(pipeline, capsys, monkeypatch):
    monkeypatch.setattr("skcw.io.text_answers.BATCH_WORDS", 3)
    read = []
    texts = (read.append(n) or f"Ann met Bob {n}." for n in range(9))
    found = pipeline.predict_text(texts, progress=True)
    assert next(found).text == "Ann met Bob 0." and read == [0]
    assert len(list(found)) == 8 and "9 texts" in capsys.readouterr().err


def test_what_is_no_text_is_named(pipeline):
    for wrong, match in (
        ([TEXT, None], "text 1 is None"),
        (["a", float("nan")], "text 1 is nan"),
        (b"Ann", "text is a bytes"),
        (7, "text is a int"),
        (pd.DataFrame({"text": [TEXT]}), "text is a DataFrame"),
    ):
        with pytest.raises(TypeError, match=match):
            pipeline.predict_text(wrong)
    with pytest.raises(ValueError, match="temperature must be a positive number"):
        pipeline.predict_text(TEXT).entities(temperature=[1])
    for ask in (pipeline.predict, pipeline.predict_confidence, pipeline.tagger.predict):
        for X in ("Ann left", ["Ann left"]):
            with pytest.raises(TypeError, match="call predict_text of a pipeline"):
                ask(X)


def test_a_column_that_no_feature_looks_at_does_no_harm(corpus):
    pipeline = make_tagging_pipeline(["word"]).fit(corpus.tokens, corpus.labels)
    assert len(pipeline.predict_text("Ann left.").sentences) == 1


def test_a_tagger_without_features_is_refused(words, corpus, tmp_path):
    skcw.CWSequenceTagger().fit(words, corpus.labels).save(tmp_path / "model")
    with pytest.raises(ValueError, match="has no features"):
        InferenceModel.open(tmp_path / "model").predict_text(TEXT)
