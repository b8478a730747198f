"""Confidences and outcomes of tokens and entities on held-out data."""

from itertools import chain
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skcw._model.decoding import n_workers
from skcw._util.checks import check_same_lengths
from skcw._util.ragged import object_rows
from skcw.data import extract_spans
from skcw.data.encoder import check_sequences
from skcw.data.labels import encode_labels
from skcw.metrics import token_correct

# A label with a smaller marginal than this is no rival of the predicted one.
LEAST_RIVAL = 0.001


class HeldOut(NamedTuple):
    """Tokens or entities that a tagger was not trained on.

    Each has its confidence, whether it is right, its label and its weight.
    """

    confidence: np.ndarray
    correct: np.ndarray
    label: np.ndarray
    weight: np.ndarray

    def where(self, mask):
        """Return some of them."""
        return HeldOut(*(column[mask] for column in self))

    @classmethod
    def joined(cls, parts):
        """Return those of several."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def flat_numbers(rows):
    """Return the numbers of all rows in one array."""
    return np.concatenate([np.empty(0), *rows])


def flat_labels(rows):
    """Return the labels of all rows in one array."""
    return np.array(list(chain.from_iterable(rows)), dtype=str)


def held_out_words(predictions, y, options, weight=None):
    """Return the tokens with the confidence of a fitted tagger.

    Parameters
    ----------
    predictions : Predictions
        Those of a fitted tagger.
    y : sequences of str
        The true labels.
    options : dict
        Options of ``predict_confidence``.
    weight : ndarray of shape (n_sequences,), default=None
        How much each sequence counts.

    Returns
    -------
    tokens : HeldOut
        The tokens.
    """
    labels = predictions.labels()
    _, lengths, _ = encode_labels(y)
    check_same_lengths([len(row) for row in labels], lengths)
    weight = np.ones(len(lengths)) if weight is None else weight
    return HeldOut(
        flat_numbers(predictions.confidence(**options)),
        flat_numbers(token_correct(y, labels)),
        flat_labels(labels),
        np.repeat(weight, lengths),
    )


def held_out_entities(predictions, y, entity_confidence, options, weight=None):
    """Return the entities that a fitted tagger predicts, with its confidence.

    Parameters
    ----------
    predictions : Predictions
        Those of a fitted tagger.
    y : sequences of str
        The true labels.
    entity_confidence : str
        What the confidence of an entity is about.
    options : dict
        Options of ``predict_entities``.
    weight : ndarray of shape (n_sequences,), default=None
        How much each sequence counts.

    Returns
    -------
    entities : HeldOut
        The entities; one is right if the truth has it, from its first to its last token
        and of its type.
    """
    weight = np.ones(len(y)) if weight is None else weight
    rows = predictions.entities(entity_confidence, **options)
    found = list(chain.from_iterable(rows))
    return HeldOut(
        np.array([entity.confidence for entity in found], dtype=np.float64),
        flat_numbers(right_entities(rows, y)),
        flat_labels([[entity.label for entity in found]]),
        np.repeat(np.asarray(weight, np.float64), [len(row) for row in rows]),
    )


def right_entities(rows, y):
    """Return whether each predicted entity is one of the truth, a row per sequence."""
    true = [set(map(tuple, extract_spans(labels))) for labels in y]
    return [
        np.array([tuple(entity[:3]) in spans for entity in entities], dtype=bool)
        for entities, spans in zip(rows, true, strict=True)
    ]


def held_out_rivals(predictions, y, weight=None):
    """Return the labels that a fitted tagger does not predict, with their marginals.

    Parameters
    ----------
    predictions : Predictions
        Those of a fitted tagger.
    y : sequences of str
        The true labels.
    weight : ndarray of shape (n_sequences,), default=None
        How much each sequence counts.

    Returns
    -------
    rivals : HeldOut or None
        For every token the labels that were not predicted but have a marginal that
        matters: one is right if it is the true label. None if there is none.
    """
    if "marginal" not in getattr(predictions, "confidence_methods", ()):
        return None
    table = predictions.label_table("marginal").copy()
    table[np.arange(len(table)), predictions.codes] = 0.0
    words, labels = np.nonzero(table >= LEAST_RIVAL)
    weight = np.ones(len(predictions)) if weight is None else weight
    weight = np.repeat(weight, predictions.lengths)[words]
    if not weight.any():
        return None
    codes, _, _ = encode_labels(y, predictions.classes, grow=False)
    names = np.array(predictions.classes, dtype=str)
    right = (codes[words] == labels).astype(np.float64)
    return HeldOut(table[words, labels], right, names[labels], weight)


def some_entities(folds):
    """Return the folds in which entities were predicted, or raise if there are none."""
    some = [one for one in folds if one.weight.any()]
    if not some:
        raise ValueError(
            "no entity was predicted, so entity_confidence cannot be calibrated; "
            "labels must mark spans, such as B-PER and I-PER"
        )
    return some


def of_folds(
    tagger, X, y, found_of, *, cv, weight=None, n_jobs=None, allow_overlap=False
):
    """Fit a clone of a tagger without each fold, and return what it finds in the fold.

    Parameters
    ----------
    tagger : estimator
        The tagger to clone.
    X : array of sequences
        It can be indexed by positions.
    y : ndarray of shape (n_sequences,), dtype object
        The true labels.
    found_of : callable
        Given a fitted tagger, sequences, labels and weights, returns a tuple that
        begins with their tokens.
    cv : int, splitter, iterable or None
        The folds, as in scikit-learn.
    weight : ndarray of shape (n_sequences,), default=None
        How much each sequence counts, in learning and in the result.
    n_jobs : int, default=None
        How many folds at once.
    allow_overlap : bool, default=False
        Whether a tagger may be calibrated on its training data.

    Returns
    -------
    found : list
        The tuple of each fold that has tokens of positive weight.
    """

    def fit_and_predict(train, test):
        weights = {} if weight is None else {"sample_weight": weight[train]}
        copy = clone(tagger).fit(X[train], y[train], **weights)
        own = None if weight is None else weight[test]
        return found_of(copy, X[test], y[test], own)

    folds = _folds(cv, y, weight)
    if not allow_overlap:
        _refuse_overlap(folds)
    jobs = Parallel(n_jobs=n_workers(n_jobs, len(folds)), prefer="threads")
    found = jobs(delayed(fit_and_predict)(*fold) for fold in folds)
    return [one for one in found if one[0].weight.any()]


def _folds(cv, y, weight):
    """Return the positions of training and of test sequences in each fold.

    Numbers of folds are made of the sequences that have tokens and a positive weight:
    others must not change the result.
    """
    positions = np.arange(len(y))
    if cv is None or isinstance(cv, int | np.integer):
        counts = np.array([len(labels) > 0 for labels in y], dtype=bool)
        if weight is not None:
            counts &= weight > 0
        positions = positions[counts]
    folds = _split(check_cv(cv), positions, y[positions])
    for number, fold in enumerate(folds):
        for indices in fold:
            _check_indices(indices, number, len(positions))
    return [(positions[train], positions[test]) for train, test in folds]


def _split(splitter, positions, y):
    """Return the folds of a splitter, which gets no groups."""
    try:
        n_folds = splitter.get_n_splits(positions)
        if n_folds > len(positions):
            raise ValueError(
                f"{len(positions)} sequences cannot make {n_folds} folds; set cv to a "
                "smaller number, or give more sequences"
            )
        return [tuple(map(_indices, fold)) for fold in splitter.split(positions, y)]
    except ValueError as error:
        if "groups" not in str(error):
            raise
        raise ValueError(
            f"{type(splitter).__name__} needs groups, which cannot be passed to fit; "
            "give the folds themselves, cv=list(splitter.split(X, y, groups))"
        ) from error


def _indices(part):
    """Return the indices of a part of a fold; an empty list has no type of its own."""
    return np.asarray(part) if len(part) else np.empty(0, dtype=np.intp)


def _check_indices(indices, number, n):
    """Raise unless the indices of a fold are those of sequences."""
    outside = indices[(indices < 0) | (indices >= n)]
    if outside.size:
        raise ValueError(
            f"fold {number} of cv has the index {outside[0]}, but there are {n} "
            f"sequences: indices must be from 0 to {n - 1}"
        )


def _refuse_overlap(folds):
    """Raise if a tagger would be calibrated on its training data."""
    for number, (train, test) in enumerate(folds):
        both = np.intersect1d(train, test)
        if both.size:
            raise ValueError(
                f"fold {number} of cv tests on sequences that it trains on, "
                f"{both.size} of {len(test)}, so they do not tell how often the "
                "tagger is right. Make the two parts of each fold distinct; "
                "allow_training_data=True calibrates on them anyway"
            )


def reusable_rows(X):
    """Return sequences that can be indexed and read again, iterators and all."""
    if hasattr(X, "shape") and not isinstance(X, np.ndarray):
        return X  # a SequenceBatch or TokenColumns
    return object_rows(
        list(x) if hasattr(x, "__next__") else x for x in check_sequences(X)
    )
