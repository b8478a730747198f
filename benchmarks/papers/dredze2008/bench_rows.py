"""Dredze & Crammer (2008): binary tasks, labels to reach 80 % of full accuracy.

Two rows are labeled at first, then one a round, with one update for it, by ACL and its
rivals.

    python benchmarks/papers/dredze2008/bench_rows.py --data-home DIR
    python benchmarks/papers/dredze2008/bench_rows.py --quick

``--cache`` names a folder that keeps each run, so that a run that was interrupted goes
on where it stopped.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from common.documents import (
    load_20newsgroups,
    load_amazon_reviews,
    load_reuters21578,
    load_sms_spam,
)
from common.measure import progress
from common.rows import FOLDERS
from common.runner import Part, main
from common.tables import format_table, new_figure, number, save_picture
from skcw import MultiClassCW, MultiClassPA
from skcw.active import Budget, simulate
from skcw.active.simulation import Strategy, Study
from skcw.datasets import make_reviews

# ---- The binary tasks of Dredze & Crammer (2008) that the corpora here allow ----

# At most so many rows in a task, as in the paper.
N_ROWS, QUICK_ROWS = 2000, 150
NEWS_PAIRS = {
    "news comp": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "news sci": ("sci.electronics", "sci.med"),
    "news talk": ("talk.politics.guns", "talk.politics.mideast"),
}
TOPIC_PAIRS = {
    "reuters crude-trade": ("crude", "trade"),
    "reuters grain-ship": ("grain", "ship"),
    "reuters money-interest": ("money-fx", "interest"),
}
DOMAINS = ("books", "dvd", "electronics", "kitchen")


@dataclass(frozen=True)
class Task:
    """Rows of binary words and two classes."""

    X: sparse.csr_matrix
    y: np.ndarray


def task_names(data_home):
    """Return the names of the tasks that `load_task` can load."""
    return ["made"] if data_home is None else list(_readers())


def load_task(name, data_home):
    """Return a task: at most 2,000 of its rows, drawn at random."""
    if name == "made":
        texts, labels = make_reviews(
            QUICK_ROWS, target="sentiment", random_state=0, return_X_y=True
        )
    else:
        texts, labels = _readers()[name](data_home)
    labels = np.unique(np.asarray(labels), return_inverse=True)[1]
    chosen = np.random.RandomState(0).permutation(len(labels))[:N_ROWS]
    words = CountVectorizer(binary=True, dtype=np.float64)
    X = sparse.csr_matrix(words.fit_transform([texts[i] for i in chosen]))
    X.sort_indices()
    return Task(X, labels[chosen])


def _readers():
    readers = {n: partial(_news, pair) for n, pair in NEWS_PAIRS.items()}
    readers |= {n: partial(_topics, pair) for n, pair in TOPIC_PAIRS.items()}
    readers |= {f"sentiment {d}": partial(_sentiment, d) for d in DOMAINS}
    return readers | {"spam": _spam}


def _news(pair, data_home):
    return _of_names(load_20newsgroups(data_home), pair)


def _topics(pair, data_home):
    return _of_names(load_reuters21578(data_home, topics=pair), pair)


def _of_names(texts, wanted):
    codes = [texts.target_names.index(name) for name in wanted]
    rows = [i for i, code in enumerate(texts.target) if code in codes]
    return [texts.data[i] for i in rows], [texts.target[i] for i in rows]


def _sentiment(domain, data_home):
    texts = load_amazon_reviews(data_home, target="sentiment")
    rows = np.flatnonzero(texts.domain == domain)
    return [texts.data[i] for i in rows], texts.target[rows]


def _spam(data_home):
    texts = load_sms_spam(data_home)
    return texts.data, texts.target


# ---- Seed rows of two classes, one row a round, one update for it ----

# The paper's learners: φ = 1 in the form M ≥ φV, every row corrected at once; C = 1.
CW = MultiClassCW(1.0, step="variance", C=float("inf"), variance_scale=1.0)
PA = MultiClassPA(1.0, averaging=False)
STRATEGIES = {
    "PA Random": Strategy("random", PA),
    "PA Margin": Strategy("margin", PA),
    "CW Random": Strategy("random", CW),
    "CW Margin": Strategy("margin", CW),
    "ACL": Strategy("normalized-margin", CW),
}
# Rival -> the random choice of the same learner, and the paper's share of its labels.
SHARES = {
    "PA Margin": ("PA Random", 0.93),
    "CW Margin": ("CW Random", 0.73),
    "ACL": ("CW Random", 0.63),
}
MARK = 0.8
# Shares that differ by less are called equal.
A_POINT = 0.01
# What is kept of a curve; the labels needed are read from all of it.
EVERY = 5
N_FOLDS, FOLDS_RUN = 10, 5
MOST_LABELS, QUICK_LABELS = 300, 30  # 500 in the paper
COLORS = ("0.45", "#0072B2", "#56B4E9", "#E69F00", "#D55E00")


def run(settings):
    """Return the curves and the labels needed of every task, fold and strategy."""
    tasks = {}
    for name in task_names(settings.data_home):
        task = load_task(name, settings.data_home)
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        splits = list(folds.split(task.X, task.y))[: 1 if settings.quick else FOLDS_RUN]
        runs = [
            _run_fold(task, train, test, fold, settings)
            for fold, (train, test) in enumerate(splits)
        ]
        progress(f"rows: {name}, {len(runs)} folds")
        tasks[name] = _summary(task, runs)
    shares = _shares(tasks)
    return {
        "quick": settings.quick,
        "folds_run": len(splits),
        "n_labels": QUICK_LABELS if settings.quick else MOST_LABELS,
        "tasks": tasks,
        "shares": shares,
        "claims": _claims(tasks, shares),
    }


def _run_fold(task, train, test, fold, settings):
    """Return the study of one fold and the accuracy of both learners on all rows."""
    X, y, X_test, y_test = task.X[train], task.y[train], task.X[test], task.y[test]
    study = simulate(
        CW,
        X,
        y,
        STRATEGIES,
        test=(X_test, y_test),
        n_initial=2,
        batch=1,
        n_candidates=None,
        budget=Budget(labels=QUICK_LABELS if settings.quick else MOST_LABELS),
        evaluate_every=1,
        update="online",
        scoring=_accuracy,
        n_repeats=1,
        cache=settings.cache and settings.cache / "rows",
        random_state=fold,
    )
    full = {
        learner: clone(model)
        .set_params(random_state=fold)
        .fit(X, y)
        .score(X_test, y_test)
        for learner, model in (("CW", CW), ("PA", PA))
    }
    return study, full


def _accuracy(model, X, y):
    """Return the accuracy; checking its arguments would take longer than the rest."""
    return float(np.mean(model.predict(X) == y))


def _summary(task, runs):
    """Return the mean curve of each strategy and the labels to reach the mark.

    The mark is reached by the mean curve of the folds, as the paper's figures show it:
    a single run goes up and down.
    """
    full = {k: float(np.mean([f[k] for _, f in runs])) for k in ("CW", "PA")}
    curves, needed = {}, {}
    for name in STRATEGIES:
        scores = [study.runs(name, "n_labels")[0] for study, _ in runs]
        sizes, mean = scores[0][0], np.mean([y for _, y in scores], axis=0)
        kept = (sizes % EVERY == 0) | (sizes == sizes[-1])
        curves[name] = {
            "n_labels": sizes[kept].tolist(),
            "accuracy": mean[kept].tolist(),
        }
        needed[name] = _labels_needed(
            sizes, mean, MARK * full[name[:2].replace("AC", "CW")]
        )
    return {
        "n_rows": len(task.y),
        "full": full,
        "curves": curves,
        "needed": needed,
    }


def _labels_needed(sizes, accuracy, mark):
    """Return where a curve first reaches a mark, or None."""
    common = {"strategy": "", "repeat": 0, "n_words": 0}
    records = [
        {**common, "n_labels": n, "score": a}
        for n, a in zip(sizes, accuracy, strict=True)
    ]
    found = Study(records, [""]).needed("", mark, by="n_labels")[0]
    return None if np.isnan(found) else float(found)


def _shares(tasks):
    """Return for each rival the labels it needs as a share of random's."""
    found = {}
    for rival, (random, paper) in SHARES.items():
        pairs = [
            (task["needed"][rival], task["needed"][random])
            for task in tasks.values()
            if task["needed"][rival] is not None and task["needed"][random] is not None
        ]
        mine, others = np.sum(pairs, axis=0) if pairs else (0.0, 0.0)
        found[rival] = {
            "of_sums": float(mine / others) if pairs else None,
            "mean_of_shares": float(np.mean([a / b for a, b in pairs]))
            if pairs
            else None,
            "n_tasks": len(pairs),
            "paper": paper,
        }
    return found


def _claims(tasks, shares):
    """Return the claims of the paper that these tasks can test.

    It does not say how it sums over tasks, so a claim about shares must hold both ways.
    """
    points = [_point(task) for task in tasks.values()]
    points = [p for p in points if None not in p]
    better = sum(acl < cw for cw, acl in points)
    worse = sum(acl > cw for cw, acl in points)
    cw_above, acl_above = (sum(p[k] > 1 for p in points) for k in (0, 1))
    last = {
        name: np.mean([t["curves"][name]["accuracy"][-1] for t in tasks.values()])
        for name in STRATEGIES
    }
    ahead = np.mean(_mean_curve(tasks, "ACL") > _mean_curve(tasks, "CW Margin"))
    tasks_ahead = sum(
        _mean_accuracy(task, "ACL") > _mean_accuracy(task, "CW Margin")
        for task in tasks.values()
    )
    return [
        _smaller(shares, "PA Margin", None),
        _smaller(shares, "CW Margin", "PA Margin"),
        _smaller(shares, "ACL", "CW Margin"),
        {
            "claim": "ACL is above CW Margin on every task (mean of the rounds)",
            "found": f"on {tasks_ahead} of {len(tasks)}",
            "held": bool(tasks_ahead == len(tasks)),
        },
        {
            "claim": "ACL is above CW Margin after almost every round (mean of tasks)",
            "found": f"after {ahead:.0%} of the rounds",
            "held": bool(ahead >= 0.9),
        },
        {
            "claim": "ACL beats CW Margin twice as often as the opposite (8:4)",
            "found": f"{better}:{worse}",
            "held": bool(better > 0 and better >= 2 * worse),
        },
        {
            "claim": "CW Margin needs more labels than CW Random at times (3 of 13)",
            "found": f"on {cw_above} of {len(points)}",
            "held": bool(cw_above > 0),
        },
        {
            "claim": "ACL does so on fewer tasks than CW Margin (1 of 13)",
            "found": f"on {acl_above} of {len(points)}",
            "held": bool(acl_above < cw_above),
        },
        {
            "claim": "in the end ACL is above CW Margin, and that above PA Margin",
            "found": ", ".join(f"{n} {last[n]:.4f}" for n in STRATEGIES),
            "held": bool(last["ACL"] > last["CW Margin"] > last["PA Margin"]),
        },
    ]


def _smaller(shares, name, other):
    """Return the claim that one share is a point or more below another, or below 1."""
    ways = ("of_sums", "mean_of_shares")
    mine = [shares[name][way] for way in ways]
    theirs = [1.0 if other is None else shares[other][way] for way in ways]
    is_known = None not in (*mine, *theirs)
    claim = f"{name} needs a smaller share of random's labels than {other}"
    if other is None:
        claim = f"{name} needs fewer labels than random"
    found = " and ".join(
        f"{number(a, '.1%')} < {number(b, '.1%')}"
        for a, b in zip(mine, theirs, strict=True)
    )
    return {
        "claim": claim,
        "found": found,
        "held": is_known
        and all(b - a >= A_POINT for a, b in zip(mine, theirs, strict=True)),
    }


def _mean_accuracy(task, name):
    return np.mean(task["curves"][name]["accuracy"])


def _mean_curve(tasks, name):
    """Return the mean accuracy of all tasks after each round that all of them had."""
    curves = [task["curves"][name]["accuracy"] for task in tasks.values()]
    n_rounds = min(map(len, curves))
    return np.mean([curve[:n_rounds] for curve in curves], axis=0)


def _point(task):
    """Return what CW Margin and ACL need as shares of CW Random's labels."""
    needed = task["needed"]
    if needed["CW Random"] is None:
        return None, None
    return tuple(
        None if needed[name] is None else needed[name] / needed["CW Random"]
        for name in ("CW Margin", "ACL")
    )


def render(found):
    """Return the tables of this part."""
    header = ["task", "rows", "full CW", "full PA", *STRATEGIES]
    rows = [
        [name, t["n_rows"], f"{t['full']['CW']:.3f}", f"{t['full']['PA']:.3f}"]
        + [number(t["needed"][s], ".1f") for s in STRATEGIES]
        for name, t in found["tasks"].items()
    ]
    shares = [
        [n, *(number(s[key], ".0%") for key in ("of_sums", "mean_of_shares", "paper"))]
        for n, s in found["shares"].items()
    ]
    claims = [
        [c["claim"], c["found"], "(quick)" if found["quick"] else _yes(c["held"])]
        for c in found["claims"]
    ]
    return "\n\n".join(
        [
            f"Rows: labels until the mean of {found['folds_run']} of 10 folds reaches "
            f"80 % of full accuracy, up to {found['n_labels']} (500 in the paper)",
            format_table(header, rows),
            "Labels needed as a share of those of the random choice, same learner",
            format_table(["", "of sums", "mean of tasks", "paper"], shares),
            format_table(["claim", "found", "held"], claims),
        ]
    )


def _yes(held):
    return "yes" if held else "NO"


def draw(found, path):
    """Draw accuracy against labels, for news and for all tasks, and the scatter."""
    figure = new_figure(figsize=(12, 4))
    if figure is None:
        return
    news, every, scatter = figure.subplots(1, 3)
    tasks = found["tasks"]
    of_news = {name: t for name, t in tasks.items() if name.startswith("news")}
    for ax, own, title in (
        (news, of_news, "20 Newsgroups"),
        (every, tasks, "all tasks"),
    ):
        if own:
            _draw_accuracy(ax, own.values(), f"{title} ({len(own)})")
    for name, task in tasks.items():
        needed = task["needed"]
        if None in (needed["CW Random"], needed["CW Margin"], needed["ACL"]):
            continue
        x, y = (needed[n] / needed["CW Random"] for n in ("ACL", "CW Margin"))
        scatter.plot(x, y, "o", color=COLORS[1])
        scatter.annotate(
            name, (x, y), fontsize=6, xytext=(3, 3), textcoords="offset points"
        )
    top = max(scatter.get_xlim()[1], scatter.get_ylim()[1], 1.1)
    scatter.plot([0, top], [0, top], color="0.6", linewidth=0.8)
    scatter.set(
        xlabel="labels of ACL / CW Random",
        ylabel="labels of CW Margin / CW Random",
        title="above the line ACL needs fewer",
    )
    save_picture(figure, path)


def _draw_accuracy(ax, tasks, title):
    tasks = list(tasks)
    for color, name in zip(COLORS, tasks[0]["curves"], strict=True):
        curves = [task["curves"][name] for task in tasks]
        n = min(len(curve["accuracy"]) for curve in curves)
        mean = [sum(c["accuracy"][i] for c in curves) / len(curves) for i in range(n)]
        label = f"{name} {mean[-1]:.3f}"
        ax.plot(curves[0]["n_labels"][:n], mean, color=color, label=label)
    for learner, style in (("CW", "-"), ("PA", "--")):
        full = sum(task["full"][learner] for task in tasks) / len(tasks)
        ax.axhline(full, color="0.6", linewidth=0.8, linestyle=style)
    ax.set(xlabel="labels", ylabel="accuracy", title=title)
    ax.legend(fontsize="small")


PARTS = {
    "rows": Part(run, render, (draw, "curves")),
}


if __name__ == "__main__":
    main(__file__, PARTS, FOLDERS)
