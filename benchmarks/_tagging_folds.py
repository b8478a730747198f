"""The online learners of the paper on its sets, scored after every pass.

Table 2 and Fig. 1 of Mejer & Crammer (2010) are two views of these figures.
"""

import json
from functools import lru_cache

import numpy as np
from _corpora import load_paper_set, paper_sets
from _measure import progress
from _scores import span_scores
from sklearn.base import clone
from sklearn.model_selection import KFold, train_test_split

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import SequenceEncoder

PASSES = 10
TUNING_SEED = 1
FOLD_SEED = 0
R_GRID = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

# The paper's CW, to the letter: hard constraints on the best labeling as a whole.
PAPER_CW = CWSequenceTagger(
    C=float("inf"), margin_cost=0, split_errors=False, diagonal="covariance"
)
PHI_GRID = (0.1, 0.2, 0.5, 1.0, 2.0)

# The paper's learners: name -> learner, its parameter, the values to choose from. Their
# rival is the best labeling, whatever its cost.
PLAIN = {
    "Perceptron": (PerceptronSequenceTagger(margin_cost=0), None, ()),
    "5-best PA": (
        PASequenceTagger(n_rivals=5, margin_cost=0),
        "C",
        (0.003, 0.01, 0.03, 0.1, 0.3),
    ),
    "CW": (PAPER_CW, "phi", PHI_GRID),
    "AROW": (AROWSequenceTagger(margin_cost=0), "r", R_GRID),
}


def augmented(name):
    """Return what a learner is called that looks for its rival by score and cost."""
    return f"{name}, cost-augmented"


# The same with the rival found by cost-augmented decoding. A wrong label is made better
# by one; by half a unit of its own in CW, which is its default.
AUGMENTED = {
    augmented(name): (
        clone(tagger).set_params(margin_cost=0.5 if tagger is PAPER_CW else 1),
        *grid,
    )
    for name, (tagger, *grid) in PLAIN.items()
}
# The two other ways of keeping the covariance diagonal that the paper tried.
DIAGONALS = {
    f"CW, {name}": (clone(PAPER_CW).set_params(diagonal=diagonal), "phi", PHI_GRID)
    for name, diagonal in {
        "diagonal of the precision": "precision",
        "best diagonal": "optimal",
    }.items()
}
LEARNERS = PLAIN | AUGMENTED | DIAGONALS
for learner, _, _ in LEARNERS.values():
    # Nobody asks here how sure they are; the paper has no weights of unknown tokens.
    learner.set_params(calibrate_confidence=False, learn_unknown_token=False)


@lru_cache(maxsize=1)
def curves_of_all_sets(settings):
    """Return, per set, the tuning and the scores of every learner, fold and pass."""
    return {
        name: kept_curves_of_set(name, settings)
        for name in paper_sets(settings.data_home)
    }


def kept_curves_of_set(name, settings):
    """Return the curves of a set, from the cache if they were made in the same way."""
    stored = settings.cache and settings.cache / f"folds-{name}.json"
    made_by = {learner: repr(how) for learner, how in LEARNERS.items()}
    made_by["folds"] = settings.folds
    if stored and stored.exists():
        kept = json.loads(stored.read_text("utf-8"))
        if kept["made_by"] == made_by:
            return kept["found"]
    found = _curves_of_set(name, settings)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps({"made_by": made_by, "found": found}), "utf-8")
    return found


def _curves_of_set(name, settings):
    corpus = load_paper_set(name, settings.data_home, settings.quick)
    progress(f"folds: encoding {name}")
    # One vocabulary for all folds. It also holds names of features that occur in
    # held-out sentences only; no update touches these, their weight is zero.
    batch = SequenceEncoder().fit_transform(corpus.features())
    tuned, tuning, curves = {}, {}, {}
    for learner, (tagger, parameter, grid) in LEARNERS.items():
        tuned[learner] = clone(tagger)
        if parameter and not settings.quick:
            progress(f"folds: {name}, choosing {parameter} of {learner}")
            tuning[learner] = _tune(tagger, parameter, grid, batch, corpus.labels)
            tuned[learner].set_params(**{parameter: tuning[learner]["chosen"]})
    for fold, (train, test) in enumerate(_splits(len(batch), settings)):
        for learner, tagger in tuned.items():
            progress(f"folds: {name}, fold {fold + 1}, {learner}")
            curve = _curve(tagger, fold, batch, corpus.labels, train, test)
            curves.setdefault(learner, []).append(curve)
    sizes = [len(train), len(test)]
    return {"tuning": tuning, "curves": curves, "fold_sizes": sizes}


def _splits(n_sentences, settings):
    """Return (train, test) positions of the folds, or of a single split."""
    if settings.quick:
        return [_three_quarters(n_sentences, FOLD_SEED)]
    folds = KFold(settings.folds, shuffle=True, random_state=FOLD_SEED)
    return list(folds.split(np.arange(n_sentences)))


def _three_quarters(n_sentences, seed):
    positions = np.arange(n_sentences)
    return train_test_split(positions, test_size=0.25, random_state=seed)


def _tune(tagger, parameter, grid, batch, y):
    """Choose a parameter as the paper did: by one random 3/4-1/4 split of the set."""
    train, test = _three_quarters(len(batch), TUNING_SEED)
    y_train, y_test = _rows(y, train), _rows(y, test)
    f1 = {}
    for value in grid:
        model = clone(tagger).set_params(max_iter=PASSES, random_state=TUNING_SEED)
        model.set_params(**{parameter: value}).fit(batch[train], y_train)
        f1[value] = span_scores(y_test, model.predict(batch[test]))["f1"]
    by_name = {str(value): score for value, score in f1.items()}
    return {"parameter": parameter, "f1": by_name, "chosen": max(f1, key=f1.get)}


def _curve(tagger, seed, batch, y, train, test):
    """Return the scores on the test part after every pass.

    ``partial_fit`` makes one more pass and keeps averaging over all rounds so far;
    with a generator, not a seed, every pass has an order of its own.
    """
    model = clone(tagger).set_params(random_state=np.random.RandomState(seed))
    X_train, X_test = batch[train], batch[test]
    y_train, y_test = _rows(y, train), _rows(y, test)
    scores = []
    for _ in range(PASSES):
        model.partial_fit(X_train, y_train)
        scores.append(span_scores(y_test, model.predict(X_test)))
    return scores


def _rows(y, positions):
    return [y[i] for i in positions]
