"""Laws of an estimator: parameters, fitted state, copies, types of results."""

import os
import pickle
import tempfile

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skcw._util.ragged import object_rows
from skcw.utils.laws import (
    fitted,
    law,
    make_tagged,
    outputs,
    prepared,
    require,
    require_same_bits,
    state_of,
)

ROW_METHODS = (
    "predict",
    "predict_confidence",
    "predict_marginals",
    "predict_entities",
    "predict_nbest",
)


def _row_calls(tagger):
    """Return {name: function of X} of the methods that give a row per sequence."""
    calls = {
        name: getattr(tagger, name) for name in ROW_METHODS if hasattr(tagger, name)
    }
    if "predict_nbest" in calls:
        calls["predict_nbest"] = lambda X: tagger.predict_nbest(X, 2)
    return calls


def _is_fitted(tagger):
    try:
        check_is_fitted(tagger)
    except NotFittedError:
        return False
    return True


@law()
def check_init_stores_parameters_and_nothing_else(tagger):
    """Have as attributes exactly the objects given to ``__init__``, unread."""
    given = {name: object() for name in tagger.get_params(deep=False)}
    made = type(tagger)(**given)
    require(
        set(vars(made)) == set(given),
        f"__init__ set {sorted(set(vars(made)) ^ set(given))}, which get_params lacks",
    )
    for name, value in given.items():
        require(getattr(made, name) is value, f"__init__ changed {name}")
    require(made.set_params(**given) is made, "set_params does not return self")


@law()
def check_clone_has_the_same_parameters(tagger):
    """Survive ``clone`` and name itself in ``repr``, before and after fit."""
    copy = clone(tagger)
    for name, value in tagger.get_params(deep=False).items():
        same = joblib.hash(getattr(copy, name)) == joblib.hash(value)
        require(same, f"clone changed {name}")
    data = make_tagged(tagger)
    for each in (copy, prepared(tagger).fit(*data)):
        require(type(tagger).__name__ in repr(each), "repr does not name the class")
        each._repr_html_()


@law()
def check_clone_forgets_what_was_learned(tagger):
    """Be unfitted before ``fit``, fitted after it, and unfitted again as a clone."""
    tagger = prepared(tagger)
    require(not _is_fitted(tagger), "check_is_fitted passes before fit")
    tagger.fit(*make_tagged(tagger))
    require(_is_fitted(tagger), "check_is_fitted fails after fit")
    require(not _is_fitted(clone(tagger)), "clone keeps what was learned")


@law()
def check_fit_overwrites_no_parameter(tagger):
    """Leave every parameter the object it was."""
    tagger = prepared(tagger, class_weight=None)
    before = tagger.get_params(deep=False)
    hashes = {name: joblib.hash(value) for name, value in before.items()}
    data = make_tagged(tagger)
    doors = [getattr(tagger, name, None) for name in ("fit", "partial_fit")]
    for door in filter(None, doors):
        require(door(*data) is tagger, f"{door.__name__} does not return self")
        for name, value in tagger.get_params(deep=False).items():
            same = value is before[name] and joblib.hash(value) == hashes[name]
            require(same, f"{door.__name__} overwrote the parameter {name}")


@law()
def check_predict_before_fit_is_refused(tagger):
    """Raise NotFittedError from every method that needs a fitted tagger."""
    tagger = prepared(tagger)
    X, y = make_tagged(tagger)
    calls = dict(_row_calls(tagger), score=lambda X: tagger.score(X, y))
    calls["predict_single"] = lambda X: tagger.predict_single(X[0])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        if hasattr(tagger, "save"):
            calls["save"] = lambda X: tagger.save(path)
        for name, call in calls.items():
            try:
                call(X)
            except NotFittedError:
                continue
            raise AssertionError(f"{name} before fit raised no NotFittedError")
        require(not os.listdir(folder), "save before fit left a file")


@law()
def check_fitted_attributes_have_the_names_of_the_contract(tagger):
    """Show ``classes_`` in order of first appearance, ``n_iter_`` and ``history_``."""
    tagger, _, y = fitted(tagger, early_stopping=False)
    first_seen = dict.fromkeys(label for labels in y for label in labels)
    require(
        list(tagger.classes_) == list(first_seen),
        f"classes_ is {list(tagger.classes_)}, the labels appear as {list(first_seen)}",
    )
    require(tagger.n_iter_ >= 1, "n_iter_ is not positive")
    epochs = [record["epoch"] for record in tagger.history_]
    require(max(epochs) == tagger.n_iter_, "history_ does not end with epoch n_iter_")


@law()
def check_rows_have_one_type_whatever_the_lengths(tagger):
    """Return 1-D object arrays with a row per sequence, always of the same type."""
    tagger, X, _ = fitted(tagger)
    equal = [sequence[:1] * 3 for sequence in X[:4]]
    inputs = {
        "ragged sequences": X,
        "sequences of equal length": equal,
        "one sequence": X[:1],
        "one-token sequences": [sequence[:1] for sequence in X],
        "sequences some of which are empty": [[], *X[:2], []],
        "empty sequences": [[], []],
        "no sequences": [],
    }
    for what, sequences in inputs.items():
        for name, call in _row_calls(tagger).items():
            _require_row_types(name, call(sequences), sequences, f"{name} of {what}")


def _require_row_types(name, rows, sequences, what):
    require(type(rows) is np.ndarray, f"{what} is a {type(rows).__name__}")
    require(rows.dtype == object, f"{what} has the dtype {rows.dtype}")
    require(rows.shape == (len(sequences),), f"{what} has the shape {rows.shape}")
    for row, sequence in zip(rows, sequences, strict=True):
        if name == "predict_confidence":
            good = type(row) is np.ndarray and row.dtype == np.float64
            require(good, f"{what} has a row that is no float64 array: {row!r}")
            require(row.shape == (len(sequence),), f"{what}: {row!r} is not aligned")
            continue
        require(type(row) is list, f"{what} has a row of type {type(row).__name__}")
        if name in ("predict", "predict_marginals"):
            require(len(row) == len(sequence), f"{what}: {row!r} is not aligned")
        _require_item_types(name, row, sequence, what)


def _require_item_types(name, row, sequence, what):
    for item in row:
        if name == "predict":
            good = type(item) is str
        elif name == "predict_marginals":
            good = type(item) is dict and all(type(p) is float for p in item.values())
        elif name == "predict_nbest":
            labels, score = item
            good = type(labels) is list and type(score) is float
            good = good and len(labels) == len(sequence)
        else:
            fields = ("label", "start", "end", "confidence")
            good = getattr(item, "_fields", None) == fields
            good = good and [type(part) for part in item] == [str, int, int, float]
        require(good, f"{what} has the item {item!r}")


@law()
def check_pickle_predicts_the_same_bits(tagger):
    """Say the same after pickle and joblib, fitted or not."""
    pickle.loads(pickle.dumps(tagger))
    tagger, X, _ = fitted(tagger)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(tagger, protocol=protocol))
        require_same_bits(tagger, copy, X, f"pickle protocol {protocol}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.joblib")
        joblib.dump(tagger, path)
        require_same_bits(tagger, joblib.load(path), X, "joblib")


def _is_saveable(tagger, example):
    return not callable(tagger.get_params(deep=False).get("constraints"))


@law(methods=("save", "load"), when=_is_saveable)
def check_save_and_load_predict_the_same_bits(tagger):
    """Say the same after ``save`` and ``load``, which keeps the parameters."""
    tagger, X, y = fitted(tagger)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        tagger.save(path)
        require(os.listdir(folder) == ["model"], "save left other files behind")
        loaded = type(tagger).load(path)
        require(type(loaded) is type(tagger), f"load gave a {type(loaded).__name__}")
        require_same_bits(tagger, loaded, X, "save and load")
        require(
            repr(loaded) == repr(tagger) or _has_pair(tagger), "load lost parameters"
        )
        if hasattr(tagger, "partial_fit"):
            if "class_weight" in loaded.get_params(deep=False):
                loaded.set_params(class_weight=None)
            loaded.partial_fit(X, y)
            require_same_bits(
                tagger, type(tagger).load(path), X, "partial_fit after load"
            )
        # Let go of the mapped file before its folder goes.
        del loaded


def _has_pair(tagger):
    """Tell whether a parameter is a tuple, which JSON makes a list."""
    return any(isinstance(v, tuple) for v in tagger.get_params(deep=False).values())


@law()
def check_predict_is_pure(tagger):
    """Change neither the tagger nor X nor later answers by predicting."""
    tagger, X, y = fitted(tagger, make_tagged(tagger, valued=True))
    state, data = state_of(tagger), joblib.hash((X, y))
    before = outputs(tagger, X)
    for call in _row_calls(tagger).values():
        call(X)
    tagger.score(X, y)
    require(state_of(tagger) == state, "predicting changed the fitted tagger")
    require(joblib.hash((X, y)) == data, "predicting changed X or y")
    require(outputs(tagger, X) == before, "the second answer differs from the first")


@law()
def check_fit_leaves_its_input_as_it_was(tagger):
    """Change neither X nor y nor keep hold of them by learning."""
    tagger = prepared(tagger)
    X, y = make_tagged(tagger, valued=True)
    data = joblib.hash((X, y))
    tagger.fit(X, y)
    require(joblib.hash((X, y)) == data, "fit changed X or y")
    probe = make_tagged(tagger, seed=1, valued=True).X
    before = outputs(tagger, probe)
    for sequence, labels in zip(X, y, strict=True):
        for token in sequence:
            token.clear()
        labels[:] = ["?"] * len(labels)
    require(outputs(tagger, probe) == before, "the tagger changes with its old input")


@law()
def check_each_sequence_is_tagged_for_itself(tagger):
    """Give a sequence the same row whatever stands beside it in X."""
    tagger, X, _ = fitted(tagger)
    together = outputs(tagger, X)
    for s, sequence in enumerate(X[:6]):
        alone = outputs(tagger, [sequence])
        for name, rows in alone.items():
            require(
                rows[0] == together[name][s], f"{name} of {s} depends on the others"
            )
        single = tagger.predict_single(sequence)
        require(single == together["predict"][s], "predict_single differs from predict")


@law()
def check_score_is_token_accuracy(tagger):
    """Score the share of right words, each as heavy as its sequence."""
    tagger = prepared(tagger)
    X, y = make_tagged(tagger, noise=0.5)
    tagger.fit(X[:6], y[:6])
    right = [
        np.equal(a, b) for a, b in zip(tagger.predict(X), object_rows(y), strict=True)
    ]
    accuracy = float(np.mean(np.concatenate(right)))
    require(np.isclose(tagger.score(X, y), accuracy, rtol=1e-12), "score is not that")
    weight = np.arange(len(X), dtype=float)
    heavy = np.repeat(weight, [len(row) for row in right])
    accuracy = float(np.average(np.concatenate(right), weights=heavy))
    score = tagger.score(X, y, sample_weight=weight)
    require(np.isclose(score, accuracy, rtol=1e-12), "score ignores sample_weight")


@law()
def check_it_learns(tagger):
    """Get most words of an easy corpus right after seeing them."""
    tagger = prepared(tagger)
    X, y = make_tagged(tagger, n_sequences=40, noise=0.0)
    score = tagger.fit(X, y).score(X, y)
    require(score > 0.8, f"only {score:.2f} of the words it has seen are right")
