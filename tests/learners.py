"""Every estimator that learns, small data to teach it, and what it then says."""

import numpy as np
from sklearn.datasets import make_classification

from skcw import TaggingPipeline
from skcw.calibration import (
    BetaCalibrator,
    CalibratedTagger,
    IsotonicCalibrator,
    SelectiveClassifier,
    SelectiveTagger,
)
from skcw.cli.learners import LEARNERS
from skcw.datasets import make_tagged_corpus
from skcw.features import WindowFeatures
from skcw.linear_model import (
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    MultiClassPerceptron,
)
from skcw.reranking import (
    AROWReranker,
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    VotedPerceptronReranker,
)
from skcw.tagging import CWSequenceTagger, PerceptronSequenceTagger

ROWS, KINDS = make_classification(120, 12, n_informative=8, n_classes=3, random_state=0)
TOKENS, LABELS = make_tagged_corpus(60, random_state=0, return_X_y=True)
SENTENCES = [[token[0] for token in row] for row in TOKENS]
LISTS = [
    [([0, 1], -1.0), ([2], -2.0), ([1, 3], -2.5)],
    [([3], 0.0), ([0], -1.0)],
    [([1], -0.5), ([2, 3], -0.6)],
] * 4
ERRORS = [[0.0, 1.0, 2.0], [1.0, 0.0], [1.0, 0.0]] * 4
SHORT = {"max_iter": 2, "random_state": 0}
# The class of every learner of the command line; means of several are no class.
TAGGERS = {
    name: learner.load()
    for name, learner in LEARNERS.items()
    if "n_models" not in learner.params
}
# The parameters of learners that are not quick by those.
QUICK = {
    "hmm": {},
    "maxent": {"tol": 0.5, "min_count": 1, "random_state": 0},
    "crf": {"max_iter": 3},
}


def pipeline():
    """Return features and a tagger in one."""
    tagger = CWSequenceTagger(**SHORT)
    return TaggingPipeline([("features", WindowFeatures("ner")), ("tagger", tagger)])


def _maker(name, cls):
    """Return a maker of a tagger of a class, quick to fit."""
    return lambda: cls(**QUICK.get(name, SHORT))


def learners():
    """Return a maker of each estimator, its kind of data, by name."""
    taggers = {
        LEARNERS[name].title: _maker(name, cls) for name, cls in TAGGERS.items()
    } | {
        "mean of four": lambda: CWSequenceTagger(n_models=4, **SHORT),
        "pipeline": pipeline,
        "calibrated": lambda: CalibratedTagger(
            PerceptronSequenceTagger(**SHORT), cv=2, method="isotonic"
        ),
        "selective": lambda: SelectiveTagger(
            PerceptronSequenceTagger(**SHORT), risk=0.4
        ),
        "reranked": lambda: RerankedTagger(
            PerceptronSequenceTagger(**SHORT), n_best=3, cv=2, held_out_folds=0
        ),
    }
    classifiers = {
        "MultiClassCW": lambda: MultiClassCW(random_state=0),
        "MultiClassAROW": lambda: MultiClassAROW(random_state=0),
        "MultiClassPA": lambda: MultiClassPA(random_state=0),
        "MultiClassPerceptron": lambda: MultiClassPerceptron(random_state=0),
        "selective rows": lambda: SelectiveClassifier(
            MultiClassCW(variance_scale=1.0, random_state=0), risk=0.4
        ),
    }
    rerankers = {
        "voted": VotedPerceptronReranker,
        "CW lists": lambda: CWReranker(random_state=0),
        "AROW lists": lambda: AROWReranker(random_state=0),
        "boosted": lambda: BoostingReranker(n_rounds=5, random_state=0),
    }
    maps = {"beta map": BetaCalibrator, "isotonic map": IsotonicCalibrator}
    kinds = {
        "sentences": taggers,
        "rows": classifiers,
        "lists": rerankers,
        "words": maps,
    }
    pairs = [(kind, name) for kind, found in kinds.items() for name in found]
    return {name: (kinds[kind][name], kind) for kind, name in pairs}


def data_of(kind, part):
    """Return one of two parts of the data of a kind, as arguments of ``fit``."""
    if kind == "sentences":
        half = slice(0, 25) if part == 0 else slice(25, 60)
        return SENTENCES[half], LABELS[half]
    if kind == "rows":
        half = slice(0, 60) if part == 0 else slice(60, 120)
        return ROWS[half], KINDS[half]
    if kind == "lists":
        return LISTS[: 6 + 6 * part], ERRORS[: 6 + 6 * part]
    sure = np.linspace(0.01, 0.99, 40)
    return np.random.RandomState(part).rand(40) < sure, sure


def said_by(model, kind):
    """Return what a fitted model says, as something that can be compared."""
    if kind == "sentences":
        answers = model.predict_all(SENTENCES[:8])
        sure = np.concatenate(answers.confidence()).round(12).tolist()
        return str((answers.labels().tolist(), sure))
    if kind == "rows":
        # One question: another thread may have changed the model before a second.
        has_table = hasattr(model, "predict_proba")
        ask = model.predict_proba if has_table else model.decision_function
        return str(ask(ROWS).tolist())
    if kind == "lists":
        return str([row.tolist() for row in model.decision_function(LISTS)])
    return str(model(np.linspace(0, 1, 9)).tolist())
