"""The taggers of the thesis and CW, and what they answer."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from _calibration_corpora import EWT

from skcw import CRFSequenceTagger, CWSequenceTagger, HMMSequenceTagger
from skcw.confidence import METHODS
from skcw.features import WindowFeatures
from skcw.features.sets import POS
from skcw.metrics import Answers, query_pairs, root_calibration_mse

HMM, HMM_PLAIN = "HMM", "HMM, no spelling"
BASIC, RICH, CW = "CRF-basic", "CRF-rich", "CW"
BASIC_LINES = ["word"]
# L-BFGS stops by itself a few iterations after these; EWT has 50 labels and 14 times
# the words, and takes 1.5 to 3 s for each.
ITERATIONS = {EWT: 60}
OTHER_ITERATIONS, QUICK_ITERATIONS = 100, 10
PASSES, QUICK_DRAWS, DRAWS = 10, 10, 100
RESAMPLES, QUICK_RESAMPLES = 1000, 20
INTERVAL = "bootstrap"

RIGHT = "right?"
# It compares the predicted label with its rival, and says nothing of others.
ONLY_RIGHT = {"delta-probit"}
CW_METHODS = [name for name, method in METHODS.items() if method.probability]


class Model(NamedTuple):
    """How a tagger is made, what it reads, and the methods it is asked by."""

    make: Callable
    lines: list | None
    methods: tuple = (None,)


def _crf(corpus, quick):
    full = ITERATIONS.get(corpus, OTHER_ITERATIONS)
    return CRFSequenceTagger(max_iterations=QUICK_ITERATIONS if quick else full)


def _cw(corpus, quick):
    return CWSequenceTagger(max_iter=PASSES, random_state=0)


MODELS = {
    HMM_PLAIN: Model(lambda corpus, quick: HMMSequenceTagger("prior"), None),
    HMM: Model(lambda corpus, quick: HMMSequenceTagger(), None),
    BASIC: Model(_crf, BASIC_LINES),
    RICH: Model(_crf, POS),
    CW: Model(_cw, POS, tuple(CW_METHODS)),
}


def inputs(lines, corpus):
    """Return the training and the test sequences as a model reads them."""
    if lines is None:
        return corpus.words, corpus.test_words
    features = WindowFeatures(lines)
    return features.fit_transform(corpus.words), features.transform(corpus.test_words)


def asked(name, corpus, settings):
    """Return the answers of a model: ``{row: {question: Answers}}``, kept in a cache.

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
    X, X_test = inputs(model.lines, corpus)
    tagger = model.make(corpus.name, settings.quick).fit(X, corpus.labels)
    draws = QUICK_DRAWS if settings.quick else DRAWS
    found = {}
    for method in model.methods:
        row = name if method is None else f"{name}, {method}"
        options = {} if method is None else {"method": method, "n_draws": draws}
        found[row] = {
            question: query_pairs(tagger, X_test, corpus.test_labels, query, **options)
            for question, query in ((corpus.query, corpus.query), (RIGHT, None))
            if question == RIGHT or method not in ONLY_RIGHT
        }
    return found


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
        row: {question: Answers(**fields) for question, fields in questions.items()}
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
    found = root_calibration_mse(
        answers.confidence,
        answers.correct,
        groups=answers.groups,
        interval=INTERVAL,
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
