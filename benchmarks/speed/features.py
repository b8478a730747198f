"""Native features against the same features built in Python: time, memory and F1."""

import statistics

from common.corpora import LINES, chunking_path, lines_of, load_chunking
from common.crfsuite import CRFsuite
from common.measure import all_scores, in_fresh_process, peak_memory, progress, timed
from common.tables import at_least, at_most, format_goals, format_table, number
from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.data import TokenColumns
from skcw.features import WindowFeatures
from skcw.io import read_columns

PASSES = 10
PYTHON, NATIVE, TUPLES = (
    "Python strings + CRFsuite ap",
    "skcw, columns of a file",
    "skcw, lists of tuples",
)
NOTE = """\
Medians over the runs, the rows taking turns. All begin with the columns in memory:
lists of tuples, or TokenColumns as read_columns returns them. Features: the Python
function to lists of strings; WindowFeatures to a SequenceBatch with its vocabulary.
Fit: features and 10 passes. Tag: features and labels of the test set. Memory: peak of a
process of its own that reads the columns, builds the features and trains."""


def run(settings):
    """Return the medians of the rows, and the goals."""
    train, test = load_chunking(settings.data_home, settings.quick)
    rows = {PYTHON: [], NATIVE: [], TUPLES: []}
    work = {
        PYTHON: _measure_python,
        NATIVE: lambda *corpora: _measure_native(*corpora, TokenColumns.from_sequences),
        TUPLES: lambda *corpora: _measure_native(*corpora, list),
    }
    for turn in range(settings.seeds):
        for name in rows:
            progress(f"speed: run {turn + 1} of {settings.seeds}, {name}")
            rows[name].append(work[name](train, test))
    found = {
        name: {key: statistics.median(r[key] for r in runs) for key in runs[0]}
        for name, runs in rows.items()
    }
    for name, row in found.items():
        progress(f"speed: memory of {name}")
        row["memory"] = in_fresh_process(
            _memory, name, settings.data_home, settings.quick
        )
    return {
        "quick": settings.quick,
        "corpus": f"{train.name}, {sum(map(len, train.tokens))} and "
        f"{sum(map(len, test.tokens))} tokens",
        "runs": settings.seeds,
        "rows": found,
        "goals": _goals(found),
    }


def _measure_python(train, test):
    model = CRFsuite("ap", max_iterations=PASSES)
    X, features = timed(train.features)
    _, learn = timed(lambda: model.fit(X, train.labels))
    model.predict(X[:1])
    y_pred, tag = timed(lambda: model.predict(test.features()))
    return _row(features, features + learn, tag, test.labels, y_pred)


def _measure_native(train, test, columns_of):
    X, X_test = columns_of(train.tokens), columns_of(test.tokens)
    _, features = timed(lambda: WindowFeatures(lines_of(train)).fit_transform(X))
    model = _pipeline(train)
    _, fit = timed(lambda: model.fit(X, train.labels))
    y_pred, tag = timed(lambda: model.predict(X_test))
    return _row(features, fit, tag, test.labels, y_pred)


def _pipeline(corpus):
    return make_tagging_pipeline(
        WindowFeatures(lines_of(corpus)),
        CWSequenceTagger(max_iter=PASSES, random_state=0),
    )


def _row(features, fit, tag, y, y_pred):
    seconds = {"features": features, "fit": fit, "tag": tag}
    return {**seconds, "f1": all_scores(y, y_pred)["f1"]}


def _memory(name, data_home, quick):
    """Return the peak of this process in megabytes, after it has trained."""
    if name == NATIVE and (path := chunking_path(data_home)) and not quick:
        X, y = read_columns(path).split_label()
        make_tagging_pipeline(
            WindowFeatures(LINES), CWSequenceTagger(max_iter=PASSES, random_state=0)
        ).fit(X, y)
        return peak_memory()
    [train] = load_chunking(data_home, quick, parts=["train"])
    if name == PYTHON:
        CRFsuite("ap", max_iterations=PASSES).fit(train.features(), train.labels)
    else:
        _pipeline(train).fit(train.tokens, train.labels)
    return peak_memory()


def _goals(rows):
    python, native, tuples = rows[PYTHON], rows[NATIVE], rows[TUPLES]
    goals = []
    for key, what, bound in (
        ("features", "features alone, times faster", 15),
        ("fit", "columns to fitted model, times faster", 8),
        ("tag", "columns to labels, times faster", 12),
    ):
        goals.append(at_least(what, python[key] / native[key], bound))
        goals.append(at_least(f"{what}, from tuples", python[key] / tuples[key], bound))
    share = native["memory"] / python["memory"]
    return [
        *goals,
        at_least("test F1, that of CRFsuite ap", native["f1"], python["f1"], ".4f"),
        at_most("peak memory of training, share", share, 0.5, ".2f"),
    ]


def render(found):
    """Return the results as text."""
    rows = [
        [
            name,
            *[number(row[key], ".3f") for key in ("features", "fit", "tag")],
            number(row["f1"], ".4f"),
            number(row["memory"], ".0f"),
        ]
        for name, row in found["rows"].items()
    ]
    header = ("", "features s", "fit s", "tag s", "F1", "memory MB")
    title = (
        f"From columns to labels: {found['corpus']}; medians of {found['runs']} runs"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), NOTE, goals])
