"""What confidence costs beside labels alone, over the travel grid."""

import statistics
import time
from functools import partial

from common.crfsuite import CRFsuite
from common.measure import progress, timed
from common.tables import at_least, at_most, format_goals, format_table, number
from common.tagged import ALL, BUILT_IN, CORPORA, encode, load, part_of, sizes_of
from skcw import CWSequenceTagger

FEATURES = ("three", "ready")
SMALLEST = 1000
PASSES = 10
BATCH = ("fit", "fit alone", "predict", "predict_confidence")
STRINGS = ("fit strings", "predict strings", "ap fit", "ap predict")
MEASURES = (*BATCH, *STRINGS)
NOTE = f"""\
CPU seconds, medians over the runs, learners taking turns. CW with all defaults, from a
SequenceBatch; fit alone: calibrate_confidence=False. Strings: CW, all included, from
the lists of strings that CRFsuite is given (averaged perceptron, {PASSES} passes)."""

_computed = partial(timed, clock=time.process_time)


def run(settings):
    """Return the medians of every cell."""
    cells = {}
    corpora = [BUILT_IN] if settings.quick else settings.corpora or CORPORA
    for corpus in corpora:
        sentences = load(corpus, settings)
        for features in FEATURES:
            data = encode(corpus, features, sentences)
            for size in sizes_of(data, settings):
                if settings.quick or size == ALL or size >= SMALLEST:
                    progress(f"certainty: {corpus}, {features}, {size}")
                    part = part_of(data, size, 0)
                    cells[f"{corpus}, {features}, {size}"] = _cell(part, settings)
    found = {"quick": settings.quick, "runs": settings.seeds, "cells": cells}
    return {**found, "goals": _goals(cells)}


def _cell(part, settings):
    """Return the medians of one cell: seconds, and ratios within the runs."""
    X, X_test = part.X.to_lists(), part.X_test.to_lists()
    runs = []
    for turn in range(settings.seeds):
        tagger = CWSequenceTagger(random_state=turn)
        alone = CWSequenceTagger(random_state=turn, calibrate_confidence=False)
        peer = CRFsuite("ap", max_iterations=PASSES)
        calls = (
            lambda tagger=tagger: tagger.fit(part.X, part.y),
            lambda alone=alone: alone.fit(part.X, part.y),
            lambda tagger=tagger: tagger.predict(part.X_test),
            lambda tagger=tagger: tagger.predict_confidence(part.X_test),
            lambda tagger=tagger: tagger.fit(X, part.y),
            lambda tagger=tagger: tagger.predict(X_test),
            lambda peer=peer: peer.fit(X, part.y),
            lambda peer=peer: peer.predict(X_test),
        )
        seconds = [_computed(call)[1] for call in calls]
        runs.append(dict(zip(MEASURES, seconds, strict=True)))
    cell = {what: statistics.median(run[what] for run in runs) for what in MEASURES}
    for ratio, (above, below) in RATIOS.items():
        cell[ratio] = statistics.median(run[above] / run[below] for run in runs)
    return cell


FIT, PREDICT = "fit / alone", "confidence / labels"
FIT_PEER, PREDICT_PEER = "ap / fit strings", "ap / predict strings"
RATIOS = {
    FIT: ("fit", "fit alone"),
    PREDICT: ("predict_confidence", "predict"),
    FIT_PEER: ("ap fit", "fit strings"),
    PREDICT_PEER: ("ap predict", "predict strings"),
}


def _goals(cells):
    def median(ratio):
        return statistics.median(cell[ratio] for cell in cells.values())

    def worst(ratio):
        return max(cell[ratio] for cell in cells.values())

    return [
        at_most(f"{FIT}, median of cells", median(FIT), 1.1, ".2f"),
        at_most(f"{FIT}, worst cell", worst(FIT), 1.1, ".2f"),
        at_most(f"{PREDICT}, median of cells", median(PREDICT), 1.4, ".2f"),
        at_most(f"{PREDICT}, worst cell", worst(PREDICT), 1.4, ".2f"),
        at_least(f"{FIT_PEER}, median of cells", median(FIT_PEER), 10),
        at_least(f"{PREDICT_PEER}, median of cells", median(PREDICT_PEER), 8),
    ]


def render(found):
    """Return the results as text."""
    title = f"What confidence costs: medians of {found['runs']} runs"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ["corpus, features, sentences", *MEASURES, *RATIOS]
    rows = [
        [
            name,
            *[number(cell[what], ".3f") for what in MEASURES],
            *[number(cell[ratio], ".2f") for ratio in RATIOS],
        ]
        for name, cell in found["cells"].items()
    ]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), NOTE, goals])
