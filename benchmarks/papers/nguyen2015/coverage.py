"""How often intervals and bands hold the truth: the defaults, then all others."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import beta

from common.measure import progress
from common.runner import process_pool
from common.tables import at_least, at_most, format_goals, format_table
from skcw import metrics
from skcw.metrics import calibration_bins, score_interval
from skcw.metrics.bands import (
    BinnedCurve,
    CalibrationBands,
    calibration_bands,
    effective_sizes,
)
from skcw.metrics.binnings import make_binning
from skcw.metrics.intervals import (
    Estimate,
    make_generator,
    progress_bar,
    resampled_scores,
)
from skcw.metrics.pairs import Pairs, check_pairs
from skcw.metrics.score import SCORES, make_score, sentence_counts

# ---- The true values of scores, from the probabilities of a whole population ----

ADAPTIVE = {"calibration_mse", "root_calibration_mse"}


def true_value(score, options, q, p, n):
    """Return what a score of n words estimates if the whole population is q, p."""
    kind = _KINDS.get(score, _binned)
    return float(kind(score, options, q, p, n))


def _made(name, q, y, **options):
    """Return a score of outcomes that may be probabilities."""
    cls, implied = SCORES[name]
    pairs = Pairs(q, y, np.ones(len(q)), np.arange(len(q)))
    return cls(pairs, **options, **implied)


def _binned(score, options, q, p, n):
    """Return the score of bins that hold the same share of the population."""
    options = dict(options)
    if score in ADAPTIVE and "strategy" not in options:
        n_bins = n // options.pop("bin_size", int(np.sqrt(n)))
        options |= {"strategy": "quantile", "n_bins": n_bins}
    options.pop("debiased", None)
    return _made(score, q, p, **options).value()


def _mean(score, options, q, p, n):
    right, wrong = (_made(score, q, np.full(len(q), y)).loss for y in (1.0, 0.0))
    return (p * right + (1 - p) * wrong).mean()


def _average_precision(score, options, q, p, n):
    wrong = 1 - p
    found = np.cumsum(wrong)
    return (wrong * found / np.arange(1, len(q) + 1)).sum() / found[-1]


def _risk_coverage(score, options, q, p, n):
    return (np.cumsum(1 - p[::-1]) / np.arange(1, len(q) + 1)).mean()


_KINDS = {
    "brier_loss": _mean,
    "log_loss": _mean,
    "error_average_precision": _average_precision,
    "area_under_risk_coverage": _risk_coverage,
}


# ---- Words in sentences whose true probabilities are known, for simulations ----

MEAN_LENGTH = 18
# How much of what makes words confident, and wrong, they share with their sentence.
SHARED_CONFIDENCE = 0.2
SHARED_ERROR = 0.2
N_QUANTILES = 400_000


class Predictor(NamedTuple):
    """How confidences are distributed, and what they are worth."""

    shape: tuple  # of the beta distribution of confidences
    truth: object  # confidence -> probability of being right


def _same(q):
    return q


def thesis_map(k):
    """Return the thesis's miscalibration: away from one half by k."""
    return lambda q: np.clip(np.where(q > 0.5, q + k, q - k), 0.0, 1.0)


def tempered(slope):
    """Return an overconfident model's truth: logits are too large by 1 / slope."""
    tiny = 1e-12
    return lambda q: expit(slope * logit(np.clip(q, tiny, 1 - tiny)))


def raised(shift):
    """Return the truth of a model that is too modest by the same everywhere."""
    return lambda q: np.minimum(q + shift, 1.0)


PREDICTORS = {
    "even, calibrated": Predictor((1, 1), _same),
    "even, + 0.05": Predictor((1, 1), raised(0.05)),
    "even, k = 0.1": Predictor((1, 1), thesis_map(0.1)),
    "tagger, calibrated": Predictor((5, 0.4), _same),
    "tagger, + 0.05": Predictor((5, 0.4), raised(0.05)),
    "tagger, slope 0.9": Predictor((5, 0.4), tempered(0.9)),
    "tagger, slope 0.6": Predictor((5, 0.4), tempered(0.6)),
    "query, calibrated": Predictor((0.15, 0.9), _same),
    "query, slope 0.7": Predictor((0.15, 0.9), tempered(0.7)),
}


def draw_words(predictor, n, rng):
    """Return confidences, outcomes and sentences of n words.

    Given its confidence a word is right with the predictor's probability, whatever
    happens to the rest of its sentence; but words of a sentence err together.
    """
    group = draw_sentences(n, rng)
    q = confidences(predictor, draw_shared(group, SHARED_CONFIDENCE, rng))
    u = ndtr(draw_shared(group, SHARED_ERROR, rng))
    return q, (u < predictor.truth(q)).astype(np.float64), group


def draw_sentences(n, rng):
    """Return the sentence of each of n words; lengths are as uneven as in tweets."""
    n_enough = 3 * n // MEAN_LENGTH + 50
    lengths = 1 + rng.poisson(rng.gamma(3, (MEAN_LENGTH - 1) / 3, size=n_enough))
    return np.repeat(np.arange(n_enough), lengths)[:n]


def draw_shared(group, share, rng):
    """Return normal numbers, a share of which words have from their sentence."""
    common = rng.standard_normal(group.max() + 1)[group]
    return np.sqrt(share) * common + np.sqrt(1 - share) * rng.standard_normal(
        len(group)
    )


def confidences(predictor, z):
    """Return the confidences at normal quantiles."""
    grid = np.linspace(-6, 6, 20001)
    return np.interp(z, grid, beta.ppf(ndtr(grid), *predictor.shape))


def population(predictor):
    """Return evenly spread quantiles of the confidences and their probabilities."""
    q = confidences(predictor, ndtri((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES))
    return q, predictor.truth(q)


# ---- Intervals and bands that do not cover ----

COVERING, PERCENTILE, NORMAL = "auto", "percentile", "normal"


def interval(
    score, correct, confidence, method, *, groups, n_resamples, random_state, **options
):
    """Return the estimate of a score by the covering method or by another one."""
    if method == COVERING:
        return score_interval(
            score,
            correct,
            confidence,
            groups=groups,
            n_resamples=n_resamples,
            random_state=random_state,
            **options,
        )
    made = make_score(score, correct, confidence, groups=groups, **options)
    find = {PERCENTILE: _percentile, NORMAL: _normal}[method]
    ends = find(made, 0.95, n_resamples, make_generator(random_state))
    low, high = np.clip(ends, *made.bounds)
    return Estimate(made.value(), float(low), float(high))


def _percentile(score, level, n_resamples, rng):
    """Return quantiles of the scores of resampled sentences."""
    with progress_bar(False, n_resamples) as bar:
        drawn = resampled_scores([score], n_resamples, rng, bar)
        scores = np.concatenate([scores for _, (scores,) in drawn])
    return np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])


def _normal(score, level, n_resamples, rng):
    """Return mean -+ z sd of scores of bins with p* ~ N(p, p (1 - p) / n)."""
    parts = getattr(score, "errors", [score])  # one for each class
    draws = np.mean([_with_drawn_bins(one, n_resamples, rng) for one in parts], axis=0)
    half = float(ndtri((1 + level) / 2)) * draws.std(ddof=1)
    return draws.mean() - half, draws.mean() + half


def _with_drawn_bins(score, n_resamples, rng):
    mass, claimed, right = score.binning.sums(score.pairs.weight)
    accuracy = right / mass
    error = np.sqrt(np.clip(accuracy * (1 - accuracy), 0.0, None) / mass)
    drawn = accuracy + error * rng.standard_normal((n_resamples, len(mass)))
    return score.combine(mass, claimed, mass * drawn)


def normal_band(correct, confidence, strategy, groups):
    """Return p -+ z sqrt(p (1 - p) / n) in each bin, the band of the thesis."""
    pairs = check_pairs(correct, confidence, groups=groups)
    accuracy = calibration_bins(correct, confidence, strategy=strategy).accuracy
    sizes = effective_sizes(pairs, BinnedCurve(pairs, strategy, None, None).share)
    half = ndtri(0.975) * np.sqrt(accuracy * (1 - accuracy) / sizes)
    return _thesis_band(accuracy - half, accuracy + half)


def resampled_band(correct, confidence, strategy, groups, *, n_resamples, random_state):
    """Return quantiles of the accuracies of bins over resampled sentences."""
    pairs = check_pairs(correct, confidence, groups=groups)
    curve = BinnedCurve(pairs, strategy, None, None)
    cells = curve.cells.of_token
    shape = (cells.max() + 1, pairs.n_groups)
    mass, right = (
        sparse.csr_matrix((values, (cells, pairs.group)), shape=shape)
        for values in (pairs.weight, pairs.weight * pairs.y)
    )
    curves = []
    rng = make_generator(random_state)
    for counts in sentence_counts(pairs, n_resamples, rng):
        sums = (np.ascontiguousarray((each @ counts.T).T) for each in (mass, right))
        curves.append(curve.accuracies(*sums))
    return _thesis_band(*np.nanquantile(np.concatenate(curves), [0.025, 0.975], axis=0))


def _thesis_band(low, high):
    return CalibrationBands(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))


# ---- How often intervals and bands hold the truth, by simulation ----

# Name in the table: (function, options).
JUDGED = {
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
BINNED = list(JUDGED)[:9]
METHODS = ("auto", "percentile", "normal")
BANDS = ("wilson", "clopper-pearson", "normal", "consistency", "resampled")
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
    parts = [(plan, name) for plan in plans for name in plan.predictors]
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
    rows = score_rows(plan, name) + band_rows(plan, name)
    return rows + difference_rows(plan, name) if plan.differences else rows


def score_rows(plan, name, scores=JUDGED, methods=METHODS):
    """Return a row for each score and method."""
    truth = {
        label: true_value(*JUDGED[label], *population(PREDICTORS[name]), plan.n)
        for label in scores
    }
    tally = Tally(plan, name)
    for trial, (q, y, group) in enumerate(_samples(plan, name)):
        for label in scores:
            function, options = JUDGED[label]
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
    mass, _, right = make_binning(pairs, strategy, None, None).sums(pairs.weight)
    return right / mass


def difference_rows(plan, name):
    """Return a row for each score: its difference to that of an overconfident rival."""
    q, p = population(PREDICTORS[name])
    sharpen = tempered(RIVAL)
    tally = Tally(plan, f"{name}, against logits x {RIVAL}")
    for trial, (sample_q, y, group) in enumerate(_samples(plan, name)):
        for label in ("CalibMSE", "root CalibMSE", "ECE", "Brier", "log loss"):
            function, options = JUDGED[label]
            found = metrics.compare_scores(
                function, y, sample_q, y, sharpen(sample_q), groups=group,
                **options, **_chance(plan, trial),
            )  # fmt: skip
            truth = true_value(function, options, q, p, plan.n)
            truth -= true_value(function, options, sharpen(q), p, plan.n)
            tally.add(f"difference of {label}", "paired", truth, found.low, found.high)
    return tally.rows()


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


# ---- How often intervals and bands hold the truth ----

# The methods that are used unless another is named.
DEFAULTS = ("auto", "wilson", "paired")
LEAST, MOST = 93.0, 97.0
NOTE = """\
Nominal 95 %. Words come in sentences and err together. Mean: over all predictors and
sizes, each trial counting one; lowest, highest: of a single predictor and size, which
chance alone moves by 3 to 7. A consistency band is to hold what is
seen if confidences are true, so of miscalibrated ones it tells how often they pass."""


def run(settings):
    """Return the rows of the simulation and a summary of each method."""
    plans = QUICK if settings.quick else FULL
    rows = coverage_rows(
        plans, report=lambda done: progress(f"coverage: {done}"), jobs=settings.jobs
    )
    rows = [row._asdict() for row in rows]
    rows.sort(key=lambda row: not _is_default(row))
    summary = _summary(rows)
    rows = [row for row in rows if _is_default(row)]
    return {
        "quick": settings.quick,
        "summary": summary,
        "rows": rows,
        "goals": _goals(summary),
    }


def _is_default(row):
    if row["what"].startswith("band"):
        return row["method"] == "wilson"
    return row["method"] in DEFAULTS


def _summary(rows):
    cells = {}
    for row in rows:
        cells.setdefault((row["what"], row["method"]), []).append(row)
    return [
        {
            "what": what,
            "method": method,
            "default": _is_default(found[0]),
            "mean": sum(r["coverage"] * r["trials"] for r in found)
            / sum(r["trials"] for r in found),
            "lowest": min(r["coverage"] for r in found),
            "highest": max(r["coverage"] for r in found),
            "trials": sum(r["trials"] for r in found),
        }
        for (what, method), found in cells.items()
    ]


def _goals(summary):
    defaults = [one for one in summary if one["default"]]
    goals = []
    for one in defaults:
        goals += [
            at_least(f"{one['what']}: mean coverage %", one["mean"], LEAST),
            at_most(f"{one['what']}: mean coverage %", one["mean"], MOST),
        ]
    return goals


def render(found):
    """Return the results as text."""
    title = "Coverage of intervals and bands, by simulation"
    if found["quick"]:
        title += " (quick: a few trials, no measurement)"
    header = ["what", "method", "mean %", "lowest", "highest", "trials"]
    parts = [
        _summary_table(header, [one for one in found["summary"] if one["default"]]),
        "All other methods:",
        _summary_table(header, [one for one in found["summary"] if not one["default"]]),
        NOTE,
        format_goals(found["goals"], found["quick"]),
        "The defaults one by one:",
        _whole_table(found["rows"]),
    ]
    return "\n\n".join([title, *parts])


def _summary_table(header, summary):
    rows = [
        [
            one["what"],
            one["method"],
            *(f"{one[key]:.1f}" for key in ("mean", "lowest", "highest")),
            one["trials"],
        ]
        for one in summary
    ]
    return format_table(header, rows)


def _whole_table(rows):
    header = ["what", "method", "predictor", "words", "coverage %", "width", "trials"]
    body = [
        [
            row["what"],
            row["method"],
            row["predictor"],
            row["n"],
            f"{row['coverage']:.1f}",
            f"{row['width']:.3g}",
            row["trials"],
        ]
        for row in rows
    ]
    return format_table(header, body)
