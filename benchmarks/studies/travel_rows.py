"""Classifiers as they come on sets and forms of rows that nobody tuned them on.

Beside them logistic regression with C chosen by log loss, LinearSVC with C chosen by
accuracy, and that one calibrated, all by cross-validation.
"""

import json
import time

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from common.measure import progress
from common.rows import FORMS, MADE, NEWS, names_of_counts, parts_of
from common.tables import (
    at_least,
    at_most,
    format_goals,
    format_table,
)
from skcw import MultiClassAROW, MultiClassCW, MultiClassPA
from skcw.metrics import root_calibration_mse

# ---- scikit-learn's classifiers of the travel grid, tuned ----

LOGISTIC, SVM, CALIBRATED = "logistic", "LinearSVC", "LinearSVC calibrated"
PEERS = (LOGISTIC, SVM, CALIBRATED)
# C is looked for upwards and downwards from here, by half powers of ten.
START, STEP, QUICK_STEPS, MOST_STEPS = 1.0, 10**0.5, 1, 10
TUNING_FOLDS = 4
# One of the folds is enough where there are many rows.
FOLDS_RUN = {NEWS: 1}
# A label that a row has must not cost an infinite loss.
LEAST = 1e-15


def judged(proba, guess, y):
    """Return the measures of one part; ``proba`` may be None."""
    found = {"accuracy": float(np.mean(guess == y))}
    if proba is None:
        return found
    top = np.clip(proba.max(axis=1), 0.0, 1.0)
    truth = np.maximum(proba[np.arange(len(y)), y], LEAST)
    return found | {
        "log_loss": float(-np.log(truth).mean()),
        "root_calib_mse": float(root_calibration_mse(guess == y, top)),
        "top": float(top.mean()),
    }


def peers_of(name, form, settings):
    """Return ``{peer: [measures of every part]}``, from the cache where it is there."""
    file = f"travel-{name}-{form}.json".replace(" ", "-")
    stored = settings.cache and settings.cache / file
    if stored and stored.exists():
        return json.loads(stored.read_text("utf-8"))
    with threadpool_limits(1):
        found = _measured(name, form, settings)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps(found), "utf-8")
    return found


def _measured(name, form, settings):
    found = {peer: [] for peer in PEERS}
    chosen = None
    for part in parts_of(name, form, settings):
        # Tuned once, on the first part that is learned from.
        chosen = chosen or _tuned(part, name, settings.quick)
        progress(f"{name}, {form}: {chosen}")
        for peer in PEERS:
            found[peer].append(_peers_trial(peer, part, chosen))
    return found


def _model(peer, C):
    # Warnings of solvers that do not converge are shown: none is expected.
    if peer == LOGISTIC:
        return LogisticRegression(C=C, max_iter=5000)
    return LinearSVC(C=C, max_iter=50_000)


def _peers_trial(peer, part, chosen):
    kind = LOGISTIC if peer == LOGISTIC else SVM
    model = _model(kind, chosen[kind])
    if peer == CALIBRATED:
        model = CalibratedClassifierCV(model)
    start = time.perf_counter()
    model.fit(part.X, part.y)
    seconds = time.perf_counter() - start
    proba = None if peer == SVM else model.predict_proba(part.X_test)
    measures = judged(proba, model.predict(part.X_test), part.y_test)
    return measures | {"seconds": seconds, "C": chosen[kind]}


def _tuned(part, name, quick):
    """Return the best C of each kind: by log loss, and by accuracy."""
    folds = StratifiedKFold(TUNING_FOLDS, shuffle=True, random_state=0)
    folds = list(folds.split(part.X, part.y))[: FOLDS_RUN.get(name, TUNING_FOLDS)]
    return {kind: _best_C(kind, part, folds, quick) for kind in (LOGISTIC, SVM)}


def _best_C(kind, part, folds, quick):
    measure = "log_loss" if kind == LOGISTIC else "accuracy"

    def loss(C):
        values = []
        for seen, unseen in folds:
            model = clone(_model(kind, C)).fit(part.X[seen], part.y[seen])
            X, y = part.X[unseen], part.y[unseen]
            proba = model.predict_proba(X) if kind == LOGISTIC else None
            values.append(judged(proba, model.predict(X), y)[measure])
        return np.mean(values) * (1 if kind == LOGISTIC else -1)

    best, least = START, loss(START)
    for factor in (STEP, 1 / STEP):
        for _ in range(QUICK_STEPS if quick else MOST_STEPS):
            now = loss(best * factor)
            if now >= least:
                break
            best, least = best * factor, now
    return best


# ---- Classifiers as they come on sets and forms of rows that nobody tuned them on ----

CW, AROW, PA = "CW", "AROW", "PA"
OWN = {CW: MultiClassCW, AROW: MultiClassAROW, PA: MultiClassPA}
MEASURES = ("accuracy", "log_loss", "root_calib_mse", "top", "cpu_seconds")
# Goals: the share of cells with no more log loss than logistic regression, and how
# much more any cell may have.
WANTED_SHARE, MOST_LOSS = 0.75, 1.2


def run(settings):
    """Return ``{"cells": {cell: {learner: means over the parts}}}`` and the goals."""
    cells = {}
    for name in names_of_counts(settings):
        for form in FORMS:
            progress(f"{name}, {form}")
            cells[f"{name}, {form}"] = _cell(name, form, settings)
    return {"quick": settings.quick, "cells": cells, "goals": _goals(cells)}


def _cell(name, form, settings):
    trials = {learner: [] for learner in OWN}
    with threadpool_limits(1):
        for number, part in enumerate(parts_of(name, form, settings)):
            for learner, make in OWN.items():
                trials[learner].append(_trial(make(random_state=number), part))
    trials |= peers_of(name, form, settings)
    return {learner: _means(runs) for learner, runs in trials.items()}


def _trial(model, part):
    seconds = _fit(model, part)
    proba = None
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(part.X_test)
    found = judged(proba, model.predict(part.X_test), part.y_test)
    found["cpu_seconds"] = seconds
    if proba is not None:
        given = type(model)(random_state=model.random_state, variance_scale=1.0)
        found["cpu_seconds_given_scale"] = _fit(given, part)
    return found


def _fit(model, part):
    # Of one thread, and short: what else the machine does must not count.
    start = time.process_time()
    model.fit(part.X, part.y)
    return time.process_time() - start


def _means(runs):
    return {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}


def _goals(cells):
    ratio = [c[CW]["log_loss"] / c[LOGISTIC]["log_loss"] for c in cells.values()]
    lead = [c[CW]["accuracy"] - c[SVM]["accuracy"] for c in cells.values()]
    share = float(np.mean(np.array(ratio) <= 1.0))
    return [
        at_least("cells with CW's log loss <= logistic's", share, WANTED_SHARE, ".2f"),
        at_most("CW's log loss over logistic's, worst", max(ratio), MOST_LOSS, ".3f"),
        at_least("CW's accuracy less LinearSVC's, mean", np.mean(lead), 0.0, ".4f"),
    ]


def render(found):
    """Return the results as text."""
    title = "Classifiers as they come; the last three are tuned by cross-validation"
    if found["quick"] or any(MADE in cell for cell in found["cells"]):
        title += " (quick: a subset, no measurement)"
    blocks = [title]
    for measure in MEASURES:
        shown = [x for x in (*OWN, *PEERS) if _has(found, x, measure)]
        rows = [
            [cell, *[f"{learners[x][measure]:.4f}" for x in shown]]
            for cell, learners in found["cells"].items()
        ]
        header = [measure.replace("_", " "), *shown]
        blocks.append(format_table(header, rows))
    blocks.append(_cost(found["cells"]))
    blocks.append(format_goals(found["goals"], found["quick"]))
    return "\n\n".join(blocks)


def _has(found, learner, measure):
    return all(measure in learners[learner] for learners in found["cells"].values())


def _cost(cells):
    """Return what learning how sure to be costs, in trainings."""
    rows = []
    for cell, learners in cells.items():
        costs = (
            learners[x]["cpu_seconds"] / learners[x]["cpu_seconds_given_scale"] - 1
            for x in (CW, AROW)
        )
        rows.append([cell, *[f"{cost:.2f}" for cost in costs]])
    return format_table(["learning how sure, in trainings", CW, AROW], rows)
