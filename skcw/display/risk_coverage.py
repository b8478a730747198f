"""Which error remains if only the most confident labels are accepted."""

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
from skcw.metrics import area_under_risk_coverage, risk_coverage_curve

SIZE = (5.2, 4.2)
# The risk of the first few words jumps between 0 and 1; it must not set the scale.
SETTLED = 0.05


class RiskCoverageDisplay(RankingDisplay):
    """The share of wrong words among those accepted, against the share accepted.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are what it draws.

    Parameters
    ----------
    coverage : array of shape (n_points,)
        Shares of words whose label is accepted, the most confident first.
    risk : array of shape (n_points,)
        The share of wrong words among them; the last is the error rate.
    score : float, (value, low, high) or None, default=None
        The area under the curve for the legend, perhaps with its interval.
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
    skcw.metrics.risk_coverage_curve : All points of the curve.
    ErrorRankingDisplay : The same ranking from its other end.

    Examples
    --------
    >>> from skcw.display import RiskCoverageDisplay
    >>> display = RiskCoverageDisplay.from_predictions(
    ...     [0.9, 0.8, 0.6, 0.2], [True, True, True, False],
    ...     interval=None, name="tagger")
    >>> display.risk.tolist()
    [0.0, 0.0, 0.0, 0.25]
    >>> display.line_.get_label()
    'tagger: AURC 0.0625'
    """

    _score_name = "AURC"
    _score = staticmethod(area_under_risk_coverage)

    def __init__(
        self, coverage, risk, *, score=None, score_name=None, name=None, unit="words"
    ):
        self.coverage = coverage
        self.risk = risk
        self._keep_captions(score, score_name, name, unit)

    @staticmethod
    def _curve(pairs):
        coverage, risk, _ = risk_coverage_curve(
            pairs.q, pairs.y, sample_weight=pairs.weight
        )
        shown = ranking_grid(int(pairs.weight.sum())) - 1
        return coverage[shown], risk[shown]

    def plot(self, ax=None, *, name=None, curve_kwargs=None, ref_line=True):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Another name for the legend.
        curve_kwargs : dict, default=None
            Options of the line, such as ``{"color": "black"}``.
        ref_line : bool, default=True
            Show where a perfect and a random order would lie.

        Returns
        -------
        self : RiskCoverageDisplay
            With ``line_``, ``ax_`` and ``figure_``.
        """
        coverage, risk = check_curve(coverage=self.coverage, risk=self.risk)
        name = check_name(self.name if name is None else name)
        caption = Caption(name, self.score_name, self.score)
        ax = self.ax_ = open_axes(ax, SIZE)
        self.figure_ = ax.figure
        self.line_ = draw_curve(
            ax, coverage, risk, caption, curve_kwargs, linewidth=1.8
        )
        if ref_line:
            _draw_references(ax, coverage, risk[-1])
        _describe(ax, self.unit)
        add_legend(ax, "best")
        return self


def _draw_references(ax, coverage, error_rate):
    """Draw the risk of a perfect order, and of an order by chance."""
    best = np.maximum(0.0, 1.0 - (1.0 - error_rate) / coverage)
    draw_reference(ax, coverage, best, "perfect order", "--")
    chance = [0.0, 1.0], [error_rate, error_rate]
    draw_reference(ax, *chance, "random order", ":")


def _describe(ax, unit):
    """Say what the axes show, and choose limits that the first words do not rule."""
    ax.set_xlabel(f"Coverage: share of {unit} accepted, the most confident first")
    ax.set_ylabel("Risk: share of errors among them")
    ax.xaxis.set_major_formatter(percent)
    ax.yaxis.set_major_formatter(percent)
    ax.set_xlim(0.0, 1.0)
    tops = [_settled_top(*line.get_data()) for line in curves_on(ax)]
    # A model without errors still gets an axis.
    ax.set_ylim(0.0, 1.08 * max(tops) or 1.0)


def _settled_top(x, y):
    settled = np.asarray(y, float)[np.asarray(x, float) >= SETTLED]
    return float(settled.max(initial=0.0))
