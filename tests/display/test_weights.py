"""Pictures of weights, transitions and decisions."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skcw import CWSequenceTagger, MaxEntSequenceTagger, PerceptronSequenceTagger
from skcw.display import TransitionsDisplay, WeightsDisplay

X = [["Ann", "met", "Bob"], ["Bob", "left"]]
Y = [["P", "O", "P"], ["P", "O"]]


@pytest.fixture
def tagger():
    return CWSequenceTagger(random_state=0).fit(X, Y)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_bars_are_the_weights_of_the_label(tagger):
    display = WeightsDisplay.from_estimator(tagger, "P", top=2)
    widths = [bar.get_width() for bar in display.bars_]
    weights = {
        name: w for (name, label), w in tagger.state_features_.items() if label == "P"
    }
    assert widths == [weights[name] for name in display.names]
    assert widths == sorted(widths, reverse=True) and widths[0] > 0 > widths[-1]
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert shown == display.names
    # The first name is on top.
    assert display.ax_.yaxis_inverted()
    assert repr(display) == "<WeightsDisplay: label P, 4 weights>"


def test_deviations_are_drawn_if_asked_for_and_known(tagger):
    display = WeightsDisplay.from_estimator(tagger, "P", deviations=True)
    assert display.bars_.errorbar is not None and "std" in display.ax_.get_xlabel()
    assert display.plot().bars_.errorbar is None
    plain = PerceptronSequenceTagger(random_state=0).fit(X, Y)
    display = WeightsDisplay.from_estimator(plain, "P", deviations=True)
    assert display.stds is None and display.bars_.errorbar is None


def test_a_decision_is_drawn_with_its_largest_parts(tagger):
    explained = tagger.explain(["Ann", "left"])[0]
    display = WeightsDisplay.from_explanation(explained, token="Ann", top=2)
    parts = explained.contributions[:2]
    assert display.names == [part.feature for part in parts]
    assert_array_equal(display.weights, [part.value for part in parts])
    assert display.ax_.get_title() == "Ann: P rather than O"


def test_long_names_are_cut_in_the_picture_alone():
    name = "x" * 100
    display = WeightsDisplay([name], np.ones(1)).plot()
    (shown,) = (text.get_text() for text in display.ax_.get_yticklabels())
    assert len(shown) == 40 and shown.endswith("…") and display.names == [name]


def test_transitions_are_those_of_the_tagger(tagger):
    display = TransitionsDisplay.from_estimator(tagger)
    assert_array_equal(display.image_.get_array(), tagger.transition_coef_)
    low, high = display.image_.get_clim()
    assert low == -high == -np.abs(tagger.transition_coef_).max()
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["P", "O"]
    assert repr(display) == "<TransitionsDisplay: 2 labels>"
    _, ax = plt.subplots()
    assert display.plot(ax, colorbar=False).ax_ is ax


def test_what_cannot_be_drawn_is_refused(tagger):
    with pytest.raises(ValueError, match="no label 'Q'; it has P, O"):
        WeightsDisplay.from_estimator(tagger, "Q")
    with pytest.raises(ValueError, match="sequences of one length"):
        WeightsDisplay(["a"], np.ones(2)).plot()
    with pytest.raises(AttributeError, match="transition_coef_"):
        TransitionsDisplay.from_estimator(MaxEntSequenceTagger().fit(X, Y))
    with pytest.raises(TypeError, match="ax is of type int"):
        TransitionsDisplay(["a"], np.zeros((1, 1))).plot(3)
