"""``LearningCurveDisplay``: scores against what the labels cost."""

import numpy as np

from skcw._util.text_table import cut
from skcw.display.base import (
    LONGEST_NAME,
    add_legend,
    check_name,
    curves_on,
    described,
    draw_curve,
    open_axes,
)

SIZE = (5.6, 4.2)
COSTS = {"n_words": "words labeled", "n_labels": "items labeled"}


class LearningCurveDisplay:
    """Learning curve of a strategy of active learning, with the band of its runs.

    Parameters
    ----------
    sizes : array-like of shape (n_points,)
        What had been labeled.
    mean : array-like of shape (n_points,)
        The mean score of the runs.
    low, high : array-like of shape (n_points,), default=None
        The lowest and the highest score; None for no band.
    name : str, default=None
        The name of the strategy.
    cost : str, default="words labeled"
        What `sizes` count, for the axis.
    score_name : str, default="score"
        What is drawn, for the axis.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib PolyCollection or None
        The band.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    skcw.active.simulate : The studies that are drawn.

    Examples
    --------
    >>> from skcw.display import LearningCurveDisplay
    >>> display = LearningCurveDisplay([100, 200], [0.5, 0.8], name="random").plot()
    >>> display.ax_.get_xlabel()
    'words labeled'
    """

    def __init__(
        self,
        sizes,
        mean,
        low=None,
        high=None,
        *,
        name=None,
        cost="words labeled",
        score_name="score",
    ):
        self.sizes = sizes
        self.mean = mean
        self.low = low
        self.high = high
        self.name = name
        self.cost = cost
        self.score_name = score_name

    def __repr__(self):
        last = f"{self.score_name} {self.mean[-1]:.3g} after {self.sizes[-1]:g}"
        return described(self, self.name, f"{last} {self.cost}")

    @classmethod
    def from_study(
        cls, study, *, by="n_words", names=None, score_name="score", ax=None, **options
    ):
        """Draw the curves of a study, one for each strategy.

        Parameters
        ----------
        study : Study
            What :func:`skcw.active.simulate` returned.
        by : {"n_words", "n_labels"}, default="n_words"
            What the cost is counted in.
        names : list of str, default=None
            The strategies to draw; by default all.
        score_name : str, default="score"
            What was scored, for the axis.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        displays : list of LearningCurveDisplay
            What was drawn, all on the same axes.
        """
        if by not in COSTS:
            raise ValueError(f"by is {by!r}; it must be one of {', '.join(COSTS)}")
        names = study.names if names is None else list(names)
        curves = [study.curve(name, by=by) for name in names]
        displays = []
        for name, curve in zip(names, curves, strict=True):
            words = {"name": name, "cost": COSTS[by], "score_name": score_name}
            displays.append(cls(*curve, **words).plot(ax=ax, **options))
            ax = displays[-1].ax_
        return displays

    def plot(self, ax=None, *, name=None, band=True, curve_kwargs=None):
        """Draw the curve and its band.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            The name in the legend; by default that of the display.
        band : bool, default=True
            Whether to shade from the lowest to the highest run.
        curve_kwargs : dict, default=None
            Options of the line, such as ``{"color": "black"}``.

        Returns
        -------
        display : LearningCurveDisplay
            The display itself.
        """
        name = check_name(self.name if name is None else name)
        self.ax_ = open_axes(ax, SIZE)
        self.figure_ = self.ax_.figure
        label = None if name is None else cut(name, LONGEST_NAME)
        self.line_ = draw_curve(self.ax_, self.sizes, self.mean, label, curve_kwargs)
        self.band_ = None
        if band and self.low is not None and self.high is not None:
            self.band_ = self.ax_.fill_between(
                self.sizes,
                self.low,
                self.high,
                color=self.line_.get_color(),
                alpha=0.15,
                linewidth=0,
            )
        self.ax_.set(xlabel=self.cost, ylabel=self.score_name)
        most = max(np.max(line.get_xdata()) for line in curves_on(self.ax_))
        self.ax_.set_xlim(0, most * 1.02)
        add_legend(self.ax_, None)
        return self
