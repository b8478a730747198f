"""Seconds of predictions and updates on 20 Newsgroups."""

import statistics

import numpy as np
from threadpoolctl import threadpool_limits

from common.measure import progress, timed
from common.rows import NEWS, folds_of, load_rows, set_or_made
from common.tables import at_most, format_goals, format_table
from skcw import MultiClassCW

PASSES = 5
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
MOST_UPDATE_RUNS = 3
NOTE = f"""\
Medians over the runs, taking turns, one thread. Rows in CSR, float64; {PASSES} passes,
defaults else."""
UPDATES_NOTE = """\
Seconds of the first and of the second pass, medians. The paper's: on Amazon 7 (13,580
rows, 7 labels), on its machine."""


def run(settings):
    """Return the medians of all measurements, and the goals."""
    name = set_or_made(NEWS, settings.data_home)
    rows = load_rows(name, settings.data_home, settings.quick)
    train, test = folds_of(name, settings)[0]
    data = rows.X[train], rows.y[train]
    with threadpool_limits(1):
        model = MultiClassCW(max_iter=PASSES, random_state=0).fit(*data)
        predictions = _predictions(model, _rows_to_predict(rows.X, settings), settings)
        updates = _updates(*data, settings.seeds)
    found = {
        "quick": settings.quick,
        "set": name,
        "sizes": [len(train), len(test), rows.X.shape[1], rows.n_classes],
        "non_zeros": int(data[0].nnz),
        "runs": settings.seeds,
        "predictions": predictions,
        "updates": updates,
    }
    return {**found, "goals": _goals(found)}


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


def _goals(found):
    seconds = found["predictions"]["seconds"]
    scores, exact = seconds["decision_function"], seconds["predict_distribution, exact"]
    return [
        at_most("exact probabilities, share of decision_function", exact / scores, 10),
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
        NOTE,
        _predictions_table(found["predictions"]),
        _updates_table(found["updates"]),
        UPDATES_NOTE,
        format_goals(found["goals"], found["quick"]),
    ]
    return "\n\n".join(blocks)


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
