"""Fig. 1 of Crammer, Dredze & Kulesza (2009): accuracy after every pass."""

import numpy as np
from _multiclass_data import set_names
from _multiclass_learners import CW_1, CW_5, CW_ALL, EXACT, PARALLEL
from _multiclass_trials import trials_of
from _pictures import new_figure, save_picture
from _tables import format_table

FIGURE = "multiclass-fig1.png"
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


def run(settings):
    """Return the accuracy after every pass, means over the folds; draw it."""
    trials = trials_of(set_names(settings.data_home), list(STYLES), settings)
    sets = {
        name: {
            learner: np.mean([run["after_pass"] for run in runs], axis=0).tolist()
            for learner, runs in one.items()
        }
        for name, one in trials.items()
    }
    _draw(sets, settings.output)
    return {"quick": settings.quick, "sets": sets}


def _draw(sets, output):
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
    save_picture(figure, output / FIGURE)


def _line(learner):
    return {
        **STYLES[learner],
        "markersize": 5,
        "linewidth": 1.4,
        "markerfacecolor": "none",
    }


def render(found):
    """Return the results as text."""
    blocks = [f"Fig. 1 ({FIGURE}): accuracy in percent after every pass"]
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
