"""What the parameters of the sequence taggers change."""

from functools import cache, partial

import numpy as np
from _defaults_table import render_groups
from _measure import progress
from _scores import span_scores
from _travel_corpora import (
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
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.metrics import token_accuracy_score

TITLE = "Parameters of the taggers"
NOTE = """\
Span F1 on the test sets (accuracy on ARK) of taggers that learn from 2,000 sentences
(ARK: 1,000) with the ready features, means of the seeds, each of which draws others;
"unknown": with words as the only features. class_weight: the share of the tokens of the
rarer half of the labels that are found, and span F1."""
SENTENCES, QUICK_SENTENCES = 2_000, 60
CW, AROW = CWSequenceTagger, AROWSequenceTagger
PA, PERCEPTRON = PASequenceTagger, PerceptronSequenceTagger
NAMES = {CW: "CW", AROW: "AROW", PA: "PA", PERCEPTRON: "perceptron"}

# For each group its features, its sets, and the settings of each learner.
GROUPS = {
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
    "cost": (
        "ready",
        (CHUNKS, NP, SPANISH, DUTCH, ARK),
        {
            AROW: [{"margin_cost": 0.0}, {"margin_cost": 1.0}],
            CW: [{"margin_cost": 0.0}, {"margin_cost": 0.5}],
        },
    ),
    "class_weight": (
        "ready",
        (SPANISH, DUTCH),
        {
            learner: [{"class_weight": None}, {"class_weight": "balanced"}]
            for learner in NAMES
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


def run(settings):
    """Return what every setting reaches on every set of its group."""
    encoded = cache(partial(_encoded, settings=settings))
    groups = {}
    for group, (features, sets, learners) in GROUPS.items():
        rows = groups[group] = {}
        for learner, several in learners.items():
            for options in several:
                judged = partial(_judged, group, learner, options, settings)
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


def _judged(group, learner, options, settings, data):
    """Return the mean over the seeds; labels do not depend on learned confidence."""
    progress(f"{group}: {_row(learner, options)}, {data.corpus}")
    found = []
    size = QUICK_SENTENCES if settings.quick else SENTENCES
    for seed in range(settings.seeds):
        part = part_of(data, size, seed)
        tagger = learner(**options, calibrate_confidence=False, random_state=seed)
        labels = tagger.fit(part.X, part.y).predict(part.X_test)
        found.append(_scores(group, data, labels))
    mean = np.mean(found, axis=0)
    return float(mean) if mean.ndim == 0 else mean.tolist()


def _scores(group, data, labels):
    gold = data.test_labels
    if not data.spans:
        return token_accuracy_score(gold, labels)
    f1 = span_scores(gold, labels)["f1"]
    if group != "class_weight":
        return f1
    return [rare_recall(data.train_labels, gold, labels), f1]


def rare_recall(train, gold, labels):
    """Return the share found of the tokens of the rarer half of the labels."""
    names, counts = np.unique(np.concatenate(train), return_counts=True)
    rare = names[np.argsort(counts, kind="stable")[: len(names) // 2]]
    gold, labels = np.concatenate(gold), np.concatenate(labels)
    asked = np.isin(gold, rare)
    return float(np.mean(labels[asked] == gold[asked]))


render = partial(render_groups, TITLE, NOTE)
