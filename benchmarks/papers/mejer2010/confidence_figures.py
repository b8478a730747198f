"""The pictures: Fig. 2, 3 and 4 of the paper."""

import numpy as np

from common.tables import new_figure, save_picture
from papers.mejer2010.confidence_trials import CRF, CW, PA, RANDOM, RANKED

BARS = "confidence-fig2.png"
FOUND = "confidence-fig3.png"
BINS = "confidence-fig4.png"
PAPERS_FIGURES = (BARS, FOUND, BINS)

# Colors that stay apart for color-blind eyes; ours are drawn bolder.
STYLES = {
    CRF: {"color": "black", "marker": "o"},
    "KD-Fixed": {"color": "#E69F00", "marker": "v"},
    "KD-PC": {"color": "#0072B2", "marker": "D"},
    "Delta": {"color": "#009E73", "marker": "^"},
    "WKBV": {"color": "#CC79A7", "marker": "s"},
    "KBV": {"color": "#8C6BB1", "marker": "x"},
    RANDOM: {"color": "#BBBBBB", "marker": ""},
}
PAPERS_BARS = (CRF, "KD-Fixed", "KD-PC", "Delta", "WKBV", "KBV", RANDOM)
LINES = (CRF, "KD-Fixed", "KD-PC", "Delta", "WKBV", "KBV")
BIN_LINES = (CRF, "KD-Fixed", "KD-PC", "WKBV")
FEWEST_WORDS = 20


def draw_papers_figures(trials, output):
    """Draw Fig. 2, 3 and 4 into a folder; without matplotlib say so and go on."""
    for draw, file in ((_draw_bars, BARS), (_draw_found, FOUND), (_draw_bins, BINS)):
        _drawn(draw, output / file, trials)


def _drawn(draw, path, *what):
    figure = new_figure()
    if figure is not None:
        draw(figure, *what)
        save_picture(figure, path)


def rows_over_splits(by_learner, learner, row):
    """Return a row of all splits; the CRF has one row, whoever is asked."""
    learner = CRF if row == CRF else learner
    found = [trial["rows"].get(row) for trial in by_learner[learner]]
    return None if found[0] is None else found


def _draw_bars(figure, trials):
    figure.set_size_inches(12, 7.4)
    panels = figure.subplots(2, 2, gridspec_kw={"width_ratios": (3, 2)})
    for line, learner in zip(panels, (CW, PA), strict=True):
        for panel, key, what in zip(
            line, ("ap", "rmse"), ("average precision", "RMSE"), strict=True
        ):
            _grouped_bars(panel, trials, learner, key)
            panel.set(title=f"{learner}: {what}", ylabel=what)
            panel.set_xticks(range(len(trials)), trials)
            panel.grid(axis="y", alpha=0.3)
            panel.set_axisbelow(True)
    figure.legend(*panels[0][0].get_legend_handles_labels(), **_below(7))


def _grouped_bars(panel, trials, learner, key):
    bars = [
        row
        for row in PAPERS_BARS
        if not (key == "rmse" and row == "KBV")
        and all(
            (found := rows_over_splits(one, learner, row)) and found[0][key] is not None
            for one in trials.values()
        )
    ]
    width = 0.86 / len(bars)
    for i, row in enumerate(bars):
        values = [
            [found[key] for found in rows_over_splits(one, learner, row)]
            for one in trials.values()
        ]
        panel.bar(
            np.arange(len(trials)) + (i - (len(bars) - 1) / 2) * width,
            [np.mean(v) for v in values],
            width,
            yerr=[np.std(v) for v in values],
            error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
            color=STYLES[row]["color"],
            edgecolor="white",
            linewidth=0.4,
            label=row,
        )


def _draw_found(figure, trials):
    figure.set_size_inches(4.3 * len(trials), 7)
    panels = figure.subplots(2, len(trials), squeeze=False, sharex=True)
    for (name, one), above, below in zip(trials.items(), *panels, strict=True):
        delta = _mean_curve(one, CW, "Delta", "found")
        for row in LINES:
            curve = _mean_curve(one, CW, row, "found")
            above.plot(RANKED, curve, label=row, **_line(row, 10))
            below.plot(RANKED, curve - delta, **_line(row, 10))
        above.set(title=name)
        below.set(xlabel="words ranked")
        above.grid(alpha=0.3)
        below.grid(alpha=0.3)
    panels[0][0].set_ylabel("wrong words found")
    panels[1][0].set_ylabel("more than Delta finds")
    figure.legend(*panels[0][0].get_legend_handles_labels(), **_below(len(LINES)))


def _draw_bins(figure, trials):
    figure.set_size_inches(4.3 * len(trials), 5)
    panels = figure.subplots(1, len(trials), squeeze=False)[0]
    for panel, (name, one) in zip(panels, trials.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="#999999", linewidth=1)
        for row in BIN_LINES:
            center, accuracy = bin_curve(rows_over_splits(one, CW, row))
            panel.plot(center, accuracy, label=row, **_line(row, 1))
        panel.set(title=name, xlabel="confidence", xlim=(0, 1), ylim=(0, 1))
        panel.set_aspect("equal")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("share of right words")
    figure.legend(*panels[0].get_legend_handles_labels(), **_below(len(BIN_LINES)))


def bin_curve(rows):
    """Return centers and accuracies of the bins that are not nearly empty."""
    count = np.sum([row["bins"]["count"] for row in rows], axis=0)
    right = np.sum([row["bins"]["right"] for row in rows], axis=0)
    center = (np.arange(len(count)) + 0.5) / len(count)
    enough = count >= FEWEST_WORDS
    return center[enough], right[enough] / count[enough]


def _mean_curve(by_learner, learner, row, key):
    rows = rows_over_splits(by_learner, learner, row)
    return np.mean([found[key] for found in rows], axis=0)


def _line(row, every):
    return {
        **STYLES[row],
        "markersize": 5,
        "markevery": every,
        "linewidth": 1.8 if row == CRF else 1.2,
        "markerfacecolor": "none",
    }


def _below(columns):
    return {
        "loc": "outside lower center",
        "ncols": columns,
        "fontsize": "medium",
        "frameon": False,
    }
