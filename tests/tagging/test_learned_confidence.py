"""How sure to be, as fit learns it: who judges, and what becomes of it."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skcw
from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import confidence_pairs
from skcw.exceptions import UnlearnedConfidenceWarning
from skcw.features import WindowFeatures
from skcw.metrics import root_calibration_mse

TAGGERS = (
    CWSequenceTagger,
    AROWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
LEARNED = {"marginal", "noisy-marginal"}
WINDOW = WindowFeatures(["word", "suffix(3)", "short_shape"])
# A rule of thumb is off by several times as much on these sentences.
TRUE_ENOUGH = 0.06
# Where the search for a temperature ends, in its logarithm; rounding decides the rest.
SEARCHED = 0.1
# How much of the score another order of a few hundred sentences may cost.
AS_GOOD = 0.01
# How far the confidences of two models are apart that rounding has driven apart.
SAID = 0.03


def assert_same_sureness(one, other):
    """Check that two taggers that rounding has driven apart say about the same."""
    assert one.confidence_.keys() == other.confidence_.keys()
    values = [tagger.confidence_["marginal"]["values"] for tagger in (one, other)]
    ratio = values[0]["temperature"] / values[1]["temperature"]
    assert abs(np.log(ratio)) < SEARCHED
    # Whether noise is added is yes or no; what is said in the end changes little.
    sure = [np.concatenate(tagger.predict_confidence(X_NEW)) for tagger in (one, other)]
    assert np.mean(np.abs(sure[0] - sure[1])) < SAID


def corpus(n_sentences, seed):
    made = make_tagged_corpus(n_sentences, random_state=seed)
    return made.tokens, made.labels


TRAIN = corpus(600, 0)
X, Y = WINDOW.fit_transform(TRAIN[0]), TRAIN[1]
NEW = corpus(600, 1)
X_NEW, Y_NEW = WINDOW.transform(NEW[0]), NEW[1]


def error_of(tagger):
    correct, confidence, _ = confidence_pairs(tagger, X_NEW, Y_NEW)
    return root_calibration_mse(correct, confidence)


@pytest.mark.parametrize("Tagger", TAGGERS)
@pytest.mark.parametrize("params", [{}, {"n_models": 4}, {"early_stopping": True}])
def test_confidence_comes_true_as_it_comes(Tagger, params):
    tagger = Tagger(random_state=0, **params).fit(X, Y)
    assert tagger.confidence_source_ == "held-out"
    assert set(tagger.confidence_) == LEARNED
    assert error_of(tagger) < TRUE_ENOUGH


def test_a_development_set_judges_where_it_is_given():
    tagger = CWSequenceTagger(random_state=0)
    tagger.fit(X[:400], Y[:400], X_dev=X[400:], y_dev=Y[400:])
    assert tagger.confidence_source_ == "dev"
    assert error_of(tagger) < TRUE_ENOUGH


def test_a_tiny_development_set_judges_passes_alone():
    tagger = CWSequenceTagger(random_state=0)
    tagger.fit(X[:400], Y[:400], X_dev=X[400:402], y_dev=Y[400:402])
    assert tagger.confidence_source_ == "held-out"


def test_passes_that_leave_something_out_do_not_end_a_training():
    early = {"validation_fraction": 0.02, "n_iter_no_change": 2}
    tagger = CWSequenceTagger(random_state=0, early_stopping=early, max_iter=20)
    tagger.fit(X[:100], Y[:100])
    epochs = [record["epoch"] for record in tagger.history_]
    scored = [record["epoch"] for record in tagger.history_ if "dev_score" in record]
    assert tagger.confidence_source_ == "held-out"
    assert epochs == list(range(1, tagger.n_iter_ + 1)) and tagger.n_iter_ < 20
    assert scored == list(range(11, tagger.n_iter_ + 1))


@pytest.mark.parametrize("Tagger", TAGGERS)
@pytest.mark.parametrize("n_models", [1, 2])
def test_a_judgment_costs_no_accuracy(Tagger, n_models):
    with_it = Tagger(random_state=0, n_models=n_models).fit(X, Y)
    without = Tagger(random_state=0, n_models=n_models, calibrate_confidence=False)
    without.fit(X, Y)
    assert with_it.score(X_NEW, Y_NEW) > without.score(X_NEW, Y_NEW) - AS_GOOD
    assert without.confidence_source_ == "off" and not without.confidence_


@pytest.mark.parametrize("n_models", [1, 2, 4])
def test_threads_change_nothing(n_models):
    one = CWSequenceTagger(random_state=0, n_models=n_models).fit(X, Y)
    two = CWSequenceTagger(random_state=0, n_models=n_models, n_jobs=2).fit(X, Y)
    assert_array_equal(one.coef_, two.coef_)
    assert one.confidence_ == two.confidence_


def test_what_was_learned_is_saved(tmp_path):
    tagger = CWSequenceTagger(random_state=0).fit(X, Y)
    tagger.save(tmp_path / "tagger.skcw")
    same = skcw.load(tmp_path / "tagger.skcw")
    assert same.confidence_ == tagger.confidence_
    assert same.confidence_source_ == "held-out"
    assert same.temperature_ == tagger.temperature_
    for a, b in zip(
        same.predict_confidence(X_NEW[:20]),
        tagger.predict_confidence(X_NEW[:20]),
        strict=True,
    ):
        assert_array_equal(a, b)


def test_a_stream_moves_the_temperature_towards_what_it_says():
    tagger = CWSequenceTagger(random_state=0).fit(X[:200], Y[:200])
    for fit in tagger.confidence_.values():
        fit["values"]["temperature"] *= 8.0
    wrong, start = tagger.temperature_, error_of(tagger)
    for first in range(200, 600, 50):
        tagger.partial_fit(X[first : first + 50], Y[first : first + 50])
    assert tagger.confidence_source_ == "stream"
    assert tagger.temperature_ < wrong
    assert error_of(tagger) < start


def test_single_sentences_keep_what_was_learned():
    tagger = CWSequenceTagger(random_state=0).fit(X, Y)
    before = tagger.confidence_
    tagger.partial_fit(X_NEW[:1], Y_NEW[:1])
    assert tagger.confidence_ == before and tagger.confidence_source_ == "held-out"


def test_a_stream_alone_learns_from_its_second_batch_on():
    tagger = CWSequenceTagger(random_state=0)
    tagger.partial_fit(X[:300], Y[:300])
    assert tagger.confidence_source_ == "rule"
    tagger.partial_fit(X[300:], Y[300:])
    assert tagger.confidence_source_ == "stream"
    assert set(tagger.confidence_) == LEARNED


def test_too_few_sentences_are_told_when_confidence_is_asked():
    tagger = CWSequenceTagger(random_state=0).fit(X[:20], Y[:20])
    assert tagger.confidence_source_ == "rule"
    answers = tagger.predict_all(X_NEW[:3])
    for ask in (lambda: tagger.predict_confidence(X_NEW[:3]), answers.marginals):
        with pytest.warns(
            UnlearnedConfidenceWarning, match="too few sequences"
        ) as told:
            ask()
        if sys.version_info >= (3, 12):
            assert told[0].filename == __file__
    before = error_of(tagger)
    tagger.fit_confidence(X_NEW, Y_NEW)
    assert error_of(tagger) < before


@pytest.mark.filterwarnings("error")
def test_nothing_is_told_where_learning_is_off_or_a_value_is_given():
    tagger = CWSequenceTagger(random_state=0, calibrate_confidence=False)
    tagger.fit(X[:20], Y[:20]).predict_confidence(X_NEW[:3])
    tagger = CWSequenceTagger(random_state=0).fit(X[:20], Y[:20])
    tagger.predict_confidence(X_NEW[:3], temperature=1.0)


def test_weightless_sentences_do_not_judge():
    weight = np.ones(len(Y))
    weight[::3] = 0
    heard = np.flatnonzero(weight)
    tagger = CWSequenceTagger(random_state=0, shuffle=False)
    tagger.fit(X, Y, sample_weight=weight)
    alone = CWSequenceTagger(random_state=0, shuffle=False)
    alone.fit(X[heard], [Y[i] for i in heard])
    assert_same_sureness(tagger, alone)
