"""Classifiers as they come on sets and forms of rows that nobody tuned them on.

Beside them logistic regression with C chosen by log loss, LinearSVC with C chosen by
accuracy, and that one calibrated, all by cross-validation.
"""

import time

import numpy as np
from _measure import progress
from _multiclass_data import MADE
from _pictures import new_figure, save_picture
from _tables import at_least, at_most, format_goals, format_table
from _travel_row_peers import LOGISTIC, PEERS, SVM, judged, peers_of
from _travel_row_sets import FORMS, parts_of, set_names
from threadpoolctl import threadpool_limits

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA

CW, AROW, PA = "CW", "AROW", "PA"
OWN = {CW: MultiClassCW, AROW: MultiClassAROW, PA: MultiClassPA}
MEASURES = ("accuracy", "log_loss", "root_calib_mse", "top", "cpu_seconds")
# Goals: the share of cells with no more log loss than logistic regression, and how
# much more any cell may have.
WANTED_SHARE, MOST_LOSS = 0.75, 1.2


def run(settings):
    """Return ``{"cells": {cell: {learner: means over the parts}}}`` and the goals."""
    cells = {}
    for name in set_names(settings):
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


def picture(found, path, before=None):
    """Draw a dot per cell: log loss less logistic's, accuracy less LinearSVC's."""
    figure = new_figure(figsize=(9.0, 0.32 * len(found["cells"]) + 1.2))
    if figure is None:
        return
    names = list(found["cells"])
    left, right = figure.subplots(1, 2, sharey=True)
    drawn = [(found, "#0072B2", "as it comes")]
    if before is not None:
        drawn.insert(0, (before, "#E69F00", "before"))
    for results, color, label in drawn:
        cells = [results["cells"].get(name, found["cells"][name]) for name in names]
        for panel, measure, peer in (
            (left, "log_loss", LOGISTIC),
            (right, "accuracy", SVM),
        ):
            values = [
                cell[CW][measure] - found["cells"][name][peer][measure]
                for name, cell in zip(names, cells, strict=True)
            ]
            panel.plot(values, range(len(names)), "o", color=color, label=label)
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()
    left.set_xlabel("log loss of CW less that of tuned logistic regression")
    right.set_xlabel("accuracy of CW less that of tuned LinearSVC")
    for panel in (left, right):
        panel.axvline(0.0, color="#888888", linewidth=0.8)
        panel.grid(alpha=0.3)
    left.legend()
    save_picture(figure, path)
