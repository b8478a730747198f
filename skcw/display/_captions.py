"""The words of a legend: names, scores and their intervals."""

import math
from numbers import Number
from typing import NamedTuple

from skcw.display._panels import captioned_curves


class Caption(NamedTuple):
    """What the legend says of a curve."""

    name: str | None = None
    score_name: str | None = None
    score: object = None  # a number, (value, low, high), a text, or None
    text: str | None = None  # the caller's own words, instead of all these

    def __str__(self):
        """Return all of it in one line."""
        if self.text is not None:
            return self.text
        return self._joined(self.score_name) or "_curve"

    def under_title(self):
        """Return what is left to say if the score is named in the legend's title."""
        return self._joined(None) if self.text is None else self.text

    def _joined(self, score_name):
        score = None if self.score is None else written_score(self.score)
        named = score_name if isinstance(self.score, (Number, tuple)) else None
        said = " ".join(part for part in (named, score) if part)
        return ": ".join(part for part in (self.name, said) if part)


def written_score(score):
    """Return a score as text; with an interval, as precise as that is wide."""
    if isinstance(score, str):
        return score
    if not isinstance(score, tuple):
        return f"{score:.3g}"
    value, low, high = score
    width = high - low
    decimals = 3
    if math.isfinite(width) and width > 0:
        decimals = min(max(1 - math.floor(math.log10(width)), 2), 6)
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def score_title(name, interval, level):
    """Return the name of a score, with its interval if it has one."""
    return name if interval is None else f"{name} [{100 * level:.4g}% interval]"


def band_title(method, level):
    """Return the name of a band, in which some methods carry those of people."""
    name = method.title() if method in ("wilson", "clopper-pearson") else method
    return f"{100 * level:.4g}% {name} band"


def add_legend(ax, place):
    """Show names and scores, and after them what the other lines and areas mean.

    Where all curves have the same score, its name is the title of the legend.
    """
    curves = dict(captioned_curves(ax))
    scored = [c for c in curves.values() if isinstance(c.score, (Number, tuple))]
    names = {caption.score_name for caption in scored}
    title = names.pop() if len(names) == 1 else None
    handles, labels = ax.get_legend_handles_labels()
    entries = [(h, t) for h, t in zip(handles, labels, strict=True) if h not in curves]
    said = [
        (line, caption.under_title() if title else str(caption))
        for line, caption in curves.items()
        if not str(caption).startswith("_")
    ]
    if not said + entries:
        return
    ax.legend(
        *zip(*(said + entries), strict=True),
        title=title,
        alignment="left",
        loc=place,
        fontsize="small",
        title_fontsize="small",
        framealpha=0.9,
    )


def name_of(estimator, method):
    """Return the class of the estimator inside all wrappers, and its method."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif getattr(estimator, "steps", None):
            estimator = estimator.steps[-1][1]
        else:
            break
    name = type(estimator).__name__
    return name if method is None else f"{name}, {method}"
