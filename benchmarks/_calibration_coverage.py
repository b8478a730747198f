"""How often intervals and bands hold the truth, by simulation.

Words come in sentences and err together; the truth is that of the whole population.
`coverage_rows` gives the rows of a table.
"""

from typing import NamedTuple

import numpy as np
from _calibration_other_intervals import interval, normal_band, resampled_band
from _calibration_truth import true_classwise_error, true_value
from _calibration_words import (
    PREDICTORS,
    draw_tables,
    draw_words,
    population,
    population_tables,
    tempered,
)
from _runner import process_pool

from skcw import metrics
from skcw.metrics.bands import calibration_bands
from skcw.metrics.binnings import make_binning
from skcw.metrics.losses import Decomposition
from skcw.metrics.pairs import Pairs

# Name in the table: (function, options).
SCORES = {
    "CalibMSE": ("calibration_mse", {}),
    "root CalibMSE": ("root_calibration_mse", {}),
    "RMSE, 20 bins": (
        "root_calibration_mse",
        {"strategy": "uniform", "claim": "center"},
    ),
    "ECE": ("expected_calibration_error", {}),
    "ECE, l2": ("expected_calibration_error", {"norm": "l2"}),
    "ECE, l2, debiased": (
        "expected_calibration_error",
        {"norm": "l2", "debiased": True},
    ),
    "adaptive error": ("expected_calibration_error", {"strategy": "quantile"}),
    "maximum error": ("expected_calibration_error", {"norm": "max"}),
    "maximum error, quantiles": (
        "expected_calibration_error",
        {"norm": "max", "strategy": "quantile"},
    ),
    "Brier": ("brier_loss", {}),
    "log loss": ("log_loss", {}),
    "error AP": ("error_average_precision", {}),
    "AURC": ("area_under_risk_coverage", {}),
}
PARTS = {"Brier": "brier", "log": "log_loss"}
BINNED = list(SCORES)[:9]
METHODS = ("auto", "percentile", "normal")
BANDS = ("wilson", "clopper-pearson", "normal", "consistency", "resampled")
CLASSES = "classes"
# How much too large the logits of the second model of a pair are.
RIVAL = 1.4


class Row(NamedTuple):
    """One line of the table."""

    what: str
    method: str
    predictor: str
    n: int
    coverage: float  # percent
    width: float  # mean
    trials: int


class Plan(NamedTuple):
    """What is simulated for samples of one size."""

    n: int
    trials: int
    n_resamples: int
    predictors: tuple
    differences: bool = True


FULL = (
    Plan(2_000, 120, 200, tuple(PREDICTORS)),
    Plan(10_000, 40, 200, tuple(PREDICTORS)),
    Plan(50_000, 16, 200, ("tagger, calibrated", "tagger, slope 0.6"), False),
)
QUICK = (Plan(500, 3, 20, ("tagger, calibrated", "even, k = 0.1")),)


def coverage_rows(plans, report=None, jobs=1):
    """Return the rows of the table; ``report`` is told of each part as it is done."""
    parts = [(plan, name) for plan in plans for name in (*plan.predictors, CLASSES)]
    # What takes longest begins first, so that no process waits for another at the end.
    parts.sort(key=lambda part: -part[0].n * part[0].trials)
    rows = []
    with process_pool(jobs) as pool:
        run = map if pool is None else pool.map
        for (plan, name), found in zip(parts, run(_part_rows, parts), strict=True):
            rows += found
            if report is not None:
                report(f"{plan.n} words, {name}")
    return sorted(rows, key=lambda row: row.n)


def _part_rows(part):
    """Return the rows of one plan and predictor."""
    plan, name = part
    if name == CLASSES:
        return classwise_rows(plan) if plan.differences else []
    rows = score_rows(plan, name) + part_rows(plan, name) + band_rows(plan, name)
    return rows + difference_rows(plan, name) if plan.differences else rows


def score_rows(plan, name, scores=SCORES, methods=METHODS):
    """Return a row for each score and method."""
    truth = {
        label: true_value(*SCORES[label], *population(PREDICTORS[name]), plan.n)
        for label in scores
    }
    tally = Tally(plan, name)
    for trial, (q, y, group) in enumerate(_samples(plan, name)):
        for label in scores:
            function, options = SCORES[label]
            for method in methods:
                if method == "normal" and label not in BINNED:
                    continue
                found = interval(
                    function,
                    y,
                    q,
                    method,
                    groups=group,
                    **options,
                    **_chance(plan, trial),
                )
                tally.add(label, method, truth[label], found.low, found.high)
    return tally.rows()


def part_rows(plan, name, methods=METHODS[:2]):
    """Return a row for each part of a proper loss and method."""
    q, p = population(PREDICTORS[name])
    tally = Tally(plan, name)
    kinds = [
        (whole, loss, part)
        for whole, loss in PARTS.items()
        for part in Decomposition._fields
    ]
    for trial, (sample_q, y, group) in enumerate(_samples(plan, name)):
        for whole, loss, part in kinds:
            truth = true_value(f"{loss}_{part}", {}, q, p, plan.n)
            for method in methods:
                found = interval(
                    f"{loss}_{part}",
                    y,
                    sample_q,
                    method,
                    groups=group,
                    **_chance(plan, trial),
                )
                tally.add(f"{whole} {part}", method, truth, found.low, found.high)
    return tally.rows()


def band_rows(plan, name, methods=BANDS, strategies=("adaptive", "uniform")):
    """Return a row for each band, over all bins of all trials.

    A consistency band is to hold what is observed if confidences are true; the others
    are to hold the mean probability of the words in the bin.
    """
    predictor = PREDICTORS[name]
    tally = Tally(plan, name)
    for trial, (q, y, group) in enumerate(_samples(plan, name)):
        for strategy in strategies:
            true, seen = (
                _accuracies(q, outcome, strategy) for outcome in (predictor.truth(q), y)
            )
            for method in methods:
                band = _band(y, q, method, strategy, group, _chance(plan, trial))
                target = seen if method == "consistency" else true
                tally.add(f"band, {strategy} bins", method, target, *band)
    return tally.rows()


def _band(y, q, method, strategy, group, chance):
    if method == "normal":
        return normal_band(y, q, strategy, group)
    if method == "resampled":
        return resampled_band(y, q, strategy, group, **chance)
    return calibration_bands(
        y, q, method=method, strategy=strategy, groups=group, **chance
    )


def _accuracies(q, outcome, strategy):
    """Return the mean outcome of each bin, also of outcomes that are probabilities."""
    pairs = Pairs(q, outcome, np.ones(len(q)), np.arange(len(q)))
    sums = make_binning(pairs, strategy, None, None).sums(pairs.weight)
    return sums.right / sums.mass


def difference_rows(plan, name):
    """Return a row for each score: its difference to that of an overconfident rival."""
    q, p = population(PREDICTORS[name])
    sharpen = tempered(RIVAL)
    tally = Tally(plan, f"{name}, against logits x {RIVAL}")
    for trial, (sample_q, y, group) in enumerate(_samples(plan, name)):
        for label in ("CalibMSE", "root CalibMSE", "ECE", "Brier", "log loss"):
            function, options = SCORES[label]
            found = metrics.compare_scores(
                function, y, sample_q, y, sharpen(sample_q), groups=group,
                **options, **_chance(plan, trial),
            )  # fmt: skip
            truth = true_value(function, options, q, p, plan.n)
            truth -= true_value(function, options, sharpen(q), p, plan.n)
            tally.add(f"difference of {label}", "paired", truth, found.low, found.high)
    return tally.rows()


def classwise_rows(plan, slopes=(1.0, 0.6), methods=METHODS):
    """Return a row for each method: the class-wise error of five classes."""
    rows = []
    for slope in slopes:
        truth = true_classwise_error(*population_tables(slope))
        tally = Tally(plan, f"5 classes, slope {slope}")
        for trial in range(plan.trials):
            rng = np.random.default_rng([plan.n, trial])
            table, label, group = draw_tables(slope, plan.n, rng)
            for method in methods:
                found = interval(
                    "classwise_calibration_error", label, table, method, groups=group,
                    classes=range(table.shape[1]), **_chance(plan, trial),
                )  # fmt: skip
                tally.add("class-wise error", method, truth, found.low, found.high)
        rows += tally.rows()
    return rows


class Tally:
    """Counts how often intervals hold the truth.

    Parameters
    ----------
    plan : Plan
        What is simulated.
    name : str
        The predictor.
    """

    def __init__(self, plan, name):
        self.plan, self.name = plan, name
        self._found = {}

    def add(self, what, method, truth, low, high):
        """Count one interval, or one band."""
        held = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
        cell = self._found.setdefault((what, method), [])
        cell.append((np.mean(held), np.mean(np.subtract(high, low))))

    def rows(self):
        """Return what was counted."""
        return [
            Row(what, method, self.name, self.plan.n, *_means(found), len(found))
            for (what, method), found in self._found.items()
        ]


def _means(found):
    held, width = np.mean(found, axis=0)
    return float(100 * held), float(width)


def _samples(plan, name):
    """Yield the words of each trial."""
    for trial in range(plan.trials):
        rng = np.random.default_rng([plan.n, trial])
        yield draw_words(PREDICTORS[name], plan.n, rng)


def _chance(plan, trial):
    return {"n_resamples": plan.n_resamples, "random_state": trial}
