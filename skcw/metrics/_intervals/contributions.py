"""What each word adds to a score, to first order: its influence function."""

import numpy as np

from skcw.metrics._cores.base import BinnedScore, MeanScore
from skcw.metrics._cores.proper import ScorePart
from skcw.metrics._cores.ranking import ErrorAveragePrecision, RiskCoverageArea
from skcw.metrics._cores.ties import Ties
from skcw.metrics._intervals.gap_slopes import gap_slopes
from skcw.metrics._intervals.recalibration import block_accuracy
from skcw.metrics.classwise_calibration import ClasswiseError

# Places within a group of ties at which its mean over all orders is evaluated.
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, NODE_WEIGHTS = (NODES + 1) / 2, NODE_WEIGHTS / 2


def of_mean(core):
    """Return the contributions of words to a weighted mean."""
    weight = core.pairs.weight
    return weight * (core.loss - core.value()) / weight.sum()


def of_binned(core):
    """Return the contributions of words to a score of bins, which stay as they are."""
    pairs, binning = core.pairs, core.binning
    surplus = binning.claim - pairs.y
    share = binning.shares(pairs.weight).multiply(pairs.weight).tocsr()
    mass = share.sum(axis=1).A1
    of_surplus, of_mass = gap_slopes(core, mass, (share @ surplus) / mass)
    return (share.T @ of_surplus) * surplus + share.T @ of_mass


def of_classes(core):
    """Return the contributions of words to the mean over classes."""
    return sum(of_binned(error) for error in core.errors) / len(core.errors)


def of_average_precision(core):
    """Return the contributions of words to the average precision of wrong words."""
    return _of_ranking(core.pairs, falling=False)


def of_risk_coverage(core):
    """Return the contributions of words to the area under risk and coverage."""
    return _of_ranking(core.pairs, falling=True)


def _of_ranking(pairs, falling):
    """Return contributions to the mean share of wrong words down to a rank.

    The mean is over wrong words from the least confident (AP), or over all words from
    the most confident (AURC). A group of m words with e wrong ones behind N words with
    E wrong ones has the share (E + u e) / (N + u m) at its place u in [0, 1]; its mean
    over u is the mean over all orders of the ties.
    """
    ties = Ties(-pairs.q if falling else pairs.q)
    mass, wrong = ties.sums(pairs.weight, 1 - pairs.y)
    before, wrong_before = np.cumsum(mass) - mass, np.cumsum(wrong) - wrong
    counted = mass if falling else wrong
    total = counted.sum()
    if total == 0:
        return np.zeros(len(pairs.q))
    of_mass, of_wrong = np.zeros(len(mass)), np.zeros(len(mass))
    summed = 0.0
    for u, node in zip(NODES, NODE_WEIGHTS, strict=True):
        size = np.where(mass > 0, before + u * mass, 1.0)
        share = (wrong_before + u * wrong) / size
        summed += node * (counted @ share)
        later_mass = -node * counted * share / size
        later_wrong = node * counted / size
        of_mass += u * later_mass + _sum_behind(later_mass)
        of_wrong += u * later_wrong + _sum_behind(later_wrong)
        if falling:
            of_mass += node * share
        else:
            of_wrong += node * share
    mean = summed / total
    if falling:
        of_mass -= mean
    else:
        of_wrong -= mean
    each = of_mass[ties.code] + (1 - pairs.y) * of_wrong[ties.code]
    return pairs.weight * each / total


def _sum_behind(values):
    """Return for each place the sum of the values behind it."""
    return np.cumsum(values[::-1])[::-1] - values


def of_accuracy(core):
    """Return the share of right words and what each word adds to it."""
    pairs = core.pairs
    total = pairs.weight.sum()
    accuracy = float(pairs.weight @ pairs.y / total)
    return accuracy, pairs.weight * (pairs.y - accuracy) / total


def of_part(core):
    """Return the contributions of words to a part of a proper score.

    Recalibrated probabilities and the mean are the best of their kind, so that the
    score does not change to first order as they move: only the losses of words count.
    """
    pairs = core.pairs
    accuracy, _ = of_accuracy(core)
    best = block_accuracy(pairs.q, pairs.y, pairs.weight)
    claimed, plain, best = (
        core.score(pairs._replace(q=q)).loss
        for q in (pairs.q, np.full(len(best), accuracy), best)
    )
    each = {
        "miscalibration": claimed - best,
        "discrimination": plain - best,
        "uncertainty": plain,
    }[core.part]
    mean = pairs.weight @ each / pairs.weight.sum()
    return pairs.weight * (each - mean) / pairs.weight.sum()


def contributions(core):
    """Return what each word adds to a score."""
    for kind, of in KINDS:
        if isinstance(core, kind):
            return of(core)
    raise TypeError(f"{type(core).__name__} has no known influence of words")


KINDS = (
    (MeanScore, of_mean),
    (BinnedScore, of_binned),
    (ClasswiseError, of_classes),
    (ErrorAveragePrecision, of_average_precision),
    (RiskCoverageArea, of_risk_coverage),
    (ScorePart, of_part),
)
