"""A selective classifier: bounds for rows, and the laws of scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcw import MultiClassCW, SelectiveClassifier
from skcw.exceptions import NoThresholdWarning

X, Y = load_digits(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]


@pytest.fixture(scope="module")
def fitted():
    return MultiClassCW(random_state=0).fit(X[:900], Y[:900])


def test_accepted_rows_are_wrong_as_rarely_as_the_bound_says(fitted):
    selective = SelectiveClassifier(fitted, risk=[0.03, 0.1], cv="prefit")
    selective.fit(X[900:1400], Y[900:1400])
    wrong = selective.predict(X[1400:]) != Y[1400:]
    for threshold in selective.thresholds_:
        accepted = selective.accept(X[1400:], threshold.risk)
        assert accepted.mean() > 0.3 and wrong[accepted].mean() <= threshold.risk
    assert (selective.predict_proba(X[1400:]) == fitted.predict_proba(X[1400:])).all()


def in_pipeline(rows, labels):
    return make_pipeline(StandardScaler(), MultiClassCW()).fit(rows, labels)


def in_search(rows, labels):
    model = make_pipeline(StandardScaler(), MultiClassCW())
    return GridSearchCV(model, {"multiclasscw__phi": [1.0]}, cv=2).fit(rows, labels)


def calibrated(rows, labels):
    # Each of its classifiers has seen two thirds of the rows.
    return CalibratedClassifierCV(MultiClassCW(), cv=3).fit(rows, labels)


def frozen(rows, labels):
    return FrozenEstimator(MultiClassCW().fit(rows, labels))


def bagged(rows, labels):
    model = BaggingClassifier(MultiClassCW(), 2, max_samples=0.9, bootstrap=False)
    return model.fit(rows, labels)


@pytest.mark.parametrize(
    ("fit", "n_known"),
    [
        (in_pipeline, 300),
        (in_search, 300),
        (frozen, 300),
        (calibrated, 200),
        (bagged, 270),
    ],
)
def test_training_rows_are_refused_where_they_can_be_known(fit, n_known):
    selective = SelectiveClassifier(fit(X[:300], Y[:300]), risk=0.2, cv="prefit")
    with pytest.raises(ValueError, match=f"from {n_known} of these 300 rows"):
        selective.fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match=r"from \d+ of these 600 rows"):
        selective.fit(X[:600], Y[:600])
    selective.fit(X[300:600], Y[300:600])
    selective.set_params(allow_training_data=True).fit(X[:300], Y[:300])


def test_rows_that_are_equal_by_chance_are_not_refused():
    dark = (X[:, 20:24] > 8).astype(float)
    classifier = MultiClassCW(random_state=0).fit(dark[:900], Y[:900])
    assert classifier.train_overlap(dark[900:]) > 0.9
    selective = SelectiveClassifier(classifier, risk=0.9, cv="prefit")
    assert selective.fit(dark[900:], Y[900:]).thresholds_[0].holds


@pytest.mark.parametrize(
    "other",
    [
        LogisticRegression(max_iter=300),
        # Those inside see a part of the columns.
        RFE(MultiClassCW(), n_features_to_select=32, step=32),
        BaggingClassifier(MultiClassCW(), 2, max_features=0.5),
    ],
)
def test_a_classifier_that_cannot_tell_is_calibrated(other):
    other.fit(X[:300] / 16, Y[:300])
    selective = SelectiveClassifier(other, risk=0.5, cv="prefit")
    assert selective.fit(X[:300] / 16, Y[:300]).thresholds_[0].holds


def test_sets_of_rows_contain_the_truth(fitted):
    selective = SelectiveClassifier(fitted, risk=0.1, set_risk=0.05, cv="prefit")
    selective.fit(X[900:1400], Y[900:1400])
    sets = selective.predict_sets(X[1400:])
    missed = np.mean(
        [y not in labels for y, labels in zip(Y[1400:], sets, strict=True)]
    )
    assert missed <= 0.09
    assert np.mean([len(labels) for labels in sets]) < 2


def test_rows_are_held_out_if_the_classifier_is_not_fitted():
    selective = SelectiveClassifier(LogisticRegression(max_iter=300), risk=0.1)
    selective.fit(X[:600] / 16, Y[:600])
    assert selective.thresholds_[0].n_groups == 180
    sparse = clone(selective).fit(csr_matrix(X[:600] / 16), Y[:600])
    assert sparse.thresholds_[0].n_groups == 180


def test_it_stands_in_pipelines_and_searches():
    model = make_pipeline(
        StandardScaler(), SelectiveClassifier(MultiClassCW(random_state=0), risk=0.3)
    )
    grid = {"selectiveclassifier__estimator__phi": [0.3, 1.0]}
    search = GridSearchCV(model, grid, cv=2).fit(X[:600], Y[:600])
    assert search.best_estimator_[-1].thresholds_[0].risk == 0.3


def test_it_is_saved_without_pickle(fitted):
    skops = pytest.importorskip("skops.io")
    selective = SelectiveClassifier(fitted, risk=0.1, cv="prefit")
    data = skops.dumps(selective.fit(X[900:1400], Y[900:1400]))
    known = skops.get_untrusted_types(data=data)
    same = skops.loads(data, trusted=known)
    assert same.thresholds_ == selective.thresholds_
    assert (same.accept(X[1400:]) == selective.accept(X[1400:])).all()


def test_groups_are_what_is_exchangeable(fitted):
    selective = SelectiveClassifier(
        fitted, risk=0.2, cv="prefit", max_errors_per_group=5
    )
    groups = np.arange(500) // 5
    selective.fit(X[900:1400], Y[900:1400], groups=groups)
    assert selective.thresholds_[0].n_groups == 100


def test_a_risk_that_no_threshold_keeps_is_refused(fitted):
    selective = SelectiveClassifier(fitted, risk=0.001, cv="prefit")
    with pytest.warns(
        NoThresholdWarning, match="500 rows cannot guarantee a risk of 0.1 %"
    ):
        selective.fit(X[900:1400], Y[900:1400])
    assert not selective.accept(X).any()
    with pytest.raises(ValueError, match="each class needs two rows"):
        SelectiveClassifier(MultiClassCW()).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="risk is 2"):
        SelectiveClassifier(fitted, risk=2, cv="prefit").fit(X, Y)


def copies_change_the_split(estimator):
    """Say why a weight of two is not two copies: those may be in different parts."""
    reason = "rows for calibration are drawn at random"
    names = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{n}_data": reason for n in names}


CHECKS = parametrize_with_checks(
    [SelectiveClassifier(MultiClassCW(random_state=0), risk=0.3)],
    expected_failed_checks=copies_change_the_split,
)
# Old versions of scikit-learn give a generator, which pytest 9 takes only from a list.
NAMES, CASES = CHECKS.args


@pytest.mark.parametrize(NAMES, list(CASES), **CHECKS.kwargs)
@pytest.mark.filterwarnings("ignore::skcw.exceptions.NoThresholdWarning")
def test_it_obeys_the_laws_of_scikit_learn(estimator, check):
    check(estimator)
