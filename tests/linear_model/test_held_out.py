"""What fit learns of how sure to be: from rows that the first passes leave out."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from skcw import MultiClassCW
from skcw.exceptions import UnlearnedConfidenceWarning
from skcw.linear_model.probabilities import (
    fit_softmax,
    logistic_distribution,
    with_caution,
)
from tests.linear_model.classifiers import every_gaussian, overlapping, split_data

GUMBEL = np.pi**2 / 6
# How much of the accuracy another order of the rows may cost on a few hundred rows.
AS_GOOD = 0.02
some_classes = pytest.mark.parametrize("n_classes", [2, 4])


def halves(n_classes, n_rows=1200):
    X, y = overlapping(n_classes, n_rows)
    half = n_rows // 2
    return X[:half], y[:half], X[half:], y[half:]


@every_gaussian
@some_classes
def test_labels_hardly_depend_on_what_is_learned(Classifier, n_classes):
    X, y, X_test, y_test = halves(n_classes)
    learned = Classifier(random_state=0).fit(X, y)
    given = Classifier(random_state=0, variance_scale=1.0).fit(X, y)
    assert (
        learned.noise_ > 0 and learned.variance_scale_ > 0 and learned.shrinkage_ >= 0
    )
    assert (given.variance_scale_, given.noise_, given.shrinkage_) == (1.0, None, None)
    assert learned.score(X_test, y_test) > given.score(X_test, y_test) - AS_GOOD
    # The same model, once it is given what it has learned.
    again = clone(given).set_params(variance_scale=learned.variance_scale_)
    assert_array_equal(again.fit(X, y).coef_, given.coef_)


@every_gaussian
def test_it_is_judged_by_rows_that_it_learns_only_afterwards(Classifier):
    X, y, _, _ = halves(3)
    presented, judged = [], []

    class Watching(Classifier):
        def _bound_kernel(self, n_classes):
            kernel = super()._bound_kernel(n_classes)

            def noting(*given):
                rows, order = given[-2:]
                presented.append(set(rows.keys[order].tolist()))
                return kernel(*given)

            return noting

        def _learn_variance(self, belief, unseen, found):
            judged.append(set(found.rows.keys.tolist()))
            return super()._learn_variance(belief, unseen, found)

    Watching(random_state=0, max_iter=5).fit(X, y)
    rest, everything = set().union(*presented[:4]), presented[-1]
    assert not rest & judged[0] and rest | judged[0] == everything
    # As often as the rest.
    assert presented[4:8] == judged * 4 and len(presented) == 9


@every_gaussian
@some_classes
def test_probabilities_as_they_come_are_near_those_of_logistic_regression(
    Classifier, n_classes
):
    X, y, X_test, y_test = halves(n_classes)
    loss = log_loss(y_test, Classifier(random_state=0).fit(X, y).predict_proba(X_test))
    peer = LogisticRegression().fit(X, y).predict_proba(X_test)
    assert loss < 1.1 * log_loss(y_test, peer)
    given = Classifier(random_state=0, variance_scale=1.0).fit(X, y)
    assert loss < log_loss(y_test, given.predict_proba(X_test))


@every_gaussian
@some_classes
def test_probabilities_are_a_softmax_at_each_rows_temperature(Classifier, n_classes):
    X, y, X_test, _ = halves(n_classes)
    fitted = Classifier(random_state=0, dtype="float64").fit(X, y)
    rows = np.column_stack([X_test, np.ones(len(X_test))])
    table = np.column_stack([fitted.coef_, fitted.intercept_])
    spread = np.column_stack([fitted.coef_variance_, fitted.intercept_variance_])
    scores, spreads = rows @ table.T, rows**2 @ spread.T
    if n_classes == 2:
        scores, spreads = np.column_stack([-scores, scores]) / 2, spreads / 2
    variance = fitted.variance_scale_ * spreads.mean(axis=1) + fitted.noise_
    cautious = scores - fitted.shrinkage_ * np.sqrt(spreads)
    expected = softmax(cautious / np.sqrt(variance / GUMBEL)[:, np.newaxis], axis=1)
    for row, predicted in zip(expected, scores.argmax(axis=1), strict=True):
        first = row.argmax()
        row[[first, predicted]] = row[[predicted, first]]
    found = fitted.predict_proba(X_test)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
    assert_allclose(fitted.predict_confidence(X_test), found.max(axis=1), rtol=1e-12)
    assert_array_equal(fitted.classes_[found.argmax(axis=1)], fitted.predict(X_test))


def drawn_rows(caution, n_rows=3000, n_labels=3):
    """Return scores, spreads and codes of rows with scale 0.7, noise 0.5."""
    rng = np.random.default_rng(0)
    spreads = rng.uniform(0.2, 2.0, size=(n_rows, n_labels))
    means = 2 * rng.normal(size=(n_rows, n_labels))
    wide = 0.7 * spreads.mean(axis=1, keepdims=True) + 0.5
    truth = means - caution * np.sqrt(spreads)
    truth += rng.gumbel(size=(n_rows, n_labels)) * np.sqrt(wide / GUMBEL)
    return means, spreads, truth.argmax(axis=1)


@pytest.mark.parametrize("caution", [0.0, 1.5])
def test_no_other_scale_noise_and_caution_have_less_loss(caution):
    means, spreads, codes = drawn_rows(caution)
    found = fit_softmax(means, spreads, codes)
    assert_allclose(found[0] * 1.1 + found[1], 0.7 * 1.1 + 0.5, rtol=0.2)
    assert_allclose(found[2], caution, atol=0.2)

    def loss(scale, noise, caution):
        cautious = with_caution(means, spreads, caution)
        return log_loss(codes, logistic_distribution(cautious, scale * spreads + noise))

    best = loss(*found)
    for place in range(3):
        for factor in (0.5, 0.8, 1.25, 2.0):
            other = np.array(found)
            other[place] *= factor
            assert loss(*other) > best - 1e-5


@pytest.mark.parametrize("place", range(2))
def test_noise_or_scale_is_next_to_nothing_where_the_other_explains_all(place):
    rng = np.random.default_rng(0)
    means, spreads = 2 * rng.normal(size=(4000, 3)), rng.uniform(0.0, 9.0, (4000, 1))
    wide = [spreads, 4.0][place] / GUMBEL
    truth = means + rng.gumbel(size=means.shape) * np.sqrt(wide)
    scale, noise, _ = fit_softmax(means, spreads + np.zeros(3), truth.argmax(axis=1))
    assert_allclose((scale, noise)[place], (1.0, 4.0)[place], rtol=0.2)
    assert 0.0 < (noise, scale)[place] < 0.3


def test_two_classes_need_no_caution():
    means, spreads, codes = drawn_rows(1.5, n_labels=2)
    scores, spread = means[:, 1] - means[:, 0], spreads.sum(axis=1)
    *_, caution = fit_softmax(scores, spread, codes)
    assert caution == 0.0
    assert with_caution(scores, spread, 3.0) is scores


def test_caution_is_for_labels_that_were_never_rivals():
    # A label of its own features, that no other row has, is never corrected elsewhere.
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(1800, 20)), np.zeros((1800, 20))])
    y = (X[:, :4] + rng.gumbel(size=(1800, 4))).argmax(axis=1)
    X[::30, 20:] = 3 * rng.random((60, 20))
    y[::30] = 4
    fitted = MultiClassCW(random_state=0).fit(X, y)
    assert fitted.shrinkage_ > 0
    others = fitted.predict_proba(X[1:30])
    fitted.shrinkage_ = 0.0
    assert others[:, 4].mean() < fitted.predict_proba(X[1:30])[:, 4].mean()


def test_rows_that_are_all_right_do_not_make_infinitely_sure():
    scores = np.array([3.0, -3.0] * 20)
    codes = (scores > 0).astype(int)
    scale, noise, _ = fit_softmax(scores, np.ones(40), codes)
    top = logistic_distribution(scores, scale * np.ones(40) + 2 * noise).max()
    assert_allclose(top, 41 / 42, rtol=1e-3)


@every_gaussian
def test_what_is_learned_does_not_depend_on_order_and_form(Classifier):
    X, y, X_test, _ = halves(4)
    order = np.random.default_rng(0).permutation(len(X))
    one = Classifier(random_state=0).fit(X, y)
    for other in (
        Classifier(random_state=0).fit(X[order], y[order]),
        Classifier(random_state=0).fit(sparse.csr_array(X), y),
    ):
        assert other.variance_scale_ == one.variance_scale_
        assert other.noise_ == one.noise_
        assert other.shrinkage_ == one.shrinkage_
        assert_array_equal(other.predict_proba(X_test), one.predict_proba(X_test))


@every_gaussian
@pytest.mark.parametrize("n_rows", [200, 3600])
def test_a_weight_of_two_is_two_copies_for_the_judgment_too(Classifier, n_rows):
    X, y = overlapping(3, n_rows)
    weight = np.arange(len(X)) % 3  # 0 is absent
    copies = np.repeat(np.arange(len(X)), weight)
    weighted = Classifier(random_state=0).fit(X, y, sample_weight=weight)
    copied = Classifier(random_state=0).fit(X[copies], y[copies])
    assert_allclose(weighted.variance_scale_, copied.variance_scale_, rtol=1e-9)
    assert_allclose(weighted.noise_, copied.noise_, rtol=1e-9)
    assert_allclose(weighted.shrinkage_, copied.shrinkage_, rtol=1e-9)


@every_gaussian
def test_too_few_rows_leave_the_gaussian_as_it_is(Classifier):
    X, y = overlapping(3)
    few = Classifier(random_state=0).fit(X, y).fit(X[:15], y[:15])
    assert (few.variance_scale_, few.noise_, few.shrinkage_) == (1.0, None, None)


@every_gaussian
def test_probabilities_learned_from_too_few_rows_warn(Classifier):
    X, y = overlapping(3)
    few = Classifier(random_state=0).fit(X[:15], y[:15])
    for ask in (few.predict_proba, few.predict_log_proba, few.predict_confidence):
        with pytest.warns(UnlearnedConfidenceWarning, match="too few rows"):
            ask(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few.predict(X)
        few.predict_confidence(X, "margin")
        Classifier(variance_scale=1.0).fit(X[:15], y[:15]).predict_proba(X)
        Classifier(random_state=0).fit(X, y).predict_proba(X)


@pytest.mark.parametrize(
    "given", [{"update": "exact"}, {"diagonal": "optimal"}, {"C": np.inf}], ids=str
)
def test_variances_that_went_to_nothing_are_not_blown_up(given):
    X, y, X_test, _ = halves(3)
    fitted = MultiClassCW(random_state=0, max_iter=2, **given).fit(X, y)
    assert 0 < fitted.variance_scale_ <= 1e6
    assert fitted.noise_ > 0
    assert np.isfinite(fitted.predict_log_proba(X_test)).all()


@every_gaussian
def test_a_class_of_one_row_is_no_hindrance(Classifier):
    X, y = overlapping(3)
    labels = np.where(np.arange(len(y)) == 7, 3, y)
    fitted = Classifier(random_state=0).fit(X, labels)
    assert fitted.noise_ > 0
    assert fitted.predict_proba(X).shape == (len(X), 4)


@every_gaussian
def test_partial_fit_learns_it_once(Classifier):
    X, y, X_more, y_more = split_data()
    streaming = Classifier(random_state=0)
    streaming.partial_fit(X, y, classes=[0, 1, 2])
    learned = streaming.variance_scale_, streaming.noise_, streaming.shrinkage_
    assert streaming.noise_ > 0
    streaming.partial_fit(X_more, y_more)
    now = streaming.variance_scale_, streaming.noise_, streaming.shrinkage_
    assert now == learned
    drops = Classifier(random_state=0).partial_fit(X[:5], y[:5], classes=[0, 1, 2])
    assert (drops.variance_scale_, drops.noise_) == (1.0, None)


@every_gaussian
@pytest.mark.parametrize("given", [{"early_stopping": True}, {"shuffle": False}])
def test_every_way_of_training_is_judged(Classifier, given):
    X, y, _, _ = halves(4)
    fitted = Classifier(random_state=0, **given).fit(X, y)
    assert fitted.noise_ > 0
    warm = Classifier(random_state=0, warm_start=True, max_iter=1, **given)
    assert warm.fit(X, y).fit(X, y).noise_ > 0


def test_progress_does_not_tell_of_rows_that_catch_up(capsys):
    X, y, _, _ = halves(4)
    fitted = MultiClassCW(random_state=0, max_iter=3, verbose=1).fit(X, y)
    assert len(fitted.history_) == 3
    assert capsys.readouterr().err.count("\n") == 3


@pytest.mark.parametrize(
    ("n_rows", "n_features", "phi"),
    [(400, 100, 1.0), (100, 400, 2.0), (100, 10_000, 4.0)],
)
def test_phi_follows_the_features_per_row_and_c_follows_it_up_to_two(
    n_rows, n_features, phi
):
    X = sparse.random(n_rows, n_features, density=0.5, random_state=0, format="csr")
    y = np.arange(n_rows) % 2
    auto = MultiClassCW(random_state=0).fit(X, y)
    assert auto.phi_ == pytest.approx(phi, rel=0.01)
    given = MultiClassCW(C=min(auto.phi_, 2.0), random_state=0).fit(X, y)
    assert_array_equal(given.coef_, auto.coef_)
    assert MultiClassCW(phi=0.3, random_state=0).fit(X, y).phi_ == 0.3
    weight = (np.arange(n_rows) < n_rows / 2).astype(float)
    part = MultiClassCW(random_state=0).fit(X, y, sample_weight=weight)
    alone = MultiClassCW(random_state=0).fit(X[: n_rows // 2], y[: n_rows // 2])
    assert part.phi_ == alone.phi_


def test_a_soft_step_bears_rows_that_no_weights_tell_apart():
    X, y, X_test, y_test = halves(4, 3000)
    soft = MultiClassCW(random_state=0).fit(X, y).score(X_test, y_test)
    hard = MultiClassCW(C=np.inf, random_state=0).fit(X, y).score(X_test, y_test)
    peer = LogisticRegression().fit(X, y).score(X_test, y_test)
    assert soft > hard
    assert soft > peer - 0.03
