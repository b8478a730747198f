"""Seconds of every score: of a million pairs, and with an interval."""

import numpy as np
from _calibration_other_intervals import interval
from _measure import progress, timed
from _tables import at_most, format_goals, format_table, number

from skcw import metrics
from skcw.metrics.score import make_score

PAIRS, QUICK_PAIRS = 1_000_000, 5_000
WORDS, QUICK_WORDS = 50_000, 1_000
SENTENCE, CLASSES = 18, 5
RESAMPLES, QUICK_RESAMPLES = 1000, 20
INTERVALS = ("auto", "percentile")
SCORE_SECONDS, INTERVAL_SECONDS = 1.0, 5.0
SCORES = (
    "calibration_mse",
    "root_calibration_mse",
    "expected_calibration_error",
    "brier_loss",
    "log_loss",
    "brier_miscalibration",
    "log_loss_miscalibration",
    "error_average_precision",
    "area_under_risk_coverage",
)
CLASSWISE, TEST = "classwise_calibration_error", "spiegelhalter_test"
NOTE = f"""\
One process, all checks included; confidences of a tagger (beta 5, 0.4), all different.
Intervals: words in sentences of {SENTENCE}, {RESAMPLES} resamples of sentences."""


def run(settings):
    """Return the seconds of every score without and with intervals, and the goals."""
    n = QUICK_PAIRS if settings.quick else PAIRS
    n_words = QUICK_WORDS if settings.quick else WORDS
    n_resamples = QUICK_RESAMPLES if settings.quick else RESAMPLES
    rows = {}
    for name in (*SCORES, CLASSWISE, TEST):
        progress(f"speed: {name}")
        rows[name] = {"score": timed(_call(name, n), settings.seeds)[1]}
        if name == TEST:
            continue
        for method in INTERVALS:
            call = _call(name, n_words, method=method, n_resamples=n_resamples)
            rows[name][method] = timed(call)[1]
    return {
        "quick": settings.quick,
        "pairs": n,
        "words": n_words,
        "resamples": n_resamples,
        "runs": settings.seeds,
        "rows": rows,
        "goals": _goals(rows, n, n_words, n_resamples),
    }


def _call(name, n, method=None, n_resamples=None):
    """Return a function that computes a score of n words, or an interval of it."""
    rng, options = np.random.default_rng(0), {}
    if name == CLASSWISE:
        claimed = rng.dirichlet(np.full(CLASSES, 0.3), size=n)
        draws = rng.uniform(size=(n, 1)) > np.cumsum(claimed, axis=1)
        pairs = np.minimum(draws.sum(axis=1), CLASSES - 1), claimed
        options["classes"] = list(range(CLASSES))
    else:
        confidence = rng.beta(5, 0.4, size=n)
        pairs = rng.uniform(size=n) < confidence, confidence
    if name == TEST:
        return lambda: metrics.spiegelhalter_test(*pairs)
    if method is None:
        return lambda: make_score(name, *pairs, **options).value()
    options |= {"n_resamples": n_resamples, "random_state": 0}
    groups = np.arange(n) // SENTENCE
    return lambda: interval(name, *pairs, method, groups=groups, **options)


def _goals(rows, n, n_words, n_resamples):
    def slowest(key):
        timed_rows = [name for name in rows if key in rows[name]]
        return max(timed_rows, key=lambda name: rows[name][key])

    goals = [_goal(f"{n} pairs", "score", slowest("score"), rows, SCORE_SECONDS)]
    for key in INTERVALS:
        what = f"{n_resamples} resamples of {n_words} words, {key}"
        goals.append(_goal(what, key, slowest(key), rows, INTERVAL_SECONDS))
    return goals


def _goal(what, key, name, rows, bound):
    return at_most(f"{what}: s, slowest ({name})", rows[name][key], bound, ".2f")


def render(found):
    """Return the results as text."""
    title = f"Seconds of scores; medians of {found['runs']} runs"
    if found["quick"]:
        title += " (quick: small samples, no measurement)"
    header = [
        "",
        f"{found['pairs']} pairs",
        *(f"{found['words']} words, {key}" for key in INTERVALS),
    ]
    rows = [
        [name, *(number(row.get(key), ".3f") for key in ("score", *INTERVALS))]
        for name, row in found["rows"].items()
    ]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), NOTE, goals])
