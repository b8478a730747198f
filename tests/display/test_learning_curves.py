"""Learning curves: what is drawn is what a study says."""

import numpy as np
import pytest

from skcw.active.simulation import Study
from skcw.display import LearningCurveDisplay
from tests.active.problems import records


@pytest.fixture
def study():
    more = [{**r, "strategy": "t"} for r in records([0.4, 0.5, 0.6])]
    own = [*records([0.5, 0.7, 0.8]), *records([0.3, 0.5, 0.9], 1)]
    return Study([*own, *more], ["s", "t"])


def test_every_strategy_has_a_curve_with_its_band(study):
    displays = LearningCurveDisplay.from_study(study, score_name="F1")
    ax = displays[0].ax_
    assert all(display.ax_ is ax for display in displays)
    first = displays[0]
    np.testing.assert_allclose(first.line_.get_xdata(), [100, 200, 300])
    np.testing.assert_allclose(first.line_.get_ydata(), [0.4, 0.6, 0.85])
    edges = first.band_.get_paths()[0].vertices
    assert edges[:, 1].min() == pytest.approx(0.3)
    assert edges[:, 1].max() == pytest.approx(0.9)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("words labeled", "F1")
    # From nothing to a little more than the longest curve.
    assert ax.get_xlim() == (0, 306)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["s", "t"]


def test_the_cost_may_be_items_and_the_band_left_out(study):
    (display,) = LearningCurveDisplay.from_study(
        study, by="n_labels", names=["t"], band=False, curve_kwargs={"color": "black"}
    )
    assert display.band_ is None
    assert display.line_.get_xdata().tolist() == [1, 2, 3]
    assert display.line_.get_color() == "black"
    assert display.ax_.get_xlabel() == "items labeled"


def test_bad_options_draw_nothing(study):
    import matplotlib.pyplot as plt

    with pytest.raises(ValueError, match="by is 'money'"):
        LearningCurveDisplay.from_study(study, by="money")
    with pytest.raises(ValueError, match="unknown strategy 'no'"):
        LearningCurveDisplay.from_study(study, names=["no"])
    assert not plt.get_fignums()
