"""Mention-ranking models of several kinds, asked about documents they have not seen."""

from functools import cache
from time import process_time
from typing import NamedTuple

import numpy as np
from _coreference_documents import load_documents
from _coreference_features import GROUPS, Fields, first_groups
from _coreference_model import (
    BERKELEY_COSTS,
    antecedents,
    best_clusters,
    drawn_clusters,
    fit_weights,
    together,
)
from _measure import progress

from skcw.evaluation import sampled_pairs

FOLDS, QUICK_FOLDS = 4, 2
SAMPLES, QUICK_SAMPLES = 1000, 100
# Pairs of mentions that are asked about in each document.
ASKED, QUICK_ASKED = 1000, 200
ITERATIONS, QUICK_ITERATIONS = 60, 15
PENALTY = 1.0
NO_COSTS = (0.0, 0.0, 0.0)
SEED = 0

MODELS = {
    " + ".join(groups): (tuple(groups), NO_COSTS) for groups in first_groups()
} | {"all, with Berkeley's costs": (GROUPS, BERKELEY_COSTS)}
FIRST, *_, ALL, COSTED = MODELS


class Run(NamedTuple):
    """What a model says of all documents, each by the copy that has not seen it."""

    documents: list
    tables: list  # P(mention i chooses j), for each document
    fit_seconds: float


def all_runs(settings):
    """Return a run of every model; computed once for all parts."""
    return _all_runs(settings.data_home, settings.quick)


@cache
def _all_runs(data_home, quick):
    documents = load_documents(data_home, quick)
    n_folds = QUICK_FOLDS if quick else FOLDS
    order = np.random.default_rng(SEED).permutation(len(documents))
    folds = [sorted(order[k::n_folds].tolist()) for k in range(n_folds)]
    return {name: _run(name, documents, folds, quick) for name in MODELS}


def _run(name, documents, folds, quick):
    groups, costs = MODELS[name]
    tables, seconds = [None] * len(documents), 0.0
    for number, fold in enumerate(folds):
        progress(f"{name}: fold {number + 1} of {len(folds)}")
        known = [one for k, one in enumerate(documents) if k not in fold]
        fields = Fields(groups, known)
        begin = process_time()
        encoded = [(fields.encode(one), one.clusters) for one in known]
        most = QUICK_ITERATIONS if quick else ITERATIONS
        weights = fit_weights(encoded, fields.sizes, PENALTY, costs, most)
        seconds += process_time() - begin
        for k in fold:
            codes = fields.encode(documents[k])
            tables[k] = antecedents(weights, codes, fields.sizes)
    return Run(documents, tables, seconds)


def asked_pairs(n_mentions, most):
    """Return some pairs of mentions, the same for all with so many mentions."""
    left, right = np.triu_indices(n_mentions, 1)
    if len(left) > most:
        chosen = np.random.default_rng([SEED, n_mentions])
        kept = np.sort(chosen.choice(len(left), most, replace=False))
        left, right = left[kept], right[kept]
    return left, right


def some_together(settings):
    """Return the question whether two mentions belong together, of some pairs."""
    most = QUICK_ASKED if settings.quick else ASKED
    pairs = cache(lambda n: asked_pairs(n, most))

    def question(clusters):
        left, right = pairs(len(clusters))
        return clusters[left] == clusters[right]

    return question


def sampled_answers(run, settings, n_samples=None):
    """Return outcomes and shares of samples, and the seconds that these took."""
    n = n_samples or (QUICK_SAMPLES if settings.quick else SAMPLES)
    rng, begin = np.random.default_rng(SEED), process_time()
    samples = [drawn_clusters(table, n, rng) for table in run.tables]
    truth = [one.clusters for one in run.documents]
    answers = sampled_pairs(samples, truth, some_together(settings))
    return answers, process_time() - begin


def exact_answers(run, settings):
    """Return the exact probabilities of the same pairs, and their seconds."""
    most = QUICK_ASKED if settings.quick else ASKED
    begin = process_time()
    found = []
    for table in run.tables:
        found.append(together(table)[asked_pairs(len(table), most)])
    return np.concatenate(found), process_time() - begin


def clustered(run):
    """Return the clusterings by most probable choices."""
    return [best_clusters(table) for table in run.tables]
