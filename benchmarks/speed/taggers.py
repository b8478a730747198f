"""Vowpal Wabbit's tagger beside ours: the same features, spans and clock."""

import statistics
import time
from functools import partial
from itertools import product

from sklearn.base import clone

from common.corpora import load_chunking
from common.crfsuite import CRFsuite
from common.measure import all_scores, progress, timed
from common.tables import at_least, at_most, format_goals, format_table, number
from common.vowpal import VowpalTagger, installed
from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder

PASSES = 10
CW, AP, VOWPAL = "skcw CW", "CRFsuite ap, 10 passes", "Vowpal Wabbit"
# Chosen on training sentences held out.
GRID = {"passes": (1, 3, 10, 20), "rate": (0.1, 0.2, 0.5, 1.0)}
QUICK_GRID = {"passes": (1, 2), "rate": (0.5,)}
HELD_OUT = 0.2
MEASURES = ("encode", "train", "fit", "predict", "f1", "token_error")
NOTE = """\
CoNLL-2000, 20 feature strings a token; seconds of computing (process time),
medians, learners taking turns. Encode: strings to a SequenceBatch; Trainer.append; the
writing of Vowpal Wabbit's lines. Train: from there; Vowpal Wabbit parses them then.
Predict: from strings, its lines included. Vowpal Wabbit: --search 22 --search_task
sequence --search_rollout none, 24 bits; passes and learning rate by span F1 on the last
fifth of the training sentences, then all of them are learned."""


def run(settings):
    """Return the medians of every learner, and what was chosen."""
    train, test = load_chunking(settings.data_home, settings.quick)
    X, X_test = train.features(), test.features()
    learners = {
        CW: lambda: CWSequenceTagger(max_iter=PASSES),
        AP: lambda: CRFsuite("ap", max_iterations=PASSES),
    }
    tried = []
    if installed():
        tried = _tried(X, train.labels, QUICK_GRID if settings.quick else GRID)
        chosen = max(tried, key=lambda one: one["f1"])
        learners[VOWPAL] = partial(
            VowpalTagger, passes=chosen["passes"], rate=chosen["rate"]
        )
    runs = {name: [] for name in learners}
    for turn in range(settings.seeds):
        for name, make in learners.items():
            progress(f"vowpal: run {turn + 1} of {settings.seeds}, {name}")
            model = make()
            if name == CW:
                model.set_params(random_state=turn)
            found = _MEASURES[name](model, X, train.labels, X_test)
            scores = all_scores(test.labels, found.pop("labels"))
            runs[name].append(found | scores)
    rows = {
        name: {what: statistics.median(run[what] for run in found) for what in MEASURES}
        for name, found in runs.items()
    }
    return {
        "quick": settings.quick,
        "runs": settings.seeds,
        "rows": rows,
        "tried": tried,
        "goals": _goals(rows, runs[CW]),
    }


def _goals(rows, runs):
    """Return how much faster than CRFsuite CW is, and what its confidence costs."""
    ours, peer = rows[CW], rows[AP]
    share = statistics.median(run["fit"] / run["fit_alone"] for run in runs)
    return [
        at_least("strings to fitted, times faster", peer["fit"] / ours["fit"], 10),
        at_least(
            "strings to labels, times faster", peer["predict"] / ours["predict"], 8
        ),
        at_most("fit with calibrated confidence, share", share, 1.1, ".2f"),
    ]


def _tried(X, y, grid):
    """Return the F1 of every setting on the last training sentences."""
    kept = round((1 - HELD_OUT) * len(X))
    tried = []
    for passes, rate in product(*grid.values()):
        progress(f"vowpal: {passes} passes, rate {rate}")
        model = VowpalTagger(passes, rate).fit(X[:kept], y[:kept])
        f1 = all_scores(y[kept:], model.predict(X[kept:]))["f1"]
        tried.append({"passes": passes, "rate": rate, "f1": f1})
    return tried


_computed = partial(timed, clock=time.process_time)


def _measure_ours(model, X, y, X_test):
    batch, encode = _computed(lambda: SequenceEncoder().fit_transform(X))
    _, train = _computed(lambda: clone(model).fit(batch, y))
    _, fit = _computed(lambda: model.fit(X, y))
    alone = clone(model).set_params(calibrate_confidence=False)
    _, fit_alone = _computed(lambda: alone.fit(X, y))
    labels, predict = _computed(lambda: model.predict(X_test))
    spans = {"encode": encode, "train": train, "fit": fit, "predict": predict}
    spans["fit_alone"] = fit_alone
    return spans | {"labels": labels}


def _measure_halves(encode, model, X, y, X_test):
    """Measure a peer whose fit is its encoding and its training."""
    _, encoding = _computed(lambda: encode(model, X, y))
    _, training = _computed(model.train)
    labels, predict = _computed(lambda: model.predict(X_test))
    spans = {"encode": encoding, "train": training, "fit": encoding + training}
    return spans | {"predict": predict, "labels": labels}


_MEASURES = {
    CW: _measure_ours,
    AP: partial(_measure_halves, CRFsuite.append),
    VOWPAL: partial(_measure_halves, VowpalTagger.write),
}


def render(found):
    """Return the results as text."""
    title = f"Vowpal Wabbit beside CW: {found['runs']} runs"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = [
        [
            name,
            *[number(row[key], ".2f") for key in ("encode", "train", "fit")],
            number(row["predict"], ".3f"),
            number(row["f1"], ".4f"),
            f"{row['token_error']:.2%}",
        ]
        for name, row in found["rows"].items()
    ]
    header = ["learner", "encode s", "train s", "fit s", "predict s", "F1", "token err"]
    tried = [
        [f"{one['passes']} passes", one["rate"], f"{one['f1']:.4f}"]
        for one in found["tried"]
    ]
    chosen = format_table(["tried on training sentences", "rate", "F1"], tried)
    if not tried:
        chosen = "Vowpal Wabbit is not installed: its row is left out."
    # Older results, which may hold Vowpal Wabbit's, have none.
    goals = format_goals(found.get("goals", []), found["quick"])
    return "\n\n".join([title, format_table(header, rows), NOTE, chosen, goals])
