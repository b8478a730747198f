"""The maximum-entropy tagger: its training rows, its search, and what it refuses."""

import signal
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import skcw
from skcw import MaxEntSequenceTagger, make_tagging_pipeline
from skcw.data import SequenceEncoder
from skcw.exceptions import ModelFileError
from skcw.io.model_files import read_model, write_model
from skcw.tagging.maxent import labels_before
from tests.integration.corpora import features, news
from tests.reference import beam as twin

CLOSE = 1e-9
# Two solutions of one convex problem, both within the tolerance of the solver.
SOLVED = 1e-3


def maxent(**params):
    return MaxEntSequenceTagger(**{"random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return maxent().fit(*features(n_sequences=40))


def log_next(tagger, sequence):
    """Return the twin's model of a sequence, from the weights that a tagger shows."""
    row_of = {name: i for i, name in enumerate(tagger.feature_names_)}
    coef, size = tagger.coef_, len(tagger.classes_) + 1
    scores = np.array(
        [
            sum((coef[row_of[f]] for f in token if f in row_of), tagger.intercept_)
            for token in sequence
        ]
    )
    pair_row = np.full((size, size), -1)
    for row, (far, near) in enumerate(tagger.previous_two_):
        pair_row[far, near] = row
    weights = tagger.previous_coef_, pair_row, tagger.previous_two_coef_
    return twin.local_model(scores, *weights)


# -- training ------------------------------------------------------------------------


def test_histories_stop_at_the_borders_of_sequences():
    codes = np.array([1, 2, 3, 4, 5, 6])
    near, far = labels_before(codes, np.array([0, 0, 3, 4, 4, 6]), 9)
    assert near.tolist() == [9, 1, 2, 9, 9, 5]
    assert far.tolist() == [9, 9, 1, 9, 9, 9]
    assert labels_before(codes[:0], np.array([0, 0]), 9)[0].shape == (0,)


def by_hand(X, y, min_count):
    """Return a matrix of all features and histories as strings, and the labels."""
    rows = []
    for x, labels in zip(X, y, strict=True):
        history = ["^", "^", *labels]
        for t, token in enumerate(x):
            far, near = history[t : t + 2]
            rows.append([*token, f"near={near}", f"both={far} {near}"])
    names = sorted({name for row in rows for name in row})
    table = np.array([[row.count(name) for name in names] for row in rows], dtype=float)
    table = table[:, (table > 0).sum(axis=0) >= min_count]
    return sparse.csr_matrix(table), [label for labels in y for label in labels]


@pytest.mark.parametrize("min_count", [1, 3])
def test_the_weights_solve_logistic_regression_on_histories(min_count):
    X, y = features(n_sequences=12)
    params = {"C": 0.3, "solver": "lbfgs", "tol": 1e-8, "max_iter": 2000}
    tagger = MaxEntSequenceTagger(min_count=min_count, **params).fit(X, y)
    table, labels = by_hand(X, y, min_count)
    expected = LogisticRegression(**params).fit(table, labels)
    columns = [tagger.classes_.tolist().index(label) for label in expected.classes_]
    probability = expected.predict_proba(table)
    at = 0
    for x, row in zip(X, y, strict=True):
        model, border = log_next(tagger, x), len(tagger.classes_)
        history = [border, border, *map(tagger.classes_.tolist().index, row)]
        for t in range(len(x)):
            mine = np.exp(model(t, *history[t : t + 2]))[columns]
            assert_allclose(mine, probability[at], rtol=0, atol=SOLVED)
            at += 1


def test_rare_features_and_histories_have_no_weight():
    X, y = features(n_sequences=40)
    tagger = maxent(min_count=4).fit(X, y)
    names, count = np.unique(
        [name for x in X for token in x for name in token], return_counts=True
    )
    seen = dict(zip(names, count, strict=True))
    weighed = dict(zip(tagger.feature_names_, tagger.coef_.any(axis=1), strict=True))
    assert weighed == {name: n >= 4 for name, n in seen.items()}
    assert (
        0 < len(tagger.previous_two_) < len(maxent(min_count=1).fit(X, y).previous_two_)
    )


def test_min_count_serves_batches_and_columns_too():
    X, y = features(n_sequences=30)
    batch = SequenceEncoder().fit_transform(X)
    one, other = maxent(min_count=3).fit(X, y), maxent(min_count=3).fit(batch, y)
    assert_array_equal(one.coef_, other.coef_)
    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    dense = maxent(min_count=3).fit([table] * 4, [["A", "B"]] * 4)
    assert dense.predict([table])[0] == ["A", "B"]


def test_a_sequence_without_weight_leaves_no_trace():
    X, y = features(n_sequences=30)
    weight = np.ones(len(X) + 1)
    weight[-1] = 0.0
    extra = maxent().fit([*X, [["new"]]], [*y, ["S-late"]], sample_weight=weight)
    plain = maxent().fit(X, y)
    assert extra.classes_.tolist() == [*plain.classes_, "S-late"]
    assert extra.intercept_[-1] == -np.inf
    assert extra.predict(X).tolist() == plain.predict(X).tolist()
    probes = [*X[:2], [["new"]]]
    for row in extra.predict_marginals(probes):
        assert all(token["S-late"] == 0.0 for token in row)
    for row in extra.predict_nbest(probes, 50):
        assert all("S-late" not in labels for labels, _ in row)


def test_two_labels_and_one_are_enough():
    X = [["a", "b"], ["b", "a", "a"]] * 3
    two = maxent().fit(X, [["A", "B"], ["B", "A", "A"]] * 3)
    assert two.predict([["a", "b", "b"]])[0] == ["A", "B", "B"]
    (row,) = two.predict_nbest([["a", "b"]], 9)
    assert_allclose(sum(np.exp(score) for _, score in row), 1.0, rtol=CLOSE)
    one = maxent().fit(X, [["A", "A"], ["A", "A", "A"]] * 3)
    assert one.predict_nbest([["a", "z"]], 9)[0] == [(["A", "A"], 0.0)]
    assert one.n_iter_ == 1


@pytest.mark.parametrize("solver", ["saga", "sag", "lbfgs", "newton-cg"])
def test_every_solver_learns(solver):
    X, y = features(n_sequences=30)
    tagger = maxent(solver=solver, tol=1e-2).fit(X, y)
    assert tagger.score(X, y) > 0.9
    assert tagger.history_[-1]["epoch"] == tagger.n_iter_


def test_a_solver_that_is_cut_short_warns():
    X, y = features(n_sequences=30)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        tagger = maxent(max_iter=1).fit(X, y)
    assert tagger.n_iter_ == 1
    assert len(tagger.predict(X)) == len(X)


def test_progress_is_told_on_standard_error_when_asked(capsys):
    X, y = features(n_sequences=30)
    maxent().fit(X, y)
    assert capsys.readouterr() == ("", "")
    maxent(verbose=1).fit(X, y)
    said = capsys.readouterr()
    assert said.out == ""
    assert "saga learns" in said.err
    assert "iterations" in said.err


# -- search --------------------------------------------------------------------------


def test_labelings_are_those_of_the_twin(fitted):
    for x in features(seed=1, n_sequences=6)[0]:
        (row,) = fitted.predict_nbest([x], 5)
        n_labels = len(fitted.classes_)
        kept = twin.beam_search(log_next(fitted, x), len(x), n_labels, fitted.beam)
        names = [[str(fitted.classes_[j]) for j in labels] for labels, _ in kept[:5]]
        assert [labels for labels, _ in row] == names
        assert_allclose([s for _, s in row], [s for _, s in kept[:5]], rtol=CLOSE)


def test_a_wide_beam_finds_the_best_of_all_labelings():
    X, y = [["a", "b", "c"], ["b", "a"], ["c", "c", "a"]], [["A", "B", "A"]]
    tagger = maxent(beam=200).fit(X, [*y, ["B", "A"], ["A", "B", "B"]])
    for x in (["a", "c", "b", "z"], ["c"], ["b", "b", "a"]):
        tokens = [[word] for word in x]
        found = twin.every_labeling(log_next(tagger, tokens), len(x), 2)
        (row,) = tagger.predict_nbest([x], 1000)
        assert len(row) == 2 ** len(x)
        assert_allclose([s for _, s in row], [s for _, s in found], rtol=CLOSE)
        expected = twin.marginals(log_next(tagger, tokens), len(x), 2)
        table = [list(token.values()) for token in tagger.predict_marginals([x])[0]]
        assert_allclose(table, expected, rtol=CLOSE)


def test_more_labelings_than_the_beam_holds_widen_it(fitted):
    narrow = skcw.MaxEntSequenceTagger(beam=2, random_state=0)
    narrow.fit(*features(n_sequences=40))
    X = [x for x in features(seed=1, n_sequences=6)[0] if len(x) > 2]
    assert {len(row) for row in narrow.predict_nbest(X, 7)} == {7}
    assert narrow.predict_nbest(X, 20).tolist() == fitted.predict_nbest(X, 20).tolist()


def test_the_beam_may_be_changed_after_training(fitted):
    X, y = features(n_sequences=40)
    greedy = maxent().fit(X, y).set_params(beam=1)
    totals = [
        [row[0][1] for row in tagger.predict_nbest(X, 1)] for tagger in (greedy, fitted)
    ]
    assert all(a <= b + CLOSE for a, b in zip(*totals, strict=True))


# -- confidence ----------------------------------------------------------------------


def test_local_confidence_multiplies_to_the_probability(fitted):
    X = features(seed=1, n_sequences=20)[0]
    best = [row[0][1] for row in fitted.predict_nbest(X, 1)]
    local = fitted.predict_confidence(X, "local")
    assert_allclose([np.log(row).sum() for row in local], best, rtol=1e-6, atol=CLOSE)


def test_confidence_is_the_marginal_of_the_predicted_label(fitted):
    X = features(seed=1, n_sequences=20)[0]
    rows = zip(
        fitted.predict(X),
        fitted.predict_marginals(X),
        fitted.predict_confidence(X),
        fitted.predict_confidence(X, "marginal"),
        strict=True,
    )
    for labels, marginals, confidence, again in rows:
        expected = [m[label] for m, label in zip(marginals, labels, strict=True)]
        assert_array_equal(confidence, expected)
        assert_array_equal(confidence, again)


def test_nbest_confidence_is_a_share_of_the_beam(fitted):
    X = features(seed=1, n_sequences=20)[0]
    found = fitted.predict_nbest(X, fitted.beam)
    for row, confidence in zip(
        found, fitted.predict_confidence(X, "nbest"), strict=True
    ):
        weight = np.exp([score for _, score in row])
        agree = [np.equal(labels, row[0][0]) for labels, _ in row]
        assert_allclose(confidence, weight @ agree / weight.sum(), rtol=1e-6)


@pytest.mark.parametrize("method", ["marginal", "local", "nbest"])
def test_every_method_gives_a_row_per_sequence(fitted, method):
    rows = fitted.predict_confidence([[], [["never"]], []], method)
    assert [row.shape for row in rows] == [(0,), (1,), (0,)]
    assert fitted.predict_confidence([], method).shape == (0,)
    assert fitted.predict_confidence([[]], method)[0].shape == (0,)


def test_unknown_methods_are_refused_by_name(fitted):
    with pytest.raises(ValueError, match="'kd-pc'; it must be one of marginal, local"):
        fitted.predict_confidence([[["a"]]], "kd-pc")


# -- mistakes, files, others ---------------------------------------------------------

BAD_PARAMETERS = {
    "C": [0, -1, np.nan, "1", None],
    "beam": [0, -1, 1.5, None],
    "min_count": [0, 1.5],
    "solver": ["liblinear", None],
    "tol": [0, -1, np.nan, None],
    "max_iter": [0, 1.5, None],
    "n_jobs": [0, 1.5, "all"],
    "random_state": [-1, "seed"],
    "verbose": [-1, "yes"],
}


@pytest.mark.parametrize(("name", "values"), BAD_PARAMETERS.items())
def test_parameters_out_of_range_are_named(name, values):
    for value in values:
        tagger = MaxEntSequenceTagger(**{name: value})
        with pytest.raises(ValueError, match=name):
            tagger.fit([["a"]], [["A"]])
        assert not hasattr(tagger, "classes_")


@pytest.mark.parametrize("part", ["intercept", "previous", "pairs", "pair_weights"])
def test_files_whose_parts_do_not_fit_together_are_refused(fitted, part, tmp_path):
    path = tmp_path / "model"
    fitted.save(path, mapped=True)
    header, arrays = read_model(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    write_model(path, header, arrays | {part: arrays[part][:-1]})
    with pytest.raises(ModelFileError, match="damaged"):
        skcw.load(path)


def test_grid_search_in_a_pipeline_from_words():
    X, y = news(n_sequences=40)
    pipeline = make_tagging_pipeline(["word[-1..1]", "suffix(1..2)"], maxent())
    grid = {"tagger__C": [0.01, 1.0], "tagger__beam": [1, 5]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_params_["tagger__C"] == 1.0


def test_what_a_model_of_histories_cannot_draw_is_said(fitted):
    X, _ = news(n_sequences=2)
    for ask in (fitted.predict_voted, lambda X: fitted.sample(X, 2)):
        with pytest.raises(ValueError, match="cannot draw weights"):
            ask(X)
    with pytest.raises(ValueError, match="no method for whole spans"):
        fitted.predict_entities(X, "exact")


def test_ctrl_c_does_not_wait_for_the_solver(monkeypatch):
    X, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
    tagger = MaxEntSequenceTagger(min_count=1).fit(X, y)
    before, ended = tagger.belief_, threading.Event()
    monkeypatch.setattr(LogisticRegression, "fit", lambda *_, **__: ended.wait(60))
    # An alarm stands for the user: both reach the main thread only.
    former = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            tagger.fit([["c", "d"]], [["C", "D"]])
        assert not ended.is_set()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        ended.set()
    assert tagger.belief_ is before
    assert tagger.predict(X)[0] == ["A", "B"]


def test_errors_of_the_solver_come_through(monkeypatch):
    def fail(*_, **__):
        raise FloatingPointError("overflow")

    monkeypatch.setattr(LogisticRegression, "fit", fail)
    with pytest.raises(FloatingPointError, match="overflow"):
        MaxEntSequenceTagger(min_count=1).fit([["a", "b"]], [["A", "B"]])
