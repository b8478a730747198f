"""The taggers of the thesis and CW: accuracy and calibration of their answers."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from common.measure import progress
from common.tables import format_table
from common.tagged import ARK, SOURCES, UD_EWT, load_tagged
from skcw import CRFSequenceTagger, CWSequenceTagger, HMMSequenceTagger
from skcw.confidence.methods import METHODS
from skcw.evaluation import confidence_pairs
from skcw.evaluation.pairs import ConfidencePairs
from skcw.features import WindowFeatures
from skcw.features.lines import POS
from skcw.metrics import score_interval

# ---- The taggers of the thesis and CW, and what they answer ----

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


class Way(NamedTuple):
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
    HMM_PLAIN: Way(partial(_fit_hmm, unseen="prior"), None),
    HMM: Way(_fit_hmm, None),
    BASIC: Way(fit_crf, BASIC_LINES),
    RICH: Way(fit_crf, POS),
    CW: Way(_fit_cw, POS, tuple(CW_METHODS)),
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
            drawn = options if METHODS[method].draws else {}
            row = f"{name}, {method}{fitted}"
            found[row] = ask(tagger, X.test, corpus, method=method, **drawn)
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


# ---- The table and the curves of the thesis: HMM, CRF-basic, CRF-rich, and CW ----

# What the thesis reports; most likely roots, for a count HMM has a CalibMSE of .001.
THESIS = {UD_EWT: {HMM: 0.035, BASIC: 0.019}, ARK: {}}
# Its ratios on tweets: row, divided by which row, about how much.
RATIOS = (
    (UD_EWT, BASIC, HMM, 0.019 / 0.035),
    (ARK, BASIC, HMM, 0.5),
    (ARK, RICH, BASIC, 0.5),
)
NOTE = f"""\
CalibMSE over bins of the root of the number of words, its root, and the interval of
the root: of words that are asked "is it this part of speech?", and of "is the
predicted label right?". HMM: by counts; of new words their spelling tells or (no
spelling) their neighbors alone. CRFs: CRFsuite, L-BFGS, {ITERATIONS} iterations at
most, c2 of {PENALTIES} by the likelihood of the development part;
basic: transitions and the word; rich: the set "pos". CW: the same features, {PASSES}
passes, scales and temperatures as they come, or fitted to the log-loss of the
development part; delta-probit tells of predicted labels only. The thesis's figures
are of its own data and most likely roots."""


def run(settings):
    """Return what every model is worth on both corpora."""
    corpora = {}
    for source in SOURCES:
        corpus = load_tagged(source, settings)
        rows = {}
        for name in MODELS:
            progress(f"thesis: {name} on {corpus.name}, {corpus.size[0]} words")
            for row, questions in asked(name, corpus, settings).items():
                rows[row] = judged(questions, corpus.query, settings.quick)
        corpora[source] = {
            "corpus": corpus.name,
            "query": corpus.query,
            "size": list(corpus.size),
            "rows": rows,
        }
    return {"quick": settings.quick, "corpora": corpora}


def render(found):
    """Return the results as text."""
    texts = ["The taggers of the thesis"]
    if found["quick"]:
        texts[0] += " (quick: a subset, no measurement)"
    for source, about in found["corpora"].items():
        learned, tested = about["size"]
        title = f"{about['corpus']}: {learned} words to learn from, {tested} asked "
        texts.append(title + f'"{about["query"]}?" and "right?"')
        thesis = THESIS[source]
        rows = [
            [name, *cells(one), f"{thesis[name]:.3f}" if name in thesis else "-"]
            for name, one in about["rows"].items()
        ]
        texts.append(format_table(["", *HEADER, "thesis"], rows))
    texts += [_ratios(found["corpora"]), NOTE]
    return "\n\n".join(texts)


def _ratios(corpora):
    rows = []
    for source, name, other, thesis in RATIOS:
        models = corpora[source]["rows"]
        over = [f"{_ratio(models, name, base):.2f}" for base in _bases(other)]
        what = f"{corpora[source]['corpus']}: {name} over {other}"
        rows.append([what, *over, *["-"] * (2 - len(over)), f"about {thesis:.2f}"])
    header = ["ratio of roots", "ours", f"over {HMM_PLAIN}", "thesis"]
    return format_table(header, rows)


def _bases(other):
    return (HMM, HMM_PLAIN) if other == HMM else (other,)


def _ratio(models, name, base):
    return models[name]["query"][0] / models[base]["query"][0]
