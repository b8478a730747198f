"""Whole entities of a calibrated tagger: a map of their own."""

import numpy as np
import pytest
from sklearn.base import clone

import skcw
from skcw import (
    CRFSequenceTagger,
    CWSequenceTagger,
    MaxEntSequenceTagger,
    make_tagging_pipeline,
)
from skcw._util.ragged import object_rows
from skcw.calibration import CalibratedTagger
from skcw.data import extract_spans
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import confidence_pairs
from skcw.features import WindowFeatures
from skcw.metrics import log_loss

TOKENS, LABELS = make_tagged_corpus(500, random_state=0, return_X_y=True)
BATCH = WindowFeatures("ner").fit_transform(TOKENS)
Y = object_rows(LABELS)
TRAIN, OTHER, TEST = np.split(np.arange(500), [150, 320])
DEFINITIONS = ("least-word", "all-words", "boundary", "exact")


@pytest.fixture(scope="module")
def fitted():
    return CWSequenceTagger(max_iter=3, random_state=0).fit(BATCH[TRAIN], Y[TRAIN])


def calibrated(fitted, **options):
    tagger = CalibratedTagger(fitted, cv="prefit", method="beta", **options)
    return tagger.fit(BATCH[OTHER], Y[OTHER])


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_entities_stay_and_their_confidences_are_closer_to_the_truth(
    fitted, definition
):
    tagger = calibrated(fitted, entity_confidence=definition)
    before = fitted.predict_entities(BATCH[TEST], definition)
    after = tagger.predict_entities(BATCH[TEST])
    spans = [[entity[:3] for entity in row] for row in before]
    assert spans == [[entity[:3] for entity in row] for row in after]
    options = {"entity_confidence": definition}
    scores = [
        log_loss(
            *confidence_pairs(
                each, BATCH[TEST], Y[TEST], "span:*", confidence_options=options
            )[:2]
        )
        for each in (fitted, tagger)
    ]
    assert scores[1] < scores[0]


def test_the_map_is_learned_from_entities_that_the_truth_has_or_not(fitted):
    tagger = calibrated(fitted, entity_confidence="exact")
    found = fitted.predict_entities(BATCH[OTHER], "exact")
    confidence = np.array([entity.confidence for row in found for entity in row])
    correct = [
        any(tuple(span) == entity[:3] for span in extract_spans(labels))
        for row, labels in zip(found, Y[OTHER], strict=True)
        for entity in row
    ]
    (maps,) = tagger.entity_calibrators_
    again = type(maps.common)().fit(np.array(correct, dtype=float), confidence)
    np.testing.assert_array_equal(maps.common(confidence), again(confidence))


def test_weights_of_sequences_count_for_their_entities(fitted):
    weight = np.where(np.arange(len(OTHER)) % 4 == 0, 3.0, 0.5)
    tagger = CalibratedTagger(
        fitted, cv="prefit", method="beta", entity_confidence="exact"
    )
    tagger.fit(BATCH[OTHER], Y[OTHER], sample_weight=weight)
    found = fitted.predict_entities(BATCH[OTHER], "exact")
    true = [set(map(tuple, extract_spans(labels))) for labels in Y[OTHER]]
    confidence, correct, own = np.array(
        [
            (entity.confidence, tuple(entity[:3]) in spans, each)
            for row, spans, each in zip(found, true, weight, strict=True)
            for entity in row
        ]
    ).T
    (maps,) = tagger.entity_calibrators_
    weighted = type(maps.common)().fit(correct, confidence, own)
    np.testing.assert_array_equal(maps.common(confidence), weighted(confidence))


def test_without_a_map_an_entity_is_as_sure_as_its_least_sure_word(fitted):
    tagger = calibrated(fitted)
    words = tagger.predict_confidence(BATCH[TEST])
    for row, sure in zip(tagger.predict_entities(BATCH[TEST]), words, strict=True):
        assert [e.confidence for e in row] == [min(sure[e.start : e.end]) for e in row]
    assert tagger.entity_calibrators_ == []
    with pytest.raises(ValueError, match="set entity_confidence='exact' and fit again"):
        tagger.predict_entities(BATCH[TEST], entity_confidence="exact")


def test_words_do_not_change_by_a_map_of_entities(fitted):
    one, other = calibrated(fitted), calibrated(fitted, entity_confidence="exact")
    for a, b in zip(
        one.predict_confidence(BATCH[TEST]),
        other.predict_confidence(BATCH[TEST]),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_folds_and_types_have_maps_of_entities_too():
    tagger = CalibratedTagger(
        CWSequenceTagger(max_iter=2, random_state=0),
        cv=2, per_label=True, min_words=30, entity_confidence="exact",
    )  # fmt: skip
    tagger.fit(BATCH[OTHER], Y[OTHER])
    assert len(tagger.entity_calibrators_) == 2
    assert "PER" in tagger.entity_calibrators_[0].by_label
    assert len(clone(tagger).set_params(ensemble=False).fit(
        BATCH[OTHER], Y[OTHER]).entity_calibrators_) == 1  # fmt: skip


def test_files_and_pipelines_keep_the_maps_of_entities(tmp_path):
    pipeline = make_tagging_pipeline(
        "ner",
        CalibratedTagger(
            CWSequenceTagger(max_iter=2, random_state=0),
            cv=2,
            entity_confidence="boundary",
        ),
    ).fit([TOKENS[i] for i in OTHER], Y[OTHER])
    pipeline.save(tmp_path / "model")
    asked = [TOKENS[i] for i in TEST]
    before = pipeline.predict_entities(asked)
    after = skcw.load(tmp_path / "model").predict_entities(asked)
    assert before.tolist() == after.tolist()


def test_taggers_that_know_words_only_say_so():
    maxent = MaxEntSequenceTagger(random_state=0)
    X, y = BATCH[OTHER], Y[OTHER]
    with pytest.raises(ValueError, match="no method for whole spans, only for words"):
        CalibratedTagger(maxent, cv=2, entity_confidence="exact").fit(X, y)
    tagger = CalibratedTagger(maxent, cv=2, entity_confidence="least-word").fit(X, y)
    assert len(tagger.entity_calibrators_) == 2


def test_entities_of_a_crf_are_calibrated_too():
    crf = CRFSequenceTagger(max_iter=5)
    tagger = CalibratedTagger(crf, cv=2, entity_confidence="exact")
    tagger.fit(BATCH[OTHER], Y[OTHER])
    rows = tagger.predict_entities(BATCH[TEST])
    assert all(0 <= entity.confidence <= 1 for row in rows for entity in row)


def test_labels_that_mark_no_entity_are_refused():
    X, y = [["a", "b"], ["b", "a"]] * 4, [["O", "O"], ["O", "O"]] * 4
    tagger = CalibratedTagger(CWSequenceTagger(), cv=2, entity_confidence="exact")
    with pytest.raises(ValueError, match="no entity was predicted"):
        tagger.fit(X, y)
    with pytest.raises(ValueError, match="entity_confidence"):
        CalibratedTagger(CWSequenceTagger(), entity_confidence="whole").fit(X, y)


@pytest.mark.parametrize("method", [None, "marginal"])
@pytest.mark.parametrize("event", [None, *DEFINITIONS])
def test_methods_tell_whether_whole_spans_are_served(fitted, event, method):
    tagger = calibrated(fitted, entity_confidence=event, confidence_method=method)
    (served,) = tagger.confidence_methods_.values()
    assert (served.spans is not None) == (event not in (None, "least-word"))
    assert served.sequences is None
