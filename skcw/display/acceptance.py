"""``RiskControlDisplay``: the true risk of what is accepted, and its bound."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw.calibration import risk_threshold
from skcw.calibration.risk_control import float_outcomes
from skcw.calibration.selective_tagger import unit_outcomes
from skcw.display.base import (
    CurveDisplay,
    add_legend,
    caption,
    check_curve,
    common_unit,
    described,
    draw_curve,
    draw_reference,
    show_percent,
)

SIZE = (5.2, 4.2)
# The risks that are drawn by default.
RISKS = tuple(np.geomspace(0.002, 0.2, 25).tolist())


@dataclass(repr=False, eq=False)
class RiskControlDisplay(CurveDisplay):
    """The true risk of what thresholds accept, and its bound, by accepted share.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`. The curve of the
    true risk should lie below its bound, and not far.

    Parameters
    ----------
    accepted : array of shape (n_thresholds,)
        The share of the new units that each threshold accepts.
    bound : array of shape (n_thresholds,)
        The risk that each threshold was chosen for.
    true_risk : array of shape (n_thresholds,)
        The share of wrong units among those accepted.
    name : str, default=None
        The name of the model.
    unit : str, default="words"
        What is accepted, for the labels of the axes.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve of the true risk.
    ax_ : matplotlib Axes
        The axes it is on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    skcw.calibration.risk_threshold : Finds the thresholds.
    RiskCoverageDisplay : The risk of all thresholds, without a bound.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.display import RiskControlDisplay
    >>> rng = np.random.RandomState(0)
    >>> confidence = rng.beta(8, 1, size=(1000, 10))
    >>> correct = rng.uniform(size=(1000, 10)) < confidence
    >>> display = RiskControlDisplay.from_predictions(
    ...     correct[:500], confidence[:500], correct[500:], confidence[500:],
    ...     risk=[0.05, 0.08])
    >>> bool((display.true_risk <= display.bound).all())
    True
    """

    accepted: ArrayLike
    bound: ArrayLike
    true_risk: ArrayLike
    unit: str = field(default="words", kw_only=True)

    def __repr__(self):
        return described(self, self.name, f"{len(self.bound)} thresholds")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Iterable[Any],
        y: Iterable[Any],
        *,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the risk of a selective tagger or classifier on new data.

        Parameters
        ----------
        estimator : SelectiveTagger or SelectiveClassifier
            A fitted one, best with several risks.
        X : sequences, or rows of a classifier
            New ones.
        y : sequences of labels, or labels of rows
            The truth.
        name : str, default=None
            The name of the model; None is that of its class.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : RiskControlDisplay
            What was drawn.
        """
        if hasattr(estimator, "predict_all"):
            found = estimator.predict_all(X)
            correct, _ = unit_outcomes(found, y, estimator.unit)
            correct = np.concatenate([np.empty(0, dtype=bool), *correct])
            shown = [
                np.concatenate([np.empty(0, dtype=bool), *found.accepted(each.risk)])
                for each in estimator.thresholds_
            ]
        else:
            correct = np.asarray(estimator.predict(X)) == np.asarray(y)
            shown = [estimator.accept(X, each.risk) for each in estimator.thresholds_]
        made = estimator.thresholds_
        name = type(estimator).__name__ if name is None else name
        display = cls(*_judged(made, shown, correct), name=name, unit=made[0].unit)
        return display.plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        correct: Any,
        confidence: Any,
        new_correct: Any,
        new_confidence: Any,
        *,
        risk: Sequence[Any] = RISKS,
        confidence_level: float = 0.95,
        groups: ArrayLike | None = None,
        max_errors_per_group: float | None = None,
        name: str | None = None,
        unit: str = "words",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Find thresholds on some sequences, and draw their risk on others.

        Parameters
        ----------
        correct, confidence : array of shape (n_tokens,), or a sequence of such
            Outcomes and confidences of calibration data.
        new_correct, new_confidence : array of shape (n_tokens,), or a sequence of such
            Those of new data.
        risk : sequence of float, default=RISKS
            The bounds; by default 25 from 0.2 % to 20 %.
        confidence_level : float, default=0.95
            The probability with which each holds.
        groups : array of shape (n_tokens,) or (n_sentences,), default=None
            As in :func:`skcw.calibration.risk_threshold`.
        max_errors_per_group : float, default=None
            As there.
        name : str, default=None
            The name of the model.
        unit : str, default="words"
            What is accepted.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : RiskControlDisplay
            What was drawn.
        """
        made = risk_threshold(
            correct,
            confidence,
            list(risk),
            confidence_level=confidence_level,
            groups=groups,
            max_errors_per_group=max_errors_per_group,
        )
        right, sure, _ = float_outcomes(new_correct, new_confidence)
        shown = [sure >= threshold.threshold for threshold in made]
        display = cls(*_judged(made, shown, right > 0), name=name, unit=unit)
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[Any, Any] | None = None,
    ) -> Self:
        """Draw both curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Another name for the legend.
        curve_kwargs : dict, default=None
            Options of the line, such as ``{"color": "black"}``.

        Returns
        -------
        self : RiskControlDisplay
            With ``line_``, ``ax_`` and ``figure_``.
        """
        accepted, bound = check_curve(accepted=self.accepted, bound=self.bound)
        _, true_risk = check_curve(accepted=self.accepted, true_risk=self.true_risk)
        ax, name = self._open(ax, name, SIZE)
        label, _ = caption(name, None, "true risk", ax)
        usual = {"linewidth": 1.8, "marker": "o", "markersize": 3.5}
        self.line_ = draw_curve(
            ax, accepted, true_risk, label, curve_kwargs, self.unit, **usual
        )
        draw_reference(ax, accepted, bound, "bound on the risk", "--")
        ax.set_xlabel(f"Share of {common_unit(ax)} accepted")
        ax.set_ylabel("Share of errors among them")
        show_percent(ax)
        # Bounds above that of the first threshold that accepts all are of no interest.
        enough = bound[accepted == accepted.max()].min()
        ax.set_ylim(0.0, 1.15 * max(enough, true_risk.max()))
        add_legend(ax, None)
        return self


def _judged(thresholds, accepted, correct):
    """Return share, bound and true risk of the thresholds that accept something."""
    rows = [
        (taken.mean(), threshold.risk, 1.0 - correct[taken].mean())
        for threshold, taken in zip(thresholds, accepted, strict=True)
        if taken.any()
    ]
    if not rows:
        raise ValueError(
            "no threshold accepts anything; allow larger risks, or calibrate on more "
            "sentences"
        )
    return (np.array(column) for column in zip(*sorted(rows), strict=True))
