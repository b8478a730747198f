"""N-best lists of sentences by taggers that have not learnt from them."""

import numpy as np
from sklearn.base import clone

from skcw.data._ragged import object_rows
from skcw.tagging._training_hashes import batch_hashes


def sentence_folds(tagger, X, y, weight, n_folds):
    """Return the number of the fold of each sentence, -1 where it does not count.

    Folds are made of neighbouring sentences, as a text has them. Sentences with the
    same features share a fold: a tagger that has learnt from one knows the others.
    Those without a word or of weight zero change nothing and are in no fold.

    Parameters
    ----------
    tagger : estimator
        A tagger fitted on all sentences.
    X : array of sequences
        The sentences.
    y : ndarray of shape (n_sequences,), dtype object
        Their labels.
    weight : ndarray of shape (n_sequences,) or None
        How much each sentence counts.
    n_folds : int
        The number of folds.

    Returns
    -------
    folds : ndarray of int64, shape (n_sequences,)
        The folds.
    """
    counts = np.array([len(labels) > 0 for labels in y], dtype=bool)
    if weight is not None:
        counts &= weight > 0
    folds = np.full(len(counts), -1, dtype=np.int64)
    alike = np.arange(len(counts))
    if hasattr(tagger, "encode"):
        alike = batch_hashes(tagger.encode(X).compact())
    _, first, number = np.unique(alike[counts], return_index=True, return_inverse=True)
    if n_folds > len(first):
        raise ValueError(
            f"{len(first)} different sequences cannot make {n_folds} folds; set cv to "
            "a smaller number, or give more sequences"
        )
    # Numbered in the order in which they first appear.
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    folds[counts] = rank[number] * n_folds // len(first)
    return folds


def jackknifed_nbest(tagger, X, y, folds, n_best, weight=None):
    """Return the n best labelings of each sentence by a tagger that has not seen it.

    Parameters
    ----------
    tagger : estimator
        The tagger; a copy is fitted without each fold.
    X : array of sequences
        The sentences; it can be indexed by positions.
    y : ndarray of shape (n_sequences,), dtype object
        Their labels.
    folds : ndarray of int64, shape (n_sequences,)
        The fold of each sentence; sentences of fold -1 are left out.
    n_best : int
        How many labelings.
    weight : ndarray of shape (n_sequences,), default=None
        How much each sentence counts in learning.

    Returns
    -------
    nbest : ndarray of shape (n_sequences,), dtype object
        What ``predict_nbest`` returns; an empty list for sentences left out.
    """
    found = object_rows([] for _ in folds)
    for fold in np.unique(folds[folds >= 0]):
        train = np.flatnonzero((folds != fold) & (folds >= 0))
        test = np.flatnonzero(folds == fold)
        weights = {} if weight is None else {"sample_weight": weight[train]}
        copy = clone(tagger).fit(X[train], y[train], **weights)
        found[test] = object_rows(copy.predict_nbest(X[test], n_best))
    return found
