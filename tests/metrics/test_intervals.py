"""Intervals of scores: what they hold, how they behave, what they refuse."""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import t as student

from skcw import metrics
from skcw.metrics import score_interval
from skcw.metrics.score import SCORES, make_score
from tests.metrics.sentences import (
    draw_words,
    is_as_promised,
    raised,
    same,
    tempered,
)

FAST = {"n_resamples": 60}
CENTERED = {"strategy": "uniform", "claim": "center"}
NAMES = [name for name in SCORES if name != "classwise_calibration_error"]
METHODS = {name: SCORES[name][0].interval_methods for name in NAMES}


@pytest.fixture(scope="module")
def words():
    return draw_words(600, np.random.default_rng(1), tempered)


def prepared(name, words, **options):
    y, q, group = words
    return make_score(name, y, q, groups=group, **options)


def interval(name, words, method="auto", **options):
    y, q, group = words
    options = {**FAST, **options}
    return score_interval(name, y, q, groups=group, method=method, **options)[1:]


@cache
def population():
    return draw_words(200_000, np.random.default_rng(0))[1]


def truth_in_bins(name, truth, n):
    """Return the score of a large population with probabilities for outcomes."""
    q = population()
    options = {}
    if name == "calibration_mse":
        options = {"strategy": "quantile", "n_bins": n // int(np.sqrt(n))}
    score = make_score(name, np.zeros(len(q)), q)
    return type(score)(score.pairs._replace(y=truth(q)), **options).value()


def trials(name, truth, n_trials=40, n=1000):
    target = truth_in_bins(name, truth, n)
    held = []
    for trial in range(n_trials):
        sample = draw_words(n, np.random.default_rng([7, trial]), truth)
        low, high = interval(name, sample, random_state=trial, n_resamples=100)
        held.append(low <= target <= high)
    return held


@pytest.mark.parametrize("name", ["calibration_mse", "expected_calibration_error"])
@pytest.mark.parametrize("truth", [same, tempered, raised])
def test_the_default_covers_errors_of_calibration(name, truth):
    assert is_as_promised(trials(name, truth))


def test_the_default_covers_the_mean_of_clustered_losses():
    q = population()
    p = tempered(q)
    target = (p * (1 - q) ** 2 + (1 - p) * q**2).mean()
    held = []
    for trial in range(300):
        sample = draw_words(600, np.random.default_rng([8, trial]), tempered)
        low, high = interval("brier_loss", sample)
        held.append(low <= target <= high)
    assert is_as_promised(held)


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name in NAMES for method in METHODS[name]]
)
def test_every_score_has_an_interval_within_its_bounds(name, method, words):
    y, q, group = words
    found = score_interval(name, y, q, groups=group, method=method, **FAST)
    score = prepared(name, words)
    assert found.value == score.value()
    bottom, top = score.bounds
    assert bottom <= found.low < found.high <= top


@pytest.mark.parametrize("name", NAMES)
def test_the_usual_method_is_the_first_that_covers(name, words):
    assert interval(name, words) == interval(name, words, METHODS[name][0])


@pytest.mark.parametrize("name", NAMES)
def test_methods_that_do_not_cover_are_not_offered(name, words):
    for method in {"inversion", "sandwich", "bootstrap"} - set(METHODS[name]):
        with pytest.raises(ValueError, match=f"{method}.* not known to cover {name}"):
            interval(name, words, method)


def test_the_interval_of_uncertainty_holds_it(words):
    for name in ("brier_uncertainty", "log_loss_uncertainty"):
        low, high = interval(name, words)
        assert low < prepared(name, words).value() < high


def test_a_score_may_be_named_or_given(words):
    y, q, group = words
    by_name = score_interval("root_calibration_mse", y, q, groups=group, **FAST)
    given = score_interval(metrics.root_calibration_mse, y, q, groups=group, **FAST)
    assert by_name == given
    with pytest.raises(ValueError, match=r"score is 'accuracy'; it must be one of"):
        score_interval("accuracy", y, q)


def test_options_of_the_score_reach_it(words):
    y, q, _ = words
    found = score_interval("root_calibration_mse", y, q, **CENTERED, **FAST)
    assert found.value == metrics.root_calibration_mse(y, q, **CENTERED)


def test_a_class_wise_error_of_two_classes_has_the_interval_of_one(words):
    y, q, group = words
    table = np.column_stack([q, 1 - q])
    options = {"groups": group, "n_resamples": 400}
    both = score_interval(
        "classwise_calibration_error",
        np.where(y, "right", "wrong"),
        table,
        classes=["right", "wrong"],
        **options,
    )
    one = score_interval("expected_calibration_error", y, q, **options)
    assert_allclose(both[1:], one[1:], rtol=0.1)


def test_some_classes_alone_have_an_interval():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), size=300)
    labels = np.array(["O", "PER", "LOC"])[rng.integers(3, size=300)]
    found = score_interval(
        metrics.classwise_calibration_error,
        labels,
        table,
        classes=["O", "PER", "LOC"],
        labels=["PER", "LOC"],
        **FAST,
    )
    assert 0 <= found.low < found.high < 1


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("root_calibration_mse", "inversion"),
        ("brier_miscalibration", "inversion"),
        ("brier_loss", "bootstrap"),
        ("area_under_risk_coverage", "bootstrap"),
    ],
)
def test_the_same_seed_gives_the_same_bits(name, method, words):
    first = interval(name, words, method, random_state=3)
    assert first == interval(name, words, method, random_state=3)
    assert first != interval(name, words, method, random_state=4)


@pytest.mark.parametrize("name", ["expected_calibration_error", "log_loss"])
def test_intervals_of_higher_levels_hold_those_of_lower_ones(name, words):
    narrow = interval(name, words, confidence_level=0.5, n_resamples=400)
    wide = interval(name, words, confidence_level=0.99, n_resamples=400)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("name", ["root_calibration_mse", "error_average_precision"])
def test_more_words_make_intervals_narrower(name):
    few = interval(name, draw_words(300, np.random.default_rng(0), tempered))
    many = interval(name, draw_words(6000, np.random.default_rng(0), tempered))
    assert many[1] - many[0] < 0.5 * (few[1] - few[0])


@pytest.mark.parametrize("name", ["brier_loss", "expected_calibration_error"])
def test_sentences_make_intervals_wider(name):
    y, q, group = draw_words(3000, np.random.default_rng(2), tempered, shared=0.7)
    alone = interval(name, (y, q, None), n_resamples=400)
    together = interval(name, (y, q, group), n_resamples=400)
    assert together[1] - together[0] > 1.2 * (alone[1] - alone[0])


def test_the_interval_of_a_mean_is_students_on_the_logit_scale():
    y, q, _ = draw_words(200, np.random.default_rng(3))
    loss = (q - y) ** 2
    gap = loss - loss.mean()
    kurtosis = 200 * (gap**4).sum() / (gap**2).sum() ** 2
    quantile = student.ppf(0.975, 2 * 200 / (kurtosis - 1))
    half = quantile * loss.std(ddof=1) / np.sqrt(200)
    half /= loss.mean() * (1 - loss.mean())
    want = expit(logit(loss.mean()) + np.array([-half, half]))
    assert_allclose(interval("brier_loss", (y, q, None)), want, rtol=1e-9)


def test_a_sentence_that_is_there_twice_counts_as_two_only_if_told_so(words):
    y, q, group = words
    twice = np.tile(y, 2), np.tile(q, 2)
    one = interval("brier_loss", words)
    same_sentence = interval("brier_loss", (*twice, np.tile(group, 2)))
    other_sentence = interval("brier_loss", (*twice, np.append(group, group + 1000)))
    assert_allclose(same_sentence, one, rtol=1e-9)
    assert other_sentence[1] - other_sentence[0] < 0.75 * (one[1] - one[0])


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name in NAMES for method in METHODS[name]]
)
def test_words_without_weight_leave_intervals_as_they_are(name, method, words):
    y, q, group = (each[:300] for each in words)
    # Whole sentences, and one of every three words of the others.
    counts = (group % 4 != 1) & (np.arange(300) % 3 != 0)
    options = {"method": method, "n_resamples": 40}
    weight = 2.0 * counts
    found = score_interval(name, y, q, sample_weight=weight, groups=group, **options)
    kept = y[counts], q[counts]
    want = score_interval(
        name, *kept, sample_weight=weight[counts], groups=group[counts], **options
    )
    assert found == want


DEGENERATE = {
    "all right and certain": (np.ones(40), np.ones(40)),
    "all wrong and certain": (np.zeros(40), np.ones(40)),
    "all confidences equal": (np.arange(40) % 2, np.full(40, 0.5)),
    "certain and right": (np.arange(40) % 2, np.arange(40) % 2),
    "one class only": (np.ones(40), np.linspace(0.1, 0.9, 40)),
    "two words": (np.array([0, 1]), np.array([0.2, 0.8])),
}


@pytest.mark.parametrize("name", NAMES)
def test_intervals_of_strange_words_are_finite_and_in_order(name):
    for case, (y, q) in DEGENERATE.items():
        bottom, top = prepared(name, (y, q, None)).bounds
        for method in METHODS[name]:
            low, high = interval(name, (y, q, None), method, n_resamples=20)
            assert bottom <= low <= high <= top, (case, method)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_no_error_seen_is_no_proof_that_there_is_none(level):
    y, q = DEGENERATE["all right and certain"]
    options = {"confidence_level": level}
    # Both tails count: forty words are all right in (1 - level) / 2 of all cases.
    low, high = interval("brier_loss", (y, q, None), **options)
    assert low == 0
    assert_allclose((1 - high) ** 40, (1 - level) / 2, rtol=1e-9)
    low, high = interval("brier_loss", (1 - y, q, None), **options)
    assert high == 1
    assert_allclose(low**40, (1 - level) / 2, rtol=1e-9)
    assert interval("error_average_precision", (y, q, None), **options) == (0.0, 1.0)


def test_no_error_seen_bounds_an_error_of_calibration():
    y, q = DEGENERATE["all right and certain"]
    n_resamples = 4000
    low, high = interval(
        "expected_calibration_error", (y, q, None), n_resamples=n_resamples
    )
    assert low == 0
    # Draws without an error are ties, which count half: half of (1 - p)^40 is 0.025.
    # Four standard errors of that share of draws: chance fails in one of 16,000 seeds.
    share = 0.05
    off = 4 * np.sqrt(share * (1 - share) / n_resamples)
    assert share - off < (1 - high) ** 40 < share + off


def test_a_calibrated_model_has_zero_as_its_lower_end():
    sample = draw_words(2000, np.random.default_rng(0))
    score = prepared("root_calibration_mse", sample).value()
    low, high = interval("root_calibration_mse", sample, n_resamples=200)
    assert low == 0.0
    assert high < score


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "bca"}, ValueError, "'bca'; it must be one of 'auto', 'inversion'"),
        ({"confidence_level": 0}, ValueError, "between 0 and 1"),
        ({"confidence_level": 1}, ValueError, "between 0 and 1"),
        ({"confidence_level": 95}, ValueError, "between 0 and 1"),
        ({"confidence_level": "high"}, TypeError, "must be a number"),
        ({"n_resamples": 5}, ValueError, "at least 20"),
        ({"n_resamples": 100.0}, TypeError, "whole number"),
    ],
)
def test_bad_settings_are_named(words, options, error, message):
    with pytest.raises(error, match=message):
        interval("brier_loss", words, **options)


def test_one_sentence_is_refused(words):
    y, q, _ = words
    for name in ("brier_loss", "calibration_mse"):
        with pytest.raises(ValueError, match="all tokens are of one sentence"):
            interval(name, (y, q, np.zeros(len(q))))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("calibration_mse", "inversion"),
        ("expected_calibration_error", "inversion"),
        ("brier_loss", "sandwich"),
        ("brier_loss", "bootstrap"),
    ],
)
def test_a_bar_is_never_told_of_more_resamples_than_it_expects(
    name, method, words, monkeypatch
):
    told = []

    class Bar(nullcontext):
        def __enter__(self):
            return self

        def update(self, n):
            told.append(n)

    def bar(progress, n_resamples):
        told.append(-n_resamples)
        return Bar()

    monkeypatch.setattr("skcw.metrics.intervals.progress_bar", bar)
    interval(name, words, method)
    assert sum(told) <= 0 and (len(told) == 1 or sum(told) == 0)


def test_progress_is_shown_when_asked_for(words, capsys):
    interval("calibration_mse", words, progress=True)
    assert "resamples" in capsys.readouterr().err
    interval("calibration_mse", words)
    assert capsys.readouterr().err == ""
