"""The taggers of the thesis and CW, and what they answer."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from skcw import CRFSequenceTagger, CWSequenceTagger, HMMSequenceTagger
from skcw.confidence.methods import METHODS
from skcw.evaluation import ConfidencePairs, confidence_pairs
from skcw.features import WindowFeatures
from skcw.features.lines import POS
from skcw.metrics import score_interval

HMM, HMM_PLAIN = "HMM", "HMM, no spelling"
BASIC, RICH, CW = "CRF-basic", "CRF-rich", "CW"
BASIC_LINES = ["word"]
# How much weights cost. It decides how well a CRF is calibrated, so it is chosen.
PENALTIES, QUICK_PENALTIES = (1.0, 0.1, 0.01), (1.0, 0.1)
ITERATIONS, QUICK_ITERATIONS = 150, 10
PASSES, QUICK_DRAWS, DRAWS = 10, 10, 100
FITTED = ", fitted"
RESAMPLES, QUICK_RESAMPLES = 1000, 20

RIGHT = "right?"
# It compares the predicted label with its rival, and says nothing of others.
ONLY_RIGHT = {"delta-probit"}
CW_METHODS = [name for name, method in METHODS.items() if method.probability]


class InferenceModel(NamedTuple):
    """How a tagger is fitted, what it reads, and the methods it is asked by."""

    fit: Callable
    lines: list | None
    methods: tuple = (None,)


class Inputs(NamedTuple):
    """The three parts of a corpus as a model reads them."""

    train: object
    dev: object
    test: object


def fit_crf(X, corpus, quick):
    """Return the CRF whose penalty gives true labels of development the most."""
    most = QUICK_ITERATIONS if quick else ITERATIONS
    return max(
        (
            CRFSequenceTagger(c2=c2, max_iter=most).fit(X.train, corpus.labels)
            for c2 in (QUICK_PENALTIES if quick else PENALTIES)
        ),
        key=lambda tagger: _log_likelihood(tagger, X.dev, corpus.dev_labels),
    )


def _log_likelihood(tagger, X, y):
    claimed = [
        words.get(label, 0.0)
        for marginals, labels in zip(tagger.predict_marginals(X), y, strict=True)
        for words, label in zip(marginals, labels, strict=True)
    ]
    return np.log(np.clip(claimed, 1e-12, 1.0)).mean()


def _fit_cw(X, corpus, quick):
    return CWSequenceTagger(max_iter=PASSES, random_state=0).fit(X.train, corpus.labels)


def _fit_hmm(X, corpus, quick, unseen="spelling"):
    return HMMSequenceTagger(unseen).fit(X.train, corpus.labels)


MODELS = {
    HMM_PLAIN: InferenceModel(partial(_fit_hmm, unseen="prior"), None),
    HMM: InferenceModel(_fit_hmm, None),
    BASIC: InferenceModel(fit_crf, BASIC_LINES),
    RICH: InferenceModel(fit_crf, POS),
    CW: InferenceModel(_fit_cw, POS, tuple(CW_METHODS)),
}


def inputs(lines, corpus):
    """Return the parts of a corpus as a model reads them."""
    parts = corpus.words, corpus.dev_words, corpus.test_words
    if lines is None:
        return Inputs(*parts)
    features = WindowFeatures(lines)
    train = features.fit_transform(parts[0])
    return Inputs(train, *map(features.transform, parts[1:]))


def asked(name, corpus, settings):
    """Return the answers of a model, cached: ``{row: {question: ConfidencePairs}}``.

    A model that is asked by several methods has a row for each.
    """
    folder = settings.cache
    stored = folder and folder / f"{corpus.name}-{name}.npz".replace(" ", "-")
    if stored and stored.exists():
        return _opened(np.load(stored))
    found = _fit_and_ask(name, corpus, settings)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(stored, **_flattened(found))
    return found


def _fit_and_ask(name, corpus, settings):
    model = MODELS[name]
    X = inputs(model.lines, corpus)
    tagger = model.fit(X, corpus, settings.quick)
    if model.methods == (None,):
        return {name: ask(tagger, X.test, corpus)}
    options = {"n_draws": QUICK_DRAWS if settings.quick else DRAWS}
    found = {}
    for fitted in ("", FITTED):
        for method in model.methods:
            if fitted:
                tagger.fit_confidence(
                    X.dev, corpus.dev_labels, method, metric="log_loss", **options
                )
            row = f"{name}, {method}{fitted}"
            found[row] = ask(tagger, X.test, corpus, method=method, **options)
    return found


def ask(tagger, X, corpus, method=None, **options):
    """Return the answers to both questions, or to the one that the method knows."""
    return {
        question: confidence_pairs(
            tagger,
            X,
            corpus.test_labels,
            query,
            method=method,
            confidence_options=options,
        )
        for question, query in ((corpus.query, corpus.query), (RIGHT, None))
        if question == RIGHT or method not in ONLY_RIGHT
    }


def _flattened(found):
    return {
        f"{row}|{question}|{field}": array
        for row, questions in found.items()
        for question, answers in questions.items()
        for field, array in answers._asdict().items()
    }


def _opened(arrays):
    found = {}
    for key in arrays.files:
        row, question, field = key.split("|")
        found.setdefault(row, {}).setdefault(question, {})[field] = arrays[key]
    return {
        row: {
            question: ConfidencePairs(**fields)
            for question, fields in questions.items()
        }
        for row, questions in found.items()
    }


def judged(questions, query, quick):
    """Return accuracy and, of both questions, the root of CalibMSE with interval."""
    return {
        "accuracy": float(questions[RIGHT].correct.mean()),
        "query": _root(questions.get(query), quick),
        "right": _root(questions[RIGHT], quick),
    }


def _root(answers, quick):
    if answers is None:
        return None
    found = score_interval(
        "root_calibration_mse",
        answers.correct,
        answers.confidence,
        groups=answers.groups,
        n_resamples=QUICK_RESAMPLES if quick else RESAMPLES,
    )
    return list(map(float, found))


HEADER = ["accuracy", "CalibMSE", "root", "95 % interval", "right?: root", "interval"]


def cells(one):
    """Return the cells of a judged model under the header."""
    query, right = one["query"], one["right"]
    return [
        f"{100 * one['accuracy']:.2f}",
        "-" if query is None else f"{query[0] ** 2:.6f}",
        *_root_cells(query),
        *_root_cells(right),
    ]


def _root_cells(found):
    if found is None:
        return ["-", "-"]
    value, low, high = found
    return [f"{value:.4f}", f"[{low:.4f}, {high:.4f}]"]
