"""Stopping criteria: when they stop, and that the promise is kept."""

from functools import partial
from math import comb, exp, log
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from skcw import CWSequenceTagger, MultiClassCW
from skcw.active import (
    ActiveLearner,
    AuditedErrorRate,
    Budget,
    ConfidencePlateau,
    ModelAgreement,
    PredictedErrorRate,
    error_upper_bound,
    predicted_error_rate,
)
from skcw.active.utilities import expected_errors
from tests.active.problems import rows, sentences

X, Y = sentences()


def started(n=20, **options):
    learner = ActiveLearner(CWSequenceTagger(random_state=0), X, **options)
    learner.seed(np.arange(n), Y[:n])
    return learner


def advance(learner, n=5):
    asked = learner.query(n)
    learner.teach(asked, [Y[i] for i in asked])


def standing_still(learner, n_rounds):
    """Yield what a criterion sees if rounds go by and the model stays the same."""
    parts = {n: getattr(learner, n) for n in ("estimator_", "pool", "is_fitted")}
    for n in range(n_rounds):
        yield SimpleNamespace(**parts, history_=[{}] * n)


def test_a_budget_counts_items_or_words():
    learner = started(20)
    n_words = learner.n_words
    assert not Budget(labels=21).should_stop(learner)
    assert Budget(labels=20).should_stop(learner)
    assert not Budget(words=n_words + 1).should_stop(learner)
    assert Budget(words=n_words).should_stop(learner)
    budget = Budget(labels=21)
    budget.should_stop(learner)
    assert budget.values_ == [(20, n_words)] and budget.reason_ is None


def test_confidence_on_a_plateau_stops():
    learner = started()
    criterion = ConfidencePlateau(tol=1e-9, n_rounds=3, n_items=10)
    found = [criterion.should_stop(one) for one in standing_still(learner, 3)]
    assert found == [False, False, True]
    assert "3 rounds" in criterion.reason_
    criterion = ConfidencePlateau(tol=1e-9, n_rounds=2, n_items=10)
    for _ in range(2):
        stopped = criterion.should_stop(learner)
        advance(learner)
    assert not stopped and len(set(criterion.values_)) == 2


@pytest.mark.parametrize(("last", "stops"), [(0.75, True), (0.8125, False)])
def test_a_plateau_may_be_as_wide_as_its_tolerance(last, stops):
    criterion = ConfidencePlateau(tol=0.25, n_rounds=3)
    # All but the last three rounds are forgotten.
    criterion.values_ = [0.125, 0.5, 0.625, last]
    assert (criterion._verdict() is not None) == stops


def test_models_that_agree_stop():
    learner = started()
    criterion = ModelAgreement(n_rounds=2, X=X[40:])
    found = [criterion.should_stop(one) for one in standing_still(learner, 3)]
    assert found == [False, False, True]
    assert criterion.values_ == [1.0, 1.0]


@pytest.mark.parametrize(
    "make",
    [partial(ConfidencePlateau, n_rounds=2), partial(ModelAgreement, n_rounds=1)],
)
def test_asking_twice_in_a_round_does_not_make_two_rounds(make):
    learner, criterion = started(), make(X=X[40:])
    assert not any(criterion.should_stop(learner) for _ in range(5))
    assert len(criterion.values_) <= 1


def test_kappa_is_cohens():
    learner = started(5)
    criterion = ModelAgreement(kappa=1.0, n_rounds=1, X=X[40:])
    criterion.should_stop(learner)
    before = [label for row in learner.estimator_.predict(X[40:]) for label in row]
    advance(learner, 20)
    after = [label for row in learner.estimator_.predict(X[40:]) for label in row]
    assert not criterion.should_stop(learner)
    n = len(before)
    agree = sum(a == b for a, b in zip(before, after, strict=True)) / n
    chance = sum(before.count(k) * after.count(k) for k in set(before)) / n**2
    assert criterion.values_[0] == pytest.approx((agree - chance) / (1 - chance))


def test_predicted_errors_are_those_of_what_is_left():
    learner = started()
    left = [X[i] for i in learner.unlabeled]
    expected = expected_errors(learner.estimator_, left).sum() / sum(map(len, left))
    criterion = PredictedErrorRate(0.99)
    assert criterion.should_stop(learner)
    assert criterion.values_[0] == pytest.approx(expected)
    assert not PredictedErrorRate(expected * 0.99).should_stop(learner)
    assert predicted_error_rate(learner.estimator_, left) == pytest.approx(expected)


def test_nothing_is_predicted_before_there_is_a_model():
    learner = ActiveLearner(CWSequenceTagger(), X)
    for criterion in (PredictedErrorRate(0.5), ConfidencePlateau(), ModelAgreement()):
        assert not criterion.should_stop(learner)
        assert criterion.values_ == []


def test_rows_are_judged_by_the_same_criteria():
    R, labels = rows()
    learner = ActiveLearner(MultiClassCW(random_state=0), R, utility="entropy")
    learner.seed(np.arange(30), labels[:30])
    assert PredictedErrorRate(0.999).should_stop(learner)
    agreement = ModelAgreement(n_rounds=1)
    found = [agreement.should_stop(one) for one in standing_still(learner, 2)]
    assert found == [False, True]


def test_an_audit_is_judged_by_the_model_that_was_audited():
    learner = started(10)
    asked = learner.audit(12)
    guess = learner.estimator_.predict([X[i] for i in asked])
    shares = {
        i: sum(a != b for a, b in zip(own, Y[i], strict=True)) / len(Y[i])
        for i, own in zip(asked.tolist(), guess, strict=True)
    }
    model = learner.estimator_.belief_.weights.copy()
    advance(learner)
    assert learner.audits == [None]
    with pytest.raises(ValueError, match="label or release"):
        learner.audit(3)
    learner.teach(asked, [Y[i] for i in asked])
    (found,) = learner.audits
    assert len(found) == 12
    assert set(found) == set(shares.values())
    np.testing.assert_array_equal(learner.audited_estimator_.belief_.weights, model)


def test_an_audit_survives_a_crash(tmp_path):
    learner = started(10)
    asked = learner.audit(12)
    advance(learner)
    learner.teach(asked[:-1], [Y[i] for i in asked[:-1]])
    learner.save(tmp_path / "j")
    again = ActiveLearner.resume(tmp_path / "j", CWSequenceTagger(random_state=0), X)
    for one in (learner, again):
        one.teach(asked[-1:], [Y[asked[-1]]])
    assert again.audits == learner.audits != [None]
    np.testing.assert_array_equal(
        again.audited_estimator_.belief_.weights,
        learner.audited_estimator_.belief_.weights,
    )


def test_an_audit_without_errors_stops_and_one_with_many_does_not():
    X = [["a"] * 3] * 200
    learner = ActiveLearner(CWSequenceTagger(random_state=0), X)
    learner.seed([0, 1], [["O"] * 3] * 2)
    criterion = AuditedErrorRate(0.05)
    assert not criterion.should_stop(learner)
    wrong = learner.audit(80)
    learner.teach(wrong, [["X"] * 3] * len(wrong))
    assert not criterion.should_stop(learner)
    assert criterion.values_[0] > 0.9
    right = learner.audit(100)
    label = learner.audited_estimator_.predict([X[0]])[0]
    learner.teach(right, [label] * len(right))
    assert criterion.should_stop(learner)
    # The second of several audits may fail with probability 0.05 / 6.
    assert criterion.values_[1] == pytest.approx(1 - (0.05 / 6) ** (1 / 100))


@pytest.mark.parametrize(("wrong", "n"), [(0, 20), (3, 50), (7, 9)])
def test_the_bound_of_rows_is_that_of_clopper_and_pearson(wrong, n):
    shares = np.zeros(n)
    shares[:wrong] = 1
    p = error_upper_bound(shares, confidence_level=0.9, is_binary=True)
    tail = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(wrong + 1))
    assert tail == pytest.approx(0.1)


def test_the_bound_of_sentences_solves_hoeffdings_equation():
    shares = np.array([0.0, 0.1, 0.0, 0.5] * 10)
    a, p = shares.mean(), error_upper_bound(shares, confidence_level=0.9)
    divergence = a * log(a / p) + (1 - a) * log((1 - a) / (1 - p))
    assert exp(-len(shares) * divergence) == pytest.approx(0.1)


@pytest.mark.parametrize("is_binary", [False, True])
def test_the_bound_holds_as_often_as_it_promises(is_binary):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 12, 400)
    wrong = rng.binomial(lengths, rng.choice([0.0, 0.02, 0.5], 400))
    if is_binary:
        lengths, wrong = np.ones(400), rng.random(400) < 0.07
    truth = wrong.sum() / lengths.sum()
    misses = 0
    for _ in range(400):
        drawn = rng.choice(400, 60, p=lengths / lengths.sum())
        shares = wrong[drawn] / lengths[drawn]
        misses += (
            error_upper_bound(shares, confidence_level=0.9, is_binary=is_binary) < truth
        )
    # 40 of 400 may fail; 70 would be five standard deviations above.
    assert misses <= 70


def test_an_audit_that_was_abandoned_counts_as_one():
    learner = started(10)
    asked = learner.audit(12)
    learner.release(asked[:1])
    learner.teach(asked[1:], [Y[i] for i in asked[1:]])
    criterion = AuditedErrorRate(0.5)
    assert not criterion.should_stop(learner) and criterion.values_ == []
    asked = learner.audit(12)
    learner.teach(asked, [Y[i] for i in asked])
    criterion.should_stop(learner)
    expected = error_upper_bound(learner.audits[1], confidence_level=1 - 0.05 / 6)
    assert criterion.values_ == [pytest.approx(expected)]


def test_audits_draw_words_evenly():
    R = sparse.csr_matrix(np.eye(4))
    learner = ActiveLearner(MultiClassCW(), R)
    learner.seed([0, 1], ["a", "b"])
    assert set(learner.audit(50)) == {2, 3}
    X = [["a"] * 9, ["b"], ["c"] * 3, ["c"] * 3]
    tagger = CWSequenceTagger(random_state=0)
    counts = np.zeros(4)
    for seed in range(60):
        learner = ActiveLearner(tagger, X, random_state=seed)
        learner.seed([2, 3], [["O"] * 3, ["P"] * 3])
        learner.audit(10)
        asked = learner._journal.records[-1]
        counts[asked["asked"]] += asked["counts"]
    assert counts[0] / counts.sum() == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize(
    "make",
    [
        Budget,
        lambda: Budget(labels=0),
        lambda: PredictedErrorRate(0.0),
        lambda: PredictedErrorRate(2),
        lambda: AuditedErrorRate(0.1, confidence_level=1.0),
        lambda: ConfidencePlateau(n_rounds=0),
        lambda: ConfidencePlateau(tol=-1),
        lambda: ModelAgreement(n_items=0),
        lambda: ModelAgreement(kappa=2),
        lambda: error_upper_bound([]),
        lambda: error_upper_bound([1.5]),
        lambda: error_upper_bound([0.5], confidence_level=0),
    ],
)
def test_settings_that_mean_nothing_are_refused(make):
    with pytest.raises(ValueError):
        make()


def test_no_audit_before_there_is_a_model():
    with pytest.raises(ValueError, match="no model to audit"):
        ActiveLearner(CWSequenceTagger(), X).audit(3)
