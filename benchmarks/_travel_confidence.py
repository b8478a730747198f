"""Whose confidence finds the errors: the paper's sets, all defaults, a tuned CRF.

The CRF's figures are those of bench_confidence.py, which has the same splits.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np
from _confidence_crf import crf_answers, three_quarters
from _confidence_measures import SCALARS, measure
from _corpora import load_paper_set, paper_sets
from _measure import progress
from _tables import at_most, format_goals, format_table, number
from _travel_records import Records, labels_of

from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder
from skcw.evaluation import confidence_pairs

PART, CRF, TUNED_CRF = "confidence", "CRF", "tuned CRF"
MEASURED = Path(__file__).resolve().parent / "results" / "confidence.json"
MEMBERS = {"CW": 1, "CW x8": 8}
JUDGED = {"left_1000": ".1f", "left_5000": ".1f", "area": ".5f"}
SHOWN = JUDGED | {"ap": ".3f", "rmse": ".3f", "errors": ".0f"}


def run(settings):
    """Return the means over the splits, by label, set and learner."""
    crf = _quick_crf(settings) if settings.quick else _known_crf()
    runs = {}
    if set(MEMBERS) & set(settings.learners):
        runs[settings.label] = _measure_ours(settings).all
    for label in labels_of(PART, settings):
        runs.setdefault(label, Records(PART, label, settings).all)
    return {
        "quick": settings.quick,
        "runs": {label: _means(records) for label, records in runs.items()},
        "crf": crf,
    }


def _known_crf():
    """Return the CRF's means over the splits as they were measured before."""
    known = json.loads(MEASURED.read_text("utf-8"))["methods"]
    found = {}
    for name, learners in known["sets"].items():
        means = {key: value[0] for key, value in learners[TUNED_CRF][TUNED_CRF].items()}
        found[name] = {key: means[key] for key in SCALARS}
        found[name]["splits"] = known["splits"]
    return found


def _quick_crf(settings):
    records = []
    for name, split in product(paper_sets(settings.data_home), range(settings.splits)):
        correct, confidence = crf_answers(name, split, settings)
        key = {"corpus": name, "seed": split, "learner": CRF}
        records.append(key | _figures(confidence, correct))
    return {name: means[CRF] for name, means in _means(records).items()}


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
    answers = confidence_pairs(tagger, X_test, y_test)
    return _figures(answers.confidence, answers.correct.astype(bool))


def _figures(confidence, correct):
    found = measure(confidence, correct, probability=True)
    return {name: found[name] for name in SCALARS}


def _means(records):
    """Return the means over the splits, by set and learner."""
    groups = {}
    for record in records:
        learners = groups.setdefault(record["corpus"], {})
        learners.setdefault(record["learner"], []).append(record)
    return {
        name: {learner: _mean(group) for learner, group in learners.items()}
        for name, learners in groups.items()
    }


def _mean(group):
    means = {key: float(np.mean([r[key] for r in group])) for key in SCALARS}
    return means | {"splits": len(group)}


def render(found):
    """Return a table and the goals of every label."""
    parts = ["Confidence with all defaults, 75 / 25 splits: errors left after review"]
    for label, sets in found["runs"].items():
        sets = {name: ours | {CRF: found["crf"][name]} for name, ours in sets.items()}
        rows = [
            [f"{name}, {learner}", one["splits"], *_numbers(one)]
            for name, learners in sets.items()
            for learner, one in learners.items()
        ]
        parts += [f"Label: {label}", format_table(["", "splits", *SHOWN], rows)]
        if goals := _goals(sets):
            parts.append(format_goals(goals, found["quick"]))
        else:
            parts.append("No goals: the CRF's means are over other splits.")
    return "\n\n".join(parts)


def _numbers(one):
    return [number(one[key], form) for key, form in SHOWN.items()]


def _goals(sets):
    return [
        at_most(f"{key} of CW x8 on {name}", ours["CW x8"][key], ours[CRF][key], form)
        for name, ours in sets.items()
        # Splits differ by more than learners do.
        if "CW x8" in ours and ours["CW x8"]["splits"] == ours[CRF]["splits"]
        for key, form in JUDGED.items()
    ]
