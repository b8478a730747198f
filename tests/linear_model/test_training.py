"""Passes over rows: weights, orders, pieces, stopping, starting warm, progress."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import accuracy_score
from sklearn.utils.class_weight import compute_class_weight

from skcw import MultiClassCW, MultiClassPA
from skcw._model import row_gaussian as _table_belief
from skcw._model.rows import class_weights
from tests.linear_model.classifiers import (
    copy_of,
    data,
    every_classifier,
    every_gaussian,
    every_update,
    overlapping,
    split_data,
)

# Weights stored in single precision.
SINGLE = 1e-5


def assert_same_model(one, other, rtol=0):
    assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=rtol)
    assert_allclose(one.intercept_, other.intercept_, rtol=rtol, atol=rtol)
    if hasattr(one, "coef_variance_"):
        assert_allclose(one.coef_variance_, other.coef_variance_, rtol=rtol)


@every_update
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_are_learned_and_others_recognized(classifier, n_classes):
    X, y, X_test, y_test = split_data(n_classes)
    fitted = copy_of(classifier).fit(X, y)
    shape = (1, 8) if n_classes == 2 else (n_classes, 8)
    assert fitted.coef_.shape == shape
    assert fitted.intercept_.shape == shape[:1]
    assert fitted.n_features_in_ == 8
    assert fitted.n_iter_ == len(fitted.history_) == 5
    assert fitted.score(X_test, y_test) > 1.3 / n_classes
    by_hand = X_test @ fitted.coef_.T + fitted.intercept_
    if n_classes == 2:
        by_hand = np.column_stack([-by_hand, by_hand])
    # Scores that differ by no more than single precision can tell are left aside.
    clear = np.diff(np.sort(by_hand, axis=1))[:, -1] > SINGLE
    assert clear.mean() > 0.9
    guess = by_hand.argmax(axis=1)
    assert_array_equal(fitted.predict(X_test)[clear], guess[clear])


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_every_form_give_the_same_model(Classifier, n_classes):
    X, y = data(n_classes)
    X = np.round(2 * X)  # whole numbers, so that all types hold them exactly
    fitted = Classifier(random_state=0).fit(X, y)
    forms = [
        X.tolist(),
        X.astype(np.float32),
        X.astype(int),
        np.asfortranarray(X),
        sparse.csr_matrix(X),
        sparse.csr_array(X.astype(np.float32)),
        sparse.csc_array(X),
        sparse.coo_matrix(X.astype(np.int32)),
    ]
    for rows in forms:
        assert_same_model(Classifier(random_state=0).fit(rows, y), fitted)
        assert_array_equal(fitted.predict(rows), fitted.predict(X))
        assert_array_equal(fitted.decision_function(rows), fitted.decision_function(X))


@every_classifier
@pytest.mark.parametrize(
    "labels",
    [
        ["b", "c", "a"],
        [10, -3, 7],
        [2.0, 0.0, 1.0],
        np.array(["zebra", "ant", "cow"], dtype=object),
    ],
    ids=["strings", "integers", "floats", "objects"],
)
def test_labels_of_every_kind_come_back(Classifier, labels):
    X, y = data()
    labels = np.sort(np.asarray(labels))
    coded = Classifier(random_state=0).fit(X, y)
    named = Classifier(random_state=0).fit(X, labels[y])
    assert_array_equal(named.classes_, labels)
    assert_array_equal(named.predict(X), labels[coded.predict(X)])
    assert named.predict(X).dtype == labels.dtype
    assert_same_model(named, coded)


@every_classifier
def test_two_classes_may_be_true_and_false(Classifier):
    X, y = data(n_classes=2)
    fitted = Classifier(random_state=0).fit(X, y == 1)
    assert fitted.classes_.tolist() == [False, True]
    assert accuracy_score(y == 1, fitted.predict(X)) > 0.7


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_in_which_rows_are_given_does_not_matter(Classifier, n_classes):
    X, y = data(n_classes)
    order = np.random.default_rng(0).permutation(len(X))
    one = Classifier(random_state=3).fit(X, y)
    assert_same_model(Classifier(random_state=3).fit(X[order], y[order]), one)
    other = Classifier(random_state=4).fit(X, y)
    assert not np.array_equal(one.coef_, other.coef_)


@every_classifier
def test_without_shuffling_the_order_is_that_of_the_rows(Classifier):
    X, y = data()
    given = Classifier(shuffle=False).fit(X, y)
    turned = Classifier(shuffle=False).fit(X[::-1], y[::-1])
    assert not np.array_equal(given.coef_, turned.coef_)
    assert_same_model(Classifier(shuffle=False, random_state=9).fit(X, y), given)


@every_classifier
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("averaging", [True, False])
def test_a_weight_of_two_is_two_copies(Classifier, shuffle, averaging):
    X, y = data()
    weight = np.arange(len(X)) % 4  # 0 is absent
    copies = np.repeat(np.arange(len(X)), weight)
    given = {"shuffle": shuffle, "averaging": averaging, "random_state": 0}
    weighted = Classifier(**given).fit(X, y, sample_weight=weight)
    copied = Classifier(**given).fit(X[copies], y[copies])
    assert_same_model(weighted, copied)


@every_classifier
def test_a_number_as_weight_holds_for_all_rows(Classifier):
    X, y = data()
    twice = Classifier(random_state=0).fit(X, y, sample_weight=2.0)
    expected = Classifier(random_state=0).fit(X, y, sample_weight=np.full(len(X), 2.0))
    assert_same_model(twice, expected)


@every_update
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pieces_are_one_pass(classifier, n_classes):
    X, y = data(n_classes)
    given = {"shuffle": False, "max_iter": 1}
    if hasattr(classifier, "variance_scale"):
        # Nothing is held out to learn it.
        given["variance_scale"] = 1.0
    whole = copy_of(classifier, **given).fit(X, y)
    pieces = copy_of(classifier, **given)
    for piece in np.array_split(np.arange(len(X)), 7):
        pieces.partial_fit(X[piece], y[piece], classes=np.arange(n_classes))
    assert_same_model(pieces, whole, rtol=SINGLE)
    assert_array_equal(pieces.predict(X), whole.predict(X))


@every_classifier
def test_an_average_is_the_mean_of_the_weights_after_every_row(Classifier):
    X, y = data(n_rows=40)
    given = {"shuffle": False, "dtype": "float64"}
    if Classifier is MultiClassCW:
        # The rule for phi goes by the rows of the first call, here a single one.
        given["phi"] = 1.0
    step_by_step = Classifier(averaging=False, **given)
    total = 0.0
    for i in range(len(X)):
        step_by_step.partial_fit(X[[i]], y[[i]], classes=[0, 1, 2])
        total = total + step_by_step.coef_
    averaged = Classifier(averaging=True, max_iter=1, **given).fit(X, y)
    assert_allclose(averaged.coef_, total / len(X), rtol=1e-9, atol=1e-12)


@every_classifier
def test_partial_fit_goes_on_from_the_average_of_a_fit(Classifier):
    X, y, X_more, y_more = split_data()
    given = {"shuffle": False, "dtype": "float64"}
    averaged = Classifier(averaging=True, **given).fit(X, y)
    start = averaged.coef_.copy()
    averaged.set_params(averaging=False).partial_fit(X_more[:1], y_more[:1])
    moved = (averaged.coef_ != start).any(axis=1)
    assert moved.sum() <= 2  # the label and its rival, and nothing else


@every_classifier
def test_parameters_may_change_between_pieces(Classifier):
    X, y, X_more, y_more = split_data()
    classifier = Classifier(random_state=0).fit(X, y)
    for change in ({"dtype": "float64"}, {"averaging": True}, {"averaging": False}):
        classifier.set_params(**change).partial_fit(X_more, y_more)
        assert classifier.coef_.dtype == classifier.dtype
    assert classifier.score(X_more, y_more) > 0.5


@every_update
@pytest.mark.parametrize("averaging", [True, False])
def test_a_warm_start_continues(classifier, averaging):
    X, y = data()
    given = {"shuffle": False, "averaging": averaging, "dtype": "float64"}
    warm = copy_of(classifier, warm_start=True, max_iter=1, **given).fit(X, y).fit(X, y)
    # A fit ends with its average, from which the next one goes on.
    pieces = copy_of(classifier, max_iter=1, **given).fit(X, y).partial_fit(X, y)
    assert_same_model(warm, pieces, rtol=1e-12)
    if not averaging:
        assert_same_model(warm, copy_of(classifier, max_iter=2, **given).fit(X, y))


@every_classifier
def test_a_cold_start_does_not(Classifier):
    X, y = data()
    twice = Classifier(random_state=0).fit(X, y).fit(X, y)
    assert_same_model(twice, Classifier(random_state=0).fit(X, y))


@every_classifier
def test_a_warm_start_asks_for_the_same_classes_and_features(Classifier):
    X, y = data()
    warm = Classifier(warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"continues with the classes \[0, 1, 2\]"):
        warm.fit(X[y > 0], y[y > 0])
    with pytest.raises(ValueError, match="expecting 8 features"):
        warm.fit(X[:, :4], y)


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_pass_on_held_out_rows_is_kept(Classifier, n_classes):
    X, y, _, _ = split_data(n_classes)
    stopping = {"validation_fraction": 0.3, "n_iter_no_change": 3, "tol": 0.0}
    given = {"early_stopping": stopping, "random_state": 0}
    stopped = Classifier(max_iter=40, **given).fit(X, y)
    scores = [record["dev_score"] for record in stopped.history_]
    assert stopped.n_iter_ == len(scores) < 40
    assert max(scores[:-3]) >= max(scores[-3:])
    best = 1 + scores.index(max(scores))
    stopping["n_iter_no_change"] = best
    short = Classifier(max_iter=best, **given).fit(X, y)
    assert short.history_[-1]["dev_score"] == max(scores)
    assert_same_model(stopped, short)


def test_held_out_rows_teach_nothing():
    # One feature a row: those of held-out rows keep their prior.
    X, y = np.eye(40), np.arange(40) % 2
    classifier = MultiClassCW(
        random_state=0,
        early_stopping={"validation_fraction": 0.25},
        fit_intercept=False,
    ).fit(X, y)
    assert (classifier.coef_variance_ == 1.0).sum() == 10
    held_out = classifier.coef_variance_[0] == 1.0
    assert np.bincount(y[held_out]).tolist() == [5, 5]


@every_classifier
def test_rows_of_weight_zero_are_not_held_out_either(Classifier):
    X, y = data()
    weight = (np.arange(len(X)) % 5 == 0).astype(float)
    given = {"early_stopping": {"validation_fraction": 0.3}, "random_state": 0}
    with_zeros = Classifier(**given).fit(X, y, sample_weight=weight)
    without = Classifier(**given).fit(X[weight > 0], y[weight > 0])
    assert_same_model(with_zeros, without)


@every_classifier
def test_too_little_to_hold_out_is_refused(Classifier):
    X, y = data()
    with pytest.raises(ValueError, match="early stopping cannot hold out a share of"):
        Classifier(early_stopping={"validation_fraction": 0.01}).fit(X, y)


def share_of_the_first(Classifier, X, y, class_weight):
    """Return how often the first class is predicted, over a few orders."""
    fits = (
        Classifier(class_weight=class_weight, random_state=seed).fit(X, y)
        for seed in range(3)
    )
    return np.mean([fitted.predict(X) == 0 for fitted in fits])


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_heavy_class_is_predicted_more_often(Classifier, n_classes):
    X, y = overlapping(n_classes)
    light, plain, heavy = (
        share_of_the_first(Classifier, X, y, weight)
        for weight in ({0: 0.1}, None, {0: 4.0})
    )
    assert light < plain < heavy


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_weights_are_those_of_scikit_learn(Classifier, n_classes):
    X, y = overlapping(n_classes)
    kept = (y == 0) | (np.arange(len(y)) % 8 == 0)  # all but the first class are rare
    X, y = X[kept], y[kept]
    plain = share_of_the_first(Classifier, X, y, None)
    assert share_of_the_first(Classifier, X, y, "balanced") < plain
    balanced = Classifier(class_weight="balanced", random_state=0).fit(X, y)
    share = compute_class_weight("balanced", classes=np.arange(n_classes), y=y)
    by_hand = Classifier(class_weight=dict(enumerate(share)), random_state=0)
    assert_same_model(balanced, by_hand.fit(X, y))


def test_a_class_without_rows_does_not_count_in_balanced_weights():
    codes = np.array([0, 2, 2, 2, 3])
    weight = np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    found = class_weights("balanced", np.arange(4), codes, weight, one_pass=False)
    # Two of the four classes have a weight, 5 in all: 5 / 2 / 1 and 5 / 2 / 4.
    assert_array_equal(found, [2.5, 1.0, 0.625, 1.0])
    present = class_weights("balanced", np.arange(2), codes[:4] // 2, weight[:4], False)
    assert_array_equal(found[[0, 2]], present)


@every_classifier
def test_class_weights_below_one_multiply_those_of_rows(Classifier):
    X, y = data()
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=len(X))
    by_class = Classifier(class_weight={0: 0.5, 1: 0.25, 2: 1.0}, random_state=0)
    by_class.fit(X, y, sample_weight=weight)
    by_row = Classifier(random_state=0)
    by_row.fit(X, y, sample_weight=weight * np.array([0.5, 0.25, 1.0])[y])
    assert_same_model(by_class, by_row)


def test_class_weights_above_one_multiply_phi_of_a_hard_step():
    X, y = data()
    heavy = {"class_weight": {0: 3.0, 1: 3.0, 2: 3.0}}
    asked = MultiClassCW(phi=0.5, C=np.inf, random_state=0, **heavy).fit(X, y)
    expected = MultiClassCW(phi=1.5, C=np.inf, random_state=0).fit(X, y)
    assert_same_model(asked, expected, rtol=1e-6)


@pytest.mark.parametrize("Classifier", [MultiClassPA, MultiClassCW])
def test_class_weights_above_one_present_rows_more_often(Classifier):
    X, y = data()
    weighted = Classifier(class_weight={0: 3.0}, random_state=0).fit(X, y)
    copies = np.repeat(np.arange(len(X)), np.where(y == 0, 3, 1))
    copied = Classifier(random_state=0).fit(X[copies], y[copies])
    assert_same_model(weighted, copied)


@every_classifier
def test_progress_goes_to_the_error_stream(Classifier, capsys):
    X, y = data()
    Classifier(random_state=0, max_iter=2).fit(X, y)
    assert capsys.readouterr() == ("", "")
    Classifier(random_state=0, max_iter=2, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    pattern = r"pass (\d)/2: (\d+) wrong rows of (\d+), \d+\.\d\d s\n"
    *_, n_first, _, _, n_last = re.fullmatch(pattern * 2, err).groups()
    # The first pass may leave out what it is judged by.
    assert int(n_first) in (80, 120) and n_last == "120"
    Classifier(verbose=1, early_stopping=True, max_iter=1).fit(X, y)
    assert re.search(r"dev accuracy \d+\.\d\d%", capsys.readouterr().err)


@every_classifier
def test_history_tells_what_every_pass_found(Classifier):
    X, y = data()
    history = Classifier(random_state=0, max_iter=4).fit(X, y).history_
    assert [record["epoch"] for record in history] == [1, 2, 3, 4]
    assert all(0 <= record["wrong_rows"] <= len(X) for record in history)
    assert history[0]["wrong_rows"] > 0
    assert all(record["seconds"] >= 0 for record in history)


@every_gaussian
def test_variances_shrink_from_the_prior(Classifier):
    X, y = data()
    fitted = Classifier(initial_variance=0.5, random_state=0).fit(X, y)
    assert fitted.coef_variance_.shape == fitted.coef_.shape
    assert fitted.intercept_variance_.shape == fitted.intercept_.shape
    assert (fitted.coef_variance_ < 0.5).all()
    assert (fitted.coef_variance_ > 0).all()


def test_more_features_than_a_piece_shows_are_kept_at_their_prior():
    classifier = MultiClassCW(random_state=0)
    X = sparse.csr_array(([1.0, 1.0], ([0, 1], [3, 5])), shape=(2, 1000))
    classifier.partial_fit(X, ["a", "b"], classes=["a", "b", "c"])
    assert classifier.coef_.shape == (3, 1000)
    assert set(np.nonzero(classifier.coef_)[1]) == {3, 5}
    assert (classifier.coef_variance_[:, 4] == 1).all()


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("averaging", [True, False])
def test_tables_that_were_side_by_side_end_apart_with_the_same_bits(
    Classifier, n_classes, averaging, monkeypatch
):
    X, y = data(n_classes)
    classifier = Classifier(averaging=averaging, random_state=0)
    beside = copy_of(classifier).fit(X, y)
    monkeypatch.setattr(_table_belief, "WIDEST_SHARED", 0)
    apart = copy_of(classifier).fit(X, y)
    for name, table in beside.belief_.tables().items():
        if table is not None:
            assert table.flags.c_contiguous, name
            assert_array_equal(table, apart.belief_.tables()[name])


def test_64_bit_indices_are_taken():
    X, y = data()
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    fitted = MultiClassCW(random_state=0).fit(wide, y)
    assert_same_model(fitted, MultiClassCW(random_state=0).fit(X, y))
    assert_array_equal(fitted.predict(wide), fitted.predict(X))


def test_more_features_than_32_bits_count_are_refused():
    X = sparse.csr_array(([1.0], ([0], [2**31])), shape=(2, 2**31 + 1))
    with pytest.raises(ValueError, match="2147483649 features, but at most"):
        MultiClassCW().fit(X, [0, 1])


@pytest.mark.parametrize(("n_rivals", "same_as"), [(2, 2), (5, 5), (9, 6), (None, 4)])
def test_the_joint_update_considers_the_rivals_that_were_asked_for(n_rivals, same_as):
    X, y = data(7, 140)
    fitted = {
        k: MultiClassCW(n_rivals=k, random_state=0, max_iter=2).fit(X, y).coef_
        for k in (n_rivals, 2, 4, 5, 6)
    }
    for k in (2, 4, 5, 6):
        equal = np.array_equal(fitted[n_rivals], fitted[k])
        assert equal == (k == same_as)
