"""Precision, recall and F1 of reranked taggers beside the paper's, and the oracle."""

from _corpora import MADE
from _measure import progress
from _rerank_lists import BASES, LANGUAGES, TASKS, kept_lists
from _rerank_models import TEMPLATES, Ranked, grids, reduction, scores
from _tables import at_least, at_most, format_goals, format_table

from skcw.reranking import oracle_scores

PAPER = [
    ["paper, maximum entropy", "84.4", "86.3", "85.3", "", "", ""],
    ["paper, boosting", "87.3", "87.9", "87.6", "18.6", "11.6", "15.6"],
    ["paper, voted perceptron", "87.3", "88.6", "87.9", "18.6", "16.8", "17.7"],
]
GOALS = {"boosting": 15.6, "voted perceptron": 17.7}
ORACLES = (1, 5, 20, 50)


def run(settings):
    """Return the tables of all languages, tasks and base taggers."""
    languages = list(LANGUAGES)
    if settings.quick or settings.data_home is None:
        languages = [MADE]
    cells = [
        cell(settings, language, task, base)
        for language in languages
        for task in TASKS
        for base in BASES
    ]
    return {"quick": settings.quick, "cells": cells}


def cell(settings, language, task, base):
    """Return the figures of one language, task and base tagger."""
    lists = kept_lists(settings, language, base, task)
    progress(f"rerankers: {language}, {base}, {task}")
    ranked = Ranked(lists, TEMPLATES[task])
    choosing = kept_lists(settings, language, base, task, choosing=True)
    trial = Ranked(choosing, TEMPLATES[task])
    first = [0] * len(ranked.test)
    found = {
        "language": language,
        "task": task,
        "base": base,
        "n_features": ranked.train.n_features,
        "megabytes": ranked.train.nbytes / 2**20,
        "base_scores": scores(ranked.test, ranked.true, first),
        "seconds": lists["seconds"] | {"features": ranked.seconds},
        "oracle": {
            n: [100 * x for x in prf]
            for n, prf in oracle_scores(ranked.true, lists["oracle"], ORACLES).items()
        },
        "rerankers": {},
    }
    for name, grid in grids(settings.quick).items():
        chosen = trial.chosen(grid)
        found["rerankers"][name] = ranked.scored(chosen) | {"chosen": repr(chosen)}
    return found


def render(found):
    """Return the tables as text."""
    blocks = []
    for one in found["cells"]:
        blocks.append(f"{one['language']}, {one['task']}, base tagger {one['base']}")
        blocks.append(_table(one))
        blocks.append(_times(one))
    blocks.append(format_goals(_goals(found), found["quick"]))
    return "\n\n".join(blocks)


def _table(one):
    header = ["", "P", "R", "F", "errors less, P", "R", "F"]
    rows = list(PAPER) if one["task"] == "boundaries" else []
    base = one["base_scores"]
    rows.append(
        [f"{one['base']} alone", *(f"{base[k]:.2f}" for k in "PRF"), "", "", ""]
    )
    for name, new in one["rerankers"].items():
        less = [f"{reduction(base[k], new[k]):.1f}" for k in "PRF"]
        rows.append([name, *(f"{new[k]:.2f}" for k in "PRF"), *less])
    for n, prf in one["oracle"].items():
        rows.append([f"oracle of {n}", *(f"{x:.2f}" for x in prf), "", "", ""])
    return format_table(header, rows)


def _times(one):
    seconds = one["seconds"]
    rows = [
        ["base tagger", f"{seconds['fit']:.1f}", f"{seconds['test']:.1f}", ""],
        ["its jackknifed lists", f"{seconds['all'] - seconds['fit']:.1f}", "", ""],
        [
            f"{one['n_features']} features ({one['megabytes']:.0f} MB)",
            f"{seconds['features']['train']:.1f}",
            f"{seconds['features']['test']:.1f}",
            "",
        ],
    ]
    for name, new in one["rerankers"].items():
        rows.append([name, f"{new['fit']:.2f}", f"{new['test']:.2f}", new["chosen"]])
    rows = [[a, b, c, " ".join(d.split())] for a, b, c, d in rows]
    return format_table(["processor seconds", "training", "test", "chosen"], rows)


def _goals(found):
    goals = []
    for one in found["cells"]:
        if one["base"] != "MaxEnt":
            continue
        base = one["base_scores"]["F"]
        for name, bound in GOALS.items():
            less = reduction(base, one["rerankers"][name]["F"])
            what = f"{one['language']}, {one['task']}: {name}, fewer errors in F (%)"
            goals.append(at_least(what, less, bound))
    slowest = max(_cost_of_votes(one) for one in found["cells"])
    what = "votes over one weighted sum, from words to labels, slowest table"
    return [*goals, at_most(what, slowest, 3.0, ".2f")]


def _cost_of_votes(one):
    """Return time of tagging by votes over that by one weighted sum, which CW takes."""
    seconds, new = one["seconds"], one["rerankers"]
    lists = seconds["test"] + seconds["features"]["test"]
    return (lists + new["voted perceptron"]["test"]) / (lists + new["CW"]["test"])
