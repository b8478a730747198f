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
        return self.written(self.score_name)

    def written(self, score_name, decimals=None):
        """Return name and score, under a name of the score or, with None, without."""
        if self.text is not None:
            return self.text
        score = self.score
        if self.has_numbers:
            decimals = decimals_of(score) if decimals is None else decimals
            score = " ".join(filter(None, [score_name, _rounded(score, decimals)]))
        # Labels that begin so are left out by matplotlib.
        return ": ".join(filter(None, [self.name, score])) or "_curve"

    @property
    def has_numbers(self):
        """Whether the score is more than words."""
        return isinstance(self.score, (Number, tuple))


def decimals_of(score):
    """Return with how many decimals to write a score.

    Two digits of the width of its interval are told, or three of the score itself.
    """
    if isinstance(score, tuple):
        _, low, high = score
        size, digits = high - low, 2
    else:
        size, digits = abs(score), 3
    if not (math.isfinite(size) and size > 0):
        return 3
    return min(max(digits - 1 - math.floor(math.log10(size)), 2), 6)


def _rounded(score, decimals):
    if not isinstance(score, tuple):
        return f"{score:.{decimals}f}"
    value, low, high = (f"{number:.{decimals}f}" for number in score)
    return f"{value} [{low}, {high}]"


def score_title(name, interval, level):
    """Return the name of a score, with its interval if it has one."""
    return name if interval is None else f"{name} [{100 * level:.4g}% interval]"


def band_title(method, level):
    """Return the name of a band, in which some methods carry those of people."""
    name = method.title() if method in ("wilson", "clopper-pearson") else method
    return f"{100 * level:.4g}% {name} band"


def add_legend(ax, place):
    """Show names and scores, and after them what the other lines and areas mean.

    Where all curves have the same score, its name is the title of the legend and the
    figures have the same number of decimals.
    """
    curves = dict(captioned_curves(ax))
    scored = [caption for caption in curves.values() if caption.has_numbers]
    title = decimals = None
    if len({caption.score_name for caption in scored}) == 1:
        title = scored[0].score_name
        decimals = max(decimals_of(caption.score) for caption in scored)
    entries = [
        (line, caption.written(caption.score_name if title is None else None, decimals))
        for line, caption in curves.items()
    ]
    others = zip(*ax.get_legend_handles_labels(), strict=True)
    entries += [(handle, label) for handle, label in others if handle not in curves]
    entries = [entry for entry in entries if not entry[1].startswith("_")]
    if entries:
        ax.legend(
            *zip(*entries, strict=True),
            title=title,
            alignment="left",
            loc=place,
            fontsize="small",
            title_fontsize="small",
            framealpha=0.9,
        )


def check_name(name):
    """Return the name of a model, or say that it is none."""
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"name is {name!r}; it must be the name of the model, a string, or None"
        )
    return name


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
