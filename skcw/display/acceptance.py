"""``RiskControlDisplay``: accepted share against promised and true risk."""

import numpy as np

from skcw._util.text_table import cut
from skcw.calibration import risk_threshold
from skcw.calibration.checks import check_pairs
from skcw.calibration.selective_tagger import unit_outcomes
from skcw.display.base import (
    LONGEST_NAME,
    add_legend,
    check_curve,
    check_name,
    common_unit,
    described,
    draw_curve,
    draw_reference,
    open_axes,
    percent,
)

SIZE = (5.2, 4.2)
# The promises that are drawn if none are named.
RISKS = tuple(np.geomspace(0.002, 0.2, 25).tolist())


class RiskControlDisplay:
    """The risk that is promised and the risk that comes true, by accepted share.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`; the numbers below
    are what it draws. The curve of the true risk should lie below that of the promised
    one, and not far.

    Parameters
    ----------
    accepted : array of shape (n_promises,)
        The share of the new words that each promise accepts.
    promised : array of shape (n_promises,)
        The risk that is promised.
    true_risk : array of shape (n_promises,)
        The share of wrong words among those accepted.
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
    skcw.calibration.risk_threshold : Makes the promises.
    RiskCoverageDisplay : The risk of all thresholds, without a promise.

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
    >>> bool((display.true_risk <= display.promised).all())
    True
    """

    def __init__(self, accepted, promised, true_risk, *, name=None, unit="words"):
        self.accepted = accepted
        self.promised = promised
        self.true_risk = true_risk
        self.name = name
        self.unit = unit

    def __repr__(self):
        return described(self, self.name, f"{len(self.promised)} promises")

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None, **options):
        """Ask a selective tagger or classifier, and draw what comes of its promises.

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
            answers = estimator.predict_all(X)
            correct, _ = unit_outcomes(answers, y, estimator.unit)
            correct = np.concatenate([np.empty(0, dtype=bool), *correct])
            shown = [
                np.concatenate([np.empty(0, dtype=bool), *answers.accepted(each.risk)])
                for each in estimator.thresholds_
            ]
        else:
            correct = np.asarray(estimator.predict(X)) == np.asarray(y)
            shown = [estimator.accept(X, each.risk) for each in estimator.thresholds_]
        made = estimator.thresholds_
        risks = [promise.risk for promise in made]
        name = type(estimator).__name__ if name is None else name
        display = cls(*_judged(risks, shown, correct), name=name, unit=made[0].unit)
        return display.plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        correct,
        confidence,
        new_correct,
        new_confidence,
        *,
        risk=RISKS,
        level=0.95,
        groups=None,
        max_errors_per_group=None,
        name=None,
        unit="words",
        ax=None,
        **options,
    ):
        """Make promises on some sentences, and draw what comes of them on others.

        Parameters
        ----------
        correct, confidence : array of shape (n_words,), or a sequence of such
            Outcomes and confidences of calibration sentences.
        new_correct, new_confidence : array of shape (n_words,), or a sequence of such
            Those of others.
        risk : sequence of float, default=RISKS
            The promises; by default 25 from 0.2 % to 20 %.
        level : float, default=0.95
            The probability with which each holds.
        groups : array of shape (n_words,) or (n_sentences,), default=None
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
            level=level,
            groups=groups,
            max_errors_per_group=max_errors_per_group,
        )
        right, sure, _ = check_pairs(new_correct, new_confidence)
        shown = [sure >= promise.threshold for promise in made]
        risks = [promise.risk for promise in made]
        display = cls(*_judged(risks, shown, right > 0), name=name, unit=unit)
        return display.plot(ax, **options)

    def plot(self, ax=None, *, name=None, curve_kwargs=None):
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
        accepted, promised = check_curve(accepted=self.accepted, promised=self.promised)
        _, true_risk = check_curve(accepted=self.accepted, true_risk=self.true_risk)
        name = check_name(self.name if name is None else name)
        ax = self.ax_ = open_axes(ax, SIZE)
        self.figure_ = ax.figure
        label = "true risk"
        if name is not None:
            label = f"{cut(name, LONGEST_NAME)}: true risk"
        usual = {"linewidth": 1.8, "marker": "o", "markersize": 3.5}
        self.line_ = draw_curve(
            ax, accepted, true_risk, label, curve_kwargs, self.unit, **usual
        )
        draw_reference(ax, accepted, promised, "promised risk", "--")
        ax.set_xlabel(f"Share of {common_unit(ax)} accepted")
        ax.set_ylabel("Share of errors among them")
        ax.xaxis.set_major_formatter(percent)
        ax.yaxis.set_major_formatter(percent)
        # Promises that accept all would go up for ever.
        enough = promised[accepted == accepted.max()].min()
        ax.set_ylim(0.0, 1.15 * max(enough, true_risk.max()))
        add_legend(ax, None)
        return self


def _judged(risks, accepted, correct):
    """Return share, promised and true risk of the promises that accept something."""
    rows = [
        (taken.mean(), risk, 1.0 - correct[taken].mean())
        for risk, taken in zip(risks, accepted, strict=True)
        if taken.any()
    ]
    if not rows:
        raise ValueError(
            "none of the promises accepts anything; allow larger risks, or calibrate "
            "on more sentences"
        )
    return (np.array(column) for column in zip(*sorted(rows), strict=True))
