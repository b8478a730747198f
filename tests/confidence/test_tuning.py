"""Units of a model, values to try, and the choice among them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw import CWSequenceTagger
from skcw._model.gaussian import Belief
from skcw.confidence.fitting import (
    METRICS,
    N_BEST_VALUES,
    Trial,
    _lowest,
    best_of,
    grid_of,
    marginal_loss,
    scores_of,
)
from skcw.confidence.methods import METHODS
from skcw.confidence.settings import (
    ModelConfidence,
    Settings,
    check_count,
    check_positive,
    scale_unit,
)
from skcw.datasets import make_tagged_corpus
from skcw.metrics import error_average_precision, log_loss, root_calibration_mse
from tests.confidence.lattices import small_problem

# Single precision, and sums in another order.
ROUNDING = 1e-6
TUNED = [(name, p) for name, method in METHODS.items() for p in method.tunes]


def test_the_unit_of_the_scale_is_the_mean_square_over_the_prior():
    belief = Belief.start(3, 2, initial_variance=4.0)
    assert scale_unit(belief, unit_variance=True) == 1.0  # no weights yet
    belief = Belief.start(3, 2, initial_variance=4.0)
    belief.average[[0, 1]] = 2.0, -4.0
    assert scale_unit(belief) == 2.5
    assert scale_unit(belief, unit_variance=True) == 10.0


def test_the_unit_of_fixed_draws_is_the_mean_square_of_the_weights():
    belief = Belief.start(3, 2)
    belief.average[[0, 1, -1]] = 1.0, -3.0, 2.0
    assert_allclose(belief.mean_square, 14 / 3, rtol=1e-6)
    assert scale_unit(belief) == belief.mean_square


def test_the_unit_is_computed_once_per_fitted_model(monkeypatch):
    X, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    computed = []
    compute = Belief.mean_square.func

    def counting(belief):
        computed.append(belief)
        return compute(belief)

    monkeypatch.setattr(Belief.mean_square, "func", counting)
    tagger = CWSequenceTagger(random_state=0, calibrate_confidence=False).fit(X, y)

    def ask(asked):
        return [
            np.concatenate(asked.predict_confidence(X, method=method, n_draws=8))
            for method in ("kd-pc", "kd-fixed", "kd-pc", "blend")
        ]

    before = ask(tagger)
    assert computed == [tagger.belief_]
    # It stays behind where a model goes, and goes with the weights that it is of.
    copy = pickle.loads(pickle.dumps(tagger))
    assert "mean_square" not in vars(copy.belief_)
    assert_array_equal(ask(copy), before)
    for change in (lambda: tagger.partial_fit(X, y), lambda: tagger.prune(0.5)):
        change()
        computed.clear()
        ask(tagger)
        assert computed.count(tagger.belief_) <= 1
        assert tagger.belief_.mean_square == compute(tagger.belief_)


@pytest.mark.parametrize("unit_variance", [False, True])
@pytest.mark.parametrize("n_values", [1, 2, 20])
def test_values_to_try_lie_around_the_usual_one(unit_variance, n_values):
    usual = ModelConfidence(Belief.start(3, 2)).usual(
        METHODS["kd-fixed" if unit_variance else "kd-pc"]
    )
    for parameter in ("variance_scale", "temperature"):
        grid = grid_of(parameter, n_values, unit_variance)
        assert len(grid) == n_values and (np.diff(grid) > 0).all()
        if n_values > 1:
            assert grid[0] < usual[parameter] < grid[-1]
    assert_array_equal(grid_of("n_best", n_values), N_BEST_VALUES)


def test_of_equally_good_values_the_usual_one_is_nearest():
    grid = np.array([0.1, 1.0, 10.0, 100.0])
    assert best_of(grid, np.array([0.0, 2.0, 1.0, 0.0]), usual=100.0) == 1.0
    assert best_of(grid, np.zeros(4), usual=8.0) == 10.0
    assert best_of(grid, np.array([1.0, 0.0, 0.0, 1.0]), usual=1.0) == 0.1


@pytest.mark.parametrize(("name", "parameter"), TUNED)
@pytest.mark.parametrize("metric", METRICS)
def test_scores_are_those_of_the_method_with_each_value(name, parameter, metric):
    decoder, batch, codes = small_problem()
    correct = np.random.default_rng(0).random(len(codes)) < 0.7
    settings = Settings(0.3, 0.6, n_draws=9)
    scored = decoder.open(batch)
    model = ModelConfidence(decoder.belief, margin=1.5)
    grid = np.array([2, 5]) if parameter == "n_best" else np.array([0.2, 2.0])
    trial = Trial(model, scored, codes, correct)
    found = scores_of(name, parameter, grid, trial, metric, settings)
    # What is put together from others is tuned part by part.
    parts = {
        ("blend", "temperature"): "marginal",
        ("blend", "variance_scale"): "kd-pc",
        ("draw-marginal", "temperature"): "marginal",
        ("noisy-marginal", "temperature"): "marginal",
    }
    method = METHODS[parts.get((name, parameter), name)]
    unit = model.unit(parameter, METHODS[name])
    for value, score in zip(grid, found, strict=True):
        value = int(value) if parameter == "n_best" else value * unit
        one = settings._replace(**{parameter: value})
        confidence = method.compute(scored, codes, one)
        assert_allclose(score, METRICS[metric](correct, confidence), rtol=1e-12)


def test_all_metrics_are_better_when_larger():
    correct = np.array([True, True, False, True])
    good, bad = np.array([0.9, 0.8, 0.1, 0.9]), np.array([0.2, 0.8, 0.9, 0.5])
    for metric in METRICS.values():
        assert metric(correct, good) > metric(correct, bad)
        # Certainty that is wrong costs much, but not infinitely much.
        assert np.isfinite(metric(correct, np.array([1.0, 1.0, 1.0, 0.0])))
    assert METRICS["error_average_precision"](correct, bad) == error_average_precision(
        correct, bad
    )
    rmse = root_calibration_mse(correct, bad)
    assert METRICS["root_calibration_mse"](correct, bad) == -rmse
    loss = log_loss(correct, [0.2, 1.0, 1.0, 0.0], clip=1e-4)
    assert_allclose(METRICS["log_loss"](correct, [0.2, 1, 1, 0]), -loss, rtol=1e-12)


def test_settings_are_values_in_units_of_the_model():
    belief = Belief.start(3, 2, initial_variance=4.0)
    model = ModelConfidence(belief, margin=6.0)
    values = {"variance_scale": 0.5, "temperature": 2.0}
    found = model.settings("blend", **values, n_draws=7, random_state=1)
    assert found == Settings(0.125, 12.0, n_draws=7, seed=1)
    found = model.settings("kbv", n_best=5.0).n_best
    assert found == 5 and type(found) is int
    assert model.unit("temperature", METHODS["marginal"]) == 6.0
    assert model.unit("n_best", METHODS["kbv"]) == 1.0


@pytest.mark.parametrize("value", [0, -1, 1.5, np.nan, np.inf, "3", None, [3], 1 + 0j])
def test_a_count_is_a_positive_whole_number(value):
    with pytest.raises(ValueError, match="n_best must be a positive integer, got"):
        check_count("n_best", value)


@pytest.mark.parametrize(
    "value", [0, -1.0, np.nan, np.inf, 1e31, 1e-31, "3", None, [3], 1 + 0j]
)
def test_a_scale_is_a_positive_number(value):
    with pytest.raises(
        ValueError, match="variance_scale must be a positive number from"
    ):
        check_positive("variance_scale", value)


@pytest.mark.parametrize("value", [1, 3.0, np.int64(2), np.float32(4), True])
def test_numbers_of_every_type_are_numbers(value):
    check_count("n_best", value)
    check_positive("variance_scale", value)


def test_noise_has_the_unit_of_the_temperature():
    belief = Belief.start(3, 2, initial_variance=4.0)
    model = ModelConfidence(belief, margin=6.0)
    values = {"variance_scale": 0.5, "temperature": 2.0}
    found = model.settings("noisy-marginal", **values)
    assert found[:2] == (0.5, 12.0)


def test_the_lowest_point_of_a_parabola_is_found():
    temperatures = np.array([0.5, 0.7, 1.0])

    def lowest(losses):
        return _lowest(dict(zip(temperatures, losses, strict=True)))

    losses = 0.2 + 3.0 * (np.log(temperatures) - np.log(0.65)) ** 2
    assert_allclose(lowest(losses), 0.65)
    # Far away it is not believed, and where it has no lowest point neither.
    falling = 0.2 + (np.log(temperatures) - np.log(50.0)) ** 2
    assert 1.0 < lowest(falling) < 1.4
    assert lowest(-losses) == pytest.approx(1.0)


def test_a_loss_is_that_of_all_trials_together():
    decoder, batch, codes = small_problem()
    correct = np.random.default_rng(0).random(len(codes)) < 0.7
    model = ModelConfidence(decoder.belief)
    cut = len(batch) // 2
    words = int(batch.offsets[cut])
    whole = Trial(model, decoder.open(batch), codes, correct)
    parts = [
        Trial(model, decoder.open(batch[:cut]), codes[:words], correct[:words]),
        Trial(model, decoder.open(batch[cut:]), codes[words:], correct[words:]),
    ]
    assert_allclose(marginal_loss(parts, 0.5), marginal_loss([whole], 0.5))
