"""Many labels: memory, time and files as they grow; half precision, and pruning."""

import time
from copy import deepcopy
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.metrics import accuracy_score

from common.measure import MB, progress
from common.rows import NEWS, load_rows, set_or_made
from common.tables import at_least, format_goals, format_table, number
from common.tagged import ARK, BUILT_IN, CHUNKS, DUTCH, EWT, NP, SPANISH, encode, load
from skcw import CWSequenceTagger, InferenceModel, MultiClassCW
from skcw import load as load_model
from skcw.metrics import root_calibration_mse, span_f1_score, token_accuracy_score

# ---- What pruned models lose: scores, confidence and the size of their files ----

# None is the model as it was trained; 0 only forgets features without weights.
SHARES = (None, 0, 0.25, 0.5, 0.75, 0.9)
DEFAULT = 0.25
NOTE_PRUNING = """\
Pruned: CW with confidences at its defaults, and after prune(share): scores as above,
the share of words whose label is another one, root CalibMSE of the confidences,
thousands of features, and the file in full and in half precision; mean over seeds."""
FORMS = {
    "score": ".4f",
    "other": ".3%",
    "calibration": ".4f",
    "features": ".0f",
    "file": ".1f",
    "half": ".1f",
}
HEADER = ("corpus", "share", "score", "others", "root CalibMSE", "features k")


def measured(data, seeds):
    """Return a row for each share: means over the seeds."""
    runs = [_run(data, seed) for seed in range(seeds)]
    return [
        {
            "share": share,
            **{key: float(np.mean([run[i][key] for run in runs])) for key in FORMS},
        }
        for i, share in enumerate(SHARES)
    ]


def _run(data, seed):
    tagger = CWSequenceTagger(random_state=seed).fit(data.train, data.train_labels)
    first = tagger.predict(data.test)
    return [_pruned(tagger, share, data, first) for share in SHARES]


def _pruned(tagger, share, data, first):
    tagger, test = deepcopy(tagger), data.test
    names = len(tagger.vocabulary_)
    if share is not None:
        # The batch was encoded before: without what will be forgotten it is the same.
        belief = tagger.prune(share, drop_features=False).belief_
        test = test._compact()
        test = test._filtered((belief.row_of != belief.width)[test.indices])
    answers = tagger.predict_all(test)
    labels, sure = answers.labels(), answers.confidence()
    gold, found = (np.array(list(chain(*rows))) for rows in (data.test_labels, labels))
    if share is not None:
        names = len(tagger.prune(0).vocabulary_)
    score = span_f1_score if data.spans else token_accuracy_score
    whole, half = _sizes(tagger)
    return {
        "score": score(data.test_labels, labels),
        "other": 1.0 - token_accuracy_score(first, labels),
        "calibration": root_calibration_mse(gold == found, np.concatenate(sure)),
        "features": names / 1000,
        "file": whole,
        "half": half,
    }


def _sizes(tagger):
    """Return the megabytes of a tagger's file, and of one in half precision."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        sizes = []
        for dtype in (None, "float16"):
            tagger.save(path, dtype=dtype)
            sizes.append(path.stat().st_size / MB)
    return sizes


def goal(found):
    """Return whether the default share costs little anywhere."""
    gains = []
    for row in found:
        score = {line["share"]: line["score"] for line in row["lines"]}
        gains.append(score[DEFAULT] - score[None])
    return at_least(f"least gain by prune({DEFAULT})", min(gains), -0.0005, ".5f")


def render_pruning(found):
    """Return the table."""
    rows = [
        (
            row["corpus"],
            "-" if line["share"] is None else line["share"],
            *(number(line[key], form) for key, form in FORMS.items()),
        )
        for row in found
        for line in row["lines"]
    ]
    return format_table((*HEADER, "file MB", "half MB"), rows)


# ---- Many labels ----

N_LABELS, QUICK_LABELS = (50, 100, 200, 500), (16, 32)
PASSES = 3
# Blocks of so many labels: were they the unit of memory, those untouched cost nothing.
BLOCKS = (8, 16)
CORPORA, MADE = (CHUNKS, NP, SPANISH, DUTCH, ARK, EWT), (BUILT_IN,)
NOTE = f"""\
Labels: tags of {EWT}, each joined with that of the word before; the rarest pairs are
dealt out so that there are as many as told. {PASSES} passes of CW without
calibrate_confidence; CPU microseconds a token of one pass and of tagging. Tables: mean,
variance and average; used: the share of their cells that an update has changed, and of
blocks of 8 and 16 labels that have such a cell. Files: as they are, and with
dtype="float16"; mapped: with whole tables; open: CPU seconds of InferenceModel.open.
Half precision: span F1 (accuracy on {ARK} and {EWT}) on the test set, as trained and
from such a file, with the share of words whose label is another one; mean over the
seeds. {NEWS}: MultiClassCW at its defaults, accuracy on every fourth message, and the
share of messages. {NOTE_PRUNING}"""


def run(settings):
    """Return what many labels cost, and what half precision costs."""
    real = settings.data_home and not settings.quick
    corpora = CORPORA if real else MADE
    halves, prunes = [], []
    for corpus in corpora:
        progress(f"large: half precision, {corpus}")
        data = encode(corpus, "ready", load(corpus, settings))
        halves.append({"corpus": corpus, **_mean(_halved, data, settings.seeds)})
        progress(f"large: pruning, {corpus}")
        lines = measured(data, settings.seeds)
        prunes.append({"corpus": corpus, "lines": lines})
    name = set_or_made(NEWS, settings.data_home)
    progress(f"large: half precision, {name}")
    rows = load_rows(name, settings.data_home, settings.quick)
    halves.append({"corpus": name, **_mean(_halved_rows, rows, settings.seeds)})
    grown = []
    for n_labels in QUICK_LABELS if settings.quick else N_LABELS:
        progress(f"large: {n_labels} labels")
        grown.append({"labels": n_labels, **_grown(data, n_labels)})
    found = {
        "quick": settings.quick,
        "seeds": settings.seeds,
        "corpus": corpora[-1],
        "grown": grown,
        "halves": halves,
        "prunes": prunes,
    }
    return {**found, "goals": _goals(found)}


def joined_labels(rows, n_labels):
    """Return each label joined with the one before, as so many different ones."""
    pairs = [
        [f"{a}|{b}" for a, b in zip(["^", *row], row, strict=False)] for row in rows
    ]
    names, counts = np.unique(
        [name for row in pairs for name in row], return_counts=True
    )
    places = {name: i for i, name in enumerate(names[np.argsort(-counts)])}
    return [[f"L{places[name] % n_labels}" for name in row] for row in pairs]


def _grown(data, n_labels):
    y = joined_labels(data.train_labels, n_labels)
    n_tokens = sum(map(len, y))
    tagger = CWSequenceTagger(
        max_iter=PASSES, calibrate_confidence=False, random_state=0
    )
    began = time.process_time()
    tagger.fit(data.train, y)
    learned = time.process_time()
    tagger.predict(data.train)
    tagged = time.process_time()
    belief = tagger.belief_
    tables = (belief.mean, belief.variance, belief.average)
    whole, half, _ = _files(tagger)
    return {
        "train": (learned - began) / PASSES / n_tokens * 1e6,
        "tag": (tagged - learned) / n_tokens * 1e6,
        "tables": sum(table.nbytes for table in tables) / MB,
        **_used(belief),
        "file": whole,
        "half": half,
        **_opened(tagger),
    }


def _used(belief):
    """Return the share of cells that were changed, and of blocks that have one."""
    rows = belief.variance.reshape(-1, belief.width)[belief.width + 1 :]
    changed = rows[:, : belief.n_labels] != belief.prior_variance
    found = {"used": float(changed.mean())}
    for size in BLOCKS:
        more = -belief.n_labels % size
        blocks = np.pad(changed, ((0, 0), (0, more))).reshape(len(rows), -1, size)
        found[f"blocks {size}"] = float(blocks.any(axis=2).mean())
    return found


def _opened(tagger):
    """Return the seconds to open a tagger's file, and its size and those if mapped."""
    found = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for name, mapped in (("open", False), ("open mapped", True)):
            tagger.save(path, mapped=mapped)
            began = time.process_time()
            InferenceModel.open(path, mapped=mapped)
            found[name] = time.process_time() - began
        found["mapped"] = path.stat().st_size / MB
    return found


def _files(model):
    """Return the megabytes of a model's file, of one in half precision, and that."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("whole", "half")]
        model.save(paths[0])
        model.save(paths[1], dtype="float16")
        sizes = [path.stat().st_size / MB for path in paths]
        return *sizes, load_model(paths[1])


def _mean(halved, data, n_seeds):
    """Return what half precision costs, the mean over the seeds."""
    runs = [halved(data, seed) for seed in range(n_seeds)]
    return {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}


def _halved(data, seed):
    tagger = CWSequenceTagger(calibrate_confidence=False, random_state=seed)
    tagger.fit(data.train, data.train_labels)
    score = span_f1_score if data.spans else token_accuracy_score
    return _compared(tagger, data.test, data.test_labels, score, token_accuracy_score)


def _halved_rows(rows, seed):
    test = np.arange(len(rows.y)) % 4 == 3
    classifier = MultiClassCW(random_state=seed).fit(rows.X[~test], rows.y[~test])
    accuracy = accuracy_score
    return _compared(classifier, rows.X[test], rows.y[test], accuracy, accuracy)


def _compared(model, new, truth, score, agreement):
    """Return the scores of a model and of its file, how they agree, and sizes."""
    whole, half, loaded = _files(model)
    guess, rounded = model.predict(new), loaded.predict(new)
    return {
        "score": float(score(truth, guess)),
        "rounded": float(score(truth, rounded)),
        "other": 1.0 - float(agreement(guess, rounded)),
        "file": whole,
        "half": half,
    }


def _goals(found):
    lost = min(row["rounded"] - row["score"] for row in found["halves"])
    half = at_least("least gain by half precision", lost, -0.0005, ".5f")
    return [half, goal(found["prunes"])]


def render(found):
    """Return the tables."""
    forms = {
        "train": ".1f",
        "tag": ".2f",
        "tables": ".0f",
        "used": ".1%",
        **{f"blocks {size}": ".1%" for size in BLOCKS},
        "file": ".0f",
        "half": ".0f",
        "open": ".2f",
        "mapped": ".0f",
        "open mapped": ".2f",
    }
    grown = [
        (row["labels"], *(number(row[key], form) for key, form in forms.items()))
        for row in found["grown"]
    ]
    forms = {
        "score": ".4f",
        "rounded": ".4f",
        "other": ".4%",
        "file": ".1f",
        "half": ".1f",
    }
    halves = [
        (row["corpus"], *(number(row[key], form) for key, form in forms.items()))
        for row in found["halves"]
    ]
    title = f"Many labels ({found['corpus']}), half precision and pruning"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    blocks = tuple(f"blocks of {size}" for size in BLOCKS)
    header = ("labels", "train us", "tag us", "tables MB", "used", *blocks)
    sizes = ("file MB", "half MB")
    opened = ("open s", "mapped MB", "open s, mapped")
    return "\n\n".join(
        [
            title,
            format_table((*header, *sizes, *opened), grown),
            format_table(("corpus", "score", "from half", "others", *sizes), halves),
            render_pruning(found["prunes"]),
            NOTE,
            format_goals(found["goals"], found["quick"]),
        ]
    )
