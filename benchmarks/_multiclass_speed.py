"""Seconds and memory on 20 Newsgroups, beside scikit-learn's learners."""

import statistics
import warnings

import numpy as np
from _measure import added_memory, in_fresh_process, progress, timed
from _multiclass_data import NEWS, folds_of, load_rows, set_or_made
from _multiclass_scaling import scaling_of, scaling_table
from _tables import at_least, at_most, format_goals, format_table, number
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from skcw import MultiClassAROW, MultiClassCW

PASSES = 5
CW, AROW, SVM, SGD = "MultiClassCW", "MultiClassAROW", "LinearSVC", "SGDClassifier pa1"
PREDICTED_ROWS, QUICK_PREDICTED_ROWS = 10_000, 1_000
PREDICT_REPEATS = 3
UPDATES = {
    "k=1": {"update": "single"},
    "k=5, sequential": {"update": "sequential", "n_rivals": 5},
    "all, sequential": {"update": "sequential"},
    "all, parallel": {"update": "parallel"},
    "all, exact": {"update": "exact"},
}
PAPERS_SECONDS = {
    "k=1": "3",
    "k=5, sequential": "10",
    "all, sequential": "11",
    "all, exact": "> 240",
}
MB = 2**20
WARM_UP_ROWS = 200
MOST_UPDATE_RUNS = 3
NOTE = f"""\
Medians over the runs, learners taking turns, one thread. Rows in CSR, float64; {PASSES}
passes, k = 1, defaults else; LinearSVC() as it comes;
SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, tol=None), or
PassiveAggressiveClassifier in scikit-learn before that. Memory: peak added by one fit
to a fresh process that holds the rows already."""
UPDATES_NOTE = """\
Seconds of the first and of the second pass, medians. The paper's: on Amazon 7 (13,580
rows, 7 labels), on its machine."""


def run(settings):
    """Return the medians of all measurements, and the goals."""
    name = set_or_made(NEWS, settings.data_home)
    rows = load_rows(name, settings.data_home, settings.quick)
    train, test = folds_of(name, settings)[0]
    data = rows.X[train], rows.y[train], rows.X[test], rows.y[test]
    with threadpool_limits(1):
        fits, model = _fits(data, settings.seeds)
        predictions = _predictions(model, _rows_to_predict(rows.X, settings), settings)
        updates = _updates(*data[:2], settings.seeds)
        scaling = scaling_of(*data[:2], settings)
    found = {
        "quick": settings.quick,
        "set": name,
        "sizes": [len(train), len(test), rows.X.shape[1], rows.n_classes],
        "non_zeros": int(data[0].nnz),
        "runs": settings.seeds,
        "fits": fits,
        "predictions": predictions,
        "updates": updates,
        "scaling": scaling,
        "memory": _memory(name, settings),
    }
    return {**found, "goals": _goals(found)}


def _learners(seed):
    return {
        CW: MultiClassCW(max_iter=PASSES, random_state=seed),
        AROW: MultiClassAROW(max_iter=PASSES, random_state=seed),
        SVM: LinearSVC(random_state=seed),
        SGD: passive_aggressive(seed),
    }


def passive_aggressive(seed):
    """Return PA-I by scikit-learn, under the name that its version has for it."""
    common = {"loss": "hinge", "max_iter": PASSES, "tol": None, "random_state": seed}
    model = SGDClassifier(penalty=None, learning_rate="pa1", eta0=1.0, **common)
    try:
        model.fit([[0.0], [1.0]], [0, 1])
    except ValueError:
        from sklearn.linear_model import PassiveAggressiveClassifier

        return PassiveAggressiveClassifier(C=1.0, **common)
    return model


def _fits(data, runs):
    """Return seconds and accuracy of every learner, and a fitted CW."""
    X, y, X_test, y_test = data
    seconds, accuracy = {}, {}
    for run in range(runs):
        for name, model in _learners(run).items():
            progress(f"speed: run {run + 1} of {runs}, {name}")
            seconds.setdefault(name, []).append(_seconds_of_fit(model, X, y))
            accuracy.setdefault(name, []).append(model.score(X_test, y_test))
            if name == CW:
                fitted = model
    rows = {
        name: {
            "seconds": statistics.median(seconds[name]),
            "accuracy": statistics.median(accuracy[name]),
            "all_seconds": seconds[name],
            "all_accuracies": accuracy[name],
        }
        for name in seconds
    }
    return rows, fitted


def _seconds_of_fit(model, X, y):
    with warnings.catch_warnings():
        # LinearSVC stops after its default number of iterations.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return timed(lambda: model.fit(X, y))[1]


def _rows_to_predict(X, settings):
    wanted = QUICK_PREDICTED_ROWS if settings.quick else PREDICTED_ROWS
    return X[np.arange(wanted) % X.shape[0]]


def _predictions(model, X, settings):
    """Return the seconds of labels, scores and probabilities, taking turns."""
    work = {
        "decision_function": lambda: model.decision_function(X),
        "predict": lambda: model.predict(X),
        "predict_distribution, exact": lambda: model.predict_distribution(X),
        "predict_distribution, 1000 draws": lambda: model.predict_distribution(
            X, "draws"
        ),
        "predict_proba": lambda: model.predict_proba(X),
    }
    seconds = {name: [] for name in work}
    for _ in range(settings.seeds * (1 if settings.quick else PREDICT_REPEATS)):
        for name, call in work.items():
            seconds[name].append(timed(call)[1])
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {"rows": X.shape[0], "seconds": medians}


def _updates(X, y, runs):
    """Return the seconds of the first two passes by every update."""
    seconds = {name: [] for name in UPDATES}
    for run in range(min(runs, MOST_UPDATE_RUNS)):
        for name, options in UPDATES.items():
            progress(f"speed: update {name}")
            model = MultiClassCW(max_iter=2, random_state=run, **options).fit(X, y)
            seconds[name].append([record["seconds"] for record in model.history_])
    return {name: np.median(runs, axis=0).tolist() for name, runs in seconds.items()}


def _memory(name, settings):
    """Return the megabytes of the tables, and those added by a fit."""
    found = {}
    for averaging in (False,) if settings.quick else (False, True):
        progress(f"speed: memory, averaging {averaging}")
        found["averaged" if averaging else "last weights"] = in_fresh_process(
            _memory_of_fit, name, averaging, settings
        )
    return found


def _memory_of_fit(name, averaging, settings):
    rows = load_rows(name, settings.data_home, settings.quick)
    train, _ = folds_of(name, settings)[0]
    X, y = rows.X[train], rows.y[train]
    model = MultiClassCW(max_iter=PASSES, averaging=averaging, random_state=0)
    # Code is loaded before the measurement, on rows of all classes.
    some = np.linspace(0, len(y) - 1, WARM_UP_ROWS).astype(int)
    model.fit(X[some][:, :WARM_UP_ROWS], y[some])
    added = added_memory(lambda: model.fit(X, y))
    one_table = X.shape[1] * rows.n_classes * np.dtype(model.dtype).itemsize / MB
    return {"one_table": one_table, "tables": 3 if averaging else 2, "added": added}


def _goals(found):
    fits, predictions = found["fits"], found["predictions"]["seconds"]
    cw, scores = fits[CW], predictions["decision_function"]
    exact = predictions["predict_distribution, exact"]
    rivals = max(fits[SVM]["accuracy"], fits[SGD]["accuracy"])
    return [
        at_least(
            f"fit, times faster than {SVM}", fits[SVM]["seconds"] / cw["seconds"], 5
        ),
        at_least(
            f"fit, times faster than {SGD}", fits[SGD]["seconds"] / cw["seconds"], 2
        ),
        at_least(
            "accuracy, CW - better of the two", cw["accuracy"] - rivals, 0, "+.4f"
        ),
        at_most("exact probabilities, share of decision_function", exact / scores, 10),
        at_most("exponent of non-zeros", found["scaling"]["exponent"], 1.15, ".2f"),
    ]


def render(found):
    """Return the results as text."""
    n_train, n_test, n_features, n_classes = found["sizes"]
    title = (
        f"Speed: {found['set']}, {n_train} training and {n_test} test rows, "
        f"{n_features} features, {found['non_zeros']} non-zeros, {n_classes} labels; "
        f"{found['runs']} runs"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    blocks = [
        title,
        _fits_table(found["fits"]),
        NOTE,
        _predictions_table(found["predictions"]),
        _updates_table(found["updates"]),
        UPDATES_NOTE,
        scaling_table(found["scaling"]),
        _memory_table(found["memory"]),
        format_goals(found["goals"], found["quick"]),
    ]
    return "\n\n".join(blocks)


def _fits_table(fits):
    cw = fits[CW]["seconds"]
    rows = [
        [
            name,
            f"{one['seconds']:.3f}",
            f"{min(one['all_seconds']):.3f}-{max(one['all_seconds']):.3f}",
            f"{one['seconds'] / cw:.1f}",
            f"{one['accuracy']:.4f}",
        ]
        for name, one in fits.items()
    ]
    return format_table(["fit", "s", "range", "times CW", "accuracy"], rows)


def _predictions_table(predictions):
    scores = predictions["seconds"]["decision_function"]
    rows = [
        [name, f"{seconds:.4f}", f"{seconds / scores:.2f}"]
        for name, seconds in predictions["seconds"].items()
    ]
    return format_table(
        [f"{predictions['rows']} rows", "s", "times decision_function"], rows
    )


def _updates_table(updates):
    rows = [
        [name, *[f"{s:.3f}" for s in seconds], PAPERS_SECONDS.get(name, "-")]
        for name, seconds in updates.items()
    ]
    return format_table(["update", "first pass s", "second s", "paper's first"], rows)


def _memory_table(memory):
    rows = [
        [
            name,
            one["tables"],
            number(one["one_table"], ".1f"),
            number(one["tables"] * one["one_table"], ".1f"),
            number(one["added"], ".1f"),
        ]
        for name, one in memory.items()
    ]
    header = ["memory, MB", "tables", "features x classes", "all tables", "peak added"]
    return format_table(header, rows)
