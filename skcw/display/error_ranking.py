"""How many wrong words a reader finds who looks at the least sure ones first."""

import numpy as np

from skcw.display._base import check_curve
from skcw.display._captions import Caption, add_legend, check_name
from skcw.display._panels import (
    curves_on,
    draw_curve,
    draw_reference,
    open_axes,
    percent,
)
from skcw.display._ranking import RankingDisplay, ranking_grid
from skcw.metrics import error_average_precision, errors_found

SIZE = (5.2, 4.2)
SHOWN = ("found", "left")


class ErrorRankingDisplay(RankingDisplay):
    """Errors found, or left, against words reviewed, the least confident first.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are what it draws.

    Parameters
    ----------
    reviewed : array of shape (n_points,)
        Numbers of words reviewed, from 0 to all.
    found : array of shape (n_points,)
        Wrong words among them.
    score : float, (value, low, high) or None, default=None
        Average precision for the legend, perhaps with its interval.
    score_name : str, default=None
        What the legend calls it.
    name : str, default=None
        The name of the model.
    unit : str, default="words"
        What is counted, for the labels of the axes.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        The axes it is on; give them to the next display to compare models.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    skcw.metrics.error_average_precision : The score.
    RiskCoverageDisplay : The same ranking from its other end.

    Examples
    --------
    >>> from skcw.display import ErrorRankingDisplay
    >>> display = ErrorRankingDisplay.from_predictions(
    ...     [0.9, 0.2, 0.6, 0.8], [True, False, True, False],
    ...     interval=None, name="tagger")
    >>> display.found.tolist()
    [0.0, 1.0, 1.0, 2.0, 2.0]
    >>> display.line_.get_label()
    'tagger: average precision 0.833'
    """

    _score_name = "average precision"

    def __init__(
        self, reviewed, found, *, score=None, score_name=None, name=None, unit="words"
    ):
        self.reviewed = reviewed
        self.found = found
        self._keep_captions(score, score_name, name, unit)

    @staticmethod
    def _score(confidence, correct, sample_weight, **options):
        if not (sample_weight * (1 - correct)).any():
            return "no errors"
        return error_average_precision(
            confidence, correct, sample_weight=sample_weight, **options
        )

    @staticmethod
    def _curve(pairs):
        reviewed = np.append(0, ranking_grid(int(pairs.weight.sum())))
        found = errors_found(pairs.q, pairs.y, reviewed, sample_weight=pairs.weight)
        return reviewed, found

    def plot(
        self,
        ax=None,
        *,
        name=None,
        errors="found",
        relative=False,
        curve_kwargs=None,
        ref_line=True,
    ):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Another name for the legend.
        errors : {"found", "left"}, default="found"
            Whether to count errors that the reader has met or those still unseen. The
            latter are fair between models that make different errors.
        relative : bool, default=False
            Show shares of all words and of all errors instead of numbers.
        curve_kwargs : dict, default=None
            Options of the line, such as ``{"color": "black"}``.
        ref_line : bool, default=True
            Show where a perfect and a random order would lie.

        Returns
        -------
        self : ErrorRankingDisplay
            With ``line_``, ``ax_`` and ``figure_``.
        """
        if errors not in SHOWN:
            raise ValueError(f"errors is {errors!r}; it must be 'found' or 'left'")
        reviewed, found = check_curve(reviewed=self.reviewed, found=self.found)
        name = check_name(self.name if name is None else name)
        self.ax_ = open_axes(ax, SIZE)
        self.figure_ = self.ax_.figure
        draw = _Frame(self.ax_, reviewed[-1], found[-1], errors, relative)
        caption = Caption(name, self.score_name, self.score)
        self.line_ = draw.curve(reviewed, found, caption, curve_kwargs)
        if ref_line:
            draw.references()
        draw.describe(self.unit)
        add_legend(self.ax_, "best")
        return self


class _Frame:
    """Axes with numbers or shares of words and of errors."""

    def __init__(self, ax, n_words, n_errors, errors, relative):
        self.ax = ax
        self.n_words = n_words
        self.n_errors = n_errors
        self.left = errors == "left"
        self.relative = relative

    def _scaled(self, reviewed, found):
        """Return the coordinates of points, in the units of the axes."""
        reviewed, found = np.asarray(reviewed, float), np.asarray(found, float)
        height = self.n_errors - found if self.left else found
        if not self.relative:
            return reviewed, height
        return reviewed / self.n_words, height / max(self.n_errors, 1)

    def curve(self, reviewed, found, caption, curve_kwargs):
        return draw_curve(
            self.ax,
            *self._scaled(reviewed, found),
            caption,
            curve_kwargs,
            linewidth=1.8,
        )

    def references(self):
        ends = [0, self.n_words], [0, self.n_errors]
        best = [0, self.n_errors, self.n_words], [0, self.n_errors, self.n_errors]
        draw_reference(self.ax, *self._scaled(*best), "perfect order", "--")
        draw_reference(self.ax, *self._scaled(*ends), "random order", ":")

    def describe(self, unit):
        """Say what the axes show, and let them begin at zero and hold every curve."""
        from matplotlib.ticker import MaxNLocator

        verb = "left" if self.left else "found"
        what = "Share of" if self.relative else "Number of"
        self.ax.set_xlabel(f"{what} {unit} reviewed, the least confident first")
        self.ax.set_ylabel(f"{what} errors {verb}")
        for axis in (self.ax.xaxis, self.ax.yaxis):
            axis.set_major_locator(MaxNLocator(6, integer=not self.relative))
            axis.set_major_formatter(percent if self.relative else "{x:,g}")
        ends = [line.get_xydata().max(axis=0) for line in curves_on(self.ax)]
        right, top = np.max(ends, axis=0)
        self.ax.set_xlim(0, right)
        # A model without errors still gets an axis.
        self.ax.set_ylim(0, 1.04 * top or 1.0)
