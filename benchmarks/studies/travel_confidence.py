"""Whose confidence finds the errors: the paper's sets, all defaults, a tuned CRF."""

from itertools import product

import numpy as np

from common.corpora import load_paper_set, paper_sets
from common.crfsuite import crf_answers, three_quarters
from common.measure import progress
from common.tables import at_most, format_goals, format_table, number
from papers.mejer2010.confidence_trials import SCALARS, measure
from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder
from skcw.evaluation import confidence_pairs
from studies.travel_words import Records

PART, CRF = "confidence", "CRF"
MEMBERS = {"CW": 1, "CW x8": 8}
JUDGED = {"left_1000": ".1f", "left_5000": ".1f", "area": ".5f"}
SHOWN = JUDGED | {"ap": ".3f", "rmse": ".3f", "errors": ".0f"}


def run(settings):
    """Return the means over the splits, by set and learner."""
    return {
        "quick": settings.quick,
        "ours": _means(_measure_ours(settings).all),
        "crf": _crf(settings),
    }


def _crf(settings):
    """Return the CRF's means over the splits."""
    records = []
    for name, split in product(paper_sets(settings.data_home), range(settings.splits)):
        correct, confidence = crf_answers(name, split, settings)
        key = {"corpus": name, "seed": split, "learner": CRF}
        records.append(key | _figures(confidence, correct))
    return {name: means[CRF] for name, means in _means(records).items()}


def _measure_ours(settings):
    records = Records(PART, settings)
    for name in paper_sets(settings.data_home):
        corpus = load_paper_set(name, settings.data_home, settings.quick)
        for split in range(settings.splits):
            parts = None
            for learner in MEMBERS:
                key = {"corpus": name, "seed": split, "learner": learner}
                if records.has(key):
                    continue
                parts = parts or _encoded(corpus, split)
                progress(f"{PART}: {learner} on {name}, split {split}")
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
    """Return a table and the goals."""
    title = "Confidence with all defaults, 75 / 25 splits: errors left after review"
    sets = {
        name: ours | {CRF: found["crf"][name]} for name, ours in found["ours"].items()
    }
    rows = [
        [f"{name}, {learner}", one["splits"], *_numbers(one)]
        for name, learners in sets.items()
        for learner, one in learners.items()
    ]
    table = format_table(["", "splits", *SHOWN], rows)
    return "\n\n".join([title, table, format_goals(_goals(sets), found["quick"])])


def _numbers(one):
    return [number(one[key], form) for key, form in SHOWN.items()]


def _goals(sets):
    return [
        at_most(f"{key} of CW x8 on {name}", ours["CW x8"][key], ours[CRF][key], form)
        for name, ours in sets.items()
        for key, form in JUDGED.items()
    ]
