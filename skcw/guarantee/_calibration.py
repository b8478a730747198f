"""From the answers about calibration sentences to promises and thresholds of sets."""

from itertools import chain

import numpy as np

from skcw.confidence._acceptance import ENTITY, SENTENCE, UNITS, unit_confidence
from skcw.data._checks import check_same_lengths
from skcw.data._labels import check_label_rows
from skcw.data._ragged import object_rows, split_rows
from skcw.data._schemes import extract_spans
from skcw.guarantee._sets import (
    entity_candidates,
    entity_scores,
    scores_of_truth,
    set_threshold,
)
from skcw.guarantee._thresholds import recall_threshold, risk_threshold
from skcw.metrics import label_matches


def unit_outcomes(answers, y, unit):
    """Return whether each word, entity or sentence is right, a row per sentence.

    Parameters
    ----------
    answers : Answers
        What a tagger says.
    y : sequences of str
        The true labels.
    unit : {"word", "entity", "sentence"}
        What is judged.

    Returns
    -------
    correct : ndarray of shape (n_sequences,), dtype object
        An array of bool for each sentence.
    n_true : ndarray of int, shape (n_sequences,)
        The number of true entities of each sentence; of words or of one.
    """
    rows = check_label_rows(y, "y")
    check_same_lengths(answers.lengths, [len(row) for row in rows])
    if unit == ENTITY:
        truth = [set(map(tuple, extract_spans(row))) for row in rows]
        found = [
            np.array([tuple(entity[:3]) in spans for entity in entities], dtype=bool)
            for entities, spans in zip(answers.entities(), truth, strict=True)
        ]
        return object_rows(found), np.array([len(spans) for spans in truth])
    words = label_matches(rows, answers.labels())
    words = object_rows(np.asarray(row, dtype=bool) for row in words)
    if unit == SENTENCE:
        words = object_rows(np.array([row.all()]) for row in words)
    return words, np.array([len(row) for row in words])


def promises_of(tagger, answers, y, groups):
    """Return the promises that a selective tagger can make.

    Parameters
    ----------
    tagger : SelectiveTagger
        Its parameters tell what is promised.
    answers : Answers
        What the fitted tagger inside says of the calibration sentences.
    y : sequences of str
        Their true labels.
    groups : array of shape (n_sequences,) or None
        The group of each sentence.

    Returns
    -------
    promises : list of Promise
        One for each risk.
    """
    correct, n_true = unit_outcomes(answers, y, tagger.unit)
    sure = unit_confidence(answers, tagger.unit, tagger.method, tagger.span_event)
    if not sum(map(len, sure)):
        raise ValueError(
            f"the calibration sentences have no {UNITS[tagger.unit]} that the tagger "
            "predicts, so there is nothing to accept"
        )
    risks = np.atleast_1d(tagger.risk).tolist()
    given = {
        "level": tagger.level,
        "groups": groups,
        "unit": UNITS[tagger.unit],
        "most_wrong": tagger.most_wrong,
    }
    if tagger.recall:
        return recall_threshold(correct, sure, n_true, risks, **given)
    return risk_threshold(correct, sure, risks, **given)


def set_threshold_of(tagger, answers, y, groups):
    """Return what labels, or entities, must score to be in sets.

    Parameters
    ----------
    tagger, answers, y, groups : object
        As in :func:`promises_of`.

    Returns
    -------
    threshold : float
        See :func:`set_threshold`.
    """
    risk = tagger.set_risk
    risk = float(np.atleast_1d(tagger.risk)[0]) if risk is None else risk
    given = {"most_wrong": tagger.most_wrong}
    if tagger.unit == ENTITY:
        rows, missing = entity_scores(entity_candidates(answers, tagger.n_best), y)
        rows, sentence = _with_truths(rows)
        given |= {"n_missing": missing, "groups": _of(groups, sentence)}
        return set_threshold(rows, risk, **given) if rows else np.nan
    labels = list(chain.from_iterable(y))
    scores = scores_of_truth(answers.label_table(), answers.classes, labels)
    # A label that the tagger has never seen is in no set.
    rows = [row[~np.isnan(row)] for row in split_rows(scores, answers.offsets)]
    rows, sentence = _with_truths(rows)
    given |= {"n_missing": int(np.isnan(scores).sum()), "groups": _of(groups, sentence)}
    return set_threshold(rows, risk, **given) if rows else np.nan


def _with_truths(rows):
    """Return the rows that are not empty, and their numbers."""
    numbers = [i for i, row in enumerate(rows) if len(row)]
    return [np.asarray(rows[i]) for i in numbers], numbers


def _of(groups, numbers):
    return None if groups is None else np.asarray(groups)[numbers]
