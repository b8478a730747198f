"""The maps from confidence to probability: laws, optima, and odd input."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from skcw.calibration import (
    BetaCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
    TemperatureCalibrator,
)
from skcw.calibration import calibrators as _maps
from skcw.calibration.calibrators import (
    CALIBRATORS,
    LARGEST_EDGE,
    LEAST_EDGE,
    PULL,
    TIE_SHARE,
    IdentityCalibrator,
    edge_of,
    fit_logistic,
)

PARAMETRIC = (SigmoidCalibrator, TemperatureCalibrator, BetaCalibrator)
LEARNED = (IsotonicCalibrator, *PARAMETRIC)
# Rounding in straight lines between two corners.
ROUNDING = 1e-12
# Derivative-free searches find an optimum only so closely.
SEARCH = 2e-3
# What a sample of 40,000 words may deviate from its own probabilities.
NOISE = 0.06
# Thirty words of one kind cannot tell a slope of zero from the one it is pulled to.
THIRTY_WORDS = 0.02
# How far forty thousand words that differ by 0.0001 may move a slope.
LOOSE_SLOPE = 0.2

CONFIDENCE = st.floats(0, 1)
WORDS = st.lists(st.tuples(CONFIDENCE, st.booleans()), min_size=1, max_size=40)


def sample(n, seed=0, bend=lambda q: q):
    """Return confidences and outcomes that are right with the chance ``bend(q)``."""
    rng = np.random.default_rng(seed)
    q = rng.beta(2, 1, n)
    return q, rng.random(n) < bend(q)


def too_sure(q):
    """Bend confidences as a tagger with half the right temperature would."""
    return expit(0.5 * np.log(q / (1 - q)))


@settings(max_examples=40)
@given(
    words=WORDS,
    asked=st.lists(CONFIDENCE, min_size=2, max_size=30),
    millionths=st.lists(st.integers(0, 10**6), min_size=2, max_size=30),
)
def test_maps_never_fall_nor_tie_and_stay_in_bounds(words, asked, millionths):
    q, correct = map(np.array, zip(*words, strict=True))
    asked, apart = np.sort([*asked, 0.0, 1.0]), np.unique(millionths) / 10**6
    for kind in LEARNED:
        for keep_order in (True, False):
            fitted = kind(keep_order=keep_order).fit(correct, q)
            p = fitted(asked)
            assert (np.diff(p) >= -ROUNDING).all(), fitted
            assert (p >= 0).all() and (p <= 1).all(), fitted
            assert not keep_order or (np.diff(fitted(apart)) > 0).all(), fitted


@pytest.mark.parametrize("kind", LEARNED)
def test_keeping_order_changes_next_to_nothing(kind):
    q, correct = sample(500)
    flat = kind(keep_order=False).fit(correct, q)
    asked = np.linspace(0, 1, 99)
    kept = kind().fit(correct, q)(asked)
    np.testing.assert_allclose(kept, flat(asked), rtol=0, atol=TIE_SHARE)


@pytest.mark.parametrize("kind", CALIBRATORS.values())
def test_the_map_of_a_calibrated_sample_is_almost_the_identity(kind):
    q, correct = sample(40_000)
    asked = np.linspace(0.3, 1, 50)
    np.testing.assert_allclose(kind().fit(correct, q)(asked), asked, rtol=0, atol=NOISE)


@pytest.mark.parametrize("kind", LEARNED)
def test_a_bend_of_its_own_shape_is_found(kind):
    q, correct = sample(40_000, bend=too_sure)
    asked = np.linspace(0.3, 0.99, 50)
    found = kind().fit(correct, q)(asked)
    np.testing.assert_allclose(found, too_sure(asked), rtol=0, atol=NOISE)


@settings(max_examples=20)
@given(words=WORDS, copies=st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_a_weight_is_a_number_of_copies(words, copies):
    q, correct = map(np.array, zip(*words, strict=True))
    copies = np.array(copies[: len(q)])
    copies[0] += 1
    asked = np.linspace(0, 1, 21)
    for kind in LEARNED:
        weighted = kind().fit(correct, q, copies)
        repeated = kind().fit(np.repeat(correct, copies), np.repeat(q, copies))
        np.testing.assert_allclose(weighted(asked), repeated(asked), rtol=0, atol=1e-4)


@given(words=WORDS)
def test_isotonic_is_that_of_scikit_learn(words):
    q, correct = map(np.array, zip(*words, strict=True))
    fitted = IsotonicCalibrator(keep_order=False).fit(correct, q)
    asked = np.linspace(0, 1, 33)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(q, correct)
    np.testing.assert_allclose(fitted(asked), theirs.predict(asked), atol=ROUNDING)


def platt_loss(score, correct, slopes):
    """Return the summed logarithmic loss against Platt's targets, with the pull."""
    right, wrong = correct.sum(), (~correct).sum()
    target = np.where(correct, (right + 1) / (right + 2), 1 / (wrong + 2))
    pull = PULL / 2 * np.sum((np.asarray(slopes) - 1) ** 2)
    return np.sum(np.logaddexp(0, score) - target * score) + pull


def odds(q):
    return np.log(q) - np.log1p(-q)


def search(loss, start, bounds):
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000}
    found = minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options)
    return found.x


@pytest.mark.parametrize("seed", range(3))
def test_sigmoid_is_the_optimum_that_a_search_finds(seed):
    q, correct = sample(300, seed, too_sure)
    fitted = SigmoidCalibrator().fit(correct, q)
    best = search(
        lambda w: platt_loss(w[0] * odds(q) + w[1], correct, w[:1]),
        [1.0, 0.0],
        [(0, None), (None, None)],
    )
    np.testing.assert_allclose([fitted.slope_, fitted.intercept_], best, rtol=SEARCH)


@pytest.mark.parametrize("seed", range(3))
def test_temperature_is_the_optimum_that_a_search_finds(seed):
    q, correct = sample(300, seed, too_sure)
    best = minimize_scalar(
        lambda t: platt_loss(odds(q) / t, correct, [1 / t]),
        bounds=(0.1, 10),
        method="bounded",
    )
    assert TemperatureCalibrator().fit(correct, q).temperature_ == pytest.approx(
        best.x, rel=SEARCH
    )


@pytest.mark.parametrize("seed", range(3))
def test_beta_is_the_optimum_that_a_search_finds(seed):
    q, correct = sample(300, seed, lambda q: q**3)
    fitted = BetaCalibrator().fit(correct, q)

    def loss(w):
        score = w[0] * np.log(q) - w[1] * np.log1p(-q) + w[2]
        return platt_loss(score, correct, w[:2])

    best = search(loss, [1.0, 1.0, 0.0], [(0, None), (0, None), (None, None)])
    found = [fitted.a_, fitted.b_, fitted.c_]
    assert loss(found) <= loss(best) * (1 + 1e-9)
    np.testing.assert_allclose(found, best, rtol=SEARCH, atol=SEARCH)


def test_certainties_count_as_a_tenth_as_far_away_as_the_nearest_other():
    assert edge_of(np.array([0.0, 0.04, 0.99, 1.0])) == pytest.approx(0.001, rel=1e-12)
    assert edge_of(np.array([1e-4, 0.5])) == pytest.approx(1e-5, rel=1e-12)
    assert edge_of(np.array([0.5, 0.6])) == LARGEST_EDGE
    assert edge_of(np.array([0.0, 1.0])) == LARGEST_EDGE
    assert edge_of(np.array([1e-300])) == LEAST_EDGE


@pytest.mark.parametrize("kind", PARAMETRIC)
def test_a_few_wrong_words_of_confidence_one_do_not_bend_the_whole_curve(kind):
    rng = np.random.default_rng(0)
    true = rng.beta(4, 1, 5000)
    share = rng.binomial(100, true) / 100
    fitted = kind().fit(rng.random(5000) < true, share)
    asked = np.array([0.5, 0.7, 0.9, 1.0])
    np.testing.assert_allclose(fitted(asked), asked, atol=0.05)


@pytest.mark.parametrize("kind", PARAMETRIC)
def test_a_tagger_that_is_wrong_when_it_is_sure_gets_no_falling_map(kind):
    q = np.linspace(0.01, 0.99, 200)
    fitted = kind(keep_order=False).fit(q < 0.5, q)
    assert (np.diff(fitted(q)) >= 0).all()


@pytest.mark.parametrize("kind", [SigmoidCalibrator, BetaCalibrator])
@pytest.mark.parametrize(("right", "expected"), [(True, 31 / 32), (False, 1 / 32)])
def test_words_of_one_kind_only_leave_room_for_one_of_the_other(kind, right, expected):
    fitted = kind().fit(np.full(30, right), np.linspace(0.5, 1, 30))
    np.testing.assert_allclose(fitted([0.6, 0.9]), expected, atol=THIRTY_WORDS)


@pytest.mark.parametrize("kind", PARAMETRIC)
@pytest.mark.parametrize("n", [20, 300, 40_000])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-4])
def test_confidences_that_hardly_vary_leave_the_slopes_alone(kind, n, spread):
    q = 0.99 - spread * np.random.default_rng(0).random(n)
    fitted = kind().fit(np.arange(n) % 20 > 0, q)
    p = fitted([0.8, 0.9, 0.99])
    assert p[2] == pytest.approx(0.95, abs=NOISE)
    # With slopes of one the odds of all change by the same factor.
    if kind is not TemperatureCalibrator:
        changed = np.diff(odds(p)) / np.diff(odds(np.array([0.8, 0.9, 0.99])))
        np.testing.assert_allclose(changed, 1.0, atol=LOOSE_SLOPE)


def test_a_temperature_that_words_cannot_tell_stays_one():
    fitted = TemperatureCalibrator().fit(np.full(20, True), np.full(20, 0.501))
    assert fitted.temperature_ == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("kind", PARAMETRIC)
def test_the_pull_hardly_moves_what_words_can_tell(kind, monkeypatch):
    q, correct = sample(2000, bend=too_sure)
    asked = np.linspace(0.01, 0.99, 50)
    pulled = kind().fit(correct, q)(asked)
    free = partial(fit_logistic, pull=0.0)
    monkeypatch.setattr(_maps, "fit_logistic", lambda *a: free(*a[:4]))
    np.testing.assert_allclose(kind().fit(correct, q)(asked), pulled, atol=0.005)


@pytest.mark.parametrize("kind", LEARNED)
def test_equal_confidences_are_mapped_to_their_share(kind):
    q, correct = np.full(1000, 0.9), np.arange(1000) < 700
    np.testing.assert_allclose(kind().fit(correct, q)([0.9]), 0.7, atol=2e-3)


@pytest.mark.parametrize(
    "make", [IsotonicCalibrator, lambda: SigmoidCalibrator(logit=False)]
)
def test_distances_are_mapped_to_probabilities(make):
    rng = np.random.default_rng(0)
    distance = rng.exponential(3, 5000)
    correct = rng.random(5000) < expit(distance)
    distance[:10] = np.inf
    fitted = make().fit(correct, distance)
    asked = np.linspace(0.5, 5, 20)
    np.testing.assert_allclose(fitted(asked), expit(asked), atol=0.06)
    assert fitted([np.inf])[0] > 0.99
    assert (np.diff(fitted([1.0, 50.0, 1e6, np.inf])) >= 0).all()


@pytest.mark.parametrize(
    "make", [IsotonicCalibrator, lambda: SigmoidCalibrator(logit=False)]
)
def test_infinite_distances_alone_are_no_trouble(make):
    p = make().fit([True, False], [np.inf, np.inf])([0.0, np.inf])
    assert (np.diff(p) >= 0).all() and np.isfinite(p).all()


@pytest.mark.parametrize(
    "kind",
    [TemperatureCalibrator, BetaCalibrator, SigmoidCalibrator, IdentityCalibrator],
)
def test_distances_are_refused_by_maps_of_probabilities(kind):
    with pytest.raises(ValueError, match=r"3.0 does not lie.*IsotonicCalibrator"):
        kind().fit([True, False], [0.5, 3.0])([0.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        kind().fit([True, False], [0.5, 0.6])([1.5])


@pytest.mark.parametrize(
    ("q", "correct", "weight", "message"),
    [
        ([], [], None, "there are no tokens"),
        ([0.5], [True, False], None, "confidence has 1 tokens but correct has 2"),
        ([np.nan], [True], None, r"confidence\[0\] is NaN"),
        ([-0.1], [True], None, "-0.1 does not lie"),
        ([0.5], [2], None, r"correct\[0\] is 2"),
        ([0.5], [True], [0.0], "sample_weight is zero for all 1 tokens"),
        ([0.5], [True], [-1.0], r"sample_weight\[0\] is -1"),
        ([0.5], [True], [1.0, 1.0], "confidence has 1 tokens but sample_weight has 2"),
        ([[0.5], [0.6, 0.7]], [True], None, "correct is flat but confidence has a row"),
        ("high", [True], None, "confidence is a single string"),
    ],
)
@pytest.mark.parametrize("kind", LEARNED)
def test_bad_words_are_refused(kind, q, correct, weight, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kind().fit(correct, q, weight)


def test_maps_answer_in_the_shape_they_are_asked_in():
    fitted = IsotonicCalibrator().fit([False, True], [0.2, 0.8])
    assert fitted(0.5).shape == ()
    assert fitted(np.full((2, 3), 0.5)).shape == (2, 3)
    assert fitted([]).shape == (0,)


def test_the_identity_answers_with_a_copy():
    q = np.array([0.2, 0.9])
    IdentityCalibrator()(q)[0] = 0.0
    assert q[0] == 0.2


@pytest.mark.parametrize("kind", LEARNED)
def test_a_map_that_was_not_fitted_says_so(kind):
    with pytest.raises(NotFittedError, match=f"{kind.__name__} was not fitted"):
        kind()([0.5])
    assert repr(kind()) == f"{kind.__name__}()"
