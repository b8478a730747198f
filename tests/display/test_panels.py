"""What all displays share: legends, names, questions and ``repr``."""

import matplotlib.pyplot as plt
import pytest

from skcw.display import (
    ConfidenceCalibrationDisplay,
    ErrorRankingDisplay,
    LearningCurveDisplay,
    RiskControlDisplay,
    RiskCoverageDisplay,
)
from skcw.display.base import LONGEST_NAME, curves_on
from tests.display.pairs import drawn_pairs, legend_texts

OF_ANSWERS = [ConfidenceCalibrationDisplay, ErrorRankingDisplay, RiskCoverageDisplay]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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
    assert below.get_ylabel() == "Answers"
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
