"""Fig. 2 of Crammer, Dredze & Kulesza (2009): what the probabilities are worth."""

import numpy as np
from _measure import progress
from _multiclass_data import ENRON_B, folds_of, load_rows, set_or_made
from _multiclass_learners import CW_1, LEARNERS, MAXENT
from _multiclass_paper import PROBABILITIES
from _multiclass_probability_claims import probability_claims_table
from _multiclass_trials import after_passes, trials_of
from _pictures import new_figure, save_picture
from _scores import centerd_rmse
from _tables import format_table

FIGURE = "multiclass-fig2.png"
EDGES = np.arange(1, 11) / 10
SURE = 0.9
RED, CHOSEN = "#C8102E", "CW, passes as chosen"
NOTE = """\
CW: k=1, η as chosen inside each fold, variances as learned, exact distribution. Entropy:
mean over the rows, as a share of log K. Right, wrong: mean probability of right and of
wrong predictions. RMSE: of the predictions' probabilities over 20 bins."""


def run(settings):
    """Return errors by probability for every pass of CW, and for maxent; draw them."""
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
    _draw(name, passes, steps, settings.output)
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


def _draw(name, passes, steps, output):
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
    save_picture(figure, output / FIGURE)


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


def render(found):
    """Return the results as text."""
    title = f"Fig. 2 ({FIGURE}): probabilities on {found['set']}, {found['rows']} rows"
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
    return "\n\n".join([title, format_table(header, rows), NOTE, claims])


def _cells(one):
    return [
        f"{100 * one['error']:.2f}",
        f"{one['entropy']:.3f}",
        f"{one['right']:.2f}",
        f"{one['wrong']:.2f}",
        one["sure"],
        f"{one['rmse']:.3f}",
    ]
