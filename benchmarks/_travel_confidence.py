"""Whose confidence finds the errors: the paper's sets, all defaults, a tuned CRF."""

from itertools import product

import numpy as np
from _confidence_crf import crf_answers, three_quarters
from _confidence_measures import SCALARS, measure
from _corpora import load_paper_set, paper_sets
from _measure import progress
from _tables import at_most, format_goals, format_table, number
from _travel_records import Records, labels_of

from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder
from skcw.metrics import query_pairs

PART, CRF = "confidence", "CRF"
MEMBERS = {"CW": 1, "CW x8": 8}
JUDGED = {"left_1000": ".1f", "left_5000": ".1f", "area": ".5f"}
SHOWN = JUDGED | {"ap": ".3f", "rmse": ".3f", "errors": ".0f"}


def run(settings):
    """Return the means over the splits, by label, set and learner."""
    crf = _measure_crf(settings)
    runs = {}
    if set(MEMBERS) & set(settings.learners):
        runs[settings.label] = _measure_ours(settings).all
    for label in labels_of(PART, settings):
        runs.setdefault(label, Records(PART, label, settings).all)
    return {
        "quick": settings.quick,
        "runs": {label: _means(records, crf) for label, records in runs.items()},
    }


def _measure_crf(settings):
    """Return the figures of the CRF; its answers are kept in the cache."""
    found = []
    # Split by split: should time run out, every set has as many.
    for split, name in product(range(settings.splits), paper_sets(settings.data_home)):
        kept = settings.cache and (settings.cache / f"crf-{name}-{split}.npz").exists()
        if kept or (CRF in settings.learners and split < settings.crf_splits):
            correct, confidence = crf_answers(name, split, settings)
            key = {"corpus": name, "seed": split, "learner": CRF}
            found.append(key | _figures(confidence, correct))
    return found


def _measure_ours(settings):
    names = paper_sets(settings.data_home)
    learners = [name for name in MEMBERS if name in settings.learners]
    again = () if settings.resume else set(product(names, learners))
    records = Records(PART, settings.label, settings, again)
    for name in names:
        corpus = load_paper_set(name, settings.data_home, settings.quick)
        for split in range(settings.splits):
            parts = None
            for learner in learners:
                key = {"corpus": name, "seed": split, "learner": learner}
                if records.has(key):
                    continue
                parts = parts or _encoded(corpus, split)
                progress(f"{settings.label}: {learner} on {name}, split {split}")
                records.add(key, _ours(MEMBERS[learner], split, *parts))
                records.save()
    return records


def _encoded(corpus, split):
    train, test = map(corpus.part, three_quarters(len(corpus.tokens), split))
    encoder = SequenceEncoder()
    X = encoder.fit_transform(train.features())
    return X, train.labels, encoder.transform(test.features()), test.labels


def _ours(n_models, seed, X, y, X_test, y_test):
    tagger = CWSequenceTagger(n_models=n_models, random_state=seed).fit(X, y)
    answers = query_pairs(tagger, X_test, y_test)
    return _figures(answers.confidence, answers.correct.astype(bool))


def _figures(confidence, correct):
    found = measure(confidence, correct, probability=True)
    return {name: found[name] for name in SCALARS}


def _means(records, crf):
    """Return the means by set and learner, over the splits that the CRF has too."""
    found = {}
    for name in dict.fromkeys(record["corpus"] for record in records):
        ours = [record for record in records if record["corpus"] == name]
        crfs = [record for record in crf if record["corpus"] == name]
        splits = {r["seed"] for r in crfs} & {r["seed"] for r in ours}
        splits = splits or {record["seed"] for record in ours}
        rows = {}
        for record in [*ours, *crfs]:
            if record["seed"] in splits:
                rows.setdefault(record["learner"], []).append(record)
        found[name] = {
            learner: {key: float(np.mean([r[key] for r in group])) for key in SCALARS}
            | {"splits": len(group)}
            for learner, group in rows.items()
        }
    return found


def render(found):
    """Return a table and the goals of every label."""
    parts = ["Confidence with all defaults, 75 / 25 splits: errors left after review"]
    for label, sets in found["runs"].items():
        rows = [
            [f"{name}, {learner}", one["splits"], *_numbers(one)]
            for name, learners in sets.items()
            for learner, one in learners.items()
        ]
        parts += [f"Label: {label}", format_table(["", "splits", *SHOWN], rows)]
        if goals := _goals(sets):
            parts.append(format_goals(goals, found["quick"]))
    return "\n\n".join(parts)


def _numbers(one):
    return [number(one[key], form) for key, form in SHOWN.items()]


def _goals(sets):
    return [
        at_most(f"{key} of CW x8 on {name}", ours["CW x8"][key], ours[CRF][key], form)
        for name, ours in sets.items()
        if {CRF, "CW x8"} <= set(ours)
        for key, form in JUDGED.items()
    ]
