"""scikit-learn's classifiers of the travel grid, tuned; what they reach is kept."""

import json
import time

import numpy as np
from _measure import progress
from _multiclass_data import NEWS
from _travel_row_sets import parts_of
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from skcw.metrics import root_calibration_mse

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
            found[peer].append(_trial(peer, part, chosen))
    return found


def _model(peer, C):
    # Warnings of solvers that do not converge are shown: none is expected.
    if peer == LOGISTIC:
        return LogisticRegression(C=C, max_iter=5000)
    return LinearSVC(C=C, max_iter=50_000)


def _trial(peer, part, chosen):
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
