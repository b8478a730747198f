"""Speed and memory on CoNLL-2000 chunking: skcw and CRFsuite in one run."""

import statistics

from _corpora import load_chunking
from _crfsuite import CRFsuite, all_features
from _measure import added_memory, in_fresh_process, progress, timed
from _scores import all_scores
from _tables import at_least, at_most, format_goals, format_table, number
from sklearn.base import clone

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import SequenceEncoder

PASSES = 10
WARM_UP_SENTENCES = 20
PREDICT_REPEATS = 3
# Slow rows, whose goals are far away or which have none, are repeated less often.
SLOW_RUNS, QUICK_SLOW_RUNS = 2, 1

CW, AP = "skcw CW", "CRFsuite ap, 10 passes"
AP_ALL = "CRFsuite ap, 10 passes, all states and transitions"
LBFGS = "CRFsuite lbfgs, 60 iterations"

# Each row makes its learner from a seed; CRFsuite takes none.
TAGGERS = {
    CW: lambda seed: CWSequenceTagger(max_iter=PASSES, random_state=seed),
    "skcw AROW": lambda seed: AROWSequenceTagger(max_iter=PASSES, random_state=seed),
    "skcw 5-best PA": lambda seed: PASequenceTagger(max_iter=PASSES, random_state=seed),
    "skcw perceptron": lambda seed: PerceptronSequenceTagger(
        max_iter=PASSES, random_state=seed
    ),
}
FAST_CRFSUITE = {AP: lambda seed: CRFsuite("ap", max_iterations=PASSES)}
SLOW_CRFSUITE = {
    AP_ALL: lambda seed: all_features("ap", max_iterations=PASSES),
    "CRFsuite arow, 10 passes": lambda seed: CRFsuite("arow", max_iterations=PASSES),
    "CRFsuite l2sgd, 20 passes": lambda seed: CRFsuite("l2sgd", max_iterations=20),
    LBFGS: lambda seed: CRFsuite("lbfgs", max_iterations=60),
}
LEARNERS = TAGGERS | FAST_CRFSUITE | SLOW_CRFSUITE
NOTE = """\
Medians over the runs, learners taking turns. Encode: feature strings to a
SequenceBatch; for CRFsuite, Trainer.append. Train: on the SequenceBatch;
Trainer.train. Memory: peak added by one fit to a fresh process that holds the
feature strings already. Rows with fewer runs are slow ones."""
MEASURES = (
    *("encode", "train", "fit", "predict", "predict_batch"),
    *("f1", "token_error"),
)


def run(settings):
    """Return the medians of every learner, and the goals."""
    train, test = load_chunking(settings.data_home, settings.quick)
    progress(f"speed: building features of {len(train.tokens)} sentences")
    X, X_test = train.features(), test.features()
    for make in LEARNERS.values():
        make(0).fit(X[:WARM_UP_SENTENCES], train.labels[:WARM_UP_SENTENCES])
    runs = {name: [] for name in LEARNERS}
    slow_runs = QUICK_SLOW_RUNS if settings.quick else SLOW_RUNS
    # Learners take turns, so that a slow moment of the machine hits all of them.
    for turn in range(settings.seeds):
        for name, make in LEARNERS.items():
            if name in SLOW_CRFSUITE and turn >= slow_runs:
                continue
            progress(f"speed: run {turn + 1} of {settings.seeds}, {name}")
            measure = _measure_tagger if name in TAGGERS else _measure_crfsuite
            runs[name].append(measure(make(turn), X, train.labels, X_test, test.labels))
    rows = {name: _summary(found) for name, found in runs.items()}
    for name, row in rows.items():
        row["memory"] = _memory(name, settings)
    return {
        "quick": settings.quick,
        "corpus": _describe(train, test, X),
        "rows": rows,
        "goals": _goals(rows),
    }


def _measure_tagger(tagger, X, y, X_test, y_test):
    batch, encode = timed(lambda: SequenceEncoder().fit_transform(X))
    _, train = timed(lambda: clone(tagger).fit(batch, y))
    _, fit = timed(lambda: tagger.fit(X, y))
    y_pred, predict = timed(lambda: tagger.predict(X_test), PREDICT_REPEATS)
    encoded = tagger.encode(X_test)
    _, predict_batch = timed(lambda: tagger.predict(encoded), PREDICT_REPEATS)
    return {
        "encode": encode,
        "train": train,
        "fit": fit,
        "predict": predict,
        "predict_batch": predict_batch,
        **all_scores(y_test, y_pred),
    }


def _measure_crfsuite(model, X, y, X_test, y_test):
    _, encode = timed(lambda: model.append(X, y))
    _, train = timed(model.train)
    model.predict(X_test[:1])
    y_pred, predict = timed(lambda: model.predict(X_test), PREDICT_REPEATS)
    return {
        "encode": encode,
        "train": train,
        "fit": encode + train,
        "predict": predict,
        "predict_batch": None,
        **all_scores(y_test, y_pred),
    }


def _summary(found):
    """Return the median of every measure, and the values of the main ones."""
    row = {"runs": len(found)}
    for name in MEASURES:
        values = [run[name] for run in found if run[name] is not None]
        row[name] = statistics.median(values) if values else None
    for name in ("train", "fit", "f1"):
        row[f"{name}_values"] = [run[name] for run in found]
    return row


def _memory(name, settings):
    """Return the megabytes added by one fit, measured in a process of its own."""
    if settings.quick and name not in (CW, AP):
        return None
    progress(f"speed: memory of {name}")
    return in_fresh_process(_memory_of_fit, name, settings.data_home, settings.quick)


def _memory_of_fit(name, data_home, quick):
    train, _ = load_chunking(data_home, quick)
    y, X = train.labels, train.features()
    # Code is loaded and first-use tables are made before the measurement.
    LEARNERS[name](0).fit(X[:WARM_UP_SENTENCES], y[:WARM_UP_SENTENCES])
    return added_memory(lambda: LEARNERS[name](0).fit(X, y))


def _goals(rows):
    cw, ap, ap_all, lbfgs = rows[CW], rows[AP], rows[AP_ALL], rows[LBFGS]
    best = max(row["f1"] for name, row in rows.items() if name not in TAGGERS)
    return [
        at_least("total fit, times faster than ap", ap["fit"] / cw["fit"], 4),
        at_least("total fit, than ap with all states", ap_all["fit"] / cw["fit"], 10),
        at_least("total fit, than lbfgs", lbfgs["fit"] / cw["fit"], 15),
        at_least("training alone, than ap", ap["train"] / cw["train"], 3),
        at_least(
            "training alone, than ap with all states", ap_all["train"] / cw["train"], 12
        ),
        at_least("predict from strings, than ap", ap["predict"] / cw["predict"], 2),
        at_least("predict from batch, than ap", ap["predict"] / cw["predict_batch"], 8),
        at_least("test F1", cw["f1"], 0.936, ".4f"),
        at_least("test F1, best CRFsuite - .001", cw["f1"], best - 0.001, ".4f"),
        at_least("test F1, best CRFsuite (an aim)", cw["f1"], best, ".4f"),
        at_most("memory added by fit, MB, ap", cw["memory"], ap["memory"], ".0f"),
    ]


def _describe(train, test, X):
    return {
        "name": train.name,
        "sentences": [len(train.tokens), len(test.tokens)],
        "tokens": [sum(map(len, c.tokens)) for c in (train, test)],
        "features": len(X[0][0]),
        "labels": len({label for labels in train.labels for label in labels}),
    }


def render(found):
    """Return the results as text."""
    corpus = found["corpus"]
    rows = [
        [
            name,
            row["runs"],
            *[number(row[key], ".2f") for key in ("encode", "train", "fit")],
            *[number(row[key], ".3f") for key in ("predict", "predict_batch")],
            number(row["f1"], ".4f"),
            f"{row['token_error']:.2%}",
            number(row["memory"], ".0f"),
        ]
        for name, row in found["rows"].items()
    ]
    header = (
        *("learner", "runs", "encode s", "train s", "total fit s", "predict s"),
        *("from batch s", "F1", "token err", "memory MB"),
    )
    title = (
        f"Speed and memory: {corpus['name']}, {corpus['sentences'][0]} training and "
        f"{corpus['sentences'][1]} test sentences ({corpus['tokens'][0]} and "
        f"{corpus['tokens'][1]} tokens), {corpus['features']} features a token, "
        f"{corpus['labels']} labels"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), NOTE, goals])
