"""Weights, costs and held-out sequences for training."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from skcw.data.ragged import split_rows


def check_sample_weight(sample_weight, n_sequences):
    """Return weights as float64, or None when all are one."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_sequences,):
        raise ValueError(
            f"sample_weight has the shape {weight.shape}; one weight for each of the "
            f"{n_sequences} sequences is needed"
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight of sequence {bad[0]} is {weight[bad[0]]}; weights must be "
            "finite and not negative"
        )
    if n_sequences and not weight.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    return None if (weight == 1).all() else weight


def token_costs(class_weight, labels, codes, one_pass):
    """Return the cost of mislabelling a token of each class."""
    if class_weight == "balanced":
        if one_pass:
            raise ValueError(
                "class_weight='balanced' needs all of the data at once; give "
                "partial_fit a dict"
            )
        seen = np.unique(codes)
        cost = np.ones(len(labels))
        cost[seen] = compute_class_weight("balanced", classes=seen, y=codes)
        return cost
    given = class_weight or {}
    cost = np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)
    if not (np.isfinite(cost).all() and (cost > 0).all()):
        raise ValueError(f"class_weight must be positive and finite, got {given}")
    return cost


def hold_out(batch, codes, weight, fraction, rng):
    """Split off a share of the sequences to judge each pass by.

    Return the rest (batch, codes, weight) and the pair (batch, codes) held out.
    """
    n_dev = max(1, round(fraction * len(batch)))
    if n_dev >= len(batch):
        raise ValueError(
            f"early stopping leaves no training data: {len(batch)} sequences and "
            f"validation_fraction={fraction}"
        )
    order = rng.permutation(len(batch))
    dev, rest = np.sort(order[:n_dev]), np.sort(order[n_dev:])
    rows = split_rows(codes, batch.offsets)
    return (
        batch[rest],
        np.concatenate(rows[rest]),
        None if weight is None else weight[rest],
        (batch[dev], np.concatenate(rows[dev])),
    )
