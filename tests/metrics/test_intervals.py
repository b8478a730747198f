"""Intervals of scores: what they hold, how they behave, what they refuse."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import t as student

from skcw import metrics
from skcw.metrics._cores.table import SCORES
from skcw.metrics._intervals.resampling_checks import _NoBar
from skcw.metrics._weighted_pairs import check_pairs
from skcw.metrics.intervals import METHODS, score_interval
from tests.metrics.sentences import draw_words, raised, same, tempered

FAST = {"n_resamples": 60}
PUBLIC = [name for name in SCORES if hasattr(metrics, name)]
BINNED = [
    "calibration_mse",
    "root_calibration_mse",
    "confidence_rmse",
    "expected_calibration_error",
    "adaptive_calibration_error",
    "maximum_calibration_error",
]
SMOOTH = [name for name in SCORES if name not in BINNED and "miscal" not in name]


@pytest.fixture(scope="module")
def words():
    return draw_words(600, np.random.default_rng(1), tempered)


def prepared(name, words, **options):
    q, y, group = words
    return SCORES[name](check_pairs(q, y, groups=group), **options)


def interval(name, words, method="bootstrap", **options):
    core = prepared(name, words)
    return score_interval(core, core.pairs, method, **{**FAST, **options})


@cache
def population():
    return draw_words(200_000, np.random.default_rng(0))[0]


def truth_in_bins(name, truth, n):
    """Return the score of a large population with probabilities for outcomes."""
    q = population()
    options = {}
    if name == "calibration_mse":
        options = {"strategy": "quantile", "n_bins": n // int(np.sqrt(n))}
    pairs = check_pairs(q, np.zeros(len(q)))._replace(y=truth(q))
    return SCORES[name](pairs, **options).value()


def share_covered(name, truth, method, n_trials=40, n=1000):
    target = truth_in_bins(name, truth, n)
    held = []
    for trial in range(n_trials):
        sample = draw_words(n, np.random.default_rng([7, trial]), truth)
        low, high = interval(name, sample, method, random_state=trial, n_resamples=100)
        held.append(low <= target <= high)
    return np.mean(held)


# Of 40 intervals that hold the truth in 95 of 100 cases, fewer than 33 do so in one of
# a thousand; the seeds are fixed, so what passes once passes always.
LEAST_COVERED = 33 / 40


@pytest.mark.parametrize("name", ["calibration_mse", "expected_calibration_error"])
@pytest.mark.parametrize("truth", [same, tempered, raised])
def test_the_default_covers_errors_of_calibration(name, truth):
    assert share_covered(name, truth, "bootstrap") >= LEAST_COVERED


@pytest.mark.parametrize("method", ["normal", "percentile"])
def test_other_methods_never_cover_the_error_of_a_calibrated_model(method):
    assert share_covered("calibration_mse", same, method, n_trials=20) == 0


def test_the_default_covers_the_mean_of_clustered_losses():
    q = population()
    p = tempered(q)
    target = (p * (1 - q) ** 2 + (1 - p) * q**2).mean()
    held = []
    for trial in range(300):
        sample = draw_words(600, np.random.default_rng([8, trial]), tempered)
        low, high = interval("brier_score", sample)
        held.append(low <= target <= high)
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PUBLIC)
def test_every_score_has_an_interval_within_its_bounds(name, method, words):
    q, y, group = words
    score = getattr(metrics, name)
    if method == "normal" and name not in BINNED:
        with pytest.raises(ValueError, match="has no bins"):
            score(q, y, groups=group, interval=method)
        return
    found = score(q, y, groups=group, interval=method, **FAST)
    assert found.value == score(q, y)
    bottom, top = prepared(name, words).bounds
    assert bottom <= found.low < found.high <= top


@pytest.mark.parametrize(
    "decompose", [metrics.brier_decomposition, metrics.log_score_decomposition]
)
def test_every_part_of_a_proper_score_has_an_interval(decompose, words):
    q, y, group = words
    for part in decompose(q, y, groups=group, interval="bootstrap", **FAST):
        assert 0 <= part.low < part.high
    uncertainty = decompose(q, y, groups=group, interval="bootstrap", **FAST)[2]
    assert uncertainty.low < uncertainty.value < uncertainty.high


def test_a_class_wise_error_of_two_classes_has_the_interval_of_one(words):
    q, y, group = words
    table = np.column_stack([q, 1 - q])
    options = {"groups": group, "interval": "bootstrap", "n_resamples": 400}
    both = metrics.classwise_calibration_error(
        table, np.where(y, "right", "wrong"), classes=["right", "wrong"], **options
    )
    one = metrics.expected_calibration_error(q, y, **options)
    assert_allclose(both[1:], one[1:], rtol=0.1)
    for method in ("percentile", "normal"):
        found = metrics.classwise_calibration_error(
            table, y.astype(int), classes=[1, 0], interval=method, **FAST
        )
        assert 0 <= found.low < found.high


def test_some_classes_alone_have_an_interval():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), size=300)
    labels = np.array(["O", "PER", "LOC"])[rng.integers(3, size=300)]
    found = metrics.classwise_calibration_error(
        table,
        labels,
        classes=["O", "PER", "LOC"],
        labels=["PER", "LOC"],
        interval="bootstrap",
        **FAST,
    )
    assert 0 <= found.low < found.high < 1


@pytest.mark.parametrize("name", ["root_calibration_mse", "brier_miscalibration"])
@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
def test_the_same_seed_gives_the_same_bits(name, method, words):
    first = interval(name, words, method, random_state=3)
    assert first == interval(name, words, method, random_state=3)
    assert first != interval(name, words, method, random_state=4)


@pytest.mark.parametrize("name", ["expected_calibration_error", "log_score"])
def test_intervals_of_higher_levels_hold_those_of_lower_ones(name, words):
    narrow = interval(name, words, confidence_level=0.5, n_resamples=400)
    wide = interval(name, words, confidence_level=0.99, n_resamples=400)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("name", ["root_calibration_mse", "error_average_precision"])
def test_more_words_make_intervals_narrower(name):
    few = interval(name, draw_words(300, np.random.default_rng(0), tempered))
    many = interval(name, draw_words(6000, np.random.default_rng(0), tempered))
    assert many[1] - many[0] < 0.5 * (few[1] - few[0])


@pytest.mark.parametrize("name", ["brier_score", "expected_calibration_error"])
def test_sentences_make_intervals_wider(name):
    q, y, group = draw_words(3000, np.random.default_rng(2), tempered, shared=0.7)
    alone = interval(name, (q, y, None), n_resamples=400)
    together = interval(name, (q, y, group), n_resamples=400)
    assert together[1] - together[0] > 1.2 * (alone[1] - alone[0])


def test_the_interval_of_a_mean_is_students_on_the_logit_scale():
    q, y, _ = draw_words(200, np.random.default_rng(3))
    loss = (q - y) ** 2
    gap = loss - loss.mean()
    kurtosis = 200 * (gap**4).sum() / (gap**2).sum() ** 2
    quantile = student.ppf(0.975, 2 * 200 / (kurtosis - 1))
    half = quantile * loss.std(ddof=1) / np.sqrt(200)
    half /= loss.mean() * (1 - loss.mean())
    want = expit(logit(loss.mean()) + np.array([-half, half]))
    assert_allclose(interval("brier_score", (q, y, None)), want, rtol=1e-9)


def test_a_sentence_that_is_there_twice_counts_as_two_only_if_told_so(words):
    q, y, group = words
    twice = np.tile(q, 2), np.tile(y, 2)
    one = interval("brier_score", words)
    same_sentence = interval("brier_score", (*twice, np.tile(group, 2)))
    other_sentence = interval("brier_score", (*twice, np.append(group, group + 1000)))
    assert_allclose(same_sentence, one, rtol=1e-9)
    assert other_sentence[1] - other_sentence[0] < 0.75 * (one[1] - one[0])


@pytest.mark.parametrize("name", [*SMOOTH, "expected_calibration_error"])
def test_words_without_weight_leave_intervals_as_they_are(name, words):
    q, y, group = (each[:300] for each in words)
    weight = (np.arange(300) < 200).astype(float)
    weighted = SCORES[name](check_pairs(q, y, weight, group))
    fewer = SCORES[name](check_pairs(q[:200], y[:200], None, group[:200]))
    found = score_interval(weighted, weighted.pairs, n_resamples=300)
    want = score_interval(fewer, fewer.pairs, n_resamples=300)
    # Scores that draw outcomes do so for the words without weight as well.
    assert_allclose(found, want, rtol=0.35)
    if name in ("brier_score", "log_score", "error_average_precision"):
        assert_allclose(found, want, rtol=1e-2)


def test_thesis_interval_is_that_of_bins_with_drawn_accuracies(words):
    core = prepared("calibration_mse", words)
    low, high = score_interval(core, core.pairs, "normal", n_resamples=20_000)
    mass, _, right = core.binning.sums(core.pairs.weight)
    p = right / mass
    # The mean of (q - p*)^2 is (q - p)^2 + p (1 - p) / n.
    want = core.value() + (mass * p * (1 - p) / mass).sum() / mass.sum()
    assert_allclose((low + high) / 2, want, rtol=0.01)
    gap = core.binning.sums(core.pairs.weight).claimed / mass - p
    variance = p * (1 - p) / mass
    spread = 4 * gap**2 * variance + 2 * variance**2
    deviation = np.sqrt(((mass / mass.sum()) ** 2 * spread).sum())
    assert_allclose((high - low) / 2, 1.959964 * deviation, rtol=0.03)


DEGENERATE = {
    "all right and certain": (np.ones(40), np.ones(40)),
    "all wrong and certain": (np.ones(40), np.zeros(40)),
    "all confidences equal": (np.full(40, 0.5), np.arange(40) % 2),
    "certain and right": (np.arange(40) % 2, np.arange(40) % 2),
    "one class only": (np.linspace(0.1, 0.9, 40), np.ones(40)),
    "two words": (np.array([0.2, 0.8]), np.array([0, 1])),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("name", SCORES)
def test_intervals_of_strange_words_are_finite_and_in_order(name, case):
    q, y = DEGENERATE[case]
    for method in ("bootstrap", "percentile"):
        low, high = interval(name, (q, y, None), method, n_resamples=20)
        bottom, top = prepared(name, (q, y, None)).bounds
        assert bottom <= low <= high <= top


def test_no_error_seen_is_no_proof_that_there_is_none():
    q, y = DEGENERATE["all right and certain"]
    for name in ("expected_calibration_error", "brier_score"):
        low, high = interval(name, (q, y, None), n_resamples=400)
        # (1 - p)^40 is between a tenth and one in a hundred for such p.
        assert low == 0
        assert 0.04 < high < 0.12
    assert interval("error_average_precision", (q, y, None)) == (0.0, 1.0)


def test_a_calibrated_model_has_zero_as_its_lower_end():
    sample = draw_words(2000, np.random.default_rng(0))
    score = prepared("root_calibration_mse", sample).value()
    low, high = interval("root_calibration_mse", sample, n_resamples=200)
    assert low == 0.0
    assert high < score


def test_bad_settings_are_named(words):
    core = prepared("brier_score", words)
    with pytest.raises(ValueError, match="'bca'; there are 'bootstrap'"):
        score_interval(core, core.pairs, "bca")
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match="between 0 and 1"):
            score_interval(core, core.pairs, confidence_level=level)
    with pytest.raises(TypeError, match="must be a number"):
        score_interval(core, core.pairs, confidence_level="high")
    with pytest.raises(ValueError, match="at least 20"):
        score_interval(core, core.pairs, n_resamples=5)
    with pytest.raises(TypeError, match="whole number"):
        score_interval(core, core.pairs, n_resamples=100.0)


def test_one_sentence_is_refused(words):
    q, y, _ = words
    with pytest.raises(ValueError, match="all words are of one sentence"):
        metrics.brier_score(q, y, groups=np.zeros(len(q)), interval="bootstrap")
    found = metrics.calibration_mse(q, y, groups=np.zeros(len(q)), interval="normal")
    assert found.low < found.high


@pytest.mark.parametrize(
    "name", ["calibration_mse", "expected_calibration_error", "brier_score"]
)
@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
def test_a_bar_is_never_told_of_more_resamples_than_it_expects(
    name, method, words, monkeypatch
):
    told = []

    class Bar(_NoBar):
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
