"""``skcw inspect --plot``: pictures of what a model has learnt."""

from pathlib import Path

from skcw.cli._messages import UsageError

ENDINGS = ("png", "svg", "pdf")


def check_picture(options, explains):
    """Raise unless there is one thing to draw, and a file that can hold it.

    Parameters
    ----------
    options : argparse.Namespace
        With ``plot``, ``label`` and ``at``.
    explains : bool
        Whether words are explained.
    """
    if Path(options.plot).suffix.lstrip(".").lower() not in ENDINGS:
        raise UsageError(
            f"--plot {options.plot}: the ending must be one of {', '.join(ENDINGS)}"
        )
    if explains and options.at is None:
        raise UsageError("--plot draws the decision on one word: say which by --at")
    if explains and options.label is not None:
        raise UsageError("--plot draws either --label or --at, not both")


def draw(options, tagger, explanation):
    """Write the picture of a label, of a decision or of the transitions.

    Parameters
    ----------
    options : argparse.Namespace
        With ``plot``, ``label`` and ``top``.
    tagger : BaseSequenceTagger
        The tagger that has weights.
    explanation : list of dict or None
        The one word to draw, as the command tells it, or None.
    """
    pyplot = _pyplot()
    from skcw.display import TransitionsDisplay, WeightsDisplay

    if explanation is not None:
        word = explanation[0]
        display = WeightsDisplay.from_explanation(
            _as_explained(word), word=word["word"], top=options.top
        )
    elif options.label is not None:
        display = WeightsDisplay.from_estimator(tagger, options.label, top=options.top)
    elif not hasattr(tagger, "transition_coef_"):
        raise ValueError(
            f"a {type(tagger).__name__} has no weights of transitions to draw; give "
            "--label"
        )
    else:
        display = TransitionsDisplay.from_estimator(tagger)
    display.figure_.savefig(options.plot, dpi=150)
    pyplot.close(display.figure_)


def _pyplot():
    try:
        import matplotlib as mpl
    except ImportError:
        raise ValueError("--plot needs matplotlib: pip install 'skcw[plot]'") from None
    # There may be no screen, and none is needed for a file.
    mpl.use("Agg")
    import matplotlib.pyplot as pyplot

    return pyplot


def _as_explained(word):
    """Return what the command tells of a word as the tagger has told it."""
    from skcw.tagging import Contribution, TokenExplanation

    parts = tuple(Contribution(**part) for part in word["contributions"])
    told = {name: word[name] for name in ("label", "rival", "margin", "std")}
    return TokenExplanation(**told, contributions=parts)
