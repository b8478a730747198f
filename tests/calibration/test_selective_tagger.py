"""A selective tagger: what it accepts, bounds, refuses and saves."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

import skcw
from skcw import (
    CalibratedTagger,
    CWSequenceTagger,
    SelectiveTagger,
    make_tagging_pipeline,
)
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ExchangeabilityWarning, NoThresholdWarning
from skcw.metrics import token_correct

X, Y = make_tagged_corpus(900, random_state=0, return_X_y=True)
NEW, NEW_Y = make_tagged_corpus(400, random_state=1, return_X_y=True)


def pipeline(**options):
    return make_tagging_pipeline("ner", CWSequenceTagger(random_state=0, **options))


@pytest.fixture(scope="module")
def fitted():
    return pipeline().fit(X[:500], Y[:500])


@pytest.fixture(scope="module")
def selective(fitted):
    return SelectiveTagger(fitted, risk=[0.03, 0.1], cv="prefit").fit(X[500:], Y[500:])


def risk_of(tagger, accepted):
    right = token_correct(NEW_Y, tagger.predict(NEW))
    pairs = zip(right, accepted, strict=True)
    return 1 - np.concatenate([np.asarray(r, bool)[a] for r, a in pairs]).mean()


def test_labels_are_those_of_the_tagger(selective, fitted):
    assert selective.predict(NEW).tolist() == fitted.predict(NEW).tolist()


def test_what_is_accepted_is_sure_and_mostly_right(selective):
    confidence = selective.predict_confidence(NEW)
    for threshold in selective.thresholds_:
        accepted = selective.accept(NEW, threshold.risk)
        assert [len(row) for row in accepted] == [len(row) for row in NEW]
        for sure, row in zip(accepted, confidence, strict=True):
            assert (sure == (row >= threshold.threshold)).all()
        assert risk_of(selective, accepted) <= threshold.risk
    strict, lax = (np.concatenate(selective.accept(NEW, r)).mean() for r in (0.03, 0.1))
    assert 0.5 < strict < lax


def test_a_risk_that_was_not_asked_for_has_no_threshold(selective):
    with pytest.raises(ValueError, match=r"only for 0\.03, 0\.1"):
        selective.accept(NEW, 0.05)


@pytest.mark.parametrize(
    "options",
    [
        {"unit": "entity", "risk": 0.15},
        {"unit": "entity", "risk": 0.4, "recall": True},
        {"unit": "sentence", "risk": 0.3},
    ],
    ids=["entity", "recall", "sentence"],
)
def test_entities_and_sentences_can_be_accepted(fitted, options):
    tagger = SelectiveTagger(fitted, cv="prefit", **options).fit(X[500:], Y[500:])
    accepted = tagger.accept(NEW)
    entities = tagger.predict_entities(NEW)
    for sure, row in zip(accepted, entities, strict=True):
        assert len(sure) == (1 if tagger.unit == "sentence" else len(row))
    assert 0 < np.concatenate(accepted).mean() < 1
    assert len(tagger.predict_sets(NEW)) == len(NEW)


def test_sets_of_labels_contain_the_truth_and_the_prediction(fitted):
    tagger = SelectiveTagger(fitted, cv="prefit", risk=0.05, set_risk=0.02)
    tagger.fit(X[500:], Y[500:])
    labels, sets = tagger.predict(NEW), tagger.predict_sets(NEW)
    missed = np.mean(
        [
            truth not in options
            for row, each in zip(NEW_Y, sets, strict=True)
            for truth, options in zip(row, each, strict=True)
        ]
    )
    # The bound is for the mean; the test set has 4,900 words.
    assert missed <= 0.03
    sizes = [len(options) for row in sets for options in row]
    assert 1 <= np.mean(sizes) < 1.3
    assert [options[0] for options in sets[0]] == labels[0]


def test_sets_of_entities_miss_fewer_than_the_best_labeling(fitted):
    options = {"unit": "entity", "risk": 0.2, "set_risk": 0.1, "n_best": 20}
    tagger = SelectiveTagger(fitted, cv="prefit", **options).fit(X[500:], Y[500:])
    from skcw.data import extract_spans

    truth = [set(map(tuple, extract_spans(row))) for row in NEW_Y]
    sets = [{tuple(e[:3]) for e in row} for row in tagger.predict_sets(NEW)]
    best = [{tuple(e[:3]) for e in row} for row in tagger.predict_entities(NEW)]
    n_true = sum(map(len, truth))
    missed = sum(len(t - s) for t, s in zip(truth, sets, strict=True)) / n_true
    missed_by_best = sum(len(t - s) for t, s in zip(truth, best, strict=True)) / n_true
    assert missed < missed_by_best and missed <= 0.13


def test_training_sentences_are_refused_where_they_can_be_known(fitted):
    tagger = SelectiveTagger(fitted, cv="prefit")
    with pytest.raises(ValueError, match="has learned from 100 % of these words"):
        tagger.fit(X[:500], Y[:500])
    assert not hasattr(tagger, "thresholds_")
    tagger.set_params(allow_training_data=True, risk=0.1).fit(X[:500], Y[:500])
    assert tagger.thresholds_[0].holds


def test_a_part_is_held_out_if_the_tagger_is_not_fitted():
    tagger = SelectiveTagger(pipeline(), risk=0.1).fit(X, Y)
    assert tagger.thresholds_[0].n_groups == 270
    again = clone(tagger).fit(X, Y)
    assert again.thresholds_ == tagger.thresholds_
    other = clone(tagger).set_params(random_state=1).fit(X, Y)
    assert other.thresholds_ != tagger.thresholds_


def test_groups_stay_together():
    groups = np.arange(len(X)) // 10
    tagger = SelectiveTagger(pipeline(), risk=0.2, max_errors_per_group=5)
    tagger.fit(X, Y, groups=groups)
    assert tagger.thresholds_[0].n_groups == 27
    with pytest.raises(ValueError, match="a sentence cannot be split"):
        tagger.fit(X, Y, groups=np.concatenate([groups, groups]))


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_fitted_tagger_stays_as_it_is(fitted, wrapped):
    inner = FrozenEstimator(fitted) if wrapped else fitted
    options = {} if wrapped else {"cv": "prefit"}
    tagger = SelectiveTagger(inner, risk=0.1, **options).fit(X[500:], Y[500:])
    assert tagger.estimator_ is fitted
    assert clone(tagger).fit(X[500:], Y[500:]).thresholds_ == tagger.thresholds_


def test_a_risk_that_no_threshold_keeps_is_refused_in_words(fitted):
    tagger = SelectiveTagger(fitted, cv="prefit", risk=0.0001)
    with pytest.warns(
        NoThresholdWarning, match=r"400 sentences cannot guarantee a risk of 0\.01 %"
    ):
        tagger.fit(X[500:], Y[500:])
    assert not np.concatenate(tagger.accept(NEW)).any()
    tagger.set_params(allow_training_data=True)
    with pytest.warns(NoThresholdWarning, match="1 sentence cannot guarantee"):
        tagger.fit(X[500:501], Y[500:501])


def test_one_label_is_always_right():
    rows, labels = [["a", "b"]] * 400, [["O", "O"]] * 400
    tagger = SelectiveTagger(CWSequenceTagger(calibrate_confidence=False), risk=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tagger.fit(rows, labels)
        assert np.concatenate(tagger.accept(rows)).all()
    assert tagger.predict_sets(rows[:1])[0] == [["O"], ["O"]]


@pytest.mark.parametrize(
    "options",
    [
        {"risk": 0}, {"risk": [0.1, 1.2]}, {"confidence_level": 1}, {"unit": "page"},
        {"calibration_size": 1.0}, {"set_risk": 3.0}, {"max_errors_per_group": 0.5},
        {"recall": True}, {"n_best": 0},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters_change_nothing(fitted, options):
    tagger = SelectiveTagger(fitted, cv="prefit", **options)
    with pytest.raises(ValueError):
        tagger.fit(X[500:], Y[500:])
    assert not hasattr(tagger, "estimator_")


def test_text_of_another_kind_is_told_in_words(selective):
    assert selective.exchangeability(NEW) == []
    strange = [[(w[0][::-1].upper(), *w[1:]) for w in row] for row in NEW]
    with pytest.warns(ExchangeabilityWarning, match="the mean confidence is") as told:
        selective.accept(strange)
    assert "known features per word" in str(told[0].message)
    assert "as in harder text" in str(told[0].message) and told[0].filename == __file__
    assert len(selective.exchangeability(strange)) == 2
    selective.accept(strange, check=False)


MODELS = {
    "around": lambda: SelectiveTagger(pipeline(), risk=[0.05, 0.0001]),
    "inside": lambda: make_tagging_pipeline(
        "ner", SelectiveTagger(CWSequenceTagger(random_state=0), risk=0.05)
    ),
    "calibrated": lambda: SelectiveTagger(
        CalibratedTagger(pipeline(), cv=2, method="beta"), risk=0.05
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::skcw.exceptions.NoThresholdWarning")
def test_a_saved_model_accepts_the_same(name, tmp_path):
    model = MODELS[name]().fit(X, Y)
    model.save(tmp_path / "m")
    same = skcw.load(tmp_path / "m")
    assert type(same) is type(model)
    for one, other in zip(model.accept(NEW), same.accept(NEW), strict=True):
        assert (one == other).all()
    assert same.predict_sets(NEW).tolist() == model.predict_sets(NEW).tolist()
    inner, other = (getattr(m, "tagger", m) for m in (model, same))
    if name == "inside":
        assert inner.thresholds_ == other.thresholds_
    else:
        assert model.thresholds_ == same.thresholds_
        assert same.get_params(deep=False).keys() == model.get_params(deep=False).keys()


def test_the_light_model_has_the_threshold_too(tmp_path):
    model = SelectiveTagger(pipeline(), risk=0.05).fit(X, Y)
    model.save(tmp_path / "m")
    light = skcw.InferenceModel.open(tmp_path / "m")
    (saved,) = light.selection["thresholds"]
    assert saved["threshold"] == model.thresholds_[0].threshold
    confidence = light.predict_all(NEW).confidence()
    accepted = model.accept(NEW)
    for row, sure in zip(confidence, accepted, strict=True):
        assert ((row >= saved["threshold"]) == sure).all()


def test_what_cannot_be_saved_is_told(tmp_path):
    class Foreign:
        def fit(self, X, y):
            return self

        def predict_all(self, X):
            return pipeline().fit(X, Y[: len(X)]).predict_all(X)

    tagger = SelectiveTagger(Foreign(), risk=0.3, cv="prefit").fit(X[:200], Y[:200])
    with pytest.raises(ValueError, match="a Foreign cannot be saved"):
        tagger.save(tmp_path / "m")


def test_a_search_chooses_among_taggers():
    search = GridSearchCV(
        SelectiveTagger(pipeline(), risk=0.2),
        {"estimator__tagger__phi": [0.2, 1.0], "confidence_level": [0.9]},
        cv=2,
    ).fit(X, Y)
    assert search.best_params_["confidence_level"] == 0.9
    assert search.best_estimator_.thresholds_[0].confidence_level == 0.9


def test_thresholds_are_those_of_the_plain_function(selective, fitted):
    from skcw.calibration import risk_threshold

    answers = fitted.predict_all(X[500:])
    correct = token_correct(Y[500:], answers.labels())
    plain = risk_threshold(correct, answers.confidence(), [0.03, 0.1])
    assert selective.thresholds_ == plain
