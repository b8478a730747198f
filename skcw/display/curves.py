"""Rankings of tokens by confidence, and learning curves of active learning."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw.display.base import (
    AnswersDisplay,
    CurveDisplay,
    add_legend,
    caption,
    check_curve,
    common_unit,
    curves_on,
    described,
    draw_curve,
    draw_reference,
    joined,
    percent,
    score_in_words,
    score_title,
    scored,
    show_percent,
)
from skcw.metrics import (
    errors_at_k,
    residual_errors_at_k,
    risk_coverage_curve,
)
from skcw.metrics.pairs import check_choice

# More points than a picture has dots make files large and nothing clearer.
N_POINTS = 500
SIZE = (5.2, 4.2)
# The risk of the first few tokens jumps between 0 and 1; it must not set the scale.
SETTLED = 0.05


def ranking_grid(n_tokens):
    """Return numbers of tokens from 1 to all: evenly spread, and dense at both ends."""
    even = np.linspace(1, n_tokens, N_POINTS)
    dense = np.geomspace(1, n_tokens, N_POINTS // 2)
    grid = np.concatenate([even, dense, n_tokens + 1 - dense])
    return np.unique(np.rint(grid).astype(np.int64))


@dataclass(repr=False, eq=False)
class RankingDisplay(AnswersDisplay):
    """Base class of the displays of rankings.

    A subclass has ``_curve(correct, confidence, sample_weight)``, the two
    arrays that it is made of, ``_score``, the name of a score, and
    ``_score_name``.
    """

    def __repr__(self):
        score = score_in_words(self.score_name, self.score)
        return described(self, self.name, score, self._summary())

    @classmethod
    def _wording(cls, question):
        if question.kind == "label":
            raise ValueError(
                f"{cls.__name__} ranks what was predicted, so query must be None or "
                f"ask about spans; ConfidenceCalibrationDisplay draws '{question}'"
            )
        return super()._wording(question)

    @classmethod
    def from_predictions(
        cls,
        correct: Any,
        confidence: Any,
        *,
        groups: ArrayLike | None = None,
        sample_weight: Any = None,
        interval: str | None = "auto",
        confidence_level: float = 0.95,
        n_resamples: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        name: str | None = None,
        unit: str = "words",
        ax: Any = None,
        **options: Any,
    ) -> Any:
        """Draw the ranking of tokens by given confidences.

        Parameters
        ----------
        correct : array of bool of shape (n_tokens,), or a sequence of such
            Whether each label is right.
        confidence : array of shape (n_tokens,), or a sequence of such
            The confidence in it, on any scale, in the same layout.
        groups : array of shape (n_tokens,) or (n_rows,), default=None
            The sentence of each token. Tokens of one sentence are not independent, and
            the interval takes that into account. If None each row is a group, and in
            flat arrays each token is one.
        sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
            How often each token counts, a whole number, in the same layout.
        interval : str or None, default="auto"
            A method of :func:`skcw.metrics.score_interval`; None for no interval.
        confidence_level : float, default=0.95
            The level of the interval.
        n_resamples : int, default=1000
            Number of resamples for the interval.
        random_state : int, RandomState instance or None, default=0
            Controls the resamples.
        name : str, default=None
            The name of the model.
        unit : str, default="words"
            The unit, for the labels of the axes.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : object
            The display, with ``line_``, ``ax_`` and ``figure_``.
        """
        words = {"sample_weight": sample_weight}
        # All errors, which also says whether the tokens can be ranked at all.
        n_errors = residual_errors_at_k(correct, confidence, 0, **words)
        if not len(joined(confidence)):
            raise ValueError("there are no tokens to draw; give at least one")
        if not n_errors and not cls._scores_no_errors:
            score = "no errors"
        else:
            resampling = {
                "groups": groups,
                "confidence_level": confidence_level,
                "n_resamples": n_resamples,
                "random_state": random_state,
            }
            score = scored(cls._score, correct, confidence, interval, words, resampling)
        display = cls(
            *cls._curve(correct, confidence, sample_weight),
            score=score,
            score_name=score_title(cls._score_name, interval, confidence_level),
            name=name,
            unit=unit,
        )
        return display.plot(ax, **options)

    def _draw(self, ax, name, points, curve_kwargs, references):
        """Draw a curve, and that of a perfect and of a random order or neither."""
        ax, name = self._open(ax, name, SIZE)
        label, title = caption(name, self.score_name, self.score, ax)
        usual = {"linewidth": 1.8}
        self.line_ = draw_curve(ax, *points, label, curve_kwargs, self.unit, **usual)
        if references:
            best, chance = references
            draw_reference(ax, *best, "perfect order", "--")
            draw_reference(ax, *chance, "random order", ":")
        add_legend(ax, title)
        return ax


@dataclass(repr=False, eq=False)
class ErrorRankingDisplay(RankingDisplay):
    """Errors found, or left, against tokens reviewed, the least confident first.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are drawn.

    Parameters
    ----------
    reviewed : array of shape (n_points,)
        Numbers of tokens reviewed, from 0 to all.
    found : array of shape (n_points,)
        Wrong tokens among them.
    name : str, default=None
        The name of the model.
    score : float, (value, low, high) or None, default=None
        Average precision for the legend, perhaps with its interval.
    score_name : str, default=None
        Its name in the legend.
    unit : str, default="words"
        The unit, for the labels of the axes.

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
    ...     [True, False, True, False], [0.9, 0.2, 0.6, 0.8],
    ...     interval=None, name="tagger")
    >>> display.found.tolist()
    [0.0, 1.0, 1.0, 2.0, 2.0]
    >>> display.line_.get_label()
    'tagger: 0.833'
    """

    _score_name = "average precision"
    _score = "error_average_precision"
    _scores_no_errors = False

    reviewed: ArrayLike
    found: ArrayLike

    def _summary(self):
        reviewed, found = self.reviewed[-1], self.found[-1]
        return f"{found:g} errors in {reviewed:g} {self.unit}"

    @staticmethod
    def _curve(correct, confidence, sample_weight):
        reviewed = np.append(0, ranking_grid(_n_tokens(confidence, sample_weight)))
        found = errors_at_k(correct, confidence, reviewed, sample_weight=sample_weight)
        return reviewed, found

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        errors: str = "found",
        relative: bool = False,
        curve_kwargs: dict[Any, Any] | None = None,
        ref_line: bool = True,
    ) -> Self:
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
            Show shares of all tokens and of all errors instead of numbers.
        curve_kwargs : dict, default=None
            Options of the line, such as ``{"color": "black"}``.
        ref_line : bool, default=True
            Show where a perfect and a random order would lie.

        Returns
        -------
        self : ErrorRankingDisplay
            With ``line_``, ``ax_`` and ``figure_``.
        """
        check_choice(errors, "errors", ("found", "left"))
        reviewed, found = check_curve(reviewed=self.reviewed, found=self.found)
        n_tokens, n_errors = reviewed[-1], found[-1]

        def scaled(reviewed, found):
            reviewed, found = np.asarray(reviewed, float), np.asarray(found, float)
            height = n_errors - found if errors == "left" else found
            if not relative:
                return reviewed, height
            return reviewed / n_tokens, height / max(n_errors, 1)

        best = scaled([0, n_errors, n_tokens], [0, n_errors, n_errors])
        chance = scaled([0, n_tokens], [0, n_errors])
        points = scaled(reviewed, found)
        ax = self._draw(ax, name, points, curve_kwargs, ref_line and (best, chance))
        _describe_numbers(ax, errors, relative)
        return self


def _describe_numbers(ax, errors, relative):
    """Say what the axes show, and let them begin at zero and hold every curve."""
    from matplotlib.ticker import MaxNLocator

    what = "Share of" if relative else "Number of"
    ax.set_xlabel(f"{what} {common_unit(ax)} reviewed, the least confident first")
    ax.set_ylabel(f"{what} errors {errors}")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=not relative))
        axis.set_major_formatter(percent if relative else "{x:,g}")
    ends = [line.get_xydata().max(axis=0) for line in curves_on(ax)]
    right, top = np.max(ends, axis=0)
    ax.set_xlim(0, right)
    # A model without errors still gets an axis.
    ax.set_ylim(0, 1.04 * top or 1.0)


@dataclass(repr=False, eq=False)
class RiskCoverageDisplay(RankingDisplay):
    """The share of wrong tokens among those accepted, against the share accepted.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are drawn.

    Parameters
    ----------
    coverage : array of shape (n_points,)
        Shares of tokens whose label is accepted, the most confident first.
    risk : array of shape (n_points,)
        The share of wrong tokens among them; the last is the error rate.
    name : str, default=None
        The name of the model.
    score : float, (value, low, high) or None, default=None
        The area under the curve for the legend, perhaps with its interval.
    score_name : str, default=None
        Its name in the legend.
    unit : str, default="words"
        The unit, for the labels of the axes.

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
    ...     [True, True, True, False], [0.9, 0.8, 0.6, 0.2],
    ...     interval=None, name="tagger")
    >>> display.risk.tolist()
    [0.0, 0.0, 0.0, 0.25]
    >>> display.line_.get_label()
    'tagger: 0.0625'
    """

    _score_name = "AURC"
    _score = "area_under_risk_coverage"
    _scores_no_errors = True

    coverage: ArrayLike
    risk: ArrayLike

    def _summary(self):
        return f"{percent(self.risk[-1])} errors if all {self.unit} are accepted"

    @staticmethod
    def _curve(correct, confidence, sample_weight):
        coverage, risk, _ = risk_coverage_curve(
            correct, confidence, sample_weight=sample_weight
        )
        shown = ranking_grid(len(coverage)) - 1
        return coverage[shown], risk[shown]

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[Any, Any] | None = None,
        ref_line: bool = True,
    ) -> Self:
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
        error_rate = risk[-1]
        best = coverage, np.maximum(0.0, 1.0 - (1.0 - error_rate) / coverage)
        chance = [0.0, 1.0], [error_rate, error_rate]
        points = coverage, risk
        ax = self._draw(ax, name, points, curve_kwargs, ref_line and (best, chance))
        accepted = f"share of {common_unit(ax)} accepted"
        ax.set_xlabel(f"Coverage: {accepted}, the most confident first")
        ax.set_ylabel("Risk: share of errors among them")
        show_percent(ax)
        ax.set_xlim(0.0, 1.0)
        tops = [_settled_top(*line.get_data()) for line in curves_on(ax)]
        # A model without errors still gets an axis.
        ax.set_ylim(0.0, 1.08 * max(tops) or 1.0)
        return self


def _settled_top(x, y):
    settled = np.asarray(y, float)[np.asarray(x, float) >= SETTLED]
    return float(settled.max(initial=0.0))


def _n_tokens(confidence, sample_weight):
    """Return how many tokens are ranked; a token counts as often as it weighs."""
    weight = joined(confidence) if sample_weight is None else joined(sample_weight)
    return len(weight) if sample_weight is None else int(weight.sum())


CURVE_SIZE = (5.6, 4.2)
COSTS = {"n_words": "words labeled", "n_labels": "items labeled"}


@dataclass(repr=False, eq=False)
class LearningCurveDisplay(CurveDisplay):
    """Learning curve of a strategy of active learning, with the band of its runs.

    Parameters
    ----------
    sizes : array-like of shape (n_points,)
        The labels at each point.
    mean : array-like of shape (n_points,)
        The mean score of the runs.
    low, high : array-like of shape (n_points,), default=None
        The lowest and the highest score; None for no band.
    name : str, default=None
        The name of the strategy.
    cost : str, default="words labeled"
        The unit of `sizes`, for the axis.
    score_name : str, default="score"
        The name of the score, for the axis.

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

    sizes: ArrayLike
    mean: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    _: KW_ONLY
    cost: str = "words labeled"
    score_name: str = "score"

    def __repr__(self):
        last = f"{self.score_name} {self.mean[-1]:.3g} after {self.sizes[-1]:g}"
        return described(self, self.name, f"{last} {self.cost}")

    @classmethod
    def from_study(
        cls,
        study: Any,
        *,
        by: str = "n_words",
        names: list[str] | None = None,
        score_name: str = "score",
        ax: Any = None,
        **options: Any,
    ) -> list[Any]:
        """Draw the curves of a study, one for each strategy.

        Parameters
        ----------
        study : Study
            The result of :func:`skcw.active.simulate`.
        by : {"n_words", "n_labels"}, default="n_words"
            The unit of cost.
        names : list of str, default=None
            The strategies to draw; by default all.
        score_name : str, default="score"
            The name of the score, for the axis.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        displays : list of LearningCurveDisplay
            The displays, all on the same axes.
        """
        check_choice(by, "by", COSTS)
        names = study.names if names is None else list(names)
        curves = [study.curve(name, by=by) for name in names]
        displays = []
        for name, curve in zip(names, curves, strict=True):
            words = {"name": name, "cost": COSTS[by], "score_name": score_name}
            displays.append(cls(*curve, **words).plot(ax=ax, **options))
            ax = displays[-1].ax_
        return displays

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        band: bool = True,
        curve_kwargs: dict[Any, Any] | None = None,
    ) -> Self:
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
        ax, name = self._open(ax, name, CURVE_SIZE)
        label, _ = caption(name, None, None, ax)
        self.line_ = draw_curve(ax, self.sizes, self.mean, label, curve_kwargs)
        self.band_ = None
        if band and self.low is not None and self.high is not None:
            self.band_ = ax.fill_between(
                self.sizes,
                self.low,
                self.high,
                color=self.line_.get_color(),
                alpha=0.15,
                linewidth=0,
            )
        ax.set(xlabel=self.cost, ylabel=self.score_name)
        most = max(np.max(line.get_xdata()) for line in curves_on(ax))
        ax.set_xlim(0, most * 1.02)
        add_legend(ax, None)
        return self
