"""Nguyen's thesis (2015): are answers about pairs of mentions calibrated?

Parts, each of which can be run by itself; results are merged into one JSON file:

curves   mention-ranking models on LitBank, from few features to all of them: F,
         CalibMSE with intervals by document, curves, and the claims of the thesis

    python benchmarks/papers/nguyen2015/bench_coreference.py --data-home DIR
    python benchmarks/papers/nguyen2015/bench_coreference.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from functools import cache
from itertools import pairwise
from time import process_time
from typing import NamedTuple

import numpy as np

from common.measure import progress
from common.runner import Part, main
from common.tables import format_table
from papers.nguyen2015.coreference import (
    BERKELEY_COSTS,
    GROUPS,
    LITBANK,
    Fields,
    antecedents,
    b_cubed,
    best_clusters,
    drawn_clusters,
    first_groups,
    fit_weights,
    load_documents,
    pairwise_f,
)
from skcw.evaluation import sampled_pairs
from skcw.metrics import brier_loss, compare_scores, score_decomposition, score_interval
from skcw.metrics.calibration_errors import calibration_mse

# ---- Mention-ranking models of several kinds ----

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


def clustered(run):
    """Return the clusterings by most probable choices."""
    return [best_clusters(table) for table in run.tables]


# ---- Calibration of "are these two mentions in one cluster?" ----

SCORE = "root_calibration_mse"
RESAMPLES, QUICK_RESAMPLES = 1000, 50
# Models are of about the same accuracy up to this difference of B-cubed F.
SAME_F = 0.03
NOTE = f"""\
Mention ranking on gold mentions; each group of features is added to those before it.
{FOLDS} folds of documents; L-BFGS, {ITERATIONS} iterations at most, L2 penalty
{PENALTY}. The answer is the share of {SAMPLES} drawn clusterings in which {ASKED} pairs
of mentions of each document, drawn at random, are together. F: of the clusters by the
most probable choices. Intervals take all pairs of a document together. Lean: mean
answer less share of yes. Discrimination: what the answers, mapped as well as can be,
save of the Brier loss."""


def run(settings):
    """Return what every model is worth."""
    rows, answers = {}, {}
    for name, one in all_runs(settings).items():
        progress(f"{name}: samples and intervals")
        answers[name], _ = sampled_answers(one, settings)
        rows[name] = _judged(one, answers[name], settings)
    some = answers[ALL]
    return {
        "quick": settings.quick,
        "documents": int(some.groups[-1]) + 1,
        "mentions": sum(map(len, all_runs(settings)[ALL].tables)),
        "pairs": len(some.correct),
        "yes": float(some.correct.mean()),
        "rows": rows,
        "claims": _claims(rows, answers, settings),
    }


def _resamples(settings):
    return QUICK_RESAMPLES if settings.quick else RESAMPLES


def _judged(one, asked, settings):
    truth, found = [each.clusters for each in one.documents], clustered(one)
    root = score_interval(SCORE, **asked._asdict(), n_resamples=_resamples(settings))
    parts = score_decomposition("brier_loss", asked.correct, asked.confidence)
    return {
        "b_cubed": b_cubed(truth, found),
        "pairwise": pairwise_f(truth, found),
        "root": [root.value, root.low, root.high],
        "mse": calibration_mse(asked.correct, asked.confidence),
        "lean": float(asked.confidence.mean() - asked.correct.mean()),
        "brier": brier_loss(asked.correct, asked.confidence),
        "discrimination": parts.discrimination,
        "fit_cpu": one.fit_seconds,
    }


def _difference(first, second, settings):
    """Return the interval of the difference of two models' roots of CalibMSE."""
    found = compare_scores(
        SCORE,
        *first[:2],
        *second[:2],
        groups=first.groups,
        n_resamples=_resamples(settings),
    )
    return [found.low, found.high]


def _claims(rows, answers, settings):
    """Return each claim, what was measured, and whether it holds."""
    steps = list(pairwise(list(MODELS)[:-1]))
    differences = [_difference(answers[b], answers[a], settings) for a, b in steps]
    sharper = [rows[b]["discrimination"] - rows[a]["discrimination"] for a, b in steps]
    low, high = _difference(answers[COSTED], answers[ALL], settings)
    apart = abs(rows[COSTED]["b_cubed"] - rows[ALL]["b_cubed"])
    by_f = sorted(rows, key=lambda name: -rows[name]["b_cubed"])
    by_root = sorted(rows, key=lambda name: rows[name]["root"][0])
    return [
        {
            "claim": "4.1.2: each further group of features lowers the root of "
            "CalibMSE (interval of the difference below 0)",
            "measured": ", ".join(f"[{a:+.4f}, {b:+.4f}]" for a, b in differences),
            "holds": all(bool(high < 0) for _, high in differences),
        },
        {
            "claim": "4.1.2: each further group makes answers more refined "
            "(discrimination rises)",
            "measured": ", ".join(f"{gain:+.4f}" for gain in sharper),
            "holds": bool(min(sharper) > 0),
        },
        {
            "claim": "3.4.2: calibration tells apart models that are about as accurate "
            f"(B-cubed F of likelihood and costs within {SAME_F}, interval of the "
            "difference of roots without 0)",
            "measured": f"F apart {apart:.4f}, roots [{low:+.4f}, {high:+.4f}]",
            "holds": bool(apart <= SAME_F and not low <= 0 <= high),
        },
        {
            "claim": "Abstract: calibration is complementary to accuracy (the order of "
            "the models by root of CalibMSE is not that by F)",
            "measured": f"by F {_order(by_f)}; by root {_order(by_root)}",
            "holds": by_f != by_root,
        },
    ]


def _order(names):
    """Return models by their places in the table."""
    places = list(MODELS)
    return " ".join(str(places.index(name) + 1) for name in names)


def render(found):
    """Return the results as text."""
    title = (
        f"Coreference: {found['documents']} documents, {found['mentions']} mentions, "
        f"{found['pairs']} pairs asked about, {found['yes']:.1%} of them in one cluster"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ["", "B-cubed F", "pairwise F", "root CalibMSE", "95 % interval"]
    header += ["CalibMSE", "lean", "Brier", "discrimination", "fit CPU s"]
    rows = [
        [
            f"{place}. {name}",
            f"{one['b_cubed']:.4f}",
            f"{one['pairwise']:.4f}",
            f"{one['root'][0]:.4f}",
            "{1:.4f}-{2:.4f}".format(*one["root"]),
            f"{one['mse']:.5f}",
            f"{one['lean']:+.4f}",
            f"{one['brier']:.4f}",
            f"{one['discrimination']:.4f}",
            f"{one['fit_cpu']:.0f}",
        ]
        for place, (name, one) in enumerate(found["rows"].items(), 1)
    ]
    texts = [title, format_table(header, rows), NOTE, format_claims(found)]
    return "\n\n".join(texts)


def format_claims(found):
    """Return the claims as text, one below the other."""
    verdict = {True: "holds", False: "DOES NOT HOLD"}
    lines = ["Claims of the thesis (its own words are of another system and corpus)"]
    for one in found["claims"]:
        said = "(quick)" if found["quick"] else verdict[one["holds"]]
        lines.append(f"- {one['claim']}\n  {one['measured']}: {said}")
    return "\n".join(lines)


PARTS = {
    "curves": Part(run, render),
}


if __name__ == "__main__":
    main(__file__, PARTS, [LITBANK])
