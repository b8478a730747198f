"""What a row counts: its own weight times that of its class."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from skcw._compat import _check_sample_weight

# A weight is a number of presentations: more would only keep the machine busy.
HEAVIEST = 1e6


def row_weights(X, codes, classes, sample_weight, class_weight, one_pass):
    """Return the number of times each row is presented, or None when all are one."""
    if sample_weight is None and class_weight is None:
        return None
    weight = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    weight = weight * _class_weights(classes, codes, weight, class_weight, one_pass)
    if weight.max() > HEAVIEST:
        heavy = np.argmax(weight)
        raise ValueError(
            f"row {heavy} has the weight {weight[heavy]:g}; a row of weight w is "
            f"presented w times, at most {HEAVIEST:.0e}: scale the weights"
        )
    return weight


def _class_weights(classes, codes, weight, class_weight, one_pass):
    """Return the weight of each row's class."""
    if class_weight is None:
        return 1.0
    if class_weight == "balanced":
        if one_pass:
            raise ValueError(
                "class_weight='balanced' needs all of the data at once; give "
                "partial_fit a dict"
            )
        # As scikit-learn balances, but a weight of two counts like two rows.
        count = np.bincount(codes, weights=weight, minlength=len(classes))
        share = weight.sum() / np.maximum(count, 1e-300) / np.count_nonzero(count)
        return share[codes]
    return compute_class_weight(class_weight, classes=classes, y=classes)[codes]
