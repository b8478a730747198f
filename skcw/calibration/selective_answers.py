"""Predictions of a selective tagger: those of the tagger, what is accepted, and sets."""

import numpy as np

from skcw._util.ragged import object_rows, split_rows
from skcw.calibration.conformal import conformal_sets, entity_candidates
from skcw.confidence import Entity
from skcw.confidence.acceptance import ENTITY, MOST_SENTENCES, accepted, sentence_means
from skcw.data import SequenceBatch

CONFIDENCE, KNOWN = "confidence", "number of known features per word"


class SelectiveAnswers:
    """Predictions of a selective tagger about some sentences; ``predict_all`` returns them.

    All questions but the two below are answered by the tagger inside.

    Parameters
    ----------
    answers : Predictions
        The answers of the tagger inside.
    tagger : SelectiveTagger
        The fitted selective tagger.
    """

    def __init__(self, answers, tagger):
        self._inner = answers
        self._tagger = tagger

    def __len__(self):
        return len(self._inner)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def accepted(self, risk=None):
        """Return what is accepted at a risk: an array of bool for each sentence."""
        tagger = self._tagger
        selection = {
            "unit": tagger.unit,
            "method": tagger.method,
            "entity_confidence": tagger.entity_confidence,
        }
        promise = {"threshold": tagger.promise(risk).threshold}
        return accepted(self._inner, selection, promise)

    def sets(self):
        """Return the labels that each word may have, or the possible entities."""
        if self._tagger.unit == ENTITY:
            return self._entity_sets()
        sets = conformal_sets(
            self._inner.label_table(), self._tagger.set_threshold_, self._inner.classes
        )
        return split_rows(sets, self._inner.offsets)

    def _entity_sets(self):
        least = self._tagger.set_threshold_
        # Where nothing can be promised the sets are as full as they get.
        least = -np.inf if np.isnan(least) else least
        rows = entity_candidates(self._inner, self._tagger.n_best)
        return object_rows(
            [Entity(*span, score) for span, score in _sorted(row) if score >= least]
            for row in rows
        )


def _sorted(row):
    """Return spans with their scores, from left to right."""
    return sorted(row.items(), key=lambda item: (item[0][1], item[0][2], item[0][0]))


def measured(answers, X, batch, method=None):
    """Return what is compared of sentences, in the mean of each one.

    Parameters
    ----------
    answers : Predictions
        What a tagger says of them.
    X : sequences
        The sentences as they were given.
    batch : SequenceBatch or sequences
        The same with the features that the tagger knows. They are counted if it was the
        tagger that chose them.
    method : str, default=None
        The method of ``predict_confidence``.

    Returns
    -------
    measures : dict of str to list of float
        The confidence and, if they were counted, the number of known features.
    """
    given = {} if method is None else {"method": method}
    words = np.concatenate([np.empty(0), *answers.confidence(**given)])
    found = {CONFIDENCE: sentence_means(words, answers.offsets)}
    if isinstance(batch, SequenceBatch) and not isinstance(X, SequenceBatch):
        found[KNOWN] = sentence_means(np.diff(batch.indptr), answers.offsets)
    return {name: _spread(values).tolist() for name, values in found.items()}


def _spread(values):
    """Return not too many of the values, evenly spread over their ranks."""
    values = np.sort(values)
    if len(values) <= MOST_SENTENCES:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_SENTENCES).astype(np.intp)]
