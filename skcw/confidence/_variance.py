"""The variance of a token's scores under the belief."""

import numpy as np

from skcw._kernels.delta import square_values
from skcw._kernels.draws import distinct_features
from skcw._kernels.lattice import score_tokens


def score_variance(decoder, batch, *, fixed=False):
    """Return x' Sigma x of every token and label, padded to the width.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    fixed : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    variance : ndarray of shape (n_tokens, width)
        In the precision of the belief.
    """
    belief = decoder.belief
    dtype = belief.weights.dtype
    batch = batch.with_precision(dtype).compact()
    squares = _squares(batch, dtype)
    variance, row_of = belief.variance, belief.row_of
    if fixed:
        variance, row_of = np.ones(belief.width, dtype), np.zeros_like(row_of)
    out = np.empty((batch.n_tokens, belief.width), dtype)
    score_tokens(
        variance, belief.width, row_of, batch.indptr, batch.indices, squares, out
    )
    return out


def _squares(batch, dtype):
    """Return the squared value of every feature at every token."""
    slots = np.empty(len(batch.indices), dtype=np.int32)
    n_distinct = len(distinct_features(batch.indices, slots))
    seen = np.empty(n_distinct, dtype=np.int32)
    squares = (
        np.ones(len(slots), dtype) if batch.values is None else batch.values.copy()
    )
    square_values(slots, batch.indptr, seen, squares)
    return squares
