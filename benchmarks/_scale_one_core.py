"""Speed on one core: training of taggers and classifiers beside their peers."""

import statistics
import time

import numpy as np
from _corpora import load_chunking
from _crfsuite import CRFsuite
from _measure import progress
from _multiclass_data import NEWS, folds_of, load_rows, set_or_made
from _multiclass_fits import passive_aggressive
from _tables import at_least, format_goals, format_table, number
from _travel_corpora import (
    ARK,
    BUILT_IN,
    CHUNKS,
    DUTCH,
    EWT,
    NP,
    SPANISH,
)
from sklearn.metrics import accuracy_score
from threadpoolctl import threadpool_limits

from skcw import CWSequenceTagger, MultiClassCW
from skcw.data import SequenceEncoder

PASSES, ROW_PASSES = 10, 5
FEW = 1000
CORPORA, MADE = (CHUNKS, NP, SPANISH, DUTCH, ARK, EWT), (BUILT_IN,)
RESTS = (0, 1, 2, 3)
PEER, ALL = "CRFsuite ap", "CW"
PA, ONE_RIVAL, DEFAULT = "SGDClassifier pa1", "one rival, no shadow", "as it comes"
CLASSIFIERS = {
    DEFAULT: {},
    "no shadow": {"variance_scale": 1.0},
    ONE_RIVAL: {"update": "single", "variance_scale": 1.0},
}
NOTE = f"""\
CPU seconds of the process, medians over the seeds, learners taking turns. Train: on
encoded sequences, {PASSES} passes over CoNLL-2000, calibrate_confidence=False; fit:
from feature strings. Classifiers: 20 Newsgroups, {ROW_PASSES} passes, as in the part
"speed" of bench_multiclass.py; a shadow is a second model of as many passes, by which
the default calibrates its probabilities."""


def run(settings):
    """Return seconds of taggers and classifiers."""
    with threadpool_limits(1):
        taggers, classifiers = _taggers(settings), _classifiers(settings)
        found = {
            "quick": settings.quick,
            "seeds": settings.seeds,
            "taggers": taggers,
            "classifiers": classifiers,
        }
    return {**found, "goals": _goals(found)}


def _seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began


def _taggers(settings):
    train, _ = load_chunking(settings.data_home, settings.quick)
    X, y = train.features(), train.labels
    batch = SequenceEncoder().fit_transform(X)
    found = {}
    for seed in range(settings.seeds):
        progress(f"one core: taggers, run {seed + 1} of {settings.seeds}")
        peer = CRFsuite("ap", max_iterations=PASSES)
        encode_seconds = _seconds(lambda peer=peer: peer.append(X, y))
        seconds = _seconds(peer.train)
        found.setdefault(PEER, []).append((seconds, encode_seconds + seconds))
        tagger = CWSequenceTagger(
            max_iter=PASSES, calibrate_confidence=False, random_state=seed
        )
        seconds = _seconds(lambda tagger=tagger: tagger.fit(batch, y))
        fit = _seconds(lambda tagger=tagger: tagger.fit(X, y))
        found.setdefault(ALL, []).append((seconds, fit))
    return {
        name: dict(zip(("train", "fit"), np.median(runs, axis=0).tolist(), strict=True))
        for name, runs in found.items()
    }


def _classifiers(settings):
    name = set_or_made(NEWS, settings.data_home)
    rows = load_rows(name, settings.data_home, settings.quick)
    train, test = folds_of(name, settings)[0]
    X, y = rows.X[train], rows.y[train]
    seconds, accuracy = {}, {}
    for seed in range(settings.seeds):
        progress(f"one core: classifiers, run {seed + 1} of {settings.seeds}")
        models = {PA: passive_aggressive(seed)} | {
            name: MultiClassCW(max_iter=ROW_PASSES, random_state=seed, **parameters)
            for name, parameters in CLASSIFIERS.items()
        }
        for name, model in models.items():
            spent = _seconds(lambda model=model: model.fit(X, y))
            seconds.setdefault(name, []).append(spent)
            guess = model.predict(rows.X[test])
            accuracy.setdefault(name, []).append(accuracy_score(rows.y[test], guess))
    return {
        name: {
            "seconds": statistics.median(seconds[name]),
            "accuracy": statistics.median(accuracy[name]),
        }
        for name in seconds
    }


def _goals(found):
    peer, ours = found["taggers"][PEER], found["taggers"]
    rows = found["classifiers"]
    return [
        at_least("training, times ap", peer["train"] / ours[ALL]["train"], 12),
        at_least("fit from strings, times ap", peer["fit"] / ours[ALL]["fit"], 9),
        at_least(
            "MultiClassCW as it comes, times pa1",
            rows[PA]["seconds"] / rows[DEFAULT]["seconds"],
            3,
        ),
        at_least(
            "one rival, no shadow, times pa1",
            rows[PA]["seconds"] / rows[ONE_RIVAL]["seconds"],
            3,
        ),
    ]


def render(found):
    """Return the tables."""
    peer = found["taggers"][PEER]
    taggers = [
        (
            name,
            *(number(row[key], ".2f") for key in ("train", "fit")),
            *(number(peer[key] / row[key], ".1f") for key in ("train", "fit")),
        )
        for name, row in found["taggers"].items()
    ]
    base = found["classifiers"][PA]["seconds"]
    rows = [
        (
            name,
            number(row["seconds"], ".2f"),
            number(base / row["seconds"], ".2f"),
            number(row["accuracy"], ".4f"),
        )
        for name, row in found["classifiers"].items()
    ]
    title = f"One core ({found['seeds']} seeds)"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    return "\n\n".join(
        [
            title,
            format_table(("tagger", "train s", "fit s", "train x", "fit x"), taggers),
            format_table(("classifier", "s", "times faster", "accuracy"), rows),
            NOTE,
            format_goals(found["goals"], found["quick"]),
        ]
    )
