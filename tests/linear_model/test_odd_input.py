"""What users do by mistake or by temperament: refused by name, or done right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import KFold

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA
from tests.linear_model.classifiers import (
    CLASSIFIERS,
    GAUSSIAN,
    copy_of,
    data,
    every_classifier,
    every_gaussian,
    every_gaussian_update,
    every_update,
    state_of,
)

COMMON = {
    "max_iter": [0, -1, 1.5, "1", None],
    "averaging": ["yes", None, 2],
    "fit_intercept": ["yes", None],
    "shuffle": ["yes", None],
    "class_weight": ["heavy", 3, {0: -1}, {0: np.nan}, {0: np.inf}, {0: 0, 1: 0, 2: 0}],
    "early_stopping": [
        "yes",
        None,
        *[{"validation_fraction": value} for value in (0, 1, -0.5, np.nan)],
        *[{"n_iter_no_change": value} for value in (0, -1, 1.5)],
        *[{"tol": value} for value in (-1e-9, np.nan, None)],
        {"patience": 3},
    ],
    "warm_start": ["yes", None],
    "random_state": [-1, "seed", 1.5, np.random.default_rng(0)],
    "dtype": ["float16", np.float32, None],
    "verbose": [-1, "yes"],
}
OF_GAUSSIANS = {
    "update": ["double", None, 1],
    "n_rivals": [0, -1, 1.5, "some"],
    "diagonal": ["full", None, 1],
    "initial_variance": [0, -1, np.nan, np.inf, 1e-50, 1e50, "1"],
    "variance_scale": [0, -1, np.nan, np.inf, "accuracy", None],
    "scale_cv": [1, 1.5, "five"],
}
BAD_PARAMETERS = [
    *[(C, name, values) for C in CLASSIFIERS for name, values in COMMON.items()],
    *[(C, name, values) for C in GAUSSIAN for name, values in OF_GAUSSIANS.items()],
    (MultiClassCW, "phi", [0, -1, np.nan, np.inf, 1e300, "1", None]),
    (MultiClassCW, "C", [0, -1, np.nan, "1", None]),
    (MultiClassCW, "step", ["full", None]),
    (MultiClassCW, "bound", ["middle", None]),
    (MultiClassAROW, "r", [0, -1, np.nan, np.inf, 1e-300, "1", None]),
    (MultiClassAROW, "diagonal", ["optimal"]),
    (MultiClassPA, "C", [0, -1, np.nan, np.inf, "1", None]),
    (MultiClassPA, "n_rivals", [0, -1, 1.5, None, "some"]),
]


@pytest.mark.parametrize(
    ("Classifier", "name", "values"),
    BAD_PARAMETERS,
    ids=[f"{C.__name__}-{name}" for C, name, _ in BAD_PARAMETERS],
)
def test_parameters_out_of_range_are_named(Classifier, name, values):
    X, y = data()
    for value in values:
        classifier = Classifier(**{name: value})
        with pytest.raises(ValueError, match=name):
            classifier.fit(X, y)
        with pytest.raises(ValueError, match=name):
            classifier.partial_fit(X, y, classes=[0, 1, 2])
        assert not hasattr(classifier, "classes_")


@every_gaussian
@pytest.mark.parametrize("n_rivals", [2, "all"])
def test_a_single_update_has_one_rival(Classifier, n_rivals):
    X, y = data()
    with pytest.raises(ValueError, match="update='single' considers one rival"):
        Classifier(update="single", n_rivals=n_rivals).fit(X, y)
    one = Classifier(update="single", n_rivals=1, random_state=0).fit(X, y)
    single = Classifier(update="single", random_state=0).fit(X, y)
    assert_array_equal(one.coef_, single.coef_)


@pytest.mark.parametrize("update", ["sequential", "parallel"])
def test_the_best_diagonal_update_has_one_rival(update):
    X, y = data()
    several = MultiClassCW(diagonal="optimal", update=update)
    with pytest.raises(ValueError, match="diagonal='optimal' is for updates with one"):
        several.fit(X, y)
    several.set_params(n_rivals=1).fit(X, y)
    MultiClassCW(diagonal="optimal", update=update).fit(*data(n_classes=2))


@every_classifier
def test_one_class_is_refused(Classifier):
    X, _ = data()
    with pytest.raises(ValueError, match=r"greater than one; got 1 class, 'a'"):
        Classifier().fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="at least two classes"):
        Classifier().partial_fit(X, ["a"] * len(X), classes=["a"])


@every_classifier
def test_one_class_in_a_piece_is_no_matter(Classifier):
    X, y = data()
    classifier = Classifier(random_state=0)
    for label in range(3):
        classifier.partial_fit(X[y == label], y[y == label], classes=[0, 1, 2])
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert set(classifier.predict(X)) <= {0, 1, 2}


@every_classifier
def test_labels_that_no_call_has_announced_are_refused(Classifier):
    X, y = data()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        Classifier().partial_fit(X, y)
    fitted = Classifier(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    before = fitted.coef_.copy()
    with pytest.raises(ValueError, match="either strings or numbers"):
        fitted.partial_fit(X, y, classes=["0", "1", "2", "3"])
    with pytest.raises(ValueError, match="should be a 1d array"):
        fitted.partial_fit(X, y, classes=[[0, 1], [2, 3]])
    with pytest.raises(ValueError, match=r"not among the classes.*\[7\]"):
        fitted.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match=r"not among the classes.*\['b'\]"):
        fitted.partial_fit(X[:1], ["b"])
    with pytest.raises(ValueError, match=r"not among the classes.*\[9\]"):
        Classifier().partial_fit(X[:1], [9], classes=[0, 1])
    assert_array_equal(fitted.coef_, before)


@every_update
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_of_zeros_are_learned_from_and_predicted(
    classifier, n_classes, fit_intercept
):
    X, y = np.zeros((9, 4)), np.array([0, 1, 1, 1, 1, 1, 0, n_classes - 1, 1])
    classifier = copy_of(classifier, fit_intercept=fit_intercept)
    for rows in (X, sparse.csr_array(X)):
        classifier.fit(rows, y)
        assert not classifier.coef_.any()
        assert set(classifier.predict(rows)) == {1 if fit_intercept else 0}
        assert np.isfinite(classifier.decision_function(rows)).all()
        if hasattr(classifier, "predict_proba"):
            assert_allclose(classifier.predict_proba(rows).sum(axis=1), 1, rtol=1e-6)
        if hasattr(classifier, "predict_proba") and not fit_intercept:
            equal = np.full((9, n_classes), 1 / n_classes)
            assert_allclose(classifier.predict_proba(rows), equal, rtol=1e-6)


def assert_no_nan(classifier, X):
    assert np.isfinite(classifier.coef_).all()
    assert np.isfinite(classifier.intercept_).all()
    assert np.isfinite(classifier.decision_function(X)).all()
    if hasattr(classifier, "predict_proba"):
        assert (classifier.coef_variance_ > 0).all()
        assert np.isfinite(classifier.coef_variance_).all()
        assert_allclose(classifier.predict_proba(X).sum(axis=1), 1, rtol=1e-6)
        for method in ("probability", "margin", "normalized-margin"):
            assert not np.isnan(classifier.predict_confidence(X, method)).any()


@every_update
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_and_small_values_give_no_nan(classifier, n_classes, dtype):
    X, y = data(n_classes, n_rows=30)
    X = X / np.abs(X).max()
    for scale in (1e12, 1e7, 1e-7, 1e-30, 1e-160, 1e-200):
        fitted = copy_of(classifier, dtype=dtype).fit(scale * X, y)
        assert_no_nan(fitted, scale * X)
        fitted.partial_fit(X, y)
        assert_no_nan(fitted, np.vstack([X, scale * X]))


@every_update
@pytest.mark.parametrize("n_classes", [2, 4])
def test_values_of_all_sizes_in_one_table_give_no_nan(classifier, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * 10.0 ** rng.integers(-30, 12, size=(40, 6))
    y = rng.integers(n_classes, size=40)
    for dtype in ("float32", "float64"):
        fitted = copy_of(classifier, dtype=dtype).fit(X, y)
        assert_no_nan(fitted, X)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("variance", [1e-10, 1e10])
@every_gaussian_update
def test_large_values_with_large_variances_are_learned(classifier, scale, variance):
    X, y = data(n_rows=30)
    X = scale * X / np.abs(X).max()
    fitted = copy_of(classifier, initial_variance=variance, fit_intercept=False)
    fitted.fit(X, y)
    assert_no_nan(fitted, X)
    assert fitted.coef_.any()


@every_classifier
@pytest.mark.parametrize("value", [1e20, -1e200])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_huge_values_are_refused_with_advice(Classifier, value, form):
    X, y = data()
    fitted = Classifier(random_state=0).fit(X, y)
    before = state_of(fitted)
    huge = X.copy()
    huge[3, 2] = value
    for door in (fitted.fit, fitted.partial_fit):
        with pytest.raises(ValueError, match=r"magnitude 1e\+20?0.*MaxAbsScaler"):
            door(form(huge), y)
    with pytest.raises(ValueError, match=r"magnitude 1e\+20?0.*MaxAbsScaler"):
        fitted.predict(form(huge))
    assert state_of(fitted) == before


@every_classifier
def test_constant_columns_do_no_harm(Classifier):
    X, y = data()
    X = np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])
    fitted = Classifier(random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.5
    assert not fitted.coef_[:, -1].any()


@every_classifier
def test_duplicate_indices_count_as_their_sum(Classifier):
    X, y = data()
    once = sparse.csr_matrix(X)
    twice = sparse.csr_matrix(
        (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr),
        shape=X.shape,
    )
    kept = twice.copy()
    fitted = Classifier(random_state=0).fit(twice, y)
    assert_array_equal(fitted.coef_, Classifier(random_state=0).fit(X, y).coef_)
    assert_array_equal(fitted.decision_function(twice), fitted.decision_function(X))
    assert_array_equal(twice.indices, kept.indices)
    assert_array_equal(twice.data, kept.data)


@every_classifier
def test_unsorted_indices_are_no_matter(Classifier):
    X, y = data()
    turned = sparse.csr_array(
        (X[:, ::-1].ravel(), np.tile(np.arange(8)[::-1], len(X)), 8 * np.arange(121)),
        shape=X.shape,
    )
    fitted = Classifier(random_state=0).fit(turned, y)
    assert_array_equal(fitted.coef_, Classifier(random_state=0).fit(X, y).coef_)
    assert_array_equal(fitted.decision_function(turned), fitted.decision_function(X))
    assert turned.indices[0] == 7


@every_classifier
def test_stored_zeros_are_no_matter(Classifier):
    X, y = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    stored = sparse.csr_array(
        (X.ravel(), np.tile(np.arange(8), len(X)), 8 * np.arange(121)), shape=X.shape
    )
    assert stored.nnz > np.count_nonzero(X)
    fitted = Classifier(random_state=0).fit(stored, y)
    assert_array_equal(fitted.coef_, Classifier(random_state=0).fit(X, y).coef_)


@every_classifier
@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_rows_of_another_width_are_refused(Classifier, method):
    X, y = data()
    fitted = Classifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 8"):
        getattr(fitted, method)(X[:, :3])
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 8"):
        fitted.partial_fit(X[:, :3], y)


@every_classifier
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused(Classifier, value):
    X, y = data()
    broken = X.copy()
    broken[1, 1] = value
    fitted = Classifier(random_state=0).fit(X, y)
    for rows in (broken, sparse.csr_array(broken)):
        with pytest.raises(ValueError, match="contains"):
            Classifier().fit(rows, y)
        with pytest.raises(ValueError, match="contains"):
            fitted.predict(rows)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(119), r"sample_weight has shape \(119,\)"),
        (np.ones((120, 1)), "one weight for each of the 120 rows"),
        (np.r_[-1.0, np.ones(119)], r"sample_weight\[0\] is -1.0"),
        (np.r_[np.nan, np.ones(119)], r"sample_weight\[0\] is nan"),
        (np.r_[np.inf, np.ones(119)], r"sample_weight\[0\] is inf"),
        (np.r_[np.ones(119), 1e7], "row 119 has the weight 1e"),
        (np.zeros(120), "zero"),
        ("heavy", "one number for each of the 120 rows"),
    ],
    ids=str,
)
@every_classifier
def test_bad_weights_of_rows_are_refused(Classifier, weight, message):
    X, y = data()
    for door in ("fit", "partial_fit"):
        classifier = Classifier()
        known = {} if door == "fit" else {"classes": [0, 1, 2]}
        with pytest.raises(ValueError, match=message):
            getattr(classifier, door)(X, y, sample_weight=weight, **known)
        assert not hasattr(classifier, "classes_")


@every_classifier
def test_class_weights_that_miss_the_classes_are_refused(Classifier):
    X, y = data()
    with pytest.raises(ValueError, match="the label 7, which is none of: 0, 1, 2"):
        Classifier(class_weight={7: 2.0}).fit(X, y)
    # All have a weight; and later pieces may bring others.
    Classifier(class_weight={0: 1, 1: 1, 2: 2, 7: 2.0}).fit(X, y)
    late = Classifier(class_weight={7: 2.0}).partial_fit(X, y, classes=[0, 1, 2])
    late.partial_fit(X, np.where(y == 1, 7, y), classes=[7])
    with pytest.raises(ValueError, match="'balanced' needs all of the data at once"):
        Classifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


@every_classifier
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 120), "continuous"),
        (np.eye(120, 3), "1d array"),
        (np.r_[np.nan, np.ones(119)], "NaN"),
        (np.ones(119), "inconsistent numbers of samples"),
        (None, "y"),
    ],
    ids=["continuous", "table", "nan", "short", "none"],
)
def test_labels_that_are_none_are_refused(Classifier, y, message):
    X, _ = data()
    with pytest.raises(ValueError, match=message):
        Classifier().fit(X, y)


FAILURES = {
    "one class": ({}, {"y": 0}),
    "parameter": ({"max_iter": 0}, {}),
    "held-out share": ({"early_stopping": {"validation_fraction": 0.001}}, {}),
    "weights": ({}, {"sample_weight": -1.0}),
    "class weights": ({"class_weight": {0: -1}}, {}),
    "nan": ({}, {"X": np.nan}),
    "huge": ({}, {"X": 1e30}),
}


@every_classifier
@pytest.mark.parametrize("failure", FAILURES)
def test_a_fit_that_fails_leaves_a_fitted_classifier_as_it_was(Classifier, failure):
    X, y = data()
    fitted = Classifier(random_state=0).fit(X, y)
    before, answers = state_of(fitted), fitted.decision_function(X)
    params, given = FAILURES[failure]
    # Rows of another width, so that even their number may not be remembered.
    rows = {"X": X[:, :5].copy(), "y": y.copy(), "sample_weight": np.ones(len(X))}
    for name, value in given.items():
        rows[name][...] = value
    fitted.set_params(**params)
    with pytest.raises(ValueError):
        fitted.fit(**rows)
    rows["X"] = np.column_stack([rows["X"], X[:, 5:]])
    if failure not in ("one class", "held-out share"):
        with pytest.raises(ValueError):
            fitted.partial_fit(**rows)
    fitted.set_params(**{name: Classifier().get_params()[name] for name in params})
    assert state_of(fitted) == before
    assert_array_equal(fitted.decision_function(X), answers)


@every_gaussian
def test_a_scale_that_cannot_be_chosen_leaves_a_fitted_classifier_as_it_was(Classifier):
    X, y = data()
    fitted = Classifier(random_state=0).fit(X, y)
    before = state_of(fitted)
    lonely = y.copy()
    lonely[:] = lonely > 0
    lonely[0] = 2  # the fold that learns without this row never sees its class
    fitted.set_params(variance_scale="log_loss", scale_cv=KFold(3))
    with pytest.raises(ValueError, match="a fold lacks a class"):
        fitted.fit(X[:, :5], lonely)
    fitted.set_params(variance_scale="held-out", scale_cv=None)
    assert state_of(fitted) == before


@pytest.mark.parametrize("phi", [1e-10, 37.0, 50.0, 1e5, 1e10])
@pytest.mark.parametrize("step", ["variance", "stdev"])
def test_the_inner_bound_bears_any_phi(phi, step):
    X, y = data()
    for dtype in ("float32", "float64"):
        classifier = MultiClassCW(phi=phi, bound="inner", step=step, dtype=dtype)
        assert_no_nan(classifier.fit(X, y), X)


@every_gaussian
@pytest.mark.parametrize("n_draws", [0, -1, 1.5, "many", None])
def test_draws_are_a_positive_number(Classifier, n_draws):
    X, y = data()
    fitted = Classifier(random_state=0).fit(X, y)
    with pytest.raises((TypeError, ValueError), match="n_draws"):
        fitted.predict_distribution(X, "draws", n_draws=n_draws)


@every_gaussian
def test_unknown_methods_are_named(Classifier):
    X, y = data()
    fitted = Classifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="method is 'guess'"):
        fitted.predict_distribution(X, "guess")
    with pytest.raises(ValueError, match="method is 'guess'"):
        fitted.predict_confidence(X, "guess")


BROKEN = {
    "index too large": ("indices", lambda a: np.append(a[:-1], 10**6)),
    "index just too large": ("indices", lambda a: np.append(a[:-1], 8)),
    "negative index": ("indices", lambda a: np.append(a[:-1], -1)),
    "steps that fall": ("indptr", lambda a: a[::-1].copy()),
    "steps beyond the end": ("indptr", lambda a: np.append(a[:-1], 10**9)),
    "steps that begin late": ("indptr", lambda a: np.append(3, a[1:])),
    "too few steps": ("indptr", lambda a: a[:-1]),
}


@every_classifier
@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("fault", BROKEN)
def test_sparse_rows_that_are_broken_are_refused(Classifier, kind, fault):
    X, y = data()
    name, change = BROKEN[fault]
    broken = sparse.csr_matrix(X).asformat(kind)
    if name == "indices" and kind == "csc":
        # There an index is the number of a row.
        change = {"index just too large": lambda a: np.append(a[:-1], len(y))}.get(
            fault, change
        )
    setattr(broken, name, change(getattr(broken, name)))
    classifier = Classifier(random_state=0)
    for call in (
        lambda: classifier.fit(broken, y),
        lambda: classifier.partial_fit(broken, y, classes=[0, 1, 2]),
        lambda: Classifier(random_state=0).fit(X, y).predict(broken),
    ):
        with pytest.raises(ValueError, match="broken"):
            call()


@every_classifier
def test_indices_of_64_bits_are_no_matter(Classifier):
    X, y = data()
    rows = sparse.csr_matrix(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(int)
    one = Classifier(random_state=0).fit(rows, y)
    assert_array_equal(one.coef_, Classifier(random_state=0).fit(X, y).coef_)


@every_classifier
@pytest.mark.parametrize("weight", [1e-300, 1e-310, 5e-324, 1e-21])
def test_weights_that_vanish_are_refused_with_advice(Classifier, weight):
    X, y = data()
    for averaging in (False, True):
        classifier = Classifier(averaging=averaging, random_state=0)
        with pytest.raises(ValueError, match="at least 1e-20: scale them"):
            classifier.fit(X, y, sample_weight=np.full(len(y), weight))


@every_classifier
def test_the_smallest_weights_that_count_give_no_nan(Classifier):
    X, y = data()
    for averaging in (False, True):
        classifier = Classifier(averaging=averaging, random_state=0)
        classifier.fit(X, y, sample_weight=np.full(len(y), 1e-20))
        assert np.isfinite(classifier.coef_).all()
        assert np.isfinite(classifier.decision_function(X)).all()


@every_classifier
def test_class_weights_that_vanish_are_refused(Classifier):
    X, y = data()
    for given in ({0: 1e-300, 1: 1e-300, 2: 1e-300}, {0: 1e-15, 1: 1e-15, 2: 1e-15}):
        classifier = Classifier(class_weight=given, random_state=0)
        with pytest.raises(ValueError, match="at least 1e-20"):
            classifier.fit(X, y, sample_weight=np.full(len(y), 1e-10))
