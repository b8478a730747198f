"""Every tagger, in several settings, obeys every law that speaks of it."""

import numpy as np

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.utils.checks import parametrize_with_tagger_checks
from tests.learners import TAGGERS

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def follows(before, after):
    """Allow what BIO allows, told as a function of two labels."""
    if after is None or not after.startswith("I"):
        return True
    return before is not None and before[0] in "BI" and before[1:] == after[1:]


MATRIX = np.array([[follows(a, b) for b in LABELS] for a in LABELS])

SETTINGS = [
    CWSequenceTagger(phi=0.3, margin_cost=0),
    CWSequenceTagger(diagonal="precision", dtype="float64"),
    CWSequenceTagger(diagonal="optimal", averaging=False),
    CWSequenceTagger(n_models=3, n_jobs=2),
    CWSequenceTagger(constraints="BIO", class_weight={"O": 0.5}),
    CWSequenceTagger(early_stopping={"validation_fraction": 0.2}, min_count=2),
    AROWSequenceTagger(r=10, margin_cost=0, dtype="float64"),
    AROWSequenceTagger(diagonal="precision", constraints="IOBES", n_models=2),
    AROWSequenceTagger(constraints=(LABELS, MATRIX), averaging=False),
    PASequenceTagger(C=1.0, n_rivals=1, margin_cost=1, dtype="float64"),
    PASequenceTagger(n_rivals=9, constraints=follows, class_weight="balanced"),
    PerceptronSequenceTagger(averaging=False, margin_cost=1, n_models=2),
    CRFSequenceTagger(c2=0.1, all_possible_states=True, all_possible_transitions=True),
    CRFSequenceTagger("ap", max_iter=10, random_state=0),
    HMMSequenceTagger("vocabulary", constraints="BIO", n_jobs=2),
    HMMSequenceTagger("prior", word_smoothing=0.1, transition_smoothing=0.1),
    MaxEntSequenceTagger(C=10.0, beam=3, min_count=1, tol=0.1, n_jobs=2),
]


@parametrize_with_tagger_checks([*(cls() for cls in TAGGERS.values()), *SETTINGS])
def test_taggers_obey_the_laws(tagger, check):
    check(tagger)
