"""Pictures of rankings: errors found, and risk against coverage."""

import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color
from numpy.testing import assert_allclose, assert_array_equal

from skcw.display import ErrorRankingDisplay, RiskCoverageDisplay
from skcw.evaluation import confidence_pairs
from skcw.metrics import (
    area_under_risk_coverage,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    risk_coverage_curve,
)
from tests.display.pairs import drawn_pairs, legend_texts, model

BOTH = pytest.mark.parametrize("display", [ErrorRankingDisplay, RiskCoverageDisplay])
REFERENCES = ["perfect order", "random order"]
# Legends round to that much.
HALF_A_HUNDREDTH = 0.005


def draw(display, n=200, **options):
    options = {"interval": None, "name": "model"} | options
    return display.from_predictions(*drawn_pairs(n), **options)


@BOTH
@pytest.mark.parametrize("kind", ["cw", "crf", "pipeline", "classifier"])
def test_every_kind_of_estimator_is_drawn(display, kind):
    estimator, X, y = model(kind)
    drawn = display.from_estimator(estimator, X, y, interval=None)
    answers = confidence_pairs(estimator, X, y)
    again = display.from_predictions(answers.correct, answers.confidence, interval=None)
    assert_array_equal(drawn.line_.get_xydata(), again.line_.get_xydata())
    classes = {
        "cw": "CWSequenceTagger",
        "crf": "CRFSequenceTagger",
        "pipeline": "CWSequenceTagger",
        "classifier": "LogisticRegression",
    }
    assert drawn.name == classes[kind]
    assert ("rows" if kind == "classifier" else "words") in drawn.ax_.get_xlabel()
    drawn.figure_.canvas.draw()


@BOTH
def test_a_method_without_probabilities_is_ranked_too(display):
    estimator, X, y = model("cw")
    drawn = display.from_estimator(estimator, X, y, method="delta", interval=None)
    assert drawn.name == "CWSequenceTagger, delta"
    draws = display.from_estimator(
        estimator,
        X,
        y,
        method="kd-pc",
        confidence_options={"n_draws": 10},
        interval=None,
        ax=drawn.ax_,
        name="draws",
    )
    assert draws.line_.get_label().startswith("draws: ")


@BOTH
def test_spans_are_ranked_and_labels_are_not(display):
    estimator, X, y = model("cw")
    drawn = display.from_estimator(estimator, X, y, query="span:PER", interval=None)
    assert "spans" in drawn.ax_.get_xlabel()
    with pytest.raises(ValueError, match="query must be None or ask about spans"):
        display.from_estimator(estimator, X, y, query="not O")


def test_the_curve_of_errors_is_the_metric():
    correct, confidence = drawn_pairs(300)
    drawn = draw(ErrorRankingDisplay, 300)
    assert drawn.reviewed[0] == 0
    assert drawn.reviewed[-1] == 300
    assert_array_equal(drawn.found, errors_at_k(correct, confidence, drawn.reviewed))
    assert drawn.score == error_average_precision(correct, confidence)
    left = drawn.plot(errors="left")
    expected = residual_errors_at_k(correct, confidence, drawn.reviewed)
    assert_array_equal(left.line_.get_ydata(), expected)
    relative = drawn.plot(relative=True)
    assert_allclose(relative.line_.get_xydata()[-1], [1.0, 1.0], rtol=1e-12)


def test_the_curve_of_risk_is_the_metric():
    correct, confidence = drawn_pairs(300)
    coverage, risk, _ = risk_coverage_curve(correct, confidence)
    drawn = draw(RiskCoverageDisplay, 300)
    assert_array_equal(drawn.coverage, coverage)
    assert_array_equal(drawn.risk, risk)
    assert drawn.score == area_under_risk_coverage(correct, confidence)


@BOTH
def test_the_interval_takes_sentences_into_account(display):
    correct, confidence = drawn_pairs(400)
    apart = display.from_predictions(correct, confidence, name="model")
    pairs = np.repeat(correct, 2), np.repeat(confidence, 2)
    together = display.from_predictions(*pairs, groups=np.arange(800) // 2)
    again = display.from_predictions(np.split(pairs[0], 400), np.split(pairs[1], 400))
    assert apart.score.low < apart.score.value < apart.score.high
    # Words said twice tell no more than once.
    assert_allclose(together.score, apart.score, rtol=0.05)
    assert again.score == together.score
    title, texts = legend_texts(apart.ax_)
    assert title.endswith(" [95% interval]")
    written = [float(number) for number in re.findall(r"\d\.\d+", texts[0])]
    assert_allclose(written, apart.score, atol=HALF_A_HUNDREDTH)


@BOTH
def test_an_estimator_is_judged_with_weights_and_groups_of_sequences(display):
    estimator, X, y = model("cw")
    weight, document = np.arange(len(y)) % 3, np.arange(len(y)) // 5
    options = {"interval": "bootstrap", "n_resamples": 50}
    drawn = display.from_estimator(
        estimator, X, y, groups=document, sample_weight=weight, **options
    )
    answers = confidence_pairs(estimator, X, y)
    again = display.from_predictions(
        *answers[:2],
        groups=document[answers.groups],
        sample_weight=weight[answers.groups],
        **options,
    )
    assert drawn.score == again.score
    with pytest.raises(TypeError, match="name is 3"):
        display.from_estimator(estimator, X, y, interval=None, name=3)


@BOTH
def test_weights_count_as_repetitions(display):
    correct, confidence = drawn_pairs(300)
    weight = np.arange(300) % 3
    weighted = display.from_predictions(
        correct, confidence, sample_weight=weight, interval=None
    )
    repeated = np.repeat(correct, weight), np.repeat(confidence, weight)
    again = display.from_predictions(*repeated, interval=None)
    assert_array_equal(weighted.line_.get_xydata(), again.line_.get_xydata())
    assert weighted.score == again.score
    silent = display.from_predictions(
        correct, confidence, sample_weight=correct, interval=None
    )
    assert not silent.line_.get_ydata().any()


@BOTH
def test_a_long_curve_is_thinned_but_keeps_its_ends(display):
    drawn = draw(display, 50_000)
    x = drawn.line_.get_xdata()
    assert len(x) < 1100
    last = 50_000 if display is ErrorRankingDisplay else 1.0
    assert x[-1] == last
    assert (np.diff(x) > 0).all()


@BOTH
def test_several_models_share_axes_in_colors_of_their_own(display):
    first = draw(display, name="one")
    second = display.from_predictions(
        *drawn_pairs(200, power=3.0), name="two", interval=None, ax=first.ax_
    )
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    assert not same_color(first.line_.get_color(), second.line_.get_color())
    _, texts = legend_texts(first.ax_)
    assert [text.split(":")[0] for text in texts] == ["one", "two", *REFERENCES]
    # The second model errs more often; all of its curve is in sight.
    top = first.ax_.get_ylim()[1]
    settled = second.line_.get_xdata() > 0.05
    assert second.line_.get_ydata()[settled].max() <= top


def test_more_models_than_colors_differ_by_their_lines():
    ax = None
    for _ in range(8):
        ax = draw(RiskCoverageDisplay, ax=ax, ref_line=False).ax_
    styles = {(line.get_color(), line.get_linestyle()) for line in ax.get_lines()}
    assert len(styles) == 8


@BOTH
def test_equal_references_are_drawn_once(display):
    drawn = draw(display)
    n_lines = len(drawn.ax_.get_lines())
    draw(display, ax=drawn.ax_)
    assert len(drawn.ax_.get_lines()) == n_lines + 1
    without = draw(display, ref_line=False)
    assert without.ax_.get_lines()[:] == [without.line_]


@BOTH
def test_the_caller_rules_name_and_line(display):
    style = {"c": "black", "lw": 3, "label": "mine"}
    drawn = draw(display, curve_kwargs=style)
    assert same_color(drawn.line_.get_color(), "black")
    assert drawn.line_.get_linewidth() == 3
    assert "mine" in legend_texts(drawn.ax_)[1]
    again = drawn.plot(name="other")
    assert again is drawn
    assert drawn.line_.get_label().startswith("other: ")


@BOTH
def test_a_curve_that_was_removed_leaves_its_color(display):
    first = draw(display)
    first.line_.remove()
    second = draw(display, ax=first.ax_)
    assert second.line_.get_color() == first.line_.get_color()


@BOTH
def test_axes_of_the_caller_are_used(display):
    figure, ax = plt.subplots()
    drawn = draw(display, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is figure
    for wrong in (np.array([ax]), figure, "ax"):
        with pytest.raises(TypeError, match="must be one Axes of matplotlib"):
            draw(display, ax=wrong)


@BOTH
@pytest.mark.parametrize(
    ("confidence", "correct"),
    [
        ([0.5], [True]),
        ([0.5], [False]),
        ([0.5] * 9, [True] * 9),
        ([0.5] * 9, [False] * 9),
        ([0.2, np.inf, -np.inf], [True, False, True]),
        ([[0.2, 0.4], [], [0.9]], [[True, False], [], [True]]),
    ],
)
def test_odd_data_are_drawn(display, correct, confidence):
    drawn = display.from_predictions(correct, confidence, interval=None, name="odd")
    drawn.figure_.canvas.draw()
    assert np.isfinite(drawn.line_.get_xydata()).all()
    assert np.isfinite(drawn.ax_.get_ylim()).all()


def test_a_model_without_errors_says_so():
    drawn = ErrorRankingDisplay.from_predictions([True, True], [0.2, 0.8], name="good")
    assert drawn.line_.get_label() == "good: no errors"


@BOTH
@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([], [], "no tokens"),
        ([[], []], [[], []], "no tokens"),
        ([0.1, np.nan], [True, True], "NaN"),
        ([0.1], [True, False], "1 tokens but correct has 2"),
        ([0.1], [0.5], "True where the label is right"),
    ],
)
def test_bad_data_are_refused_before_a_figure_is_made(
    display, correct, confidence, message
):
    with pytest.raises(ValueError, match=message):
        display.from_predictions(correct, confidence)
    assert not plt.get_fignums()


@BOTH
def test_options_that_mean_nothing_are_refused(display):
    with pytest.raises(TypeError, match="curve_kwargs is 'red'; it must be a dict"):
        draw(display, curve_kwargs="red")
    with pytest.raises(ValueError, match="sequences of one length"):
        display([0.0, 0.5], [0.1]).plot()
    with pytest.raises(ValueError, match="one of 'found', 'left'"):
        draw(ErrorRankingDisplay, errors="lost")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        draw(RiskCoverageDisplay)
