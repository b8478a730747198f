"""Malformed input to every estimator: rows, sequences, labels, weights, parameters.

``python -m tests.fuzz.inputs --cases 100000 --seed 1`` is the long run.
"""

import sys
import warnings
from functools import cache

import numpy as np
from scipy import sparse

from skcw import TaggingPipeline
from skcw.calibration import (
    BetaCalibrator,
    CalibratedTagger,
    IsotonicCalibrator,
    SelectiveClassifier,
    SelectiveTagger,
    SigmoidCalibrator,
    TemperatureCalibrator,
)
from skcw.calibration.calibrators import IdentityCalibrator
from skcw.data import SequenceBatch, SequenceEncoder, TokenColumns
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
from skcw.tagging import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from tests.fuzz.isolation import long_run
from tests.fuzz.mutators import clearly, mutated, mutated_call, pick

CLASSIFIERS = (MultiClassCW, MultiClassAROW, MultiClassPA, MultiClassPerceptron)
ONLINE = (
    CWSequenceTagger,
    AROWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
TAGGERS = (*ONLINE, HMMSequenceTagger, MaxEntSequenceTagger, CRFSequenceTagger)
MAPS = (
    BetaCalibrator,
    SigmoidCalibrator,
    TemperatureCalibrator,
    IsotonicCalibrator,
    IdentityCalibrator,
)
RERANKERS = (VotedPerceptronReranker, CWReranker, AROWReranker, BoostingReranker)

# What keeps a fit of a few rows short.
QUICK = {"max_iter": 2, "n_rounds": 5, "random_state": 0}


# ---- Input that is accepted ----


@cache
def rows():
    """Return a few rows and their labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.7)
    return X, np.arange(30) % 3


@cache
def sentences():
    """Return a few sentences and their labels."""
    X = [["Ann", "met", "Bob"], ["Bob", "Lee", "left"], ["he", "left"], []] * 3
    y = [["B-P", "O", "B-P"], ["B-P", "I-P", "O"], ["O", "O"], []] * 3
    return X, y


def forms_of_sentences(rng):
    """Return the sentences in one of the forms that taggers take."""
    X, y = sentences()
    kind = rng.integers(6)
    if kind == 0:
        return [[[f"w={w}", f"n={len(w)}"] for w in x] for x in X], y
    if kind == 1:
        return [[{f"w={w}": 1.0, "n": float(len(w))} for w in x] for x in X], y
    if kind == 2:
        return [np.array([[len(w), w[:1] == "B"] for w in x] or np.empty((0, 2)), float)
                for x in X], y  # fmt: skip
    if kind == 3:
        tables = [np.array([[len(w), w[:1] == "B"] for w in x], float) for x in X if x]
        return [sparse.csr_matrix(table) for table in tables], [row for row in y if row]
    if kind == 4:
        return SequenceEncoder().fit_transform(X), y
    return X, y


def weights(rng, n):
    """Return weights by name, or none."""
    return {"sample_weight": np.ones(n)} if rng.random() < 0.4 else {}


@cache
def fitted(Tagger):
    """Return a tagger that has learned the sentences."""
    with warnings.catch_warnings():
        # Two iterations are few.
        warnings.simplefilter("ignore")
        return quick(Tagger).fit(*sentences())


@cache
def fitted_classifier(Classifier):
    """Return a classifier that has learned the rows."""
    return quick(Classifier).fit(*rows())


def quick(Estimator, **params):
    """Return an estimator with parameters that keep a fit short."""
    names = Estimator._get_param_names()
    return Estimator(**{k: v for k, v in QUICK.items() if k in names} | params)


# ---- Cases ----


def odd_estimator(Estimator, rng):
    """Return an estimator, sometimes with parameters that make no sense."""
    params = {}
    if rng.random() < 0.4:
        names = Estimator._get_param_names()
        _, params = mutated_call(rng, [], {}, [n for n in names if n != "verbose"])
    return quick(Estimator, **params)


def answers_of_classifier(classifier, X):
    """Return all that a classifier says about rows, and itself."""
    names = ("decision_function", "predict_proba", "predict_confidence")
    found = [getattr(classifier, n)(X) for n in names if hasattr(classifier, n)]
    return [*found, classifier.coef_, vars(classifier)]


def classifier_case(Classifier):
    """Return a case: fit on changed rows, and ask about changed rows."""

    def case(seed):
        rng = np.random.default_rng(seed)
        X, y = rows()
        X = sparse.csr_matrix(X) if rng.random() < 0.5 else X
        estimator = odd_estimator(Classifier, rng)
        learn = pick(rng, ("fit", "fit", "partial_fit"))
        given = {"classes": [0, 1, 2]} if learn == "partial_fit" else {}
        args, given = mutated_call(rng, [X, y], given | weights(rng, 30))
        getattr(estimator, learn)(*args, **given)
        asked = mutated(X, rng) if rng.random() < 0.3 else X
        return answers_of_classifier(estimator, asked)

    return case


def answered_rows(Classifier):
    """Return a case: a fitted classifier is asked about changed rows."""

    def case(seed):
        rng = np.random.default_rng(seed)
        X, model = rows()[0], fitted_classifier(Classifier)
        asked = mutated(sparse.csr_matrix(X) if rng.random() < 0.5 else X, rng)
        return answers_of_classifier(model, asked)

    return case


def tagger_case(Tagger):
    """Return a case: fit on changed sentences, then ask about them."""

    def case(seed):
        rng = np.random.default_rng(seed)
        X, y = forms_of_sentences(rng)
        estimator = odd_estimator(Tagger, rng)
        learns = ("fit", "partial_fit") if hasattr(Tagger, "partial_fit") else ("fit",)
        args, given = mutated_call(rng, [X, y], weights(rng, len(y)))
        getattr(estimator, pick(rng, learns))(*args, **given)
        asked = mutated(X, rng) if rng.random() < 0.3 else X
        answers = estimator.predict_all(asked)
        return [answers.labels(), answers.confidence(), answers.label_table(),
                estimator.coef_, vars(estimator)]  # fmt: skip

    return case


OPTIONS = ("variance_scale", "temperature", "n_best", "n_draws", "random_state")


def question_case(Tagger):
    """Return a case: a fitted tagger answers a question about changed sentences."""

    def case(seed):
        rng = np.random.default_rng(seed)
        (X, y), model = sentences(), fitted(Tagger)
        methods = list(model.confidence_methods_)
        asked = mutated(X, rng) if rng.random() < 0.7 else X
        method = pick(rng, methods) if rng.random() < 0.9 else mutated("marginal", rng)
        names = OPTIONS if rng.random() < 0.5 else ()
        given = mutated_call(rng, [], {}, names)[1] if names else {}
        kind = rng.integers(7)
        answers = model.predict_all(asked)
        if kind == 0:
            return answers.confidence(method, **given)
        if kind == 1:
            return answers.label_confidence(mutated(y, rng), method, **given)
        if kind == 2:
            events = ("least-word", "all-words", "boundary", "exact", 3)
            return answers.entities(pick(rng, events), method, **given)
        if kind == 3:
            return answers.nbest(pick(rng, (0, 1, 5, 1.5, "x", None, -1, True, 10**30)))
        if kind == 4:
            return [answers.labels(), answers.marginals()]
        if kind == 5:
            return answers.sequence_confidence(method, **given)
        return [model.explain(mutated(X[0], rng)) if hasattr(model, "explain") else 0]

    return case


def wrapper_case(make):
    """Return a case: an estimator around another one, fitted on changed sentences."""

    def case(seed):
        rng = np.random.default_rng(seed)
        names = make()._get_param_names() if not hasattr(make(), "steps") else ()
        names = [n for n in names if n not in ("estimator",)]
        estimator = make()
        if names and rng.random() < 0.5:
            estimator.set_params(**mutated_call(rng, [], {}, names)[1])
        X, y = sentences()
        args, given = mutated_call(rng, [X * 2, y * 2], weights(rng, 2 * len(y)))
        estimator.fit(*args, **given)
        answers = estimator.predict_all(X)
        return [answers.labels(), answers.confidence(), vars(estimator)]

    return case


def selective_classifier_case(seed):
    """Fit a selective classifier on changed rows, with changed parameters."""
    rng = np.random.default_rng(seed)
    X, y = rows()
    names = [n for n in SelectiveClassifier._get_param_names() if n != "classifier"]
    params = mutated_call(rng, [], {}, names)[1] if rng.random() < 0.5 else {}
    model = SelectiveClassifier(quick(MultiClassCW, variance_scale=1.0), **params)
    args, given = mutated_call(rng, [X, y], weights(rng, len(y)), ["groups"])
    model.fit(*args, **given)
    return [model.accept(X), model.predict_sets(X), model.predict_proba(X)]


def batch_case(seed):
    """Make a batch of changed arrays, change these later, and tag what it holds."""
    rng = np.random.default_rng(seed)
    model = fitted(pick(rng, TAGGERS))
    batch = model.encode(sentences()[0])
    parts = [np.array(part) for part in (batch.offsets, batch.indptr, batch.indices)]
    values = np.ones(len(batch.indices)) if rng.random() < 0.5 else None
    vocabulary = batch.vocabulary if rng.random() < 0.8 else None
    args = [*parts, values, batch.n_features, vocabulary]
    if rng.random() < 0.8:
        args, _ = mutated_call(rng, args, {})
    made = SequenceBatch(*args)
    for part in args[:3]:
        if isinstance(part, np.ndarray) and part.dtype.kind == "i" and part.size:
            other = np.array(pick(rng, (-1, 10**6, 2**31 - 1))).astype(part.dtype)
            part[rng.integers(len(part))] = other
    made = made[rng.integers(len(made) + 1) :] if rng.random() < 0.3 else made
    return [model.predict(made), model.predict_confidence(made)]


def columns_case(seed):
    """Make token columns of changed arrays, and extract features from them."""
    rng = np.random.default_rng(seed)
    X = TokenColumns.from_sequences(sentences()[0])
    args = [np.array(X.offsets), np.array(X.codes), X.values]
    args, given = mutated_call(rng, args, {}, ["names", "lines"])
    made = TokenColumns(*args, **given)
    return [WindowFeatures("ner").fit_transform(made).indices, list(made)]


def reranker_case(Reranker):
    """Return a case: a reranker learns from changed lists of candidates."""

    def case(seed):
        rng = np.random.default_rng(seed)
        X = [[([0, 1], -1.0), ([2], -2.0), ([1, 3], -2.5)], [([3], 0.0), ([0], -1.0)]]
        y = [[0.0, 1.0, 2.0], [1.0, 0.0]]
        model = odd_estimator(Reranker, rng)
        args, given = mutated_call(rng, [X * 3, y * 3], weights(rng, 6))
        model.fit(*args, **given)
        asked = mutated(X, rng) if rng.random() < 0.5 else X
        return [model.decision_function(asked), model.predict(asked), vars(model)]

    return case


def map_case(Map):
    """Return a case: a map learns from changed words, and maps changed ones."""

    def case(seed):
        rng = np.random.default_rng(seed)
        q = rng.random(20)
        right = rng.random(20) < q
        args, given = mutated_call(rng, [right, q], weights(rng, 20))
        model = Map().fit(*args, **given)
        return [model(mutated(q, rng)), vars(model)]

    return case


def wrappers():
    """Return how to make each estimator that stands around another one."""
    tagger = quick(PerceptronSequenceTagger)
    return {
        "TaggingPipeline": lambda: TaggingPipeline(
            [("features", WindowFeatures("ner")), ("tagger", quick(CWSequenceTagger))]
        ),
        "CalibratedTagger": lambda: CalibratedTagger(tagger, cv=2),
        "SelectiveTagger": lambda: SelectiveTagger(tagger, risk=0.3),
        "RerankedTagger": lambda: RerankedTagger(tagger, cv=2, min_count=1),
    }


def groups():
    """Return all cases by the name of what they try."""
    cases = {f"fit {C.__name__}": classifier_case(C) for C in CLASSIFIERS}
    cases |= {f"ask {C.__name__}": answered_rows(C) for C in CLASSIFIERS}
    cases |= {f"fit {T.__name__}": tagger_case(T) for T in TAGGERS}
    cases |= {f"ask {T.__name__}": question_case(T) for T in TAGGERS}
    cases |= {f"fit {name}": wrapper_case(make) for name, make in wrappers().items()}
    cases |= {f"fit {R.__name__}": reranker_case(R) for R in RERANKERS}
    cases |= {f"fit {M.__name__}": map_case(M) for M in MAPS}
    cases |= {"fit SelectiveClassifier": selective_classifier_case}
    cases |= {"SequenceBatch": batch_case, "TokenColumns": columns_case}
    return {name: clearly(case) for name, case in cases.items()}


if __name__ == "__main__":
    sys.exit(long_run(__doc__, groups, 100_000))
