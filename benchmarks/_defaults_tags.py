"""Parts of speech: what the parameters of the HMM and of maximum entropy change."""

from functools import partial

import numpy as np
from _calibration_corpora import ARK, EWT, load_tagged
from _defaults_table import render_groups
from _measure import progress
from _scores import centerd_rmse

from skcw import HMMSequenceTagger, MaxEntSequenceTagger
from skcw.features import WindowFeatures
from skcw.metrics import error_average_precision

TITLE = "Parameters of the HMM and of maximum entropy"
NOTE = """\
HMM: accuracy on all words of the test set, on those not seen in training, and RMSE of
the confidence over 20 bins. MaxEnt, with the ready features "pos": accuracy on the test
sets, then on the development set of ARK; methods of confidence: average precision of
finding errors, and RMSE, on the test sets."""
HMMS = {
    "prior, smoothing .001": {"unseen": "prior", "word_smoothing": 0.001},
    "prior": {"unseen": "prior"},
    "vocabulary": {"unseen": "vocabulary"},
    "spelling": {"unseen": "spelling"},
}
MAXENTS = [
    {"min_count": 1},
    {"min_count": 5},
    {"beam": 1},
    {"beam": 3},
    {"beam": 50},
    {"C": 0.3},
    {"C": 3.0},
]
METHODS = ("marginal", "local", "nbest")


def run(settings):
    """Return what every setting reaches."""
    corpora = {name: load_tagged(name, settings) for name in (EWT, ARK)}
    hmms = {row: {} for row in HMMS}
    default, methods = {}, {row: {} for row in METHODS}
    for name, corpus in corpora.items():
        for row, options in HMMS.items():
            progress(f"tags: HMM, {row}, {name}")
            hmms[row][name] = _hmm(corpus, options)
        progress(f"tags: maximum entropy, {name}")
        tagger = MaxEntSequenceTagger(random_state=0)
        default[name] = _maxent(corpus, tagger, corpus.test_words, corpus.test_labels)
        for method in METHODS:
            methods[method][name] = _found(corpus, tagger, method)
    return {
        "quick": settings.quick,
        "groups": {
            "HMM": hmms,
            "MaxEnt, test": {"as it comes": default},
            "MaxEnt, development": _settings_of_maxent(corpora[ARK]),
            "MaxEnt, methods": methods,
        },
    }


def _hmm(corpus, options):
    tagger = HMMSequenceTagger(**options).fit(corpus.words, corpus.labels)
    right = _right(tagger.predict(corpus.test_words), corpus.test_labels)
    known = np.unique(np.concatenate(corpus.words))
    new = ~np.isin(np.concatenate(corpus.test_words), known)
    sure = np.concatenate(list(tagger.predict_confidence(corpus.test_words)))
    return [
        float(100 * right.mean()),
        float(100 * right[new].mean()),
        float(centerd_rmse(right, sure)),
    ]


def _right(labels, gold):
    return np.concatenate(list(labels)) == np.concatenate(list(gold))


def _maxent(corpus, tagger, words, gold):
    """Fit, and return the accuracy on some words."""
    features = WindowFeatures("pos")
    tagger.fit(features.fit_transform(corpus.words), corpus.labels)
    return float(100 * _right(tagger.predict(features.transform(words)), gold).mean())


def _settings_of_maxent(corpus):
    found = {}
    for options in ({}, *MAXENTS):
        row = ", ".join(f"{k} = {v}" for k, v in options.items()) or "as it comes"
        progress(f"tags: maximum entropy, {row}")
        tagger = MaxEntSequenceTagger(**options, random_state=0)
        accuracy = _maxent(corpus, tagger, corpus.dev_words, corpus.dev_labels)
        found[row] = {corpus.name: accuracy}
    return found


def _found(corpus, tagger, method):
    X = WindowFeatures("pos").fit(corpus.words).transform(corpus.test_words)
    answers = tagger.predict_all(X)
    right = _right(answers.labels(), corpus.test_labels)
    sure = np.concatenate(list(answers.confidence(method)))
    precision = error_average_precision(right, sure)
    return [float(precision), float(centerd_rmse(right, sure))]


render = partial(render_groups, TITLE, NOTE)
