"""What a row counts: its own weight times that of its class."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from skcw._compat import _check_sample_weight

# A weight is a number of presentations: more would only keep the machine busy.
HEAVIEST = 1e6


def row_weights(X, sample_weight):
    """Return the weight of each row, or None when all are one."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    return weight


def class_weights(class_weight, classes, codes, weight, one_pass):
    """Return the weight of each class, or None when all are one."""
    if class_weight is None:
        return None
    if class_weight != "balanced":
        return _checked(compute_class_weight(class_weight, classes=classes, y=classes))
    if one_pass:
        raise ValueError(
            "class_weight='balanced' needs all of the data at once; give partial_fit "
            "a dict"
        )
    # As scikit-learn balances, but a weight of two counts like two rows.
    count = np.bincount(codes, weights=weight, minlength=len(classes))
    present = count > 0
    shares = np.ones(len(classes))
    shares[present] = count.sum() / count[present] / np.count_nonzero(present)
    return shares


def _checked(by_class):
    if not (np.isfinite(by_class).all() and (by_class >= 0).all() and by_class.any()):
        raise ValueError(
            f"class_weight gives the classes the weights {by_class.tolist()}; they "
            "must be finite, not negative and not all zero"
        )
    return by_class


def presentations(weight, by_class, codes):
    """Return how often each row is presented: its weight times that of its class."""
    if by_class is not None:
        weight = by_class[codes] if weight is None else weight * by_class[codes]
    if weight is not None and weight.max() > HEAVIEST:
        heavy = np.argmax(weight)
        raise ValueError(
            f"row {heavy} has the weight {weight[heavy]:g}; a row of weight w is "
            f"presented w times, at most {HEAVIEST:.0e}: scale the weights"
        )
    return weight
