"""Calibration curves: what is drawn, on which axes, and what is refused."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color
from numpy.testing import assert_allclose, assert_array_equal

from skcw.display import ConfidenceCalibrationDisplay
from skcw.evaluation import confidence_pairs
from skcw.metrics import (
    brier_loss,
    calibration_bins,
    root_calibration_mse,
    score_interval,
)
from skcw.metrics.bands import calibration_bands
from skcw.metrics.calibration_errors import calibration_mse
from tests.display.pairs import drawn_pairs, legend_texts, model

STRATEGIES = ["adaptive", "uniform", "quantile", "isotonic"]
PLAIN = {"band": None, "interval": None}


def draw(n=400, **options):
    options = PLAIN | {"name": "model"} | options
    return ConfidenceCalibrationDisplay.from_predictions(*drawn_pairs(n), **options)


@pytest.mark.parametrize("kind", ["cw", "crf", "pipeline", "classifier"])
def test_every_kind_of_estimator_is_drawn(kind):
    estimator, X, y = model(kind)
    drawn = ConfidenceCalibrationDisplay.from_estimator(estimator, X, y, **PLAIN)
    answers = confidence_pairs(estimator, X, y)
    expected = calibration_bins(answers.correct, answers.confidence)
    assert_array_equal(drawn.bins.accuracy, expected.accuracy)
    assert drawn.ax_.get_ylabel() == "Share of right labels"
    unit = "Rows" if kind == "classifier" else "Words"
    assert drawn.histogram_ax_.get_ylabel() == unit
    drawn.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("O", "“O”"),
        ("not O", "“not O”"),
        (["B-PER", "I-PER"], "“B-PER or I-PER”"),
        ({"not": ["B-PER", "I-PER"]}, "“not (B-PER or I-PER)”"),
        ("span:PER", "“span of PER”"),
        ("span:*", "“span of any type”"),
    ],
)
def test_the_axes_say_what_was_asked(query, words):
    estimator, X, y = model("cw")
    drawn = ConfidenceCalibrationDisplay.from_estimator(
        estimator, X, y, query=query, **PLAIN
    )
    answers = confidence_pairs(estimator, X, y, query)
    assert drawn.histogram.sum() == len(answers.confidence)
    assert drawn.histogram_ax_.get_xlabel() == f"Claimed probability of {words}"
    assert drawn.ax_.get_ylabel() == f"Observed share of {words}"


def test_the_method_and_its_options_are_asked_for():
    estimator, X, y = model("cw")
    drawn = ConfidenceCalibrationDisplay.from_estimator(
        estimator, X, y, method="kd-pc", confidence_options={"n_draws": 4}, **PLAIN
    )
    assert drawn.name == "CWSequenceTagger, kd-pc"
    # Shares of four votes lie in five places.
    assert (drawn.histogram > 0).sum() <= 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_curve_goes_through_the_bins(strategy):
    bins = calibration_bins(*drawn_pairs(), strategy=strategy)
    drawn = draw(2000, strategy=strategy)
    x, y = drawn.line_.get_data()
    if strategy == "isotonic":
        assert_array_equal(x[::2], bins.low)
        assert_array_equal(x[1::2], bins.high)
        assert_array_equal(y[::2], bins.accuracy)
        assert (np.diff(y) >= 0).all()
    else:
        assert_array_equal(x, bins.confidence)
        assert_array_equal(y, bins.accuracy)


def test_the_number_of_bins_can_be_chosen():
    assert len(draw(strategy="quantile", n_bins=7).bins.count) == 7
    assert_allclose(draw(bin_size=50).bins.count, 50, rtol=1e-12)


def test_weights_count_as_repetitions():
    true, claimed = drawn_pairs(300)
    twice = ConfidenceCalibrationDisplay.from_predictions(
        np.repeat(true, 2), np.repeat(claimed, 2), strategy="uniform", **PLAIN
    )
    weighted = ConfidenceCalibrationDisplay.from_predictions(
        true, claimed, sample_weight=np.full(300, 2.0), strategy="uniform", **PLAIN
    )
    assert_allclose(weighted.line_.get_xydata(), twice.line_.get_xydata(), rtol=1e-12)
    assert_array_equal(weighted.histogram, twice.histogram)


@pytest.mark.parametrize(
    ("score", "function", "words"),
    [
        ("root_calibration_mse", root_calibration_mse, "root CalibMSE"),
        ("calibration_mse", calibration_mse, "CalibMSE"),
        ("brier_loss", brier_loss, "Brier loss"),
    ],
)
def test_the_legend_says_the_score(score, function, words):
    drawn = draw(score=score)
    assert drawn.score == function(*drawn_pairs(400))
    assert drawn.line_.get_label() == f"model: {drawn.score:.3g}"
    title, texts = legend_texts(drawn.ax_)
    assert title == words
    assert texts == [f"model: {drawn.score:.3g}", "perfectly calibrated"]
    assert legend_texts(draw(score=None).ax_) == ("", ["model", texts[1]])


def test_the_score_is_that_of_the_curve():
    drawn = draw(strategy="quantile", n_bins=5)
    expected = root_calibration_mse(*drawn_pairs(400), strategy="quantile", n_bins=5)
    assert drawn.score == expected
    isotonic = draw(strategy="isotonic")
    assert isotonic.score == root_calibration_mse(*drawn_pairs(400))


@pytest.mark.parametrize(
    ("strategy", "band", "words"),
    [
        ("adaptive", "auto", "90% Wilson band"),
        ("quantile", "clopper-pearson", "90% Clopper-Pearson band"),
        ("uniform", "wilson", "90% Wilson band"),
        ("isotonic", "auto", "90% consistency band"),
        ("isotonic", "clopper-pearson", "90% Clopper-Pearson band"),
    ],
)
def test_the_band_is_the_metric(strategy, band, words):
    words_of = np.arange(400) // 5
    options = {"strategy": strategy, "confidence_level": 0.9, "n_resamples": 50}
    drawn = draw(groups=words_of, band=band, **options)
    method = {"adaptive": "wilson", "isotonic": "consistency"}
    low, high = calibration_bands(
        *drawn_pairs(400),
        groups=words_of,
        method=method[strategy] if band == "auto" else band,
        **options,
    )
    assert_array_equal(drawn.band[0], low)
    assert_array_equal(drawn.band[1], high)
    assert words in legend_texts(drawn.ax_)[1]
    outline = drawn.band_.get_paths()[0].vertices
    assert_allclose(outline[:, 1].max(), high.max(), rtol=1e-9)


def test_a_consistency_band_lies_around_the_diagonal():
    true, claimed = drawn_pairs(2000, power=4.0)
    drawn = ConfidenceCalibrationDisplay.from_predictions(
        true, claimed, strategy="isotonic", interval=None, n_resamples=100
    )
    x = drawn.bins.confidence
    assert drawn.band_around == "diagonal"
    inside = (drawn.band[0] <= x + 0.1) & (x - 0.1 <= drawn.band[1])
    assert inside.all()
    # The model is too sure: its curve leaves the band.
    assert (drawn.bins.accuracy < drawn.band[0]).any()


@pytest.mark.parametrize("n", [30, 2000])
def test_a_consistency_band_reaches_as_far_as_the_curve(n):
    drawn = draw(n, strategy="isotonic", band="consistency", n_resamples=50)
    outline = drawn.band_.get_paths()[0].vertices
    curve = drawn.line_.get_xdata()
    assert outline[:, 0].min() == curve[0] < drawn.bins.confidence[0]
    assert outline[:, 0].max() == curve[-1] > drawn.bins.confidence[-1]
    # At its ends it is as far from the diagonal as where it is known.
    end = outline[outline[:, 0] == curve[-1], 1].max()
    last = drawn.bins.confidence[-1]
    assert end == pytest.approx(min(1.0, drawn.band[1][-1] + curve[-1] - last))
    assert outline[:, 1].min() >= 0 and outline[:, 1].max() <= 1


@pytest.mark.parametrize("strategy", ["adaptive", "isotonic"])
def test_a_band_of_one_bin_is_seen(strategy):
    drawn = ConfidenceCalibrationDisplay.from_predictions(
        [True] * 5 + [False] * 4, [0.7] * 9, strategy=strategy, interval=None
    )
    (segment,) = drawn.band_.get_segments()
    assert_allclose(segment[:, 0], 0.7, rtol=1e-12)
    assert segment[0, 1] < 5 / 9 < segment[1, 1]


def test_the_interval_of_the_score_is_told_with_its_level():
    rows = np.arange(400) // 5
    drawn = draw(groups=rows, interval="inversion", n_resamples=50, random_state=3)
    expected = score_interval(
        root_calibration_mse,
        *drawn_pairs(400),
        groups=rows,
        n_resamples=50,
        random_state=3,
    )
    assert drawn.score == expected
    title, texts = legend_texts(drawn.ax_)
    assert title == "root CalibMSE [95% interval]"
    value, low, high = (f"{number:.2f}" for number in expected)
    assert texts[0] == f"model: {value} [{low}, {high}]"


def test_words_of_one_sentence_widen_the_band():
    true, claimed = drawn_pairs(100)
    twice = np.repeat(true, 8), np.repeat(claimed, 8)
    options = {"strategy": "quantile", "n_bins": 4, "interval": None}
    apart = ConfidenceCalibrationDisplay.from_predictions(*twice, **options)
    together = ConfidenceCalibrationDisplay.from_predictions(
        *twice, groups=np.arange(800) // 8, **options
    )
    widths = [np.subtract(*drawn.band[::-1]).mean() for drawn in (apart, together)]
    assert widths[1] > 2 * widths[0]


def test_several_models_share_the_curve_and_the_histogram():
    first = draw(name="one")
    second = draw(name="two", ax=first.ax_)
    third = draw(name="three", ax=first.ax_, score="brier_loss")
    assert second.ax_ is third.ax_ is first.ax_
    assert second.histogram_ax_ is first.histogram_ax_
    assert len(first.figure_.axes) == 2
    colors = {line.get_color() for line in (first.line_, second.line_, third.line_)}
    assert len(colors) == 3
    title, texts = legend_texts(first.ax_)
    # The title names the score of the first; a curve with another one says so.
    assert title == "root CalibMSE"
    assert texts[0].startswith("one: 0.0")
    assert texts[1].startswith("two: 0.0")
    assert texts[2].startswith("three: Brier loss ")
    # Of several histograms only the outlines are seen.
    filled = [p for p in first.histogram_ax_.patches if p.get_fill()]
    assert len(filled) == 3
    assert not any(patch.get_visible() for patch in filled)


def test_the_histogram_stands_below_on_the_same_scale():
    drawn = draw()
    drawn.figure_.canvas.draw()
    above, below = drawn.ax_.get_position(), drawn.histogram_ax_.get_position()
    assert below.y1 <= above.y0
    assert_allclose([below.x0, below.x1], [above.x0, above.x1], rtol=1e-9)
    assert drawn.histogram_ax_.get_xlim() == drawn.ax_.get_xlim()
    assert drawn.histogram.sum() == 400


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_axes_of_a_grid_keep_their_cell(layout):
    figure, axes = plt.subplots(2, 2, sharex=True, layout=layout)
    cell = axes[0, 1].get_subplotspec()
    drawn = draw(ax=axes[0, 1])
    other = draw(ax=axes[1, 1])
    figure.canvas.draw()
    assert drawn.histogram_ax_ is not other.histogram_ax_
    for ax in (drawn.ax_, drawn.histogram_ax_):
        assert ax.get_subplotspec().get_topmost_subplotspec() == cell
    assert drawn.histogram_ax_.get_position().y0 > other.ax_.get_position().y1


def test_axes_placed_by_hand_are_divided():
    figure = plt.figure()
    ax = figure.add_axes([0.2, 0.1, 0.6, 0.8])
    drawn = draw(ax=ax)
    above, below = ax.get_position(), drawn.histogram_ax_.get_position()
    assert_allclose([below.y0, above.y1], [0.1, 0.9], rtol=1e-9)
    assert below.y1 < above.y0


def test_the_histogram_can_be_left_out_or_put_elsewhere():
    without = draw(histogram=False)
    assert without.histogram_ax_ is None
    assert len(without.figure_.axes) == 1
    assert without.ax_.get_xlabel() == "Confidence"
    figure, (above, below) = plt.subplots(2)
    drawn = draw(ax=above, histogram=below)
    assert drawn.histogram_ax_ is below
    assert len(figure.axes) == 2
    with pytest.raises(TypeError, match="histogram is of type str"):
        draw(histogram="below")


def test_a_histogram_that_was_removed_is_drawn_anew():
    first = draw()
    first.histogram_ax_.remove()
    second = draw(ax=first.ax_)
    assert second.histogram_ax_ in second.figure_.axes


def test_the_caller_rules_line_and_reference():
    drawn = draw(curve_kwargs={"color": "black", "ls": "--"}, ref_line=False)
    assert same_color(drawn.line_.get_color(), "black")
    assert drawn.line_.get_linestyle() == "--"
    assert drawn.ax_.get_lines()[:] == [drawn.line_]
    outline = drawn.histogram_ax_.patches[-1]
    assert same_color(outline.get_edgecolor(), "black")
    assert drawn.plot(name="other").line_.get_label().startswith("other: ")


def test_a_display_is_drawn_again_from_its_numbers():
    bins = calibration_bins([0, 1, 1, 1], [0.2, 0.4, 0.8, 0.9], bin_size=2)
    band = bins.accuracy - 0.1, bins.accuracy + 0.1
    drawn = ConfidenceCalibrationDisplay(bins, band=band, band_name="mine").plot()
    assert drawn.histogram_ax_ is None
    assert drawn.band_ is not None
    assert legend_texts(drawn.ax_)[1] == ["mine", "perfectly calibrated"]
    with pytest.raises(ValueError, match="sequences of one length"):
        ConfidenceCalibrationDisplay(bins, band=([0.1], [0.2])).plot()


def test_figures_survive_pickle():
    drawn = draw()
    figure = pickle.loads(pickle.dumps(drawn.figure_))
    again = draw(ax=figure.axes[0], name="after")
    assert len(figure.axes) == 2
    assert again.line_.get_color() != drawn.line_.get_color()


@pytest.mark.parametrize("strategy", ["adaptive", "isotonic"])
@pytest.mark.parametrize(
    ("confidence", "correct"),
    [
        ([0.5], [True]),
        ([0.7] * 9, [True] * 9),
        ([0.7] * 9, [False] * 9),
        ([0.0, 1.0, 1.0], [True, False, True]),
        ([[0.2, 0.4], [], [0.9]], [[True, False], [], [True]]),
    ],
)
def test_odd_data_are_drawn(strategy, correct, confidence):
    drawn = ConfidenceCalibrationDisplay.from_predictions(
        correct, confidence, strategy=strategy, **PLAIN
    )
    drawn.figure_.canvas.draw()
    assert np.isfinite(drawn.line_.get_xydata()).all()


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([], [], "no tokens"),
        ([[], []], [[], []], "no tokens"),
        ([0.1, np.nan], [True, True], "NaN"),
        ([0.1, 1.5], [True, True], r"is 1.5, which is not a probability.*'delta'"),
        ([0.1], [True, False], "1 tokens but correct has 2"),
    ],
)
def test_bad_data_are_refused_before_a_figure_is_made(correct, confidence, message):
    with pytest.raises(ValueError, match=message):
        ConfidenceCalibrationDisplay.from_predictions(correct, confidence)
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"band": "wide"}, "band is 'wide'"),
        ({"interval": "wide"}, "method is 'wide'"),
        ({"interval": "auto", "confidence_level": 95}, "confidence_level"),
        ({"score": "f1"}, "score is 'f1'; it must be None or one of root_calib"),
        ({"score": ["f1"]}, r"score is \['f1'\]; it must be None or one of"),
        ({"strategy": "fixed"}, "strategy"),
        ({"strategy": "isotonic", "n_bins": 3}, "isotonic"),
        ({"n_bins": 0, "strategy": "uniform"}, "n_bins"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_a_figure_is_made(
    options, message
):
    with pytest.raises(ValueError, match=message):
        draw(**options)
    assert not plt.get_fignums()


def test_a_method_without_probabilities_is_refused():
    estimator, X, y = model("cw")
    with pytest.raises(ValueError, match="not a probability"):
        ConfidenceCalibrationDisplay.from_estimator(estimator, X, y, method="delta")


def test_weights_are_one_per_sequence_or_one_per_word():
    estimator, X, y = model("cw")
    lengths = [len(row) for row in y]
    weight = np.arange(len(y)) % 3 + 1
    by_sequence, by_word, by_row = (
        ConfidenceCalibrationDisplay.from_estimator(
            estimator, X, y, sample_weight=given, **PLAIN
        )
        for given in (
            weight,
            np.repeat(weight, lengths),
            [[w] * n for w, n in zip(weight, lengths, strict=True)],
        )
    )
    assert by_sequence.bins.weight.sum() == weight @ lengths
    assert_array_equal(by_sequence.bins.accuracy, by_word.bins.accuracy)
    assert_array_equal(by_sequence.bins.accuracy, by_row.bins.accuracy)


def test_documents_may_be_the_groups_of_sequences():
    estimator, X, y = model("cw")
    document = np.arange(len(y)) // 5
    options = {"score": None, "n_resamples": 50}
    drawn = ConfidenceCalibrationDisplay.from_estimator(
        estimator, X, y, groups=document, **options
    )
    answers = confidence_pairs(estimator, X, y)
    again = ConfidenceCalibrationDisplay.from_predictions(
        *answers[:2], groups=document[answers.groups], **options
    )
    assert_array_equal(drawn.band, again.band)


@pytest.mark.parametrize("what", ["groups", "sample_weight"])
def test_groups_and_weights_of_something_else_are_refused(what):
    estimator, X, y = model("cw")
    with pytest.raises(ValueError, match=f"{what} has 2 entries; .* the 30 seq"):
        ConfidenceCalibrationDisplay.from_estimator(estimator, X, y, **{what: [1, 2]})


def test_a_single_sentence_is_drawn_without_an_interval():
    estimator, X, y = model("cw")
    longest = int(np.argmax([len(row) for row in y]))
    one = [X[longest]], [y[longest]]
    with pytest.raises(ValueError, match="one sentence"):
        ConfidenceCalibrationDisplay.from_estimator(estimator, *one)
    drawn = ConfidenceCalibrationDisplay.from_estimator(estimator, *one, interval=None)
    assert len(drawn.bins.count) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": 3}, "name is 3; it must be the name of the model"),
        ({"ax": 3}, "ax is of type int; it must be one Axes"),
        ({"histogram": 3}, "histogram is of type int; it must be one Axes"),
    ],
)
def test_names_and_axes_that_are_none_are_refused(options, message):
    with pytest.raises(TypeError, match=message):
        draw(**options)


@pytest.mark.parametrize("projection", ["3d", "polar"])
def test_axes_with_a_projection_are_refused(projection):
    figure = plt.figure()
    ax = figure.add_subplot(projection=projection)
    with pytest.raises(TypeError, match=f"ax has the projection .{projection}"):
        draw(ax=ax)


def test_options_of_the_confidence_are_a_dict():
    estimator, X, y = model("cw")
    with pytest.raises(TypeError, match="confidence_options is 3; it must be a dict"):
        ConfidenceCalibrationDisplay.from_estimator(
            estimator, X, y, confidence_options=3
        )
