"""``WeightsDisplay`` and ``TransitionsDisplay``: the weights of a tagger."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw._util.text_table import cut
from skcw.display.base import COLORS, check_curve, described, open_axes, tidy
from skcw.evaluation.tables import LearnedWeights

# Names of features are longer than those of models.
LONGEST_FEATURE = 40
INCHES_PER_BAR = 0.26


@dataclass(repr=False, eq=False)
class WeightsDisplay:
    """Bars of named weights, or of the contributions of features to a decision.

    Make one by :meth:`from_estimator` or :meth:`from_explanation`; the numbers below
    are drawn.

    Parameters
    ----------
    names : list of str
        The names; long ones are cut in the picture.
    weights : array of shape (n_names,)
        The weights, drawn from top to bottom.
    stds : array of shape (n_names,) or None, default=None
        Their standard deviations.
    title : str, default=None
        The title.
    quantity : str, default="weight"
        The quantity, for the label of the axis.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The bars.
    ax_ : matplotlib Axes
        The axes they are on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.display import WeightsDisplay
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> display = WeightsDisplay.from_estimator(tagger, "P")
    >>> display
    <WeightsDisplay: label P, 4 weights>
    >>> sorted(display.names)
    ['Ann', 'Bob', 'left', 'met']
    """

    names: list[str]
    weights: ArrayLike
    stds: ArrayLike | None = None
    _: KW_ONLY
    title: str | None = None
    quantity: str = "weight"

    def __repr__(self):
        return described(self, self.title, f"{len(self.names)} weights")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        label: str,
        *,
        top: int = 10,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the features with the largest and the smallest weights for a label.

        Parameters
        ----------
        estimator : tagger
            A fitted one with weights.
        label : str
            One of its ``classes_``.
        top : int, default=10
            How many features of each kind.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : WeightsDisplay
            The display.
        """
        weights = LearnedWeights(estimator)
        if label not in weights.labels:
            raise ValueError(
                f"the tagger has no label {label!r}; it has {', '.join(weights.labels)}"
            )
        best, worst = weights.of_features(label, top)
        rows = best + worst[::-1]
        stds = None
        if weights.feature_std is not None:
            stds = np.array([row.std for row in rows])
        display = cls(
            [row.name for row in rows],
            np.array([row.weight for row in rows]),
            stds,
            title=f"label {label}",
        )
        return display.plot(ax, **options)

    @classmethod
    def from_explanation(
        cls,
        explanation: Any,
        *,
        token: str | None = None,
        top: int = 15,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the contributions of features to the decision at one token.

        Parameters
        ----------
        explanation : TokenExplanation
            An entry of the result of ``explain``.
        token : str, default=None
            The token, for the title.
        top : int, default=15
            How many features, the largest first.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : WeightsDisplay
            The display.
        """
        parts = explanation.contributions[:top]
        decided = f"{explanation.label} rather than {explanation.rival}"
        display = cls(
            [part.feature for part in parts],
            np.array([part.value for part in parts]),
            np.array([part.std for part in parts]) if explanation.std else None,
            title=decided if token is None else f"{token}: {decided}",
            quantity="adds to the margin",
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, deviations: bool = False) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        deviations : bool, default=False
            Draw the standard deviations, if there are any, as lines across the ends of
            the bars. Those of CW are often several times as large as its weights.

        Returns
        -------
        self : WeightsDisplay
            With ``bars_``, ``ax_`` and ``figure_``.
        """
        places = np.arange(len(self.names))
        check_curve(names=places, weights=self.weights)
        height = 1.2 + INCHES_PER_BAR * len(places)
        ax = self.ax_ = open_axes(ax, (6.0, height))
        self.figure_ = ax.figure
        colors = [COLORS[0] if w >= 0 else COLORS[1] for w in self.weights]
        stds = self.stds if deviations else None
        self.bars_ = ax.barh(
            places,
            self.weights,
            xerr=stds,
            color=colors,
            error_kw={"elinewidth": 1.0, "ecolor": "0.35"},
        )
        ax.set_yticks(places, [cut(name, LONGEST_FEATURE) for name in self.names])
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        ax.set_xlabel(self.quantity + " (± std)" * (stds is not None))
        if self.title is not None:
            ax.set_title(cut(self.title), fontsize="medium")
        return self


@dataclass(repr=False, eq=False)
class TransitionsDisplay:
    """The weights of a label after another one, as a colored table.

    Make one by :meth:`from_estimator`; the numbers below are drawn.

    Parameters
    ----------
    labels : list of str
        The labels.
    weights : array of shape (n_labels, n_labels)
        The weight of the label of a column after that of a row.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The colored cells.
    ax_ : matplotlib Axes
        The axes they are on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.display import TransitionsDisplay
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> TransitionsDisplay.from_estimator(tagger)
    <TransitionsDisplay: 2 labels>
    """

    labels: list[str]
    weights: ArrayLike

    def __repr__(self):
        return described(self, f"{len(self.labels)} labels")

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw the transitions of a fitted tagger.

        Parameters
        ----------
        estimator : tagger
            A fitted one with ``transition_coef_``.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : TransitionsDisplay
            The display.
        """
        display = cls(list(estimator.classes_), np.asarray(estimator.transition_coef_))
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> Self:
        """Draw the table.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        colorbar : bool, default=True
            Whether to explain the colors beside the table.

        Returns
        -------
        self : TransitionsDisplay
            With ``image_``, ``ax_`` and ``figure_``.
        """
        size = 2.2 + 0.36 * len(self.labels)
        ax = self.ax_ = open_axes(ax, (size + 0.8, size))
        self.figure_ = ax.figure
        tidy(ax)
        ax.grid(visible=False)
        most = float(np.abs(self.weights).max(initial=0.0)) or 1.0
        self.image_ = ax.imshow(self.weights, cmap="RdBu", vmin=-most, vmax=most)
        places = np.arange(len(self.labels))
        names = [cut(label, LONGEST_FEATURE) for label in self.labels]
        ax.set_xticks(places, names, rotation=90)
        ax.set_yticks(places, names)
        ax.set_xlabel("label")
        ax.set_ylabel("label before it")
        if colorbar:
            self.figure_.colorbar(self.image_, ax=ax, label="weight", shrink=0.8)
        return self
