"""Fig. 1 of Mejer & Crammer (2010): precision against recall after every pass."""

import sys

import numpy as np
from _tables import format_table
from _tagging_folds import DIAGONALS, PASSES, PLAIN, curves_of_all_sets

FIGURE = "tagging-fig1.png"
SHOWN_PASSES = (1, 2, 3, 5, 10)
MARKERS = {
    "Perceptron": ("v", "tab:gray"),
    "5-best PA": ("^", "tab:green"),
    "CW": ("o", "tab:blue"),
    "AROW": ("s", "tab:red"),
}


def run(settings):
    """Return precision and recall after every pass, means over the folds; draw them."""
    found = curves_of_all_sets(settings)
    result = {
        "quick": settings.quick,
        "folds": 1 if settings.quick else settings.folds,
        "sets": {
            name: {
                learner: {m: _mean_curve(curves, m) for m in ("precision", "recall")}
                for learner, curves in one["curves"].items()
                if learner not in DIAGONALS
            }
            for name, one in found.items()
        },
    }
    _draw(result, settings.output)
    return result


def _mean_curve(curves, measure):
    values = [[scores[measure] for scores in curve] for curve in curves]
    return np.mean(values, axis=0).tolist()


def _draw(result, output):
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("Note: without matplotlib there is no picture of Fig. 1", file=sys.stderr)
        return
    sets = result["sets"]
    figure = Figure(figsize=(4.5 * len(sets), 4.2), layout="constrained")
    panels = figure.subplots(1, len(sets), squeeze=False)[0]
    for panel, (name, learners) in zip(panels, sets.items(), strict=True):
        for learner, curve in learners.items():
            plain = learner in PLAIN
            marker, color = MARKERS[learner.partition(",")[0]]
            panel.plot(
                curve["recall"],
                curve["precision"],
                marker=marker,
                color=color,
                markersize=4,
                linewidth=1,
                linestyle="-" if plain else ":",
                markerfacecolor="none",
                label=learner if plain else None,
            )
        panel.set(title=name, xlabel="recall", ylabel="precision")
        panel.grid(alpha=0.3)
    panels[0].plot([], [], "k:", linewidth=1, label="cost-augmented")
    panels[0].legend(fontsize="small")
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / FIGURE, dpi=90)


def render(found):
    """Return the results as text."""
    blocks = [
        f"Fig. 1 ({FIGURE}): precision / recall after each of {PASSES} passes, "
        + ("single split" if found["quick"] else f"means of {found['folds']} folds")
    ]
    for name, learners in found["sets"].items():
        rows = [
            [
                learner,
                *[
                    f"{curve['precision'][p - 1]:.4f} / {curve['recall'][p - 1]:.4f}"
                    for p in SHOWN_PASSES
                ],
            ]
            for learner, curve in learners.items()
        ]
        header = [name, *[f"pass {p}" for p in SHOWN_PASSES]]
        blocks.append(format_table(header, rows))
    return "\n\n".join(blocks)
