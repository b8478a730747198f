"""What a tagger says about labelled words that it has not learnt from."""

from itertools import chain
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skcw.data.encoder import check_sequences
from skcw.data.labels import check_lengths, encode_labels
from skcw.data.ragged import object_rows
from skcw.metrics import label_matches


class Judged(NamedTuple):
    """Words with the label predicted, how sure the tagger was, and if it was right."""

    confidence: np.ndarray
    correct: np.ndarray
    label: np.ndarray
    weight: np.ndarray

    def where(self, mask):
        """Return some of the words."""
        return Judged(*(column[mask] for column in self))

    @classmethod
    def joined(cls, parts):
        """Return the words of several."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def flat_numbers(rows):
    """Return the numbers of all rows in one array."""
    return np.concatenate([np.empty(0), *rows])


def flat_labels(rows):
    """Return the labels of all rows in one array."""
    return np.array(list(chain.from_iterable(rows)), dtype=str)


def judge(tagger, X, y, options, weight=None):
    """Return what a fitted tagger says of the words of X.

    Parameters
    ----------
    tagger : estimator
        With ``predict`` and ``predict_confidence``.
    X : sequences
        They can be read more than once.
    y : sequences of str
        The true labels.
    options : dict
        Options of ``predict_confidence``.
    weight : ndarray of shape (n_sequences,), default=None
        What each sequence counts.

    Returns
    -------
    judged : Judged
        Its words.
    """
    labels = tagger.predict(X)
    _, lengths, _ = encode_labels(y)
    check_lengths([len(row) for row in labels], lengths)
    confidence = flat_numbers(tagger.predict_confidence(X, **options))
    weight = np.ones(len(lengths)) if weight is None else weight
    return Judged(
        confidence,
        flat_numbers(label_matches(y, labels)),
        flat_labels(labels),
        np.repeat(weight, lengths),
    )


def judge_folds(tagger, X, y, options, *, cv, weight=None, n_jobs=None):
    """Fit a copy of a tagger without each fold and let it judge the fold.

    Parameters
    ----------
    tagger : estimator
        The tagger to copy.
    X : array of sequences
        It can be indexed by positions.
    y : ndarray of shape (n_sequences,), dtype object
        The true labels.
    options : dict
        Options of ``predict_confidence``.
    cv : int, splitter, iterable or None
        The folds, as in scikit-learn.
    weight : ndarray of shape (n_sequences,), default=None
        What each sequence counts, in learning and in the judgement.
    n_jobs : int, default=None
        How many folds at once.

    Returns
    -------
    judged : list of Judged
        The words of each fold that has any.
    """

    def fit_and_judge(train, test):
        weights = {} if weight is None else {"sample_weight": weight[train]}
        copy = clone(tagger).fit(X[train], y[train], **weights)
        own = None if weight is None else weight[test]
        return judge(copy, X[test], y[test], options, own)

    folds = _folds(cv, y, weight)
    jobs = Parallel(n_jobs=n_jobs, prefer="threads")
    judged = jobs(delayed(fit_and_judge)(*fold) for fold in folds)
    return [one for one in judged if one.weight.any()]


def _folds(cv, y, weight):
    """Return the positions of training and of test sequences in each fold.

    Whole numbers of folds are made of the sequences that count and have words: others
    must not change the result.
    """
    positions = np.arange(len(y))
    if cv is None or isinstance(cv, int | np.integer):
        counts = np.array([len(labels) > 0 for labels in y], dtype=bool)
        if weight is not None:
            counts &= weight > 0
        positions = positions[counts]
    splitter = check_cv(cv)
    if (n_folds := splitter.get_n_splits(positions)) > len(positions):
        raise ValueError(
            f"{len(positions)} sequences cannot make {n_folds} folds; set cv to a "
            "smaller number, or give more sequences"
        )
    return [
        (positions[train], positions[test])
        for train, test in splitter.split(positions, y[positions])
    ]


def rows_to_read_twice(X):
    """Return sequences that can be indexed and read again, iterators and all."""
    if hasattr(X, "shape") and not isinstance(X, np.ndarray):
        return X  # a SequenceBatch or TokenColumns
    return object_rows(
        list(x) if hasattr(x, "__next__") else x for x in check_sequences(X)
    )
