"""Every tagger, wrapped or not: the same questions, asked at once or one by one."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

import skcw
from skcw._model import decoding as _decoding
from skcw._model.decoding import Decoder, ScoredBatch
from skcw.calibration import CalibratedTagger
from skcw.confidence import Predictions
from skcw.datasets import make_tagged_corpus
from skcw.features import WindowFeatures
from skcw.tagging import BaseSequenceTagger
from skcw.tagging.maxent import ScoredHistories

WORDS, LABELS = make_tagged_corpus(60, random_state=0, return_X_y=True)
TAGGERS = {
    "CW": skcw.CWSequenceTagger(max_iter=2, random_state=0),
    "AROW": skcw.AROWSequenceTagger(max_iter=2, random_state=0),
    "PA": skcw.PASequenceTagger(max_iter=2, random_state=0),
    "perceptron": skcw.PerceptronSequenceTagger(max_iter=2, random_state=0),
    "HMM": skcw.HMMSequenceTagger(word_prefix="word[0]="),
    "MaxEnt": skcw.MaxEntSequenceTagger(random_state=0),
    "CRF": skcw.CRFSequenceTagger(max_iter=5),
    "calibrated": CalibratedTagger(
        skcw.CWSequenceTagger(max_iter=2, random_state=0), cv=2, method="beta"
    ),
}
QUESTIONS = (
    "predict_all",
    "predict",
    "predict_single",
    "predict_nbest",
    "predict_marginals",
    "predict_confidence",
    "predict_entities",
    "predict_sequence_confidence",
    "predict_label_confidence",
    "predict_voted",
    "sample",
    "score",
    "encode",
    "save",
)
each_tagger = pytest.mark.parametrize("name", TAGGERS)


@pytest.fixture(scope="module")
def pipelines():
    made = {}
    for name, tagger in TAGGERS.items():
        made[name] = skcw.make_tagging_pipeline("ner", clone(tagger))
        made[name].fit(WORDS[:40], LABELS[:40])
    return made


@pytest.mark.parametrize("question", QUESTIONS)
def test_all_taggers_have_the_same_signatures(question):
    expected = inspect.signature(getattr(skcw.CWSequenceTagger, question))
    classes = {type(tagger) for tagger in TAGGERS.values()} | {skcw.TaggingPipeline}
    for cls in classes:
        assert inspect.signature(getattr(cls, question)) == expected, cls


@pytest.mark.parametrize("question", ["labels", "nbest", "confidence", "entities"])
def test_calibrated_answers_take_what_others_take(question, pipelines):
    answers = pipelines["calibrated"].predict_all(WORDS[:2])
    expected = inspect.signature(getattr(Predictions, question))
    found = inspect.signature(getattr(type(answers), question))
    assert found == expected


SHARED = "skcw._util.compat", "skcw.io.loading", "skcw._model.training_hashes"


@each_tagger
def test_taggers_have_at_most_three_ancestors_of_ours(name):
    for cls in (type(TAGGERS[name]), skcw.TaggingPipeline):
        # What older versions of scikit-learn lack stands in `compat`, what all that is
        # saved has in common in `loading` and, if it learns, in `training_hashes`.
        own = [
            base
            for base in cls.__mro__[1:]
            if base.__module__.startswith("skcw.") and base.__module__ not in SHARED
        ]
        assert len(own) <= 3
        assert BaseSequenceTagger in own


@each_tagger
def test_several_questions_extract_score_and_decode_once(name, pipelines, monkeypatch):
    counts = {"extracted": 0, "scored": 0, "decoded": 0}

    def counted(what, function):
        def call(*arguments, **options):
            counts[what] += 1
            return function(*arguments, **options)

        return call

    pipeline = pipelines[name]
    extract = counted("extracted", WindowFeatures.transform)
    monkeypatch.setattr(WindowFeatures, "transform", extract)
    monkeypatch.setattr(Decoder, "scores", counted("scored", Decoder.scores))
    best = counted("decoded", _decoding.viterbi)
    monkeypatch.setattr(_decoding, "viterbi", best)
    if name == "MaxEnt":
        search = counted("decoded", ScoredHistories.k_best)
        monkeypatch.setattr(ScoredHistories, "k_best", search)
    answers = pipeline.predict_all(WORDS[40:])
    assert counts == {"extracted": 1, "scored": 0, "decoded": 0}
    answers.labels()
    answers.confidence()
    method = None if name == "calibrated" else "marginal"
    answers.confidence(method)
    answers.entities()
    answers.marginals()
    answers.label_confidence(LABELS[40:], method)
    answers.label_table(method)
    answers.labels()
    assert counts == {"extracted": 1, "scored": 1, "decoded": 1}


@each_tagger
def test_what_a_caller_does_with_an_answer_changes_no_other(name, pipelines):
    pipeline = pipelines[name]
    answers, fresh = pipeline.predict_all(WORDS[40:]), pipeline.predict_all(WORDS[40:])
    labels, confidence, labelings = (
        answers.labels(), answers.confidence(), answers.nbest(2)
    )  # fmt: skip
    for row, sure, ranked in zip(labels, confidence, labelings, strict=True):
        row[:] = ["changed"] * len(row)
        sure[:] = 7.0
        ranked[0][0][:] = ["changed"] * len(row)
        ranked.clear()
    assert answers.labels().tolist() == fresh.labels().tolist()
    assert answers.nbest(2).tolist() == fresh.nbest(2).tolist()
    assert answers.entities().tolist() == fresh.entities().tolist()
    for row, expected in zip(answers.confidence(), fresh.confidence(), strict=True):
        np.testing.assert_array_equal(row, expected)
    if name != "calibrated":
        answers.sequence_confidence()[:] = 7.0
        np.testing.assert_array_equal(
            answers.sequence_confidence(), fresh.sequence_confidence()
        )
        with pytest.raises(ValueError, match="read-only"):
            answers.label_table()[0] = 7.0


@each_tagger
def test_a_table_of_all_labels_costs_one_forward_backward(name, pipelines, monkeypatch):
    calls = []
    sum_up = ScoredBatch._sum_up
    monkeypatch.setattr(
        ScoredBatch, "_sum_up", lambda self, *a: calls.append(1) or sum_up(self, *a)
    )
    answers = pipelines[name].predict_all(WORDS[40:])
    method = None if name == "calibrated" else "marginal"
    table = answers.label_table(method)
    answers.marginals()
    answers.label_table(method)
    # A model of histories sums in its own way.
    assert len(calls) == (name != "MaxEnt")
    assert table.shape == (answers.offsets[-1], len(answers.classes))
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-6)


@each_tagger
def test_a_pipeline_reads_what_it_has_encoded(name, pipelines):
    pipeline = pipelines[name]
    batch = pipeline.encode(WORDS[40:])
    for question in ("predict", "predict_entities", "predict_marginals"):
        one = getattr(pipeline, question)(batch)
        assert one.tolist() == getattr(pipeline, question)(WORDS[40:]).tolist()


@each_tagger
def test_methods_that_are_served_are_named(name, pipelines):
    pipeline = pipelines[name]
    served = pipeline.confidence_methods_
    assert pipeline.default_method_ in served
    assert list(served) == list(pipeline.tagger.confidence_methods_)
    if name == "calibrated":
        assert all(method.probability for method in served.values())
    if name in ("CW", "AROW"):
        assert set(served) == set(skcw.confidence.methods.METHODS)


def test_a_class_of_the_same_name_does_not_take_the_place_of_ours(tmp_path):
    ours = skcw.CWSequenceTagger(max_iter=1, random_state=0).fit(WORDS[:5], LABELS[:5])
    theirs = type("CWSequenceTagger", (skcw.CWSequenceTagger,), {"__module__": "mine"})
    theirs(max_iter=1).fit(WORDS[:5], LABELS[:5]).save(tmp_path / "theirs")
    ours.save(tmp_path / "ours")
    assert type(skcw.load(tmp_path / "ours")) is skcw.CWSequenceTagger
    assert type(skcw.load(tmp_path / "theirs")) is theirs


LINEAR = ("CW", "AROW", "PA", "perceptron", "HMM", "CRF")


@pytest.mark.parametrize("name", LINEAR)
def test_linear_taggers_show_their_weights_by_name(name, pipelines):
    tagger = pipelines[name].tagger
    names, labels = tagger.feature_names_.tolist(), tagger.classes_.tolist()
    weights = np.zeros_like(tagger.coef_)
    for (feature, label), weight in tagger.state_features_.items():
        assert type(weight) is float
        weights[names.index(feature), labels.index(label)] = weight
    np.testing.assert_array_equal(weights, tagger.coef_)
    for (before, after), weight in tagger.transition_features_.items():
        place = labels.index(before), labels.index(after)
        assert weight == tagger.transition_coef_[place] != 0
    assert len(tagger.transition_features_) == np.count_nonzero(tagger.transition_coef_)
    assert (
        set(names) >= set(tagger.attributes_) >= {f for f, _ in tagger.state_features_}
    )
    assert tagger.num_attributes_ == len(tagger.attributes_)


@pytest.mark.parametrize("name", TAGGERS)
def test_the_size_is_about_that_of_the_file(name, pipelines, tmp_path):
    tagger = pipelines[name].tagger
    tagger.save(tmp_path / "model")
    size = (tmp_path / "model").stat().st_size
    # The names of the arrays and quotes inside the header are not counted.
    assert 0.9 * size - 2000 < tagger.size_ <= size


def test_there_is_no_size_before_fit():
    assert not hasattr(skcw.CWSequenceTagger(), "size_")
    assert not hasattr(skcw.CRFSequenceTagger(), "tagger_")
