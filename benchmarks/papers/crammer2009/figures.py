"""Fig. 2 of Crammer, Dredze & Kulesza (2009): what the probabilities are worth."""

import numpy as np

from common.measure import centerd_rmse, progress
from common.rows import ENRON_B, folds_of, load_rows, set_names, set_or_made
from common.tables import format_table, new_figure, save_picture
from papers.crammer2009.learners import (
    CW_1,
    CW_5,
    CW_ALL,
    EXACT,
    LEARNERS,
    MAXENT,
    PARALLEL,
    PROBABILITIES,
    after_passes,
    trials_of,
)

# ---- What section 7 of Crammer, Dredze & Kulesza (2009) says of probabilities ----

# Bins of the predictions' probability begin at .1, .2 ... .9.
LOW_BINS, TOP_BIN = 2, -1
FEWEST_ROWS = 20
PAPERS_PASSES = 7
# "In nearly all cases": in nine of ten bins.
NEARLY_ALL = 0.9
NOTE_PROBABILITY_CLAIMS = f"""\
By how much a claim holds: below 0 it does not. Low: a probability below .3, sure: .9
and more. Compared with maxent is CW after the pass at the head of the column; the paper
shows {PAPERS_PASSES}. Bins of fewer than {FEWEST_ROWS} rows are not compared."""


def probability_claims(steps):
    """Return every claim, and by how much it holds after so many passes."""
    passes = [steps[step] for step in sorted(filter(str.isdigit, steps), key=int)]
    leads = {
        str(n): _leads(passes[:n], steps[MAXENT])
        for n in sorted({min(PAPERS_PASSES, len(passes)), len(passes)})
    }
    texts = next(iter(leads.values()))
    return [
        {"claim": text, "leads": {n: float(leads[n][text]) for n in leads}}
        for text in texts
    ]


def _leads(passes, maxent):
    return {
        "every pass of CW lowers the error": _every_pass_lowers(passes, "error"),
        "every pass of CW lowers the entropy": _every_pass_lowers(passes, "entropy"),
        "CW is more accurate than maxent from its second pass on": min(
            maxent["error"] - one["error"] for one in passes[1:]
        ),
        "entropy: CW above maxent": (passes[-1]["entropy"] - maxent["entropy"]),
        "right predictions: CW gives them less than maxent (.75, .83)": (
            maxent["right"] - passes[-1]["right"]
        ),
        "wrong predictions: CW gives them less than maxent (.44, .56)": (
            maxent["wrong"] - passes[-1]["wrong"]
        ),
        "skew: CW has more low than sure rows after one pass, share": (
            _share(passes[0], slice(LOW_BINS)) - _share(passes[0], TOP_BIN)
        ),
        "skew: CW has fewer sure rows than maxent, share": (
            _share(maxent, TOP_BIN) - _share(passes[-1], TOP_BIN)
        ),
        "errors among sure rows: CW has fewer than maxent, share of rows": (
            _wrong_share(maxent, TOP_BIN) - _wrong_share(passes[-1], TOP_BIN)
        ),
        "conditional error falls from bin to bin: CW": _falls(passes[-1]),
        "conditional error falls from bin to bin: maxent": _falls(maxent),
        "conditional error rises with the passes of CW, mean of the bins": (
            _mean_rise(passes[0], passes[-1])
        ),
        "conditional error: CW below maxent in 9 of 10 bins, share": (
            _bins_below(passes[-1], maxent) - NEARLY_ALL
        ),
    }


def _every_pass_lowers(passes, key):
    values = np.array([one[key] for one in passes])
    return np.min(values[:-1] - values[1:])


def _share(one, bins):
    return np.sum(np.array(one["count"])[bins]) / np.sum(one["count"])


def _wrong_share(one, bins):
    return np.sum(np.array(one["wrong_count"])[bins]) / np.sum(one["count"])


def _conditional(one):
    """Return the share of wrong rows of every bin, nan where it holds too few."""
    count, wrong = np.array(one["count"]), np.array(one["wrong_count"])
    return np.where(count >= FEWEST_ROWS, wrong / np.maximum(count, 1), np.nan)


def _falls(one):
    error = _conditional(one)
    error = error[~np.isnan(error)]
    # With a single bin in use, as in a quick run, nothing falls.
    return np.min(error[:-1] - error[1:]) if len(error) > 1 else -np.inf


def _mean_rise(first, last):
    return np.nanmean(_conditional(last) - _conditional(first))


def _bins_below(one, other):
    difference = _conditional(other) - _conditional(one)
    return np.mean(difference[~np.isnan(difference)] > 0)


def probability_claims_table(steps, quick):
    """Return the claims as text."""
    claims = probability_claims(steps)
    passes = list(claims[0]["leads"])
    rows = [
        [one["claim"], *(_verdict(one["leads"][n], quick) for n in passes)]
        for one in claims
    ]
    header = ["section 7 of the paper", *(f"{n} passes" for n in passes)]
    return f"{format_table(header, rows)}\n\n{NOTE_PROBABILITY_CLAIMS}"


def _verdict(lead, quick):
    return f"{lead:+.4f} {'(quick)' if quick else 'yes' if lead > 0 else ' NO'}"


# ---- Fig. 1 of Crammer, Dredze & Kulesza (2009): accuracy after every pass ----

COLUMNS = 3
SHOWN_PASSES = (1, 2, 3, 5, 10)
# Colors that stay apart for color-blind eyes.
STYLES = {
    CW_1: {"color": "#D55E00", "marker": "o"},
    CW_5: {"color": "#0072B2", "marker": "s"},
    CW_ALL: {"color": "#009E73", "marker": "^"},
    PARALLEL: {"color": "#CC79A7", "marker": "D"},
    EXACT: {"color": "#555555", "marker": "x"},
}
LABELS = {
    CW_1: "k = 1",
    CW_5: "k = 5, sequential",
    CW_ALL: "all, sequential",
    PARALLEL: "all, parallel",
    EXACT: "all, exact",
}


def run_fig1(settings):
    """Return the accuracy after every pass, means over the folds."""
    trials = trials_of(set_names(settings.data_home), list(STYLES), settings)
    sets = {
        name: {
            learner: np.mean(
                [one_run["after_pass"] for one_run in runs], axis=0
            ).tolist()
            for learner, runs in one.items()
        }
        for name, one in trials.items()
    }
    return {"quick": settings.quick, "sets": sets}


def draw_fig1(found, path):
    """Draw a panel for each set."""
    sets = found["sets"]
    lines = -(-(len(sets) + 1) // COLUMNS)
    figure = new_figure(figsize=(3.6 * COLUMNS, 3.1 * lines))
    if figure is None:
        return
    panels = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for panel, (name, learners) in zip(panels, sets.items(), strict=False):
        # Of few labels five rivals are all: one line would hide the other.
        same = learners[CW_5] == learners[CW_ALL]
        for learner, curve in learners.items():
            passes = np.arange(1, len(curve) + 1)
            shown = np.nan if same and learner == CW_5 else 100.0
            accuracy = shown * np.array(curve)
            panel.plot(passes, accuracy, label=LABELS[learner], **_line(learner))
        panel.set(title=f"{name} (k = 5 is all)" if same else name, xticks=passes)
        panel.grid(alpha=0.3)
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    handles = panels[0].get_legend_handles_labels()
    panels[len(sets)].legend(*handles, loc="center", fontsize="large", frameon=False)
    for panel in panels[: len(sets) : COLUMNS]:
        panel.set_ylabel("% right")
    for panel in panels[max(len(sets) - COLUMNS, 0) : len(sets)]:
        panel.set_xlabel("passes")
    save_picture(figure, path)


def _line(learner):
    return {
        **STYLES[learner],
        "markersize": 5,
        "linewidth": 1.4,
        "markerfacecolor": "none",
    }


def render_fig1(found):
    """Return the results as text."""
    blocks = ["Fig. 1: accuracy in percent after every pass"]
    if found["quick"]:
        blocks[0] += " (quick: a subset, no measurement)"
    for name, learners in found["sets"].items():
        shown = [p for p in SHOWN_PASSES if p <= len(learners[CW_1])]
        rows = [
            [learner, *[f"{100 * curve[p - 1]:.2f}" for p in shown]]
            for learner, curve in learners.items()
        ]
        header = [name, *[f"pass {p}" for p in shown]]
        blocks.append(format_table(header, rows))
    return "\n\n".join(blocks)


# ---- Fig. 2 of Crammer, Dredze & Kulesza (2009) ----

EDGES = np.arange(1, 11) / 10
SURE = 0.9
RED, CHOSEN = "#C8102E", "CW, passes as chosen"
NOTE_FIG2 = """\
CW: k=1, η as chosen inside each fold, variances as learned, exact distribution.
Entropy: mean over the rows, as a share of log K. Right, wrong: mean probability of
right and of wrong predictions. RMSE: of the predictions' probabilities over 20 bins."""


def run_fig2(settings):
    """Return errors by probability for every pass of CW, and for maxent."""
    name = set_or_made(ENRON_B, settings.data_home)
    trials = trials_of([name], [CW_1, MAXENT], settings)[name]
    passes = len(trials[CW_1][0]["after_pass"])
    outputs = {step: [] for step in (*range(1, passes + 1), CHOSEN, MAXENT)}
    rows = load_rows(name, settings.data_home, settings.quick)
    for fold, (train, test) in enumerate(folds_of(name, settings)):
        progress(f"fig2: {name}, fold {fold + 1}")
        X, y, X_test, y_test = rows.X[train], rows.y[train], rows.X[test], rows.y[test]
        chosen = {learner: runs[fold] for learner, runs in trials.items()}
        cw = LEARNERS[CW_1].make(chosen[CW_1]["value"])
        for step, model in enumerate(after_passes(cw, X, y, passes, fold), 1):
            answer = (model.predict_proba(X_test), y_test)
            outputs[step].append(answer)
            if step == chosen[CW_1]["passes"]:
                outputs[CHOSEN].append(answer)
        maxent = LEARNERS[MAXENT].make(chosen[MAXENT]["value"]).fit(X, y)
        outputs[MAXENT].append((maxent.predict_proba(X_test), y_test))
    steps = {str(step): _summary(answers) for step, answers in outputs.items()}
    n_rows = sum(steps[MAXENT]["count"])
    return {
        "quick": settings.quick,
        "set": name,
        "rows": n_rows,
        "steps": steps,
    }


def _summary(answers):
    """Return what the panels show of all folds together."""
    probability = np.concatenate([distribution for distribution, _ in answers])
    gold = np.concatenate([labels for _, labels in answers])
    right = probability.argmax(axis=1) == gold
    top = np.clip(probability.max(axis=1), 0.0, 1.0)
    # Of fewer than ten labels none can be below the first edge.
    bins = np.clip(np.searchsorted(EDGES, top, side="right") - 1, 0, len(EDGES) - 2)
    count = np.bincount(bins, minlength=len(EDGES) - 1)
    wrong = np.bincount(bins, weights=~right, minlength=len(EDGES) - 1)
    logs = np.log(np.where(probability > 0, probability, 1.0))
    entropy = -np.sum(probability * logs, axis=1).mean()
    return {
        "error": float(1 - right.mean()),
        "entropy": float(entropy / np.log(probability.shape[1])),
        "right": float(top[right].mean()),
        "wrong": float(top[~right].mean()),
        "sure": int(np.sum(top >= SURE)),
        "rmse": float(centerd_rmse(right, top)),
        "count": count.tolist(),
        "wrong_count": wrong.astype(int).tolist(),
    }


def draw_fig2(found, path):
    """Draw error and entropy, and what becomes of the rows of each bin."""
    name, steps = found["set"], found["steps"]
    passes = sum(map(str.isdigit, steps))
    figure = new_figure(figsize=(10, 6.6))
    if figure is None:
        return
    from matplotlib import colormaps

    blues = colormaps["Blues"](np.linspace(0.3, 1.0, passes))
    ordered = [MAXENT, *map(str, range(1, passes + 1))]
    colors = dict(zip(ordered, [RED, *blues], strict=True))
    first, *others = figure.subplots(2, 2).ravel()
    _draw_errors(first, steps, colors)
    n_rows = sum(steps[MAXENT]["count"])
    count = {one: np.array(steps[one]["count"]) for one in ordered}
    wrong = {one: np.array(steps[one]["wrong_count"]) for one in ordered}
    per_bin = {one: 100 * wrong[one] / np.maximum(count[one], 1) for one in ordered}
    share = {one: 100 * wrong[one] / n_rows for one in ordered}
    for panel, heights, title, what in zip(
        others,
        (count, share, per_bin),
        ("how many rows", "where the errors are", "how many of a bin are wrong"),
        ("rows", "wrong, % of all rows", "wrong, % of the bin"),
        strict=True,
    ):
        _draw_bars(panel, heights, colors)
        panel.set(xlabel="probability of the prediction", ylabel=what, title=title)
    others[-1].plot(
        np.arange(len(EDGES)) - 0.5, 100 - 100 * EDGES, "--", color="#444444"
    )
    _add_legend(figure, others[-1], colors)
    figure.suptitle(f"{name}: CW after every pass, and maxent")
    save_picture(figure, path)


def _add_legend(figure, panel, colors):
    """Say which bars are which; the dashed line is that of true probabilities."""
    from matplotlib.patches import Patch

    passes = list(colors)[1:]
    entries = {
        "maxent": Patch(color=RED),
        "CW, 1 pass": Patch(color=colors[passes[0]]),
        f"CW, {passes[-1]} passes": Patch(color=colors[passes[-1]]),
        "as wrong as it says": panel.get_lines()[0],
    }
    figure.legend(
        entries.values(),
        entries.keys(),
        loc="outside lower center",
        ncols=len(entries),
        frameon=False,
    )


def _draw_errors(panel, steps, colors):
    points = {one: (steps[one]["entropy"], 100 * steps[one]["error"]) for one in colors}
    maxent = points.pop(MAXENT)
    panel.plot(*zip(*points.values(), strict=True), color="#9DB7D5", linewidth=1)
    for one, point in points.items():
        panel.plot(*point, "o", color=colors[one], markeredgecolor="#08306B")
        # The last ones come close to each other: they need all sides for the numbers.
        beside = (-11, -3) if one == str(len(points)) else (0, 7 - 21 * (int(one) % 2))
        panel.annotate(
            one,
            point,
            xytext=beside,
            ha="center",
            textcoords="offset points",
            fontsize="x-small",
            color="#08306B",
        )
    panel.plot(*maxent, "D", color=RED)
    panel.annotate(
        MAXENT, maxent, xytext=(7, -3), textcoords="offset points", color=RED
    )
    panel.margins(0.12)
    panel.set(xlabel="normalized entropy", ylabel="% wrong", title="error and entropy")
    panel.grid(alpha=0.3)


def _draw_bars(panel, heights, colors):
    width = 0.88 / len(colors)
    centers = np.arange(len(EDGES) - 1)
    for i, (one, color) in enumerate(colors.items()):
        offset = (i - (len(colors) - 1) / 2) * width
        panel.bar(centers + offset, heights[one], width, color=color)
    panel.set_xticks(np.arange(len(EDGES)) - 0.5, [f"{edge:.1f}" for edge in EDGES])
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)


def render_fig2(found):
    """Return the results as text."""
    title = f"Fig. 2: probabilities on {found['set']}, {found['rows']} rows"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = []
    for step, one in found["steps"].items():
        name = f"CW, {step} passes" if step.isdigit() else step
        rows.append([name.replace(" 1 passes", " 1 pass"), *_cells(one)])
    for learner, (right, wrong) in PROBABILITIES.items():
        name = f"paper's {learner}"
        rows.append([name, "-", "-", f"{right:.2f}", f"{wrong:.2f}", "-", "-"])
    header = ["", "% wrong", "entropy", "right", "wrong", f"rows >= {SURE}", "RMSE"]
    claims = probability_claims_table(found["steps"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), NOTE_FIG2, claims])


def _cells(one):
    return [
        f"{100 * one['error']:.2f}",
        f"{one['entropy']:.3f}",
        f"{one['right']:.2f}",
        f"{one['wrong']:.2f}",
        one["sure"],
        f"{one['rmse']:.3f}",
    ]
