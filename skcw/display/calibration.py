"""Whether "0.9" means nine in ten: a calibration curve with bands and a histogram."""

from functools import partial

import numpy as np

from skcw import metrics
from skcw.display._base import AnswersDisplay, check_curve
from skcw.display._captions import (
    Caption,
    add_legend,
    band_title,
    check_name,
    score_title,
)
from skcw.display._histogram import (
    confidence_histogram,
    draw_histogram,
    histogram_axes,
)
from skcw.display._panels import (
    curves_on,
    draw_curve,
    draw_reference,
    draw_swatch,
    open_axes,
)
from skcw.metrics._questions import RIGHT
from skcw.metrics._weighted_pairs import check_pairs
from skcw.metrics.bands import METHODS

SIZE = (5.0, 5.6)
# So that no marker is cut by the frame.
MARGIN = 0.02
# More bins than this are drawn without markers.
MOST_MARKERS = 30

CONSISTENCY = "consistency"

# What the legend calls a score of skcw.metrics.
SCORES = {
    "root_calibration_mse": "root CalibMSE",
    "calibration_mse": "CalibMSE",
    "expected_calibration_error": "ECE",
    "adaptive_calibration_error": "ACE",
    "maximum_calibration_error": "MCE",
    "confidence_rmse": "RMSE",
    "brier_score": "Brier",
    "log_score": "log score",
}
# Those that are computed with the bins of the curve.
_OF_THE_CURVE = ("root_calibration_mse", "calibration_mse")


class ConfidenceCalibrationDisplay(AnswersDisplay):
    """A calibration curve: how often what is claimed with probability q comes true.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are what it draws. A curve below the diagonal is of a model that is too sure.

    The score in the legend may lie above its interval, most of all for few words: the
    bins of a calibrated model miss the diagonal, too, by chance, and that adds to the
    score. The interval is of the error that would be left without chance.

    Parameters
    ----------
    bins : CalibrationBins
        The points of the curve, as :func:`skcw.metrics.calibration_bins` gives them.
    band : (array, array) or None, default=None
        The lower and the upper end of a band, one of each a bin.
    band_name : str, default=None
        What the legend calls it.
    band_around : {"curve", "diagonal"}, default="curve"
        Whether the band is about this curve or about that of a calibrated model.
    histogram : array of shape (40,) or None, default=None
        How many confidences lie in each fortieth of [0, 1].
    score : float, (value, low, high) or None, default=None
        A score for the legend, perhaps with its interval.
    score_name : str, default=None
        What the legend calls it.
    steps : bool, default=False
        Whether accuracy is constant in each bin, as in an isotonic curve.
    name : str, default=None
        The name of the model.
    query : str, default=None
        What was asked, for the labels of the axes; None for "is the label right?".
    unit : str, default="words"
        What was asked about, for the histogram.

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
    skcw.metrics.calibration_bands : The bands in numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.display import ConfidenceCalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> claimed = rng.uniform(size=2000)
    >>> true = rng.uniform(size=2000) < claimed**2
    >>> display = ConfidenceCalibrationDisplay.from_predictions(
    ...     claimed, true, strategy="quantile", n_bins=4, name="too sure")
    >>> bool((display.bins.accuracy < display.bins.confidence).all())
    True
    """

    def __init__(
        self,
        bins,
        *,
        band=None,
        band_name=None,
        band_around="curve",
        histogram=None,
        score=None,
        score_name=None,
        steps=False,
        name=None,
        query=None,
        unit="words",
    ):
        self.bins = bins
        self.band = band
        self.band_name = band_name
        self.band_around = band_around
        self.histogram = histogram
        self.score = score
        self.score_name = score_name
        self.steps = steps
        self.name = name
        self.query = query
        self.unit = unit

    @classmethod
    def _wording(cls, question):
        query = None if question.kind == RIGHT else str(question)
        return super()._wording(question) | {"query": query}

    @classmethod
    def from_predictions(
        cls,
        confidence,
        correct,
        *,
        groups=None,
        sample_weight=None,
        strategy="adaptive",
        bin_size=None,
        n_bins=None,
        band="auto",
        score="root_calibration_mse",
        interval="bootstrap",
        confidence_level=0.95,
        n_resamples=1000,
        random_state=0,
        name=None,
        query=None,
        unit="words",
        ax=None,
        **options,
    ):
        """Draw the calibration curve of given probabilities.

        Parameters
        ----------
        confidence : array of shape (n_words,), or a sequence of such
            A probability for each word, from 0 to 1: all words in one flat array, or a
            row for each sentence.
        correct : array of bool of shape (n_words,), or a sequence of such
            Whether what it is the probability of came true, in the same layout.
        groups : array of shape (n_words,) or (n_rows,), default=None
            The sentence of each word. Words of one sentence are not independent, and
            bands and intervals take that into account.
        sample_weight : array of shape (n_words,), or a sequence of such, default=None
            How often each word counts, in the same layout.
        strategy : {"adaptive", "uniform", "quantile", "isotonic"}, default="adaptive"
            How bins are made; see :func:`skcw.metrics.calibration_bins`.
        bin_size : int, default=None
            Words in an adaptive bin; the root of the number of words if None.
        n_bins : int, default=None
            Number of uniform or quantile bins.
        band : str or None, default="auto"
            A method of :func:`skcw.metrics.calibration_bands`, or None for no band.
            ``"auto"`` is ``"wilson"``, around the curve, and for an isotonic curve
            ``"consistency"``: where the curve of a calibrated model would lie.
        score : str or None, default="root_calibration_mse"
            The score in the legend, by the name of its function in ``skcw.metrics``.
            CalibMSE and its root are computed with the bins of the curve (with adaptive
            ones for the isotonic curve), others as they come.
        interval : str or None, default="bootstrap"
            The method of the score's interval; None for none.
        confidence_level : float, default=0.95
            Of the band and of the interval.
        n_resamples : int, default=1000
            Number of resamples, where the interval or the band needs them.
        random_state : int, RandomState instance or None, default=0
            Rules the resamples.
        name : str, default=None
            The name of the model.
        query : str, default=None
            What was asked, for the labels of the axes.
        unit : str, default="words"
            What was asked about, for the histogram.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : ConfidenceCalibrationDisplay
            What was drawn.
        """
        pairs = check_pairs(confidence, correct, sample_weight, groups)
        words = {"sample_weight": pairs.weight, "groups": pairs.group}
        binning = {"strategy": strategy, "bin_size": bin_size, "n_bins": n_bins}
        resampling = {
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "random_state": random_state,
        }
        bins = metrics.calibration_bins(
            pairs.q, pairs.y, sample_weight=pairs.weight, **binning
        )
        numbers = {}
        if score is not None:
            ask = _score_function(score, binning)
            numbers["score"] = ask(
                pairs.q, pairs.y, interval=interval, **words, **resampling
            )
            title = score_title(SCORES[score], interval, confidence_level)
            numbers["score_name"] = title
        if band is not None:
            method = _band_method(band, strategy)
            numbers["band"] = metrics.calibration_bands(
                pairs.q, pairs.y, method=method, **binning, **words, **resampling
            )
            numbers["band_name"] = band_title(method, confidence_level)
            if method == CONSISTENCY:
                numbers["band_around"] = "diagonal"
        display = cls(
            bins,
            **numbers,
            histogram=confidence_histogram(pairs.q, pairs.weight),
            steps=strategy == "isotonic",
            name=name,
            query=query,
            unit=unit,
        )
        return display.plot(ax, **options)

    def plot(
        self, ax=None, *, name=None, curve_kwargs=None, ref_line=True, histogram=True
    ):
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
            histogram take its colour.
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
        name = check_name(self.name if name is None else name)
        ax = self.ax_ = open_axes(ax, SIZE)
        self.figure_ = ax.figure
        caption = Caption(name, self.score_name, self.score)
        marked = not self.steps and len(self.bins.confidence) <= MOST_MARKERS
        usual = {"linewidth": 1.6, "marker": "o" if marked else "", "markersize": 3.5}
        self.line_ = draw_curve(ax, *curve, caption, curve_kwargs, **usual)
        colour = self.line_.get_color()
        self.band_ = None if band is None else _draw_band(ax, *band, colour)
        if band is not None and self.band_name:
            draw_swatch(ax, self.band_name)
        if ref_line:
            draw_reference(ax, [0, 1], [0, 1], "perfectly calibrated", ":")
        bars = None if self.histogram is None else histogram
        self.histogram_ax_ = below = histogram_axes(ax, bars)
        if below is not None:
            draw_histogram(below, self.histogram, colour, self.unit)
        self._describe(ax, below)
        add_legend(ax, _free_corner(ax))
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
        if self.query is not None:
            claimed = f"Claimed probability of “{self.query}”"
            observed = f"Observed share of “{self.query}”"
        (ax if below is None else below).set_xlabel(claimed)
        ax.set_ylabel(observed)
        ax.set_xlim(-MARGIN, 1 + MARGIN)
        ax.set_ylim(-MARGIN, 1 + MARGIN)


def _score_function(score, binning):
    """Return the function of a score, with the bins of the curve if it takes them."""
    if not isinstance(score, str) or score not in SCORES:
        raise ValueError(
            f"score is {score!r}; it must be None or one of {', '.join(SCORES)}"
        )
    function = getattr(metrics, score)
    if score in _OF_THE_CURVE and binning["strategy"] != "isotonic":
        return partial(function, **binning)
    return function


def _band_method(band, strategy):
    if band not in ("auto", *METHODS):
        raise ValueError(
            f"band is {band!r}; it must be None, 'auto' or one of {', '.join(METHODS)}"
        )
    if band != "auto":
        return band
    return CONSISTENCY if strategy == "isotonic" else "wilson"


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


def _draw_band(ax, x, low, high, colour):
    """Shade between two curves; a single bin gets a bar, which has a width to see."""
    if len(x) == 1:
        return ax.vlines(x, low, high, color=colour, linewidth=4.0, alpha=0.3)
    return ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def _free_corner(ax):
    """Return the corner off the diagonal that the curves leave free, or nearly."""
    taken = {"upper left": 0, "lower right": 0}
    for line in curves_on(ax):
        x, y = line.get_data()
        # The curve passes between its points, too.
        way = np.linspace(0, len(x) - 1, 50 * len(x))
        x, y = (np.interp(way, np.arange(len(x)), values) for values in (x, y))
        taken["upper left"] += np.mean((x < 0.62) & (y > 0.66))
        taken["lower right"] += np.mean((x > 0.38) & (y < 0.34))
    return min(taken, key=taken.get)
