"""Passes over a corpus: stopping, starting warm, weights, costs, progress."""

import re
from itertools import chain

import numpy as np
import pytest
from sklearn.base import clone

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    load,
    merge,
)
from skcw._model.examples import token_costs
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features
from skcw.metrics import span_f1_score
from skcw.utils.laws import make_tagged
from tests.integration.corpora import features

ONLINE = [
    CWSequenceTagger,
    AROWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
]
all_online = pytest.mark.parametrize("Tagger", ONLINE)
GAUSSIAN = [CWSequenceTagger, AROWSequenceTagger]


@pytest.fixture(scope="module")
def train():
    return make_tagged(CWSequenceTagger(), seed=0, n_sequences=60, noise=0.3)


@pytest.fixture(scope="module")
def dev():
    return make_tagged(CWSequenceTagger(), seed=1, n_sequences=30, noise=0.3)


# -- early stopping ------------------------------------------------------------------


def f1_of(tagger, data):
    return span_f1_score(data.y, tagger.predict(data.X))


@all_online
def test_labels_that_are_no_spans_are_judged_by_accuracy(Tagger, train, dev):
    plain = [[label[-3:] for label in row] for row in train.y]
    y_dev = [[label[-3:] for label in row] for row in dev.y]
    tagger = Tagger(random_state=0, max_iter=3)
    tagger.fit(train.X, plain, X_dev=dev.X, y_dev=y_dev)
    assert {record["dev_metric"] for record in tagger.history_} == {"accuracy"}
    best = max(record["dev_score"] for record in tagger.history_)
    assert tagger.score(dev.X, y_dev) == pytest.approx(best, rel=1e-12)


def test_a_span_of_an_unknown_label_is_missed(train, dev):
    y_dev = [*dev.y[:-1], ["B-new"] * len(dev.y[-1])]
    tagger = CWSequenceTagger(random_state=0, max_iter=1, constraints=None)
    tagger.fit(*train, X_dev=dev.X, y_dev=iter(y_dev))
    found = span_f1_score(y_dev, tagger.predict(dev.X))
    assert tagger.history_[0]["dev_score"] == pytest.approx(found, rel=1e-12)
    assert tagger.history_[0]["dev_metric"] == "span F1"


@all_online
def test_the_best_pass_on_held_out_data_is_kept(Tagger, train, dev):
    tagger = Tagger(
        random_state=0, max_iter=12, early_stopping={"n_iter_no_change": 12}
    )
    tagger.fit(*train, X_dev=dev.X, y_dev=dev.y)
    scores = [record["dev_score"] for record in tagger.history_]
    assert len(scores) == tagger.n_iter_ == 12
    assert f1_of(tagger, dev) == pytest.approx(max(scores), rel=1e-12)
    # The first of equally good passes, with the weights that it had.
    best = 1 + scores.index(max(scores))
    stopped = Tagger(random_state=0, max_iter=best).fit(*train)
    np.testing.assert_array_equal(tagger.coef_, stopped.coef_)


@all_online
def test_training_stops_when_held_out_data_gain_no_more(Tagger, train, dev):
    tagger = Tagger(
        random_state=0, max_iter=100, early_stopping={"n_iter_no_change": 2, "tol": 0.0}
    )
    tagger.fit(*train, X_dev=dev.X, y_dev=dev.y)
    scores = [record["dev_score"] for record in tagger.history_]
    assert tagger.n_iter_ < 100
    assert max(scores[:-2]) >= max(scores[-2:])


def test_a_gain_below_tol_does_not_prolong_training(train, dev):
    patient, hasty = (
        CWSequenceTagger(
            random_state=0,
            max_iter=50,
            early_stopping={"n_iter_no_change": 1, "tol": tol},
        )
        for tol in (0, 0.9)
    )
    patient.fit(*train, X_dev=dev.X, y_dev=dev.y)
    hasty.fit(*train, X_dev=dev.X, y_dev=dev.y)
    assert hasty.n_iter_ == 2
    assert patient.n_iter_ >= hasty.n_iter_
    # All the same the better of the two passes is the one kept.
    assert f1_of(hasty, dev) == max(record["dev_score"] for record in hasty.history_)


@all_online
def test_early_stopping_holds_out_a_share(Tagger, train):
    tagger = Tagger(
        random_state=0,
        max_iter=30,
        early_stopping={"validation_fraction": 0.5},
        margin_cost=0,
    ).fit(*train)
    first = tagger.history_[0]
    assert "dev_score" in first
    assert first["wrong_sequences"] <= 30
    again = Tagger(
        random_state=0,
        max_iter=30,
        early_stopping={"validation_fraction": 0.5},
        margin_cost=0,
    ).fit(*train)
    np.testing.assert_array_equal(tagger.coef_, again.coef_)


def test_held_out_sequences_teach_nothing():
    # One feature a sequence: those of held-out sequences keep their prior.
    X = [[[f"f{s}"], ["other"]] for s in range(40)]
    y = [["A" if s % 2 else "B", "C"] for s in range(40)]
    tagger = CWSequenceTagger(
        random_state=0, early_stopping={"validation_fraction": 0.25}
    ).fit(X, y)
    names = tagger.feature_names_
    variance = tagger.coef_variance_[[name.startswith("f") for name in names]]
    untouched = (variance == 1.0).all(axis=1)
    assert untouched.sum() >= 10


def test_each_of_several_models_keeps_its_best_pass(train, dev):
    tagger = CWSequenceTagger(random_state=0, n_models=3, max_iter=6)
    tagger.fit(*train, X_dev=dev.X, y_dev=dev.y)
    assert {record["model"] for record in tagger.history_} == {0, 1, 2}
    assert tagger.n_iter_ <= 6


@pytest.mark.parametrize("form", ["lists", "batch", "generator", "unknown labels"])
def test_held_out_data_come_in_any_form(form, train, dev):
    X, y, X_dev, y_dev = *train, *dev
    if form == "batch":
        encoder = SequenceEncoder()
        X, X_dev = encoder.fit_transform(X), encoder.transform(X_dev)
    elif form == "generator":
        X_dev, y_dev = iter(X_dev), iter(y_dev)
    elif form == "unknown labels":
        y_dev = [["?"] * len(labels) for labels in y_dev]
    tagger = CWSequenceTagger(random_state=0, max_iter=3)
    tagger.fit(X, y, X_dev=X_dev, y_dev=y_dev)
    scores = [record["dev_score"] for record in tagger.history_]
    if form == "unknown labels":
        assert scores == [0.0] * 3
    else:
        expected = CWSequenceTagger(random_state=0, max_iter=3)
        expected.fit(*train, X_dev=dev.X, y_dev=dev.y)
        assert scores == [record["dev_score"] for record in expected.history_]


def test_too_little_or_half_given_held_out_data_are_refused(train, dev):
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        CWSequenceTagger().fit(*train, X_dev=dev.X)
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        CWSequenceTagger().fit(*train, y_dev=dev.y)
    with pytest.raises(ValueError, match="early stopping leaves no training data"):
        CWSequenceTagger(early_stopping=True).fit(train.X[:1], train.y[:1])
    with pytest.raises(ValueError, match="sequence 0 has"):
        CWSequenceTagger().fit(*train, X_dev=dev.X, y_dev=[["O"] * 99, *dev.y[1:]])


# -- starting warm -------------------------------------------------------------------


@all_online
def test_a_warm_start_continues(Tagger, train):
    plain = {"shuffle": False, "averaging": False, "dtype": "float64"}
    whole = Tagger(max_iter=4, **plain).fit(*train)
    warm = Tagger(max_iter=1, warm_start=True, **plain)
    for _ in range(4):
        warm.fit(*train)
    np.testing.assert_array_equal(warm.coef_, whole.coef_)
    np.testing.assert_array_equal(warm.transition_coef_, whole.transition_coef_)


def test_a_cold_start_does_not(train):
    once = CWSequenceTagger(random_state=0).fit(*train)
    twice = CWSequenceTagger(random_state=0).fit(*train).fit(*train)
    np.testing.assert_array_equal(once.coef_, twice.coef_)


def test_a_warm_start_learns_new_words_and_labels(train):
    # An average over all rounds would come round to the new data only slowly.
    warm = CWSequenceTagger(random_state=0, warm_start=True, averaging=False)
    warm.fit(*train)
    known = list(warm.classes_)
    warm.fit([[["strange"], ["words"]]] * 5, [["NEW", "NEW"]] * 5)
    assert list(warm.classes_) == [*known, "NEW"]
    assert warm.predict([[["strange"], ["words"]]])[0] == ["NEW", "NEW"]
    assert warm.score(*train) > 0.5


def test_a_second_fit_may_have_another_kind_of_features(train):
    tagger = CWSequenceTagger(random_state=0).fit([np.eye(2)], [["A", "B"]])
    assert tagger.n_features_in_ == 2
    tagger.fit(*train)
    assert not hasattr(tagger, "n_features_in_")
    tagger.fit([np.eye(3)], [["A", "B", "A"]])
    assert tagger.n_features_in_ == 3
    assert tagger.feature_names_.tolist() == ["x0", "x1", "x2"]


# -- partial_fit ---------------------------------------------------------------------


@all_online
def test_partial_fit_after_fit_continues(Tagger, train, dev):
    plain = {"shuffle": False, "averaging": False, "max_iter": 1, "dtype": "float64"}
    tagger = Tagger(**plain).fit(*train).partial_fit(*dev)
    labels = list(tagger.classes_)
    whole = Tagger(**plain).partial_fit([], [], classes=labels)
    whole.partial_fit(train.X + dev.X, train.y + dev.y)
    assert tagger.score(*dev) > 0.6
    np.testing.assert_array_equal(tagger.coef_, whole.coef_)


def weights_of_others(tagger, X):
    """Return the weights of the features that these sequences do not have."""
    known = set(chain.from_iterable(chain.from_iterable(X)))
    others = [name not in known for name in tagger.feature_names_]
    assert any(others)
    return tagger.coef_[others]


@all_online
def test_what_comes_after_a_fit_goes_on_from_its_average(Tagger, train, dev):
    tagger = Tagger(random_state=0, max_iter=3, averaging=True).fit(*train)
    average = weights_of_others(tagger, dev.X[:1])
    tagger.set_params(averaging=False).partial_fit(dev.X[:1], dev.y[:1])
    # The last weights of the fit would show where the new sentence changes nothing.
    np.testing.assert_array_equal(weights_of_others(tagger, dev.X[:1]), average)


@all_online
def test_a_new_label_goes_on_from_the_average_so_far(Tagger, train):
    tagger = Tagger(random_state=0, averaging=True).partial_fit(*train)
    average = weights_of_others(tagger, train.X[:1])
    new = [["NEW"] * len(train.y[0])]
    tagger.set_params(averaging=False).partial_fit(train.X[:1], new)
    old, added = np.split(weights_of_others(tagger, train.X[:1]), [-1], axis=1)
    np.testing.assert_array_equal(old, average)
    assert not added.any()


def test_labels_may_come_one_by_one_beyond_any_width():
    # Rows are padded to eight labels: growth passes through 8, 16 and 24.
    tagger = CWSequenceTagger(shuffle=False, averaging=False, margin_cost=0)
    for i in range(26):
        for _ in range(3):
            tagger.partial_fit([[[f"w{i}"], ["end"]]], [[f"L{i}", "END"]])
    assert len(tagger.classes_) == 27
    found = tagger.predict([[[f"w{i}"], ["end"]] for i in range(26)])
    right = [row[0] == f"L{i}" for i, row in enumerate(found)]
    assert np.mean(right) > 0.9
    assert (tagger.coef_variance_ > 0).all()


@pytest.mark.parametrize("change", [{"dtype": "float64"}, {"averaging": False}])
def test_parameters_may_change_between_pieces(change, train, dev):
    tagger = CWSequenceTagger(random_state=0, constraints="BIO")
    valued = [[dict.fromkeys(token, 0.5) for token in x] for x in train.X]
    tagger.partial_fit(valued, train.y).set_params(**change)
    tagger.partial_fit(*dev)
    assert tagger.coef_.dtype == tagger.dtype
    assert (tagger.belief_.average is None) == (not tagger.averaging)
    assert tagger.score(*dev) > 0.6


# -- defaults that follow the number of features -------------------------------------


def with_features(data, n):
    """Return the sequences with n features for every token that say the same."""
    return [[[f"{k}={token[0]}" for k in range(n)] for token in x] for x in data.X]


@pytest.mark.parametrize(("n_features", "phi"), [(1, 0.25), (36, 1.0), (100, 1.5)])
def test_phi_follows_the_number_of_features(n_features, phi, train, dev, tmp_path):
    X = with_features(train, n_features)
    usual = CWSequenceTagger(random_state=0, max_iter=2)
    auto = clone(usual).fit(X, train.y)
    assert auto.phi_ == pytest.approx(phi, rel=1e-12)
    given = clone(usual).set_params(phi=phi).fit(X, train.y)
    np.testing.assert_allclose(auto.coef_, given.coef_, rtol=1e-5, atol=1e-6)
    # What was learned with one phi goes on with it, also from a file.
    auto.save(tmp_path / "tagger")
    again = load(tmp_path / "tagger").partial_fit(with_features(dev, 50), dev.y)
    assert again.phi_ == auto.phi_


def test_phi_follows_neither_the_unit_nor_one_large_column(tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 36)) for _ in range(20)]
    y = [["yes" if row[0] > 0 else "no" for row in x] for x in X]
    large = [np.where(np.arange(36) == 0, 1e4, 1.0) * x for x in X]
    one = CWSequenceTagger(random_state=0, max_iter=1)
    phi, scaled, alone = (
        clone(one).fit(numbers, y).phi_ for numbers in (X, [1e3 * x for x in X], large)
    )
    assert 0.6 < phi < 1.0 and scaled == pytest.approx(phi, rel=1e-9) and alone == 0.25
    tagger = clone(one).fit(X, y)
    tagger.save(tmp_path / "tagger")
    assert load(tmp_path / "tagger").phi_ == merge([tagger, tagger]).phi_ == phi


@pytest.mark.parametrize("n_features", [4, 10])
def test_later_passes_count_more_where_tokens_have_many_features(n_features, train):
    plain = {"dtype": "float64", "calibrate_confidence": False, "random_state": 0}
    usual = CWSequenceTagger(**plain, learn_unknown_token=False)
    X = with_features(train, n_features)

    def weights(averaging, max_iter):
        tagger = clone(usual).set_params(averaging=averaging, max_iter=max_iter)
        return tagger.fit(X, train.y).coef_

    first, both = weights(True, 1), weights(True, 2)
    # Both are (first + second) / 2; the second counts twice where there are many.
    wanted = (4 * both - first) / 3 if n_features == 10 else both
    np.testing.assert_allclose(weights("auto", 2), wanted, rtol=1e-9, atol=1e-12)
    assert not np.allclose(first, both)


def test_averaging_may_begin_late(train, dev):
    tagger = CWSequenceTagger(random_state=0, averaging=False).partial_fit(*train)
    last = tagger.coef_
    tagger.set_params(averaging=True).partial_fit([], [])
    np.testing.assert_array_equal(tagger.coef_, last)
    tagger.partial_fit(*dev)
    assert not np.array_equal(tagger.coef_, tagger.belief_.feature_weights("mean"))


def test_parameters_are_checked_before_every_piece(train):
    tagger = CWSequenceTagger(random_state=0).fit(*train)
    before = tagger.coef_
    with pytest.raises(ValueError, match="phi"):
        tagger.set_params(phi=-1).partial_fit(*train)
    np.testing.assert_array_equal(tagger.coef_, before)


def test_min_count_speaks_of_fit_alone(train):
    tagger = CWSequenceTagger(random_state=0, min_count=3).fit(*train)
    assert len(tagger.feature_names_) < len(
        CWSequenceTagger().fit(*train).feature_names_
    )
    tagger.partial_fit([[["once"]]], [["O"]])
    assert tagger.feature_names_[-1] == "once"
    fresh = CWSequenceTagger(min_count=3).partial_fit([[["once"]]], [["O"]])
    assert fresh.feature_names_.tolist() == ["once"]


def test_min_count_cannot_change_a_batch(train):
    batch = SequenceEncoder().fit_transform(train.X)
    with pytest.raises(ValueError, match=r"min_count.*SequenceEncoder"):
        CWSequenceTagger(min_count=2).fit(batch, train.y)
    encoder = SequenceEncoder(min_count=2)
    by_encoder = CWSequenceTagger(random_state=0).fit(
        encoder.fit_transform(train.X), train.y
    )
    by_tagger = CWSequenceTagger(random_state=0, min_count=2).fit(*train)
    np.testing.assert_array_equal(by_encoder.coef_, by_tagger.coef_)


# -- weights and costs ---------------------------------------------------------------


@all_online
@pytest.mark.parametrize("averaging", [True, False])
def test_a_weight_presents_a_sequence_so_often_in_a_row(Tagger, averaging, train):
    copies = [1 + s % 3 for s in range(len(train.X))]
    plain = {"shuffle": False, "averaging": averaging, "max_iter": 3}
    # Which sequences are held out depends on their number.
    plain["calibrate_confidence"] = False
    weighted = Tagger(**plain).fit(*train, sample_weight=copies)
    X = [x for x, n in zip(train.X, copies, strict=True) for _ in range(n)]
    y = [x for x, n in zip(train.y, copies, strict=True) for _ in range(n)]
    np.testing.assert_array_equal(weighted.coef_, Tagger(**plain).fit(X, y).coef_)


@all_online
def test_a_fraction_scales_the_step(Tagger):
    X, y = [[["a"]]], [["B"]]

    def step(weight):
        tagger = Tagger(max_iter=1, averaging=False, dtype="float64")
        tagger.partial_fit([], [], classes=["A", "B"])
        return tagger.partial_fit(X, y, sample_weight=[weight]).coef_[0]

    np.testing.assert_allclose(step(0.25), 0.25 * step(1.0), rtol=1e-12)


@all_online
def test_a_weight_of_zero_leaves_a_sequence_out(Tagger, train):
    poisoned = [["O"] * len(labels) for labels in train.y]
    weight = [1.0] * len(train.X) + [0.0] * len(train.X)
    plain = {"shuffle": False, "averaging": False}
    tagger = Tagger(**plain).fit(
        train.X + train.X, train.y + poisoned, sample_weight=weight
    )
    clean = Tagger(**plain).fit(*train)
    np.testing.assert_array_equal(tagger.coef_, clean.coef_)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], r"sample_weight\[1\] is -1"),
        ([np.nan, 1.0], r"sample_weight\[0\] is nan"),
        ([1.0, np.inf], r"sample_weight\[1\] is inf"),
        ([1.0, 1e300], r"sample_weight\[1\] is 1e"),
        ([0.0, 0.0], "sample_weight is zero for all 2"),
        ([1.0], r"shape \(1,\)"),
        ([[1.0, 1.0]], r"shape \(1, 2\)"),
        (2.0, r"shape \(\)"),
    ],
    ids=str,
)
def test_bad_weights_are_refused(weight, message):
    X, y = [[["a"]], [["b"]]], [["A"], ["B"]]
    for door in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(CWSequenceTagger(), door)(X, y, sample_weight=weight)


RARE = {"B-MISC", "I-MISC"}


def recall_and_share(tagger, X, y):
    """Return how many words of the rare class are found, and how many are named so."""
    gold = [label for labels in y for label in labels]
    found = [label for labels in tagger.predict(X) for label in labels]
    hits = [a == b for a, b in zip(gold, found, strict=True) if a in RARE]
    return np.mean(hits), np.mean([label in RARE for label in found])


@all_online
@pytest.mark.parametrize("class_weight", [dict.fromkeys(RARE, 5.0), "balanced"])
def test_a_heavier_class_is_found_more_often(Tagger, class_weight):
    train, test = features(0, 150), features(1, 150)
    plain = Tagger(random_state=0, max_iter=5).fit(*train)
    heavy = Tagger(random_state=0, max_iter=5, class_weight=class_weight).fit(*train)
    recall, share = recall_and_share(plain, *test)
    more_recall, more_share = recall_and_share(heavy, *test)
    assert more_recall > recall
    assert more_share > share


def test_weights_of_one_for_all_classes_change_nothing(train):
    plain = CWSequenceTagger(random_state=0).fit(*train)
    ones = CWSequenceTagger(random_state=0, class_weight={"O": 1}).fit(*train)
    np.testing.assert_array_equal(plain.coef_, ones.coef_)
    ones.set_params(class_weight={**dict.fromkeys(plain.classes_, 1), "?": 1})
    np.testing.assert_array_equal(plain.coef_, ones.fit(*train).coef_)


def test_class_weights_of_labels_that_the_data_lack_are_refused(train):
    tagger = CWSequenceTagger(class_weight={"?": 2})
    with pytest.raises(ValueError, match=r"'\?', which is none of: 'B") as error:
        tagger.fit(*train)
    # As in scikit-learn; it lets weights of all labels pass, see above.
    assert "a fold may lack a rare label" in str(error.value)
    # A later piece may bring it.
    assert "?" not in tagger.partial_fit(*train).classes_


def test_balanced_costs_fall_with_the_root_of_the_share_and_are_bounded():
    counts = np.array([90, 9, 1, 0])
    cost = token_costs("balanced", ["a", "b", "c", "never"], counts, False)
    shares = np.array([0.9, 0.09, 0.01])
    np.testing.assert_allclose(shares @ cost[:3], 1.0, rtol=0.05)
    np.testing.assert_allclose(cost[1] / cost[0], np.sqrt(10.0), rtol=1e-12)
    assert cost[2] == 5.0
    assert cost[3] == 1.0
    # Where no label is rare, nothing is cut.
    even = token_costs("balanced", ["a", "b"], np.array([3, 1]), False)
    np.testing.assert_allclose(np.array([0.75, 0.25]) @ even, 1.0, rtol=1e-12)


def test_balanced_classes_need_all_of_the_data(train):
    with pytest.raises(ValueError, match=r"balanced.*partial_fit"):
        CWSequenceTagger(class_weight="balanced").partial_fit(*train)


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf, 1e11, "2", None])
def test_bad_class_weights_are_named(weight, train):
    with pytest.raises(ValueError, match="class_weight of 'O'"):
        CWSequenceTagger(class_weight={"O": weight}).fit(*train)


# -- several models ------------------------------------------------------------------


@pytest.mark.parametrize("Tagger", GAUSSIAN)
def test_several_models_are_the_mean_of_their_gaussians(Tagger, train):
    # Where confidence is learned, each of four models leaves a part out.
    several = Tagger(
        random_state=0, n_models=4, dtype="float64", calibrate_confidence=False
    ).fit(*train)
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=4)
    means, precisions = [], []
    for seed in seeds:
        # The seed of a model is drawn from that of all; this undoes the drawing.
        one = Tagger(random_state=FixedSeed(seed), dtype="float64").fit(*train)
        means.append(one.coef_)
        precisions.append(1 / one.coef_variance_)
    np.testing.assert_allclose(several.coef_, np.mean(means, axis=0), rtol=1e-9)
    np.testing.assert_allclose(
        several.coef_variance_, 1 / np.mean(precisions, axis=0), rtol=1e-9
    )


class FixedSeed(np.random.RandomState):
    """A random state whose first draw is known."""

    def __init__(self, seed):
        super().__init__(0)
        self.fixed = seed

    def randint(self, *args, **kwargs):
        return np.array([self.fixed])


def test_several_models_continue_as_one(train, dev):
    tagger = CWSequenceTagger(random_state=0, n_models=3).fit(*train)
    before = tagger.coef_variance_
    tagger.partial_fit(*dev)
    assert {record["model"] for record in tagger.history_} == {0}
    after = tagger.coef_variance_[: len(before)]
    assert (after <= before).all()


# -- progress ------------------------------------------------------------------------


@all_online
def test_nothing_is_printed_unless_asked_for(Tagger, train, capfd):
    Tagger(max_iter=2).fit(*train).partial_fit(*train).predict(train.X)
    assert capfd.readouterr() == ("", "")


@all_online
def test_verbose_prints_a_line_per_pass_to_standard_error(Tagger, train, dev, capfd):
    tagger = Tagger(max_iter=3, verbose=1, early_stopping={"n_iter_no_change": 9})
    tagger.fit(*train, X_dev=dev.X, y_dev=dev.y)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 3
    for i, line in enumerate(lines, start=1):
        assert re.match(rf"pass {i}/3: \d+ .*dev span F1 \d+\.\d\d%", line)


@pytest.mark.parametrize("verbose", [0, 1])
def test_sequences_that_catch_up_print_nothing(verbose, capfd):
    X, y = make_tagged_corpus(100, random_state=0, return_X_y=True)
    tagger = CWSequenceTagger(max_iter=2, verbose=verbose, random_state=0).fit(X, y)
    assert tagger.confidence_source_ == "held-out"
    assert len(capfd.readouterr().err.splitlines()) == 2 * verbose


def test_several_models_print_their_own_lines(train, capfd):
    CWSequenceTagger(max_iter=2, n_models=2, verbose=1).fit(*train)
    assert len(capfd.readouterr().err.splitlines()) == 4


@all_online
def test_history_tells_every_pass(Tagger, train):
    tagger = Tagger(random_state=0, max_iter=5, margin_cost=0).fit(*train)
    assert [record["epoch"] for record in tagger.history_] == [1, 2, 3, 4, 5]
    assert tagger.n_iter_ == 5
    n_tokens = sum(map(len, train.y))
    for record in tagger.history_:
        assert 0 <= record["wrong_sequences"] <= len(train.X)
        assert record["wrong_sequences"] <= record["wrong_tokens"] <= n_tokens
        assert record["seconds"] >= 0
    first, last = tagger.history_[0], tagger.history_[-1]
    assert last["wrong_tokens"] < first["wrong_tokens"]


@all_online
def test_a_pass_counts_words_that_the_model_gets_wrong(Tagger, train, capsys):
    settings = {"random_state": 0, "shuffle": False, "averaging": False}
    tagger = Tagger(**settings, margin_cost=1, verbose=1)
    wrong = 0
    for x, y in zip(*train, strict=True):
        if hasattr(tagger, "classes_"):
            (labels,) = tagger.predict([x])
            found = sum(a != b for a, b in zip(labels, y, strict=True))
            tagger.partial_fit([x], [y])
            assert tagger.history_[0]["wrong_tokens"] == found
            assert tagger.history_[0]["wrong_sequences"] == (found > 0)
            wrong += found
        else:
            tagger.partial_fit([x], [y], classes=sorted({*chain(*train.y)}))
    assert wrong > 0
    capsys.readouterr()
    rivals = Tagger(**settings, margin_cost=1).fit(*train).history_[-1]
    shown = Tagger(**settings, margin_cost=1, verbose=1).fit(*train).history_[-1]
    assert rivals["rival_tokens"] >= shown["wrong_tokens"]
    assert "wrong_tokens" not in rivals


# -- order ---------------------------------------------------------------------------


def test_seeds_differ_and_no_seed_is_a_new_one(train):
    fits = [CWSequenceTagger(random_state=seed).fit(*train).coef_ for seed in (0, 1)]
    assert not np.array_equal(*fits)
    unshuffled = [CWSequenceTagger(shuffle=False).fit(*train).coef_ for _ in "ab"]
    np.testing.assert_array_equal(*unshuffled)


def test_generators_of_generators_are_read_once(train):
    def sequences():
        for sequence in train.X:
            yield (iter(token) for token in sequence)

    def labels():
        for row in train.y:
            yield iter(row)

    one = CWSequenceTagger(random_state=0).fit(sequences(), labels())
    other = CWSequenceTagger(random_state=0).fit(*train)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.predict(sequences()).tolist() == other.predict(train.X).tolist()
    assert one.predict_entities(sequences()).shape == (len(train.X),)


@all_online
def test_a_label_that_appears_after_fit_is_soon_predicted(Tagger):
    corpus = make_tagged_corpus(500, random_state=0)
    X = [basic_features(tokens) for tokens in corpus.tokens]
    dated = [any(label.endswith("DATE") for label in row) for row in corpus.labels]
    old = [i for i in range(400) if not dated[i]]
    new = [i for i in range(400) if dated[i]]
    test = [i for i in range(400, 500) if dated[i]]
    tagger = Tagger(random_state=0)
    tagger.fit([X[i] for i in old], [corpus.labels[i] for i in old])
    tagger.partial_fit([X[i] for i in new], [corpus.labels[i] for i in new])
    gold = np.concatenate([corpus.labels[i] for i in test])
    guess = np.concatenate(tagger.predict([X[i] for i in test]))
    wanted = np.char.endswith(gold.astype(str), "DATE")
    assert (guess == gold)[wanted].mean() > 0.7


def test_the_progress_of_several_models_names_each_of_them(capsys):
    X, y = [["a", "b"]], [["A", "B"]]
    CWSequenceTagger(n_models=2, max_iter=1, verbose=1, random_state=0).fit(X, y)
    lines = sorted(capsys.readouterr().err.splitlines())
    assert [line[:8] for line in lines] == ["model 1,", "model 2,"]


@pytest.mark.parametrize("weight", [10_001, 1e6, 1e300])
def test_a_weight_is_at_most_ten_thousand_presentations(weight):
    X, y = [["a"], ["b"]], [["A"], ["B"]]
    for tagger in (CWSequenceTagger(), CRFSequenceTagger()):
        with pytest.raises(ValueError, match=r"sample_weight\[1\] is .* at most 10000"):
            tagger.fit(X, y, sample_weight=[1, weight])
