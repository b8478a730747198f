"""Helpers of all displays: axes, colours, curves, reference lines and legends."""

import math

import numpy as np

# Okabe and Ito's colours, told apart by readers of any colour vision; yellow is too
# pale for a line and black is left to the frame.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# When all colours are taken, they come again with the next of these.
LINESTYLES = ("-", "--", "-.", ":")
REFERENCE = "0.45"
# The group id of the lines that displays draw.
CURVE = "skcw-curve"


def open_axes(ax, figsize):
    """Return axes to draw on: those given, or those of a new figure."""
    pyplot = _pyplot()
    if ax is None:
        _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
        tidy(ax)
        return ax
    return check_axes(ax, "ax")


def _pyplot():
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib: pip install 'skcw[plot]'"
        ) from error
    return pyplot


def tidy(ax):
    """Take away what axes have and do not need, and put a pale grid behind."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)


def check_axes(ax, name):
    """Return Axes of matplotlib, or refuse something else."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(
            f"{name} is of type {type(ax).__name__}; it must be one Axes of "
            "matplotlib, such as plt.gca() or display.ax_"
        )
    if ax.name != "rectilinear":
        raise TypeError(
            f"{name} has the projection {ax.name!r}; a curve is drawn on plain Axes, "
            "such as those of plt.subplots()"
        )
    return ax


def draw_curve(ax, x, y, label, curve_kwargs, **usual):
    """Draw a curve in the next free colour and return its line."""
    again, place = divmod(len(curves_on(ax)), len(COLOURS))
    style = {
        "color": COLOURS[place],
        "linestyle": LINESTYLES[again % len(LINESTYLES)],
        # Labels that begin so are left out by matplotlib.
        "label": label or "_curve",
        **usual,
    }
    (line,) = ax.plot(x, y, gid=CURVE, **_merged_style(style, curve_kwargs))
    return line


def curves_on(ax):
    """Return the curves of displays on some axes, but for those removed since."""
    return [line for line in ax.get_lines() if line.get_gid() == CURVE]


def _merged_style(usual, given):
    """Return the usual style of a line, but for what the caller gives."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if given is None:
        return usual
    if not isinstance(given, dict):
        raise TypeError(
            f"curve_kwargs is {given!r}; it must be a dict of options of a line, such "
            "as {'color': 'black', 'linewidth': 2}"
        )
    return usual | normalize_kwargs(given, Line2D)


def draw_reference(ax, x, y, label, linestyle):
    """Draw a thin grey line to compare with, unless it is there already.

    The legend names the first of a kind.
    """
    from matplotlib.lines import Line2D

    hidden = f"_{label}"
    like = [one for one in ax.get_lines() if one.get_label() in (label, hidden)]
    new = Line2D(
        x,
        y,
        color=REFERENCE,
        linewidth=1.1,
        linestyle=linestyle,
        zorder=1.5,
        label=hidden if like else label,
    )
    if not any(np.array_equal(one.get_xydata(), new.get_xydata()) for one in like):
        ax.add_line(new)


def percent(share, position=None):
    """Return a share as a formatter of ticks writes it."""
    return f"{100 * share:.4g}%"


def caption(name, score_name, score, ax):
    """Return what the legend says of a curve, and the title that the legend gets.

    The title names the score of the first curve; one with another score says so.
    """
    title = _legend_title(ax)
    if isinstance(score, str) or score is None:
        return _joined(name, score), title
    if title is None:
        title = score_name
    written = _rounded(score)
    if score_name is not None and title != score_name:
        written = f"{score_name} {written}"
    return _joined(name, written), title


def _legend_title(ax):
    legend = ax.get_legend()
    return (legend.get_title().get_text() or None) if legend is not None else None


def _joined(name, score):
    return ": ".join(filter(None, [name, score]))


def _rounded(score):
    """Return a score, perhaps with its interval, in as many decimals as tell.

    These are two digits of the width of the interval, or three of the score itself.
    """
    numbers = score if isinstance(score, tuple) else (score,)
    size, digits = abs(numbers[0]), 3
    if len(numbers) == 3:
        size, digits = numbers[2] - numbers[1], 2
    decimals = 3
    if math.isfinite(size) and size > 0:
        decimals = min(max(digits - 1 - math.floor(math.log10(size)), 2), 6)
    value, *ends = (f"{number:.{decimals}f}" for number in numbers)
    return f"{value} [{', '.join(ends)}]" if ends else value


def score_title(name, interval, level):
    """Return the name of a score, with its interval if it has one."""
    return name if interval is None else f"{name} [{100 * level:.4g}% interval]"


def add_legend(ax, title):
    """Show names and scores, and after them what other lines and areas mean."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    entries = sorted(
        zip(handles, labels, strict=True), key=lambda entry: entry[0].get_gid() != CURVE
    )
    ax.legend(
        *zip(*entries, strict=True),
        title=title,
        alignment="left",
        loc="best",
        fontsize="small",
        title_fontsize="small",
        framealpha=0.9,
    )


def check_name(name):
    """Return the name of a model, or refuse what is not one."""
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"name is {name!r}; it must be the name of the model, a string, or None"
        )
    return name
