"""Taggers in scikit-learn's cross-validation, searches and pipelines."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw._util.ragged import object_rows
from skcw.data import SequenceBatch, SequenceEncoder
from skcw.evaluation import get_scorer, get_scorer_names
from skcw.metrics import span_f1_score
from tests.integration.corpora import equal_lengths, features, featurize, news

TAGGERS = [
    CWSequenceTagger(random_state=0, max_iter=4),
    AROWSequenceTagger(random_state=0, max_iter=4),
    PASequenceTagger(random_state=0, max_iter=4),
    PerceptronSequenceTagger(random_state=0, max_iter=4),
    HMMSequenceTagger(),
    MaxEntSequenceTagger(random_state=0, tol=0.1),
    CRFSequenceTagger(max_iter=15),
]
tagger_cases = pytest.mark.parametrize(
    "tagger", TAGGERS, ids=lambda tagger: type(tagger).__name__
)


def cw(**params):
    return CWSequenceTagger(random_state=0, max_iter=4, **params)


def test_grid_search_over_phi_in_a_pipeline_from_words():
    X, y = news()
    pipeline = Pipeline(
        [("features", FunctionTransformer(featurize)), ("tagger", cw())]
    )
    search = GridSearchCV(
        pipeline,
        {"tagger__phi": [0.1, 1.0, 5.0]},
        cv=3,
        scoring=get_scorer("span_f1"),
    ).fit(X, y)
    assert search.best_params_["tagger__phi"] in (0.1, 1.0, 5.0)
    assert search.best_score_ > 0.4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X).shape == (len(X),)


def test_grid_search_over_phi_in_a_pipeline_with_an_encoder():
    X, y = features()
    pipeline = make_pipeline(SequenceEncoder(), cw())
    grid = {
        "cwsequencetagger__phi": [0.5, 2.0],
        "sequenceencoder__min_count": [1, 2],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.8


def test_an_encoder_before_the_tagger_changes_nothing():
    X, y = features()
    alone = cw().fit(X, y)
    pipeline = make_pipeline(SequenceEncoder(), cw()).fit(X, y)
    assert pipeline.predict(X).tolist() == alone.predict(X).tolist()
    assert pipeline.score(X, y) == alone.score(X, y)


@tagger_cases
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_tagger_is_searched_with_an_integer_cv(tagger, n_jobs):
    X, y = features(n_sequences=30)
    known = tagger.get_params()
    name = next(p for p in ("c2", "C", "word_smoothing", "max_iter") if p in known)
    search = GridSearchCV(tagger, {name: [1, 2]}, cv=3, n_jobs=n_jobs).fit(X, y)
    assert search.best_score_ > 0.5
    again = GridSearchCV(tagger, {name: [1, 2]}, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("lengths", ["ragged", "equal", "one"])
@pytest.mark.parametrize(
    "method",
    ["predict", "predict_confidence", "predict_marginals", "predict_entities"],
)
@tagger_cases
def test_cross_val_predict_gives_a_row_per_sequence(tagger, method, lengths):
    X, y = features(n_sequences=30)
    if lengths == "equal":
        X, y = equal_lengths(X, y)
    elif lengths == "one":
        X, y = equal_lengths(X, y, length=1)
    # scikit-learn knows four methods by name and refuses others, but for this switch.
    with sklearn.config_context(skip_parameter_validation=method != "predict"):
        rows = cross_val_predict(tagger, X, object_rows(y), cv=3, method=method)
    assert type(rows) is np.ndarray
    assert rows.dtype == object
    assert rows.shape == (len(X),)
    for train, test in KFold(3).split(X):
        fold = clone(tagger).fit([X[i] for i in train], [y[i] for i in train])
        expected = getattr(fold, method)([X[i] for i in test])
        for row, other in zip(rows[test], expected, strict=True):
            if method == "predict_confidence":
                assert row.dtype == np.float64
                np.testing.assert_array_equal(row, other)
            else:
                assert row == other


def test_cross_val_predict_takes_labels_as_lists():
    X, y = features(n_sequences=30)
    rows = cross_val_predict(cw(), X, y, cv=3)
    assert [len(row) for row in rows] == [len(labels) for labels in y]
    assert span_f1_score(y, rows) > 0.2


@tagger_cases
def test_cross_val_score_with_the_span_scorer(tagger):
    X, y = features(n_sequences=45)
    scores = cross_val_score(tagger, X, y, cv=3, scoring=get_scorer("span_f1"))
    assert scores.shape == (3,)
    assert ((scores > 0.1) & (scores <= 1)).all()


def test_cross_validate_with_all_scorers_at_once():
    X, y = features()
    scoring = {name: get_scorer(name) for name in get_scorer_names()}
    found = cross_validate(cw(), X, y, cv=3, scoring=scoring, return_train_score=True)
    for name in get_scorer_names():
        assert np.isfinite(found[f"test_{name}"]).all()
        if name.startswith(("sequence", "span", "token")):
            assert (found[f"train_{name}"] >= found[f"test_{name}"]).all()


def test_several_scorers_choose_by_the_one_named():
    X, y = features(n_sequences=45)
    scoring = {name: get_scorer(name) for name in ("span_f1", "token_accuracy")}
    search = GridSearchCV(
        cw(), {"phi": [0.1, 1.0]}, cv=3, scoring=scoring, refit="span_f1"
    ).fit(X, y)
    best = search.cv_results_["mean_test_span_f1"].max()
    assert search.best_score_ == best


@pytest.mark.parametrize("form", [list, tuple, object_rows])
def test_train_test_split_keeps_sequences_and_labels_together(form):
    X, y = features(n_sequences=30)
    parts = train_test_split(form(X), form(y), test_size=0.25, random_state=0)
    X_train, X_test, y_train, y_test = parts
    assert (len(X_train), len(X_test)) == (22, 8)
    for sequence, labels in zip(X_test, y_test, strict=True):
        assert len(sequence) == len(labels)
    assert cw().fit(X_train, y_train).score(X_test, y_test) > 0.5


class Watched(CWSequenceTagger):
    """Notes what kind of X reaches it."""

    seen = set()

    def fit(self, X, y, sample_weight=None):
        Watched.seen.add(("fit", type(X)))
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        Watched.seen.add(("predict", type(X)))
        return super().predict(X)


def test_a_batch_stays_a_batch_through_a_grid_search():
    X, y = features(n_sequences=45)
    batch = SequenceEncoder().fit_transform(X)
    Watched.seen.clear()
    grid = {"phi": [0.1, 1.0]}
    search = GridSearchCV(Watched(random_state=0), grid, cv=3).fit(batch, y)
    assert Watched.seen == {("fit", SequenceBatch), ("predict", SequenceBatch)}
    lists = GridSearchCV(Watched(random_state=0), grid, cv=3).fit(X, y)
    # Rare words of the other folds are known, but no weight was ever moved for them.
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"],
        lists.cv_results_["mean_test_score"],
        rtol=1e-12,
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_batches_are_split_by_every_splitter(n_jobs):
    X, y = features(n_sequences=40)
    batch = SequenceEncoder().fit_transform(X)
    groups = np.arange(len(X)) % 5
    for cv in (KFold(3, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0)):
        scores = cross_val_score(cw(), batch, y, cv=cv, n_jobs=n_jobs)
        assert np.isfinite(scores).all()
    scores = cross_val_score(cw(), batch, y, cv=GroupKFold(3), groups=groups)
    assert scores.shape == (3,)


def test_random_search_and_learning_curve_work():
    X, y = features(n_sequences=45)
    search = RandomizedSearchCV(
        cw(), {"phi": [0.1, 0.5, 1.0, 2.0]}, n_iter=2, cv=3, random_state=0
    )
    assert search.fit(X, y).best_score_ > 0.5
    sizes, train, test = learning_curve(
        cw(), X, y, cv=3, train_sizes=[10, 30], scoring=get_scorer("token_accuracy")
    )
    assert sizes.tolist() == [10, 30]
    assert train.shape == test.shape == (2, 3)


def halved(y):
    """Return weights that leave out every second sequence."""
    return np.arange(len(y)) % 2


def test_sample_weight_reaches_the_tagger_through_a_search():
    X, y = features(n_sequences=40)
    weight = halved(y)
    search = GridSearchCV(cw(shuffle=False), {"phi": ["auto"]}, cv=2)
    search.fit(X, y, sample_weight=weight)
    best = cw(shuffle=False).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.coef_, best.coef_)
    unweighted = cw(shuffle=False).fit(X, y)
    assert not np.array_equal(best.coef_, unweighted.coef_)


def test_sample_weight_reaches_the_tagger_in_a_pipeline():
    X, y = features(n_sequences=40)
    weight = halved(y)
    pipeline = make_pipeline(SequenceEncoder(), cw())
    pipeline.fit(X, y, cwsequencetagger__sample_weight=weight)
    best = cw().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(pipeline[-1].coef_, best.coef_)


def test_metadata_routing_brings_weights_to_fit_and_score():
    X, y = features(n_sequences=40)
    weight = halved(y).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        tagger = cw(shuffle=False)
        tagger = tagger.set_fit_request(sample_weight=True)
        tagger = tagger.set_score_request(sample_weight=True)
        search = GridSearchCV(tagger, {"phi": ["auto"]}, cv=2)
        search.fit(X, y, sample_weight=weight)
        fitted = search.best_estimator_.coef_
    expected = cw(shuffle=False).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(fitted, expected.coef_)
    folds = []
    for train, test in KFold(2).split(X):
        fold = cw(shuffle=False).fit(
            [X[i] for i in train], [y[i] for i in train], sample_weight=weight[train]
        )
        held_out = [X[i] for i in test], [y[i] for i in test]
        folds.append(fold.score(*held_out, sample_weight=weight[test]))
    np.testing.assert_allclose(search.best_score_, np.mean(folds), rtol=1e-12)


def test_routing_brings_weights_to_the_span_scorer():
    X, y = features(n_sequences=40)
    weight = halved(y).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("span_f1").set_score_request(sample_weight=True)
        tagger = cw().set_fit_request(sample_weight=True)
        found = cross_val_score(
            tagger, X, y, cv=2, scoring=scorer, params={"sample_weight": weight}
        )
    assert found.shape == (2,)


def test_held_out_data_reach_the_tagger_in_a_pipeline_with_features():
    X, y = features(n_sequences=40)
    X_dev, y_dev = features(seed=1, n_sequences=20)
    pipeline = Pipeline([("tagger", cw())])
    pipeline.fit(X, y, tagger__X_dev=X_dev, tagger__y_dev=y_dev)
    assert all("dev_score" in record for record in pipeline[-1].history_)
