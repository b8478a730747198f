"""Taggers with their defaults over the grid, beside a CRF whose penalties are tuned.

Our learners can be measured under several labels, such as before and after a change;
all labels that a cache holds are compared. The CRF is measured once.
"""

from itertools import product

from _measure import progress
from _travel_cells import as_lines, left_out
from _travel_corpora import ALL, FEATURES, encode, load, part_of, sizes_of
from _travel_crf import CRF, SUBSETS, CRFCells, stored_records
from _travel_measures import fit_and_measure
from _travel_picture import picture
from _travel_records import Records, labels_of
from _travel_tables import render

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)

__all__ = ["picture", "render", "run"]


def _mean_of_eight(random_state):
    return CWSequenceTagger(n_models=8, random_state=random_state)


TAGGERS = {
    "CW": CWSequenceTagger,
    "CW x8": _mean_of_eight,
    "AROW": AROWSequenceTagger,
    "PA": PASequenceTagger,
    "perceptron": PerceptronSequenceTagger,
}


def run(settings):
    """Return the figures of all labels and of the CRF."""
    crf = measure_crf(settings) if CRF in settings.learners else None
    # Read again: the cache may hold corpora that were not asked for now.
    crf = stored_records(settings.cache) or crf or []
    runs = {}
    if set(TAGGERS) & set(settings.learners):
        runs[settings.label] = measure_ours(settings).all
    for label in labels_of("words", settings):
        runs.setdefault(label, Records("words", label, settings).all)
    return {
        "quick": settings.quick,
        "runs": {label: as_lines(records, crf) for label, records in runs.items()},
        "crf": as_lines(crf, crf),
        "left_out": left_out(crf),
    }


def measure_crf(settings):
    """Return the CRF's records: what is cheap comes first."""
    records = []
    small = [size for size in SUBSETS if size != ALL]
    few, many = FEATURES[:2], FEATURES[2:]
    for sizes, features in ((small, FEATURES), ([ALL], few), ([ALL], many)):
        for data in _grid(settings, features):
            cells = CRFCells(data, settings)
            for size in sizes_of(data, settings):
                if size in sizes:
                    records += cells.measure(size)
    return records


def measure_ours(settings):
    """Return the records of our learners, saved after every size of a corpus."""
    learners = [name for name in TAGGERS if name in settings.learners]
    again = () if settings.resume else set(product(settings.corpora, learners))
    records = Records("words", settings.label, settings, again)
    for data in _grid(settings):
        for size in sizes_of(data, settings):
            progress(f"{settings.label}: {data.corpus}, {data.features}, {size}")
            for seed in range(settings.seeds):
                key = {"corpus": data.corpus, "features": data.features}
                key |= {"size": size, "seed": seed}
                missing = [x for x in learners if not records.has(key | {"learner": x})]
                if not missing:
                    continue
                part = part_of(data, size, seed)
                for learner in missing:
                    tagger = TAGGERS[learner](random_state=seed)
                    found = fit_and_measure(tagger, part, data.spans)
                    records.add(key | {"learner": learner}, found)
            records.save()
    return records


def _grid(settings, features=FEATURES):
    """Yield every corpus with every one of the feature sets."""
    for corpus in settings.corpora:
        sentences = load(corpus, settings)
        for one in features:
            yield encode(corpus, one, sentences)
