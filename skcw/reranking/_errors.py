"""Errors of candidates, and what a perfect reranker would reach."""

from numbers import Integral

import numpy as np

from skcw.data._checks import check_same_length
from skcw.data._ragged import object_rows
from skcw.data._schemes import extract_spans
from skcw.metrics import (
    span_f1_score,
    span_precision_score,
    span_recall_score,
)
from skcw.reranking._candidates import check_count, is_scored_labeling

LOSSES = ("labels", "entities")


def candidate_errors(labelings, y, loss="labels"):
    """Return how many errors each candidate of each sentence has.

    Parameters
    ----------
    labelings : iterable of lists of labelings
        The candidates of each sentence.
    y : iterable of sequences of str
        The true labels.
    loss : {"labels", "entities"}, default="labels"
        Whether wrong labels are counted, or entities that are missing or too many.

    Returns
    -------
    errors : ndarray of shape (n_sentences,), dtype object
        One float array per sentence.

    Examples
    --------
    >>> from skcw.reranking import candidate_errors
    >>> candidates = [[["B-PER", "I-PER"], ["B-PER", "O"]]]
    >>> candidate_errors(candidates, [["B-PER", "O"]])[0]
    array([1., 0.])
    >>> candidate_errors(candidates, [["B-PER", "O"]], loss="entities")[0]
    array([2., 0.])
    """
    if loss not in LOSSES:
        raise ValueError(f"loss is {loss!r}; it must be one of {', '.join(LOSSES)}")
    labelings, y = list(labelings), list(y)
    check_same_length(len(labelings), len(y), ("labelings", "y"), "sentences")
    wrong = _wrong_labels if loss == "labels" else _wrong_entities
    return object_rows(
        np.array(wrong(s, candidates, list(truth)), dtype=np.float64)
        for s, (candidates, truth) in enumerate(zip(labelings, y, strict=True))
    )


def labeling_size(labels, truth, loss):
    """Return of what the errors of a labeling are a share.

    One less this share is the accuracy, or the F1 of the entities.

    Parameters
    ----------
    labels, truth : sequence of str
        The labeling, and the true one.
    loss : {"labels", "entities"}
        What is counted.

    Returns
    -------
    size : int
        The number of labels, or of the entities of both.
    """
    if loss == "labels":
        return len(truth)
    return len(extract_spans(labels)) + len(extract_spans(truth))


def _wrong_labels(s, candidates, truth):
    return [
        sum(a != b for a, b in zip(labels, truth, strict=True))
        for labels in _as_long_as(truth, candidates, s)
    ]


def _wrong_entities(s, candidates, truth):
    true = set(extract_spans(truth))
    return [
        len(true.symmetric_difference(extract_spans(labels)))
        for labels in _as_long_as(truth, candidates, s)
    ]


def _as_long_as(truth, candidates, s):
    """Yield candidates; raise at one that has more or fewer labels than the truth."""
    for labels in candidates:
        if len(labels) != len(truth):
            raise ValueError(
                f"sentence {s} has {len(truth)} true labels, but a candidate has "
                f"{len(labels)}"
            )
        yield labels


def oracle_scores(y, nbest, n=(1, 5, 20, 50)):
    """Return what a perfect reranker of n-best lists would reach.

    It takes the candidate with the fewest entities missing or too many from the first n
    of each list.

    Parameters
    ----------
    y : iterable of sequences of str
        The true labels.
    nbest : iterable of lists of (labels, score)
        What ``predict_nbest`` returns.
    n : int or sequence of int, default=(1, 5, 20, 50)
        How many candidates it may choose from; 1 is the base tagger itself.

    Returns
    -------
    scores : dict of int to tuple
        For each n precision, recall and F1 of the entities.

    Examples
    --------
    >>> from skcw.reranking import oracle_scores
    >>> nbest = [[(["B-PER", "I-PER"], -0.3), (["B-PER", "O"], -1.5)]]
    >>> oracle_scores([["B-PER", "O"]], nbest, n=(1, 2))
    {1: (0.0, 0.0, 0.0), 2: (1.0, 1.0, 1.0)}
    """
    y = [list(labels) for labels in y]
    rows = [_labelings(s, row) for s, row in enumerate(nbest)]
    check_same_length(len(y), len(rows), ("y", "nbest"), "sentences")
    errors = candidate_errors(rows, y, "entities")
    found = {}
    for size in [n] if isinstance(n, Integral) else n:
        size = check_count("n", size)
        best = [
            row[int(np.argmin(wrong[:size]))]
            for row, wrong in zip(rows, errors, strict=True)
        ]
        found[size] = (
            span_precision_score(y, best),
            span_recall_score(y, best),
            span_f1_score(y, best),
        )
    return found


def _labelings(s, row):
    """Return the candidates of a sentence without their scores."""
    row = list(row)
    if not row:
        raise ValueError(f"sentence {s} has no candidate")
    if not all(map(is_scored_labeling, row)):
        raise TypeError(
            f"nbest of sentence {s} holds {row[0]!r}, not pairs (labels, score); y "
            "comes first, then nbest"
        )
    return [list(labels) for labels, _ in row]
