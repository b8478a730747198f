"""Base class of the displays: get confidences and outcomes from an estimator."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skcw._util.text_table import cut
from skcw.confidence.foreign import inner_estimator
from skcw.evaluation import confidence_pairs
from skcw.evaluation.pairs import parse_query
from skcw.metrics import score_interval
from skcw.metrics.score import make_score

# Okabe and Ito's colors, told apart by readers of any color vision; yellow is too
# pale for a line and black is left to the frame.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# When all colors are taken, they come again with the next of these.
LINESTYLES = ("-", "--", "-.", ":")
REFERENCE = "0.45"
# Longer names of models and features are cut where they are drawn.
LONGEST_NAME = 28
# The group id of the lines that displays draw; the topic of the curve comes after it.
CURVE = "skcw-curve:"


def open_axes(ax, figsize):
    """Return axes to draw on: those given, or those of a new figure."""
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib: pip install matplotlib (extra plot)"
        ) from error
    if ax is not None:
        return check_axes(ax, "ax")
    _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    tidy(ax)
    return ax


def tidy(ax):
    """Remove the upper and right spines and draw a pale grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)


def check_axes(ax, name):
    """Return Axes of matplotlib, or refuse something else."""
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


def draw_curve(ax, x, y, label, curve_kwargs, topic=None, **usual):
    """Draw a curve in the next free color and return its line.

    Curves of several topics are told apart in the legend.
    """
    again, place = divmod(len(curves_on(ax)), len(COLORS))
    style = {
        "color": COLORS[place],
        "linestyle": LINESTYLES[again % len(LINESTYLES)],
        # Labels that begin so are left out by matplotlib.
        "label": label or "_curve",
        **usual,
    }
    gid = CURVE + (topic or "")
    (line,) = ax.plot(x, y, gid=gid, **_merged_style(style, curve_kwargs))
    _tell_topics(ax)
    return line


def topics_on(ax):
    """Return the topics of the curves on some axes, each once."""
    return list(dict.fromkeys(map(_topic, curves_on(ax))))


def _topic(line):
    return line.get_gid().removeprefix(CURVE) or None


def common_unit(ax):
    """Return the common unit of the curves on some axes, or a general one."""
    units = topics_on(ax)
    return units[0] if len(units) == 1 else "answers"


def _tell_topics(ax):
    """Name the topic of every curve in the legend, if there are several of them."""
    if len(topics_on(ax)) < 2:
        return
    for line in curves_on(ax):
        topic, label = _topic(line), line.get_label()
        told = f"“{cut(topic, LONGEST_NAME)}”" if topic else "“is it right?”"
        if not label.startswith("_") and not label.endswith(told):
            line.set_label(f"{label}, {told}")
        elif label.startswith("_"):
            line.set_label(told)


def curves_on(ax):
    """Return the curves of displays on some axes, but for those removed since."""
    return [line for line in ax.get_lines() if _is_curve(line)]


def _is_curve(artist):
    return str(artist.get_gid()).startswith(CURVE)


def _merged_style(usual, given):
    """Return the usual style of a line, updated by the caller's."""
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
    """Draw a thin gray line to compare with, unless it is there already.

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


def percent(share, position=None):
    """Return a share as a formatter of ticks writes it."""
    return f"{100 * share:.4g}%"


def show_percent(ax):
    """Write the ticks of both axes as percentages."""
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(percent)


def caption(name, score_name, score, ax):
    """Return the label of a curve in the legend, and the title of the legend.

    The title names the score of the first curve; one with another score says so.
    """
    title = _legend_title(ax)
    if isinstance(score, str) or score is None:
        return _joined(name, score), title
    if title is None:
        title = score_name
    written = _rounded(score)
    if score_name is not None and title != score_name:
        written = f"{score_name} {written}"
    return _joined(name, written), title


def _legend_title(ax):
    legend = ax.get_legend()
    return (legend.get_title().get_text() or None) if legend is not None else None


def _joined(name, score):
    return ": ".join(filter(None, [name and cut(name, LONGEST_NAME), score]))


def _rounded(score):
    """Return a score, perhaps with its interval, with as many decimals as matter.

    These are two digits of the width of the interval, or three of the score itself.
    """
    numbers = score if isinstance(score, tuple) else (score,)
    size, digits = abs(numbers[0]), 3
    if len(numbers) == 3:
        size, digits = numbers[2] - numbers[1], 2
    decimals = 3
    if math.isfinite(size) and size > 0:
        decimals = min(max(digits - 1 - math.floor(math.log10(size)), 2), 6)
    value, *ends = (f"{number:.{decimals}f}" for number in numbers)
    return f"{value} [{', '.join(ends)}]" if ends else value


def scored(score, correct, confidence, interval, options, resampling):
    """Return a score, or its estimate with an interval if that has a method."""
    if interval is None:
        return make_score(score, correct, confidence, **options).value()
    chance = {"method": interval, **options, **resampling}
    return score_interval(score, correct, confidence, **chance)


def score_title(name, interval, level):
    """Return the name of a score, with its interval if it has one."""
    return name if interval is None else f"{name} [{100 * level:.4g}% interval]"


def add_legend(ax, title):
    """Show a legend: curves first, then other lines and areas.

    If the legend would hide a part of a curve wherever it is put, it goes above the
    axes.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    entries = sorted(
        zip(handles, labels, strict=True), key=lambda entry: not _is_curve(entry[0])
    )
    ax.legend(
        *zip(*entries, strict=True),
        loc="best",
        title=title,
        alignment="left",
        fontsize="small",
        title_fontsize="small",
        framealpha=0.9,
    )


def described(display, *facts):
    """Return the ``repr`` of a display: its class, its model and its numbers."""
    known = [str(fact) for fact in facts if fact]
    return f"<{type(display).__name__}{': ' * bool(known)}{', '.join(known)}>"


def score_in_words(name, score):
    """Return a score with its name, or nothing where there is none."""
    if score is None or isinstance(score, str):
        return score
    return " ".join(filter(None, [name, _rounded(score)]))


@dataclass(repr=False, eq=False, kw_only=True)
class CurveDisplay:
    """Base of the displays of a curve of a model, which has a name."""

    name: str | None = None

    def _open(self, ax, name, size):
        """Return the axes to draw on, and the name for the legend."""
        name = self.name if name is None else name
        if name is not None and not isinstance(name, str):
            raise TypeError(
                f"name is {name!r}; it must be the name of the model, a string, or None"
            )
        self.ax_ = open_axes(ax, size)
        self.figure_ = self.ax_.figure
        return self.ax_, name


@dataclass(repr=False, eq=False, kw_only=True)
class AnswersDisplay(CurveDisplay):
    """Base of the displays: confidences and outcomes, drawn by ``from_predictions``."""

    score: Any = None
    score_name: str | None = None
    unit: str = "words"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Iterable[Any],
        y: Iterable[Any],
        *,
        query: Any = None,
        method: str | None = None,
        confidence_options: dict[Any, Any] | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Any:
        """Draw the confidence of a fitted estimator against the truth.

        Parameters
        ----------
        estimator : tagger or classifier
            A fitted one of skcw, scikit-learn or your own.
        X : sequences, or rows of a classifier
            Data that it has not learned from.
        y : sequences of labels, or labels of rows
            The truth.
        query : label, collection of labels, str, dict or None, default=None
            The yes/no question that is asked: None for "is the predicted label right?",
            or a label, several labels, ``"not O"``, ``"span:PER"``, as in
            :func:`skcw.evaluation.confidence_pairs`.
        method : str, default=None
            A method of ``predict_confidence``; None is the estimator's default.
        confidence_options : dict, default=None
            Further options of ``predict_confidence``, such as ``{"n_draws": 50}``.
        groups : array of shape (n_sequences,), default=None
            Groups beyond a sequence, such as the document of each one.
            By default each sequence, or each row of a classifier, is a group.
        sample_weight : array of shape (n_sequences,) or (n_tokens,), default=None
            How often each sequence counts, as scorers take it, or each token.
        name : str, default=None
            The name of the model; None is that of its class, and the method.
        **options : object
            Those of ``from_predictions`` and of ``plot``.

        Returns
        -------
        display : object
            The display, with ``line_``, ``ax_`` and ``figure_``.
        """
        wording = cls._wording(parse_query(query))
        y = y if hasattr(y, "__len__") else list(y)
        answers = confidence_pairs(
            estimator,
            X,
            y,
            query,
            method=method,
            confidence_options=confidence_options,
        )
        if len(y) and np.ndim(next(iter(y))) == 0:
            wording["unit"] = "rows"
        if groups is None:
            groups = answers.groups
        else:
            groups = _per_answer(groups, "groups", len(y), answers)
        if sample_weight is not None:
            sample_weight = _per_answer(sample_weight, "sample_weight", len(y), answers)
        return cls.from_predictions(
            answers.correct,
            answers.confidence,
            groups=groups,
            sample_weight=sample_weight,
            name=_name_of(estimator, method) if name is None else name,
            **(wording | options),
        )

    @classmethod
    def _wording(cls, question):
        """Return the words for the axes that a question asks for."""
        return {"unit": "spans" if question.kind == "span" else "words"}


def _per_answer(values, name, n_sequences, answers):
    """Return one value for each answer, given one for each sequence or each answer."""
    values = list(values)
    n_answers = len(answers.groups)
    if any(map(np.ndim, values)):
        values = [value for row in values for value in row]
    elif len(values) == n_sequences:
        return np.asarray(values)[answers.groups]
    if len(values) != n_answers:
        raise ValueError(
            f"{name} has {len(values)} entries; it must hold one for each of the "
            f"{n_sequences} sequences, or for each of the {n_answers} answers"
        )
    return np.asarray(values)


def _name_of(estimator, method):
    """Return the class of the estimator inside all wrappers, and its method."""
    while (inner := inner_estimator(estimator)) is not None:
        estimator = inner
    name = type(estimator).__name__
    return name if method is None else f"{name}, {method}"


def joined(rows):
    """Return the tokens of all rows in one array; of flat tokens, these."""
    return np.concatenate([np.empty(0), *map(np.atleast_1d, rows)])


def check_curve(**arrays):
    """Return two arrays as floats of one length, or refuse them."""
    curve = [np.asarray(values, dtype=np.float64) for values in arrays.values()]
    shapes = {values.shape for values in curve}
    if len(shapes) > 1 or curve[0].ndim != 1 or not len(curve[0]):
        raise ValueError(
            f"{' and '.join(arrays)} have the shapes {', '.join(map(str, shapes))}; "
            "they must be sequences of one length"
        )
    return curve
