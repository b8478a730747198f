"""Intervals and bands that do not cover: those of the thesis, and by resampling.

skcw does not offer them. They are here so that the study of coverage can show by how
much they fail: of errors of calibration they count chance twice, once in the words and
once more in the resamples, and a band of the accuracy has no width where all are right.
"""

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from skcw.metrics import calibration_bins, score_interval
from skcw.metrics.bands import BinnedCurve, CalibrationBands, effective_sizes
from skcw.metrics.intervals import (
    Estimate,
    make_generator,
    progress_bar,
    resampled_scores,
)
from skcw.metrics.pairs import check_pairs
from skcw.metrics.score import make_score, sentence_counts

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
    return _band(accuracy - half, accuracy + half)


def resampled_band(correct, confidence, strategy, groups, *, n_resamples, random_state):
    """Return quantiles of the accuracies of bins over resampled sentences."""
    pairs = check_pairs(correct, confidence, groups=groups)
    curve = BinnedCurve(pairs, strategy, None, None)
    cells = curve.cells.of_word
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
    return _band(*np.nanquantile(np.concatenate(curves), [0.025, 0.975], axis=0))


def _band(low, high):
    return CalibrationBands(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))
