"""Weights near zero go back to the prior, and rows and features without any go."""

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.confidence._settings import mean_square
from skcw.tagging._learnt_weights import with_weights


def pruned_attributes(tagger, share, drop_features):
    """Return what changes in a fitted tagger when it is pruned.

    Parameters
    ----------
    tagger : OnlineTagger
        The tagger.
    share : float
        The share of its weights to set back, from 0 to less than 1.
    drop_features : bool
        Whether to forget the names of features without weights.

    Returns
    -------
    attributes : dict
        The attributes by name.
    """
    check_is_fitted(tagger, "belief_")
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share < 1:
        raise ValueError(
            f"share is {share!r}; it must be a number from 0 (only what has no weight "
            "is removed) to less than 1"
        )
    belief = pruned(tagger.belief_, share)
    fits = getattr(tagger, "confidence_", {})
    found = {"confidence_": same_confidence(fits, tagger.belief_, belief)}
    if drop_features and tagger.vocabulary_ is not None:
        keep = with_weights(belief)
        belief = without_features(belief, keep)
        found["vocabulary_"] = tagger.vocabulary_.select(keep)
        # Sentences are remembered by the numbers of their features.
        found["training_hashes_"] = None
    return found | {"belief_": belief}


def pruned(belief, share):
    """Return a belief without the weights that are nearest to zero.

    Those of features are compared by their size in standard deviations, or by their
    size where there are no variances. Transitions and the row of unknown tokens stay.

    Parameters
    ----------
    belief : Belief
        A compact belief.
    share : float
        The share of the weights that an update has moved to be set back, from 0 to 1.
        Where some are equal, it may be fewer.

    Returns
    -------
    belief : Belief
        One with just the rows that still have a weight.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._belief import Belief
    >>> from skcw.tagging._pruning import pruned
    >>> mean = np.zeros((11, 8))
    >>> mean[9:, :2] = [[1.0, -0.1], [0.2, 0.0]]
    >>> rows = np.array([9, 10], dtype=np.int32)
    >>> belief = Belief(2, rows, mean.ravel(), None, None, 0.0)
    >>> pruned(belief, 0.7).feature_weights()
    array([[1., 0.],
           [0., 0.]])
    """
    touched = _touched(belief)
    first = (belief.width + 1) * belief.width
    cells = first + np.flatnonzero(touched[first:])
    if belief.unknown_row is not None:
        cells = cells[cells // belief.width != belief.unknown_row]
    far = np.abs(belief.weights[cells])
    if belief.variance is not None:
        far /= np.sqrt(belief.variance[cells])
    n_least = int(share * len(cells))
    if 0 < n_least < len(cells):
        cells = cells[far < np.partition(far, n_least)[n_least]]
    elif not n_least:
        cells = cells[:0]
    touched[cells] = False
    return _with_rows(belief, cells, touched)


def _touched(belief):
    """Tell which cells are not at the prior."""
    touched = belief.mean != 0
    if belief.average is not None and belief.average is not belief.mean:
        touched |= belief.average != 0
    if belief.variance is not None:
        touched |= belief.variance != belief.prior_variance
    return touched


def _with_rows(belief, cells, touched):
    """Return a belief with these cells at the prior, and rows that have others."""
    width = belief.width
    kept = touched.reshape(-1, width).any(axis=1)
    kept[: width + 1] = True
    if belief.unknown_row is not None:
        kept[belief.unknown_row] = True
    new = np.where(kept, np.cumsum(kept) - 1, width).astype(np.int32)

    def table(flat, prior):
        if flat is None:
            return None
        flat = flat.copy()
        flat[cells] = prior
        return flat.reshape(-1, width)[kept].ravel()

    mean = table(belief.mean, 0.0)
    same = belief.average is belief.mean
    return belief.replaced(
        mean=mean,
        variance=table(belief.variance, belief.prior_variance),
        average=mean if same else table(belief.average, 0.0),
        **belief.split_rows(new[belief.all_rows()]),
    )


def without_features(belief, keep):
    """Return a belief that knows some features only.

    Parameters
    ----------
    belief : Belief
        The belief.
    keep : ndarray of bool, shape (n_features,)
        Which features to keep, each with a new number.

    Returns
    -------
    belief : Belief
        The belief about them.
    """
    number = np.cumsum(keep, dtype=np.int32) - 1
    edges = keep[belief.edges]
    return belief.replaced(
        row_of=belief.row_of[keep],
        unseen=number[belief.unseen[keep[belief.unseen]]],
        edges=number[belief.edges[edges]],
        edge_rows=belief.edge_rows[edges],
    )


def same_confidence(fits, before, after):
    """Return what was fitted for confidence, so that draws spread as far as before.

    Scales of variances are in units of the mean square of the weights, which is larger
    when small weights are gone.

    Parameters
    ----------
    fits : dict
        ``confidence_`` of a tagger.
    before, after : Belief
        The weights that it was fitted for, and those that are left.

    Returns
    -------
    fits : dict
        The same with other scales, and without the curves that led to the old ones.
    """
    factor = mean_square(before) / mean_square(after)
    found = {}
    for name, fit in fits.items():
        values = dict(fit["values"])
        if "variance_scale" in values:
            values["variance_scale"] *= factor
        found[name] = {k: v for k, v in fit.items() if k != "curves"}
        found[name]["values"] = values
    return found
