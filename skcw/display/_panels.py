"""What all displays share: axes, colours, curves and lines to compare them with."""

import numpy as np

# Okabe and Ito's colours, told apart by readers of any colour vision; yellow is too
# pale for a line and black is left to the frame.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# When all colours are taken, they come again with the next of these.
LINESTYLES = ("-", "--", "-.", ":")
REFERENCE = "0.45"
# The name of the attribute by which axes remember the curves drawn on them.
_CURVES = "_skcw_curves"


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
    """Return Axes of matplotlib, or say that something else was given."""
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


def draw_curve(ax, x, y, caption, curve_kwargs, **usual):
    """Draw a curve in the next free colour and return its line."""
    drawn = captioned_curves(ax)
    again, place = divmod(len(drawn), len(COLOURS))
    style = {
        "color": COLOURS[place],
        "linestyle": LINESTYLES[again % len(LINESTYLES)],
        "label": str(caption),
        **usual,
    }
    (line,) = ax.plot(x, y, **_merged_style(style, curve_kwargs))
    if line.get_label() != str(caption):
        caption = caption._replace(text=line.get_label())
    setattr(ax, _CURVES, [*drawn, (line, caption)])
    return line


def captioned_curves(ax):
    """Return the curves of displays with their captions, but for those removed."""
    return [pair for pair in getattr(ax, _CURVES, []) if pair[0] in ax.get_lines()]


def curves_on(ax):
    """Return the curves of displays, but for those removed since."""
    return [line for line, _ in captioned_curves(ax)]


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


def draw_swatch(ax, label):
    """Let the legend name what is shaded, once."""
    if label not in ax.get_legend_handles_labels()[1]:
        ax.fill_between(
            [], [], [], color=REFERENCE, alpha=0.3, linewidth=0, label=label
        )


def percent(share, position=None):
    """Return a share as a formatter of ticks writes it."""
    return f"{100 * share:.4g}%"
