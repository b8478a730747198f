"""The component in real pipelines of spaCy, which need no download."""

import subprocess
import sys

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

import skcw.pipeline.spacy  # noqa: F401  # tells spaCy of the component
from skcw import CalibratedTagger, CWSequenceTagger, make_tagging_pipeline
from skcw.data import extract_spans
from skcw.datasets import make_tagged_corpus
from skcw.pipeline.spacy import EntityComponent


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(100, random_state=0)


@pytest.fixture(scope="module")
def words(corpus):
    return [[word for word, _ in s] for s in corpus.tokens]


@pytest.fixture(scope="module")
def pipeline(corpus, words):
    return make_tagging_pipeline("ner").fit(words, corpus.labels)


@pytest.fixture(scope="module")
def path(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("spacy") / "names.skcw"
    pipeline.save(path)
    return path


@pytest.fixture
def nlp(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("skcw", config={"model": str(path)})
    return nlp


def doc_of(nlp, words, **options):
    return Doc(nlp.vocab, words=words, **options)


def test_entities_are_those_of_the_model(nlp, pipeline, words):
    component = nlp.get_pipe("skcw")
    for sentence in words[:20]:
        doc = component(doc_of(nlp, sentence))
        (expected,) = pipeline.predict_entities([sentence])
        found = [(e.label_, e.start, e.end, e._.confidence) for e in doc.ents]
        assert found == [tuple(entity) for entity in expected]
        (sure,) = pipeline.predict_confidence([sentence])
        assert [token._.confidence for token in doc] == sure.tolist()


def test_each_sentence_is_asked_about_by_itself(nlp, pipeline, words):
    both = [*words[0], *words[1]]
    starts = [i in (0, len(words[0])) for i in range(len(both))]
    doc = nlp.get_pipe("skcw")(doc_of(nlp, both, sent_starts=starts))
    apart = pipeline.predict_confidence(words[:2])
    assert [t._.confidence for t in doc] == [*apart[0], *apart[1]]


def test_blank_tokens_are_left_out(nlp, pipeline, words):
    with_blank = [words[0][0], "\n\n", *words[0][1:]]
    doc = nlp.get_pipe("skcw")(doc_of(nlp, with_blank))
    (sure,) = pipeline.predict_confidence([words[0]])
    assert doc[1]._.confidence is None
    assert [t._.confidence for t in doc if not t.is_space] == sure.tolist()


def test_many_documents_are_like_one_by_one(nlp, words):
    texts = [" ".join(sentence) for sentence in words[:10]] + [""]
    one_by_one = [[(e.text, e._.confidence) for e in nlp(t).ents] for t in texts]
    together = [[(e.text, e._.confidence) for e in d.ents] for d in nlp.pipe(texts)]
    assert together == one_by_one and any(together)


@pytest.mark.parametrize("overwrite", [False, True])
def test_entities_that_are_there_stay_or_give_way(pipeline, words, overwrite):
    nlp = spacy.blank("en")
    plain = EntityComponent(pipeline)(doc_of(nlp, words[0]))
    mine = plain.ents[0]
    doc = doc_of(nlp, words[0])
    doc.ents = [Span(doc, mine.start, mine.end, label="OTHER")]
    doc = EntityComponent(pipeline, overwrite_ents=overwrite)(doc)
    label = next(e.label_ for e in doc.ents if e.start == mine.start)
    assert label == (mine.label_ if overwrite else "OTHER")
    assert len(doc.ents) == len(plain.ents)


def test_a_saved_pipeline_holds_the_model(nlp, path, words, tmp_path):
    text = " ".join(words[0])
    expected = [(e.text, e.label_, e._.confidence) for e in nlp(text).ents]
    nlp.to_disk(tmp_path / "nlp")
    moved = path.rename(path.with_suffix(".away"))
    try:
        again = spacy.load(tmp_path / "nlp")
    finally:
        moved.rename(path)
    assert [(e.text, e.label_, e._.confidence) for e in again(text).ents] == expected
    third = spacy.blank("en")
    third.add_pipe("sentencizer")
    third.add_pipe("skcw")
    third.from_bytes(nlp.to_bytes())
    assert [(e.text, e.label_, e._.confidence) for e in third(text).ents] == expected


def test_parts_of_speech_come_from_components_before(corpus):
    model = make_tagging_pipeline("ner").fit(corpus.tokens, corpus.labels)
    component, nlp = EntityComponent(model), spacy.blank("en")
    sentence = corpus.tokens[0]
    words, tags = map(list, zip(*sentence, strict=True))
    doc = component(doc_of(nlp, words, tags=tags))
    expected = [
        (e.label, e.start, e.end) for e in model.predict_entities([sentence])[0]
    ]
    assert [(e.label_, e.start, e.end) for e in doc.ents] == expected
    with pytest.raises(ValueError, match=r"token\.tag_ of .* is empty"):
        component(doc_of(nlp, words))


def test_a_column_without_an_attribute_is_named(corpus):
    columns = ["word", "chunk"]
    model = make_tagging_pipeline(["word", "chunk"], columns=columns)
    model.fit(corpus.tokens, corpus.labels)
    with pytest.raises(ValueError, match="the column 'chunk'; say which attribute"):
        EntityComponent(model)(spacy.blank("en")("Ann left"))


def test_a_calibrated_model_can_be_used(pipeline, words, corpus, tmp_path):
    wrapped = CalibratedTagger(pipeline, cv="prefit", allow_training_data=True).fit(
        words, corpus.labels
    )
    wrapped.save(tmp_path / "calibrated")
    component = EntityComponent(tmp_path / "calibrated")
    doc = component(doc_of(spacy.blank("en"), words[0]))
    (sure,) = wrapped.predict_confidence([words[0]])
    assert [token._.confidence for token in doc] == sure.tolist()


def test_a_component_without_a_model_says_so(tmp_path, words, corpus):
    nlp = spacy.blank("en")
    nlp.add_pipe("skcw")
    with pytest.raises(ValueError, match="has no model"):
        nlp("Ann left")
    CWSequenceTagger().fit(words, corpus.labels).save(tmp_path / "tagger")
    with pytest.raises(ValueError, match="without features"):
        EntityComponent(tmp_path / "tagger")
    with pytest.raises(FileNotFoundError):
        EntityComponent(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        nlp.add_pipe("skcw", name="second", config={"model": str(tmp_path / "nowhere")})


def test_evaluate_gives_the_scores_of_spacys_own_entities(nlp, words, corpus):
    examples, true, found = [], [], []
    for sentence, labels in zip(words[:30], corpus.labels[:30], strict=True):
        spans, starts = extract_spans(labels), [True] + [False] * len(labels[1:])
        reference = doc_of(nlp, sentence, sent_starts=starts)
        reference.ents = [Span(reference, *span[1:], span[0]) for span in spans[1:]]
        examples.append(Example(reference.copy(), reference))
        true.append({tuple(span) for span in spans[1:]})
        doc = nlp.get_pipe("skcw")(reference.copy())
        found.append({(e.label_, e.start, e.end) for e in doc.ents})
    for example in examples:
        example.predicted.ents = []
    hits = sum(len(a & b) for a, b in zip(true, found, strict=True))
    scores = nlp.evaluate(examples)
    assert scores["ents_p"] == pytest.approx(hits / sum(map(len, found)))
    assert scores["ents_r"] == pytest.approx(hits / sum(map(len, true)))
    assert 0 < scores["ents_f"] < 1 and scores["ents_per_type"]
    with pytest.raises(TypeError, match=r"EntityComponent\.score"):
        nlp.get_pipe("skcw").score([1])


def test_a_model_is_opened_by_initialize(path, pipeline, words):
    nlp = spacy.blank("en")
    nlp.add_pipe("skcw")
    with pytest.raises(ValueError, match="has no model"):
        nlp.initialize()
    nlp.config["initialize"]["components"]["skcw"] = {"model": str(path)}
    nlp.initialize()
    assert nlp.get_pipe("skcw")(doc_of(nlp, words[0])).ents
    # What is there stays.
    component = EntityComponent(pipeline)
    component.initialize(list)
    assert component(doc_of(nlp, words[0])).ents


def test_a_saved_pipeline_tags_without_scikit_learn(path):
    code = (
        "import sys, spacy; from skcw.pipeline.spacy import EntityComponent\n"
        f"EntityComponent({str(path)!r})(spacy.blank('en')('Ann left'))\n"
        "assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
