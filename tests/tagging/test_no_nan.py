"""Numbers near the ends of their range: refused with advice, or without NaN."""

import numpy as np
import pytest

from skcw import CWSequenceTagger, HMMSequenceTagger
from skcw.calibration import (
    BetaCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
    TemperatureCalibrator,
)
from skcw.tagging import CRFSequenceTagger, MaxEntSequenceTagger

X = [["a", "b"], ["c", "a"], ["b", "b"]] * 2
Y = [["x", "y"], ["y", "x"], ["x", "x"]] * 2
TAGGERS = [CWSequenceTagger, HMMSequenceTagger, MaxEntSequenceTagger, CRFSequenceTagger]
every_tagger = pytest.mark.parametrize("Tagger", TAGGERS)


def numbers(value):
    """Return sequences of two columns, one of which holds a value."""
    return [np.array([[value, 1.0], [1.0, value]])] * 4, [["x", "y"]] * 4


@every_tagger
@pytest.mark.parametrize("weight", [1e-300, 1e-310, 5e-324])
def test_weights_that_vanish_are_refused_with_advice(Tagger, weight):
    with pytest.raises(ValueError, match="at least 1e-20: scale them"):
        Tagger().fit(X, Y, sample_weight=[weight] * len(X))


@pytest.mark.parametrize("unseen", ["spelling", "vocabulary", "prior"])
@pytest.mark.parametrize("weight", [1e-20, 1e-10, 1e6])
def test_the_smallest_and_largest_weights_give_no_nan(unseen, weight):
    tagger = HMMSequenceTagger(unseen).fit(X, Y, sample_weight=[weight] * len(X))
    assert np.isfinite(tagger.coef_).all()
    assert np.isfinite(tagger.predict_all([["a", "new"]]).label_table()).all()


@every_tagger
@pytest.mark.parametrize("value", [1e308, 1e200, 1e155, -1e308])
def test_values_that_overflow_are_refused_by_place(Tagger, value):
    with pytest.raises(ValueError, match="sequence 0, token 0 has the feature value"):
        Tagger().fit(*numbers(value))
    tagger = Tagger().fit(*numbers(2.0))
    with pytest.raises(ValueError, match="sequence 1, token 0 has"):
        tagger.predict_marginals(numbers(1.0)[0][:1] + numbers(value)[0][:1])


@every_tagger
@pytest.mark.parametrize("value", [1e10, 1e18, 1e-10])
def test_values_of_any_usable_size_give_no_nan(Tagger, value):
    tagger = Tagger().fit(*numbers(2.0))
    answers = tagger.predict_all(numbers(value)[0])
    assert np.isfinite(answers.label_table()).all()
    assert np.isfinite(np.concatenate(answers.confidence())).all()


def test_scores_that_overflow_name_the_sequence():
    # Each value and each weight is usable, but not their product in single precision.
    tagger = CWSequenceTagger(random_state=0).fit(*numbers(3.0))
    tagger.belief_.average[:] *= 1e15
    asked = [numbers(1.0)[0][0], numbers(1e17)[0][0]]
    with pytest.raises(ValueError, match="sequence 1, token 0 has feature values so"):
        tagger.predict(asked)


@pytest.mark.parametrize("value", [1e-310, 1e-21, 1e21])
def test_counts_that_vanish_or_overflow_are_refused(value):
    with pytest.raises(ValueError, match="0 or from 1e-20 to 1e"):
        HMMSequenceTagger().fit(*numbers(value))


@pytest.mark.parametrize(
    "Map",
    [BetaCalibrator, SigmoidCalibrator, TemperatureCalibrator, IsotonicCalibrator],
)
def test_maps_learn_nothing_from_weights_that_vanish(Map):
    sure = np.linspace(0.05, 0.95, 19)
    right = np.arange(19) % 3 > 0
    for weight in (1e-320, 1e-300, 1e21):
        with pytest.raises(ValueError, match="scale"):
            Map().fit(right, sure, sample_weight=np.full(19, weight))
    for weight in (1e-20, 1e20):
        fitted = Map().fit(right, sure, sample_weight=np.full(19, weight))
        assert np.isfinite(fitted(sure)).all()


@every_tagger
def test_a_million_jobs_are_as_many_as_there_is_work_for(Tagger):
    seeded = "random_state" in Tagger().get_params()
    given = {"random_state": 0} if seeded else {}
    one = Tagger(**given).fit(X, Y).predict_confidence(X)
    many = Tagger(n_jobs=10**6, **given).fit(X, Y).predict_confidence(X)
    np.testing.assert_array_equal(np.concatenate(one), np.concatenate(many))
