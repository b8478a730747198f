"""Utilities of sequences, each against what the tagger says word by word."""

from math import log

import numpy as np
import pytest
import sklearn_crfsuite

from skcw import CalibratedTagger, CRFSequenceTagger, make_tagging_pipeline
from skcw.active.utilities import (
    doubtful_entities,
    expected_errors,
    least_confident_word,
    min_conf_margin,
    min_margin,
    normalized_log_prob,
)
from tests.active.problems import fitted_tagger, sentences

X, Y = sentences()
POOL = [*X[40:60], []]


@pytest.fixture(scope="module")
def tagger():
    return fitted_tagger()


@pytest.mark.parametrize("method", [None, "kd-pc", "kd-fixed", "delta", "marginal"])
def test_the_least_sure_word_speaks_for_its_sentence(tagger, method):
    rows = tagger.predict_confidence(POOL, method)
    expected = [-min(row) if len(row) else -np.inf for row in rows]
    np.testing.assert_array_equal(least_confident_word(tagger, POOL, method), expected)


def test_min_margin_is_the_lead_over_the_second_best_per_word(tagger):
    best = tagger.predict_nbest(POOL[:-1], 2)
    lead = [first[1] - second[1] for first, second in best]
    expected = [-gap / len(x) for gap, x in zip(lead, POOL[:-1], strict=True)]
    found = min_margin(tagger, POOL)
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-6)
    np.testing.assert_allclose(
        min_margin(tagger, POOL, per_word=False)[:-1], -np.array(lead)
    )
    assert found[-1] == -np.inf


def test_min_conf_margin_grows_with_the_variances(tagger):
    known = min_conf_margin(tagger, POOL)
    other = fitted_tagger()
    other.belief_.variance *= 4.0
    np.testing.assert_allclose(min_conf_margin(other, POOL), known / 2, rtol=1e-5)
    assert known[-1] == -np.inf


def test_improbability_is_the_log_probability_per_word(tagger):
    probability = tagger.predict_sequence_confidence(POOL[:-1])
    expected = [-log(p) / len(x) for p, x in zip(probability, POOL[:-1], strict=True)]
    found = normalized_log_prob(tagger, POOL)
    np.testing.assert_allclose(found[:-1], expected)
    assert found[-1] == -np.inf


def test_improbability_in_all_ranks_as_least_confidence_does(tagger):
    found = normalized_log_prob(tagger, POOL, per_word=False)[:-1]
    doubt = 1 - tagger.predict_sequence_confidence(POOL[:-1])
    assert np.argsort(found).tolist() == np.argsort(doubt).tolist()


def test_expected_errors_are_the_doubts_of_all_words(tagger):
    rows = tagger.predict_confidence(POOL[:-1], "marginal")
    expected = np.array([(1 - row).sum() for row in rows])
    found = expected_errors(tagger, POOL, "marginal")
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-9)
    share = expected_errors(tagger, POOL, "marginal", per_word=True)
    lengths = [len(x) for x in POOL[:-1]]
    np.testing.assert_allclose(share[:-1], expected / lengths, rtol=1e-9)


def test_errors_cannot_be_expected_from_distances(tagger):
    with pytest.raises(ValueError, match="'delta' gives numbers beyond 0 and 1"):
        expected_errors(tagger, POOL, "delta")


def test_doubtful_entities_are_counted_word_by_word(tagger):
    expected = []
    for words in tagger.predict_marginals(POOL[:-1]):
        doubtful = [max(p.values()) < 0.95 and 1 - p["O"] >= 0.1 for p in words]
        expected.append(sum(doubtful) / len(doubtful))
    found = doubtful_entities(tagger, POOL, "marginal", sure=0.95)
    np.testing.assert_allclose(found[:-1], expected)
    assert 0 < max(expected) < 1


def test_the_tagger_is_asked_once(tagger, monkeypatch):
    calls = []
    ask = type(tagger).predict_all
    monkeypatch.setattr(
        type(tagger), "predict_all", lambda self, X: calls.append(1) or ask(self, X)
    )
    for utility in (least_confident_word, min_margin, min_conf_margin, expected_errors):
        utility(tagger, POOL)
    assert len(calls) == 4


def test_other_taggers_answer_what_they_can(tagger):
    crf = CRFSequenceTagger(max_iter=20).fit(X[:30], Y[:30])
    pipeline = make_tagging_pipeline(["word"]).fit(X[:30], Y[:30])
    calibrated = CalibratedTagger(fitted_tagger(), cv="prefit").fit(X[30:60], Y[30:60])
    for model in (crf, pipeline, calibrated):
        for utility in (least_confident_word, min_margin, expected_errors):
            assert np.isfinite(utility(model, POOL[:-1])).all()
    with pytest.raises(ValueError, match="keeps no variances"):
        min_conf_margin(crf, POOL)


def test_the_tagger_of_another_package_is_asked_by_its_marginals():
    words = [[[token] for token in map(str, x)] for x in X]
    crf = sklearn_crfsuite.CRF(max_iterations=10).fit(words[:30], Y[:30])
    rows = crf.predict_marginals(words[40:45])
    labels = crf.predict(words[40:45])
    expected = [
        -min(p[label] for p, label in zip(row, own, strict=True))
        for row, own in zip(rows, labels, strict=True)
    ]
    np.testing.assert_allclose(least_confident_word(crf, words[40:45]), expected)
    with pytest.raises(TypeError, match="CRF cannot answer lead"):
        min_margin(crf, words[40:45])
