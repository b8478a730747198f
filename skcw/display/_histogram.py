"""A histogram of confidences below the axes of a curve."""

import numpy as np

from skcw.display._panels import check_axes, tidy

N_BARS = 40
EDGES = np.linspace(0.0, 1.0, N_BARS + 1)
# Heights of the curve's axes and of the histogram, and the gap between them.
HEIGHTS, GAP = (4.0, 1.0), 0.06
# The name of the attribute by which axes remember the histogram below them.
_BELOW = "_skcw_histogram"


def confidence_histogram(confidence, weight):
    """Return the weight of the confidences in each of 40 bars from 0 to 1."""
    return np.histogram(confidence, bins=EDGES, weights=weight)[0]


def histogram_axes(ax, histogram):
    """Return where to draw the histogram, or None for nowhere.

    Below axes that have none yet, room is made by cutting them in two.
    """
    if histogram is False or histogram is None:
        return None
    if histogram is not True:
        return check_axes(histogram, "histogram")
    below = getattr(ax, _BELOW, None)
    if below is None or below not in ax.figure.axes:
        below = _cut_below(ax)
        setattr(ax, _BELOW, below)
    return below


def _cut_below(ax):
    spec = ax.get_subplotspec()
    if spec is None:
        below = _cut_position(ax)
    else:
        rows = spec.subgridspec(2, 1, height_ratios=HEIGHTS, hspace=GAP)
        ax.set_subplotspec(rows[0])
        below = ax.figure.add_subplot(rows[1], sharex=ax)
    tidy(below)
    # The ticks of both lie at the same places; the lower ones are labelled.
    ax.set_xlabel("")
    ax.tick_params(axis="x", labelbottom=False)
    return below


def _cut_position(ax):
    """Divide axes that were placed by hand."""
    box = ax.get_position()
    lower = box.height * HEIGHTS[1] / sum(HEIGHTS)
    gap = GAP * box.height / 2
    ax.set_position([box.x0, box.y0 + lower + gap, box.width, box.height - lower - gap])
    return ax.figure.add_axes([box.x0, box.y0, box.width, lower - gap], sharex=ax)


def draw_histogram(below, weights, colour, unit):
    """Draw bars; of several models only the outlines, which can be told apart."""
    from matplotlib.ticker import NullFormatter

    alone = not below.patches
    for patch in below.patches:
        patch.set_visible(not patch.get_fill())
    below.stairs(weights, EDGES, fill=True, color=colour, alpha=0.18, visible=alone)
    below.stairs(weights, EDGES, color=colour, linewidth=1.2)
    # Most words are sure: only a logarithm shows the others.
    below.set_yscale("log")
    below.yaxis.set_minor_formatter(NullFormatter())
    heights = np.concatenate([patch.get_data().values for patch in below.patches])
    least = heights[heights > 0].min()
    # One word is seen, and weights that sum to less.
    below.set_ylim(0.7 * min(least, 1.0), 2 * heights.max())
    below.set_ylabel(unit.capitalize())
