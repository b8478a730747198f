"""Small fitted models of every kind that can be saved, and questions to them."""

import functools
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier

from skcw import (
    AROWSequenceTagger,
    CalibratedTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    InferenceModel,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    RerankedTagger,
    SelectiveTagger,
    make_tagging_pipeline,
)
from skcw.datasets import make_tagged_corpus
from skcw.features import VectorFeatures, WordVectors
from skcw.linear_model import (
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    MultiClassPerceptron,
)
from skcw.reranking import (
    AROWReranker,
    BaseReranker,
    BoostingReranker,
    CWReranker,
    VotedPerceptronReranker,
)
from skcw.reranking.candidates import candidate_errors

X, Y = make_tagged_corpus(30, random_state=0, return_X_y=True)
NEW = make_tagged_corpus(8, random_state=1).tokens
NUMBERS = [np.random.RandomState(len(row)).rand(len(row), 3) for row in X]

FEATURES = [
    "word[-1..1]",
    "suffix(2)",
    "shape & word",
    'matches("^[A-Z]")',
    "in(towns)",
]
GROUPS = {"Oslo": "010", "Rome": "011", "in": "1"}
VECTORS = WordVectors(["Oslo", "in", "the"], [[1.0, 0.5], [0.0, 2.0], [3.0, 1.0]])
ROWS = np.random.RandomState(0).rand(30, 4)
ROW_LABELS = np.array(["red", "green", "blue"] * 10)
# Learning on may be refused: by parameters that need all of the data, for example.
LEARNING_ERRORS = (ValueError,)
OPTIONS = {"lexicons": {"towns": ["Oslo", "Rome"]}}


def short(tagger=CWSequenceTagger, **params):
    """Return a tagger that learns for a moment."""
    return tagger(random_state=0, max_iter=2, **params)


def models():
    """Return an unfitted model of every kind that can be saved, by its name."""
    crf = CRFSequenceTagger(max_iter=3)
    small = {"min_words": 5, "cv": 2}
    sure = {"risk": 0.5, "confidence_level": 0.5}
    words = make_tagging_pipeline(["word"], short())
    return {
        "CW": short(constraints="BIO"),
        "CW double": short(dtype="float64", averaging=False, constraints=None),
        "AROW": short(AROWSequenceTagger),
        "PA": short(PASequenceTagger),
        "perceptron": short(PerceptronSequenceTagger),
        "HMM": HMMSequenceTagger(),
        "HMM vocabulary": HMMSequenceTagger("vocabulary"),
        "MaxEnt": short(MaxEntSequenceTagger, min_count=1),
        "CRF": crf,
        "calibrated": CalibratedTagger(short(), **small),
        "calibrated labels": CalibratedTagger(
            short(), method="beta", per_label=True, **small
        ),
        "calibrated spans": CalibratedTagger(
            crf, entity_confidence="exact", method="sigmoid", **small
        ),
        "pipeline": make_tagging_pipeline(FEATURES, short(), **OPTIONS),
        "pipeline clusters": make_tagging_pipeline(
            ["word", "cluster(c)", "cluster(c, 2)"], short(), clusters={"c": GROUPS}
        ),
        "pipeline vectors": make_tagging_pipeline(
            ["word", VectorFeatures(VECTORS)], short()
        ),
        "pipeline hashed": make_tagging_pipeline(["word"], short(), n_features=64),
        "pipeline HMM": make_tagging_pipeline(["word"], HMMSequenceTagger()),
        "pipeline CRF": make_tagging_pipeline(["word"], crf),
        "selective": SelectiveTagger(short(), unit="entity", **sure),
        "selective pipeline": SelectiveTagger(words, set_risk=0.5, **sure),
        "reranked": RerankedTagger(short(), n_best=4, min_count=1, cv=2),
        "reranked pipeline": RerankedTagger(
            words, VotedPerceptronReranker(), n_best=4, min_count=1, cv=2
        ),
    }


# Other forms that the file of a tagger may have. All others are not packed: a change
# of an array is then one of numbers.
FORMS = {"CW packed": {}, "CW half": {"dtype": "float16"}}
RERANKERS = {
    "AROW reranker": AROWReranker(),
    "boosting reranker": BoostingReranker(),
    "CW reranker": CWReranker(),
}
CLASSIFIERS = {
    "classifier CW": MultiClassCW(variance_scale="held-out", random_state=0),
    "classifier CW double": MultiClassCW(
        dtype="float64", class_weight={"red": 2.0}, random_state=0
    ),
    "classifier AROW": MultiClassAROW(random_state=0),
    "classifier PA": MultiClassPA(random_state=0),
    "classifier perceptron": MultiClassPerceptron(random_state=0),
}
NAMES = (*models(), *FORMS, "numbers", *RERANKERS, *CLASSIFIERS)


@functools.cache
def saved_model(name):
    """Return the bytes of a small model of a kind."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "model")
        if name in RERANKERS:
            errors = candidate_errors(lists().labelings, Y)
            RERANKERS[name].fit(lists(), errors).save(path)
        elif name in CLASSIFIERS:
            CLASSIFIERS[name].fit(ROWS, ROW_LABELS).save(path)
        elif name in FORMS:
            short().fit(X, Y).save(path, **FORMS[name])
        elif name == "numbers":
            short().fit(NUMBERS, Y).save(path, mapped=True)
        else:
            models()[name].fit(X, Y).save(path, mapped=True)
        return path.read_bytes()


@functools.cache
def lists():
    """Return the candidates that rerankers choose from."""
    tagger = RerankedTagger(short(), n_best=4, min_count=1, cv=2).fit(X, Y)
    return tagger.candidates(X)


def ask(path, model, learn):
    """Return what an opened model says to everything that it can be asked.

    Parameters
    ----------
    path : pathlib.Path
        Where it was opened.
    model : estimator
        The model.
    learn : bool
        Whether it has to learn on and to be saved, too.

    Returns
    -------
    answers : list
        All answers, and the model itself.
    """
    if isinstance(model, BaseReranker):
        if model.n_features_in_ != lists().n_features:
            return vars(model)
        said = model.predict(lists()), model.predict_confidence(lists())
        return [*said, vars(model)]
    if is_classifier(model):
        return _asked_classifier(path, model, learn)
    sentences = _sentences(getattr(model, "n_features_in_", None))
    answers = [
        *_said(model.predict_all(sentences), model.confidence_methods_),
        vars(model),
    ]
    if hasattr(model, "accept"):
        answers.append(model.accept(sentences))
        # A pipeline accepts by the tagger inside, which has made the promises.
        answers.append(getattr(model, "thresholds_", None))
    if learn:
        model.save(path.with_suffix(".again"))
        if hasattr(model, "partial_fit"):
            with suppress(*LEARNING_ERRORS):
                y = [["O"] * len(sentence) for sentence in sentences]
                answers.append(vars(model.partial_fit(sentences, y)))
    return answers


def _asked_classifier(path, model, learn):
    """Return what a classifier says of rows, before and after it has learned on."""
    rows = np.ones((3, model.n_features_in_))
    rows[1] = 0.0
    asks = ("decision_function", "predict_proba", "predict_confidence")
    said = [getattr(model, ask)(rows) for ask in asks if hasattr(model, ask)]
    answers = [*said, model.predict(rows).tolist(), model.coef_, vars(model)]
    if learn:
        model.save(path.with_suffix(".again"))
        with suppress(*LEARNING_ERRORS):
            answers.append(vars(model.partial_fit(rows, model.classes_[[0, 1, 0]])))
    return answers


def _sentences(n_columns):
    """Return what such a model reads: words, or so many columns of numbers."""
    return NEW if n_columns is None else [np.ones((3, n_columns)), np.eye(1, n_columns)]


def ask_runtime(path):
    """Return what a model says that was opened without its estimator, if it can be."""
    model = InferenceModel.open(path)
    numbers = model.features is None and model.vocabulary is None
    n_columns = len(model.confidence.belief.row_of) if numbers else None
    sentences = _sentences(n_columns)
    return _said(model.predict_all(sentences), model.confidence.served)


def _said(answers, methods):
    """Return what answers tell; some questions have no answer of every model."""
    said = [answers.labels(), answers.confidence()]
    if "marginal" in methods:
        said += [answers.marginals(), answers.label_table()]
    said += [answers.nbest(2), answers.entities()]
    return said
