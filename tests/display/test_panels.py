"""What all displays share: legends, names, questions and ``repr``."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from skcw.display import (
    ConfidenceCalibrationDisplay,
    ErrorRankingDisplay,
    LearningCurveDisplay,
    RiskControlDisplay,
    RiskCoverageDisplay,
)
from skcw.display.base import LONGEST_NAME, _hides_a_curve, curves_on
from tests.display.pairs import drawn_pairs, legend_texts

OF_ANSWERS = [ConfidenceCalibrationDisplay, ErrorRankingDisplay, RiskCoverageDisplay]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def crowded(ax=None, n_curves=7):
    """Draw curves that leave no corner free."""
    for number in range(n_curves):
        values = np.random.default_rng(number).uniform(size=80)
        curve = LearningCurveDisplay(np.arange(80), values, name=f"strategy {number}")
        ax = curve.plot(ax).ax_
    return ax


def inside(ax):
    """Tell whether the legend lies inside the figure."""
    ax.figure.draw_without_rendering()
    box, page = ax.get_legend().get_window_extent(), ax.figure.bbox
    # Half a pixel is rounding.
    return (
        box.x0 > page.x0 - 0.5
        and box.y0 > page.y0 - 0.5
        and box.x1 < page.x1 + 0.5
        and box.y1 < page.y1 + 0.5
    )


def test_a_legend_never_hides_a_curve():
    for ax in (crowded(), crowded(plt.subplots()[1])):
        assert len(curves_on(ax)) == 7
        assert not _hides_a_curve(ax, ax.get_legend())
        assert inside(ax)


def test_where_there_is_a_free_corner_the_legend_stays_on_the_axes():
    curve = LearningCurveDisplay(np.arange(50), np.linspace(0, 1, 50), name="one")
    ax = curve.plot().ax_
    box, frame = ax.get_legend().get_window_extent(), ax.bbox
    assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and box.y1 <= frame.y1
    assert not _hides_a_curve(ax, ax.get_legend())


def test_a_figure_grows_no_further_than_its_legend_needs():
    one, many = crowded(n_curves=6), crowded(n_curves=9)
    rows = many.figure.get_figheight() - one.figure.get_figheight()
    assert 0 < rows < 1.0


def test_long_names_are_cut_in_the_legend_and_nowhere_else():
    name = "a model " * 20
    for display in OF_ANSWERS:
        drawn = display.from_predictions(*drawn_pairs(200), interval=None, name=name)
        label = drawn.line_.get_label()
        assert label.startswith(name[: LONGEST_NAME - 1] + "…: ")
        assert drawn.name == name
    curve = LearningCurveDisplay([0, 1], [0.0, 1.0], name=name).plot()
    assert len(curve.line_.get_label()) == LONGEST_NAME
    curve = RiskControlDisplay([0.5], [0.1], [0.05], name=name).plot()
    assert curve.line_.get_label().endswith("…: true risk")


def test_two_questions_on_one_axes_are_told_apart():
    draw = ConfidenceCalibrationDisplay.from_predictions
    pairs = drawn_pairs(200)
    first = draw(*pairs, interval=None, band=None, name="m", query="B-PER")
    below, ax = first.histogram_ax_, first.ax_
    assert below.get_xlabel() == "Claimed probability of “B-PER”"
    draw(*pairs, interval=None, band=None, name="m", query="B-PER", ax=ax)
    assert below.get_xlabel() == "Claimed probability of “B-PER”"
    assert all("“" not in text for text in legend_texts(ax))
    draw(*pairs, interval=None, band=None, name="m", unit="spans", ax=ax)
    draw(*pairs, interval=None, band=None, query="not O", ax=ax, score=None)
    assert below.get_xlabel() == "Claimed probability"
    assert ax.get_ylabel() == "Observed share"
    assert below.get_ylabel() == "Predictions"
    labels = [line.get_label() for line in curves_on(ax)]
    ends = [label.rpartition("“")[2] for label in labels]
    assert ends == ["B-PER”", "B-PER”", "is it right?”", "not O”"]
    assert labels[-1] == "“not O”"
    assert len(set(labels[1:])) == 3


@pytest.mark.parametrize("display", [ErrorRankingDisplay, RiskCoverageDisplay])
def test_words_and_spans_on_one_axes_are_answers(display):
    words = display.from_predictions(*drawn_pairs(200), interval=None, name="m")
    assert " words " in words.ax_.get_xlabel()
    display.from_predictions(
        *drawn_pairs(50), interval=None, name="m", unit="spans", ax=words.ax_
    )
    assert " answers " in words.ax_.get_xlabel()
    labels = [line.get_label() for line in curves_on(words.ax_)]
    assert [label[-7:] for label in labels] == ["“words”", "“spans”"]


def test_repr_says_what_was_drawn():
    pairs = [True, False, True, False], [0.9, 0.2, 0.6, 0.8]
    how = {"interval": None, "name": "tagger"}
    said = {
        ErrorRankingDisplay: "tagger, average precision 0.833, 2 errors in 4 words",
        RiskCoverageDisplay: "tagger, AURC 0.333, 50% errors if all words are accepted",
    }
    for display, text in said.items():
        drawn = display.from_predictions(*pairs, **how)
        assert repr(drawn) == f"<{display.__name__}: {text}>"
    drawn = ConfidenceCalibrationDisplay.from_predictions(
        *drawn_pairs(100), score=None, query="B-PER", name="m", bin_size=50
    )
    assert repr(drawn) == "<ConfidenceCalibrationDisplay: m, “B-PER”, 2 bins>"
    assert repr(RiskControlDisplay([0.5], [0.1], [0.05])) == (
        "<RiskControlDisplay: 1 thresholds>"
    )
    curve = LearningCurveDisplay([0, 90], [0.1, 0.5], name="least sure")
    assert repr(curve) == (
        "<LearningCurveDisplay: least sure, score 0.5 after 90 words labeled>"
    )


def test_a_legend_above_axes_with_a_histogram_stays_inside_the_figure():
    rng = np.random.default_rng(0)
    _, ax = plt.subplots()
    for number in range(4):
        claimed = rng.uniform(size=1500)
        came_true = rng.uniform(size=1500) < claimed ** (0.4 + 0.8 * number)
        ConfidenceCalibrationDisplay.from_predictions(
            came_true, claimed, interval=None, name=f"model {number}", ax=ax
        )
    assert not _hides_a_curve(ax, ax.get_legend())
    assert inside(ax)
