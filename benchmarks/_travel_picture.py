"""The grid as a picture: one dot per cell, before and after side by side."""

from _pictures import new_figure, save_picture
from _travel_corpora import CORPORA, FEATURES
from _travel_tables import (
    CALIBRATED,
    CW_MEAN,
    cells_of,
    lead_over_crf,
    lead_over_others,
)

COLOUR = dict(zip(FEATURES, ("#d62728", "#ff9f1c", "#1f77b4", "#2ca02c"), strict=True))
MARKER = {"100": "v", "1000": "o", "all": "s"}
# Most leads are small and a few defeats are not: both must be seen.
LEADS = (-0.3, -0.1, -0.03, -0.01, 0, 0.01, 0.03, 0.1)
ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
MEASURED = (
    ("CW - best of AROW, PA,\nperceptron (F1 or accuracy)", lead_over_others, 0.0),
    ("CW x8 - tuned CRF\n(F1 or accuracy)", lead_over_crf, 0.0),
    (
        "root CalibMSE of CW x8,\nas it comes",
        lambda cell: cell.get(CW_MEAN, {}).get("calibration"),
        CALIBRATED,
    ),
)


def picture(found, path):
    """Draw the cells of all labels, a column each."""
    labels = list(found["runs"])
    figure = new_figure(figsize=(1 + 5 * len(labels), 10))
    if figure is None or not labels:
        return
    panels = figure.subplots(
        len(MEASURED), len(labels), sharey="row", sharex=True, squeeze=False
    )
    for column, label in enumerate(labels):
        cells = cells_of(found, label)
        for row, (what, measure, goal) in enumerate(MEASURED):
            panel = panels[row, column]
            _dots(panel, cells, measure)
            panel.axhline(goal, color="black", linewidth=0.9, linestyle="--", zorder=1)
            panel.grid(axis="y", alpha=0.3)
            _scale(panel, goal)
            if column == 0:
                panel.set_ylabel(what)
        panels[0, column].set_title(label)
        _name_corpora(panels[-1, column])
    figure.legend(
        handles=_explained(),
        loc="outside lower center",
        ncols=len(COLOUR) + len(MARKER),
    )
    save_picture(figure, path)


def _dots(panel, cells, measure):
    for (corpus, features, size), cell in cells.items():
        value = measure(cell)
        if value is None:
            continue
        place = CORPORA.index(corpus)
        place += (FEATURES.index(features) - 1.5) * 0.19
        # Sizes side by side: dots of one feature set are often at the same height.
        place += (list(MARKER).index(size) - 1) * 0.045
        panel.plot(
            place,
            value,
            MARKER[size],
            color=COLOUR[features],
            markersize=6,
            markeredgecolor="white",
            markeredgewidth=0.5,
            zorder=2,
        )


def _scale(panel, goal):
    if goal:
        panel.set_yscale("log")
    else:
        panel.set_yscale("symlog", linthresh=0.01, linscale=0.6)
    ticks = ERRORS if goal else LEADS
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_yticks([], minor=True)


def _name_corpora(panel):
    panel.set_xticks(range(len(CORPORA)), CORPORA, rotation=30, ha="right")
    panel.set_xlim(-0.5, len(CORPORA) - 0.5)
    for place in range(1, len(CORPORA)):
        for one in panel.figure.axes:
            one.axvline(place - 0.5, color="0.9", linewidth=0.8, zorder=0)


def _explained():
    from matplotlib.lines import Line2D

    colors = [
        Line2D([], [], color=color, marker="o", linestyle="", label=features)
        for features, color in COLOUR.items()
    ]
    markers = [
        Line2D([], [], color="0.4", marker=marker, linestyle="", label=f"{size} sent.")
        for size, marker in MARKER.items()
    ]
    return [*colors, *markers]
