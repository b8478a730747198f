"""``ConfidenceCalibrationDisplay``: calibration curves with bands and a histogram."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw.display.base import (
    AnswersDisplay,
    add_legend,
    caption,
    check_axes,
    check_curve,
    described,
    draw_curve,
    draw_reference,
    joined,
    score_in_words,
    score_title,
    scored,
    tidy,
    topics_on,
)
from skcw.metrics import calibration_bins
from skcw.metrics.bands import calibration_bands

SIZE = (5.0, 5.6)
# So that no marker is cut by the frame.
MARGIN = 0.02
# More bins than this are drawn without markers.
MOST_MARKERS = 30

# Methods of bands, as the legend calls them.
BANDS = {
    "wilson": "Wilson",
    "clopper-pearson": "Clopper-Pearson",
    "consistency": "consistency",
}

N_BARS = 40
EDGES = np.linspace(0.0, 1.0, N_BARS + 1)
# Heights of the curve's axes and of the histogram, and the gap between them.
HEIGHTS, GAP = (4.0, 1.0), 0.06
# The name of the attribute by which axes remember the histogram below them.
_BELOW = "_skcw_histogram"

# The names of scores in the legend.
SCORE_TITLES = {
    "root_calibration_mse": "root CalibMSE",
    "calibration_mse": "CalibMSE",
    "expected_calibration_error": "ECE",
    "brier_loss": "Brier loss",
    "log_loss": "log loss",
}
# Those that are computed with the bins of the curve.
_OF_THE_CURVE = ("root_calibration_mse", "calibration_mse")


@dataclass(repr=False, eq=False)
class ConfidenceCalibrationDisplay(AnswersDisplay):
    """Calibration curve (reliability diagram) with a band and a histogram.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are drawn. A curve below the diagonal shows overconfidence.

    The score in the legend may lie above its interval, most of all for few tokens: the
    bins of a calibrated model miss the diagonal, too, by chance, and that adds to the
    score. The interval is of the error that would be left without chance.

    Parameters
    ----------
    bins : CalibrationBins
        The points of the curve, as :func:`skcw.metrics.calibration_bins` gives them.
    name : str, default=None
        The name of the model.
    score : float, (value, low, high) or None, default=None
        A score for the legend, perhaps with its interval.
    score_name : str, default=None
        Its name in the legend.
    unit : str, default="words"
        The unit of the histogram.
    band : (array, array) or None, default=None
        The lower and the upper end of a band, one of each per bin.
    band_name : str, default=None
        Its name in the legend.
    band_around : {"curve", "diagonal"}, default="curve"
        Whether the band is about this curve or about that of a calibrated model.
    histogram : array of shape (40,) or None, default=None
        How many confidences lie in each fortieth of [0, 1].
    steps : bool, default=False
        Whether accuracy is constant in each bin, as in an isotonic curve.
    query : str, default=None
        The question, for the labels of the axes; None for "is the label right?".

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib artist or None
        The band.
    ax_ : matplotlib Axes
        The axes of the curve; give them to the next display to compare models.
    histogram_ax_ : matplotlib Axes or None
        The axes of the histogram.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    skcw.metrics.calibration_bins : The curve in numbers.
    skcw.metrics.bands.calibration_bands : The bands in numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.display import ConfidenceCalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> claimed = rng.uniform(size=2000)
    >>> true = rng.uniform(size=2000) < claimed**2
    >>> display = ConfidenceCalibrationDisplay.from_predictions(
    ...     true, claimed, strategy="quantile", n_bins=4, name="too sure")
    >>> bool((display.bins.accuracy < display.bins.confidence).all())
    True
    """

    bins: Any
    _: KW_ONLY
    band: Any = None
    band_name: str | None = None
    band_around: str = "curve"
    histogram: ArrayLike | None = None
    steps: bool = False
    query: str | None = None

    def __repr__(self):
        return described(
            self,
            self.name,
            self.query and f"“{self.query}”",
            score_in_words(self.score_name, self.score),
            f"{len(self.bins.confidence)} bins",
        )

    @classmethod
    def _wording(cls, question):
        query = None if question.kind == "right" else str(question)
        return super()._wording(question) | {"query": query}

    @classmethod
    def from_predictions(
        cls,
        correct: Any,
        confidence: Any,
        *,
        groups: ArrayLike | None = None,
        sample_weight: Any = None,
        strategy: str = "adaptive",
        bin_size: int | None = None,
        n_bins: int | None = None,
        band: str | None = "auto",
        score: str | None = "root_calibration_mse",
        interval: str | None = "auto",
        confidence_level: float = 0.95,
        n_resamples: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        name: str | None = None,
        query: str | None = None,
        unit: str = "words",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the calibration curve of given probabilities.

        Parameters
        ----------
        correct : array of bool of shape (n_tokens,), or a sequence of such
            Whether each claim came true: all tokens in one flat array, or one
            array per sentence.
        confidence : array of shape (n_tokens,), or a sequence of such
            The claimed probability of each token, from 0 to 1, in the same layout.
        groups : array of shape (n_tokens,) or (n_rows,), default=None
            The sentence of each token. Tokens of one sentence are not independent, and
            bands and intervals take that into account.
        sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
            How often each token counts, in the same layout.
        strategy : {"adaptive", "uniform", "quantile", "isotonic"}, default="adaptive"
            How bins are made; see :func:`skcw.metrics.calibration_bins`.
        bin_size : int, default=None
            Tokens in an adaptive bin; the root of the number of tokens if None.
        n_bins : int, default=None
            Number of uniform or quantile bins.
        band : str or None, default="auto"
            A method of :func:`skcw.metrics.bands.calibration_bands`; None for no band.
            ``"auto"`` is ``"wilson"``, around the curve, and for an isotonic curve
            ``"consistency"``: where the curve of a calibrated model would lie.
        score : str or None, default="root_calibration_mse"
            The score in the legend, by the name of its function in ``skcw.metrics``.
            CalibMSE and its root are computed with the bins of the curve (with adaptive
            ones for the isotonic curve), others as they come.
        interval : str or None, default="auto"
            A method of :func:`skcw.metrics.score_interval`; None for no interval.
        confidence_level : float, default=0.95
            Of the band and of the interval.
        n_resamples : int, default=1000
            Number of resamples, where the interval or the band needs them.
        random_state : int, RandomState instance or None, default=0
            Controls the resamples.
        name : str, default=None
            The name of the model.
        query : str, default=None
            The question, for the labels of the axes.
        unit : str, default="words"
            The unit of the histogram.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : ConfidenceCalibrationDisplay
            The display.
        """
        words = {"sample_weight": sample_weight}
        binning = {"strategy": strategy, "bin_size": bin_size, "n_bins": n_bins}
        resampling = {
            "groups": groups,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "random_state": random_state,
        }
        bins = calibration_bins(correct, confidence, **words, **binning)
        numbers = {}
        if score is not None:
            numbers["score"] = _score(
                score, correct, confidence, interval, binning, words, resampling
            )
            title = score_title(SCORE_TITLES[score], interval, confidence_level)
            numbers["score_name"] = title
        if band is not None:
            method = _band_method(band, strategy)
            numbers["band"] = calibration_bands(
                correct, confidence, method=method, **binning, **words, **resampling
            )
            numbers["band_name"] = f"{100 * confidence_level:.4g}% {BANDS[method]} band"
            if method == "consistency":
                numbers["band_around"] = "diagonal"
        weight = None if sample_weight is None else joined(sample_weight)
        display = cls(
            bins,
            **numbers,
            histogram=np.histogram(joined(confidence), bins=EDGES, weights=weight)[0],
            steps=strategy == "isotonic",
            name=name,
            query=query,
            unit=unit,
        )
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[Any, Any] | None = None,
        ref_line: bool = True,
        histogram: Any = True,
    ) -> Self:
        """Draw the curve, its band and the histogram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default. Room for the histogram is taken from
            below the axes, once; those of an earlier display have it already.
        name : str, default=None
            Another name for the legend.
        curve_kwargs : dict, default=None
            Options of the line, such as ``{"color": "black"}``; the band and the
            histogram take its color.
        ref_line : bool, default=True
            Show the diagonal, on which a calibrated model lies.
        histogram : bool or matplotlib Axes, default=True
            Whether, or where else, to draw the histogram.

        Returns
        -------
        self : ConfidenceCalibrationDisplay
            With ``line_``, ``band_``, ``ax_``, ``histogram_ax_`` and ``figure_``.
        """
        curve, band = self._points()
        ax, name = self._open(ax, name, SIZE)
        label, title = caption(name, self.score_name, self.score, ax)
        marked = not self.steps and len(self.bins.confidence) <= MOST_MARKERS
        usual = {"linewidth": 1.6, "marker": "o" if marked else "", "markersize": 3.5}
        self.line_ = draw_curve(ax, *curve, label, curve_kwargs, self.query, **usual)
        color = self.line_.get_color()
        self.band_ = None
        if band is not None:
            self.band_ = _draw_band(ax, *band, color, self.band_name)
        if ref_line:
            draw_reference(ax, [0, 1], [0, 1], "perfectly calibrated", ":")
        bars = None if self.histogram is None else histogram
        self.histogram_ax_ = below = _histogram_axes(ax, bars)
        if below is not None:
            unit = self.unit if len(topics_on(ax)) == 1 else "answers"
            _draw_histogram(below, self.histogram, color, unit)
        self._describe(ax, below)
        add_legend(ax, title)
        return self

    def _points(self):
        """Return (x, y) of the curve, and (x, low, high) of its band or None."""
        bins = self.bins
        low, high = (bins.accuracy, bins.accuracy) if self.band is None else self.band
        x, y, low, high = check_curve(
            confidence=bins.confidence, accuracy=bins.accuracy, low=low, high=high
        )
        curve, band = (x, y), (x, low, high)
        if self.steps:
            ends = np.column_stack([bins.low, bins.high]).ravel()
            curve = ends, np.repeat(y, 2)
            if self.band_around == "curve":
                band = ends, np.repeat(low, 2), np.repeat(high, 2)
            else:
                band = _along_diagonal(x, low, high, ends[0], ends[-1])
        return curve, None if self.band is None else band

    def _describe(self, ax, below):
        """Say what the axes show."""
        claimed, observed = "Confidence", "Share of right labels"
        if len(topics_on(ax)) > 1:
            # The legend names the question of each curve.
            claimed, observed = "Claimed probability", "Observed share"
        elif self.query is not None:
            claimed = f"Claimed probability of “{self.query}”"
            observed = f"Observed share of “{self.query}”"
        (ax if below is None else below).set_xlabel(claimed)
        ax.set_ylabel(observed)
        ax.set_xlim(-MARGIN, 1 + MARGIN)
        ax.set_ylim(-MARGIN, 1 + MARGIN)


def _score(score, correct, confidence, interval, binning, words, resampling):
    """Return a score, with the bins of the curve if it takes them, or its estimate."""
    if not isinstance(score, str) or score not in SCORE_TITLES:
        raise ValueError(
            f"score is {score!r}; it must be None or one of {', '.join(SCORE_TITLES)}"
        )
    own = score in _OF_THE_CURVE and binning["strategy"] != "isotonic"
    options = words | (binning if own else {})
    return scored(score, correct, confidence, interval, options, resampling)


def _band_method(band, strategy):
    if band not in ("auto", *BANDS):
        raise ValueError(
            f"band is {band!r}; it must be None, 'auto' or one of {', '.join(BANDS)}"
        )
    if band != "auto":
        return band
    return "consistency" if strategy == "isotonic" else "wilson"


def _along_diagonal(x, low, high, first, last):
    """Return (x, low, high) of a band from the first confidence to the last.

    It is known at the mean confidence of each block. Beyond the outer ones it keeps its
    distance from the diagonal, around which it lies.
    """
    x = np.clip(x, first, last)  # means of equal confidences are rounded
    at = np.unique([first, *x, last])
    beyond = at - np.clip(at, x[0], x[-1])
    limits = (np.interp(at, x, limit) + beyond for limit in (low, high))
    return at, *(np.clip(limit, 0.0, 1.0) for limit in limits)


def _draw_band(ax, x, low, high, color, label):
    """Shade between two curves; a single bin gets a bar, which has a width to see."""
    if label in ax.get_legend_handles_labels()[1]:
        label = None  # the legend names the first of a kind
    if len(x) == 1:
        return ax.vlines(
            x, low, high, color=color, linewidth=4.0, alpha=0.3, label=label
        )
    return ax.fill_between(
        x, low, high, color=color, alpha=0.18, linewidth=0, label=label
    )


def _histogram_axes(ax, histogram):
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
    # The ticks of both lie at the same places; the lower ones are labeled.
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


def _draw_histogram(below, weights, color, unit):
    """Draw bars; of several models only the outlines, which can be told apart."""
    from matplotlib.ticker import NullFormatter

    alone = not below.patches
    for patch in below.patches:
        patch.set_visible(not patch.get_fill())
    below.stairs(weights, EDGES, fill=True, color=color, alpha=0.18, visible=alone)
    below.stairs(weights, EDGES, color=color, linewidth=1.2)
    # Most confidences are high: only a logarithm shows the others.
    below.set_yscale("log")
    below.yaxis.set_minor_formatter(NullFormatter())
    heights = np.concatenate([patch.get_data().values for patch in below.patches])
    least = heights[heights > 0].min()
    # One token is seen, and weights that sum to less.
    below.set_ylim(0.7 * min(least, 1.0), 2 * heights.max())
    below.set_ylabel(unit.capitalize())
