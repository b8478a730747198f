"""Defaults: what the parameters of the learners change.

Parts, each of which can be run by itself; results are merged into one JSON file:

taggers     C, r, phi, diagonals, cost-augmented decoding, unknown tokens
rows        phi, updates, diagonals and averaging of CW, r of AROW

    OMP_NUM_THREADS=1 python benchmarks/studies/bench_defaults.py --data-home DIR \\
        --seeds 2
    python benchmarks/studies/bench_defaults.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

from functools import cache, partial
from itertools import islice

import numpy as np
from scipy.stats import norm
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from common.corpora import CONLL
from common.measure import progress, span_scores
from common.rows import (
    AMAZON,
    BINARY,
    DIGITS,
    ENRON_A,
    ENRON_B,
    FOLDERS,
    MADE,
    NEWS,
    TF_IDF,
    parts_of,
)
from common.runner import Part, main
from common.tables import format_table
from common.tagged import (
    ARK,
    BUILT_IN,
    CHUNKS,
    DUTCH,
    NP,
    SPANISH,
    encode,
    load,
    part_of,
)
from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    MultiClassAROW,
    MultiClassCW,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.metrics import token_accuracy_score

# ---- What all parts of the defaults have in common ----


def render_groups(title, note, found):
    """Return a table for each group: a row for each setting, a column for each set."""
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    tables = [_table(name, rows) for name, rows in found["groups"].items()]
    return "\n\n".join([title, *tables, note])


def _table(name, rows):
    sets = list(dict.fromkeys(one for row in rows.values() for one in row))
    cells = [
        [setting, *(_cell(row.get(one)) for one in sets)]
        for setting, row in rows.items()
    ]
    return format_table([name, *sets], cells)


def _cell(value):
    return "-" if value is None else f"{value:.4f}"


# ---- What the parameters of the sequence taggers change ----

TITLE_TAGGERS = "Parameters of the taggers"
NOTE_TAGGERS = """\
Span F1 on the test sets (accuracy on ARK) of taggers that learn from 2,000 sentences
(ARK: 1,000) with the ready features, means of the seeds, each of which draws others;
"unknown": with words as the only features."""
SENTENCES_TAGGERS, QUICK_SENTENCES = 2_000, 60
CW, AROW = CWSequenceTagger, AROWSequenceTagger
PA, PERCEPTRON = PASequenceTagger, PerceptronSequenceTagger
NAMES = {CW: "CW", AROW: "AROW", PA: "PA", PERCEPTRON: "perceptron"}

# For each group its features, its sets, and the settings of each learner.
GROUPS_TAGGERS = {
    "C": ("ready", (CHUNKS, DUTCH), {PA: [{"C": C} for C in (0.001, 0.03, 0.3, 1.0)]}),
    "r": ("ready", (CHUNKS, DUTCH), {AROW: [{"r": r} for r in (0.1, 1.0, 30.0)]}),
    "phi": (
        "ready",
        (CHUNKS, DUTCH),
        {
            CW: [{"phi": phi} for phi in (0.1, 0.25, 1.0)]
            + [{"C": C} for C in (0.5, float("inf"))]
        },
    ),
    "diagonal": (
        "ready",
        (CHUNKS, SPANISH, DUTCH),
        {
            AROW: [
                {"diagonal": name, "margin_cost": 0.0}
                for name in ("covariance", "precision")
            ]
        },
    ),
    "margin_cost": (
        "ready",
        (CHUNKS, NP, SPANISH, DUTCH, ARK),
        {
            AROW: [{"margin_cost": 0.0}, {"margin_cost": 1.0}],
            CW: [{"margin_cost": 0.0}, {"margin_cost": 0.5}],
        },
    ),
    "unknown": (
        "words",
        (SPANISH, DUTCH),
        {
            learner: [{"learn_unknown_token": False}, {"learn_unknown_token": True}]
            for learner in NAMES
        },
    ),
}


def run_taggers(settings):
    """Return what every setting reaches on every set of its group."""
    encoded = cache(partial(_encoded, settings=settings))
    groups = {}
    for group, (features, sets, learners) in GROUPS_TAGGERS.items():
        rows = groups[group] = {}
        for learner, several in learners.items():
            for options in several:
                judged = partial(_judged_taggers, group, learner, options, settings)
                rows[_row(learner, options)] = {
                    name: judged(encoded(name, features))
                    for name in ((BUILT_IN,) if settings.quick else sets)
                }
    return {"quick": settings.quick, "seeds": settings.seeds, "groups": groups}


def _encoded(name, features, settings):
    return encode(name, features, load(name, settings))


def _row(learner, options):
    shown = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"{NAMES[learner]}, {shown}"


def _judged_taggers(group, learner, options, settings, data):
    """Return the mean over the seeds; labels do not depend on learned confidence."""
    progress(f"{group}: {_row(learner, options)}, {data.corpus}")
    found = []
    size = QUICK_SENTENCES if settings.quick else SENTENCES_TAGGERS
    for seed in range(settings.seeds):
        part = part_of(data, size, seed)
        tagger = learner(**options, calibrate_confidence=False, random_state=seed)
        labels = tagger.fit(part.X, part.y).predict(part.X_test)
        found.append(_score(data, labels))
    return float(np.mean(found))


def _score(data, labels):
    if data.spans:
        return span_scores(data.test_labels, labels)["f1"]
    return token_accuracy_score(data.test_labels, labels)


render_taggers = partial(render_groups, TITLE_TAGGERS, NOTE_TAGGERS)


# ---- What the parameters of the classifiers change ----

TITLE_ROWS = "Parameters of the classifiers"
NOTE_ROWS = """\
Accuracy on a quarter of the rows, one split, means of the seeds; "update": log loss of
the probabilities. The paper's update: MultiClassCW(norm.ppf(0.9),
update="single", step="variance", C=inf, variance_scale=1.0). Digits are shades."""
PAPERS = {
    "phi": norm.ppf(0.9),
    "update": "single",
    "step": "variance",
    "C": float("inf"),
}
NO_SHADOW = {"variance_scale": 1.0}


def _cw(**options):
    return partial(MultiClassCW, **NO_SHADOW, **options)


def _papers(**options):
    return partial(MultiClassCW, **NO_SHADOW, **PAPERS, **options)


def _accuracy(model, part):
    return model.score(part.X_test, part.y_test)


def _log_loss(model, part):
    return log_loss(part.y_test, model.predict_proba(part.X_test))


# For each group the measure, the sets with their forms, and the settings.
GROUPS_ROWS = {
    "phi": (
        _accuracy,
        ((NEWS, BINARY), (DIGITS, TF_IDF)),
        {f"phi = {phi}": _cw(phi=phi) for phi in (1.0, 2.0, 3.0, "auto")},
    ),
    "update": (
        _log_loss,
        ((ENRON_A, BINARY), (ENRON_A, TF_IDF), (ENRON_B, BINARY), (ENRON_B, TF_IDF)),
        {name: partial(MultiClassCW, update=name) for name in ("joint", "single")},
    ),
    "diagonal": (
        _accuracy,
        ((NEWS, BINARY),),
        {
            f"the paper's, {name}": _papers(diagonal=name)
            for name in ("precision", "covariance")
        },
    ),
    "averaging": (
        _accuracy,
        ((NEWS, BINARY), (AMAZON, BINARY), (ENRON_A, BINARY)),
        {
            f"the paper's, averaging {yes}": _papers(averaging=yes)
            for yes in (False, True)
        },
    ),
    "r": (
        _accuracy,
        ((NEWS, BINARY), (NEWS, TF_IDF), (AMAZON, BINARY)),
        {
            f"r = {r}": partial(MultiClassAROW, r=r, **NO_SHADOW)
            for r in (0.1, 1.0, 3.0, 10.0)
        },
    ),
}


def run_rows(settings):
    """Return what every setting reaches on every set of its group."""
    loaded = cache(partial(_loaded, settings=settings))
    with threadpool_limits(1):
        groups = {name: _group(name, loaded, settings) for name in GROUPS_ROWS}
    return {"quick": settings.quick, "seeds": settings.seeds, "groups": groups}


def _group(name, loaded, settings):
    measure, sets, learners = GROUPS_ROWS[name]
    if settings.quick:
        sets = ((MADE, BINARY),)
    found = {}
    for setting, make in learners.items():
        progress(f"{name}: {setting}")
        found[setting] = {
            f"{one}, {form}": _judged_rows(
                measure, make, loaded(one, form), settings.seeds
            )
            for one, form in sets
        }
    return found


def _loaded(name, form, settings):
    return next(islice(parts_of(name, form, settings), 1))


def _judged_rows(measure, make, part, seeds):
    found = [
        measure(make(random_state=seed).fit(part.X, part.y), part)
        for seed in range(seeds)
    ]
    return float(np.mean(found))


render_rows = partial(render_groups, TITLE_ROWS, NOTE_ROWS)


PARTS = {
    "taggers": Part(run_taggers, render_taggers),
    "rows": Part(run_rows, render_rows),
}


if __name__ == "__main__":
    main(__file__, PARTS, (*CONLL, *FOLDERS))
