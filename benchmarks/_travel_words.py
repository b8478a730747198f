"""Taggers with their defaults over the grid, beside a CRF whose penalties are tuned.

Our learners can be measured under several labels, such as before and after a change;
all that a cache holds is compared. The CRF is measured once.
"""

import json
from itertools import product

from _measure import progress
from _travel_corpora import ALL, BUILT_IN, CORPORA, FEATURES, encode, load, part_of
from _travel_corpora import sizes_of
from _travel_crf import CRF, SUBSETS, CRFCells, stored_records
from _travel_measures import fit_and_measure

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)

CW, CW_MEAN, AROW, PA, PERCEPTRON = "CW", "CW x8", "AROW", "PA", "perceptron"
TAGGERS = {
    CW: CWSequenceTagger,
    CW_MEAN: lambda random_state: CWSequenceTagger(
        n_models=8, random_state=random_state
    ),
    AROW: AROWSequenceTagger,
    PA: PASequenceTagger,
    PERCEPTRON: PerceptronSequenceTagger,
}
LEARNERS = (*TAGGERS, CRF)


def run(settings):
    """Return the records of all labels and of the CRF."""
    if CRF in settings.learners:
        crf = measure_crf(settings)
    else:
        crf = stored_records(settings.cache)
    return {"crf": crf}


def measure_crf(settings):
    """Return the CRF's records: the small parts of all corpora come first."""
    records = []
    small = [size for size in SUBSETS if size != ALL]
    for sizes in (small, [ALL]):
        for data in corpora_of(settings):
            cells = CRFCells(data, settings)
            for size in sizes_of(data, settings):
                if size in sizes:
                    records += cells.measure(size)
    return records


def corpora_of(settings):
    """Yield every corpus with every feature set."""
    for corpus in settings.corpora:
        sentences = load(corpus, settings)
        for features in FEATURES:
            yield encode(corpus, features, sentences)
