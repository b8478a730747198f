"""Calibration curves as they would be for other outcomes, or for other sentences."""

import numpy as np
from scipy import sparse

from skcw._kernels.score_loops import draw_right
from skcw.metrics._intervals.recalibration import recalibrated
from skcw.metrics._intervals.sentence_bootstrap import sentence_counts
from skcw.metrics._intervals.sentence_model import (
    latent_chunks,
    latent_correlation,
    thresholds,
)


def consistency_draws(pairs, curve, n_resamples, rng, bar):
    """Return curves of outcomes drawn as if all confidences were true.

    Words of a sentence err together as much as they really do.
    """
    fitted = recalibrated(pairs.q, pairs.y, pairs.weight)
    correlation = latent_correlation(
        pairs.y - fitted, fitted, pairs.weight, pairs.group
    )
    order, starts = curve.cells.order, curve.cells.starts
    weight, group = pairs.weight[order], pairs.group[order]
    mass = np.add.reduceat(weight, starts[:-1])
    limits = thresholds(pairs.q[order])[None]
    curves = []
    n_groups = int(group.max()) + 1
    for latent in latent_chunks(len(group), n_groups, correlation, n_resamples, rng):
        right = np.empty((1, len(latent.normal), len(mass)))
        mixed = np.empty(len(group), dtype=np.float32)
        draw_right(
            *latent[:2], group, *latent[2:], limits, weight, starts, mixed, right
        )
        curves.append(curve.accuracies(mass, right[0]))
        bar.update(len(latent.normal))
    return np.concatenate(curves)


def resampled_curves(pairs, curve, n_resamples, rng, bar):
    """Return curves of sentences drawn again with replacement."""
    cells = curve.cells.of_word
    where = (cells, pairs.group)
    mass, right = (
        sparse.csr_matrix(
            (values, where), shape=(cells.max() + 1, pairs.group.max() + 1)
        )
        for values in (pairs.weight, pairs.weight * pairs.y)
    )
    curves = []
    for counts in sentence_counts(pairs, n_resamples, rng):
        sums = (np.ascontiguousarray((each @ counts.T).T) for each in (mass, right))
        curves.append(curve.accuracies(*sums))
        bar.update(len(counts))
    return np.concatenate(curves)
