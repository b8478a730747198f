"""The gain of reranking over the CW tagger on several random splits."""

from statistics import mean, stdev

import numpy as np

from common.corpora import MADE
from common.measure import progress
from common.tables import (
    at_least,
    at_most,
    format_goals,
    format_table,
    new_figure,
    save_picture,
)
from papers.collins2002.lists import (
    BASES,
    LANGUAGES,
    TASKS,
    TEMPLATES,
    Ranked,
    f1,
    grids,
    kept_lists,
    lists_to_choose_by,
    make_lists,
    read,
    reduction,
    scores,
    split,
)
from skcw.reranking import VotedPerceptronReranker, oracle_scores
from skcw.reranking.base import Problem
from skcw.reranking.boosting import RankBooster

# ---- Precision ----

PAPER = [
    ["paper, maximum entropy", "84.4", "86.3", "85.3", "", "", ""],
    ["paper, boosting", "87.3", "87.9", "87.6", "18.6", "11.6", "15.6"],
    ["paper, voted perceptron", "87.3", "88.6", "87.9", "18.6", "16.8", "17.7"],
]
GOALS = {"boosting": 15.6, "voted perceptron": 17.7}
ORACLES = (1, 5, 20, 50)


def run_tables(settings):
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


def render_tables(found):
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


# ---- F1 over rounds of boosting and over passes of the voted perceptron ----

SMOOTHING = 1e-3
PASSES = (1, 2, 3, 4, 5, 7, 10)


def run_curves(settings):
    """Return the curves of each language."""
    languages = list(LANGUAGES)
    if settings.quick or settings.data_home is None:
        languages = [MADE]
    rounds = [0, 10, 30, 100] if settings.quick else [0, 10, 30, 100, 300, 1000, 3000]
    rounds += [] if settings.quick else [10_000, 30_000]
    passes = PASSES[:2] if settings.quick else PASSES
    curves = {}
    for language in languages:
        lists = kept_lists(settings, language, "MaxEnt", "boundaries")
        ranked = Ranked(lists, TEMPLATES["boundaries"])
        progress(f"curves: {language}")
        curves[language] = {
            "rounds": _boosting(ranked, rounds),
            "passes": _voting(ranked, passes),
        }
    return {"curves": curves}


def _boosting(ranked, rounds):
    """Return (rounds, loss, F1 on the test set) after more and more rounds."""
    machine = RankBooster(Problem.of(ranked.train, ranked.errors, None), SMOOTHING)
    totals = machine.score_coef * ranked.test.scores
    owner = np.repeat(np.arange(len(totals)), np.diff(ranked.test.indptr))
    coef, done, rows = np.zeros(ranked.train.n_features), 0, []
    for n in rounds:
        found = machine.boost(n - done)
        np.add.at(coef, found.feature, found.step)
        done = n
        now = totals + np.bincount(
            owner, coef[ranked.test.indices], minlength=len(totals)
        )
        best = [int(row.argmax()) for row in ranked.test.rows(now)]
        rows.append([n, machine.loss, 100 * f1(ranked.test, ranked.true, best)])
    return rows


def _voting(ranked, passes):
    """Return (passes, F1 by votes, F1 by the average) on the test set."""
    rows = []
    for n in passes:
        reranker = VotedPerceptronReranker(max_iter=n, shuffle=True, random_state=0)
        reranker.fit(ranked.train, ranked.errors)
        both = []
        for voting in (True, False):
            best = reranker.set_params(voting=voting).predict(ranked.test)
            both.append(100 * f1(ranked.test, ranked.true, best))
        rows.append([n, *both])
    return rows


def render_curves(found):
    """Return the curves as tables."""
    blocks = []
    for language, one in found["curves"].items():
        blocks.append(f"{language}, boundaries, MaxEnt: F1 on the test set")
        rows = [[n, f"{loss:.0f}", f"{f:.2f}"] for n, loss, f in one["rounds"]]
        blocks.append(format_table(["rounds of boosting", "loss", "F"], rows))
        rows = [[n, f"{a:.2f}", f"{b:.2f}"] for n, a, b in one["passes"]]
        blocks.append(
            format_table(["passes of the perceptron", "voted F", "averaged F"], rows)
        )
    return "\n\n".join(blocks)


def draw(found, path):
    """Draw the curves of all languages."""
    curves = found["curves"]
    figure = new_figure(figsize=(9, 3.6))
    if figure is None:
        return
    left, right = figure.subplots(1, 2, sharey=True)
    for number, (language, one) in enumerate(curves.items()):
        color = f"C{number}"
        n, _, f = zip(*one["rounds"], strict=True)
        left.plot([max(x, 1) for x in n], f, "o-", color=color, label=language)
        left.axhline(f[0], color=color, lw=0.8, ls=":")
        n, voted, averaged = zip(*one["passes"], strict=True)
        right.plot(n, voted, "o-", color=color, label=f"{language}, voted")
        right.plot(n, averaged, "s--", color=color, label=f"{language}, averaged")
    left.set(xscale="log", xlabel="rounds of boosting (1: none)", ylabel="F1, test set")
    right.set(xlabel="passes of the perceptron")
    for axes in (left, right):
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    save_picture(figure, path)


# ---- The gain of reranking over the CW tagger on several random splits ----

# Sentences of a split, training and test together.
N_SENTENCES = 6000


def run_splits(settings):
    """Return base and reranked F1 of every split."""
    languages = list(LANGUAGES)
    if settings.quick or settings.data_home is None:
        languages = [MADE]
    found = {}
    for language in languages:
        tokens, labels = read(language, settings, "train")
        rows, chosen = [], {}
        for seed in range(settings.splits):
            parts = split(tokens, labels, seed, N_SENTENCES)
            rows.append(_one(parts, chosen, settings.quick))
            progress(f"split {seed} of {language}: {rows[-1]}")
        found[language] = rows
    return {"quick": settings.quick, "splits": found}


def _one(parts, chosen, quick):
    """Return F1 of one split; the first one chooses the settings of all.

    It does so on a part of its training sentences that is held out.
    """
    templates = TEMPLATES["entities"]
    ranked = Ranked(make_lists("CW", "entities", *parts), templates)
    if not chosen:
        trial = Ranked(lists_to_choose_by("CW", "entities", parts[0]), templates)
        chosen |= {name: trial.chosen(grid) for name, grid in grids(quick).items()}
    row = {"base": scores(ranked.test, ranked.true, [0] * len(ranked.test))["F"]}
    for name, reranker in chosen.items():
        row[name] = ranked.scored(reranker)["F"]
    return row


def render_splits(found):
    """Return the splits as tables."""
    blocks, goals = [], []
    for language, rows in found["splits"].items():
        names = [name for name in rows[0] if name != "base"]
        lines = [
            [seed, *(f"{row[name]:.2f}" for name in ["base", *names])]
            for seed, row in enumerate(rows)
        ]
        gains = {name: [row[name] - row["base"] for row in rows] for name in names}
        lines.append(["gain", "", *(_spread(gains[name]) for name in names)])
        less = {n: mean(reduction(r["base"], r[n]) for r in rows) for n in names}
        lines.append(["errors less, %", "", *(f"{less[name]:.1f}" for name in names)])
        blocks.append(f"{language}, entities, CW base: F1 on random splits")
        blocks.append(format_table(["split", "CW alone", *names], lines))
        for name in names:
            least = min(gains[name])
            what = f"{language}: least gain of {name} in F over all splits"
            goals.append(at_least(what, least, 0.0, ".2f"))
    return "\n\n".join([*blocks, format_goals(goals, found["quick"])])


def _spread(values):
    deviation = stdev(values) if len(values) > 1 else 0.0
    return f"{mean(values):+.2f} ± {deviation:.2f}"
