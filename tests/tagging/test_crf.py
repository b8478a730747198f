"""CRFSequenceTagger against sklearn_crfsuite.CRF, and against its faults."""

import io
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pycrfsuite
import pytest
import sklearn_crfsuite
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.utils.validation import check_is_fitted

from skcw import load
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ForeignBatchError
from skcw.features.basic import basic_features
from skcw.io.loading import without_seconds
from skcw.tagging import CRFSequenceTagger
from skcw.tagging.crfsuite import ALGORITHMS

QUICK = {"c1": 0.05, "c2": 0.05, "max_iter": 20}


def featured(corpus):
    return [basic_features(tokens) for tokens in corpus.tokens]


@pytest.fixture(scope="module")
def corpus():
    train, test = (make_tagged_corpus(80, random_state=seed) for seed in (0, 1))
    return featured(train), train.labels, featured(test), test.labels


@pytest.fixture(scope="module")
def fitted(corpus):
    X, y, _, _ = corpus
    return CRFSequenceTagger(**QUICK).fit(X, y)


@pytest.fixture(scope="module")
def original(corpus):
    X, y, _, _ = corpus
    return sklearn_crfsuite.CRF("lbfgs", c1=0.05, c2=0.05, max_iterations=20).fit(X, y)


def toy(lengths, seed=0):
    """Return sequences of the given lengths whose labels follow their words."""
    rng = np.random.RandomState(seed)
    X = [[["bias", f"w={rng.randint(5)}"] for _ in range(n)] for n in lengths]
    y = [[f"L{int(token[1][2:]) % 3}" for token in sequence] for sequence in X]
    return X, y


def written(tagger):
    """Return the bytes of the model as a file of CRFsuite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        tagger.to_crfsuite(path)
        return path.read_bytes()


def as_lists(rows):
    return [list(row) for row in rows]


# The same model as sklearn-crfsuite


def test_labels_equal_those_of_sklearn_crfsuite(corpus, fitted, original):
    X = corpus[2]
    assert as_lists(fitted.predict(X)) == as_lists(original.predict(X))


def test_marginals_equal_those_of_sklearn_crfsuite(corpus, fitted, original):
    X = corpus[2]
    same_marginals(fitted.predict_marginals(X), original.predict_marginals(X))


def same_marginals(ours, theirs):
    for mine, row in zip(ours, theirs, strict=True):
        for one, other in zip(mine, row, strict=True):
            assert one.keys() == other.keys()
            assert_allclose([one[k] for k in other], list(other.values()), rtol=1e-9)


def test_dicts_are_read_as_sklearn_crfsuite_reads_them():
    X = [
        [
            {"word": "a", "n": 2.5, "yes": True, "in": {"x": "y", "z": 0.5}},
            {"word": "b", "set": {"p"}, "list": ["q", "r"], "whole": 3},
        ],
        [{"word": "a", "no": False}],
    ]
    y = [["A", "B"], ["A"]]
    ours = CRFSequenceTagger().fit(X, y)
    theirs = sklearn_crfsuite.CRF(algorithm="lbfgs").fit(X, y)
    assert set(ours.attributes_) == set(theirs.attributes_)
    same_marginals(ours.predict_marginals(X), theirs.predict_marginals(X))


def test_weights_equal_the_printed_ones_but_are_exact(fitted, original):
    for name in ("state_features_", "transition_features_"):
        exact, printed = getattr(fitted, name), getattr(original, name)
        assert exact.keys() == printed.keys()
        assert_allclose(
            list(exact.values()), [printed[key] for key in exact], rtol=0, atol=5.1e-7
        )
    assert fitted.attributes_ == original.attributes_
    assert len(written(fitted)) == original.size_


def test_weights_survive_names_that_break_the_printed_form():
    X = [[["a --> B: 1.0", "two\nlines"], ["é "]]]
    tagger = CRFSequenceTagger().fit(X, [["A", "B"]])
    assert set(tagger.attributes_) == {"a --> B: 1.0", "two\nlines", "é "}


def test_classes_come_in_order_of_first_appearance():
    X = [[["a"], ["b"]], [["c"], ["a"]]]
    tagger = CRFSequenceTagger().fit(X, [["Z", "B"], ["A", "Z"]])
    assert tagger.classes_.tolist() == ["Z", "B", "A"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns(corpus, algorithm):
    X, y, _, _ = corpus
    tagger = CRFSequenceTagger(algorithm, max_iter=5, random_state=0)
    assert tagger.fit(X, y).score(X, y) > 0.8
    assert 1 <= tagger.n_iter_ <= 5


@pytest.mark.parametrize("algorithm", ["l2sgd", "ap", "pa", "arow"])
def test_same_seed_gives_same_model_whatever_was_fitted_before(corpus, algorithm):
    X, y, _, _ = corpus
    tagger = CRFSequenceTagger(algorithm, max_iter=3, random_state=7)
    first = written(tagger.fit(X, y))
    clone(tagger).set_params(random_state=8).fit(X, y)
    assert written(tagger.fit(X, y)) == first


def test_crfsuite_gets_any_seed_of_31_bits():
    seeds = [CRFSequenceTagger(random_state=i)._seed() for i in range(100)]
    # Drawn from all of them, a hundred are different but for two cases in a million.
    assert len(set(seeds)) == 100 and 2**30 < max(seeds) < 2**31
    assert CRFSequenceTagger()._seed() is None


def test_renaming_labels_renames_the_predictions(corpus, fitted):
    X, y, X_test, _ = corpus
    renamed = [[f"~{label[::-1]}" for label in row] for row in y]
    other = clone(fitted).fit(X, renamed)
    for row, row_renamed in zip(
        fitted.predict(X_test), other.predict(X_test), strict=True
    ):
        assert [f"~{label[::-1]}" for label in row] == row_renamed


def test_the_model_bytes_open_in_pycrfsuite(corpus, fitted):
    # CRFsuite does not copy the bytes: the name keeps them alive.
    tagger, model = pycrfsuite.Tagger(), written(fitted)
    with tagger.open_inmemory(model):
        assert tagger.tag(corpus[2][0]) == fitted.predict_single(corpus[2][0])


# The shape of what comes out


@pytest.mark.parametrize("lengths", [[3, 3, 3], [2, 0, 5], [1], []])
def test_rows_are_one_dimensional_whatever_the_lengths(lengths):
    tagger = CRFSequenceTagger().fit(*toy([4, 3, 5, 2]))
    X, _ = toy(lengths, seed=1)
    for method in (
        tagger.predict,
        tagger.predict_confidence,
        tagger.predict_marginals,
        tagger.predict_entities,
        lambda X: tagger.predict_nbest(X, 3),
    ):
        rows = method(X)
        assert isinstance(rows, np.ndarray)
        assert rows.dtype == object and rows.shape == (len(lengths),)
    for length, labels, confidence, marginals in zip(
        lengths,
        tagger.predict(X),
        tagger.predict_confidence(X),
        tagger.predict_marginals(X),
        strict=True,
    ):
        assert type(labels) is list and len(labels) == length
        assert all(type(label) is str for label in labels)
        assert confidence.dtype == np.float64 and confidence.shape == (length,)
        assert type(marginals) is list and len(marginals) == length
        assert all(list(row) == tagger.classes_.tolist() for row in marginals)


def test_confidence_is_the_marginal_of_the_predicted_label(corpus, fitted):
    X = corpus[2]
    for labels, marginals, confidence in zip(
        fitted.predict(X),
        fitted.predict_marginals(X),
        fitted.predict_confidence(X, method="marginal"),
        strict=True,
    ):
        expected = [row[label] for row, label in zip(marginals, labels, strict=True)]
        assert_allclose(confidence, expected, rtol=1e-12)
        assert (confidence <= 1).all()
        assert_allclose([sum(row.values()) for row in marginals], 1.0, rtol=1e-9)


def test_entities_carry_the_least_confidence_of_their_words(corpus, fitted):
    X = corpus[2]
    n_entities = 0
    for labels, confidence, entities in zip(
        fitted.predict(X),
        fitted.predict_confidence(X),
        fitted.predict_entities(X),
        strict=True,
    ):
        for label, start, end, sure in entities:
            n_entities += 1
            assert labels[start][2:] == label
            assert sure == confidence[start:end].min()
    assert n_entities > 50


def test_score_is_the_share_of_right_words():
    X, y = toy([3, 1, 0, 4])
    tagger = CRFSequenceTagger(c2=0.01).fit(X, y)
    wrong = [["?"] * len(row) for row in y]
    assert tagger.score(X, y) == 1.0
    assert tagger.score(X, [y[0], *wrong[1:]]) == 3 / 8
    assert tagger.score(X, [y[0], *wrong[1:]], sample_weight=[1, 0, 0, 2]) == 3 / 11


# n-best


def test_best_labeling_is_the_predicted_one_with_its_probability(corpus, fitted):
    X = corpus[2]
    # CRFsuite does not copy the bytes: the name keeps them alive.
    tagger, model = pycrfsuite.Tagger(), written(fitted)
    with tagger.open_inmemory(model):
        for sequence, labels, nbest in zip(
            X, fitted.predict(X), fitted.predict_nbest(X, 4), strict=True
        ):
            assert nbest[0][0] == labels
            tagger.set(sequence)
            for row, log_probability in nbest:
                assert_allclose(
                    log_probability,
                    np.log(tagger.probability(row)),
                    rtol=1e-9,
                    atol=1e-12,
                )


def test_nbest_holds_every_labeling_once_if_asked_for_more():
    tagger = CRFSequenceTagger(all_possible_transitions=True).fit(*toy([4, 3, 5, 2]))
    X, _ = toy([3], seed=3)
    (nbest,) = tagger.predict_nbest(X, 100)
    assert len({tuple(labels) for labels, _ in nbest}) == len(nbest) == 3**3
    scores = [score for _, score in nbest]
    assert scores == sorted(scores, reverse=True)
    assert_allclose(np.exp(scores).sum(), 1.0, rtol=1e-12)


def test_nbest_reads_nested_and_repeated_features_as_crfsuite_does():
    X = [[{"w": {"a": 2.0, "b": ["c"]}, "s": "t"}, ["x", "x", "y"], {"n": -1.5}]]
    tagger = CRFSequenceTagger().fit(X, [["A", "B", "A"]])
    labels, score = tagger.predict_nbest(X, 1)[0][0]
    (marginals,) = tagger.predict_marginals(X)
    crfsuite, model = pycrfsuite.Tagger(), written(tagger)
    with crfsuite.open_inmemory(model):
        crfsuite.set(X[0])
        assert_allclose(score, np.log(crfsuite.probability(labels)), rtol=1e-10)
    assert len(marginals) == 3


@pytest.mark.parametrize("n", [0, -1, 1.5, "2"])
def test_nbest_refuses_a_bad_number(fitted, n):
    with pytest.raises(ValueError, match="n must be"):
        fitted.predict_nbest([], n)


# Every form of input


def test_a_plain_string_is_one_feature_and_not_its_letters():
    X = [["the", "cat"], ["cat"]]
    tagger = CRFSequenceTagger().fit(X, [["D", "N"], ["N"]])
    assert set(tagger.attributes_) == {"the", "cat"}


def test_lists_tuples_sets_arrays_and_generators_are_the_same_tokens():
    X, y = toy([3, 4, 2])
    expected = written(CRFSequenceTagger().fit(X, y))
    forms = [
        [[tuple(token) for token in sequence] for sequence in X],
        [[np.array(token) for token in sequence] for sequence in X],
        [[dict.fromkeys(token, 1.0) for token in sequence] for sequence in X],
        [np.array(sequence) for sequence in X],
        (iter(sequence) for sequence in X),
    ]
    for form in forms:
        assert written(CRFSequenceTagger().fit(form, iter(y))) == expected


def test_object_arrays_of_sequences_and_labels_are_read(fitted):
    X, y = toy([2, 2])
    rows = np.empty(2, dtype=object)
    rows[:] = [["a"], ["b"]]
    assert CRFSequenceTagger().fit(np.array(X), np.array(y)).classes_.size
    assert CRFSequenceTagger().fit(rows, [["A"], ["B"]]).classes_.size == 2


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.coo_array]
)
def test_columns_of_numbers_are_features_with_values(form):
    rng = np.random.RandomState(0)
    arrays = [rng.normal(size=(n, 3)) * (rng.rand(n, 3) > 0.4) for n in (4, 6, 3, 5)]
    y = [["P" if row[0] > 0 else "N" for row in rows] for rows in arrays]
    dicts = [
        [{f"x{j}": v for j, v in enumerate(row) if v} for row in rows.tolist()]
        for rows in arrays
    ]
    tagger = CRFSequenceTagger(c2=0.01).fit([form(rows) for rows in arrays], y)
    assert written(tagger) == written(CRFSequenceTagger(c2=0.01).fit(dicts, y))
    assert tagger.n_features_in_ == 3
    with pytest.raises(TypeError, match=r"columns|2-D"):
        tagger.predict(dicts)


def test_a_batch_gives_the_same_model_as_its_lists(corpus):
    X, y, X_test, _ = corpus
    encoder = SequenceEncoder().fit(X)
    from_lists = CRFSequenceTagger(**QUICK).fit(X, y)
    from_batch = CRFSequenceTagger(**QUICK).fit(encoder.transform(X), y)
    assert written(from_batch) == written(from_lists)
    expected = from_lists.predict(X_test)
    assert_array_equal(from_lists.predict(encoder.transform(X_test)), expected)
    with pytest.raises(ForeignBatchError, match="another encoder"):
        from_lists.predict(SequenceEncoder().fit_transform(X_test))


def test_a_batch_of_columns_gives_the_same_model_as_its_arrays():
    X = [np.eye(3), np.ones((2, 3)), np.empty((0, 3))]
    y = [["A", "B", "C"], ["A", "B"], []]
    encoder = SequenceEncoder().fit(X)
    tagger = CRFSequenceTagger().fit(encoder.transform(X), y)
    assert written(tagger) == written(CRFSequenceTagger().fit(X, y))
    assert tagger.n_features_in_ == 3
    with pytest.raises(ForeignBatchError, match="2 features"):
        tagger.predict(SequenceEncoder().fit_transform([np.eye(2)]))


def test_batches_stay_batches_in_cross_validation():
    X, y = toy([3, 4, 1, 5, 2, 2, 3, 4, 6])
    batch = SequenceEncoder().fit_transform(X)
    tagger = CRFSequenceTagger(max_iter=10)
    assert_array_equal(
        cross_val_predict(tagger, batch, y, cv=3), cross_val_predict(tagger, X, y, cv=3)
    )


def test_features_whose_values_sum_to_less_than_zero_are_kept():
    X = [[{"v": -1.0, "b": 1}], [{"v": 1.0, "b": 1}]] * 10
    tagger = CRFSequenceTagger().fit(X, [["N"], ["P"]] * 10)
    assert ("v", "N") in tagger.state_features_


def test_rare_features_are_left_out():
    X = [[["often"]], [["often"]], [["once"]]]
    tagger = CRFSequenceTagger(min_count=2).fit(X, [["A"], ["A"], ["B"]])
    assert tagger.attributes_ == ["often"]


def test_empty_sequences_teach_nothing_and_give_empty_rows():
    X, y = toy([3, 2, 4])
    with_empty = CRFSequenceTagger().fit([[], *X, np.empty((0, 2))], [[], *y, []])
    assert written(with_empty) == written(CRFSequenceTagger().fit(X, y))
    assert with_empty.predict([[], X[0]])[0] == []


def test_unknown_features_and_empty_tokens_are_harmless(fitted):
    labels, confidence = (
        method([[["never seen"], [], {}]])[0]
        for method in (fitted.predict, fitted.predict_confidence)
    )
    assert len(labels) == len(confidence) == 3
    assert np.isfinite(confidence).all()


def test_a_single_label_is_enough():
    tagger = CRFSequenceTagger().fit([["a", "b"]], [["X", "X"]])
    assert tagger.predict([["c"]])[0] == ["X"]
    assert tagger.predict_confidence([["c"]])[0].tolist() == [1.0]


# Weights and held-out data


def test_a_weight_is_a_number_of_copies():
    X, y = toy([3, 2, 4])
    weighted = CRFSequenceTagger().fit(X, y, sample_weight=[2, 0, 1])
    copied = CRFSequenceTagger().fit([X[0], X[0], X[2]], [y[0], y[0], y[2]])
    assert written(weighted) == written(copied)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 0.5, 1], r"sample_weight\[1\] is 0.5"),
        ([1, 1, -1], r"sample_weight\[2\]"),
        ([np.nan, 1, 1], r"sample_weight\[0\]"),
        ([1, 1], r"shape \(2,\).* the 3 sequences"),
        ([1, 1, 1, 1], r"shape \(4,\).* the 3 sequences"),
        ([[1, 1, 1]], "shape"),
        ([0, 0, 0], "zero for all 3 sequences"),
    ],
)
def test_weights_that_are_no_copies_are_refused(weight, message):
    X, y = toy([3, 2, 4])
    with pytest.raises(ValueError, match=message):
        CRFSequenceTagger().fit(X, y, sample_weight=weight)


def test_held_out_data_are_reported_and_change_nothing(corpus, fitted):
    X, y, X_dev, y_dev = corpus
    strange = [["NEW"] * len(row) for row in y_dev[:3]]
    tagger = clone(fitted).fit(X, y, X_dev=X_dev, y_dev=[*strange, *y_dev[3:]])
    assert written(tagger) == written(fitted)
    last = tagger.history_[-1]
    assert 0.5 < last["dev_score"] < 1
    assert "dev_score" not in fitted.history_[-1]
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        clone(fitted).fit(X, y, X_dev=X_dev)


def test_history_tells_every_iteration(fitted):
    losses = [row["loss"] for row in fitted.history_]
    assert len(losses) == fitted.n_iter_ == QUICK["max_iter"]
    assert losses[-1] < losses[0]


def test_verbose_prints_a_line_per_iteration_and_nothing_else_does(capsys):
    CRFSequenceTagger(max_iter=3).fit(*toy([5, 6, 7]))
    assert capsys.readouterr() == ("", "")
    tagger = CRFSequenceTagger(max_iter=3, verbose=1).fit(*toy([5, 6, 7]))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == tagger.n_iter_
    assert lines[0].startswith("pass 1, loss ")


# An estimator among others


def test_it_is_unfitted_until_fit_and_after_clone(fitted):
    with pytest.raises(NotFittedError):
        check_is_fitted(CRFSequenceTagger())
    copy = clone(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    assert copy.get_params() == fitted.get_params()
    assert not is_classifier(copy)


@pytest.mark.parametrize(
    "method",
    [
        "predict",
        "predict_marginals",
        "predict_confidence",
        "predict_nbest",
        "predict_entities",
    ],
)
def test_predicting_before_fit_is_refused(method):
    with pytest.raises(NotFittedError):
        args = (2,) if method == "predict_nbest" else ()
        getattr(CRFSequenceTagger(), method)([[["a"]]], *args)


def test_fitted_attributes_are_absent_before_fit():
    tagger = CRFSequenceTagger()
    for name in ("classes_", "state_features_", "coef_", "confidence_methods_"):
        assert not hasattr(tagger, name)


def test_repr_and_html_work_before_and_after_fit(fitted):
    for tagger in (CRFSequenceTagger(c1=0.5), fitted):
        assert "CRFSequenceTagger" in repr(tagger)
        assert "CRFSequenceTagger" in tagger._repr_html_()


@pytest.mark.parametrize("lengths", [[3] * 9, [3, 3, 3, 1, 2, 3, 4, 4, 4]])
def test_cross_val_predict_works_on_equal_and_ragged_folds(lengths):
    X, y = toy(lengths)
    rows = cross_val_predict(CRFSequenceTagger(), X, y, cv=KFold(3))
    assert rows.shape == (9,)
    assert [len(row) for row in rows] == lengths


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_works_with_an_integer_cv(n_jobs):
    X, y = toy([3, 4, 1, 5, 2, 2, 3, 4, 6])
    search = GridSearchCV(
        CRFSequenceTagger(max_iter=10),
        {"c1": [0.0, 0.1], "c2": [0.01, 10.0]},
        cv=3,
        n_jobs=n_jobs,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.predict(X).shape == (9,)
    assert len(cross_val_score(search.best_estimator_, X, y, cv=3)) == 3


def dump_pickle(tagger):
    return pickle.loads(pickle.dumps(tagger))


def dump_joblib(tagger):
    buffer = io.BytesIO()
    joblib.dump(tagger, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


def dump_skops(tagger):
    data = skops.io.dumps(tagger)
    trusted = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("skcw.") for name in trusted)
    return skops.io.loads(data, trusted=trusted)


def dump_file(tagger):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skcw"
        tagger.save(path)
        return CRFSequenceTagger.load(path)


@pytest.mark.parametrize("travel", [dump_pickle, dump_joblib, dump_skops, dump_file])
def test_a_model_that_traveled_predicts_the_same_bits(corpus, fitted, travel):
    X = corpus[2]
    fitted.predict(X)
    copy = travel(fitted)
    assert_array_equal(copy.predict(X), fitted.predict(X))
    for a, b in zip(
        copy.predict_confidence(X), fitted.predict_confidence(X), strict=True
    ):
        assert_array_equal(a, b)
    assert copy.classes_.tolist() == fitted.classes_.tolist()
    assert copy.history_ == without_seconds(fitted.history_)


def test_a_model_of_crfsuite_becomes_an_ordinary_tagger(corpus, original, tmp_path):
    X, y = corpus[2:]
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    trainer.set("max_iterations", 5)
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    trainer.train(str(tmp_path / "model"))
    theirs = pycrfsuite.Tagger()
    theirs.open(str(tmp_path / "model"))
    ours = CRFSequenceTagger.from_crfsuite(tmp_path / "model", n_jobs=2)
    assert as_lists(ours.predict(X)) == [theirs.tag(sequence) for sequence in X]
    theirs.close()
    assert written(ours) == (tmp_path / "model").read_bytes()
    ours.save(tmp_path / "ours")
    again = load(tmp_path / "ours")
    assert_array_equal(again.predict(X), ours.predict(X))
    assert again.predict_entities(X, "exact").tolist() == (
        ours.predict_entities(X, "exact").tolist()
    )


def test_constraints_hold_in_predictions_alone(corpus, fitted):
    X, y, X_test, _ = corpus
    bound = clone(fitted).set_params(constraints="BIO").fit(X, y)
    assert_array_equal(bound.coef_, fitted.coef_)
    assert bound.constraints_ == "BIO" and fitted.constraints_ is None
    for labels in bound.predict(X_test):
        for before, after in zip(["O", *labels], labels, strict=False):
            assert after[:2] != "I-" or before[1:] == after[1:]


def test_a_crf_answers_what_other_taggers_answer(corpus, fitted):
    X, y = corpus[2:]
    for row, labels in zip(fitted.predict_label_confidence(X, y), y, strict=True):
        assert row.shape == (len(labels),)
        assert (row >= 0).all() and (row <= 1).all()
    exact = fitted.predict_entities(X, "exact")
    assert all(0 <= e.confidence <= 1 for row in exact for e in row)
    (token, *_) = fitted.explain(X[0])
    assert token.label == fitted.predict(X)[0][0]
    assert {"marginal", "kbv", "delta-max"} <= set(fitted.confidence_methods_)


def test_save_and_load_through_the_package(tmp_path, corpus, fitted):
    path = tmp_path / "crf.skcw"
    fitted.save(path)
    tagger = load(path)
    assert isinstance(tagger, CRFSequenceTagger)
    assert tagger.get_params() == fitted.get_params()
    assert_array_equal(tagger.coef_, fitted.coef_)
    assert tagger.state_features_ == fitted.state_features_


def test_no_file_is_left_behind(monkeypatch, tmp_path, corpus):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X, y, X_test, _ = corpus
    tagger = CRFSequenceTagger(max_iter=3).fit(X, y)
    tagger = pickle.loads(pickle.dumps(tagger))
    tagger.predict_entities(X_test)
    assert tagger.state_features_ and tagger.transition_features_
    assert list(Path(tmp_path).iterdir()) == []


def test_threads_may_predict_with_one_tagger(corpus, fitted):
    X = corpus[2]
    expected = fitted.predict_confidence(X)
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(fitted.predict_confidence, [X] * 8):
            for a, b in zip(rows, expected, strict=True):
                assert_array_equal(a, b)


def test_input_is_not_changed(corpus):
    X = [[{"w": "a", "n": {"b": 1}}, {"w": "c"}]]
    y = [["A", "B"]]
    CRFSequenceTagger().fit(X, y).predict_nbest(X, 2)
    assert X == [[{"w": "a", "n": {"b": 1}}, {"w": "c"}]] and y == [["A", "B"]]


# Bad input


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([["a"], ["b"]], [["A"]], ValueError, "X has 2 sequences but y has 1"),
        ([["a"]], [["A"], ["B"]], ValueError, "X has 1 sequences but y has 2"),
        (
            [["a"], ["b", "c"]],
            [["A"], ["B"]],
            ValueError,
            "sequence 1 has 2 tokens but 1 labels",
        ),
        ([["a"]], [[1]], TypeError, "label of sequence 0, token 0 is 1"),
        ([["a"]], ["A"], TypeError, "labels of sequence 0 are 'A'"),
        ([["a"]], [3], TypeError, "labels of sequence 0 are 3"),
        ([["a"]], [["A\0b"]], ValueError, "NUL"),
        ([["a"]], None, TypeError, "y is a NoneType"),
        (["ab"], [["A", "B"]], TypeError, "sequence 0 is 'ab'"),
        ([[1.5]], [["A"]], TypeError, "sequence 0, token 0 is 1.5"),
        (np.ones((2, 2)), [["A", "A"]] * 2, TypeError, "one 2-D array"),
        (sparse.csr_array(np.eye(2)), [["A"], ["A"]], TypeError, "one 2-D array"),
        (None, [["A"]], TypeError, "X is a NoneType"),
        ([3], [["A"]], TypeError, "sequence 0 is 3"),
        (
            [[["a"], ["b", 3]]],
            [["A", "B"]],
            TypeError,
            "sequence 0, token 1 has the feature 3",
        ),
        ([[{"a": None}]], [["A"]], TypeError, "feature 'a'"),
        (
            [[{"a": np.nan}]],
            [["A"]],
            ValueError,
            "sequence 0, token 0: the value of feature 'a'",
        ),
        ([[{"a": {"b": np.float32("inf")}}]], [["A"]], ValueError, "finite"),
        (
            [np.array([[1.0], [np.nan]])],
            [["A", "B"]],
            ValueError,
            "sequence 0, token 1",
        ),
        ([np.ones((1, 2)), np.ones((1, 3))], [["A"]] * 2, ValueError, "3 columns"),
        ([["\ud800"]], [["A"]], ValueError, "which is no text"),
        ([], [], ValueError, "nothing to learn from"),
        ([[]], [[]], ValueError, "nothing to learn from"),
    ],
)
def test_bad_training_data_are_named(X, y, error, message):
    tagger = CRFSequenceTagger().fit([["a"]], [["A"]])
    before = written(tagger)
    with pytest.raises(error, match=message):
        tagger.fit(X, y)
    assert written(tagger) == before


def test_bad_prediction_data_are_named(fitted):
    with pytest.raises(
        ValueError, match="sequence 1, token 0: the value of feature 'a'"
    ):
        fitted.predict([[["a"]], [{"a": np.inf}]])
    numeric = CRFSequenceTagger().fit([np.eye(2)], [["A", "B"]])
    with pytest.raises(ValueError, match="3 columns where 2 are expected"):
        numeric.predict([np.eye(3)])


@pytest.mark.parametrize(
    "params",
    [
        {"algorithm": "sgd"},
        {"c1": -1},
        {"c2": "1"},
        {"max_iter": 0},
        {"min_count": -1},
        {"all_possible_states": 2},
        {"trainer_params": {"epsilon": "small"}},
        {"trainer_params": {"epsilon": np.nan}},
        {"trainer_params": {"no_such": 1}},
        {"algorithm": "ap", "c1": 0.1},
    ],
)
def test_bad_parameters_are_refused(params):
    with pytest.raises(ValueError):
        CRFSequenceTagger(**params).fit([["a"]], [["A"]])


def test_unknown_confidence_method_is_refused(fitted):
    with pytest.raises(ValueError, match="method"):
        fitted.predict_confidence([], method="kd-pc")


def test_trainer_params_reach_crfsuite():
    X, y = toy([5, 6, 7])
    short = CRFSequenceTagger(trainer_params={"max_iterations": 2}).fit(X, y)
    assert short.n_iter_ == 2
