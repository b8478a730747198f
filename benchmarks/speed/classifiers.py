"""Seconds and accuracy on 20 Newsgroups, with peers that are tuned and converge."""

import statistics
import time
import warnings
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from common.measure import progress, timed
from common.rows import (
    DIGITS,
    FORMS,
    NEWS,
    folds_of,
    load_rows,
    names_of_counts,
    parts_of,
    set_or_made,
)
from common.tables import at_least, at_most, format_goals, format_table
from common.vowpal import VowpalClassifier, installed
from skcw import MultiClassAROW, MultiClassCW

PASSES = 5
CW, AROW, SVM, SGD = "MultiClassCW", "MultiClassAROW", "LinearSVC", "SGDClassifier pa1"
SVM_AS_IT_COMES, VOWPAL = "LinearSVC, C = 1", "Vowpal Wabbit"
VOWPAL_LINES = "Vowpal Wabbit, lines written before"
# Enough for every C below; that it is not would stop the run.
MOST_ITERATIONS = 1_000_000
SVM_CS, QUICK_SVM_CS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0), (0.01, 1.0)
VOWPAL_GRID = {
    "loss_function": ("logistic", "hinge"),
    "passes": (1, 5, 20),
    "rate": (0.1, 0.5, 2.0),
}
QUICK_GRID = {"loss_function": ("logistic",), "passes": (1, 5), "rate": (0.5,)}
TUNING_FOLDS = 3
NOTE = f"""\
Seconds of computing (process time), medians over the runs, learners taking turns, one
thread. Rows in CSR, float64. CW, AROW and SGDClassifier (loss="hinge", penalty=None,
learning_rate="pa1", eta0=1.0; PassiveAggressiveClassifier in scikit-learn before that):
{PASSES} passes. LinearSVC: C by accuracy in {TUNING_FOLDS}-fold cross-validation of the
training rows, max_iter so high that it converges: its warning would be an error. Vowpal
Wabbit: --oaa, 24 bits; loss, passes and learning rate by the first of these folds; with
the writing of its lines of text, and without. It parses them either way."""


def run(settings):
    """Return the medians of every learner, what was tried, and the goals."""
    name = set_or_made(NEWS, settings.data_home)
    rows = load_rows(name, settings.data_home, settings.quick)
    train, test = folds_of(name, settings)[0]
    data = rows.X[train], rows.y[train], rows.X[test], rows.y[test]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        tried = _tried(*data[:2], settings.quick)
        fits = _fits(data, _chosen(tried), settings.seeds)
    return {
        "quick": settings.quick,
        "set": name,
        "sizes": [len(train), len(test), rows.X.shape[1], rows.n_classes],
        "non_zeros": int(data[0].nnz),
        "runs": settings.seeds,
        "tried": tried,
        "rows": fits,
        "goals": _goals(fits),
    }


def _tried(X, y, quick):
    """Return the accuracy of every setting on training rows held out."""
    folds = StratifiedKFold(TUNING_FOLDS, shuffle=True, random_state=0)
    folds = list(folds.split(X, y))
    tried = {SVM: [], VOWPAL: []}
    for C in QUICK_SVM_CS if quick else SVM_CS:
        progress(f"fits: {SVM}, C = {C}")
        accuracy = [_held_out(_svm(C), X, y, fold) for fold in folds]
        tried[SVM].append({"C": C, "accuracy": float(np.mean(accuracy))})
    grid = QUICK_GRID if quick else VOWPAL_GRID
    for values in product(*grid.values()) if installed() else ():
        options = dict(zip(grid, values, strict=True))
        progress(f"fits: {VOWPAL}, {options}")
        accuracy = _held_out(VowpalClassifier(**options), X, y, folds[0])
        tried[VOWPAL].append({**options, "accuracy": accuracy})
    return tried


def _held_out(model, X, y, fold):
    seen, unseen = fold
    guesses = model.fit(X[seen], y[seen]).predict(X[unseen])
    return float(np.mean(guesses == y[unseen]))


def _chosen(tried):
    """Return the best setting of each peer, without its accuracy."""
    best = {
        peer: dict(max(found, key=lambda one: one["accuracy"]))
        for peer, found in tried.items()
        if found
    }
    for setting in best.values():
        del setting["accuracy"]
    return best


def _svm(C, seed=0):
    return LinearSVC(C=C, max_iter=MOST_ITERATIONS, random_state=seed)


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


def _learners(seed, chosen):
    return {
        CW: MultiClassCW(max_iter=PASSES, random_state=seed),
        AROW: MultiClassAROW(max_iter=PASSES, random_state=seed),
        SVM: _svm(**chosen[SVM], seed=seed),
        SVM_AS_IT_COMES: _svm(1.0, seed),
        SGD: passive_aggressive(seed),
    } | ({VOWPAL: VowpalClassifier(**chosen[VOWPAL])} if VOWPAL in chosen else {})


def _fits(data, chosen, runs):
    """Return seconds and accuracy of every learner."""
    X, y, X_test, y_test = data
    seconds, accuracy = {}, {}
    for run in range(runs):
        for name, model in _learners(run, chosen).items():
            progress(f"fits: run {run + 1} of {runs}, {name}")
            for row, spent in _seconds_of_fit(name, model, X, y).items():
                seconds.setdefault(row, []).append(spent)
                correct = float(np.mean(model.predict(X_test) == y_test))
                accuracy.setdefault(row, []).append(correct)
    return {
        name: {
            "seconds": statistics.median(seconds[name]),
            "accuracy": statistics.median(accuracy[name]),
            "all_seconds": seconds[name],
            "all_accuracies": accuracy[name],
        }
        for name in seconds
    }


def _seconds_of_fit(name, model, X, y):
    """Return the seconds of one fit, and those after the writing of lines."""
    computed = partial(timed, clock=time.process_time)
    if name != VOWPAL:
        return {name: computed(lambda: model.fit(X, y))[1]}
    writing = computed(lambda: model.write(X, y))[1]
    learning = computed(model.train)[1]
    return {VOWPAL: writing + learning, VOWPAL_LINES: learning}


def _goals(fits):
    cw = fits[CW]
    peers = [name for name in fits if name not in (CW, AROW)]
    best = max(fits[name]["accuracy"] for name in peers)
    goals = [
        at_least(f"fit, times {name}", fits[name]["seconds"] / cw["seconds"], bound)
        for name, bound in ((SVM, 5), (SGD, 3))
    ]
    lead = cw["accuracy"] - best
    return [*goals, at_least("accuracy, CW - best of the peers", lead, 0, "+.4f")]


def render(found):
    """Return the results as text."""
    n_train, n_test, n_features, n_classes = found["sizes"]
    title = (
        f"Fits: {found['set']}, {n_train} training and {n_test} test rows, "
        f"{n_features} features, {found['non_zeros']} non-zeros, {n_classes} labels; "
        f"{found['runs']} runs"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    blocks = [title, _fits_table(found["rows"]), NOTE, _tried_table(found["tried"])]
    if not found["tried"][VOWPAL]:
        blocks.append("Vowpal Wabbit is not installed: its rows are left out.")
    return "\n\n".join([*blocks, format_goals(found["goals"], found["quick"])])


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


def _tried_table(tried):
    rows = [
        [f"{peer}: {_words(one)}", f"{one['accuracy']:.4f}"]
        for peer, found in tried.items()
        for one in found
    ]
    return format_table(["tried on training rows", "accuracy"], rows)


def _words(one):
    return ", ".join(
        f"{key} {value}" for key, value in one.items() if key != "accuracy"
    )


PREDICTED_ROWS, QUICK_PREDICTED_ROWS = 10_000, 1_000


def run_predictions(settings):
    """Return the seconds of labels, scores and probabilities, taking turns."""
    name = set_or_made(NEWS, settings.data_home)
    rows = load_rows(name, settings.data_home, settings.quick)
    train, _ = folds_of(name, settings)[0]
    model = MultiClassCW(max_iter=PASSES, random_state=0)
    model.fit(rows.X[train], rows.y[train])
    wanted = QUICK_PREDICTED_ROWS if settings.quick else PREDICTED_ROWS
    X = rows.X[np.arange(wanted) % rows.X.shape[0]]
    work = {
        "decision_function": model.decision_function,
        "predict": model.predict,
        "predict_distribution, exact": model.predict_distribution,
        "predict_distribution, 1000 draws": partial(
            model.predict_distribution, method="draws"
        ),
        "predict_proba": model.predict_proba,
    }
    seconds = {name: [] for name in work}
    with threadpool_limits(1):
        for _ in range(settings.seeds):
            for name, call in work.items():
                seconds[name].append(timed(partial(call, X))[1])
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    exact = medians["predict_distribution, exact"] / medians["decision_function"]
    return {
        "quick": settings.quick,
        "runs": settings.seeds,
        "predicted": wanted,
        "seconds": medians,
        "goals": [at_most("exact probabilities, share of scores", exact, 10)],
    }


def render_predictions(found):
    """Return the results as text."""
    title = f"Predictions: medians of {found['runs']} runs, one thread"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    seconds = found["seconds"]
    rows = [
        [name, f"{one:.4f}", f"{one / seconds['decision_function']:.2f}"]
        for name, one in seconds.items()
    ]
    header = [f"{found['predicted']} rows", "s", "times decision_function"]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), goals])


# ---- Against peers as they come, on every cell of the travel grid ----

LOGISTIC = "LogisticRegression"
LINEAR = SVM, LOGISTIC
# How much accuracy any cell may lack of the best of the peers.
MOST_BEHIND = 0.003


def run_defaults(settings):
    """Return the seconds and accuracies of learners as they come, cell by cell."""
    cells = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in names_of_counts(settings):
            for form in FORMS:
                progress(f"defaults: {name}, {form}")
                parts = list(parts_of(name, form, settings))
                cells[f"{name}, {form}"] = _as_they_come(parts, settings.seeds)
                if name == DIGITS:
                    parts = map(_dense, parts)
                    dense = _as_they_come(list(parts), settings.seeds)
                    cells[f"{name}, {form}, dense"] = dense
    goals = _goals_of_defaults(cells)
    return {
        "quick": settings.quick,
        "runs": settings.seeds,
        "cells": cells,
        "goals": goals,
    }


def _dense(part):
    return replace(part, X=part.X.toarray(), X_test=part.X_test.toarray())


def _as_they_come(parts, runs):
    """Return the median of the seconds and the mean of the accuracies."""
    seconds, accuracy = {}, {}
    for run in range(runs):
        part = parts[run % len(parts)]
        for name, model in {
            CW: MultiClassCW(random_state=run),
            SVM: LinearSVC(random_state=run),
            LOGISTIC: LogisticRegression(max_iter=1000),
            SGD: passive_aggressive(run),
        }.items():
            fit = partial(model.fit, part.X, part.y)
            spent = timed(fit, clock=time.process_time)[1]
            seconds.setdefault(name, []).append(spent)
            correct = float(np.mean(model.predict(part.X_test) == part.y_test))
            accuracy.setdefault(name, []).append(correct)
    return {
        name: {
            "seconds": statistics.median(seconds[name]),
            "accuracy": statistics.mean(accuracy[name]),
        }
        for name in seconds
    }


def _times(cell, peer):
    """Return how many fits of CW take as long as one of a peer."""
    return cell[peer]["seconds"] / cell[CW]["seconds"]


def _lead(cell):
    """Return by how much CW is more often right than the best of its peers."""
    peers = (one["accuracy"] for name, one in cell.items() if name != CW)
    return cell[CW]["accuracy"] - max(peers)


def _goals_of_defaults(cells):
    slowest = min(_times(cell, peer) for cell in cells.values() for peer in LINEAR)
    news = [_times(cell, SGD) for name, cell in cells.items() if NEWS in name]
    lead = [_lead(cell) for cell in cells.values()]
    worst, mean = float(min(lead)), float(np.mean(lead))
    goals = [at_least("fit, times the faster linear peer, worst", slowest, 1, ".2f")]
    if news:
        goals.append(at_least(f"fit, times {SGD}, {NEWS}", min(news), 3, ".2f"))
    return [
        *goals,
        at_least("accuracy, CW - best peer, worst", worst, -MOST_BEHIND, "+.4f"),
        at_least("accuracy, CW - best peer, mean", mean, 0, "+.4f"),
    ]


def render_defaults(found):
    """Return the results as text."""
    title = f"Learners as they come: {found['runs']} runs, one thread"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    peers = *LINEAR, SGD
    rows = [
        [
            name,
            *(f"{one['seconds']:.4f}" for one in cell.values()),
            *(f"{_times(cell, peer):.1f}" for peer in peers),
            *(f"{one['accuracy']:.4f}" for one in cell.values()),
            f"{_lead(cell):+.4f}",
        ]
        for name, cell in found["cells"].items()
    ]
    learners = CW, *peers
    header = ["cell", *(f"{one}, s" for one in learners)]
    header += [*(f"times {peer}" for peer in peers), *learners, "CW - best"]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), goals])
