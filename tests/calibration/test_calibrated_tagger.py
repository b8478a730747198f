"""A tagger with calibrated confidences: what changes, what stays, what is refused."""

from copy import copy
from itertools import chain

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    make_tagging_pipeline,
)
from skcw._util.ragged import object_rows
from skcw.calibration import (
    BetaCalibrator,
    CalibratedTagger,
    IsotonicCalibrator,
    SelectiveTagger,
)
from skcw.calibration.calibrated_tagger import shared_rest
from skcw.calibration.calibrators import LabelCalibrators
from skcw.confidence.held_out import HeldOut
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import confidence_pairs, get_scorer
from skcw.features import WindowFeatures
from skcw.metrics import token_correct

TOKENS, LABELS = make_tagged_corpus(360, random_state=0, return_X_y=True)
BATCH = WindowFeatures("ner").fit_transform(TOKENS)
Y = object_rows(LABELS)
TRAIN, OTHER, TEST = np.split(np.arange(360), [160, 260])

CW = CWSequenceTagger(max_iter=3, random_state=0)
TAGGERS = {
    "CW": CW,
    "AROW": AROWSequenceTagger(max_iter=3, random_state=0),
    "CRF": CRFSequenceTagger(max_iter=5),
}
MAPS = ("isotonic", "sigmoid", "temperature", "beta", "identity")


@pytest.fixture(scope="module")
def fitted():
    return clone(CW).fit(BATCH[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def calibrated(fitted):
    return CalibratedTagger(fitted, cv="prefit").fit(BATCH[OTHER], Y[OTHER])


def flat(rows):
    return np.concatenate(list(rows))


def joined(labels):
    return np.array(list(chain.from_iterable(labels)))


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", TAGGERS)
def test_predict_is_that_of_the_tagger_fitted_on_all_words(name):
    X, y = BATCH[:80], Y[:80]
    asked, truth = BATCH[TEST], Y[TEST]
    alone = clone(TAGGERS[name]).fit(X, y)
    labels, raw = alone.predict(asked).tolist(), flat(alone.predict_confidence(asked))
    best, score = alone.predict_nbest(X[:3], 2).tolist(), alone.score(asked, truth)
    for ensemble in (True, False):
        options = {"cv": 2, "ensemble": ensemble, "method": "beta"}
        calibrated = CalibratedTagger(TAGGERS[name], **options).fit(X, y)
        assert calibrated.predict(asked).tolist() == labels
        assert calibrated.predict_nbest(X[:3], 2).tolist() == best
        assert calibrated.score(asked, truth) == score
        assert calibrated.classes_.tolist() == alone.classes_.tolist()
        assert not np.allclose(flat(calibrated.predict_confidence(asked)), raw)


def test_a_fitted_tagger_is_wrapped_as_it_is(fitted, calibrated):
    assert calibrated.estimator_ is fitted
    assert len(calibrated.calibrators_) == 1


def held_out_words(fold):
    train, test = fold
    tagger = clone(CW).fit(BATCH[train], Y[train])
    labels = tagger.predict(BATCH[test])
    confidence = flat(tagger.predict_confidence(BATCH[test]))
    return confidence, flat(token_correct(Y[test], labels))


def test_folds_are_judged_by_taggers_that_have_not_seen_them():
    folds = list(KFold(3).split(TRAIN))
    words = [held_out_words(fold) for fold in folds]
    raw = flat(clone(CW).fit(BATCH[TRAIN], Y[TRAIN]).predict_confidence(BATCH[TEST]))

    several = CalibratedTagger(CW, cv=3).fit(BATCH[TRAIN], Y[TRAIN])
    expected = np.mean([IsotonicCalibrator().fit(y, q)(raw) for q, y in words], axis=0)
    found = flat(several.predict_confidence(BATCH[TEST]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)

    one = CalibratedTagger(CW, cv=3, ensemble=False).fit(BATCH[TRAIN], Y[TRAIN])
    q, y = map(np.concatenate, zip(*words, strict=True))
    found = flat(one.predict_confidence(BATCH[TEST]))
    np.testing.assert_allclose(found, IsotonicCalibrator().fit(y, q)(raw), rtol=1e-12)
    assert len(several.calibrators_) == 3 and len(one.calibrators_) == 1


def test_weights_of_sequences_reach_the_copies_and_the_maps_of_folds():
    weight = np.where(np.arange(len(TRAIN)) % 4 == 0, 3.0, 0.5)
    raw = clone(CW).fit(BATCH[TRAIN], Y[TRAIN], sample_weight=weight)
    raw = flat(raw.predict_confidence(BATCH[TEST]))
    lengths = np.array([len(row) for row in Y[TRAIN]])
    expected = []
    for train, test in KFold(2).split(TRAIN):
        copy = clone(CW).fit(BATCH[train], Y[train], sample_weight=weight[train])
        q = flat(copy.predict_confidence(BATCH[test]))
        correct = flat(token_correct(Y[test], copy.predict(BATCH[test])))
        own = np.repeat(weight[test], lengths[test])
        expected.append(BetaCalibrator().fit(correct, q, own)(raw))
    found = CalibratedTagger(CW, cv=2, method="beta")
    found.fit(BATCH[TRAIN], Y[TRAIN], sample_weight=weight)
    found = flat(found.predict_confidence(BATCH[TEST]))
    np.testing.assert_allclose(found, np.mean(expected, axis=0), rtol=1e-12)


def test_folds_may_be_given_as_a_number_a_splitter_or_a_list():
    number, splitter, folds = (
        CalibratedTagger(CW, cv=cv).fit(BATCH[TRAIN], Y[TRAIN])
        for cv in (3, KFold(3), list(KFold(3).split(TRAIN)))
    )
    for other in (splitter, folds):
        assert same(
            other.predict_confidence(BATCH[TEST]),
            number.predict_confidence(BATCH[TEST]),
        )


def test_folds_that_test_on_their_training_words_are_refused():
    X, y = BATCH[:60], Y[:60]
    folds = [(np.arange(30), []), (np.arange(40), np.arange(35, 60))]
    tagger = CalibratedTagger(CW, cv=folds)
    with pytest.raises(ValueError, match=r"fold 1 of cv tests on .*trains on, 5 of 25"):
        tagger.fit(X, y)
    assert len(tagger.set_params(allow_training_data=True).fit(X, y).calibrators_) == 1


@pytest.mark.parametrize("wrong", [60, -1])
def test_folds_of_sequences_that_are_not_there_are_refused(wrong):
    tagger = CalibratedTagger(CW, cv=[(np.arange(30), np.array([40, wrong]))])
    with pytest.raises(
        ValueError, match=f"fold 0 of cv has the index {wrong}, but .*60"
    ):
        tagger.fit(BATCH[:60], Y[:60])


@pytest.mark.parametrize("cv", [GroupKFold(3), LeaveOneGroupOut()])
def test_folds_of_groups_are_given_as_a_list(cv):
    X, y, groups = BATCH[:60], Y[:60], np.arange(60) % 3
    with pytest.raises(
        ValueError, match=r"needs groups.*cv=list\(splitter.split\(X, y,"
    ):
        CalibratedTagger(CW, cv=cv).fit(X, y)
    folds = list(cv.split(y, y, groups))
    assert len(CalibratedTagger(CW, cv=folds).fit(X, y).calibrators_) == 3


def test_a_label_that_is_common_enough_has_a_map_of_its_own(fitted):
    labels = joined(fitted.predict(BATCH[OTHER]))
    correct = flat(token_correct(Y[OTHER], fitted.predict(BATCH[OTHER])))
    q = flat(fitted.predict_confidence(BATCH[OTHER]))
    tagger = CalibratedTagger(fitted, cv="prefit", method="beta", per_label=True)
    tagger.set_params(min_words=30).fit(BATCH[OTHER], Y[OTHER])
    (maps,) = tagger.calibrators_
    words = {name: labels == name for name in np.unique(labels)}
    expected = {
        name
        for name, own in words.items()
        if own.sum() >= 30 and 0 < correct[own].sum() < own.sum()
    }
    assert set(maps.by_label) == expected and 0 < len(expected) < len(words)

    raw = flat(fitted.predict_confidence(BATCH[TEST]))
    found = flat(tagger.predict_confidence(BATCH[TEST]))
    asked = joined(fitted.predict(BATCH[TEST]))
    pooled = BetaCalibrator().fit(correct, q)
    for name in words:
        own = words[name]
        by = BetaCalibrator().fit(correct[own], q[own]) if name in expected else pooled
        here = asked == name
        np.testing.assert_array_equal(found[here], by(raw[here]))


@pytest.mark.parametrize(("least", "has_its_own"), [(4, True), (5, False)])
def test_as_many_words_as_asked_for_are_enough(least, has_its_own):
    words = HeldOut(
        np.array([0.9, 0.6, 0.5, 0.3, 0.8, 0.2]),
        np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
        np.array(["PER", "PER", "PER", "PER", "O", "PER"]),
        np.array([1.0, 1.0, 2.0, 0.5, 1.0, 0.0]),
    )
    # The last word has no weight, and so does not count among those of PER.
    maps = LabelCalibrators.learn(IsotonicCalibrator, words, least)
    assert ("PER" in maps.by_label) == has_its_own


@pytest.mark.parametrize(
    ("n_right", "has_its_own"), [(0, False), (1, True), (3, True), (4, False)]
)
def test_a_map_of_its_own_needs_one_right_word_and_one_wrong(n_right, has_its_own):
    words = HeldOut(
        np.array([0.9, 0.6, 0.5, 0.3]),
        (np.arange(4) < n_right).astype(float),
        np.array(["PER"] * 4),
        np.ones(4),
    )
    maps = LabelCalibrators.learn(IsotonicCalibrator, words, least=2)
    assert ("PER" in maps.by_label) == has_its_own


def test_without_enough_words_every_label_uses_the_common_map(fitted, calibrated):
    tagger = CalibratedTagger(fitted, cv="prefit", per_label=True, min_words=10**6)
    tagger.fit(BATCH[OTHER], Y[OTHER])
    assert not tagger.calibrators_[0].by_label
    assert same(
        tagger.predict_confidence(BATCH[TEST]),
        calibrated.predict_confidence(BATCH[TEST]),
    )


class Boaster(BaseEstimator):
    """Reads how sure it is from its tokens, and boasts: half the log-odds are due."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return object_rows(["yes"] * len(x) for x in X)

    def predict_confidence(self, X):
        return object_rows(expit(np.array(x, float)) for x in X)


def boasts(n, seed):
    rng = np.random.default_rng(seed)
    X = [rng.normal(2, 2, 10) for _ in range(n)]
    return X, [np.where(rng.random(10) < expit(x / 2), "yes", "no").tolist() for x in X]


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("cv", [2, "prefit"])
def test_confidences_become_the_share_of_right_words(name, cv):
    tagger = Boaster() if cv == 2 else Boaster().fit(None, None)
    tagger = CalibratedTagger(tagger, method=name, cv=cv).fit(*boasts(1500, 0))
    X, _ = boasts(50, 1)
    off = np.abs(flat(tagger.predict_confidence(X)) - expit(flat(X) / 2)).mean()
    assert off > 0.08 if name == "identity" else off < 0.015


class Foreign(BaseEstimator):
    """Has the methods of a tagger of sklearn-crfsuite, and no others."""

    def fit(self, X, y):
        self.inner_ = clone(CW).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_marginals(self, X):
        return self.inner_.predict_marginals(X).tolist()


def test_a_tagger_with_the_methods_of_sklearn_crfsuite_is_calibrated():
    X, y = [TOKENS[i] for i in TRAIN], Y[TRAIN]
    foreign = CalibratedTagger(Foreign(), cv=2, method="beta").fit(X, y)
    assert foreign.predict(X).tolist() == clone(CW).fit(X, y).predict(X).tolist()
    assert [len(row) for row in foreign.predict_confidence(X)] == list(map(len, X))
    assert len(foreign.predict_marginals(X[:2])[0]) == len(X[0])
    with pytest.raises(TypeError, match="Foreign cannot answer nbest"):
        foreign.predict_nbest(X, 2)
    selective = SelectiveTagger(foreign, risk=0.5, cv="prefit")
    selective.fit([TOKENS[i] for i in OTHER], Y[OTHER])
    assert len(selective.accept([TOKENS[i] for i in TEST])) == len(TEST)


def test_a_tagger_of_others_is_not_saved_without_pickle(tmp_path):
    tagger = CalibratedTagger(Boaster(), cv=2).fit(*boasts(20, 0))
    with pytest.raises(ValueError, match="a Boaster cannot be saved without pickle"):
        tagger.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_training_words_are_refused(fitted):
    calibrated = CalibratedTagger(fitted, cv="prefit")
    with pytest.raises(ValueError, match=r"learned from 100 % of these words.*allow"):
        calibrated.fit(BATCH[TRAIN], Y[TRAIN])
    mixed = np.concatenate([TRAIN[:50], OTHER[:100]])
    with pytest.raises(ValueError, match="learned from 3"):
        calibrated.fit(BATCH[mixed], Y[mixed])
    with pytest.raises(NotFittedError):
        calibrated.predict(BATCH[TEST])


def test_training_words_are_refused_by_a_pipeline_a_crf_and_a_saved_tagger(tmp_path):
    pipeline = make_tagging_pipeline("ner", clone(CW)).fit(TOKENS[:40], LABELS[:40])
    crf = CRFSequenceTagger(max_iter=5)
    crf.fit(TOKENS[:40], LABELS[:40])
    crf.save(tmp_path / "crf", train_hashes=True)
    for tagger in (pipeline, crf, CRFSequenceTagger.load(tmp_path / "crf")):
        with pytest.raises(ValueError, match="learned from 100 %"):
            CalibratedTagger(tagger, cv="prefit").fit(TOKENS[:40], LABELS[:40])


def test_training_words_are_taken_if_the_user_says_so(fitted, calibrated):
    tagger = CalibratedTagger(fitted, cv="prefit", allow_training_data=True)
    tagger.fit(BATCH[TRAIN], Y[TRAIN])
    boasted = flat(tagger.predict_confidence(BATCH[TEST])).mean()
    assert boasted > flat(calibrated.predict_confidence(BATCH[TEST])).mean()


def test_a_frozen_tagger_is_prefit(fitted, calibrated):
    frozen = CalibratedTagger(FrozenEstimator(fitted)).fit(BATCH[OTHER], Y[OTHER])
    assert frozen.estimator_ is fitted
    assert same(
        frozen.predict_confidence(BATCH[TEST]),
        calibrated.predict_confidence(BATCH[TEST]),
    )
    with pytest.raises(ValueError, match="learned from 100 %"):
        clone(frozen).fit(BATCH[TRAIN], Y[TRAIN])


def test_a_clone_keeps_a_tagger_that_was_fitted_before(fitted, calibrated):
    copy = clone(calibrated)
    assert copy.estimator is fitted
    with pytest.raises(NotFittedError):
        copy.predict(BATCH[TEST])
    unfitted = clone(CalibratedTagger(fitted))
    assert not hasattr(unfitted.estimator, "classes_")


def test_an_unfitted_tagger_is_not_prefit():
    with pytest.raises(NotFittedError):
        CalibratedTagger(CW, cv="prefit").fit(BATCH[OTHER], Y[OTHER])


@pytest.mark.parametrize("inner", TAGGERS)
def test_a_pipeline_may_be_inside_or_outside(inner):
    tagger = TAGGERS[inner]
    inside = CalibratedTagger(make_tagging_pipeline("ner", tagger), cv=2, method="beta")
    outside = make_tagging_pipeline(
        "ner", CalibratedTagger(tagger, cv=2, method="beta")
    )
    X, y = TOKENS[:80], LABELS[:80]
    for model in (inside, outside):
        model.fit(X, y)
    asked = [*TOKENS[330:], []]
    alone = make_tagging_pipeline("ner", clone(tagger)).fit(X, y)
    for model in (inside, outside):
        assert model.predict(asked).tolist() == alone.predict(asked).tolist()
        assert model.predict_single(asked[0]) == alone.predict(asked[:1])[0]
        rows = model.predict_confidence(asked)
        assert [len(row) for row in rows] == [len(x) for x in asked]
        assert len(model.predict_entities(asked)) == len(asked)
        assert model.train_overlap(X) == 1.0
    # The same folds, but features of each fold alone: almost the same maps.
    near = flat(inside.predict_confidence(asked)) - flat(
        outside.predict_confidence(asked)
    )
    assert np.abs(near).mean() < 0.05


def test_entities_are_as_sure_as_their_least_sure_word(calibrated):
    rows = zip(
        calibrated.predict_entities(BATCH[TEST]),
        calibrated.predict_confidence(BATCH[TEST]),
        strict=True,
    )
    for entities, confidence in rows:
        for entity in entities:
            assert entity.confidence == confidence[entity.start : entity.end].min()


def test_marginals_give_the_predicted_label_its_confidence(fitted, calibrated):
    rows = zip(
        calibrated.predict_marginals(BATCH[TEST]),
        fitted.predict_marginals(BATCH[TEST]),
        calibrated.predict(BATCH[TEST]),
        calibrated.predict_confidence(BATCH[TEST]),
        strict=True,
    )
    for mine, theirs, labels, confidence in rows:
        for ours, inner, label, p in zip(mine, theirs, labels, confidence, strict=True):
            assert ours[label] == p
            assert sum(ours.values()) == pytest.approx(1.0, rel=1e-12)
            assert ours.keys() == inner.keys()


def test_labels_that_were_not_predicted_are_calibrated_by_their_own_maps(fitted):
    calibrated = CalibratedTagger(fitted, confidence_method="marginal", cv="prefit")
    calibrated.fit(BATCH[OTHER], Y[OTHER])
    answers = calibrated.predict_all(BATCH[TEST])
    mapped, codes = answers.label_table(), answers.codes
    truth = list(chain.from_iterable(Y[TEST]))
    known = [answers.classes.index(label) for label in truth]
    plain = copy(calibrated)
    plain.rival_calibrators_ = []
    shared = plain.predict_all(BATCH[TEST]).label_table()
    wrong = np.flatnonzero(codes != known)
    of_truth = [table[wrong, np.array(known)[wrong]] for table in (mapped, shared)]
    # What is true but was not predicted is given more than its share of the marginals.
    assert (
        np.log(np.maximum(of_truth, 1e-6)).mean(axis=1)[0]
        > (np.log(np.maximum(of_truth, 1e-6)).mean(axis=1)[1])
    )
    least = calibrated.rival_calibrators_[0].by_label
    assert set(least) <= set(answers.classes)


def test_a_query_about_labels_is_answered_by_these_marginals(calibrated):
    answers = confidence_pairs(calibrated, BATCH[TEST], Y[TEST], "not O")
    marginals = chain.from_iterable(calibrated.predict_marginals(BATCH[TEST]))
    expected = [1 - word["O"] for word in marginals]
    np.testing.assert_allclose(answers.confidence, expected, atol=1e-12)


def test_certain_marginals_leave_the_rest_to_all_others():
    table, sure = np.array([[1.0, 0.0, 0.0], [0.2, 0.6, 0.2]]), np.array([0.8, 0.4])
    found = shared_rest(table, np.array([0, 1]), sure)
    np.testing.assert_allclose(found, [[0.8, 0.1, 0.1], [0.3, 0.4, 0.3]], rtol=1e-12)
    alone = shared_rest(np.ones((1, 1)), np.array([0]), np.array([0.7]))
    assert alone == [[1.0]]


@pytest.mark.parametrize("name", ["isotonic", "sigmoid"])
@pytest.mark.parametrize("method", ["delta", "delta-std", "delta-max"])
def test_distances_become_probabilities_in_their_order(fitted, name, method):
    tagger = CalibratedTagger(
        fitted, cv="prefit", method=name, confidence_method=method
    )
    tagger.fit(BATCH[OTHER], Y[OTHER])
    p = flat(tagger.predict_confidence(BATCH[TEST]))
    assert p.min() >= 0 and p.max() <= 1
    order = np.argsort(flat(fitted.predict_confidence(BATCH[TEST], method)))
    assert (np.diff(p[order]) >= -1e-12).all()


@pytest.mark.parametrize("name", ["temperature", "beta", "identity"])
def test_distances_need_a_map_that_takes_them(fitted, name):
    tagger = CalibratedTagger(
        fitted, cv="prefit", method=name, confidence_method="delta"
    )
    with pytest.raises(ValueError, match=r"'delta' gives distances.*'isotonic'"):
        tagger.fit(BATCH[OTHER], Y[OTHER])


def test_the_options_of_a_method_are_passed_on(fitted):
    options = {"variance_scale": 2.0, "n_draws": 24}
    how = {"method": "identity", "confidence_method": "kd-fixed", **options}
    tagger = CalibratedTagger(fitted, cv="prefit", **how)
    tagger.fit(BATCH[OTHER], Y[OTHER])
    expected = fitted.predict_confidence(BATCH[TEST], "kd-fixed", **options)
    assert same(tagger.predict_confidence(BATCH[TEST]), expected)
    assert same(tagger.predict_confidence(BATCH[TEST], "kd-fixed"), expected)


def test_a_method_that_was_not_calibrated_is_refused(calibrated):
    with pytest.raises(ValueError, match=r"'kbv'.*fitted for 'noisy-marginal'"):
        calibrated.predict_confidence(BATCH[TEST], "kbv")


def test_parameters_set_later_do_not_change_what_was_learned(fitted):
    tagger = CalibratedTagger(
        fitted, cv="prefit", confidence_method="kd-fixed", n_draws=16
    )
    before = tagger.fit(BATCH[OTHER], Y[OTHER]).predict_confidence(BATCH[TEST])
    tagger.set_params(confidence_method="delta", method="beta", n_draws=8)
    assert same(tagger.predict_confidence(BATCH[TEST]), before)


def test_a_grid_search_chooses_map_method_and_scale():
    grid = [
        {"method": ["beta", "identity"], "confidence_method": ["marginal"]},
        {
            "confidence_method": ["kd-pc"],
            "variance_scale": [0.01, 0.1],
            "n_draws": [16],
        },
        {"estimator__phi": [0.5], "per_label": [True]},
    ]
    scorers = {name: get_scorer(name) for name in ("neg_brier_loss", "neg_log_loss")}
    search = GridSearchCV(
        CalibratedTagger(CW, cv=2), grid, scoring=scorers, cv=2, refit="neg_brier_loss"
    )
    search.fit(BATCH[:100], Y[:100])
    scores = search.cv_results_["mean_test_neg_brier_loss"]
    assert len(scores) == 5 and len(np.unique(scores)) == 5
    assert search.best_estimator_.predict(BATCH[TEST]).shape == (len(TEST),)


def test_a_grid_search_over_a_fitted_tagger_keeps_it_fitted(fitted):
    search = GridSearchCV(
        CalibratedTagger(fitted, cv="prefit"), {"method": ["beta", "isotonic"]}, cv=2
    )
    search.fit(BATCH[OTHER], Y[OTHER])
    assert search.best_estimator_.estimator_ is fitted


@pytest.mark.parametrize("cv", [2, "prefit"])
def test_empty_and_weightless_sequences_teach_nothing(fitted, cv):
    tagger = CWSequenceTagger(
        max_iter=3, shuffle=False, averaging=False, random_state=0
    )
    tagger = fitted if cv == "prefit" else tagger
    X, y = BATCH[OTHER].to_lists(), LABELS[160:260]
    reference = CalibratedTagger(tagger, cv=cv).fit(X, y)
    wrong = [["B-PER"] * len(row) for row in y[:5]]
    weight = [1.0, *[1.0] * len(X), 1.0, *[0.0] * 5]
    other = clone(reference).fit(
        [[], *X, [], *X[:5]], [[], *y, [], *wrong], sample_weight=weight
    )
    assert same(
        reference.predict_confidence(BATCH[TEST].to_lists()),
        other.predict_confidence(BATCH[TEST].to_lists()),
    )
    assert other.predict_confidence([[]])[0].shape == (0,)
    assert other.predict_confidence([]).shape == (0,)


def test_weights_count_in_the_map(fitted):
    weight = np.arange(len(OTHER)) % 3
    weighted = CalibratedTagger(fitted, cv="prefit", method="beta")
    weighted.fit(BATCH[OTHER], Y[OTHER], sample_weight=weight)
    copies = np.repeat(OTHER, weight)
    repeated = clone(weighted).fit(BATCH[copies], Y[copies])
    np.testing.assert_allclose(
        flat(weighted.predict_confidence(BATCH[TEST])),
        flat(repeated.predict_confidence(BATCH[TEST])),
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        (TOKENS[:5], LABELS[:4], None, "5 sequences but y has 4"),
        (TOKENS[:2], [LABELS[0], LABELS[1][:-1]], None, "sequence 1 has"),
        (TOKENS[:2], LABELS[:2], [1.0], "one weight for each of the 2 sequences"),
        (TOKENS[:2], LABELS[:2], [1.0, -1.0], r"sample_weight\[1\] is -1"),
        (TOKENS[:2], LABELS[:2], [0.0, 0.0], "zero for all 2"),
        ([[]], [[]], None, "there are no tokens"),
        ([], [], None, "there are no tokens"),
    ],
)
def test_bad_words_for_a_fitted_tagger_are_refused(X, y, weight, message):
    fitted = CRFSequenceTagger(max_iter=2).fit(TOKENS[10:20], LABELS[10:20])
    with pytest.raises(ValueError, match=message):
        CalibratedTagger(fitted, cv="prefit").fit(X, y, weight)


def test_too_few_sequences_for_the_folds_are_refused():
    with pytest.raises(ValueError, match="2 sequences cannot make 5 folds"):
        CalibratedTagger(CW).fit(BATCH[:2], Y[:2])


@pytest.mark.parametrize(
    "params",
    [
        {"method": "spline"},
        {"cv": "folds"},
        {"min_words": 0},
        {"variance_scale": -1.0},
        {"estimator": 3},
        {"ensemble": "auto"},
    ],
)
def test_bad_parameters_are_refused_by_name(params):
    (name,) = params
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        CalibratedTagger(CW).set_params(**params).fit(BATCH[:20], Y[:20])
