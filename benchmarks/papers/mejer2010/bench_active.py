"""Mejer & Crammer (2010), section 6: sentences chosen for annotation.

The part "sequences" has F against the number of words labeled, beside a CRF at equal
words, and the claims of the paper.

    python benchmarks/papers/mejer2010/bench_active.py --data-home DIR --splits 2
    python benchmarks/papers/mejer2010/bench_active.py --quick

``--cache`` names a folder that keeps each run, so that a run that was interrupted goes
on where it stopped, and one with more splits adds to it. ``--learners`` names
strategies, ``--corpora`` sets: these only.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import clone

from common.corpora import CONLL, load_paper_set, paper_sets
from common.crfsuite import DEFAULT_PENALTIES, PENALTIES
from common.measure import progress
from common.runner import Part, main
from common.tables import (
    at_most,
    format_goals,
    format_table,
    new_figure,
    number,
    save_picture,
)
from skcw import CRFSequenceTagger, CWSequenceTagger
from skcw.active import Budget, simulate
from skcw.active.simulation import Strategy, Study
from skcw.active.utilities import (
    least_confident_word,
    min_conf_margin,
    min_margin,
    normalized_log_prob,
)
from skcw.data import SequenceEncoder
from skcw.evaluation import get_scorer

# Training that asks nothing of confidence needs not learn it.
PLAIN_CW = CWSequenceTagger(calibrate_confidence=False)
DRAWS = {"n_draws": 50}
RANDOM, BEST, FEW_FITS = "random", "best", "best (20 fits)"
CRF = "CRF (20 fits)"
STRATEGIES = {
    RANDOM: Strategy("random", PLAIN_CW),
    "KD-PC": Strategy(partial(least_confident_word, method="kd-pc", **DRAWS), PLAIN_CW),
    "KD-Fixed": Strategy(
        partial(least_confident_word, method="kd-fixed", **DRAWS), PLAIN_CW
    ),
    "MinMargin": Strategy(min_margin, PLAIN_CW),
    "MinConfMargin": Strategy(min_conf_margin, PLAIN_CW),
    BEST: Strategy(normalized_log_prob, CWSequenceTagger()),
    FEW_FITS: Strategy(normalized_log_prob, CWSequenceTagger()),
    CRF: Strategy(least_confident_word),
}
RULES = ("KD-PC", "KD-Fixed", "MinMargin", "MinConfMargin")
OF_THE_PAPER = (RANDOM, *RULES)
WITH_FEW_FITS = (FEW_FITS, CRF)
# The first split chose the best strategy, so that it measures none.
FIRST_SPLIT = 1
N_POOL, N_TEST, N_INITIAL, N_CANDIDATES = 9000, 3000, 50, 1000
GOAL = 0.98
SHORT, LONG = 10_000, 50_000
# About twenty fits on the way to the whole pool.
FEW_FITS_GROWTH = 0.3
# As in the paper, ten sentences a round, up to this number of them.
N_BY_TENS = 500
CRF_ITERATIONS, QUICK_ITERATIONS = 150, 20
# After the first 500 a batch is this share of what is labeled: the paper goes on by
# tens, and its strategies end at 5,000 sentences.
GROWTH, QUICK_GROWTH = 0.1, 0.5
MOST_SENTENCES = 5000
SLOW = "Spanish", CRF
NOTES = f"""\
"best" is normalized_log_prob, named before these runs: it was chosen among about ten
utilities on another split of NP chunking and of Spanish. It and the CRF rank all that
is left, the others 1,000 random candidates. Strategies with 20 fits add in every round
{FEW_FITS_GROWTH:.0%} of what is labeled, so that twenty fits lead to the whole pool;
they end at the mark. The CRF asks for the sentence of its least confident word.
MinConfMargin is min_conf_margin as it is by default, not divided by the words. The
mark of all is {GOAL:.0%} of the F of CW on the whole pool. The full protocol is five
runs of each strategy; the tables say how many there were, and ratios are of the runs
that both have."""
ALL_BUT_CHUNKING = ("Spanish", "Dutch")
# What is compared, the sets that the claim is about (all if None), and the claim.
CLAIMS = {
    "up to 10,000 words MinMargin is the worst of the four rules": (
        "f_short",
        ALL_BUT_CHUNKING,
        lambda f: f["MinMargin"] == min(f[name] for name in RULES),
    ),
    "up to 10,000 words MinConfMargin is the worst of the four rules": (
        "f_short",
        ("NP chunking",),
        lambda f: f["MinConfMargin"] == min(f[name] for name in RULES),
    ),
    "up to 10,000 words KD-Fixed is the best": (
        "f_short",
        None,
        lambda f: f["KD-Fixed"] == max(f.values()),
    ),
    "beyond 10,000 words random is the worst": (
        "f_long",
        None,
        lambda f: f[RANDOM] == min(f.values()),
    ),
    "beyond 10,000 words KD-PC and KD-Fixed are the best": (
        "f_long",
        None,
        lambda f: (
            min(f["KD-PC"], f["KD-Fixed"])
            > max(f["MinMargin"], f["MinConfMargin"], f[RANDOM])
        ),
    ),
    "beyond 10,000 words MinConfMargin is better than MinMargin": (
        "f_long",
        None,
        lambda f: f["MinConfMargin"] > f["MinMargin"],
    ),
}


@dataclass(frozen=True)
class Growth:
    """Ten sentences a round at first, later a share of what is labeled."""

    share: float
    first: int = N_BY_TENS

    def __call__(self, n_labels):
        """Return the size of the next batch."""
        return 10 if n_labels < self.first else max(10, int(self.share * n_labels))


def run(settings):
    """Return the curves of all strategies on all sets, and what they need."""
    names = settings.corpora or paper_sets(settings.data_home)
    data = {name: _load(name, settings) for name in names}
    runs = {name: [] for name in names}
    # One split after the other: what an interrupted benchmark has done is comparable.
    for run_number in range(settings.splits):
        for name in names:
            wanted = _strategies_of_run(name, run_number, settings)
            runs[name].append(
                _run_split(name, data[name], run_number, wanted, settings)
            )
    sets = {name: _summary(own) for name, own in runs.items()}
    return {
        "quick": settings.quick,
        "runs": settings.splits,
        "growth": QUICK_GROWTH if settings.quick else GROWTH,
        "max_sentences": MOST_SENTENCES,
        "sets": sets,
        "goals": _goals(sets),
        "claims": _claims(sets),
    }


def _load(name, settings):
    """Return the encoded sentences of a set and their labels."""
    corpus = load_paper_set(name, settings.data_home, settings.quick)
    batch = SequenceEncoder().fit_transform(corpus.features())
    labels = np.empty(len(batch), dtype=object)
    labels[:] = corpus.labels
    return batch, labels


def _strategies_of_run(name, run_number, settings):
    """Return the strategies of a run on a set; one has a single run, for it is slow."""
    return [
        strategy
        for strategy in settings.learners or STRATEGIES
        if run_number == 0 or (name, strategy) != SLOW
    ]


def _run_split(name, data, run_number, wanted, settings):
    """Return {strategy: study} and the F of the learner on the whole pool."""
    batch, labels = data
    split = FIRST_SPLIT + run_number
    order = np.random.RandomState(split).permutation(len(batch))
    n_pool = min(N_POOL, len(batch) * 3 // 4)
    train, test = order[:n_pool], order[n_pool : n_pool + N_TEST]
    X, y, X_test, y_test = batch[train], labels[train], batch[test], labels[test]
    scorer = get_scorer("span_f1")
    model = clone(PLAIN_CW).set_params(random_state=split).fit(X, y)
    full, studies = float(scorer(model, X_test, y_test)), {}
    for strategy in wanted:
        progress(f"sequences: run {run_number + 1}, {name}, {strategy}")
        studies[strategy] = simulate(
            _crf(name, settings),
            X,
            y,
            {strategy: STRATEGIES[strategy]},
            test=(X_test, y_test),
            n_initial=N_INITIAL,
            update="refit",
            scoring=scorer,
            n_repeats=1,
            cache=settings.cache and settings.cache / "sequences",
            random_state=split,
            **_schedule(strategy, full, settings),
        )
    return {"studies": studies, "full": full, "n_words": int(X.n_tokens)}


def _schedule(strategy, full, settings):
    """Return the batches of a strategy, when it is scored and when it ends."""
    if strategy in WITH_FEW_FITS:
        return {
            "batch": Growth(FEW_FITS_GROWTH, first=0),
            "n_candidates": None,
            "evaluate_every": 1,
            # These cost most, and nothing is measured beyond.
            "until_score": GOAL * full,
        }
    is_rival = strategy not in (RANDOM, BEST)
    return {
        "batch": Growth(QUICK_GROWTH if settings.quick else GROWTH),
        "n_candidates": N_CANDIDATES if is_rival else None,
        "evaluate_every": 1,
        "budget": Budget(labels=MOST_SENTENCES) if is_rival else None,
    }


def _crf(name, settings):
    """Return the CRF with the penalties that were tuned for a set."""
    c1, c2 = PENALTIES.get(name, DEFAULT_PENALTIES)
    return CRFSequenceTagger(
        c1=c1,
        c2=c2,
        max_iter=QUICK_ITERATIONS if settings.quick else CRF_ITERATIONS,
        all_possible_transitions=True,
    )


def _summary(runs):
    """Return mean curves, and the words needed in every run."""
    found = {
        "full_f": [run["full"] for run in runs],
        "pool_words": [run["n_words"] for run in runs],
        "strategies": {},
    }
    # Up to where all strategies of the paper went: their means are of one range.
    ends = [
        study.column("n_words")[-1]
        for run in runs
        for name, study in run["studies"].items()
        if name in OF_THE_PAPER
    ]
    found["long_range"] = [SHORT, float(min([LONG, *ends]))]
    for name in STRATEGIES:
        own = [run for run in runs if name in run["studies"]]
        if own:
            found["strategies"][name] = _summary_of(name, own, found["long_range"])
    return found


def _summary_of(name, runs, long_range):
    """Return the same of one strategy."""
    study = _joined([run["studies"][name] for run in runs], name)
    needed = [
        float(run["studies"][name].needed(name, GOAL * run["full"])[0]) for run in runs
    ]
    sizes, mean, low, high = study.curve(name)
    return {
        "n_words": sizes.tolist(),
        "f": mean.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "needed": [None if np.isnan(n) else n for n in needed],
        "f_short": _areas(study, name, 0, SHORT),
        "f_long": _areas(study, name, *long_range),
    }


def _joined(studies, name):
    """Return the runs of several splits as repetitions of one study."""
    records = [
        {**record, "repeat": split}
        for split, study in enumerate(studies)
        for record in study.records
    ]
    return Study(records, [name])


def _areas(study, name, least, most):
    """Return each run's mean F over a range of words, None where it ended before."""
    means = []
    for sizes, scores in study.runs(name):
        grid = np.arange(max(least, sizes[0]), most, 100.0)
        is_whole = len(grid) and sizes[-1] >= most
        means.append(float(np.interp(grid, sizes, scores).mean()) if is_whole else None)
    return means


def _mean(values):
    """Return the mean, or None where a value is missing."""
    return None if not values or None in values else float(np.mean(values))


def _ratios(sets, name, other):
    """Return what one needs over what the other needs, in the runs of both."""
    found = {}
    for key, one in sets.items():
        pair = [one["strategies"].get(n, {}).get("needed", []) for n in (name, other)]
        n_runs = min(map(len, pair))
        mine, others = (_mean(needed[:n_runs]) for needed in pair)
        if mine is not None and others is not None:
            found[key] = mine / others
    return found


def _goals(sets):
    goals = []
    for name, other, bound in (
        (BEST, RANDOM, 0.5),
        (FEW_FITS, CRF, 0.8),
        (BEST, CRF, 0.8),
    ):
        ratios = _ratios(sets, name, other)
        if ratios:
            each = ", ".join(f"{key} {ratio:.2f}" for key, ratio in ratios.items())
            what = f"words of {name} / words of {other}, mean of {each}"
            mean = float(np.mean([*ratios.values()]))
            goals.append(at_most(what, mean, bound, ".2f"))
    return goals


def _claims(sets):
    """Return for each claim of section 6 in how many runs on each set it held."""
    return [
        {
            "claim": claim,
            "held": {
                name: _held(found, key, holds)
                for name, found in sets.items()
                if claimed is None or name in claimed
            },
        }
        for claim, (key, claimed, holds) in CLAIMS.items()
    ]


def _held(found, key, holds):
    """Return whether a claim holds for the means of the runs, and in how many runs."""
    if not set(OF_THE_PAPER) <= set(found["strategies"]):
        return None
    runs = {name: found["strategies"][name][key] for name in OF_THE_PAPER}
    n_runs = min(map(len, runs.values()))
    runs = {name: values[:n_runs] for name, values in runs.items()}
    columns = zip(*runs.values(), strict=True)
    each = [dict(zip(runs, values, strict=True)) for values in columns]
    means = {name: _mean(values) for name, values in runs.items()}
    if None in means.values():
        return None
    return {
        "of_means": bool(holds(means)),
        "n_held": sum(bool(holds(one)) for one in each),
        "n_runs": len(each),
    }


def render(found):
    """Return the tables of this part."""
    parts = [
        f"Sequences: runs: {found['runs']}, each on its own split; "
        f"ten sentences a round up to {N_BY_TENS}, then {found['growth']:.0%} of what "
        "is labeled, where the paper goes on by tens"
        f"; rivals of the paper up to {found['max_sentences']} sentences\n" + NOTES
    ]
    for name, one in found["sets"].items():
        words = np.mean(one["pool_words"])
        parts.append(
            f"{name}: F of CW on the whole pool {np.mean(one['full_f']):.4f}, "
            f"{words:.0f} words\n" + _table_of(one)
        )
    if found["goals"]:
        parts.append(format_goals(found["goals"], found["quick"]))
    claims = [
        [
            c["claim"],
            *(_verdict(c["held"], name, found["quick"]) for name in found["sets"]),
        ]
        for c in found["claims"]
    ]
    header = ["claim of section 6: of the means (in runs)", *found["sets"]]
    return "\n\n".join([*parts, format_table(header, claims)])


def _table_of(one):
    rows = []
    for name, s in one["strategies"].items():
        needed = [words for words in s["needed"] if words is not None]
        is_whole = len(needed) == len(s["needed"])
        rows.append(
            [
                name,
                len(s["needed"]),
                number(_mean(s["f_short"]), ".4f"),
                number(_mean(s["f_long"]), ".4f"),
                f"{np.mean(needed):.0f}" if is_whole else f"- ({len(needed)} runs did)",
                f"{min(needed):.0f} to {max(needed):.0f}" if needed else "-",
            ]
        )
    end = one["long_range"][1]
    marks = [f"F to {SHORT} words", f"F to {end:.0f}", "words for 98 %", "of the runs"]
    return format_table(["", "runs", *marks], rows)


def _verdict(verdicts, name, quick):
    held = verdicts.get(name)
    if held is None:
        return "-"
    if quick:
        return "(quick)"
    yes = "yes" if held["of_means"] else "NO"
    return f"{yes} ({held['n_held']} of {held['n_runs']})"


# Of the sequences; with few fits, and so few points, they are dashed.
STYLES = {
    "random": {"color": "0.45"},
    "KD-PC": {"color": "#0072B2"},
    "KD-Fixed": {"color": "#56B4E9"},
    "MinMargin": {"color": "#E69F00"},
    "MinConfMargin": {"color": "#D55E00"},
    "best": {"color": "#009E73"},
    "best (20 fits)": {"color": "#009E73", "linestyle": "--", "marker": "."},
    "CRF (20 fits)": {"color": "#CC79A7", "linestyle": "--", "marker": "."},
}


def draw(found, path):
    """Draw F against words: up to 10,000 above, all of it below."""
    figure = new_figure(figsize=(4 * len(found["sets"]), 7))
    if figure is None:
        return
    axes = figure.subplots(2, len(found["sets"]), squeeze=False)
    for column, (name, one) in enumerate(found["sets"].items()):
        for row, ax in enumerate(axes[:, column]):
            _curves(ax, one, SHORT if row == 0 else None)
            ax.set(xlabel="words labeled", ylabel="F", title=name)
            ax.locator_params(axis="x", nbins=5)
    axes[0, 0].legend(fontsize="small")
    save_picture(figure, path, n_colors=256)


def _curves(ax, one, most):
    lows = []
    for name, s in one["strategies"].items():
        points = [
            (x, y, low, high)
            for x, y, low, high in zip(
                s["n_words"], s["f"], s["low"], s["high"], strict=True
            )
            if (x <= most * 1.2 if most else x >= SHORT * 0.8)
        ]
        if not points:
            continue
        x, y, low, high = zip(*points, strict=True)
        ax.plot(x, y, label=name, linewidth=1.2, markersize=4, **STYLES[name])
        color = STYLES[name]["color"]
        ax.fill_between(x, low, high, color=color, alpha=0.12, linewidth=0)
        lows += y
    if most:
        ax.set_xlim(0, most)
        ax.set_ylim(bottom=min(lows, default=0))
    full = sum(one["full_f"]) / len(one["full_f"])
    for share, style in ((1.0, "-"), (0.98, ":")):
        ax.axhline(share * full, color="0.6", linewidth=0.8, linestyle=style)


PARTS = {
    "sequences": Part(run, render, (draw, "curves")),
}


if __name__ == "__main__":
    main(__file__, PARTS, CONLL)
