"""F1 over rounds of boosting and over passes of the voted perceptron."""

import numpy as np
from _corpora import MADE
from _measure import progress
from _pictures import new_figure, save_picture
from _rerank_lists import LANGUAGES, kept_lists
from _rerank_models import TEMPLATES, Ranked, f1
from _tables import format_table

from skcw.reranking import VotedPerceptronReranker
from skcw.reranking.base import Problem
from skcw.reranking.boosting import RankBooster

SMOOTHING = 1e-3
PASSES = (1, 2, 3, 4, 5, 7, 10)


def run(settings):
    """Return the curves of each language and draw them."""
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
    _draw(curves, settings.output / "rerank.png")
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


def render(found):
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


def _draw(curves, path):
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
